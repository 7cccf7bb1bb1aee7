//! `no-deadlock` (ψ_g) and `no-terminal` (ψ_t): states without any successor.

use strait_calculus::{ProcId, Waiting};
use strait_explore::Nature;

use crate::check::Subject;
use crate::verdict::{Verdict, Violation};

/// Is there a state in which `main` has not finished, a process waits, and nothing can move? The
/// nearest one is shown.
pub fn check(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    for state in model.states() {
        if model.space.nature(state) != Nature::Expanded || !model.is_terminal(state) {
            continue;
        }
        let waiting = model.machine.waiting(&model.state(state));
        if !main_waits(subject, &waiting) {
            continue;
        }
        let ours: Vec<&Waiting> = waiting.iter().filter(|one| subject.must_go_on(one)).collect();
        if !ours.is_empty() {
            let culprits = subject.culprits(state, ours);
            return subject.broken(state, Violation::Deadlock, culprits);
        }
    }
    subject.nothing_found()
}

/// Has `main` not finished, and does it not wait in an empty select that is meant to wait?
pub(crate) fn main_waits(subject: &Subject<'_>, waiting: &[Waiting]) -> bool {
    waiting.iter().any(|one| one.process == ProcId(0) && !subject.is_meant(one))
}

/// Is there a state after which nothing happens?
pub fn no_terminal(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    let ends = |state: &u32| model.is_terminal(*state) && !subject.is_recovered(*state);
    match model.states().find(ends) {
        Some(state) => subject.broken(state, Violation::Ends, vec![]),
        None => subject.nothing_found(),
    }
}
