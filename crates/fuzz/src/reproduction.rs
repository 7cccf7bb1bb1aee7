//! A finding without Strait: a small crate that uses the channel crate alone and exits with 1 when the fault
//! shows. It is written beside the finding, compiled and run, and the finding says how often it failed.

use std::path::Path;
use std::time::{Duration, Instant};

use strait_calculus::{
    Engine, Event, ExamineOptions, Observation, Program, Seen, Verdict, examine,
};
use strait_emit::{Files, Messages, Processes, Refusal, Standalone, standalone};
use strait_explore::Coverage;
use strait_findings::attach_files;
use strait_runtimes::{Flavour, Payload, Promise, RunOptions, TargetInfo, observation};
use strait_toolchain::{Cache, Cargo, End, Launcher};

use crate::error::Error;
use crate::fuzz_target::{FuzzTarget, built_in_version};
use crate::judge::Fault;

/// The folder inside the finding.
pub const REPRODUCE: &str = "reproduce";
/// States that may be visited to list all possible outcomes.
const STATES: u64 = 200_000;
/// The most outcomes that are listed.
const OUTCOMES: usize = 200;
/// How often the program is run, and how long a run may take before it is counted as one without fault.
const RUNS: u64 = 5;
const RUN: Duration = Duration::from_secs(75);

/// How often a reproduction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reproduced {
    /// In so many runs the fault showed.
    pub failed: u64,
    /// Of so many.
    pub runs: u64,
}

/// The files of the crate; an error that says what cannot be written.
pub fn reproduction(
    target: &FuzzTarget,
    title: &str,
    program: &Program,
    options: &RunOptions,
    fault: &Fault,
) -> Result<Files, strait_emit::Error> {
    let (version, build) = target.version.split_once('+').unwrap_or((&target.version, ""));
    if !build.is_empty() {
        let (target, why) = (target.target.clone(), Refusal::WorkingTree);
        return Err(strait_emit::Error::NotStandalone { target, why });
    }
    let (mut possible, mut impossible) = (None, Vec::new());
    if let Fault::Wrong(record, _) = fault {
        if options.promise == Promise::Full {
            possible = outcomes(program);
        }
        // If the possible outcomes are too many, the one that was seen has to do.
        if possible.is_none() {
            impossible.push(text(&observation(record)));
        }
    }
    let about = Standalone {
        title,
        target: &target.target,
        version: Some(version),
        processes: processes(options.flavour),
        messages: match options.payload {
            Payload::Plain => Messages::Plain,
            Payload::Boxed => Messages::Boxed,
            Payload::Counted => Messages::Counted,
        },
        possible: possible.as_deref(),
        impossible: &impossible,
    };
    standalone(program, &about)
}

/// Any program of a target as a crate that checks itself, for the built-in version of the target.
pub fn checked_program(
    target: &TargetInfo,
    title: &str,
    program: &Program,
    flavour: Flavour,
) -> Result<Files, strait_emit::Error> {
    let (possible, version) = (outcomes(program), built_in_version(target));
    let about = Standalone {
        title,
        target: target.name,
        version: Some(&version),
        processes: processes(flavour),
        messages: Messages::Counted,
        possible: possible.as_deref(),
        impossible: &[],
    };
    standalone(program, &about)
}

/// Processes of a flavour, as a crate without Strait runs them.
pub fn processes(flavour: Flavour) -> Processes {
    match flavour {
        Flavour::Threads => Processes::Threads,
        Flavour::Tasks => Processes::Tasks,
        Flavour::Mixed => Processes::Mixed,
    }
}

/// All outcomes of a program, if they are few; the text form is that of `strait_runtimes::Record`.
fn outcomes(program: &Program) -> Option<Vec<String>> {
    let options = ExamineOptions {
        engine: Engine::States { reduce: true, symmetry: false },
        max_states: STATES,
        ..ExamineOptions::default()
    };
    let examined = examine(program, &options);
    let is_whole = examined.coverage == Coverage::Exhaustive
        && examined.verdict == Verdict::Terminates
        && examined.outcomes.len() <= OUTCOMES;
    let outcomes = examined.outcomes.iter().map(|found| text(&found.outcome.observation()));
    is_whole.then(|| outcomes.collect())
}

fn text(observation: &Observation) -> String {
    let mut text = "finished".to_owned();
    let seen = observation.processes.iter().filter(|(_, events)| !events.is_empty());
    for (name, events) in seen {
        let events: Vec<String> = events.iter().map(|event| event_text(*event)).collect();
        text.push_str(&format!(" {name}={}", events.join(",")));
    }
    text
}

fn event_text(event: Event) -> String {
    let value = |seen: Seen| match seen {
        Seen::Unit => "u".to_owned(),
        Seen::Bool(value) => if value { "t" } else { "f" }.to_owned(),
        Seen::Int(value) => value.to_string(),
        Seen::Nil => "n".to_owned(),
        Seen::Chan => "c".to_owned(),
    };
    match event {
        Event::Received(seen) => format!("r{}", value(seen)),
        Event::Closed => "x".to_owned(),
        Event::Chose(case) => format!("#{case}"),
        Event::Defaulted => "d".to_owned(),
        Event::TimedOut => "t".to_owned(),
        Event::Observed(seen) => format!("o{}", value(seen)),
    }
}

/// Runs reproductions.
pub struct Reproducer<'a> {
    /// How processes are started.
    pub launcher: &'a Launcher,
    /// How long all runs may take.
    pub time: Duration,
    /// Should we stop?
    pub stop: &'a dyn Fn() -> bool,
}

impl Reproducer<'_> {
    /// Writes the files into the folder of a finding, compiles and runs them.
    pub fn reproduce(&self, folder: &Path, files: &Files) -> Result<Reproduced, Error> {
        attach_files(folder, REPRODUCE, files)?;
        let (cargo, cache) = (Cargo::find(self.launcher)?, Cache::find()?);
        let program = cargo.build_folder(&cache, files, REPRODUCE)?;
        let begun = Instant::now();
        let mut reproduced = Reproduced { failed: 0, runs: 0 };
        while reproduced.runs < RUNS && begun.elapsed() < self.time && !(self.stop)() {
            let ended = cargo.run_program(&program, RUN)?;
            reproduced.runs += 1;
            let has_failed = matches!(ended, End::Exited(1) | End::Signalled(_));
            reproduced.failed += u64::from(has_failed);
        }
        Ok(reproduced)
    }
}
