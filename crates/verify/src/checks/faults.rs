//! `channel-safe` (ψ_s) and `waitgroup-safe`: operations that panic, and an add that races with a
//! wait. The state after the panic is in the space, as an end.

use strait_calculus::{Action, ActionKind, Fault, PanicCause, Panicked, ProcId};

use crate::check::Subject;
use crate::doing::Doing;
use crate::tell::Names;
use crate::verdict::{Culprit, Verdict, Violation};

/// What is misused by an operation that panics.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misused {
    Channel,
    Lock,
    WaitGroup,
}

/// What a panic is a misuse of; `None` if the program panics on purpose.
fn misused(cause: &PanicCause) -> Option<Misused> {
    match cause {
        PanicCause::Statement(_) => None,
        PanicCause::CloseOfNil | PanicCause::AbandonOfNil => Some(Misused::Channel),
        PanicCause::Fault(fault) => Some(match fault {
            Fault::SendOnClosed
            | Fault::CloseOfClosed
            | Fault::AbandonOfAbandoned
            | Fault::GetOnAbandoned => Misused::Channel,
            Fault::UnlockOfUnlocked | Fault::UnlockOfUnlockedRw | Fault::RUnlockOfUnlocked => {
                Misused::Lock
            }
            Fault::NegativeCounter => Misused::WaitGroup,
        }),
    }
}

/// Is a channel misused?
pub fn channel_safe(subject: &Subject<'_>) -> Verdict {
    first(subject, Misused::Channel).unwrap_or_else(|| subject.nothing_found())
}

/// Is a lock misused so that it panics?
pub(crate) fn lock_panics(subject: &Subject<'_>) -> Option<Verdict> {
    first(subject, Misused::Lock)
}

/// Is a wait group misused?
pub fn waitgroup_safe(subject: &Subject<'_>) -> Verdict {
    let race = subject.model.race;
    let panic = first(subject, Misused::WaitGroup);
    let Some(race) = race else { return panic.unwrap_or_else(|| subject.nothing_found()) };
    if let Some(panic) = panic {
        return panic;
    }
    let machine = &subject.model.machine;
    let state = subject.model.state(race.state);
    let names = Names::on(machine, &subject.model.way(race.state), subject.places);
    let culprit = |process: ProcId, doing: Doing| {
        let span = machine.step_span(&state, process, 0);
        let place = subject.places.place(span);
        Culprit { process: names.get(&machine.process_name(process)), span, place, doing }
    };
    let group = race.waits.object.map_or_else(String::new, |group| subject.name(group));
    let culprits = vec![
        culprit(race.adds.actor, Doing::AddsTo(group.clone())),
        culprit(race.waits.actor, Doing::MayPassWait(group)),
    ];
    subject.broken(race.state, Violation::AddRace, culprits)
}

/// The states after a panic of this kind that is not recovered.
pub(crate) fn states(subject: &Subject<'_>, wanted: Misused) -> Vec<u32> {
    let model = subject.model;
    let is_one = |state: &u32| {
        let panics = model.machine.panics(&model.state(*state));
        let mut panics = panics.iter();
        panics.any(|panic| {
            misused(&panic.cause) == Some(wanted) && !subject.places.recovers(panic.span)
        })
    };
    model.ended().filter(is_one).collect()
}

/// The nearest panic of this kind that is not recovered, and the places of all.
fn first(subject: &Subject<'_>, wanted: Misused) -> Option<Verdict> {
    let machine = &subject.model.machine;
    let mut nearest = None;
    let mut culprits: Vec<Culprit> = Vec::new();
    for state in subject.model.ended() {
        for panic in machine.panics(&subject.model.state(state)) {
            if misused(&panic.cause) != Some(wanted) || subject.places.recovers(panic.span) {
                continue;
            }
            nearest.get_or_insert(state);
            let same = |one: &Culprit| {
                let known =
                    matches!(&one.doing, Doing::Panics { cause, .. } if *cause == panic.cause);
                known && one.span.start == panic.span.start
            };
            if !culprits.iter().any(same) {
                culprits.push(culprit(subject, state, &panic));
            }
        }
    }
    Some(subject.broken(nearest?, Violation::Panic, culprits))
}

fn culprit(subject: &Subject<'_>, state: u32, panic: &Panicked) -> Culprit {
    let model = subject.model;
    let way = model.way(state);
    let names = Names::on(&model.machine, &way, subject.places);
    let is_fault = |action: &&Action| {
        action.actor == panic.process && matches!(action.kind, ActionKind::Fault(_))
    };
    let object = way.last().filter(is_fault).and_then(|action| action.object);
    Culprit {
        process: names.get(&model.machine.process_name(panic.process)),
        span: panic.span,
        place: subject.places.place(panic.span),
        doing: Doing::Panics {
            cause: panic.cause.clone(),
            object: object.map(|object| subject.name(object)),
        },
    }
}
