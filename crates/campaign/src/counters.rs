//! What a campaign has done so far: sums over all parts that were delivered, here or elsewhere.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::Value;
use strait_findings::{Discovery, Recorded};
use strait_queue::{Part, TargetVersion};

use crate::activity::Activity;

/// Sums that only grow. A thread may read them while others add.
#[derive(Debug, Default)]
pub struct Counters {
    programs: AtomicU64,
    runs: AtomicU64,
    findings: AtomicU64,
    rest: Mutex<Rest>,
    activity: Activity,
}

/// What only some kinds of campaigns count, and what is counted per target.
#[derive(Debug, Default)]
struct Rest {
    counts: BTreeMap<String, u64>,
    notes: Vec<Value>,
    targets: Vec<TargetCounts>,
}

/// What was done for one target in this session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetCounts {
    /// The target.
    pub target: TargetVersion,
    /// Indices that are done.
    pub indices: u64,
    /// Programs that ran.
    pub programs: u64,
    /// Faults that were not known before.
    pub findings: u64,
}

impl Counters {
    /// Counts from now on what is done for each of these targets.
    pub fn set_targets(&self, targets: &[TargetVersion]) {
        let mut rest = self.rest();
        if !rest.targets.iter().map(|counts| &counts.target).eq(targets) {
            let zero = |target: &TargetVersion| TargetCounts {
                target: target.clone(),
                indices: 0,
                programs: 0,
                findings: 0,
            };
            rest.targets = targets.iter().map(zero).collect();
        }
    }

    /// Adds a part of this target.
    pub fn add(&self, target: usize, part: &Part) {
        self.programs.fetch_add(part.programs, Ordering::Relaxed);
        self.runs.fetch_add(part.runs, Ordering::Relaxed);
        let mut rest = self.rest();
        // A worker of a queue works for several campaigns, and does not count their targets.
        if let Some(counts) = rest.targets.get_mut(target) {
            counts.indices = counts.indices.saturating_add(part.indices.len());
            counts.programs = counts.programs.saturating_add(part.programs);
        }
        for (name, count) in &part.counts {
            let sum = rest.counts.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        rest.notes.extend_from_slice(&part.notes);
    }

    /// A target showed a fault that was not known before.
    pub fn add_finding(&self, target: usize, recorded: &Recorded, discovery: &Discovery) {
        self.findings.fetch_add(1, Ordering::Relaxed);
        if let Some(counts) = self.rest().targets.get_mut(target) {
            counts.findings += 1;
        }
        self.activity.found(recorded, discovery);
    }

    /// What was done for each target, if targets were set.
    pub fn targets(&self) -> Vec<TargetCounts> {
        self.rest().targets.clone()
    }

    /// What is being done at the moment.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Programs, or tests, that ran.
    pub fn programs(&self) -> u64 {
        self.programs.load(Ordering::Relaxed)
    }

    /// Runs that they had.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Faults that were not known before.
    pub fn findings(&self) -> u64 {
        self.findings.load(Ordering::Relaxed)
    }

    /// What was counted under this name.
    pub fn count(&self, name: &str) -> u64 {
        self.rest().counts.get(name).copied().unwrap_or_default()
    }

    /// All that was counted by name.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.rest().counts.clone()
    }

    /// What was noted, as far as this version understands it.
    pub fn notes<N: DeserializeOwned>(&self) -> Vec<N> {
        let read = |note: &Value| serde_json::from_value(note.clone()).ok();
        self.rest().notes.iter().filter_map(read).collect()
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_summed() {
        let part = |name: &str, count| Part {
            programs: 2,
            runs: 5,
            counts: BTreeMap::from([(name.to_owned(), count)]),
            notes: vec![json!({ "slow": name }), json!(7)],
            ..Part::default()
        };
        let counters = Counters::default();
        let target =
            |name: &str| TargetVersion { target: name.to_owned(), version: "1".to_owned() };
        counters.set_targets(&[target("x"), target("y")]);
        counters.add(0, &part("a", 1));
        counters.add(1, &part("a", u64::MAX));
        counters.add(1, &part("b", 3));
        counters.add(7, &Part::default());
        let programs: Vec<u64> = counters.targets().iter().map(|counts| counts.programs).collect();
        assert_eq!(programs, [2, 4]);
        assert_eq!((counters.programs(), counters.runs()), (6, 15));
        assert_eq!((counters.count("a"), counters.count("b")), (u64::MAX, 3));
        assert_eq!(counters.count("c"), 0);
        let slow: Vec<BTreeMap<String, String>> = counters.notes();
        assert_eq!(slow.len(), 3, "a note of another kind is left out");
    }
}
