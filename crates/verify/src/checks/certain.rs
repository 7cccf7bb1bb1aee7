//! Violations that do not depend on choices which stand for data that was not followed.
//!
//! A choice may stand for a condition that the program decides in one way only, and which one was
//! not worked out. An execution that takes such a choice may not exist. But if a violation can be
//! reached whichever way these choices fall, it is real: an adversary takes them, and everything
//! else is scheduled against it.

use strait_calculus::{ProcId, Waiting};
use strait_explore::Nature;

use crate::check::Subject;
use crate::checks::data::Branches;
use crate::checks::faults;
use crate::checks::live::each_stuck;
use crate::property::Property;

/// Can the property be broken whichever way the choices fall that stand for data that was not
/// followed?
pub(crate) fn is_certain(subject: &Subject<'_>, property: Property) -> bool {
    let Some(bad) = bad_states(subject, property) else { return false };
    let model = subject.model;
    let branches = Branches::new(model, &|span| subject.places.untracked(span));
    let reached = branches.forced(model, bad);
    !model.watch.is_over() && reached.first().copied().unwrap_or(false)
}

/// The states in which the property is broken; `None` for properties whose states are not listed.
fn bad_states(subject: &Subject<'_>, property: Property) -> Option<Vec<u32>> {
    match property {
        Property::NoDeadlock => Some(deadlocks(subject)),
        Property::NoLeak => Some(leaks(subject)),
        Property::Live => Some(blocked(subject)),
        Property::ChannelSafe => Some(faults::states(subject, faults::Misused::Channel)),
        Property::WaitGroupSafe => Some(faults::states(subject, faults::Misused::WaitGroup)),
        Property::MutexSafe => Some(faults::states(subject, faults::Misused::Lock)),
        Property::EventualReception
        | Property::LocksReleased
        | Property::NoTerminal
        | Property::NoCycle => None,
    }
}

fn deadlocks(subject: &Subject<'_>) -> Vec<u32> {
    let model = subject.model;
    let is_deadlock = |state: &u32| {
        if model.space.nature(*state) != Nature::Expanded || !model.is_terminal(*state) {
            return false;
        }
        let waiting = model.machine.waiting(&model.state(*state));
        super::deadlock::main_waits(subject, &waiting)
            && waiting.iter().any(|one| subject.must_go_on(one))
    };
    model.states().filter(is_deadlock).collect()
}

fn leaks(subject: &Subject<'_>) -> Vec<u32> {
    let model = subject.model;
    let mut found = Vec::new();
    for bottom in model.bottoms() {
        let state = model.state(bottom.state);
        if model.machine.is_unfinished(&state, ProcId(0)) {
            continue;
        }
        let left = |one: &Waiting| subject.must_go_on(one) && !bottom.moves(model, one.process);
        if model.machine.waiting(&state).iter().any(left) {
            found.extend(model.states_of(bottom));
        }
    }
    found
}

fn blocked(subject: &Subject<'_>) -> Vec<u32> {
    let mut first = Vec::new();
    each_stuck(subject, |stuck| {
        first.push(stuck.state);
        true
    });
    let model = subject.model;
    let components = model.components();
    let wanted: std::collections::BTreeSet<u32> =
        first.into_iter().map(|state| components.of[state as usize]).collect();
    model.states().filter(|state| wanted.contains(&components.of[*state as usize])).collect()
}
