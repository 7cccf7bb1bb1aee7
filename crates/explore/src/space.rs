//! The state space as arrays: states numbered in breadth-first order, steps sorted by where they
//! start, and for each state a way back to the first. Comes in: a system, what to do at each state.
//! Goes out: a [`Space`] that still knows the states themselves.
//!
//! With reduction each state is expanded by a persistent set, and fully when that leads to nothing
//! new. From every state the chain of new successors then ends in one that hides nothing, so no
//! step is put off forever (see `states.rs`). For a step `a` that is enabled in a reduced state and
//! an execution `σ` that starts with it this means: some reduced path performs all of `σ`, mixed
//! with steps that are independent of the rest of it. So what is reachable once stays visible: that
//! a thread moves, that a fault happens, that nothing moves any more, that a thread waits forever.

use std::fmt;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::coverage::Coverage;
use crate::states::StateOptions;
use crate::store::{StateId, Store};
use crate::system::Stateful;

/// What to do at a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Go on from here.
    Expand,
    /// Go on from here by every step, whatever the reduction says. Needed where a step may lead to
    /// an end by decision: it takes from the others what they would have done later.
    ExpandFully,
    /// Go no further: the execution ends here, whatever is enabled.
    End,
    /// Go no further: what follows is not known.
    Unknown,
    /// Go no further from any state: the time is up.
    OutOfTime,
}

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
    ids: Vec<StateId>,
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
        self.ids.len() as u32
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
        let expanded = self.offsets.len() as u32 - 1;
        self.unknown.iter().copied().chain(expanded..self.states())
    }

    /// Brings a state back.
    pub fn load<S: Stateful<Action = Action>>(&self, system: &S, state: u32, run: &mut S::Run) {
        let mut bytes = Vec::new();
        self.store.read(self.ids[state as usize], &mut bytes);
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
            + 4 * (self.ids.capacity() + self.parents.capacity() + self.offsets.capacity())
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
        system,
        options,
        space: Space {
            store: Store::new(1),
            ids: Vec::new(),
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
        bytes: Vec::new(),
        successor: Vec::new(),
    };
    if let Some(limit) = builder.run(visit) {
        builder.space.coverage = Coverage::Bounded(limit.to_string());
        builder.space.limit = Some(limit);
    }
    builder.space
}

struct Builder<'a, S: Stateful> {
    system: &'a S,
    options: &'a StateOptions<'a>,
    space: Space<S::Action>,
    /// The label of each action.
    numbers: HashMap<S::Action, u32, FxBuildHasher>,
    /// Is there no number left for another state?
    full: bool,
    bytes: Vec<u8>,
    successor: Vec<u8>,
}

impl<S: Stateful> Builder<'_, S> {
    /// Fills the space; says what has stopped it, if anything.
    fn run(
        &mut self,
        mut visit: impl FnMut(u32, &mut S::Run, &[S::Action]) -> Visit,
    ) -> Option<Limit> {
        let mut run = self.system.start();
        self.system.canonicalise(&mut run);
        let mut scratch = self.system.start();
        self.system.encode(&run, &mut self.successor);
        self.number(0);
        let (mut enabled, mut chosen) = (Vec::new(), Vec::new());
        let mut state = 0;
        while state < self.space.states() {
            if let Some(limit) = self.limit(state) {
                return Some(limit);
            }
            let id = self.space.ids[state as usize];
            self.space.store.read(id, &mut self.bytes);
            self.system.decode(&self.bytes, &mut run);
            self.system.enabled(&mut run, &mut enabled);
            match visit(state, &mut run, &enabled) {
                Visit::Expand if self.options.reduce && enabled.len() > 1 => {
                    self.system.persistent(&run, &enabled, &mut chosen);
                    let before = self.space.states();
                    let steps = chosen.iter().map(|position| &enabled[*position]);
                    self.follow(state, &run, &mut scratch, steps);
                    let stale = self.space.states() == before;
                    if stale && chosen.len() < enabled.len() && !self.system.always_ends() {
                        let others = (0..enabled.len()).filter(|other| !chosen.contains(other));
                        let others = others.map(|position| &enabled[position]);
                        self.follow(state, &run, &mut scratch, others);
                    }
                }
                Visit::Expand | Visit::ExpandFully => {
                    self.follow(state, &run, &mut scratch, enabled.iter());
                }
                Visit::End => self.space.ended.push(state),
                Visit::Unknown => self.space.unknown.push(state),
                Visit::OutOfTime => return Some(Limit::Time),
            }
            self.space.offsets.push(self.space.targets.len() as u32);
            state += 1;
        }
        self.options.advance(u64::from(state % STRIDE));
        None
    }

    /// Has a limit been reached? Then this says which.
    fn limit(&self, state: u32) -> Option<Limit> {
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
        let used = self.space.bytes() + self.system.memory();
        (used > self.options.memory).then_some(Limit::Memory(self.options.memory))
    }

    fn follow<'b>(
        &mut self,
        from: u32,
        run: &S::Run,
        scratch: &mut S::Run,
        actions: impl Iterator<Item = &'b S::Action>,
    ) where
        S::Action: 'b,
    {
        for action in actions {
            self.successor.clear();
            let (bytes, successor) = (&self.bytes, &mut self.successor);
            self.system.encode_successor(run, bytes, action, scratch, successor);
            let Some(target) = self.number(from) else { return };
            let label = self.label(action);
            self.space.labels.push(label);
            self.space.targets.push(target);
        }
    }

    fn label(&mut self, action: &S::Action) -> u32 {
        if let Some(label) = self.numbers.get(action) {
            return *label;
        }
        let label = self.space.actions.len() as u32;
        self.space.actions.push(action.clone());
        self.numbers.insert(action.clone(), label);
        label
    }

    /// The number of the state whose bytes are in `successor`. The store keeps it in the place of
    /// the parent, which is kept here.
    fn number(&mut self, parent: u32) -> Option<u32> {
        let next = self.space.states();
        match self.space.store.insert(&self.successor, StateId::tag(next)) {
            Ok((id, true)) => {
                self.space.ids.push(id);
                self.space.parents.push(parent);
                Some(next)
            }
            Ok((id, false)) => Some(self.space.store.tag_of(id)),
            Err(_) => {
                self.full = true;
                None
            }
        }
    }
}

/// How many states are expanded between two looks at the limits.
const STRIDE: u32 = 256;
