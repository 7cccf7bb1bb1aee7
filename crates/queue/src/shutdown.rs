//! The end of a process: from the moment at which its user wants it to end, calls to a server have a second
//! left, and then none. A server that does not answer then has less.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long calls may still take, all together.
const MOMENT: Duration = Duration::from_secs(1);

/// Whether calls are still made.
#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    wanted: Arc<AtomicBool>,
    /// When that was seen first.
    since: OnceLock<Instant>,
    /// The server did not answer since.
    is_given_up: AtomicBool,
}

impl Shutdown {
    /// The flag is set when the process should end.
    #[cfg(feature = "nats")]
    pub(crate) fn new(wanted: &Arc<AtomicBool>) -> Arc<Shutdown> {
        Arc::new(Shutdown { wanted: Arc::clone(wanted), ..Shutdown::default() })
    }

    /// Should the process end?
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::SeqCst)
    }

    /// The server does not answer, and nothing is asked any more.
    #[cfg(feature = "nats")]
    pub(crate) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::SeqCst);
    }

    /// Is no call made any more?
    pub(crate) fn is_over(&self) -> bool {
        self.is_wanted()
            && (self.is_given_up.load(Ordering::SeqCst)
                || self.since.get_or_init(Instant::now).elapsed() > MOMENT)
    }
}

#[cfg(all(test, feature = "nats"))]
mod tests {
    use super::*;

    #[test]
    fn calls_are_made_until_the_end_is_wanted() {
        let flag = Arc::new(AtomicBool::new(false));
        let shutdown = Shutdown::new(&flag);
        shutdown.is_given_up.store(true, Ordering::SeqCst);
        assert!(!shutdown.is_over(), "an unanswered call is repeated until a shutdown is wanted");
        flag.store(true, Ordering::SeqCst);
        assert!(shutdown.is_over());
        let patient = Shutdown::new(&flag);
        assert!(!patient.is_over());
        while !patient.is_over() {
            std::thread::yield_now();
        }
    }
}
