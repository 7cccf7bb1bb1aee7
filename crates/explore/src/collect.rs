//! Gathers the distinct outcomes of a search, each with the first trace that gave it.

use rustc_hash::FxHashSet;

use crate::report::{Found, Report};
use crate::system::System;

/// A report in the making.
pub(crate) struct Collector<S: System> {
    /// What the search has counted so far.
    pub(crate) report: Report<S::Outcome, S::Action>,
    seen: FxHashSet<S::Outcome>,
    /// Roughly how many bytes the outcomes and their traces take.
    pub(crate) bytes: usize,
    /// The outcomes of the execution that ended last.
    pub(crate) latest: Vec<S::Outcome>,
}

impl<S: System> Collector<S> {
    /// Nothing seen yet.
    pub(crate) fn new() -> Self {
        Collector {
            report: Report::new(),
            seen: FxHashSet::default(),
            bytes: 0,
            latest: Vec::new(),
        }
    }

    /// Takes up the outcomes of a complete execution.
    pub(crate) fn execution(&mut self, system: &S, run: &mut S::Run, trace: &[S::Action]) {
        self.report.executions += 1;
        self.latest.clear();
        system.outcomes(run, &mut self.latest);
        for outcome in &self.latest {
            if !self.seen.contains(outcome) {
                self.seen.insert(outcome.clone());
                // Outcomes own memory that cannot be seen from here; a guess has to do.
                self.bytes += size_of_val(trace) + 2 * size_of::<S::Outcome>() + 512;
                self.report.found.push(Found { outcome: outcome.clone(), trace: trace.to_vec() });
            }
        }
    }

    /// Takes up one outcome that another thread found.
    pub(crate) fn found(&mut self, found: Found<S::Outcome, S::Action>) {
        if !self.seen.contains(&found.outcome) {
            self.seen.insert(found.outcome.clone());
            self.report.found.push(found);
        }
    }
}
