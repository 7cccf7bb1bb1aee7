//! Where a stateless search may stop before it is done, and the honest word for having stopped.
//!
//! Every strategy takes the same [`Limits`]; what was hit is remembered in a [`Meter`], which turns
//! into the [`Coverage`] of the report. Nothing stops silently.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::coverage::Coverage;

/// When a stateless search gives up. The default has no limit.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// Stop after so many executions.
    pub executions: Option<u64>,
    /// Cut an execution after so many steps.
    pub length: Option<usize>,
    /// Stop as soon as an execution was cut.
    pub stop_when_cut: bool,
    /// Stop before what is remembered takes more bytes than this.
    pub memory: Option<usize>,
    /// Stop after the execution during which this moment passes.
    pub deadline: Option<Instant>,
    /// Stop as soon as possible once this is true (Ctrl-C).
    pub stop: Option<&'a AtomicBool>,
    /// Called after each execution with the number of executions so far.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

/// Which limits a search ran into.
#[derive(Default)]
pub(crate) struct Meter {
    executions: Option<u64>,
    length: Option<usize>,
    memory: Option<usize>,
    late: bool,
    interrupted: bool,
    bounds: Option<String>,
}

impl Meter {
    /// Is this execution too long to go on? Remembers it.
    #[inline]
    pub(crate) fn cuts(&mut self, limits: &Limits<'_>, length: usize) -> bool {
        let cut = limits.length.filter(|&limit| length >= limit);
        self.length = self.length.or(cut);
        cut.is_some()
    }

    /// Tells the progress of a search and whether it has to stop although there is more to do.
    #[inline]
    pub(crate) fn stops(&mut self, limits: &Limits<'_>, executions: u64) -> bool {
        if let Some(limit) = limits.executions.filter(|&limit| executions >= limit) {
            self.executions = Some(limit);
            return true;
        }
        if limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.late = true;
            return true;
        }
        self.interrupted(limits)
    }

    /// Is so much remembered that the search has to stop?
    #[inline]
    pub(crate) fn fills(&mut self, limits: &Limits<'_>, bytes: usize) -> bool {
        let full = limits.memory.filter(|&limit| bytes > limit);
        self.memory = self.memory.or(full);
        full.is_some()
    }

    /// Was the search asked to stop?
    #[inline]
    pub(crate) fn interrupted(&mut self, limits: &Limits<'_>) -> bool {
        let stop = limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        self.interrupted |= stop;
        stop
    }

    /// Something was left out because of the bounds that the text names.
    pub(crate) fn bounded_by(&mut self, bounds: impl ToString) {
        self.bounds.get_or_insert_with(|| bounds.to_string());
    }

    /// What another part of the same search ran into.
    pub(crate) fn also(&mut self, other: Meter) {
        self.executions = self.executions.or(other.executions);
        self.length = self.length.or(other.length);
        self.memory = self.memory.or(other.memory);
        self.late |= other.late;
        self.interrupted |= other.interrupted;
        self.bounds = self.bounds.take().or(other.bounds);
    }

    /// The word for what was left out.
    pub(crate) fn coverage(&self) -> Coverage {
        let mut by = String::new();
        let mut add = |text: &str| {
            let comma = if by.is_empty() { "" } else { ", " };
            // Writing into a string cannot fail.
            let _ = write!(by, "{comma}{text}");
        };
        if self.interrupted {
            add("interrupted");
        }
        if self.late {
            add("the time that was given");
        }
        if let Some(executions) = self.executions {
            add(&format!("{executions} executions"));
        }
        if let Some(memory) = self.memory {
            add(&format!("memory of {} MiB", memory >> 20));
        }
        if let Some(length) = self.length {
            add(&format!("executions of at most {length} steps"));
        }
        if let Some(bounds) = &self.bounds {
            add(bounds);
        }
        if by.is_empty() { Coverage::Exhaustive } else { Coverage::Bounded(by) }
    }
}
