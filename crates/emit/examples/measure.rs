//! How fast programs run on a platform, with every record judged.
//!
//! `measure interpret PLATFORM[@VERSION] STYLE REPETITIONS SECONDS [SEED]`
//! `measure compile PLATFORM[@VERSION] COUNT REPETITIONS [SEED]`: and as many single programs as
//! fit into the same time, each by a compiler run of its own.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "figures are for people to read")]

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use strait_calculus::{Explainer, Program};
use strait_emit::{Compilation, Platform, Toolchain, Workshop};
use strait_generate::{Config, Generator};
use strait_runtimes::{Ended, JobLine, Report, RunOptions, Style, lower, observation};
use strait_toolchain::{Cache, Deadlines, Entry, Launcher, Received, Worker, entry};

const PATIENCE: Duration = Duration::from_secs(60);
const AHEAD: usize = 16;

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::FAILURE,
        Entry::Person => {}
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match measure(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn measure(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["interpret", target, style, repetitions, seconds, seed @ ..] => {
            let style = Style::from_str(style).map_err(|()| "style: plain, batched or barrier")?;
            let repetitions = repetitions.parse()?;
            let options = RunOptions { style, repetitions, ..RunOptions::default() };
            interpret(&find(target)?, &options, seconds.parse()?, number(seed)?)
        }
        ["compile", target, count, repetitions, seed @ ..] => {
            compile(&find(target)?, count.parse()?, repetitions.parse()?, number(seed)?)
        }
        _ => Err("see the head of examples/measure.rs".into()),
    }
}

fn number(words: &[&str]) -> Result<u64, Box<dyn Error>> {
    Ok(words.first().map_or(Ok(0), |word| word.parse())?)
}

fn find(target: &str) -> Result<Toolchain, Box<dyn Error>> {
    let (name, version) = match target.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (target, None),
    };
    let platform: Platform = name.parse()?;
    let workshop = Workshop::new(Launcher::this_program()?, Cache::find()?);
    let started = Instant::now();
    let toolchain = Toolchain::find(&workshop, platform, version)?;
    println!("{name} {} found in {:.1?}", toolchain.version(), started.elapsed());
    Ok(toolchain)
}

fn generator(toolchain: &Toolchain, seed: u64) -> Result<Generator, Box<dyn Error>> {
    let config = Config { capabilities: toolchain.capabilities(), ..Config::default() };
    Ok(Generator::new(seed, config)?)
}

/// What was seen so far.
#[derive(Default)]
struct Tally {
    programs: u64,
    runs: u64,
    impossible: u64,
    troubles: Vec<String>,
}

impl Tally {
    fn take(&mut self, id: u64, program: &Program, report: Report) -> bool {
        match report {
            Report::Seen(_, tally) => {
                let seen = observation(&tally.what);
                let explanation = Explainer::new(program).explain(&seen, 200_000);
                if matches!(explanation, strait_calculus::Explanation::Impossible { .. }) {
                    self.impossible += 1;
                    self.troubles.push(format!("{id}: impossible {}", tally.what.to_text()));
                }
                false
            }
            Report::End(_, runs, _, ended) => {
                self.programs += 1;
                self.runs += runs;
                if ended != Ended::Finished {
                    self.troubles.push(format!("{id}: {ended:?}"));
                }
                true
            }
            _ => false,
        }
    }

    fn show(&self, what: &str, spent: Duration) {
        let seconds = spent.as_secs_f64();
        println!(
            "{what}: {} programs, {} runs in {seconds:.1} s: {:.0} programs/s, {:.0} runs/s; {} impossible records, {} troubles",
            self.programs,
            self.runs,
            self.programs as f64 / seconds,
            self.runs as f64 / seconds,
            self.impossible,
            self.troubles.len(),
        );
        for trouble in self.troubles.iter().take(5) {
            println!("  {}", trouble.chars().take(400).collect::<String>());
        }
    }
}

fn interpret(
    toolchain: &Toolchain,
    options: &RunOptions,
    seconds: u64,
    seed: u64,
) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let spec = toolchain.interpreter()?;
    println!("interpreter ready in {:.1?}", started.elapsed());
    let generator = generator(toolchain, seed)?;
    let mut worker = Worker::start(&Launcher::this_program()?, &spec)?;
    let deadlines = Deadlines { progress: PATIENCE, total: PATIENCE };
    let (mut next, mut tally, mut programs) = (0, Tally::default(), HashMap::new());
    let (mut started, mut warm) = (Instant::now(), false);
    while started.elapsed() < Duration::from_secs(seconds) {
        while programs.len() < AHEAD {
            let program = generator.generate(next).program;
            let plan = lower(&program)?.to_text();
            let lines = plan.lines().count();
            let target = toolchain.platform().name().to_owned();
            let job = JobLine { id: next, target, options: *options, lines };
            worker.send_lines(&format!("{}\n{plan}", job.to_line()), PATIENCE)?;
            programs.insert(next, program);
            next += 1;
        }
        match worker.receive(&deadlines) {
            Received::Line(line) => {
                let Some(report) = Report::from_line(&line) else {
                    println!("a strange line: {line}");
                    continue;
                };
                let id = match &report {
                    Report::Ready(_) => {
                        println!("worker up in {:.1?}", started.elapsed());
                        continue;
                    }
                    Report::Begin(id) | Report::Beat(id, ..) | Report::Seen(id, _) => *id,
                    Report::Wrong(id, _) | Report::End(id, ..) => *id,
                };
                let Some(program) = programs.get(&id) else { continue };
                if tally.take(id, program, report) {
                    programs.remove(&id);
                }
                if !warm && started.elapsed() > Duration::from_secs(seconds) / 3 {
                    tally.show("warm-up", started.elapsed());
                    (warm, tally, started) = (true, Tally::default(), Instant::now());
                }
            }
            other => {
                let ended = worker.restart()?;
                let said = ended.stderr.last_lines(30);
                println!("{other:?}: {} at {next}\n{said}", ended.end);
                programs.clear();
            }
        }
    }
    tally.show("interpreted", started.elapsed());
    Ok(())
}

fn compile(
    toolchain: &Toolchain,
    count: u64,
    repetitions: u64,
    seed: u64,
) -> Result<(), Box<dyn Error>> {
    let generator = generator(toolchain, seed)?;
    let programs: Vec<Program> =
        (0..count).map(|index| generator.generate(index).program).collect();
    let references: Vec<&Program> = programs.iter().collect();
    let started = Instant::now();
    run_batch(toolchain, &references, repetitions)?.show("batched", started.elapsed());
    let (started, mut tally) = (Instant::now(), Tally::default());
    for program in &references[..references.len().min(10)] {
        let one = run_batch(toolchain, &[*program], repetitions)?;
        tally.programs += one.programs;
        tally.runs += one.runs;
    }
    tally.show("one by one", started.elapsed());
    Ok(())
}

fn run_batch(
    toolchain: &Toolchain,
    programs: &[&Program],
    repetitions: u64,
) -> Result<Tally, Box<dyn Error>> {
    let started = Instant::now();
    let compiled = match toolchain.compile(programs)? {
        Compilation::Ready(compiled) => compiled,
        Compilation::Refused { complaint, folder } => {
            return Err(format!("{}: {}", folder.display(), complaint.said()).into());
        }
    };
    if programs.len() > 1 {
        println!("compiled in {:.1?}", started.elapsed());
    }
    let spec = compiled.worker(repetitions, Duration::from_secs(5), 0);
    let mut worker = Worker::start(&Launcher::this_program()?, &spec)?;
    let deadlines = Deadlines { progress: PATIENCE, total: PATIENCE };
    let mut tally = Tally::default();
    while let Received::Line(line) = worker.receive(&deadlines) {
        match Report::from_line(&line) {
            Some(report @ (Report::Seen(id, _) | Report::End(id, ..))) => {
                tally.take(id, programs[id as usize], report);
            }
            Some(_) => {}
            None => println!("a strange line: {line}"),
        }
    }
    let ended = worker.end()?;
    if !ended.end.is_success() {
        println!("{}: {}", ended.end, ended.stderr.last_lines(30));
    }
    compiled.remove();
    Ok(tally)
}
