//! `Barrier`, as in `std::sync`.

use std::fmt;
use std::panic::Location;
use std::sync::{self as real, Mutex, PoisonError};

use crate::rt::current::{under_test, with};
use crate::rt::op::Op;
use crate::rt::schedule::{drain, point, wait_or_leave};
use crate::rt::slot::{Fresh, Slot};

const FRESH: Fresh = Fresh { kind: "Barrier", open: 0, value: 0 };

/// Lets so many threads wait for each other.
pub struct Barrier {
    slot: Slot,
    size: usize,
    arrived: Mutex<Vec<u32>>,
    real: real::Barrier,
}

/// What [`Barrier::wait`] gives.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Exactly one of the threads that met is the leader.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for so many threads.
    #[track_caller]
    pub fn new(size: usize) -> Self {
        Barrier {
            slot: Slot::new(FRESH),
            size,
            arrived: Mutex::new(Vec::new()),
            real: real::Barrier::new(size),
        }
    }

    /// Waits until all have come.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        if !under_test() {
            return BarrierWaitResult(self.real.wait().is_leader());
        }
        let place = Location::caller();
        drain(None, place);
        let (object, fresh) =
            with(|world| self.slot.find(world, || FRESH, place)).unwrap_or((0, false));
        let mut leads = false;
        if fresh {
            // A thread that has come in an earlier execution does not count.
            self.arrived.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        point(Op::write(object, "wait", place));
        {
            let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
            if arrived.len() + 1 >= self.size {
                leads = true;
                for thread in arrived.drain(..) {
                    with(|world| {
                        world.acquire(object);
                        world.wake(thread);
                    });
                }
            } else {
                with(|world| {
                    world.release(object);
                    arrived.push(world.current);
                });
            }
        }
        if !leads {
            let me = with(|world| world.current).unwrap_or(0);
            wait_or_leave("the others at a barrier", place, || {
                let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
                arrived.retain(|&thread| thread != me);
            });
        }
        BarrierWaitResult(leads)
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Barrier").finish_non_exhaustive()
    }
}
