//! Which variables each transaction of a program touches, and which channels its selects look at.
//!
//! The search has to know before a step what it accesses, and the same in every execution. What a
//! transaction touches shows only when it is performed, and may depend on what it finds. So it is
//! learnt: a transaction goes by its thread and how many steps that has made before, and counts as
//! accessing all that was ever seen to be touched there. When an execution shows more, the search
//! begins anew, as for a feature that was off. If that happens too often, all transactions are
//! ordered with each other instead.
//!
//! A transaction that waits for several variables goes on when the first of them is written. Which
//! one that is decides what happens before its next attempt, so writes of variables that were ever
//! waited for together are ordered with each other: such variables are a group.
//!
//! A select waits for several channels at once. All steps at such a channel are ordered with each
//! other (`ends.rs`), so it has to be known beforehand as well.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use strait_explore::Access;

/// How often a search begins anew for the sake of transactions.
const ROUNDS: u32 = 24;

/// A transaction: the thread, and how many steps came before.
type Key = (u32, u32);

/// What transactions touch.
#[derive(Clone, Default, Debug)]
pub(crate) struct Footprints {
    known: Arc<FxHashMap<Key, Vec<Access>>>,
    /// For each variable in a group the one that the group is named after.
    groups: Arc<FxHashMap<u32, u32>>,
    /// What was seen and is not known.
    learnt: FxHashMap<Key, Vec<Access>>,
    /// Variables that were waited for together and are in no common group.
    together: Vec<(u32, u32)>,
    /// Channels that selects look at, and those that are not known to be such.
    selected: Arc<FxHashSet<u32>>,
    also_selected: Vec<u32>,
    rounds: u32,
}

impl Footprints {
    /// Are all transactions ordered with each other, and all steps at one channel?
    pub(crate) fn is_coarse(&self) -> bool {
        self.rounds > ROUNDS
    }

    /// What is known to be touched by a transaction.
    pub(crate) fn known(&self, thread: u32, index: u32) -> &[Access] {
        self.known.get(&(thread, index)).map_or(&[], |known| known)
    }

    /// Takes up what was touched.
    pub(crate) fn note(&mut self, thread: u32, index: u32, touched: &[Access]) {
        if self.is_coarse() {
            return;
        }
        let key = (thread, index);
        let known = self.known.get(&key).map_or(&[][..], |known| known);
        for &access in touched.iter().filter(|access| !covers(known, access)) {
            add(self.learnt.entry(key).or_default(), access);
        }
    }

    /// The group of a variable, if it is in one.
    pub(crate) fn group(&self, variable: u32) -> Option<u32> {
        self.groups.get(&variable).copied()
    }

    /// Takes up what a transaction waits for.
    pub(crate) fn note_waiting(&mut self, variables: impl IntoIterator<Item = u32>) {
        let mut variables = variables.into_iter();
        let Some(first) = variables.next().filter(|_| !self.is_coarse()) else { return };
        for other in variables {
            let (one, another) = (self.group(first), self.group(other));
            if one.is_none() || one != another {
                self.together.push((first, other));
            }
        }
    }

    /// Does a select look at the channel?
    pub(crate) fn is_selected(&self, channel: u32) -> bool {
        self.is_coarse() || self.selected.contains(&channel)
    }

    /// Takes up what a select looks at.
    pub(crate) fn note_selected(&mut self, channel: u32) {
        if !self.is_selected(channel) {
            self.also_selected.push(channel);
        }
    }

    /// Was something seen that is not known?
    #[inline]
    pub(crate) fn lack(&self) -> bool {
        !self.learnt.is_empty() || !self.together.is_empty() || !self.also_selected.is_empty()
    }

    /// Takes up what another execution has seen.
    pub(crate) fn also(&mut self, other: &Footprints) {
        for (&key, accesses) in &other.learnt {
            let learnt = self.learnt.entry(key).or_default();
            accesses.iter().for_each(|&access| add(learnt, access));
        }
        self.together.extend_from_slice(&other.together);
        self.also_selected.extend_from_slice(&other.also_selected);
    }

    /// The same with everything known that others have learnt.
    pub(crate) fn with(&self, others: &Footprints) -> Footprints {
        let mut known = (*self.known).clone();
        for (&key, accesses) in &others.learnt {
            let all = known.entry(key).or_default();
            accesses.iter().for_each(|&access| add(all, access));
        }
        let mut groups = (*self.groups).clone();
        for &(one, other) in &others.together {
            let one = *groups.entry(one).or_insert(one);
            let other = *groups.entry(other).or_insert(other);
            groups.values_mut().filter(|name| **name == other).for_each(|name| *name = one);
        }
        let selected = self.selected.iter().chain(&others.also_selected);
        Footprints {
            known: Arc::new(known),
            groups: Arc::new(groups),
            selected: Arc::new(selected.copied().collect()),
            also_selected: Vec::new(),
            learnt: FxHashMap::default(),
            together: Vec::new(),
            rounds: self.rounds + u32::from(others.lack()),
        }
    }
}

fn covers(known: &[Access], access: &Access) -> bool {
    known.iter().any(|one| one.object == access.object && (one.write || !access.write))
}

fn add(accesses: &mut Vec<Access>, access: Access) {
    match accesses.iter_mut().find(|one| one.object == access.object) {
        Some(known) => known.write |= access.write,
        None => accesses.push(access),
    }
}
