//! An execution as a space-time diagram: one lane per process, arrows for messages, locks as spans, and how each
//! process stands at the end.

use std::collections::VecDeque;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use strait_diagram::{ArrowKind, Diagram, End, EndState, EventId, SourcePlace, Tracker};
use strait_explore::System;

use crate::language::excerpt::{excerpt, line_number};
use crate::language::index::ProcId;
use crate::language::span::Span;
use crate::machine::action::{Action, ActionKind};
use crate::machine::inspect::Wish;
use crate::machine::narrate::{Blocked, Place, Step};
use crate::machine::program::{Machine, State};

/// States that may be visited to find out that a process never moves again.
const STATES: usize = 5_000;
/// Steps that are drawn.
const STEPS: usize = 20_000;

/// An execution with what is needed to tell it.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// The machine that performs it.
    pub machine: &'a Machine,
    /// Its steps.
    pub trace: &'a [Action],
    /// The text of the program.
    pub source: &'a str,
}

/// The diagram of an execution.
pub fn draw(execution: &Execution<'_>, title: &str) -> Diagram {
    let machine = execution.machine;
    let trace = &execution.trace[..execution.trace.len().min(STEPS)];
    let (steps, blocked) = machine.narrate(trace);
    let mut drawing = Drawing {
        source: execution.source,
        diagram: Diagram::new(title),
        tracker: Tracker::default(),
    };
    drawing.diagram.lane("main");
    steps.iter().filter(|step| !step.creates).for_each(|step| drawing.step(step));
    let mut state = machine.start();
    trace.iter().for_each(|action| machine.step(&mut state, action));
    let movers = movers(machine, &state);
    let waiting = machine.waiting(&state);
    for one in &blocked {
        let found = waiting.iter().find(|own| machine.process_name(own.process) == one.at.process);
        let object = found.filter(|own| own.wants.len() == 1).and_then(|own| own.wants[0].object);
        let object = object.map(|object| machine.object_name(object));
        drawing.end(one, object.as_deref(), &movers);
    }
    drawing.waits(machine, &state);
    drawing.diagram
}

/// The processes that can move.
struct Movers {
    now: HashSet<ProcId, FxBuildHasher>,
    /// Now or later; `None` if there are too many states to see.
    later: Option<HashSet<ProcId, FxBuildHasher>>,
    names: Vec<(ProcId, String)>,
}

impl Movers {
    fn state(&self, process: &str) -> EndState {
        let is_in = |set: &HashSet<ProcId, FxBuildHasher>| {
            let mut named = self.names.iter().filter(|(_, name)| name == process);
            named.any(|(id, _)| set.contains(id))
        };
        match &self.later {
            _ if is_in(&self.now) => EndState::Running,
            Some(later) if !is_in(later) => EndState::Waiting,
            Some(_) | None => EndState::Blocked,
        }
    }
}

fn movers(machine: &Machine, state: &State) -> Movers {
    let mut enabled = Vec::new();
    machine.enabled(&mut state.clone(), &mut enabled);
    let involved = |actions: &[Action]| {
        let partners = actions.iter().filter_map(|action| action.partner.map(|(id, _)| id));
        actions.iter().map(|action| action.actor).chain(partners).collect::<Vec<_>>()
    };
    let now: HashSet<ProcId, FxBuildHasher> = involved(&enabled).into_iter().collect();
    let mut later = now.clone();
    let mut seen: HashSet<State, FxBuildHasher> = HashSet::default();
    let mut left = VecDeque::from([state.clone()]);
    seen.insert(state.clone());
    let mut complete = true;
    while let Some(mut next) = left.pop_front() {
        machine.enabled(&mut next, &mut enabled);
        later.extend(involved(&enabled));
        for action in &enabled {
            let mut after = next.clone();
            machine.step(&mut after, action);
            if seen.len() >= STATES {
                complete = false;
            } else if seen.insert(after.clone()) {
                left.push_back(after);
            }
        }
        if !complete {
            break;
        }
    }
    let names = state.processes().map(|(process, _)| (process, machine.process_name(process)));
    Movers { now, later: complete.then_some(later), names: names.collect() }
}

struct Drawing<'a> {
    source: &'a str,
    diagram: Diagram,
    tracker: Tracker,
}

impl Drawing<'_> {
    fn place(&self, span: Span) -> Option<SourcePlace> {
        (!span.is_none()).then(|| SourcePlace::line(line_number(self.source, span)))
    }

    /// The statement, with the object's own name if the statement calls it by another one.
    fn statement(&self, span: Span, object: Option<&str>) -> String {
        let text = excerpt(self.source, span);
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        match object {
            Some(object) if !text.split(|char| !is_part(char)).any(|word| word == object) => {
                format!("{text} ({object})")
            }
            _ => text,
        }
    }

    /// An event in a row of its own.
    fn event(&mut self, at: &Place, object: Option<&str>, more: &str) -> EventId {
        let lane = self.diagram.lane(&at.process);
        let label = format!("{}{more}", self.statement(at.span, object));
        let place = self.place(at.span);
        self.diagram.event(lane, label, place)
    }

    fn step(&mut self, step: &Step) {
        let message = step.message.as_deref().unwrap_or_default();
        // Unit says nothing.
        let received = match message {
            "" | "()" => String::new(),
            message => format!(" ← {message}"),
        };
        if let Some(child) = &step.starts {
            let event = self.event(&step.actor, None, "");
            self.diagram.start(event, child);
            return;
        }
        let Some(kind) = step.kind else {
            self.event(&step.actor, None, "");
            return;
        };
        let more = match kind {
            ActionKind::Get => received.clone(),
            ActionKind::GetClosed => ": closed".to_owned(),
            ActionKind::PutLost => ": no receiver any more".to_owned(),
            ActionKind::Default => ": default".to_owned(),
            ActionKind::Branch => format!(": branch {}", step.case + 1),
            ActionKind::Announce => ": waits to write".to_owned(),
            ActionKind::Fault(fault) => format!(": {}", fault.message()),
            _ => String::new(),
        };
        let own = step.object.as_deref();
        let event = self.event(&step.actor, own, &more);
        if let Some(partner) = &step.partner {
            let lane = self.diagram.lane(&partner.process);
            let label = format!("{}{received}", self.statement(partner.span, own));
            let place = self.place(partner.span);
            let met = self.diagram.event_beside(event, lane, label, place);
            self.diagram.arrow(event, met, ArrowKind::Message, message);
            return;
        }
        let object = own.unwrap_or("nil");
        let Drawing { diagram, tracker, .. } = self;
        match kind {
            ActionKind::Put => tracker.sent(object, event),
            ActionKind::Get => tracker.received(diagram, object, event, message),
            ActionKind::Close => tracker.closed(object, event),
            ActionKind::GetClosed => tracker.found_closed(diagram, object, event),
            ActionKind::Lock | ActionKind::ReadLock => diagram.acquire(event, object),
            ActionKind::Unlock | ActionKind::ReadUnlock => diagram.release(event, object),
            ActionKind::Add => tracker.changed(object, event),
            ActionKind::Wait => tracker.passed(diagram, object, event),
            ActionKind::Fault(_) => diagram.mark_bad(event),
            ActionKind::Meet
            | ActionKind::PutLost
            | ActionKind::Abandon
            | ActionKind::Timeout
            | ActionKind::Default
            | ActionKind::Branch
            | ActionKind::Announce => {}
        }
    }

    fn end(&mut self, one: &Blocked, object: Option<&str>, movers: &Movers) {
        let name = &one.at.process;
        let state = match &one.panic {
            Some(_) => EndState::Panicked,
            None if one.spins => EndState::Spinning,
            None => movers.state(name),
        };
        let cases = one.cases.iter().map(|span| excerpt(self.source, *span));
        let cases: Vec<String> = cases.collect();
        let label = match &one.panic {
            Some(cause) => cause.to_string(),
            None if cases.is_empty() => self.statement(one.at.span, object),
            None => format!("select: {}", cases.join(" | ")),
        };
        let place = self.place(one.at.span);
        let lane = self.diagram.lane(name);
        self.diagram.end(lane, End::new(state, label, place));
    }

    /// Who holds the locks that others wait for.
    fn waits(&mut self, machine: &Machine, state: &State) {
        for waiting in machine.waiting(state) {
            let name = machine.process_name(waiting.process);
            for want in &waiting.wants {
                let Some(object) = want.object else { continue };
                if !matches!(want.wish, Wish::Lock | Wish::ReadLock) {
                    continue;
                }
                let object = machine.object_name(object);
                let lane = self.diagram.lane(&name);
                for holder in self.diagram.holders(&object) {
                    self.diagram.wait(lane, holder, &object);
                }
            }
        }
    }
}
