//! `Notify`: one thread waits until another notifies it.

use std::sync::PoisonError;

use strait::sync::{Condvar, Mutex, MutexGuard};

/// Lets one thread wait until another notifies it. A notification that comes first is kept. A wait may end
/// once without one.
#[derive(Debug, Default)]
pub struct Notify {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    notified: bool,
    waiting: bool,
    /// Has a wait ended without a notification?
    spurious: bool,
}

impl Notify {
    /// Nothing was notified.
    #[track_caller]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the thread that waits, or the next one that does, go on.
    #[track_caller]
    pub fn notify(&self) {
        self.state().notified = true;
        self.changed.notify_one();
    }

    /// Waits for a notification, and takes it.
    ///
    /// # Panics
    ///
    /// If another thread waits already.
    #[track_caller]
    pub fn wait(&self) {
        let mut state = self.state();
        assert!(!state.waiting, "only a single thread may wait on `Notify`");
        if !state.spurious && strait::choose(2) == 1 {
            state.spurious = true;
            return;
        }
        state.waiting = true;
        while !state.notified {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting = false;
        state.notified = false;
    }

    #[track_caller]
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
