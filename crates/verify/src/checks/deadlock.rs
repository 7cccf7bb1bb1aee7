//! `no-deadlock` (ψ_g) and `no-terminal` (ψ_t): states without any successor.

use strait_explore::Nature;

use crate::check::Subject;
use crate::tell;
use crate::verdict::{Culprit, Verdict};

/// Is there a state in which somebody waits and nothing can move? The nearest one is shown.
pub fn check(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    for state in 0..model.space.states() {
        if model.space.nature(state) != Nature::Expanded || !model.is_terminal(state) {
            continue;
        }
        let waiting = model.machine.waiting(&model.state(state));
        let ours = waiting.iter().filter(|one| subject.concerns(one.span));
        let culprits: Vec<Culprit> = ours.map(|one| tell::culprit(&model.machine, one)).collect();
        if culprits.is_empty() {
            continue;
        }
        let main = model.machine.process_name(strait_calculus::ProcId(0));
        let finished = culprits.iter().all(|one| one.process != main);
        let start =
            if finished { "main has finished and nothing can move" } else { "nothing can move" };
        let why = format!("{start}: {}", tell::listed(&culprits, subject.places));
        return subject.broken(state, why, culprits);
    }
    subject.nothing_found()
}

/// Is there a state after which nothing happens?
pub fn no_terminal(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    match (0..model.space.states()).find(|state| model.is_terminal(*state)) {
        Some(state) => subject.broken(state, "it can come to an end".into(), vec![]),
        None => subject.nothing_found(),
    }
}
