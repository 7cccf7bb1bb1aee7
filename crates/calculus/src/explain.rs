//! Could this have happened? Decides whether some schedule of a program gives an observation.
//!
//! The program is run against the observation: a step after which a process would have seen
//! something else than was recorded does not exist. What remains is searched depth first with
//! persistent sets, each state once. Unique messages leave hardly any choice, so this is close to
//! replaying; nothing is enumerated beyond what the observation leaves open.

use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use strait_explore::{Stateful, System};

use crate::action::Action;
use crate::ast::Program;
use crate::code::Code;
use crate::compile::compile;
use crate::local::Status;
use crate::machine::{Machine, Recording, State};
use crate::observation::Observation;

/// The answer to [`explain`].
#[derive(Clone, Debug)]
pub enum Explanation {
    /// This schedule gives it.
    Possible {
        /// The schedule.
        trace: Vec<Action>,
        /// The machine it belongs to.
        machine: Machine,
    },
    /// No schedule gives it. `furthest` is a schedule that explains as many events as any tried.
    Impossible {
        /// How many events it explains.
        explained: usize,
        /// The schedule.
        furthest: Vec<Action>,
    },
    /// The search was given up after so many states.
    Unknown {
        /// The limit.
        states: usize,
    },
}

impl Explanation {
    /// Is there a schedule?
    pub fn is_possible(&self) -> bool {
        matches!(self, Explanation::Possible { .. })
    }
}

/// Decides whether any schedule of a checked program gives the observation: each process saw just
/// these events, and if the observation says so, every process finished.
pub fn explain(program: &Program, observation: &Observation) -> Explanation {
    Explainer::new(program).explain(observation, usize::MAX)
}

/// Explains many observations of one program.
#[derive(Debug)]
pub struct Explainer {
    code: Arc<Code>,
}

impl Explainer {
    /// For a checked program.
    pub fn new(program: &Program) -> Explainer {
        Explainer { code: Arc::new(compile(program)) }
    }

    /// Like [`explain`], giving up after visiting so many states.
    pub fn explain(&self, observation: &Observation, max_states: usize) -> Explanation {
        let recording = Recording::Against(Arc::new(observation.clone()));
        let machine = Machine::from_code(Arc::clone(&self.code), recording, false);
        let total = observation.processes.values().map(Vec::len).sum();
        Search { machine: &machine, observation, total, max_states }.run()
    }
}

struct Search<'a> {
    machine: &'a Machine,
    observation: &'a Observation,
    total: usize,
    max_states: usize,
}

/// A state on the way and the steps that are still to be tried there.
struct Frame {
    state: State,
    steps: Vec<Action>,
    next: usize,
    /// The steps that the persistent set leaves out.
    rest: Vec<Action>,
    /// Has a step led to a state that was not known before?
    progressed: bool,
}

impl Search<'_> {
    fn run(&self) -> Explanation {
        let mut visited: HashSet<Vec<u8>, FxBuildHasher> = HashSet::default();
        let mut best = (0, Vec::new());
        let start = self.machine.start();
        if self.seen(&start).is_none() {
            return Explanation::Impossible { explained: 0, furthest: vec![] };
        }
        if self.is_goal(&start) {
            return self.possible(vec![]);
        }
        visited.insert(self.key(&start));
        let mut frames = vec![self.frame(start)];
        while let Some(frame) = frames.last_mut() {
            let Some(action) = frame.steps.get(frame.next).copied() else {
                // If all that was tried goes round in circles, what was left out must not be put
                // off for ever.
                let rest = std::mem::take(&mut frame.rest);
                if frame.progressed || rest.is_empty() {
                    frames.pop();
                } else {
                    frame.steps.extend(rest);
                }
                continue;
            };
            frame.next += 1;
            let mut state = frame.state.clone();
            self.machine.step(&mut state, &action);
            if !visited.insert(self.key(&state)) {
                continue;
            }
            frame.progressed = true;
            let goal = self.is_goal(&state);
            let explained = self.seen(&state).unwrap_or(0);
            if goal || explained > best.0 || best.1.is_empty() {
                best = (explained, path(&frames));
            }
            if goal {
                return self.possible(best.1);
            }
            if visited.len() >= self.max_states {
                return Explanation::Unknown { states: self.max_states };
            }
            let frame = self.frame(state);
            frames.push(frame);
        }
        Explanation::Impossible { explained: best.0, furthest: best.1 }
    }

    fn possible(&self, trace: Vec<Action>) -> Explanation {
        Explanation::Possible { trace, machine: self.machine.clone() }
    }

    fn key(&self, state: &State) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.machine.encode(state, &mut bytes);
        bytes
    }

    fn frame(&self, mut state: State) -> Frame {
        let (mut enabled, mut chosen) = (Vec::new(), Vec::new());
        self.machine.enabled(&mut state, &mut enabled);
        self.machine.persistent(&state, &enabled, &mut chosen);
        let steps = chosen.iter().map(|position| enabled[*position]).collect();
        let left_out = (0..enabled.len()).filter(|position| !chosen.contains(position));
        let rest = left_out.map(|position| enabled[position]).collect();
        Frame { state, steps, next: 0, rest, progressed: false }
    }

    /// How many events have been seen so far; `None` if something contradicts the observation.
    fn seen(&self, state: &State) -> Option<usize> {
        let cache = self.machine.warm_cache(state);
        let mut seen = 0;
        for (process, number) in state.processes() {
            let menu = cache.menu(process, number);
            if menu.status == Status::Refuted {
                return None;
            }
            seen += menu.history as usize;
        }
        Some(seen)
    }

    fn is_goal(&self, state: &State) -> bool {
        if self.seen(state) != Some(self.total) {
            return false;
        }
        let cache = self.machine.warm_cache(state);
        let done = |(process, number)| cache.menu(process, number).status == Status::Done;
        !self.observation.finished || state.processes().all(done)
    }
}

/// The steps taken in all frames.
fn path(frames: &[Frame]) -> Vec<Action> {
    frames.iter().map(|frame| frame.steps[frame.next - 1]).collect()
}
