//! What holds the search: shares of size for goals, guards over sized goals that turn back too often.

use super::{Frame, Machine};
use crate::plan::{Candidate, Share};
use crate::program::NEVER;

/// What a goal may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    pub(super) depth: u32,
    pub(super) target: u32,
    pub(super) limit: u32,
}

impl Allowance {
    /// Everything, and no wish.
    pub(super) const ALL: Allowance = Allowance { depth: NEVER, target: 0, limit: NEVER };
}

/// What watches over a sized goal: how many choices there were before it, and how often the search
/// may turn back within it before it is given up as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    kept: u32,
    parent: u32,
    begun: u64,
    allowed: u64,
}

/// Nothing watches.
pub(super) const UNGUARDED: u32 = u32::MAX;

impl Machine<'_> {
    /// A guarded goal has succeeded.
    pub(super) fn succeed(&mut self, guard: u32) {
        if guard != UNGUARDED {
            let Guard { kept, parent, .. } = self.guards[guard as usize];
            self.registers.guard = parent;
            self.commit(kept as usize);
        }
    }

    /// Begins to watch over a sized goal. Larger goals may turn back more often, so that a part that
    /// cannot be had is given up long before the whole.
    pub(super) fn guard(&mut self, allowance: &Allowance) -> u32 {
        let guard = self.guards.len() as u32;
        let directed = self.mode.target > 0;
        let size = if directed { allowance.target } else { 2 * allowance.depth.min(50) };
        self.guards.push(Guard {
            kept: self.choices.len() as u32,
            parent: self.registers.guard,
            begun: self.failures,
            allowed: self.mode.patience + u64::from(size),
        });
        self.registers.guard = guard;
        guard
    }

    /// Forgets the choices from `kept` on.
    pub(super) fn commit(&mut self, kept: usize) {
        if let Some(first) = self.choices.get(kept) {
            self.saved.truncate(first.saved as usize);
            self.untried.truncate(first.untried as usize);
            self.choices.truncate(kept);
        }
    }

    /// What a goal may use of what its clause has left.
    pub(super) fn allow(&mut self, share: &Share, frame: &Frame) -> Option<Allowance> {
        let Frame { depth, target, limit, begun, .. } = *frame;
        let used = self.registers.size - begun;
        let limit = limit.saturating_sub(used).checked_sub(share.later_minimum)?;
        let left = target.saturating_sub(used);
        let most = left.saturating_sub(share.later_minimum);
        let target = if share.later == 0 || !self.mode.random {
            most
        } else {
            let least = share.minimum.min(most);
            self.stream.between(least, most)
        };
        Some(Allowance { depth, target, limit })
    }

    /// Gives a guarded goal up as a whole if the search has turned back too often within it.
    pub(super) fn is_hopeless(&mut self, guard: u32, base: usize) -> bool {
        let Some(Guard { kept, begun, allowed, .. }) = self.guards.get(guard as usize).copied()
        else {
            return false;
        };
        let hopeless = self.failures - begun > allowed && kept as usize >= base;
        if hopeless {
            self.commit(kept as usize);
        }
        hopeless
    }
}

/// How much a clause is wanted, given the size that is wanted. A clause that cannot grow is wanted
/// if what is left is about its own size, one that can if what is left is enough for it.
pub(super) fn directed_weight(candidate: &Candidate, allowance: &Allowance) -> u32 {
    let target = allowance.target.max(1);
    if candidate.grows {
        // What is too large is a way out when nothing else fits, and no more than that.
        let misses = candidate.minimum.saturating_sub(target).min(4);
        (candidate.weight << 12) >> (3 * misses)
    } else {
        let misses = target.saturating_sub(candidate.minimum).min(60);
        (candidate.weight << 12) / (1 + misses * misses)
    }
}
