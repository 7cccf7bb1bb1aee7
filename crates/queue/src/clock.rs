//! Time and threads, as the protocol uses them: it never asks the system itself, so that tests can make a
//! campaign of hours pass in a moment (`tests/support/virtual_clock.rs`).

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A clock, and threads that wait for it.
pub trait Clock: Send + Sync {
    /// The time since some moment.
    fn now(&self) -> Duration;

    /// Waits until it is ready, for so long. Is it ready? Code that changes what `is_ready` looks at calls
    /// [`Clock::wake`].
    fn wait(&self, most: Duration, is_ready: &dyn Fn() -> bool) -> bool;

    /// Lets everyone who waits look again.
    fn wake(&self);

    /// Does nothing for so long.
    fn sleep(&self, time: Duration);

    /// Starts a thread.
    fn spawn(&self, name: &str, task: Box<dyn FnOnce() + Send>);

    /// Does the process of the calling thread live? A process that a test has killed has no effect any more.
    fn is_alive(&self) -> bool {
        true
    }
}

/// The system's clock and threads.
pub struct SystemClock {
    begun: Instant,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock { begun: Instant::now(), lock: Mutex::new(()), changed: Condvar::new() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn wait(&self, most: Duration, is_ready: &dyn Fn() -> bool) -> bool {
        let begun = Instant::now();
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if is_ready() {
                return true;
            }
            let left = most.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(guard, left);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wake(&self) {
        // Who is about to wait has looked already, or has the lock.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn spawn(&self, name: &str, task: Box<dyn FnOnce() + Send>) {
        let builder = std::thread::Builder::new().name(name.to_owned());
        // Without another thread nothing of this can be done beside the work: a lease runs out, and
        // another worker does the item again.
        drop(builder.spawn(task));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_change_ends_the_waiting() {
        let clock = Arc::new(SystemClock::default());
        let is_changed = Arc::new(AtomicBool::new(false));
        let (other, flag) = (Arc::clone(&clock), Arc::clone(&is_changed));
        clock.spawn(
            "test",
            Box::new(move || {
                flag.store(true, Ordering::SeqCst);
                other.wake();
            }),
        );
        let ready = || is_changed.load(Ordering::SeqCst);
        assert!(clock.wait(Duration::from_secs(60), &ready));
        assert!(!clock.wait(Duration::from_millis(1), &|| false));
    }
}
