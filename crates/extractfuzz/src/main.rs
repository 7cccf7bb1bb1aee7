//! The command line of the fuzzer: runs a campaign, prints its summary, and keeps what is wrong.
//! Exit codes: 0 no wrong answer, 1 a wrong proof or a false alarm, 2 an error.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a development tool that prints")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Parser;
use strait_extractfuzz::{Campaign, Error, Family, Judged, Options, Summary, Tools};
use strait_extractfuzz::{corpus_text, program, reduce};
use strait_toolchain::{Entry, Launcher};

/// Compare `strait go verify` with real Go on random programs
#[derive(Parser)]
#[command(name = "strait-extractfuzz")]
struct Arguments {
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of programs
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Index of the first program
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Only this family; may be given several times
    #[arg(long, value_name = "NAME")]
    family: Vec<String>,
    /// Leave out the gadgets in this file, one FAMILY/GADGET per line
    #[arg(long, value_name = "FILE")]
    without: Option<PathBuf>,
    /// Most gadgets per program
    #[arg(long, default_value_t = 4)]
    size: u32,
    /// Depth of random expressions; 0 leaves variables and literals
    #[arg(long, default_value_t = 2)]
    depth: u32,
    /// The verifier [default: the variable STRAIT_BIN, or `strait` in PATH]
    #[arg(long, value_name = "PATH")]
    strait: Option<PathBuf>,
    /// Folder for programs with a wrong answer
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Reduce at most this many programs with a wrong answer, for --out
    #[arg(long, value_name = "N", default_value_t = 0)]
    reduce: usize,
    /// Continue after a wrong answer
    #[arg(long)]
    keep_going: bool,
    /// Start no batch after this many seconds
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// Number of batches at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Run programs with Go's race detector
    #[arg(long)]
    race: bool,
    /// Also print a table of gadgets
    #[arg(long)]
    gadgets: bool,
    /// Print the questions about one program instead, with the answers
    #[arg(long, value_name = "INDEX")]
    show: Option<u64>,
}

fn main() -> ExitCode {
    match strait_toolchain::entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::from(2),
        Entry::Person => {}
    }
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::FAILURE,
        Ok(false) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether a wrong answer was found.
fn run(arguments: &Arguments) -> Result<bool, Error> {
    let strait =
        arguments.strait.clone().or_else(|| std::env::var_os("STRAIT_BIN").map(Into::into));
    let mut tools =
        Tools::new(Launcher::this_program()?, strait.unwrap_or_else(|| "strait".into()));
    if arguments.race {
        tools = tools.with_race_detector();
    }
    let mut families = Family::named(&arguments.family)?;
    if let Some(file) = &arguments.without {
        let list = std::fs::read_to_string(file).map_err(Error::file(file))?;
        families = Family::without(families, &list);
    }
    let size = arguments.size.max(1);
    let options = Options { seed: arguments.seed, families, size, depth: arguments.depth };
    if let Some(index) = arguments.show {
        return show(&tools, &options, index, arguments.reduce > 0);
    }
    let campaign = Campaign {
        options,
        from: arguments.from,
        count: arguments.count,
        jobs: arguments.jobs,
        keep_going: arguments.keep_going,
        time: arguments.time.map(Duration::from_secs),
    };
    let finished = campaign.run(&tools, &|batch| {
        let wrong = batch.iter().filter(|one| one.category.is_wrong()).count();
        eprintln!("{} programs, {wrong} wrong answers", batch.len());
    })?;
    let summary = Summary { finished: &finished, seed: arguments.seed, gadgets: arguments.gadgets };
    print!("{summary}");
    let wrong: Vec<&Judged> =
        finished.judged.iter().filter(|one| one.category.is_wrong()).collect();
    if let Some(folder) = &arguments.out {
        keep(&tools, folder, &wrong, arguments)?;
    }
    Ok(!wrong.is_empty())
}

/// Writes the smallest program with a wrong answer for each category and first gadget, reduced if
/// asked for.
fn keep(
    tools: &Tools,
    folder: &Path,
    wrong: &[&Judged],
    arguments: &Arguments,
) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let mut groups: BTreeMap<String, &Judged> = BTreeMap::new();
    for judged in wrong {
        let gadget = judged.program.gadgets.first().map_or("program", String::as_str);
        let name = format!("{} {gadget}", judged.category).replace([' ', '/'], "-");
        let smallest = groups.entry(name).or_insert(judged);
        if size(judged) < size(smallest) {
            *smallest = judged;
        }
    }
    let groups: Vec<(String, &Judged)> = groups.into_iter().rev().collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), Error> {
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            let Some((name, judged)) = groups.get(number) else { return Ok(()) };
            let kept = match number < arguments.reduce {
                true => reduce(tools, (*judged).clone())?,
                false => (*judged).clone(),
            };
            let path = folder.join(format!("{name}.go.txt"));
            std::fs::write(&path, corpus_text(&kept)).map_err(Error::file(&path))?;
        }
    };
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..arguments.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ended = jobs.into_iter().map(|job| job.join().unwrap_or(Ok(())));
        ended.collect::<Result<Vec<()>, Error>>()
    })?;
    println!("\n{} programs with a wrong answer are in {}", groups.len(), folder.display());
    Ok(())
}

fn size(judged: &Judged) -> usize {
    corpus_text(judged).len()
}

/// Prints a program with its questions and answers.
fn show(tools: &Tools, options: &Options, index: u64, reduced: bool) -> Result<bool, Error> {
    let judged = strait_extractfuzz::check_programs(tools, vec![program(options, index)])?;
    for mut one in judged {
        if reduced && one.category.is_wrong() {
            one = reduce(tools, one)?;
        }
        println!("{}", corpus_text(&one));
        println!("// go: {:?}", one.observation);
        for (question, answer) in &one.questions {
            println!("// {question:?}: {answer:?}");
        }
        println!("// {}: {}", one.category, one.reason);
        if one.category.is_wrong() {
            return Ok(true);
        }
    }
    Ok(false)
}
