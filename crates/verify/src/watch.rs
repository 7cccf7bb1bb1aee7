//! The end of the time that an entry has, and the user's wish to stop: watched by every loop over
//! states. A loop that ends early leaves a result that is not complete, so whatever was computed
//! while the watch ran out is thrown away by the caller, who asks [`Watch::has_cut`] last.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use strait_explore::Limit;

/// How long the checks may take after the search has ended early.
const GRACE: Duration = Duration::from_secs(1);
/// How many rounds of a loop are between two looks at the clock.
const STRIDE: u32 = 256;

/// When to stop.
pub(crate) struct Watch<'a> {
    until: Option<Instant>,
    stop: Option<&'a AtomicBool>,
    /// When the user's wish was seen first.
    stopped: Cell<Option<Instant>>,
    rounds: Cell<u32>,
    over: Cell<Option<Limit>>,
}

impl<'a> Watch<'a> {
    /// Watches a time and a flag.
    pub(crate) fn new(until: Option<Instant>, stop: Option<&'a AtomicBool>) -> Watch<'a> {
        let (stopped, rounds, over) = (Cell::new(None), Cell::new(0), Cell::new(None));
        Watch { until, stop, stopped, rounds, over }
    }

    /// Never runs out.
    pub(crate) fn never() -> Watch<'static> {
        Watch::new(None, None)
    }

    /// Is the time of a search up? It has no grace.
    pub(crate) fn search_is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }

    /// Asked once for each round of a loop: has everything to end?
    pub(crate) fn is_over(&self) -> bool {
        if self.over.get().is_some() {
            return true;
        }
        self.rounds.set(self.rounds.get().wrapping_add(1));
        self.rounds.get().is_multiple_of(STRIDE) && self.over().is_some()
    }

    /// Was a loop ended early, and by what?
    pub(crate) fn has_cut(&self) -> Option<Limit> {
        self.over.get()
    }

    /// What has run out, if anything has.
    pub(crate) fn over(&self) -> Option<Limit> {
        if self.over.get().is_none() && (self.until.is_some() || self.stop.is_some()) {
            let now = Instant::now();
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                let since = self.stopped.get().unwrap_or(now);
                self.stopped.set(Some(since));
                if now > since + GRACE {
                    self.over.set(Some(Limit::Interrupted));
                }
            }
            if self.until.is_some_and(|until| now > until + GRACE) {
                self.over.set(Some(Limit::Time));
            }
        }
        self.over.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_runs_out_by_time_or_by_wish() {
        let past = Instant::now() - 2 * GRACE;
        let set = AtomicBool::new(true);
        for (until, stop, over) in [
            (None, None, None),
            (Some(Instant::now() + GRACE), None, None),
            (Some(past), None, Some(Limit::Time)),
            // The wish has just been seen: there is time left to tell what is known.
            (None, Some(&set), None),
        ] {
            let watch = Watch::new(until, stop);
            assert_eq!(watch.over(), over);
            assert_eq!((0..STRIDE).any(|_| watch.is_over()), over.is_some());
        }
    }
}
