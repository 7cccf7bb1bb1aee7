//! Traces and waiting processes in words that need no manual.

use strait_calculus::{
    Action, ActionKind, Blocked, Machine, Span, State, Step, Waiting, Want, Wish,
};
use strait_explore::System;

use crate::verdict::{Culprit, Places, Told, Trace};

/// Tells a trace.
pub(crate) fn trace(
    machine: &Machine,
    actions: Vec<Action>,
    cycle: Option<usize>,
    places: &dyn Places,
) -> Trace {
    let (steps, blocked) = machine.narrate(&actions);
    let mut told = Vec::new();
    let (mut number, mut cycle_told) = (0, None);
    for step in &steps {
        if cycle == Some(number) && cycle_told.is_none() && step.kind.is_some() {
            cycle_told = Some(told.len());
        }
        let own = step.kind.map(|_| number);
        if places.place(step.actor.span).is_some() {
            told.extend(tell(step, own, places));
        }
        number += usize::from(step.kind.is_some());
    }
    let mut state = machine.start();
    for action in &actions {
        machine.step(&mut state, action);
    }
    let mut left = left(machine, &state, &blocked, places);
    // Whoever panics in the last step is told there.
    if let Some(last) = told.last().filter(|step| step.action.starts_with("panics")) {
        left.retain(|one| one.process != last.process);
    }
    let choices = told.iter().filter(|step| step.choice).count();
    Trace { actions, steps: told, cycle: cycle_told, left, choices }
}

fn tell(step: &Step, number: Option<usize>, places: &dyn Places) -> Option<Told> {
    let action = match step.kind {
        Some(kind) => sentence(step, kind, places),
        None => format!("starts {}", step.starts.as_ref()?),
    };
    Some(Told {
        process: step.actor.process.clone(),
        action,
        span: step.actor.span,
        partner: step.partner.as_ref().map(|place| (place.process.clone(), place.span)),
        choice: step.kind == Some(ActionKind::Branch),
        number,
    })
}

fn sentence(step: &Step, kind: ActionKind, places: &dyn Places) -> String {
    let object = step.object.as_deref().map_or("nil".into(), |name| places.name(name));
    match kind {
        ActionKind::Meet => {
            let partner = step.partner.as_ref().map_or("", |partner| &partner.process);
            format!("sends on {object} to {partner}")
        }
        ActionKind::Put => format!("sends on {object}, into its buffer"),
        ActionKind::Get => format!("receives from {object}"),
        ActionKind::GetClosed => format!("receives from {object}, which is closed"),
        ActionKind::PutLost => format!("sends on {object}, which nobody receives from any more"),
        ActionKind::Close => format!("closes {object}"),
        ActionKind::Abandon => format!("abandons {object}"),
        ActionKind::Timeout => "takes the timeout".into(),
        ActionKind::Default => "takes the default".into(),
        ActionKind::Branch => format!("takes branch {}", step.case + 1),
        ActionKind::Lock => format!("locks {object}"),
        ActionKind::Unlock => format!("unlocks {object}"),
        ActionKind::ReadLock => format!("locks {object} for reading"),
        ActionKind::ReadUnlock => format!("unlocks {object} for reading"),
        ActionKind::Announce => format!("asks for {object}; new readers have to wait"),
        ActionKind::Add => format!("changes the counter of {object}"),
        ActionKind::Wait => format!("passes the wait on {object}"),
        ActionKind::Fault(fault) => format!("panics: {}", fault.message()),
    }
}

/// What a process waits for, as a sentence about it.
pub(crate) fn wish(machine: &Machine, waiting: &Waiting, places: &dyn Places) -> String {
    let name = |want: &Want| match want.object {
        Some(object) => places.name(&machine.object_name(object)),
        None => "nil".into(),
    };
    if waiting.wants.is_empty() {
        return "waits for ever in an empty select".into();
    }
    if waiting.select {
        let mut cases: Vec<String> = Vec::new();
        for want in &waiting.wants {
            let case = match want.wish {
                Wish::Send => format!("send on {}", name(want)),
                Wish::Receive => format!("receive from {}", name(want)),
                _ => continue,
            };
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        return format!("waits in a select to {}", cases.join(" or "));
    }
    let want = &waiting.wants[0];
    match want.wish {
        Wish::Send if want.object.is_none() => "waits to send on a nil channel".into(),
        Wish::Receive if want.object.is_none() => "waits to receive from a nil channel".into(),
        Wish::Send => format!("waits to send on {}", name(want)),
        Wish::Receive => format!("waits to receive from {}", name(want)),
        Wish::Lock => format!("waits for the lock {}", name(want)),
        Wish::ReadLock => format!("waits for the read lock {}", name(want)),
        Wish::Zero => format!("waits for the wait group {}", name(want)),
        Wish::Proceed => "can go on".into(),
    }
}

/// A process that waits, with what it waits for.
pub(crate) fn culprit(machine: &Machine, waiting: &Waiting, places: &dyn Places) -> Culprit {
    Culprit {
        process: machine.process_name(waiting.process),
        span: waiting.span,
        says: wish(machine, waiting, places),
    }
}

/// Those that have not finished in a state.
fn left(
    machine: &Machine,
    state: &State,
    blocked: &[Blocked],
    places: &dyn Places,
) -> Vec<Culprit> {
    let mut enabled = Vec::new();
    machine.enabled(&mut state.clone(), &mut enabled);
    let waiting = machine.waiting(state);
    let others = blocked.iter().filter_map(|one| {
        let process = one.at.process.clone();
        let span = one.at.span;
        if let Some(message) = &one.panic {
            return Some(Culprit { process, span, says: format!("panicked: {message}") });
        }
        if one.spins {
            return Some(Culprit { process, span, says: "goes round for ever".into() });
        }
        let stands = waiting.iter().find(|waits| machine.process_name(waits.process) == process)?;
        let able = enabled.iter().any(|action| action.involves(stands.process));
        let says = if able { "can go on".into() } else { wish(machine, stands, places) };
        Some(Culprit { process, span, says })
    });
    others.filter(|one| places.place(one.span).is_some()).collect()
}

/// A place in words, with its preposition.
pub(crate) fn at(places: &dyn Places, span: Span) -> String {
    places.place(span).map_or(String::new(), |place| format!(" ({place})"))
}

/// A few of several, in words.
pub(crate) fn listed(culprits: &[Culprit], places: &dyn Places) -> String {
    const SHOWN: usize = 4;
    let mut texts: Vec<String> = culprits
        .iter()
        .take(SHOWN)
        .map(|one| format!("{} {}{}", one.process, one.says, at(places, one.span)))
        .collect();
    if culprits.len() > SHOWN {
        texts.push(format!("and {} more", culprits.len() - SHOWN));
    }
    texts.join("; ")
}
