//! Runs programs with the user's own `go`: programs come in, what each of them did goes out. One
//! binary holds the whole batch; it is started again behind a program that ended it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::print::{run_file, run_name};
use crate::tools::Tools;
use crate::tree::{Program, Schedule};

const DRIVER: &str = include_str!("../driver/driver.go");
/// The module of a batch. The version is the first one with `sync.WaitGroup.Go`.
pub const GO_MOD: &str = "module fuzz\n\ngo 1.25\n";
/// The folder of the programs that are run.
const FOLDER: &str = "run";

/// What a program did in all its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// What the compiler says against it.
    pub does_not_compile: Option<String>,
    /// The different results, in the order in which they were seen.
    pub results: Vec<Vec<String>>,
    /// It did not end in a run.
    pub hangs: bool,
    /// It left a goroutine behind in a run.
    pub leaks: bool,
    /// It misused a channel, a lock or a wait group in a run, with Go's message.
    pub misuse: Option<String>,
    /// It has a data race, of which the race detector told.
    pub races: bool,
    /// It panicked in another way in a run, with Go's message.
    pub panics: Option<String>,
}

impl Observation {
    /// It blocked or misused something.
    pub fn is_trouble(&self) -> bool {
        self.hangs || self.leaks || self.misuse.is_some()
    }

    fn panicked(&mut self, message: &str) {
        let misuse = MISUSE.iter().any(|part| message.contains(part));
        let place = if misuse { &mut self.misuse } else { &mut self.panics };
        place.get_or_insert_with(|| message.into());
    }
}

/// What Go says when channels, locks and wait groups are misused.
const MISUSE: [&str; 8] = [
    "send on closed channel",
    "close of closed channel",
    "close of nil channel",
    "negative WaitGroup counter",
    "unlock of unlocked",
    "RUnlock of unlocked",
    "WaitGroup misuse",
    "WaitGroup is reused",
];

/// Runs the programs in a folder that holds a module.
pub fn observe(
    tools: &Tools,
    module: &Path,
    programs: &[Program],
) -> Result<Vec<Observation>, Error> {
    let folder = module.join(FOLDER);
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    write(&module.join("go.mod"), GO_MOD)?;
    write(&folder.join("driver.go"), DRIVER)?;
    for (slot, program) in programs.iter().enumerate() {
        write(&folder.join(file_name(slot)), &run_file(program, slot))?;
    }
    let mut observations = vec![Observation::default(); programs.len()];
    // Without the programs that do not compile, the others can be looked at.
    loop {
        write(&folder.join("table.go"), &table(programs, &observations))?;
        let finished = tools.build(module, "./run")?;
        if finished.end.is_success() {
            break;
        }
        let messages = finished.stderr.text();
        if !blame(&messages, &mut observations) {
            return Err(Error::DoesNotCompile(messages));
        }
        let wrong = |slot: &usize| observations[*slot].does_not_compile.is_some();
        for slot in (0..programs.len()).filter(wrong) {
            let file = folder.join(file_name(slot));
            if file.exists() {
                fs::remove_file(&file).map_err(Error::file(&file))?;
            }
        }
        if observations.iter().all(|one| one.does_not_compile.is_some()) {
            return Ok(observations);
        }
    }
    run_all(tools, module, &mut observations)?;
    Ok(observations)
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::file(path))
}

fn file_name(slot: usize) -> String {
    format!("p{slot}.go")
}

/// How often each program is run.
fn runs(program: &Program) -> u32 {
    match program.schedule {
        Schedule::Sequential => 8,
        Schedule::Deterministic => 40,
        Schedule::Varies => 200,
    }
}

fn table(programs: &[Program], observations: &[Observation]) -> String {
    let mut text = "package main\n\nvar programs = []entry{\n".to_owned();
    for (slot, (program, observation)) in programs.iter().zip(observations).enumerate() {
        let line = match observation.does_not_compile {
            Some(_) => "\t{nil, 0},".into(),
            None => format!("\t{{{}, {}}},", run_name(slot), runs(program)),
        };
        let _ = writeln!(text, "{line}");
    }
    text + "}\n"
}

/// Gives each message of the compiler to its program; false if there is none for a new program.
fn blame(messages: &str, observations: &mut [Observation]) -> bool {
    let mut new = false;
    for line in messages.lines() {
        let Some((_, rest)) = line.split_once("run/p") else { continue };
        let Some((slot, _)) = rest.split_once(".go:") else { continue };
        let slot = slot.parse().ok().and_then(|slot: usize| observations.get_mut(slot));
        let Some(observation) = slot else { continue };
        new |= observation.does_not_compile.is_none();
        observation.does_not_compile.get_or_insert_with(|| line.into());
    }
    new
}

fn run_all(tools: &Tools, module: &Path, observations: &mut [Observation]) -> Result<(), Error> {
    let mut from = 0;
    while from < observations.len() {
        let finished = tools.built(module, "programs", from)?;
        let mut current = None;
        for line in finished.stdout.text().lines() {
            read(line, observations, &mut current);
        }
        if finished.end.is_success() {
            return Ok(());
        }
        // What killed the process is the program that was begun and not done.
        let Some(slot) = current else { return Ok(()) };
        let stderr = finished.stderr.text();
        from = slot + 1;
        if stderr.contains("WARNING: DATA RACE") {
            observations[slot].races = true;
            continue;
        }
        let message =
            stderr.lines().find(|line| line.starts_with("panic:") || line.starts_with("fatal"));
        let message = message.map_or_else(|| finished.end.to_string(), str::to_owned);
        observations[slot].panicked(&message);
    }
    Ok(())
}

/// Reads one line of the driver.
fn read(line: &str, observations: &mut [Observation], current: &mut Option<usize>) {
    let mut words = line.splitn(3, ' ');
    let (Some(event), Some(slot)) = (words.next(), words.next()) else { return };
    let Ok(slot) = slot.parse::<usize>() else { return };
    let rest = words.next().unwrap_or_default();
    let Some(observation) = observations.get_mut(slot) else { return };
    match event {
        "begin" => *current = Some(slot),
        "done" => *current = None,
        "late" => observation.hangs = true,
        "leak" => observation.leaks = true,
        "panic" => observation.panicked(rest),
        "result" => {
            if let Ok(result) = serde_json::from_str(rest) {
                // A late result: it did not hang after all.
                if *current != Some(slot) {
                    observation.hangs = false;
                }
                observation.results.push(result);
            }
        }
        _ => {}
    }
}
