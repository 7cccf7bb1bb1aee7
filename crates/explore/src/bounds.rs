//! Schedule bounds (Déjà Fu, Haskell 2015, section 4.1): which schedules a bounded search leaves out.
//!
//! A [`Gauge`] measures one schedule while it grows. What it allows next depends only on the
//! state, the thread that ran last, the counters, and how often each thread has yielded; the
//! bounded search relies on that.

use std::fmt;

use smallvec::SmallVec;

use crate::system::{System, ThreadId};

/// Bounds on schedules; `None` everywhere allows all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Pre-emption bounding (Musuvathi, Qadeer 2007): how often the next action may leave out the
    /// thread of the previous action although an enabled action involves that thread.
    pub preemptions: Option<u32>,
    /// Fair bounding (Musuvathi, Qadeer 2008): how many times more often a thread may yield than
    /// another thread that could go on instead.
    pub fair: Option<u32>,
    /// Delay bounding (Emmi et al. 2011): how often the schedule may differ from the deterministic
    /// one, which takes the first enabled action that involves the thread that ran last, or else
    /// the first enabled action.
    pub delays: Option<u32>,
    /// How many steps an execution may have.
    pub length: Option<usize>,
}

impl fmt::Display for Bounds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        let mut part = |bound: Option<u64>, one: &str, many: &str| -> fmt::Result {
            let Some(bound) = bound else { return Ok(()) };
            let unit = if bound == 1 { one } else { many };
            write!(formatter, "{comma}at most {bound} {unit}")?;
            comma = ", ";
            Ok(())
        };
        part(self.preemptions.map(u64::from), "pre-emption", "pre-emptions")?;
        part(
            self.fair.map(u64::from),
            "yield ahead of another thread",
            "yields ahead of another thread",
        )?;
        part(self.delays.map(u64::from), "delay", "delays")?;
        part(self.length.map(|length| length as u64), "step", "steps")
    }
}

/// The thread that ran last and the counters of one schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) last: Option<ThreadId>,
    pub(crate) preemptions: u32,
    pub(crate) delays: u32,
    steps: usize,
    yields: SmallVec<[(ThreadId, u32); 4]>,
}

impl Gauge {
    /// The gauge after the action at this position, or `None` if a bound forbids it.
    pub(crate) fn after<S: System>(
        &self,
        system: &S,
        bounds: &Bounds,
        enabled: &[S::Action],
        index: usize,
    ) -> Option<Gauge> {
        let action = &enabled[index];
        let mut next = self.clone();
        next.steps += 1;
        next.last = Some(system.thread(action)).filter(|_| !system.is_free(action));
        next.preemptions += u32::from(preempts(system, self.last, enabled, action));
        next.delays += u32::from(index != undelayed(system, self.last, enabled));
        let over = |count: u32, bound: Option<u32>| bound.is_some_and(|bound| count > bound);
        if over(next.preemptions, bounds.preemptions)
            || over(next.delays, bounds.delays)
            || bounds.length.is_some_and(|bound| next.steps > bound)
        {
            return None;
        }
        if bounds.fair.is_some() && system.is_yield(action) {
            let thread = system.thread(action);
            let count = self.yielded(thread) + 1;
            let others = enabled.iter().map(|other| system.thread(other));
            let fewest =
                others.filter(|&other| other != thread).map(|other| self.yielded(other)).min();
            if fewest.is_some_and(|fewest| over(count.saturating_sub(fewest), bounds.fair)) {
                return None;
            }
            match next.yields.iter_mut().find(|(yielder, _)| *yielder == thread) {
                Some((_, old)) => *old = count,
                None => next.yields.push((thread, count)),
            }
        }
        Some(next)
    }

    fn yielded(&self, thread: ThreadId) -> u32 {
        self.yields.iter().find(|(yielder, _)| *yielder == thread).map_or(0, |&(_, count)| count)
    }
}

/// Does the action leave out the thread that ran last although that thread could go on?
pub(crate) fn preempts<S: System>(
    system: &S,
    last: Option<ThreadId>,
    enabled: &[S::Action],
    action: &S::Action,
) -> bool {
    last.is_some_and(|last| {
        !system.involves(action, last)
            && !system.is_free(action)
            && enabled.iter().any(|other| system.involves(other, last))
    })
}

/// The position that the deterministic scheduler of delay bounding takes; `enabled` is not empty.
pub(crate) fn undelayed<S: System>(
    system: &S,
    last: Option<ThreadId>,
    enabled: &[S::Action],
) -> usize {
    let stays = |last| enabled.iter().position(|action| system.involves(action, last));
    last.and_then(stays).unwrap_or(0)
}
