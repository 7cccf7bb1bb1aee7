//! What this process has done through its connection to a queue, as numbers that others read while it
//! goes on: metrics, and the records that workers write about themselves.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::status::WorkerStatus;

/// Counters of one process.
#[derive(Debug)]
pub struct Activity {
    begun: Duration,
    pub(crate) items: AtomicU64,
    pub(crate) programs: AtomicU64,
    pub(crate) runs: AtomicU64,
    pub(crate) given_out: AtomicU64,
    pub(crate) given_again: AtomicU64,
    pub(crate) under_way: AtomicU64,
    pub(crate) dead_letters: AtomicU64,
    pub(crate) workers: AtomicU64,
    pub(crate) workers_lost: AtomicU64,
    campaign: Mutex<Option<String>>,
    seen: Mutex<Vec<WorkerStatus>>,
}

/// The counters at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Pieces of work that are done.
    pub items: u64,
    /// Programs that ran in them.
    pub programs: u64,
    /// Runs that they had.
    pub runs: u64,
    /// Pieces of work that a submitter has given out.
    pub given_out: u64,
    /// Those of them that were given out again.
    pub given_again: u64,
    /// Pieces of work that are given out and not done.
    pub under_way: u64,
    /// Messages that were set aside.
    pub dead_letters: u64,
    /// Workers that a submitter sees.
    pub workers: u64,
    /// Workers that it has lost.
    pub workers_lost: u64,
}

impl Activity {
    pub(crate) fn new(begun: Duration) -> Activity {
        let zero = || AtomicU64::new(0);
        Activity {
            begun,
            items: zero(),
            programs: zero(),
            runs: zero(),
            given_out: zero(),
            given_again: zero(),
            under_way: zero(),
            dead_letters: zero(),
            workers: zero(),
            workers_lost: zero(),
            campaign: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// The counters now.
    pub fn totals(&self) -> Totals {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Totals {
            items: of(&self.items),
            programs: of(&self.programs),
            runs: of(&self.runs),
            given_out: of(&self.given_out),
            given_again: of(&self.given_again),
            under_way: of(&self.under_way),
            dead_letters: of(&self.dead_letters),
            workers: of(&self.workers),
            workers_lost: of(&self.workers_lost),
        }
    }

    /// When the connection was made, by the clock of the link.
    pub(crate) fn begun(&self) -> Duration {
        self.begun
    }

    /// The campaign that a worker is at.
    pub fn campaign(&self) -> Option<String> {
        self.campaign.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_campaign(&self, campaign: Option<&str>) {
        let mut current = self.campaign.lock().unwrap_or_else(PoisonError::into_inner);
        *current = campaign.map(ToOwned::to_owned);
    }

    /// The workers of the campaign, as a submitter saw them a few seconds ago.
    pub fn workers_seen(&self) -> Vec<WorkerStatus> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_workers_seen(&self, workers: Vec<WorkerStatus>) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = workers;
    }

    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}
