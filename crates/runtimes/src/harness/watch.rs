//! Signs of life: counters that another thread may read at any time to tell progress from a hang.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one session.
#[derive(Debug, Default)]
pub struct Watch {
    instances: AtomicU64,
    processes: AtomicU64,
}

impl Watch {
    /// An instance has been judged complete.
    pub fn finish_instances(&self, count: u64) {
        self.instances.fetch_add(count, Ordering::Relaxed);
    }

    /// A process has ended.
    pub fn finish_process(&self) {
        self.processes.fetch_add(1, Ordering::Relaxed);
    }

    /// How many instances have ended since the session began.
    pub fn instances(&self) -> u64 {
        self.instances.load(Ordering::Relaxed)
    }

    /// How many processes have ended since the session began. If this stands still, nothing moves.
    pub fn processes(&self) -> u64 {
        self.processes.load(Ordering::Relaxed)
    }
}
