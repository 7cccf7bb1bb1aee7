//! The happens-before order of one execution: the transitive closure of `dependent` along its
//! trace, kept as one row of bits an event while the execution grows and is taken back.
//!
//! Events are named by their position in the trace.

use smallvec::SmallVec;

use crate::system::System;

/// A set of positions in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Positions(SmallVec<[u64; 2]>);

impl Positions {
    pub(crate) fn contains(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
    }

    pub(crate) fn insert(&mut self, position: usize) {
        if self.0.len() <= position / 64 {
            self.0.resize(position / 64 + 1, 0);
        }
        self.0[position / 64] |= 1 << (position % 64);
    }

    pub(crate) fn extend(&mut self, other: &Positions) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

/// Happens-before among the events of one execution.
#[derive(Default)]
pub(crate) struct Order {
    /// For each event the events that happen before it, itself excluded.
    pasts: Vec<Positions>,
    /// For each event the length of the longest chain that ends in it: its step in the Foata
    /// normal form.
    levels: Vec<u32>,
}

impl Order {
    /// Takes up the next event; `trace` are the actions before it.
    pub(crate) fn push<S: System>(&mut self, system: &S, trace: &[S::Action], action: &S::Action) {
        debug_assert_eq!(self.pasts.len(), trace.len());
        let mut past = Positions::default();
        let mut level = 0;
        for (position, earlier) in trace.iter().enumerate().rev() {
            if !past.contains(position) && system.dependent(earlier, action) {
                past.extend(&self.pasts[position]);
                past.insert(position);
                level = level.max(self.levels[position] + 1);
            }
        }
        self.pasts.push(past);
        self.levels.push(level);
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.pasts.truncate(length);
        self.levels.truncate(length);
    }

    pub(crate) fn len(&self) -> usize {
        self.pasts.len()
    }

    /// Does `earlier` happen before `later`?
    pub(crate) fn before(&self, earlier: usize, later: usize) -> bool {
        self.pasts[later].contains(earlier)
    }

    /// The event's step in the Foata normal form of the trace.
    pub(crate) fn level(&self, event: usize) -> u32 {
        self.levels[event]
    }
}
