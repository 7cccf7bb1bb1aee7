//! Performing futures.

use std::sync::PoisonError;
use std::task::Waker;

pub use strait::future::block_on;

use crate::sync::{Mutex, MutexGuard};

/// A place for the waker of one task.
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// No waker.
    #[track_caller]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps the waker, instead of the one that is there. If another thread takes that at this moment, the
    /// new one is kept after that.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        let old = self.place().replace(waker);
        drop(old);
    }

    /// Keeps a clone of the waker.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the task, if there is one.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker, if there is one.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.place().take()
    }

    #[track_caller]
    fn place(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
