//! How far a hunt is. Other threads may read it meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts that only grow.
#[derive(Debug, Default)]
pub struct Counters {
    runs: AtomicU64,
    tests: AtomicU64,
    virtual_runs: AtomicU64,
}

impl Counters {
    pub(crate) fn add_run(&self, virtual_time: bool) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.virtual_runs.fetch_add(u64::from(virtual_time), Ordering::Relaxed);
    }

    pub(crate) fn set_tests(&self, tests: usize) {
        self.tests.store(tests as u64, Ordering::Relaxed);
    }

    /// Runs of tests.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Of these, runs by the virtual clock.
    pub fn virtual_runs(&self) -> u64 {
        self.virtual_runs.load(Ordering::Relaxed)
    }

    /// Tests that take part, subtests included.
    pub fn tests(&self) -> u64 {
        self.tests.load(Ordering::Relaxed)
    }
}
