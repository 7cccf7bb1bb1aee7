//! `no-cycle` (ψ_c): no execution comes back to a state. Leaving out equivalent orders keeps an
//! endless execution if there is one, hence a cycle.

use std::collections::VecDeque;

use strait_calculus::Action;

use crate::check::Subject;
use crate::model::Model;
use crate::tell;
use crate::verdict::{Verdict, Violation, Why};

/// Is there a cycle? The one whose first state is nearest is shown.
pub fn check(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    let components = model.components();
    let mut sizes = vec![0u32; components.count as usize];
    for component in &components.of {
        sizes[*component as usize] += 1;
    }
    let in_cycle = |state: &u32| {
        sizes[components.of[*state as usize] as usize] > 1
            || model.space.targets(*state).contains(state)
            || model.spins(*state)
    };
    let Some(state) = model.states().find(in_cycle) else {
        return subject.nothing_found();
    };
    let mut way = model.way(state);
    let entry = way.len();
    way.extend(around(model, state));
    let trace = tell::trace(&model.machine, way, Some(entry), subject.places);
    let violation = if model.spins(state) { Violation::Spins } else { Violation::Cycle };
    Verdict { trace: Some(trace), ..Verdict::because(Why::Violated(violation)) }
}

/// A shortest way from a state back to itself; nothing if there is none.
fn around(model: &Model<'_>, start: u32) -> Vec<Action> {
    let component = &model.components().of;
    let inside = |state: u32| component[state as usize] == component[start as usize];
    let mut from = hashbrown::HashMap::with_hasher(rustc_hash::FxBuildHasher);
    let mut queue = VecDeque::from([start]);
    while let Some(state) = queue.pop_front().filter(|_| !model.watch.is_over()) {
        for (label, target) in model.space.steps(state) {
            if target == start {
                return unwind(model, &from, start, (state, label));
            }
            if inside(target) && !from.contains_key(&target) {
                from.insert(target, (state, label));
                queue.push_back(target);
            }
        }
    }
    vec![]
}

type Steps = hashbrown::HashMap<u32, (u32, u32), rustc_hash::FxBuildHasher>;

fn unwind(model: &Model<'_>, from: &Steps, start: u32, last: (u32, u32)) -> Vec<Action> {
    let (mut state, label) = last;
    let mut labels = vec![label];
    while state != start {
        let Some((before, label)) = from.get(&state) else { break };
        labels.push(*label);
        state = *before;
    }
    labels.reverse();
    labels.into_iter().map(|label| model.space.actions()[label as usize]).collect()
}
