//! A finding made small: cuts are tried as long as the rest still terminates, by proof, and still
//! shows the fault.

use std::path::Path;
use std::time::{Duration, Instant};

use strait_calculus::{Program, Verdict, print};
use strait_explore::Coverage;
use strait_findings::{Kind, REDUCED, Rewording, attach, reword};
use strait_generate::{Explorer, operations};
use strait_runtimes::{Promise, RunOptions, lower, target};
use strait_toolchain::Launcher;

use crate::discover::{discovery, drawn};
use crate::error::Error;
use crate::judge::Suspicion;
use crate::loose::loosened;
use crate::replay::{Exhibit, Rerun};
use crate::shrink::siblings;
use crate::work::Work;

/// States that the proof of one candidate may take.
const PROOF_STATES: u64 = 100_000;
/// A fault that shows in one of n runs is looked for in so many times n runs.
const SURE: u64 = 6;
/// The most runs of one candidate.
const MOST: u64 = 40_000;
/// The patience with a candidate that seems to hang: the finding itself was confirmed with more.
const PATIENCE: Duration = Duration::from_secs(2);

/// What became of a finding.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The smaller program; the one it was if nothing could go.
    pub program: Program,
    /// Channel operations before.
    pub before: u32,
    /// Channel operations after.
    pub after: u32,
    /// How often the smaller program shows the fault.
    pub rerun: Rerun,
    /// Candidates that were run.
    pub tried: u64,
    /// Whether there was nothing left to try, as opposed to no time left.
    pub is_minimal: bool,
}

/// Makes findings small.
pub struct Reducer<'a> {
    /// How processes are started.
    pub launcher: &'a Launcher,
    /// How long it may take.
    pub time: Duration,
    /// Should we stop?
    pub stop: &'a dyn Fn() -> bool,
    /// Hears of every smaller program: operations left, candidates run.
    pub tell: &'a dyn Fn(u32, u64),
}

impl Reducer<'_> {
    /// Reduces a finding. `None` when the fault does not show any more, so that nothing can be
    /// said about smaller programs.
    pub fn reduce(&self, exhibit: &Exhibit) -> Result<Option<Reduced>, Error> {
        let begun = Instant::now();
        let over = || (self.stop)() || begun.elapsed() > self.time;
        let first = exhibit.run(self.launcher, self.time / 2, self.stop)?;
        if first.failed == 0 {
            return Ok(None);
        }
        let mut program = exhibit.work.program.clone();
        let before = operations(&program);
        let (mut rerun, mut tried, mut is_minimal) = (first, 0, false);
        'smaller: while !over() {
            let options = self.options(exhibit, &rerun);
            for candidate in siblings(&program) {
                if over() {
                    break 'smaller;
                }
                if !self.is_sound(exhibit, &candidate) {
                    continue;
                }
                tried += 1;
                let again = exhibit.attempt(self.launcher, &candidate, &options, &over)?;
                if again.failed > 0 {
                    (program, rerun) = (candidate, again);
                    (self.tell)(operations(&program), tried);
                    continue 'smaller;
                }
            }
            is_minimal = true;
            break;
        }
        let after = operations(&program);
        Ok(Some(Reduced { program, before, after, rerun, tried, is_minimal }))
    }

    /// Runs enough to expect the fault several times.
    fn options(&self, exhibit: &Exhibit, rerun: &Rerun) -> RunOptions {
        let options = exhibit.work.options;
        // A process that dies or hangs shows its fault once, however many runs it had.
        let per_fault = rerun.runs / rerun.failed.max(1) + 1;
        let repetitions = (per_fault * SURE).clamp(options.repetitions, MOST);
        let patience = if *exhibit.kind() == Kind::HANG { PATIENCE } else { options.patience };
        RunOptions { repetitions, patience, ..options }
    }

    /// Does it terminate by proof, and does the target promise all it needs?
    fn is_sound(&self, exhibit: &Exhibit, candidate: &Program) -> bool {
        let Ok(plan) = lower(candidate) else { return false };
        let RunOptions { promise, flavour, .. } = exhibit.work.options;
        // A language's contract is kept by any part of a program that keeps it.
        let accepted = target(&exhibit.target.target)
            .map_or(true, |target| target.accepts_to(promise, &plan, flavour).is_ok());
        let explorer = Explorer { max_states: PROOF_STATES };
        let ends = |program: &Program| {
            matches!(explorer.verdict(program), (Verdict::Terminates, Coverage::Exhaustive))
        };
        accepted
            && ends(candidate)
            && (promise == Promise::Full || loosened(candidate).iter().all(ends))
    }
}

/// Puts the smaller program into the finding's directory, where a replay takes it from, and lets the
/// finding speak of it, and of what else was found out.
pub fn keep(folder: &Path, exhibit: &Exhibit, reduced: &Reduced, more: &str) -> Result<(), Error> {
    let Rerun { failed, runs, fault } = &reduced.rerun;
    let Some(fault) = fault else {
        attach(folder, REDUCED, print(&reduced.program).as_bytes())?;
        return Ok(());
    };
    let work = Work {
        program: reduced.program.clone(),
        plan: lower(&reduced.program)?,
        ..exhibit.work.clone()
    };
    let suspicion = Suspicion { fault: fault.clone(), failed: *failed, runs: *runs };
    let told = discovery(&exhibit.target, exhibit.replay.finding.seed, &work, &suspicion, None);
    let told = drawn(told, &work, &suspicion);
    let rewording = Rewording {
        program: print(&reduced.program),
        title: told.title,
        explanation: told.explanation + more,
        failed: *failed,
        runs: *runs,
        diagram: told.diagram,
    };
    reword(folder, &rewording)?;
    Ok(())
}
