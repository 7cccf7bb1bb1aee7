//! Liveness that does not depend on how data decides (Lange et al., ICSE 2018, section 2.2).
//!
//! As a type, a process is live when *some* continuation lets it go on, whichever way the choices
//! that stand for conditions have to fall. In a loop that never ends the data may decide the same
//! way forever. So here an adversary takes those choices: a process is safe from the data when the
//! others can be scheduled so that it goes on, whatever the adversary chooses. That is an attractor
//! over the graph.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use strait_calculus::{ActionKind, ProcId, Span, Waiting};
use strait_explore::Limit;

use crate::model::Model;
use crate::places::Places;
use crate::tell;
use crate::verdict::Culprit;

/// Does some process depend on how data decides?
#[derive(Clone, Debug)]
pub enum Dependence {
    /// No process does.
    None,
    /// This one does.
    On(Box<Culprit>),
    /// The time was up before this was known.
    Unknown(Limit),
}

impl Dependence {
    /// No dependent process was found.
    fn ended(model: &Model<'_>) -> Dependence {
        model.watch.has_cut().map_or(Dependence::None, Dependence::Unknown)
    }
}

/// A process that goes on only if the data decides well, the first one found in a breadth-first
/// order of states. `adverse` tells which choices the adversary takes. Needs all states.
pub fn dependence_on_data(
    model: &Model<'_>,
    places: &dyn Places,
    adverse: &dyn Fn(Span) -> bool,
) -> Dependence {
    let branches = Branches::new(model, adverse);
    if branches.remaining.is_empty() {
        return Dependence::ended(model);
    }
    let mut safe: HashMap<ProcId, Vec<bool>, FxBuildHasher> = HashMap::default();
    let mut run = model.state(0);
    for state in model.states() {
        if model.space.ended().binary_search(&state).is_ok() {
            continue;
        }
        model.space.load(&model.machine, state, &mut run);
        for waiting in model.machine.waiting(&run) {
            if !is_ours(&waiting, places) {
                continue;
            }
            let process = waiting.process;
            let safe = safe.entry(process).or_insert_with(|| branches.safe(model, process));
            if model.watch.has_cut().is_some() {
                return Dependence::ended(model);
            }
            if !safe[state as usize] {
                let names = tell::Names::on(&model.machine, &model.way(state), places);
                return Dependence::On(Box::new(tell::culprit(
                    &model.machine,
                    &waiting,
                    places,
                    &names,
                )));
            }
        }
    }
    Dependence::ended(model)
}

fn is_ours(waiting: &Waiting, places: &dyn Places) -> bool {
    !waiting.wants.is_empty() && places.place(waiting.span).is_some()
}

/// The adversary's choices: for each state and process that stands at one, how many branches.
pub(crate) struct Branches {
    remaining: HashMap<(u32, ProcId), u32, FxBuildHasher>,
}

impl Branches {
    pub(crate) fn new(model: &Model<'_>, adverse: &dyn Fn(Span) -> bool) -> Branches {
        let mut remaining: HashMap<(u32, ProcId), u32, FxBuildHasher> = HashMap::default();
        let actions = model.space.actions();
        let mut run = model.state(0);
        for state in model.states() {
            let mut loaded = false;
            for (label, _) in model.space.steps(state) {
                let action = &actions[label as usize];
                if action.kind != ActionKind::Branch {
                    continue;
                }
                if !loaded {
                    model.space.load(&model.machine, state, &mut run);
                    loaded = true;
                }
                let span = model.machine.step_span(&run, action.actor, u16::MAX);
                if adverse(span) {
                    *remaining.entry((state, action.actor)).or_default() += 1;
                }
            }
        }
        Branches { remaining }
    }

    /// The states from which the process can be made to move, or the program ends.
    fn safe(&self, model: &Model<'_>, process: ProcId) -> Vec<bool> {
        let actions = model.space.actions();
        let moves = |state: &u32| {
            model.space.steps(*state).any(|(label, _)| actions[label as usize].involves(process))
        };
        let mut seeds: Vec<u32> = model.states().filter(moves).collect();
        seeds.extend(model.space.ended().iter().copied().chain(model.space.unknown()));
        self.forced(model, seeds)
    }

    /// The states from which one of the seeds can be reached whatever the adversary chooses.
    pub(crate) fn forced(&self, model: &Model<'_>, seeds: Vec<u32>) -> Vec<bool> {
        let actions = model.space.actions();
        let mut safe = vec![false; model.space.states() as usize];
        let mut work = seeds;
        for state in &work {
            safe[*state as usize] = true;
        }
        let mut remaining = self.remaining.clone();
        while let Some(state) = work.pop().filter(|_| !model.watch.is_over()) {
            let mut last = None;
            for from in model.predecessors().of(state) {
                // Several steps between two states stand next to each other.
                if last.replace(*from) == Some(*from) || safe[*from as usize] {
                    continue;
                }
                let forced = model.space.steps(*from).any(|(label, target)| {
                    let action = &actions[label as usize];
                    let key = (*from, action.actor);
                    if target != state {
                        return false;
                    }
                    match remaining.get_mut(&key) {
                        Some(open) if action.kind == ActionKind::Branch => {
                            *open = open.saturating_sub(1);
                            *open == 0
                        }
                        _ => true,
                    }
                });
                if forced {
                    safe[*from as usize] = true;
                    work.push(*from);
                }
            }
        }
        safe
    }
}
