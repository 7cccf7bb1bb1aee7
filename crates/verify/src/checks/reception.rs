//! `eventual-reception` (ψ_e): what is in a buffer can be received in some continuation.
//!
//! As with `live`, a message that is never received stays in its buffer until the execution is in a
//! component without a way out, in which nothing is received from that channel.

use std::collections::BTreeMap;

use strait_calculus::ObjectId;

use crate::check::Subject;
use crate::doing::Doing;
use crate::model::{Model, is_reception};
use crate::verdict::{Culprit, Verdict, Violation};

/// Is there a message that is never received? The nearest such state is shown.
pub fn check(subject: &Subject<'_>) -> Verdict {
    let model = subject.model;
    let mut lost: BTreeMap<ObjectId, u32> = BTreeMap::new();
    for bottom in model.bottoms() {
        for object in model.machine.buffered(&model.state(bottom.state)) {
            if !lost.contains_key(&object)
                && !bottom.receives(model, object)
                && subject.concerns(span(subject, object))
            {
                lost.insert(object, bottom.state);
            }
        }
    }
    let mut found: Vec<(u32, ObjectId)> = lost
        .into_iter()
        .map(|(object, state)| (first_lost(model, object).unwrap_or(state), object))
        .collect();
    found.sort();
    let Some((state, _)) = found.first().copied() else { return subject.nothing_found() };
    let culprits = found.iter().map(|(_, object)| Culprit {
        process: subject.name(*object),
        span: span(subject, *object),
        place: subject.places.place(span(subject, *object)),
        doing: Doing::HoldsMessage,
    });
    let culprits = culprits.collect();
    subject.broken(state, Violation::MessageLost, culprits)
}

/// Where a channel is made.
fn span(subject: &Subject<'_>, object: ObjectId) -> strait_calculus::Span {
    let (function, var) = subject.model.machine.holder(object);
    subject.program.functions[function].variables[var].span
}

/// The nearest state with a message in the buffer from which nothing is ever taken out.
fn first_lost(model: &Model<'_>, object: ObjectId) -> Option<u32> {
    let may = model.may_come_to(|action| is_reception(action, object));
    let mut run = model.state(0);
    model.states().filter(|state| !may[*state as usize]).find(|state| {
        model.space.load(&model.machine, *state, &mut run);
        model.machine.buffered(&run).contains(&object)
    })
}
