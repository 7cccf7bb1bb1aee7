//! Could this have happened? Decides whether some schedule of a program gives an observation.
//!
//! What each process did is read off the observation (`scripts`), then these scripts are woven into
//! one execution if they can be (`weave`). That takes microseconds where it leaves no choice.
//!
//! Programs that scripts do not speak of (locks, endless loops, channels that are compared) are
//! searched instead. There the program is run against the observation: a step after which a process
//! would have seen something else than was recorded does not exist. What remains is searched depth
//! first with persistent sets, each state once.

use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use strait_explore::{Stateful, System};

use crate::explain::observation::Observation;
use crate::explain::scripts::{Decisions, Unwritten, scripts};
use crate::explain::weave::{Woven, weave};
use crate::language::ast::Program;
use crate::machine::action::Action;
use crate::machine::code::Code;
use crate::machine::compile::compile;
use crate::machine::local::Status;
use crate::machine::program::{Machine, Recording, State};
use crate::machine::schedule::Schedule;

/// How many combinations of `choose` branches are tried one by one.
const MAX_COMBINATIONS: usize = 1_000;
/// How many states are searched for the schedule that explains most of what is impossible.
const EVIDENCE: usize = 500;

/// The answer to [`explain`].
#[derive(Clone, Debug)]
pub enum Explanation {
    /// There is a schedule that gives it.
    Possible {
        /// One.
        schedule: Schedule,
    },
    /// No schedule gives it. `furthest` is a schedule that explains as many events as any tried.
    Impossible {
        /// How many events it explains.
        explained: usize,
        /// The schedule.
        furthest: Schedule,
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

    /// Like [`explain`], giving up after so many states where there was a choice.
    pub fn explain(&self, observation: &Observation, max_states: usize) -> Explanation {
        let mut decisions = Decisions::default();
        let mut visited = 0;
        for _ in 0..MAX_COMBINATIONS {
            match scripts(&self.code, observation, &mut decisions) {
                Err(Unwritten::Unsupported) => return self.search(observation, max_states),
                Err(Unwritten::Refuted) => {}
                Ok(scripts) => {
                    match weave(&scripts, observation.finished, &mut visited, max_states) {
                        Woven::Possible(stitches) => {
                            let code = Arc::clone(&self.code);
                            let schedule = Schedule::woven(code, scripts, stitches);
                            return Explanation::Possible { schedule };
                        }
                        Woven::Impossible => {}
                        Woven::GivenUp => return Explanation::Unknown { states: max_states },
                    }
                }
            }
            if !decisions.advance() {
                return self.impossible(observation);
            }
        }
        self.search(observation, max_states)
    }

    /// It is known to be impossible; how far a schedule can come is still to be found out.
    fn impossible(&self, observation: &Observation) -> Explanation {
        let machine = self.against(observation);
        let mut search = Search::new(&machine, observation, EVIDENCE);
        search.run();
        search.impossible()
    }

    /// Like [`Explainer::explain`] by nothing but the search over states: slow, for comparison.
    pub fn search(&self, observation: &Observation, max_states: usize) -> Explanation {
        let machine = self.against(observation);
        Search::new(&machine, observation, max_states).run()
    }

    /// Is there a schedule in which each process begins with these events, whatever it and the others
    /// see afterwards and whether they finish or not? If none, none gives an observation that has
    /// more events either.
    pub fn explain_beginning(&self, observation: &Observation, max_states: usize) -> Explanation {
        let observation = Observation { finished: false, ..observation.clone() };
        let recording = Recording::Beginning(Arc::new(observation.clone()));
        let machine = Machine::from_code(Arc::clone(&self.code), recording, false);
        Search::new(&machine, &observation, max_states).run()
    }

    fn against(&self, observation: &Observation) -> Machine {
        let recording = Recording::Against(Arc::new(observation.clone()));
        Machine::from_code(Arc::clone(&self.code), recording, false)
    }
}

struct Search<'a> {
    machine: &'a Machine,
    observation: &'a Observation,
    total: usize,
    max_states: usize,
    /// How many events have been explained at most, and by which steps.
    best: (usize, Vec<Action>),
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

impl<'a> Search<'a> {
    fn new(machine: &'a Machine, observation: &'a Observation, max_states: usize) -> Self {
        let total = observation.processes.values().map(Vec::len).sum();
        Search { machine, observation, total, max_states, best: (0, Vec::new()) }
    }

    fn run(&mut self) -> Explanation {
        let mut visited: HashSet<Vec<u8>, FxBuildHasher> = HashSet::default();
        let start = self.machine.start();
        if self.seen(&start).is_none() {
            return self.impossible();
        }
        if self.is_goal(&start) {
            return self.possible(vec![]);
        }
        visited.insert(self.key(&start));
        let mut frames = vec![self.frame(start)];
        while let Some(frame) = frames.last_mut() {
            let Some(action) = frame.steps.get(frame.next).copied() else {
                // If all that was tried goes round in circles, what was left out must not be put
                // off forever.
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
            if goal || explained > self.best.0 || self.best.1.is_empty() {
                self.best = (explained, path(&frames));
            }
            if goal {
                return self.possible(path(&frames));
            }
            if visited.len() >= self.max_states {
                return Explanation::Unknown { states: self.max_states };
            }
            let frame = self.frame(state);
            frames.push(frame);
        }
        self.impossible()
    }

    fn possible(&self, trace: Vec<Action>) -> Explanation {
        Explanation::Possible { schedule: Schedule::traced(trace, self.machine) }
    }

    fn impossible(&self) -> Explanation {
        let (explained, trace) = self.best.clone();
        Explanation::Impossible { explained, furthest: Schedule::traced(trace, self.machine) }
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
