//! Endless executions: is there one that a fair scheduler allows, and is some thread blocked forever while
//! others go on?
//!
//! The strongly connected components of the whole graph are found by Tarjan's algorithm. A component with
//! a cycle is *fair* when each thread moves in it or is disabled somewhere in it (weak fairness): then some
//! endless execution visits all of it and neglects no thread. A component without a way out in which an
//! unfinished thread is never enabled blocks that thread forever.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::coverage::Coverage;
use crate::space::{Limit, Nature, Space, space};
use crate::states::StateOptions;
use crate::system::{Stateful, ThreadId};
use crate::walk::Visit;

/// What was found about endless executions.
#[derive(Clone, Debug)]
pub struct CycleReport<Action> {
    /// A way into a fair cycle, if there is one.
    pub divergence: Option<Vec<Action>>,
    /// A way to where these threads are blocked forever while others go on, if there is one.
    pub stuck: Option<(Vec<ThreadId>, Vec<Action>)>,
    /// Does this speak for everything?
    pub coverage: Coverage,
    /// States visited.
    pub states: u64,
    /// Steps performed.
    pub transitions: u64,
}

/// Searches all states for endless executions.
pub fn cycles<S: Stateful>(system: &S, options: &StateOptions<'_>) -> CycleReport<S::Action> {
    let options = StateOptions { reduce: false, ..*options };
    let space = space(system, &options, |_, _, _| Visit::Expand);
    let coverage = match space.limit {
        None => Coverage::Exhaustive,
        Some(Limit::Interrupted) => Coverage::Bounded("interrupted".into()),
        Some(limit) => Coverage::Bounded(format!("{limit} in the search for cycles")),
    };
    let mut report = CycleReport {
        divergence: None,
        stuck: None,
        coverage,
        states: space.states().into(),
        transitions: space.transitions() as u64,
    };
    let mut components = Components::new(&space);
    let mut judge = Judge { system, space: &space, run: system.start() };
    while let Some(component) = components.next() {
        if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            report.coverage = Coverage::Bounded("interrupted".into());
            break;
        }
        judge.judge(&component, &components, &mut report);
        if report.divergence.is_some() && report.stuck.is_some() {
            break;
        }
    }
    report
}

/// The strongly connected components of a space, by Tarjan's algorithm: a component comes after all that
/// can be reached from it.
struct Components<'a, Action> {
    space: &'a Space<Action>,
    /// In the order of discovery, plus one; 0 for those that were not discovered.
    order: Vec<u32>,
    /// The smallest order known to be reachable.
    low: Vec<u32>,
    /// The component of each state whose component is complete, plus one.
    component: Vec<u32>,
    complete: u32,
    discovered: u32,
    /// States whose component is not complete, in the order of discovery.
    open: Vec<u32>,
    /// The states on the way to the current one, with the number of steps that were looked at.
    way: Vec<(u32, usize)>,
}

impl<'a, Action> Components<'a, Action> {
    fn new(space: &'a Space<Action>) -> Self {
        let states = space.states() as usize;
        let mut components = Components {
            space,
            order: vec![0; states],
            low: vec![0; states],
            component: vec![0; states],
            complete: 0,
            discovered: 0,
            open: Vec::new(),
            way: Vec::new(),
        };
        components.discover(0);
        components
    }

    fn discover(&mut self, state: u32) {
        self.discovered += 1;
        self.order[state as usize] = self.discovered;
        self.low[state as usize] = self.discovered;
        self.open.push(state);
        self.way.push((state, 0));
    }

    /// Is the state in the component that was given last?
    fn is_in_last(&self, state: u32) -> bool {
        self.component[state as usize] == self.complete
    }

    /// The next component.
    fn next(&mut self) -> Option<Vec<u32>> {
        while let Some((state, looked_at)) = self.way.last_mut() {
            let (from, step) = (*state, *looked_at);
            *looked_at += 1;
            let Some(target) = self.space.targets(from).get(step).copied() else {
                self.way.pop();
                let low = self.low[from as usize];
                if let Some((before, _)) = self.way.last() {
                    let reached = &mut self.low[*before as usize];
                    *reached = (*reached).min(low);
                }
                if low == self.order[from as usize] {
                    return Some(self.complete(from));
                }
                continue;
            };
            if self.order[target as usize] == 0 {
                self.discover(target);
            } else if self.component[target as usize] == 0 {
                let order = self.order[target as usize];
                let low = &mut self.low[from as usize];
                *low = (*low).min(order);
            }
        }
        None
    }

    /// Closes the component of its first state.
    fn complete(&mut self, first: u32) -> Vec<u32> {
        self.complete += 1;
        let start = self.open.iter().rposition(|open| *open == first).unwrap_or(0);
        let component = self.open.split_off(start);
        for state in &component {
            self.component[*state as usize] = self.complete;
        }
        component
    }
}

/// Looks at components.
struct Judge<'a, S: Stateful> {
    system: &'a S,
    space: &'a Space<S::Action>,
    run: S::Run,
}

impl<S: Stateful> Judge<'_, S> {
    /// Looks at the component that was given last.
    fn judge(
        &mut self,
        component: &[u32],
        components: &Components<'_, S::Action>,
        report: &mut CycleReport<S::Action>,
    ) {
        let is_inside = |state: u32| components.is_in_last(state);
        let mut inner = component.iter().flat_map(|state| self.space.targets(*state));
        if !inner.any(|target| is_inside(*target)) {
            return;
        }
        let portrait = self.portrait(component, is_inside);
        let moves = |thread| portrait.moved.contains(thread) || portrait.disabled.contains(thread);
        let way = || {
            let labels = self.space.way(component.iter().copied().min().unwrap_or(0));
            labels.into_iter().map(|label| self.space.actions()[label as usize].clone()).collect()
        };
        if report.divergence.is_none() && portrait.unfinished.iter().all(moves) {
            report.divergence = Some(way());
        }
        let stuck: Vec<ThreadId> =
            portrait.unfinished.difference(&portrait.able).copied().collect();
        if report.stuck.is_none() && !portrait.has_exit && !stuck.is_empty() {
            report.stuck = Some((stuck, way()));
        }
    }

    fn portrait(&mut self, component: &[u32], is_inside: impl Fn(u32) -> bool) -> Portrait {
        let mut portrait = Portrait::default();
        let mut unfinished = Vec::new();
        for state in component {
            // What follows from a state that was not expanded may lead anywhere.
            if self.space.nature(*state) == Nature::Unknown {
                portrait.has_exit = true;
                continue;
            }
            self.space.load(self.system, *state, &mut self.run);
            unfinished.clear();
            self.system.unfinished(&self.run, &mut unfinished);
            portrait.unfinished.extend(unfinished.iter().copied());
            for thread in &unfinished {
                let mut able = false;
                for (label, target) in self.space.steps(*state) {
                    let action = &self.space.actions()[label as usize];
                    if self.system.involves(action, *thread) {
                        able = true;
                        if is_inside(target) {
                            portrait.moved.insert(*thread);
                        }
                    }
                }
                let seen = if able { &mut portrait.able } else { &mut portrait.disabled };
                seen.insert(*thread);
            }
            portrait.has_exit |=
                self.space.targets(*state).iter().any(|target| !is_inside(*target));
        }
        portrait
    }
}

/// What a component looks like.
#[derive(Default)]
struct Portrait {
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
