//! `no-deadlock` (ψ_g) and `no-terminal` (ψ_t): states without any successor.

use strait_calculus::{ProcId, Waiting};
use strait_explore::Nature;

use crate::check::Subject;
use crate::tell;
use crate::verdict::{Culprit, Verdict};

/// Is there a state in which somebody waits and nothing can move? The nearest one in which main
/// waits is shown, else the nearest in which others are left behind.
pub fn check(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    let mut left_behind = None;
    for state in 0..model.space.states() {
        if model.space.nature(state) != Nature::Expanded || !model.is_terminal(state) {
            continue;
        }
        let waiting = model.machine.waiting(&model.state(state));
        let ours: Vec<Waiting> =
            waiting.into_iter().filter(|one| subject.must_go_on(one)).collect();
        if ours.iter().any(|one| one.process == ProcId(0)) {
            return broken(subject, state, &ours, "nothing can move");
        }
        if left_behind.is_none() && !ours.is_empty() {
            left_behind = Some((state, ours));
        }
    }
    match left_behind {
        Some((state, ours)) => {
            broken(subject, state, &ours, "main has finished and nothing can move")
        }
        None => subject.nothing_found(),
    }
}

fn broken(subject: &Subject<'_>, state: u32, waiting: &[Waiting], what: &str) -> Verdict {
    let machine = &subject.model.machine;
    let culprits: Vec<Culprit> =
        waiting.iter().map(|one| tell::culprit(machine, one, subject.places)).collect();
    let why = format!("{what}: {}", tell::listed(&culprits, subject.places));
    subject.broken(state, why, culprits)
}

/// Is there a state after which nothing happens?
pub fn no_terminal(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    match (0..model.space.states()).find(|state| model.is_terminal(*state)) {
        Some(state) => subject.broken(state, "it can come to an end".into(), vec![]),
        None => subject.nothing_found(),
    }
}
