//! What a campaign has done so far: sums over all parts that were delivered, here or elsewhere.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::Value;
use strait_queue::Part;

/// Sums that only grow. A thread may read them while others add.
#[derive(Debug, Default)]
pub struct Counters {
    programs: AtomicU64,
    runs: AtomicU64,
    findings: AtomicU64,
    rest: Mutex<Rest>,
}

/// What only some kinds of campaigns count.
#[derive(Debug, Default)]
struct Rest {
    counts: BTreeMap<String, u64>,
    notes: Vec<Value>,
}

impl Counters {
    /// Adds a part.
    pub fn add(&self, part: &Part) {
        self.programs.fetch_add(part.programs, Ordering::Relaxed);
        self.runs.fetch_add(part.runs, Ordering::Relaxed);
        if part.counts.is_empty() && part.notes.is_empty() {
            return;
        }
        let mut rest = self.rest();
        for (name, count) in &part.counts {
            let sum = rest.counts.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        rest.notes.extend_from_slice(&part.notes);
    }

    /// A fault was found that was not known before.
    pub fn add_finding(&self) {
        self.findings.fetch_add(1, Ordering::Relaxed);
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
        counters.add(&part("a", 1));
        counters.add(&part("a", u64::MAX));
        counters.add(&part("b", 3));
        assert_eq!((counters.programs(), counters.runs()), (6, 15));
        assert_eq!((counters.count("a"), counters.count("b")), (u64::MAX, 3));
        assert_eq!(counters.count("c"), 0);
        let slow: Vec<BTreeMap<String, String>> = counters.notes();
        assert_eq!(slow.len(), 3, "a note of another kind is left out");
    }
}
