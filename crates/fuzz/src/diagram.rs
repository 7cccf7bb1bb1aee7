//! A fault of a program as a space-time diagram. Of a hang: an order in which the processes come to where they
//! were found waiting. Of a wrong answer: how far any schedule gets with what the processes saw.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use strait_calculus::{
    Action, Execution, Explainer, Explanation, Machine, Observation, Program, Recording, Span,
    State, draw, excerpt, line_number, parse, print,
};
use strait_diagram::{Diagram, End, EndState, SourcePlace};
use strait_explore::System;
use strait_runtimes::harness::plan::At;
use strait_runtimes::harness::record::{Path, path_name};
use strait_runtimes::{Record, lower_with_places, observation};

use crate::discover::told_event;
use crate::evidence::{Evidence, Mischief};
use crate::judge::Fault;

/// States that the search for an order may visit.
const STATES: usize = 20_000;

/// The diagram of a fault; `None` for a fault that has no order, such as a crash.
pub fn diagram(program: &Program, fault: &Fault, title: &str) -> Option<Diagram> {
    // Its own text gives the program the positions that the finding shows.
    let source = print(program);
    let program = parse(&source).ok()?;
    match fault {
        Fault::Hang { stuck, record, .. } => hang(&program, &source, stuck, record, title),
        Fault::Wrong(_, evidence) => wrong(&program, &source, evidence, title),
        Fault::Crash(_) | Fault::Panic(_) | Fault::Anomaly(_) | Fault::Refused(_) => None,
    }
}

fn hang(
    program: &Program,
    source: &str,
    stuck: &[(Path, At)],
    record: &Record,
    title: &str,
) -> Option<Diagram> {
    let (_, places) = lower_with_places(program).ok()?;
    let place = |at: &At| places.get(at.0 as usize).copied().filter(|span| !span.is_none());
    let waiting: BTreeMap<Path, Span> =
        stuck.iter().filter_map(|(path, at)| Some((path.clone(), place(at)?))).collect();
    if waiting.is_empty() {
        return None;
    }
    let seen = Observation { finished: false, ..observation(record) };
    let machine = Machine::new(program, Recording::Against(Arc::new(seen)));
    let mut names: BTreeMap<Path, String> = BTreeMap::new();
    let mut diagram = match order(&machine, &waiting) {
        Some(found) => {
            names.extend(found.names);
            let mut diagram =
                draw(&Execution { machine: &machine, trace: &found.trace, source }, title);
            diagram.description =
                "One order that leads to where the processes were found waiting. \
                The target may have taken another one."
                    .to_owned();
            diagram
        }
        None => {
            let mut diagram = Diagram::new(title);
            diagram.description =
                "Where the processes were found waiting. How they came there is not known."
                    .to_owned();
            diagram
        }
    };
    for (path, span) in waiting {
        let name = names.get(&path).cloned().unwrap_or_else(|| path_name(&path));
        let lane = diagram.lane(&name);
        let line = SourcePlace::line(line_number(source, span));
        let label = excerpt(source, span);
        diagram.end(lane, End::new(EndState::Waiting, label, Some(line)));
    }
    Some(diagram)
}

/// An order, and what the processes are called in it.
struct Order {
    trace: Vec<Action>,
    names: Vec<(Path, String)>,
}

/// An order after which just these processes wait, each at its place.
fn order(machine: &Machine, waiting: &BTreeMap<Path, Span>) -> Option<Order> {
    let is_there = |state: &State| {
        let standing = machine.waiting(state);
        standing.len() == waiting.len()
            && standing.iter().all(|one| {
                let place = waiting.get(&machine.process_path(one.process));
                // Spans compare equal whatever they are.
                place
                    .is_some_and(|place| (place.start, place.end) == (one.span.start, one.span.end))
            })
    };
    let mut seen: HashSet<State> = HashSet::new();
    let mut path: Vec<(Action, Vec<Action>)> = Vec::new();
    let mut state = machine.start();
    let mut enabled = Vec::new();
    seen.insert(state.clone());
    let mut untried = Vec::new();
    loop {
        if is_there(&state) {
            let standing = machine.waiting(&state);
            let name = |one: &strait_calculus::Waiting| {
                (machine.process_path(one.process), machine.process_name(one.process))
            };
            let trace = path.into_iter().map(|(action, _)| action).collect();
            return Some(Order { trace, names: standing.iter().map(name).collect() });
        }
        machine.enabled(&mut state, &mut enabled);
        untried.clone_from(&enabled);
        // The next state that was not seen before, here or at an earlier step.
        loop {
            if seen.len() > STATES {
                return None;
            }
            let Some(action) = untried.pop() else {
                let (_, others) = path.pop()?;
                untried = others;
                state = after(machine, &path);
                continue;
            };
            let mut next = state.clone();
            machine.step(&mut next, &action);
            if seen.insert(next.clone()) {
                path.push((action, std::mem::take(&mut untried)));
                state = next;
                break;
            }
        }
    }
}

fn after(machine: &Machine, path: &[(Action, Vec<Action>)]) -> State {
    let mut state = machine.start();
    path.iter().for_each(|(action, _)| machine.step(&mut state, action));
    state
}

fn wrong(program: &Program, source: &str, evidence: &Evidence, title: &str) -> Option<Diagram> {
    let (explainer, core) = (Explainer::new(program), &evidence.core);
    let explanation = match core.finished {
        true => explainer.explain(core, STATES),
        false => explainer.explain_beginning(core, STATES),
    };
    let Explanation::Impossible { furthest, .. } = explanation else { return None };
    let (machine, trace) = furthest.steps()?;
    let mut diagram = draw(&Execution { machine: &machine, trace: &trace, source }, title);
    let what = match &evidence.mischief {
        Mischief::Other => String::new(),
        mischief => format!(": {mischief}"),
    };
    diagram.description = format!(
        "No schedule gives what the processes saw{what}. This is as far as any schedule gets."
    );
    for (name, events) in &core.processes {
        if events.is_empty() {
            continue;
        }
        let seen: Vec<String> = events.iter().map(told_event).collect();
        let lane = diagram.lane(name);
        let place = diagram.lanes[lane.index()].end.place.clone();
        diagram.end(lane, End::new(EndState::Wrong, format!("saw: {}", seen.join(", ")), place));
    }
    Some(diagram)
}

#[cfg(test)]
mod tests {
    use strait_calculus::{Event, Seen};
    use strait_diagram::{overlapping_texts, svg};

    use super::*;
    use crate::evidence::evidence;

    fn stuck_at(program: &Program, waits: &[(&[u32], &str)]) -> Vec<(Path, At)> {
        let source = print(program);
        let (_, places) = lower_with_places(&parse(&source).expect("a program")).expect("a plan");
        let at = |statement: &str| {
            let mut spans = places.iter().enumerate();
            let found =
                spans.find(|(_, span)| !span.is_none() && excerpt(&source, **span) == statement);
            At(found.expect("the statement is in the plan").0 as u32)
        };
        waits.iter().map(|(path, statement)| (path.to_vec(), at(statement))).collect()
    }

    #[test]
    fn a_hang_shows_how_the_processes_came_there() {
        let program = parse(
            "main { chan c: int; chan d: int; spawn { put c 1; x = get d }; y = get c; put d 2 }",
        )
        .expect("a program");
        let stuck = stuck_at(&program, &[(&[], "put d 2"), (&[1], "x = get d")]);
        let one = strait_runtimes::harness::record::Event::Received(
            strait_runtimes::harness::plan::Value::Int(1),
        );
        let record = Record { processes: vec![(vec![], vec![one])], finished: false };
        let fault = Fault::Hang { stuck, record, dump: String::new() };
        let diagram = diagram(&program, &fault, "hangs").expect("a diagram");
        let ends: Vec<EndState> = diagram.lanes.iter().map(|lane| lane.end.state).collect();
        assert_eq!(ends, [EndState::Waiting, EndState::Waiting]);
        assert_eq!(diagram.arrows.len(), 2, "a start and the message that arrived: {diagram:?}");
        assert_eq!(diagram.bad_lines().len(), 2);
        assert_eq!(overlapping_texts(&svg(&diagram)), Vec::<String>::new());
    }

    #[test]
    fn a_wrong_answer_shows_what_was_seen() {
        let program =
            parse("main { chan c: int[2]; spawn { put c 1; put c 2 }; x = get c; y = get c }")
                .expect("a program");
        let received = |value| Event::Received(Seen::Int(value));
        let processes = [("main".to_owned(), vec![received(1), received(1)])];
        let seen = Observation { processes: processes.into(), finished: true };
        let found = evidence(&program, &Explainer::new(&program), &seen);
        let fault = Fault::Wrong(Record::default(), Box::new(found));
        let diagram = diagram(&program, &fault, "doubled").expect("a diagram");
        assert_eq!(diagram.lanes[0].end.state, EndState::Wrong);
        assert_eq!(diagram.lanes[0].end.label, "saw: received 1, received 1");
        assert!(diagram.description.contains("received twice"), "{}", diagram.description);
    }
}
