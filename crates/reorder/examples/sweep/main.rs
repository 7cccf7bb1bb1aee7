//! A sweep over published Go modules: `cargo xtask sweep`. A list of modules comes in; each is taken from
//! the module proxy in its newest version, copied, and fuzzed by `strait go fuzz`, round after round:
//! every round has a seed of its own, and every second one looks for data races. Out come one JSON file
//! per module and round, a log of the time that was spent, and a table. It runs
//! unattended: every step has a limit, and a sweep that was ended resumes where it was.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

mod module;
mod results;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strait_golang::Go;
use strait_toolchain::{Entry, Launcher, Spec, entry};

use crate::module::{Copy, fetch, file_name};
use crate::results::{Log, line, summary};

/// The list of modules.
const MODULES: &str = include_str!("modules.txt");
/// What a campaign may take in all: to download, to compile, to run and to end.
const CAMPAIGN: Duration = Duration::from_secs(1200);
/// How long a campaign that was asked to end may take to say what it found.
const GRACE: Duration = Duration::from_secs(60);
const KEEP: usize = 64 << 20;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What the command line asks for.
struct Options {
    /// `strait` itself.
    strait: PathBuf,
    /// Where copies, findings and results go.
    folder: PathBuf,
    /// Seconds for each module, compiling included; else a minute after everything is compiled.
    time: Option<u64>,
    /// No module is begun after that.
    total: Duration,
    /// Tests at once.
    jobs: u32,
    /// The first round and the last one.
    rounds: (u64, u64),
    /// Only these modules.
    modules: Vec<String>,
}

/// All modules once. The number is the seed.
#[derive(Clone, Copy)]
struct Round(u64);

impl Round {
    fn looks_for_races(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::from(2),
        Entry::Person => {}
    }
    let swept = options(std::env::args().skip(1)).and_then(|options| sweep(&options));
    match swept {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options> {
    let mut options = Options {
        strait: PathBuf::from("strait"),
        folder: PathBuf::from("target/sweep"),
        time: None,
        total: Duration::from_secs(8 * 3600),
        jobs: 1,
        rounds: (1, u64::MAX),
        modules: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--strait" => options.strait = PathBuf::from(value()?),
            "--out" => options.folder = PathBuf::from(value()?),
            "--seconds" => options.time = Some(value()?.parse()?),
            "--total-seconds" => options.total = Duration::from_secs(value()?.parse()?),
            "--jobs" => options.jobs = value()?.parse()?,
            "--round" => options.rounds.0 = value()?.parse()?,
            "--last-round" => options.rounds.1 = value()?.parse()?,
            flag if flag.starts_with('-') => return Err(format!("there is no flag {flag}").into()),
            _ => options.modules.push(argument),
        }
    }
    if options.modules.is_empty() {
        options.modules = listed().map(ToOwned::to_owned).collect();
    }
    Ok(options)
}

/// The modules of the list.
fn listed() -> impl Iterator<Item = &'static str> {
    MODULES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn sweep(options: &Options) -> Result<()> {
    fs::create_dir_all(options.folder.join("results"))?;
    let folder = options.folder.canonicalize()?;
    let launcher = Launcher::this_program()?;
    let go = Go::find(&launcher, Path::new("/"))?;
    let log = Log::of(&folder);
    let begun = Instant::now();
    'rounds: for round in options.rounds.0..=options.rounds.1 {
        let results = folder.join("results").join(format!("round-{round}"));
        fs::create_dir_all(&results)?;
        for module in &options.modules {
            let file = results.join(format!("{}.json", file_name(module)));
            if file.is_file() {
                continue;
            }
            if begun.elapsed() >= options.total {
                println!("the time is over; the same command goes on");
                break 'rounds;
            }
            let document = campaign(&go, options, module, Round(round), &folder);
            let document = document.unwrap_or_else(
                |error| json!({ "module": module, "round": round, "problem": error.to_string() }),
            );
            fs::write(&file, serde_json::to_string_pretty(&document)?)?;
            log.add(&document)?;
            println!("{module}: {}", line(&document));
        }
    }
    summary(&folder)
}

/// Fetches a module, fuzzes it and removes it again: findings name lines of the module, which the proxy
/// has.
fn campaign(
    go: &Go,
    options: &Options,
    module: &str,
    round: Round,
    folder: &Path,
) -> Result<Value> {
    let copy = fetch(go, module, folder)?;
    let result = fuzz(go, options, module, round, &copy, folder);
    fs::remove_dir_all(&copy.folder)?;
    result
}

fn fuzz(
    go: &Go,
    options: &Options,
    module: &str,
    round: Round,
    copy: &Copy,
    folder: &Path,
) -> Result<Value> {
    let begun = Instant::now();
    let out = folder.join("out").join(format!("round-{}", round.0)).join(file_name(module));
    let (jobs, seed) = (options.jobs.to_string(), round.0.to_string());
    let mut spec = Spec::new(&options.strait)
        .arguments(["go", "fuzz", "--json", "--quiet", "--seed", &seed, "--jobs", &jobs])
        .arguments([Path::new("--out"), &out])
        .directory(&copy.folder)
        .variable("GOFLAGS", "-mod=mod")
        // A workspace of the module's authors is not what its users see.
        .variable("GOWORK", "off")
        .grace(GRACE)
        .keep(KEEP);
    if round.looks_for_races() {
        spec = spec.arguments(["--race"]);
    }
    spec = match options.time {
        Some(seconds) => {
            let time = format!("{seconds}s");
            spec.arguments(["--time", &time]).wall(Duration::from_secs(seconds) + CAMPAIGN)
        }
        None => spec.wall(CAMPAIGN),
    };
    let finished = go.run(spec.arguments(&copy.packages))?;
    let mut document: Value = serde_json::from_str(&finished.stdout.text()).unwrap_or_default();
    // Names of packages and lines of findings are enough to look at a result.
    let said = if document.is_null() { finished.stderr.last_lines(5) } else { String::new() };
    for list in ["not_run", "left_out"] {
        document[list] = json!(document[list].as_array().map(Vec::len));
    }
    Ok(json!({
        "module": module,
        "version": copy.version,
        "round": round.0,
        "race": round.looks_for_races(),
        "packages": copy.packages.len(),
        "packages_without_goroutines": copy.left_out,
        "end": finished.end.to_string(),
        "seconds": begun.elapsed().as_secs(),
        "said": said,
        "campaign": document,
    }))
}
