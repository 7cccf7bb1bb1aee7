//! `locks-released`: no lock stays held forever once its last user has finished or gone on.
//!
//! A lock that is never released is held in every state from then on, until the execution is in a
//! component without a way out in which no step releases it. If a process waits for it there, or if
//! the process that holds it waits forever itself, `no-deadlock`, `no-leak` and `live` report that.
//! Executions that end in a panic are not looked at.

use strait_calculus::{Action, ActionKind, Holding, ObjectId, ProcId, Span, Waiting, Wish};
use strait_explore::System;

use crate::check::Subject;
use crate::doing::Doing;
use crate::model::Bottom;
use crate::tell::Names;
use crate::verdict::{Culprit, Verdict, Violation};

/// Is there a lock that is never released? The nearest such state is shown.
pub fn check(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    let mut nearest = None;
    let mut culprits: Vec<Culprit> = Vec::new();
    for bottom in model.bottoms() {
        let state = model.state(bottom.state);
        let held = model.machine.held_locks(&state);
        if held.is_empty() || model.watch.is_over() {
            continue;
        }
        let waiting = model.machine.waiting(&state);
        for (object, holding) in held {
            if bottom.releases(model, object, holding) || waits_for(subject, bottom, object) {
                continue;
            }
            let way = model.way(bottom.state);
            let Some((process, span)) = last_user(subject, &way, object, holding) else { continue };
            let stuck = |one: &Waiting| {
                one.process == process
                    && !subject.is_meant(one)
                    && !bottom.moves(model, one.process)
            };
            let known = culprits.iter().any(|one| one.span.start == span.start);
            if known || waiting.iter().any(stuck) || !subject.concerns(span) {
                continue;
            }
            nearest.get_or_insert(bottom.state);
            let names = Names::on(&model.machine, &way, subject.places);
            culprits.push(Culprit {
                process: names.get(&model.machine.process_name(process)),
                span,
                place: subject.places.place(span),
                doing: Doing::KeepsLock(subject.name(object)),
            });
        }
    }
    match nearest {
        Some(state) => subject.broken(state, Violation::LockKept, culprits),
        None => subject.nothing_found(),
    }
}

/// Does a process wait for this lock in some state of the component? In one that it shares with
/// others it may do so only now and then.
fn waits_for(subject: &Subject<'_>, bottom: &Bottom, object: ObjectId) -> bool {
    let wants = |waiting: &Waiting| {
        let mut wants = waiting.wants.iter();
        wants.any(|want| {
            want.object == Some(object) && matches!(want.wish, Wish::Lock | Wish::ReadLock)
        })
    };
    let model = subject.model;
    let mut states = model.states_of(bottom);
    states.any(|state| model.machine.waiting(&model.state(state)).iter().any(wants))
}

/// The process that took a lock last and has not released it, and where it did.
fn last_user(
    subject: &Subject<'_>,
    way: &[Action],
    object: ObjectId,
    holding: Holding,
) -> Option<(ProcId, Span)> {
    let machine = &subject.model.machine;
    let mut state = machine.start();
    let mut users: Vec<(ProcId, Span)> = Vec::new();
    for action in way {
        if action.object == Some(object) {
            match (action.kind, holding) {
                (ActionKind::Lock, Holding::Exclusive)
                | (ActionKind::ReadLock, Holding::Readers) => {
                    let span = machine.step_span(&state, action.actor, action.case);
                    users.push((action.actor, span));
                }
                (ActionKind::Unlock, Holding::Exclusive)
                | (ActionKind::ReadUnlock, Holding::Readers) => {
                    // Any process may release what another one has taken.
                    let own = users.iter().rposition(|(process, _)| *process == action.actor);
                    if let Some(last) = own.or(users.len().checked_sub(1)) {
                        users.remove(last);
                    }
                }
                _ => {}
            }
        }
        machine.step(&mut state, action);
    }
    users.pop()
}
