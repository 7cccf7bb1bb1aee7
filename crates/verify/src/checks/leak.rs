//! `no-leak`: no process stays blocked forever after `main` has finished. Both last until the
//! execution is in a component without a way out, so one state of each such component is looked at,
//! as for `live`. An empty select is a leak here: its process never ends.

use std::collections::BTreeSet;

use strait_calculus::{ProcId, Waiting};

use crate::check::Subject;
use crate::verdict::{Culprit, Verdict, Violation};

/// Is there a process that is left behind? All of the nearest component are shown, and those of
/// the others that wait at other places.
pub fn check(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    let mut nearest = None;
    let mut places = BTreeSet::new();
    let mut culprits: Vec<Culprit> = Vec::new();
    for bottom in model.bottoms() {
        let waiting = model.machine.waiting(&model.state(bottom.state));
        let left_behind: Vec<&Waiting> = waiting
            .iter()
            .filter(|one| subject.must_go_on(one) && !bottom.moves(model, one.process))
            .collect();
        let main_is_there = model.machine.is_unfinished(&model.state(bottom.state), ProcId(0));
        let fresh = left_behind.iter().any(|one| !places.contains(&one.pc));
        if main_is_there || !fresh || model.watch.is_over() {
            continue;
        }
        let others = left_behind
            .iter()
            .copied()
            .filter(|one| nearest.is_none() || !places.contains(&one.pc))
            .collect();
        culprits.extend(subject.culprits(bottom.state, others));
        places.extend(left_behind.iter().map(|one| one.pc));
        nearest.get_or_insert(bottom.state);
    }
    match nearest {
        Some(state) => Verdict {
            main: subject.places.function("main"),
            ..subject.broken(state, Violation::Leak, culprits)
        },
        None => subject.nothing_found(),
    }
}
