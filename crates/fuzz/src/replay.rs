//! A finding run again from its directory, wherever that came from.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strait_calculus::{Program, parse};
use strait_findings::{Kind, Replay};
use strait_generate::RuleCounts;
use strait_runtimes::{RunOptions, lower, target};
use strait_toolchain::{Launcher, Version};

use crate::dialect::Dialect;
use crate::discover::{kind, run_from_json};
use crate::done::run_alone;
use crate::error::Error;
use crate::fuzz_target::{FuzzTarget, TargetFinder};
use crate::judge::{Fault, judge};
use crate::work::Work;

/// How much more often the program is run in each further try.
const GROWTH: u64 = 4;
/// The most runs of one try: what a process has done is lost when it dies.
const MOST: u64 = 20_000;

/// A finding that can be run again.
#[derive(Debug)]
pub struct Exhibit {
    /// What was found.
    pub replay: Replay,
    /// The target.
    pub target: FuzzTarget,
    /// The program, the reduced one if there is one.
    pub work: Work,
}

/// What running again gave.
#[derive(Clone, Debug)]
pub struct Rerun {
    /// In how many runs the fault showed.
    pub failed: u64,
    /// Of how many.
    pub runs: u64,
    /// How it showed the first time.
    pub fault: Option<Fault>,
}

impl Exhibit {
    /// Reads a finding and gets its target ready.
    pub fn open(
        folder: &Path,
        finder: &mut TargetFinder<'_>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Exhibit, Error> {
        let refuse = |why: String| Error::NotReplayable { folder: folder.to_owned(), why };
        let replay = Replay::read(folder)?;
        let finding = &replay.finding;
        let options = finding.details.get("run").and_then(run_from_json).ok_or_else(|| {
            refuse("finding.json does not say how the program was run; was it found by another part of Strait?".to_owned())
        })?;
        let target = match Dialect::of(&finding.target) {
            Some(dialect) => finder.language(dialect, Some(&finding.version), tell)?,
            None => {
                let target = target(&finding.target)?;
                let version = Version::parse(&finding.version)
                    .map_err(|_| refuse(format!("`{}` is not a version", finding.version)))?;
                finder.version(target, &version, tell)?
            }
        };
        let text = replay
            .program
            .as_deref()
            .ok_or_else(|| refuse("program.strait is missing".to_owned()))?;
        let program =
            parse(text).map_err(|problems| refuse(problems.render("program.strait", text)))?;
        let work = work(finding.index, program, options)?;
        Ok(Exhibit { replay, target, work })
    }

    /// The kind of fault.
    pub fn kind(&self) -> &Kind {
        &self.replay.finding.kind
    }

    /// Runs the program again, more and more often, until the fault shows or time is up.
    pub fn run(
        &self,
        launcher: &Launcher,
        time: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Rerun, Error> {
        let begun = Instant::now();
        let mut rerun = Rerun { failed: 0, runs: 0, fault: None };
        let mut options = self.work.options;
        loop {
            let over = || stop() || begun.elapsed() > time;
            let trial = self.attempt(launcher, &self.work.program, &options, &over)?;
            rerun.runs += trial.runs;
            rerun.failed += trial.failed;
            rerun.fault = rerun.fault.or(trial.fault);
            if rerun.failed > 0 || over() {
                return Ok(rerun);
            }
            options.repetitions = (options.repetitions * GROWTH).min(MOST);
            options.seed = options.seed.wrapping_add(1);
        }
    }

    /// Runs a program once in the exhibit's way.
    pub fn attempt(
        &self,
        launcher: &Launcher,
        program: &Program,
        options: &RunOptions,
        stop: &dyn Fn() -> bool,
    ) -> Result<Rerun, Error> {
        let work = Arc::new(work(self.work.index, program.clone(), *options)?);
        let done = run_alone(launcher, &self.target, work, stop)?;
        let Some(done) = done else { return Ok(Rerun { failed: 0, runs: 0, fault: None }) };
        let judgement = judge(&done);
        let alike = judgement.suspicions.iter().filter(|found| kind(&found.fault) == *self.kind());
        let failed: u64 = alike.clone().map(|found| found.failed).sum();
        let fault = alike.map(|found| found.fault.clone()).next();
        Ok(Rerun { failed, runs: done.summary.runs.max(failed), fault })
    }
}

fn work(index: u64, program: Program, options: RunOptions) -> Result<Work, Error> {
    let plan = lower(&program)?;
    Ok(Work { index, program, plan, options, rules: RuleCounts::new() })
}
