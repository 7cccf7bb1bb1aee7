//! The state space as arrays: states numbered in breadth-first order, steps sorted by where they
//! start, and for each state a way back to the first. Comes in: a system, what to do at each state.
//! Goes out: a [`Space`] that still knows the states themselves.
//!
//! With reduction no step is put off forever (see `walk.rs`). For a step `a` that is enabled in a reduced state and
//! an execution `σ` that starts with it this means: some reduced path performs all of `σ`, mixed
//! with steps that are independent of the rest of it. So what is reachable once stays visible: that
//! a thread moves, that a fault happens, that nothing moves any more, that a thread waits forever.

use std::fmt;
use std::hash::Hash;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::coverage::Coverage;
use crate::packed::{Batch, unpack};
use crate::states::StateOptions;
use crate::store::{Place, Store};
use crate::system::Stateful;
use crate::walk::{Frontier, Reduction, Visit, first_state, walk};

/// What has ended a search before all states were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The number of states that was allowed.
    States(u64),
    /// The memory that was allowed, in bytes.
    Memory(usize),
    /// States can be numbered up to here only.
    Numbers,
    /// The time that was allowed.
    Time,
    /// The user.
    Interrupted,
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::States(states) => write!(formatter, "{states} states"),
            Limit::Memory(bytes) => write!(formatter, "memory of {} MiB", bytes >> 20),
            Limit::Numbers => formatter.write_str("as many states as can be numbered"),
            Limit::Time => formatter.write_str("its time"),
            Limit::Interrupted => formatter.write_str("interrupted"),
        }
    }
}

/// All states and steps that were visited.
pub struct Space<Action> {
    store: Store,
    /// Where each state is stored.
    places: Vec<Place>,
    /// From where each state was first reached.
    parents: Vec<u32>,
    /// Where the steps of each state begin in `labels` and `targets`, for expanded states; one more
    /// at the end.
    offsets: Vec<u32>,
    labels: Vec<u32>,
    targets: Vec<u32>,
    actions: Vec<Action>,
    /// States that were not expanded because the execution ends there, in order.
    ended: Vec<u32>,
    /// States of which it is not known what follows, in order; those that were never looked at are
    /// not among them.
    unknown: Vec<u32>,
    /// Is this all?
    pub coverage: Coverage,
    /// What has ended the search early, if anything did.
    pub limit: Option<Limit>,
}

/// What a state is besides its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Its steps are all that can happen.
    Expanded,
    /// The execution ends here by decision of the visitor.
    Ended,
    /// What follows was not looked at.
    Unknown,
}

impl<Action> Space<Action> {
    /// How many states there are; the first is 0.
    pub fn states(&self) -> u32 {
        self.places.len() as u32
    }

    /// How many states were looked at: the first ones.
    pub fn expanded(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// How many steps there are.
    pub fn transitions(&self) -> usize {
        self.targets.len()
    }

    /// The steps of a state: label and target.
    pub fn steps(&self, state: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = self.range(state);
        self.labels[range.clone()].iter().copied().zip(self.targets[range].iter().copied())
    }

    /// The targets of a state's steps.
    pub fn targets(&self, state: u32) -> &[u32] {
        &self.targets[self.range(state)]
    }

    /// The arrays themselves: where the steps of each expanded state begin (one more at the end),
    /// their labels and their targets.
    pub fn arrays(&self) -> (&[u32], &[u32], &[u32]) {
        (&self.offsets, &self.labels, &self.targets)
    }

    fn range(&self, state: u32) -> std::ops::Range<usize> {
        let state = state as usize;
        match self.offsets.get(state..state + 2) {
            Some([start, end]) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }

    /// The actions that labels stand for.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// What a state is.
    pub fn nature(&self, state: u32) -> Nature {
        if state as usize + 1 >= self.offsets.len() || self.unknown.binary_search(&state).is_ok() {
            Nature::Unknown
        } else if self.ended.binary_search(&state).is_ok() {
            Nature::Ended
        } else {
            Nature::Expanded
        }
    }

    /// The states that end by decision of the visitor, in order.
    pub fn ended(&self) -> &[u32] {
        &self.ended
    }

    /// The states of which it is not known what follows, in order.
    pub fn unknown(&self) -> impl Iterator<Item = u32> + '_ {
        self.unknown.iter().copied().chain(self.expanded()..self.states())
    }

    /// Brings a state back.
    pub fn load<S: Stateful<Action = Action>>(&self, system: &S, state: u32, run: &mut S::Run) {
        let mut bytes = Vec::new();
        self.store.read(self.places[state as usize], &mut bytes);
        system.decode(&bytes, run);
    }

    /// A shortest way from the first state, as labels.
    pub fn way(&self, state: u32) -> Vec<u32> {
        let mut way = Vec::new();
        let mut current = state;
        while current != 0 {
            let parent = self.parents[current as usize];
            let step = self.steps(parent).find(|(_, target)| *target == current);
            way.extend(step.map(|(label, _)| label));
            current = parent;
        }
        way.reverse();
        way
    }

    /// Bytes in use, roughly.
    pub fn bytes(&self) -> usize {
        self.store.bytes()
            + 4 * (self.places.capacity() + self.parents.capacity() + self.offsets.capacity())
            + 4 * (self.labels.capacity() + self.targets.capacity())
    }
}

/// Visits all states within the limits of the options, by persistent sets if they ask for it.
/// `visit` sees each state before its steps, with everything that is enabled in it.
pub fn space<S: Stateful>(
    system: &S,
    options: &StateOptions<'_>,
    visit: impl FnMut(u32, &mut S::Run, &[S::Action]) -> Visit,
) -> Space<S::Action> {
    let mut builder = Builder {
        options,
        visit,
        space: Space {
            store: Store::default(),
            places: Vec::new(),
            parents: Vec::new(),
            offsets: vec![0],
            labels: Vec::new(),
            targets: Vec::new(),
            actions: Vec::new(),
            ended: Vec::new(),
            unknown: Vec::new(),
            coverage: Coverage::Exhaustive,
            limit: None,
        },
        numbers: HashMap::default(),
        full: false,
        batch: Batch::default(),
        bytes: first_state(system),
    };
    builder.number(0);
    let reduction = Reduction { reduce: options.reduce, puts_nothing_off: !system.always_ends() };
    walk(system, &mut builder, reduction);
    let mut space = builder.space;
    if let Some(limit) = space.limit {
        space.coverage = Coverage::Bounded(limit.to_string());
    }
    space
}

/// The frontier of a space: states in the order of their numbers.
struct Builder<'a, Action, V> {
    options: &'a StateOptions<'a>,
    visit: V,
    space: Space<Action>,
    /// The label of each action.
    numbers: HashMap<Action, u32, FxBuildHasher>,
    /// Is there no number left for another state?
    full: bool,
    batch: Batch,
    /// A state that is to be numbered.
    bytes: Vec<u8>,
}

impl<S, V> Frontier<S> for Builder<'_, S::Action, V>
where
    S: Stateful,
    V: FnMut(u32, &mut S::Run, &[S::Action]) -> Visit,
{
    type Key = u32;

    fn next(&mut self, system: &S, bytes: &mut Vec<u8>) -> Option<u32> {
        let state = self.space.offsets.len() as u32 - 1;
        if self.space.limit.is_some() {
            return None;
        }
        let Some(place) = self.space.places.get(state as usize) else {
            self.options.advance(u64::from(state % STRIDE));
            return None;
        };
        self.space.limit = self.limit(state, system.memory());
        if self.space.limit.is_some() {
            return None;
        }
        self.space.store.read(*place, bytes);
        self.batch.expand_bytes(bytes);
        Some(state)
    }

    fn visit(&mut self, _system: &S, state: u32, run: &mut S::Run, enabled: &[S::Action]) -> Visit {
        let decision = (self.visit)(state, run, enabled);
        match decision {
            Visit::Expand | Visit::ExpandFully => {}
            Visit::End => self.space.ended.push(state),
            Visit::Unknown => self.space.unknown.push(state),
            Visit::OutOfTime => self.space.limit = Some(Limit::Time),
        }
        decision
    }

    fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    fn reach<'b>(
        &mut self,
        from: u32,
        first: usize,
        actions: impl Iterator<Item = &'b S::Action>,
    ) -> bool
    where
        S::Action: 'b,
    {
        let before = self.space.states();
        for (position, action) in actions.enumerate() {
            unpack(self.batch.state(first + position), &mut self.bytes);
            let Some(target) = self.number(from) else { break };
            let label = self.label(action);
            self.space.labels.push(label);
            self.space.targets.push(target);
        }
        self.batch.clear();
        self.space.states() > before
    }

    fn leave(&mut self, _state: u32) {
        // A state that was not decided about is not expanded.
        if self.space.limit.is_none() {
            self.space.offsets.push(self.space.targets.len() as u32);
        }
    }
}

impl<Action: Clone + Eq + Hash, V> Builder<'_, Action, V> {
    /// Has a limit been reached? Then this says which.
    fn limit(&self, state: u32, system: usize) -> Option<Limit> {
        let states = u64::from(self.space.states());
        if states > self.options.max_states {
            return Some(Limit::States(self.options.max_states));
        }
        if self.full || self.space.targets.len() > u32::MAX as usize - (1 << 20) {
            return Some(Limit::Numbers);
        }
        if self.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Limit::Interrupted);
        }
        if state == 0 || !state.is_multiple_of(STRIDE) {
            return None;
        }
        self.options.advance(u64::from(STRIDE));
        let used = self.space.bytes() + system;
        (used > self.options.memory).then_some(Limit::Memory(self.options.memory))
    }

    fn label(&mut self, action: &Action) -> u32 {
        if let Some(label) = self.numbers.get(action) {
            return *label;
        }
        let label = self.space.actions.len() as u32;
        self.space.actions.push(action.clone());
        self.numbers.insert(action.clone(), label);
        label
    }

    /// The number of the state in `bytes`, a new one if it has none.
    fn number(&mut self, parent: u32) -> Option<u32> {
        let next = self.space.states();
        match self.space.store.insert(&self.bytes, next) {
            Ok((place, number)) => {
                if number == next {
                    self.space.places.push(place);
                    self.space.parents.push(parent);
                }
                Some(number)
            }
            Err(_) => {
                self.full = true;
                None
            }
        }
    }
}

/// How many states are expanded between two looks at the limits.
const STRIDE: u32 = 256;
