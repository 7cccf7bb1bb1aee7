//! The end of a campaign before its work is done. The user ends it by Ctrl-C or SIGTERM, the clock by
//! `--time`. All parts of a campaign look at one [`Stop`].

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a campaign may take beyond its time, to confirm what it has just found: a tenth of the time, and this.
const GRACE: Duration = Duration::from_millis(500);

/// What says that work should end.
pub trait Ending: Sync {
    /// Should nothing new begin? What was just found may still be confirmed.
    fn is_due(&self) -> bool;

    /// Should what is under way end?
    fn is_now(&self) -> bool;
}

/// A campaign that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// How many programs or tests are done.
    pub done: u64,
    /// Of how many, if that is known.
    pub all: Option<u64>,
}

/// How the user ends a campaign: by a signal, or by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// SIGINT, as a terminal sends it.
    CtrlC,
    /// The key q in a full-screen view.
    Key,
    /// SIGTERM, as `kill`, service managers and CI systems send it.
    Terminate,
    /// SIGHUP: the terminal is gone.
    HangUp,
}

impl fmt::Display for Interruption {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Interruption::CtrlC => "Ctrl-C",
            Interruption::Key => "q",
            Interruption::Terminate => "SIGTERM",
            Interruption::HangUp => "SIGHUP",
        })
    }
}

/// Asks all parts of a campaign to end.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Nothing new begins.
    due: Arc<AtomicBool>,
    /// What is under way ends too.
    now: Arc<AtomicBool>,
    /// The user has asked for it, first by this signal.
    interruption: Arc<OnceLock<Interruption>>,
}

impl Stop {
    /// Ends everything, as the user has asked. Says whether that was asked before.
    pub fn interrupt(&self, interruption: Interruption) -> bool {
        let is_first = self.interruption.set(interruption).is_ok();
        self.end();
        !is_first
    }

    /// Ends everything.
    pub fn end(&self) {
        self.due.store(true, Ordering::SeqCst);
        self.now.store(true, Ordering::SeqCst);
    }

    /// Has the user asked for it?
    pub fn was_interrupted(&self) -> bool {
        self.interruption.get().is_some()
    }

    /// The signal by which the user has asked for it, if that is so.
    pub fn interruption(&self) -> Option<Interruption> {
        self.interruption.get().copied()
    }

    /// What is missing of a campaign that has done so much of all that it has to do, if anything is. A
    /// campaign that ran here for as long as the user allows is complete, however far it came; workers
    /// of a queue may not have been there.
    pub fn shortfall(&self, done: u64, all: Option<u64>, is_queued: bool) -> Option<Shortfall> {
        let is_missing = match (self.was_interrupted(), is_queued) {
            (true, _) => all.is_none_or(|all| done < all),
            (false, true) => all.map_or(done == 0, |all| done < all),
            (false, false) => self.is_due() && done == 0,
        };
        is_missing.then_some(Shortfall { done, all })
    }

    /// The flag that is set when what is under way should end, for processes that are started.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.now
    }

    /// Ends the campaign after this time. What is under way then has a moment more; the whole campaign
    /// keeps its time within a tenth and two seconds. Without a time nothing happens.
    pub fn after(&self, time: Option<Duration>) -> Timer {
        let Some(time) = time else { return Timer(None) };
        let due = Instant::now() + time;
        let now = due + time / 10 + GRACE;
        let (sender, dropped) = channel::<()>();
        let stop = self.clone();
        let wait = move || {
            let until = |moment: Instant| {
                let left = moment.saturating_duration_since(Instant::now());
                dropped.recv_timeout(left) == Err(RecvTimeoutError::Timeout)
            };
            if until(due) {
                stop.due.store(true, Ordering::SeqCst);
                if until(now) {
                    stop.end();
                }
            }
        };
        Timer(Some((sender, std::thread::spawn(wait))))
    }
}

impl Ending for Stop {
    fn is_due(&self) -> bool {
        self.due.load(Ordering::Relaxed)
    }

    fn is_now(&self) -> bool {
        self.now.load(Ordering::Relaxed)
    }
}

/// A time limit that is in force until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Timer(Option<(Sender<()>, JoinHandle<()>)>);

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // It only waits and cannot fail.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_ends_everything_and_is_remembered() {
        let stop = Stop::default();
        assert!(!stop.is_due() && !stop.is_now() && !stop.was_interrupted());
        assert!(!stop.interrupt(Interruption::Terminate));
        assert!(stop.is_due() && stop.is_now() && stop.was_interrupted());
        assert!(stop.interrupt(Interruption::CtrlC), "it is the second time");
        assert_eq!(stop.interruption(), Some(Interruption::Terminate), "the first signal counts");
        assert!(stop.flag().load(Ordering::SeqCst));
    }

    #[test]
    fn a_campaign_is_complete_if_the_user_allows_no_more() {
        let running = Stop::default();
        let late = Stop::default();
        late.end();
        let interrupted = Stop::default();
        interrupted.interrupt(Interruption::CtrlC);
        // What ended it, how much was done of how much, whether it is complete here and in a queue.
        for (stop, done, all, is_complete) in [
            (&running, 9, Some(9), [true, true]),
            (&running, 0, Some(0), [true, true]),
            (&late, 5, Some(9), [true, false]),
            (&late, 5, None, [true, true]),
            (&late, 0, None, [false, false]),
            (&interrupted, 5, Some(9), [false, false]),
            (&interrupted, 5, None, [false, false]),
            (&interrupted, 9, Some(9), [true, true]),
        ] {
            let found = [false, true].map(|queue| stop.shortfall(done, all, queue).is_none());
            assert_eq!(found, is_complete, "{done} of {all:?}: {stop:?}");
        }
    }

    #[test]
    fn the_clock_lets_what_is_under_way_come_to_its_end() {
        let stop = Stop::default();
        let timer = stop.after(Some(Duration::ZERO));
        while !stop.is_due() {
            std::thread::yield_now();
        }
        while !stop.is_now() {
            std::thread::yield_now();
        }
        assert!(!stop.was_interrupted());
        drop(timer);
        let stop = Stop::default();
        drop(stop.after(Some(Duration::from_secs(3600))));
        assert!(!stop.is_due(), "a limit that is lifted does nothing");
    }
}
