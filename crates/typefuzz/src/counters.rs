//! What a campaign has done so far, to be looked at while it runs; and the same by name, as it travels
//! with the results of a batch.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What stands before the name of a known class.
const KNOWN: &str = "known ";

/// Counts that only grow.
#[derive(Debug, Default)]
pub struct Counters {
    /// Programs that were judged.
    pub programs: AtomicU64,
    /// Of these, accepted by the first oracle.
    pub accepted: AtomicU64,
    /// Indices without a program: the search gave up, or nothing could be rewritten.
    pub skipped: AtomicU64,
    /// Distinct faults.
    pub findings: AtomicU64,
    /// Differences of known classes.
    pub known: Mutex<BTreeMap<String, u64>>,
}

impl Counters {
    /// Notes what a batch has done.
    pub(crate) fn note(
        counts: &mut BTreeMap<String, u64>,
        programs: u64,
        accepted: u64,
        skipped: u64,
    ) {
        for (name, count) in [("programs", programs), ("accepted", accepted), ("skipped", skipped)]
        {
            *counts.entry(name.to_owned()).or_default() += count;
        }
    }

    /// Notes differences of a known class.
    pub(crate) fn note_known(counts: &mut BTreeMap<String, u64>, class: &str, count: u64) {
        *counts.entry(format!("{KNOWN}{class}")).or_default() += count;
    }

    /// Adds what a batch has done, here or elsewhere.
    pub(crate) fn absorb(&self, counts: &BTreeMap<String, u64>) {
        for (name, count) in counts {
            let counter = match name.as_str() {
                "programs" => &self.programs,
                "accepted" => &self.accepted,
                "skipped" => &self.skipped,
                name => {
                    let Some(class) = name.strip_prefix(KNOWN) else { continue };
                    let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                    *known.entry(class.to_owned()).or_default() += count;
                    continue;
                }
            };
            counter.fetch_add(*count, Ordering::Relaxed);
        }
    }

    /// A number in letters: numbers in fingerprints do not count.
    pub(crate) fn spelled(number: u64) -> String {
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
    }
}
