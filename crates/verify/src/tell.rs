//! Traces and waiting processes as values for people: who does what, at which place, on what.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use strait_calculus::{
    Action, ActionKind, Blocked, Machine, Span, State, Step, Waiting, Want, Wish,
};
use strait_explore::System;

use crate::doing::{Doing, SelectCase, StepAction, Wait};
use crate::places::Places;
use crate::verdict::{Culprit, Trace, TraceStep};

/// What people call the processes of one execution: a process is named after the function that it
/// runs, with a number from the second one on.
pub(crate) struct Names(HashMap<String, String, FxBuildHasher>);

impl Names {
    /// The names in an execution.
    pub(crate) fn on(machine: &Machine, way: &[Action], places: &dyn Places) -> Names {
        Names::of(&machine.narrate(way).0, places)
    }

    fn of(steps: &[Step], places: &dyn Places) -> Names {
        let mut names = HashMap::default();
        let mut counts: HashMap<String, u32, FxBuildHasher> = HashMap::default();
        if let Some(main) = places.function("main") {
            counts.insert(main.clone(), 1);
            names.insert("main".to_owned(), main);
        }
        for step in steps {
            let function = step.runs.as_ref().and_then(|function| places.function(function));
            let (Some(process), Some(function)) = (&step.starts, function) else { continue };
            if names.contains_key(process) {
                continue;
            }
            let count = counts.entry(function.clone()).or_insert(0);
            *count += 1;
            let name = if *count == 1 { function } else { format!("{function}#{count}") };
            names.insert(process.clone(), name);
        }
        Names(names)
    }

    pub(crate) fn get(&self, process: &str) -> String {
        self.0.get(process).map_or_else(|| process.to_owned(), Clone::clone)
    }
}

/// Tells a trace.
pub(crate) fn trace(
    machine: &Machine,
    actions: Vec<Action>,
    cycle: Option<usize>,
    places: &dyn Places,
) -> Trace {
    let (steps, blocked) = machine.narrate(&actions);
    let names = Names::of(&steps, places);
    let mut told: Vec<TraceStep> = Vec::new();
    let (mut number, mut cycle_told) = (0, None);
    for step in &steps {
        if cycle == Some(number) && cycle_told.is_none() && step.kind.is_some() {
            cycle_told = Some(told.len());
        }
        let own = step.kind.map(|_| number);
        if places.place(step.actor.span).is_some() {
            told.extend(tell(step, own, places, &names));
        }
        number += usize::from(step.kind.is_some());
    }
    let mut state = machine.start();
    for action in &actions {
        machine.step(&mut state, action);
    }
    let mut left = left(machine, &state, &blocked, places, &names);
    // A process that panics in the last step is told there.
    if let Some(last) = told.last().filter(|step| matches!(step.action, StepAction::Panics { .. }))
    {
        left.retain(|one| one.process != last.process);
    }
    Trace { actions, steps: told, cycle: cycle_told, left }
}

fn tell(
    step: &Step,
    number: Option<usize>,
    places: &dyn Places,
    names: &Names,
) -> Option<TraceStep> {
    let action = match step.kind {
        Some(kind) => action(step, kind, places, names),
        None => StepAction::Starts(names.get(step.starts.as_ref()?)),
    };
    Some(TraceStep {
        process: names.get(&step.actor.process),
        action,
        span: step.actor.span,
        place: places.place(step.actor.span),
        partner: step.partner.as_ref().map(|place| (names.get(&place.process), place.span)),
        number,
    })
}

fn action(step: &Step, kind: ActionKind, places: &dyn Places, names: &Names) -> StepAction {
    let object = step.object.as_deref().map_or("nil".into(), |name| places.name(name));
    match kind {
        ActionKind::Meet => {
            let receiver = step.partner.as_ref().map(|partner| names.get(&partner.process));
            StepAction::SendsTo { channel: object, receiver: receiver.unwrap_or_default() }
        }
        ActionKind::Put => StepAction::Puts(object),
        ActionKind::Get => StepAction::Gets(object),
        ActionKind::GetClosed => StepAction::GetsClosed(object),
        ActionKind::PutLost => StepAction::PutsLost(object),
        ActionKind::Close => StepAction::Closes(object),
        ActionKind::Abandon => StepAction::Abandons(object),
        ActionKind::Timeout => StepAction::Timeout,
        ActionKind::Default => StepAction::Default,
        ActionKind::Branch => StepAction::Branch(u32::from(step.case) + 1),
        ActionKind::Lock => StepAction::Locks(object),
        ActionKind::Unlock => StepAction::Unlocks(object),
        ActionKind::ReadLock => StepAction::ReadLocks(object),
        ActionKind::ReadUnlock => StepAction::ReadUnlocks(object),
        ActionKind::Announce => StepAction::Announces(object),
        ActionKind::Add => StepAction::Adds(object),
        ActionKind::Wait => StepAction::PassesWait(object),
        ActionKind::Fault(fault) => StepAction::Panics { fault, object },
    }
}

/// What a process waits for.
pub(crate) fn waits(machine: &Machine, waiting: &Waiting, places: &dyn Places) -> Doing {
    let channel = |want: &Want| want.object.map(|object| places.name(&machine.object_name(object)));
    let name = |want: &Want| channel(want).unwrap_or_else(|| "nil".into());
    if waiting.select && !waiting.wants.is_empty() {
        let mut cases: Vec<SelectCase> = Vec::new();
        for want in &waiting.wants {
            let case = match want.wish {
                Wish::Send => SelectCase::Send(channel(want)),
                Wish::Receive => SelectCase::Receive(channel(want)),
                _ => continue,
            };
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        return Doing::Waits(Wait::Select(cases));
    }
    let Some(want) = waiting.wants.first() else { return Doing::Waits(Wait::EmptySelect) };
    Doing::Waits(match want.wish {
        Wish::Send => Wait::Send(channel(want)),
        Wish::Receive => Wait::Receive(channel(want)),
        Wish::Lock => Wait::Lock(name(want)),
        Wish::ReadLock => Wait::ReadLock(name(want)),
        Wish::Zero => Wait::WaitGroup(name(want)),
        Wish::Proceed => return Doing::CanGoOn,
    })
}

/// A process that waits, with what it waits for.
pub(crate) fn culprit(
    machine: &Machine,
    waiting: &Waiting,
    places: &dyn Places,
    names: &Names,
) -> Culprit {
    Culprit {
        process: names.get(&machine.process_name(waiting.process)),
        span: waiting.span,
        place: places.place(waiting.span),
        doing: waits(machine, waiting, places),
    }
}

/// The processes that have not finished in a state.
fn left(
    machine: &Machine,
    state: &State,
    blocked: &[Blocked],
    places: &dyn Places,
    names: &Names,
) -> Vec<Culprit> {
    let mut enabled = Vec::new();
    machine.enabled(&mut state.clone(), &mut enabled);
    let waiting = machine.waiting(state);
    let others = blocked.iter().filter_map(|one| {
        let place = Some(places.place(one.at.span)?);
        let stands =
            waiting.iter().find(|waits| machine.process_name(waits.process) == one.at.process);
        let able = |stands: &Waiting| enabled.iter().any(|step| step.involves(stands.process));
        let doing = match (&one.panic, stands) {
            (Some(cause), _) => Doing::Panicked(cause.clone()),
            (None, _) if one.spins => Doing::Spins,
            (None, Some(stands)) if able(stands) => Doing::CanGoOn,
            (None, Some(stands)) => waits(machine, stands, places),
            (None, None) => return None,
        };
        Some(Culprit { process: names.get(&one.at.process), span: one.at.span, place, doing })
    });
    others.collect()
}

/// A place in words, in parentheses.
pub(crate) fn at(places: &dyn Places, span: Span) -> String {
    places.place(span).map_or(String::new(), |place| format!(" ({place})"))
}
