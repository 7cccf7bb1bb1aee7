//! Endless executions: is there one that a fair scheduler allows, and is some thread blocked for
//! ever while others go on?
//!
//! The whole graph is searched once by Tarjan's algorithm. A component with a cycle is *fair* when
//! each thread moves in it or is disabled somewhere in it (weak fairness): then some endless
//! execution visits all of it and neglects nobody. A component without a way out in which an
//! unfinished thread is never enabled blocks that thread for ever.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::coverage::Coverage;
use crate::states::StateOptions;
use crate::store::{StateId, Store};
use crate::system::{Stateful, ThreadId};

/// What was found about endless executions.
#[derive(Clone, Debug)]
pub struct CycleReport<Action> {
    /// A way into a fair cycle, if there is one.
    pub divergence: Option<Vec<Action>>,
    /// A way to where these threads are blocked for ever while others go on, if there is one.
    pub stuck: Option<(Vec<ThreadId>, Vec<Action>)>,
    /// Does this speak for everything?
    pub coverage: Coverage,
    /// States visited.
    pub states: u64,
    /// Steps performed.
    pub transitions: u64,
}

/// Searches all states for endless executions. Stops early once both kinds are found.
pub fn cycles<S: Stateful>(system: &S, options: &StateOptions<'_>) -> CycleReport<S::Action> {
    let mut search = Tarjan::new(system, options);
    search.run();
    search.report
}

/// Not on the stack any more: its component is complete.
const COMPLETE: u32 = u32::MAX;

struct Tarjan<'a, S: Stateful> {
    system: &'a S,
    options: &'a StateOptions<'a>,
    store: Store,
    /// For each state in the order of discovery: where it is stored.
    ids: Vec<StateId>,
    /// The smallest number known to be reachable, or [`COMPLETE`].
    low: Vec<u32>,
    /// States whose component is not complete, in the order of discovery.
    open: Vec<u32>,
    frames: Vec<Frame<S::Action>>,
    /// States with a step to themselves.
    loops: BTreeSet<u32>,
    scratch: S::Run,
    numbers: hashbrown::HashMap<StateId, u32, rustc_hash::FxBuildHasher>,
    report: CycleReport<S::Action>,
}

/// A state whose successors are being visited.
struct Frame<Action> {
    number: u32,
    action: Option<Action>,
    enabled: Vec<Action>,
    next: usize,
}

impl<'a, S: Stateful> Tarjan<'a, S> {
    fn new(system: &'a S, options: &'a StateOptions<'a>) -> Self {
        Tarjan {
            system,
            options,
            store: Store::new(1),
            ids: Vec::new(),
            low: Vec::new(),
            open: Vec::new(),
            frames: Vec::new(),
            loops: BTreeSet::new(),
            scratch: system.start(),
            numbers: hashbrown::HashMap::default(),
            report: CycleReport {
                divergence: None,
                stuck: None,
                coverage: Coverage::Exhaustive,
                states: 0,
                transitions: 0,
            },
        }
    }

    fn run(&mut self) {
        let mut run = self.system.start();
        self.system.canonicalise(&mut run);
        self.enter(&run, None);
        while let Some(frame) = self.frames.last_mut() {
            if frame.next == frame.enabled.len() {
                self.leave();
                if self.report.divergence.is_some() && self.report.stuck.is_some() {
                    break;
                }
                continue;
            }
            let action = frame.enabled[frame.next].clone();
            frame.next += 1;
            let from = frame.number;
            self.load(from, &mut run);
            self.system.step(&mut run, &action);
            self.system.canonicalise(&mut run);
            self.report.transitions += 1;
            if let Some(known) = self.enter(&run, Some(action)) {
                if known == from {
                    self.loops.insert(known);
                }
                if self.low[known as usize] != COMPLETE {
                    let low = &mut self.low[from as usize];
                    *low = (*low).min(known);
                }
            } else if self.exhausted() {
                break;
            }
        }
        self.report.states = self.ids.len() as u64;
    }

    /// Has a limit been reached? Then the report says so.
    fn exhausted(&mut self) -> bool {
        let states = self.ids.len();
        if !states.is_multiple_of(256) {
            return false;
        }
        self.options.advance(256);
        let bytes = self.store.bytes() + self.system.memory() + states * 48;
        let by = if bytes > self.options.memory {
            format!("memory of {} MiB in the search for cycles", self.options.memory >> 20)
        } else if states as u64 > self.options.max_states {
            format!("{} states in the search for cycles", self.options.max_states)
        } else if self.is_interrupted() {
            "interrupted".into()
        } else {
            return false;
        };
        self.report.coverage = Coverage::Bounded(by);
        true
    }

    /// Visits a state: gives its number if it was known, else opens a frame for it.
    fn enter(&mut self, run: &S::Run, action: Option<S::Action>) -> Option<u32> {
        let mut bytes = Vec::new();
        self.system.encode(run, &mut bytes);
        let (id, fresh) = self.store.insert(&bytes, StateId::NONE).ok()?;
        if !fresh {
            return self.numbers.get(&id).copied();
        }
        let number = self.ids.len() as u32;
        self.numbers.insert(id, number);
        self.ids.push(id);
        self.low.push(number);
        self.open.push(number);
        let mut enabled = Vec::new();
        self.system.assign(&mut self.scratch, run);
        self.system.enabled(&mut self.scratch, &mut enabled);
        self.frames.push(Frame { number, action, enabled, next: 0 });
        None
    }

    fn load(&self, number: u32, run: &mut S::Run) {
        let mut bytes = Vec::new();
        self.store.read(self.ids[number as usize], &mut bytes);
        self.system.decode(&bytes, run);
    }

    /// Closes the innermost frame, and its component if it is the first state of one.
    fn leave(&mut self) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        let number = frame.number;
        let low = self.low[number as usize];
        if low == number {
            let start = self.open.iter().rposition(|open| *open == number).unwrap_or(0);
            let component = self.open.split_off(start);
            self.examine(&component);
            for state in component {
                self.low[state as usize] = COMPLETE;
            }
            self.frames.pop();
        } else {
            self.frames.pop();
            if let Some(parent) = self.frames.last() {
                let parent_low = &mut self.low[parent.number as usize];
                *parent_low = (*parent_low).min(low);
            }
        }
    }

    /// Looks at a complete component; the frames still lead to its first state.
    fn examine(&mut self, component: &[u32]) {
        let (Some(first), false) = (component.first(), self.is_trivial(component)) else { return };
        let mut portrait = Portrait::default();
        let (mut run, mut next) = (self.system.start(), self.system.start());
        let (mut enabled, mut bytes) = (Vec::new(), Vec::new());
        for (position, state) in component.iter().enumerate() {
            if position % 1024 == 0 && self.is_interrupted() {
                self.report.coverage = Coverage::Bounded("interrupted".into());
                return;
            }
            self.load(*state, &mut run);
            let mut unfinished = Vec::new();
            self.system.unfinished(&run, &mut unfinished);
            self.system.enabled(&mut run, &mut enabled);
            let able = |thread: &ThreadId| {
                enabled.iter().any(|action| self.system.involves(action, *thread))
            };
            portrait.disabled.extend(unfinished.iter().filter(|thread| !able(thread)));
            portrait.able.extend(unfinished.iter().filter(|thread| able(thread)));
            portrait.unfinished.extend(unfinished.iter().copied());
            for action in &enabled {
                self.system.assign(&mut next, &run);
                self.system.step(&mut next, action);
                self.system.canonicalise(&mut next);
                bytes.clear();
                self.system.encode(&next, &mut bytes);
                let target = self.store.insert(&bytes, StateId::NONE).ok();
                let number = target.and_then(|(id, _)| self.numbers.get(&id));
                // What is open from the first state on is the component.
                let inside =
                    |number: &u32| number >= first && self.low[*number as usize] != COMPLETE;
                if number.is_some_and(inside) {
                    portrait.cyclic = true;
                    let moved =
                        unfinished.iter().filter(|thread| self.system.involves(action, **thread));
                    portrait.moved.extend(moved);
                } else {
                    portrait.has_exit = true;
                }
            }
        }
        self.judge(&portrait);
    }

    /// A single state that no step leads back to?
    fn is_trivial(&self, component: &[u32]) -> bool {
        component.len() == 1 && !self.loops.contains(&component[0])
    }

    fn is_interrupted(&self) -> bool {
        self.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn judge(&mut self, portrait: &Portrait) {
        if !portrait.cyclic {
            return;
        }
        let fair = portrait
            .unfinished
            .iter()
            .all(|thread| portrait.moved.contains(thread) || portrait.disabled.contains(thread));
        if fair && self.report.divergence.is_none() {
            self.report.divergence = Some(self.way());
        }
        let stuck: Vec<ThreadId> =
            portrait.unfinished.difference(&portrait.able).copied().collect();
        if !portrait.has_exit && !stuck.is_empty() && self.report.stuck.is_none() {
            self.report.stuck = Some((stuck, self.way()));
        }
    }

    /// The actions that lead to the state of the innermost frame.
    fn way(&self) -> Vec<S::Action> {
        self.frames.iter().filter_map(|frame| frame.action.clone()).collect()
    }
}

/// What a component looks like.
#[derive(Default)]
struct Portrait {
    cyclic: bool,
    has_exit: bool,
    /// Threads that want to go on in some state.
    unfinished: BTreeSet<ThreadId>,
    /// Of those: the ones that can, in some state.
    able: BTreeSet<ThreadId>,
    /// Of those: the ones that cannot, in some state.
    disabled: BTreeSet<ThreadId>,
    /// Threads that move without leaving the component.
    moved: BTreeSet<ThreadId>,
}
