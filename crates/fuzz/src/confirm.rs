//! A suspect is run again, alone in a process of its own and with more patience, before it is
//! believed; and the same program is run on other targets: what all of them do is more likely a
//! fault of ours than of all of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strait_runtimes::{Promise, RunOptions, TARGETS};
use strait_toolchain::Launcher;

use crate::done::run_alone;
use crate::error::Error;
use crate::fuzz_target::FuzzTarget;
use crate::judge::{Fault, judge};
use crate::recipe::PATIENCE;
use crate::work::Work;

/// How long running again may take.
const BUDGET: Duration = Duration::from_secs(20);
/// How long running on other targets may take.
const COMPARISON: Duration = Duration::from_secs(6);
/// How often a program runs on another target.
const COMPARED: u64 = 200;
/// How much more often the program is run in each further try.
const GROWTH: [u64; 4] = [1, 4, 40, 400];
/// The most repetitions of a try.
const MOST: u64 = 20_000;

/// What running again gave.
#[derive(Clone, Debug, Default)]
pub struct Confirmation {
    /// In how many runs the fault showed again.
    pub again: u64,
    /// Of how many.
    pub runs: u64,
    /// Other targets that ran the same program without fault.
    pub without: Vec<String>,
    /// Other targets that show the same.
    pub alike: Vec<String>,
}

impl Confirmation {
    pub(crate) fn sentences(&self) -> String {
        let mut text = match (self.again, self.runs) {
            (_, 0) => String::new(),
            (0, runs) => format!("Run again alone, it did not show in {runs} runs.\n"),
            (again, runs) => format!("Run again alone, it showed in {again} of {runs} runs.\n"),
        };
        if !self.without.is_empty() {
            text += &format!(
                "The same program ran without fault on {} ({COMPARED} runs each).\n",
                self.without.join(", ")
            );
        }
        if !self.alike.is_empty() {
            text += &format!("The same happens on {}.\n", self.alike.join(", "));
        }
        text
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "again": self.again,
            "runs": self.runs,
            "without_fault_on": self.without,
            "alike_on": self.alike,
        })
    }
}

/// Runs suspects again.
pub struct Confirmer<'a> {
    /// How processes are started.
    pub launcher: &'a Launcher,
    /// The target.
    pub target: &'a FuzzTarget,
    /// Should we stop?
    pub stop: &'a dyn Fn() -> bool,
}

impl Confirmer<'_> {
    /// Runs the work again until the fault shows, within the budget. For a crash, programs that the
    /// process had run before are suspects too; the one that shows it is returned.
    pub fn confirm(
        &self,
        work: &Arc<Work>,
        fault: &Fault,
    ) -> Result<(Arc<Work>, Confirmation), Error> {
        let begun = Instant::now();
        let mut confirmation = Confirmation::default();
        let before: Vec<&Arc<Work>> = match fault {
            Fault::Crash(death) => {
                let own = death.before.iter().filter(|(target, _)| **target == *self.target.target);
                own.map(|(_, work)| work).collect()
            }
            _ => Vec::new(),
        };
        for growth in GROWTH {
            for suspect in [work].into_iter().chain(before.iter().copied()) {
                if begun.elapsed() > BUDGET || (self.stop)() {
                    return Ok((Arc::clone(work), confirmation));
                }
                let (again, runs) = self.try_again(suspect, fault, growth)?;
                confirmation.runs += runs;
                if again > 0 {
                    confirmation.again += again;
                    return Ok((Arc::clone(suspect), confirmation));
                }
            }
        }
        Ok((Arc::clone(work), confirmation))
    }

    /// Runs the work once more; in how many runs of how many did the fault show?
    pub fn try_again(&self, work: &Work, fault: &Fault, growth: u64) -> Result<(u64, u64), Error> {
        let repetitions =
            (work.options.repetitions * growth).min(MOST.max(work.options.repetitions));
        let seed = work.options.seed.wrapping_add(growth - 1);
        let options = RunOptions { repetitions, seed, patience: 2 * PATIENCE, ..work.options };
        let begun = Instant::now();
        let stop = || (self.stop)() || begun.elapsed() > 2 * BUDGET;
        let again = Arc::new(work.with(options));
        let done = run_alone(self.launcher, self.target, again, &stop)?;
        let Some(done) = done else { return Ok((0, 0)) };
        let judgement = judge(&done);
        let alike = judgement.suspicions.iter().filter(|found| found.fault.is_like(fault));
        let again: u64 = alike.map(|found| found.failed).sum();
        Ok((again, done.summary.runs.max(again)))
    }

    /// Runs the work on other targets that promise all it needs.
    pub fn compare(
        &self,
        work: &Work,
        fault: &Fault,
        confirmation: &mut Confirmation,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let stop = || (self.stop)() || begun.elapsed() > COMPARISON;
        for other in TARGETS.iter().filter(|other| other.name != self.target.target) {
            if other.accepts(&work.plan, work.options.flavour).is_err() || stop() {
                continue;
            }
            let options = RunOptions {
                repetitions: COMPARED,
                patience: COMPARISON / 3,
                promise: Promise::Full,
                ..work.options
            };
            let target = FuzzTarget::built_in(other);
            let again = Arc::new(work.with(options));
            let Some(done) = run_alone(self.launcher, &target, again, &stop)? else {
                continue;
            };
            let judgement = judge(&done);
            if judgement.astray.is_some() {
                continue;
            }
            if judgement.suspicions.iter().any(|found| found.fault.is_like(fault)) {
                confirmation.alike.push(target.name());
            } else if judgement.suspicions.is_empty() {
                confirmation.without.push(target.name());
            }
        }
        Ok(())
    }
}
