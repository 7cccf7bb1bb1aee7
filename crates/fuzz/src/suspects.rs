//! What waits to be looked at beside the campaign: processes whose program does not move any more, and
//! programs that showed something new. Threads that run programs put them here and go on; a few other
//! threads see to them, so that a hang, which takes long to confirm, does not hold up the workers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strait_campaign::Confirmation;
use strait_queue::{LateDelivery, Part};

use crate::judge::Suspicion;
use crate::work::Work;
use crate::worker_process::WorkerProcess;

/// How many processes may be left behind at a time. Each holds memory and the threads of its target.
const MOST_STALLED: usize = 4;
/// How often a thread that waits looks whether the campaign is over.
const LOOK: Duration = Duration::from_millis(100);

/// Something to be looked at.
pub struct Suspect {
    /// Which target.
    pub target: usize,
    /// Where the result goes.
    pub late: LateDelivery,
    /// What it is.
    pub matter: Matter,
    /// Shows that it waits, and later that it is looked at.
    pub confirmation: Confirmation,
}

/// What has to be looked at.
pub enum Matter {
    /// A process whose program does not move.
    Stalled(Box<WorkerProcess>),
    /// A program that showed something.
    Shown(Box<Shown>),
}

/// A program that has ended, and what it showed.
pub struct Shown {
    /// The program.
    pub work: Arc<Work>,
    /// What it showed.
    pub suspicions: Vec<Suspicion>,
    /// What was counted of it. It is delivered together with the index of the program: what is delivered
    /// without it counts twice if the campaign is killed and resumed.
    pub part: Part,
}

/// A queue of suspects.
#[derive(Default)]
pub struct Suspects {
    waiting: Mutex<VecDeque<Suspect>>,
    arrived: Condvar,
    stalled: AtomicUsize,
}

impl Suspects {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Suspect>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// May one more process be left behind?
    pub fn reserve_stall(&self) -> bool {
        let more = |stalled: usize| (stalled < MOST_STALLED).then_some(stalled + 1);
        self.stalled.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok()
    }

    /// A process that was left behind has ended.
    pub fn release_stall(&self) {
        self.stalled.fetch_sub(1, Ordering::SeqCst);
    }

    /// One more.
    pub fn push(&self, suspect: Suspect) {
        self.waiting().push_back(suspect);
        self.arrived.notify_one();
    }

    /// The next one; `None` when `is_over` says that no more will come and there are none.
    pub fn next(&self, is_over: &dyn Fn() -> bool) -> Option<Suspect> {
        let mut waiting = self.waiting();
        loop {
            // Asked before the look at the queue: what came before the end is seen.
            let over = is_over();
            if let Some(suspect) = waiting.pop_front() {
                return Some(suspect);
            }
            if over {
                return None;
            }
            let waited = self.arrived.wait_timeout(waiting, LOOK);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_processes_are_left_behind_at_a_time() {
        let suspects = Suspects::default();
        (0..MOST_STALLED).for_each(|_| assert!(suspects.reserve_stall()));
        assert!(!suspects.reserve_stall());
        suspects.release_stall();
        assert!(suspects.reserve_stall());
    }

    #[test]
    fn a_queue_that_is_over_and_empty_ends() {
        assert!(Suspects::default().next(&|| true).is_none());
    }
}
