//! The properties straight from their definitions, on the explicit graph of the one-step
//! semantics: slow, without components, reductions or arrays, written to be compared with.

use std::collections::{BTreeMap, HashMap, VecDeque};

use strait_calculus::{
    Action, ActionKind, Fault, Machine, ObjectId, ProcId, Program, Recording, State, Wish,
};
use strait_explore::System;
use strait_verify::Property;

/// A state with what can happen in it, in words of its own.
struct Node {
    state: State,
    steps: Vec<(Action, usize)>,
    over: bool,
    spins: bool,
}

/// Every property of a program by definition; `None` when it has more than `limit` states.
pub fn by_definition(program: &Program, limit: usize) -> Option<BTreeMap<Property, bool>> {
    let machine = Machine::new(program, Recording::Nothing);
    let nodes = nodes(&machine, limit)?;
    let mut holds: BTreeMap<Property, bool> =
        Property::ALL.into_iter().map(|property| (property, true)).collect();
    let mut refute = |property| {
        holds.insert(property, false);
    };
    for number in 0..nodes.len() {
        let node = &nodes[number];
        if node.over {
            for panic in machine.panics(&node.state).iter().filter(|panic| !panic.deliberate) {
                match panic.message.as_str() {
                    "send on closed channel"
                    | "close of closed channel"
                    | "close of nil channel" => refute(Property::ChannelSafe),
                    "negative waitgroup counter" => refute(Property::WaitGroupSafe),
                    _ => refute(Property::MutexSafe),
                }
            }
            refute(Property::NoTerminal);
            continue;
        }
        let waiting = machine.waiting(&node.state);
        if node.steps.is_empty() && !node.spins {
            refute(Property::NoTerminal);
            if !waiting.is_empty() {
                refute(Property::NoDeadlock);
            }
        }
        if node.spins || comes_back(&nodes, number) {
            refute(Property::NoCycle);
        }
        for one in waiting {
            let moves = |action: &Action| action.involves(one.process);
            if !possible(&nodes, number, &moves) {
                refute(Property::Live);
                let wants = one.wants.iter().find(|want| {
                    matches!(want.wish, Wish::Lock | Wish::ReadLock) && want.object.is_some()
                });
                let object = wants.and_then(|want| want.object);
                if object.is_some_and(|object| may_hold(&nodes, number, one.process, object)) {
                    refute(Property::MutexSafe);
                }
            }
        }
        for object in machine.buffered(&node.state) {
            let receives =
                |action: &Action| action.object == Some(object) && action.kind == ActionKind::Get;
            if !possible(&nodes, number, &receives) {
                refute(Property::EventualReception);
            }
        }
        if races(&machine, node) {
            refute(Property::WaitGroupSafe);
        }
    }
    Some(holds)
}

fn nodes(machine: &Machine, limit: usize) -> Option<Vec<Node>> {
    let mut numbers: HashMap<State, usize> = HashMap::new();
    let mut nodes: Vec<Node> = Vec::new();
    let mut queue = VecDeque::new();
    let mut states = Vec::new();
    let mut number_of = |state: State, queue: &mut VecDeque<usize>, states: &mut Vec<State>| {
        *numbers.entry(state.clone()).or_insert_with(|| {
            states.push(state);
            queue.push_back(states.len() - 1);
            states.len() - 1
        })
    };
    number_of(normal(machine.start()), &mut queue, &mut states);
    while let Some(number) = queue.pop_front() {
        let mut state = states[number].clone();
        let condition = machine.condition(&state);
        let mut enabled = Vec::new();
        machine.enabled(&mut state, &mut enabled);
        if condition.panicked {
            enabled.clear();
        }
        if condition.runaway.is_some() || states.len() > limit {
            return None;
        }
        let mut steps = Vec::new();
        for action in enabled {
            let mut next = state.clone();
            machine.step(&mut next, &action);
            steps.push((action, number_of(normal(next), &mut queue, &mut states)));
        }
        nodes.push(Node { state, steps, over: condition.panicked, spins: condition.spins });
    }
    Some(nodes)
}

/// Without what only remembers how the state was made.
fn normal(state: State) -> State {
    use strait_explore::Stateful;
    thread_local!(static ANY: Machine = {
        let program = strait_calculus::parse("main {}").expect("a program");
        Machine::new(&program, Recording::Nothing)
    });
    ANY.with(|machine| {
        let mut bytes = Vec::new();
        machine.encode(&state, &mut bytes);
        let mut again = state;
        machine.decode(&bytes, &mut again);
        again
    })
}

/// Can a step of this kind, or a panic, still happen?
fn possible(nodes: &[Node], start: usize, wanted: &dyn Fn(&Action) -> bool) -> bool {
    let mut seen = vec![false; nodes.len()];
    let mut work = vec![start];
    while let Some(number) = work.pop() {
        if std::mem::replace(&mut seen[number], true) {
            continue;
        }
        if nodes[number].over || nodes[number].steps.iter().any(|(action, _)| wanted(action)) {
            return true;
        }
        work.extend(nodes[number].steps.iter().map(|(_, target)| *target));
    }
    false
}

fn comes_back(nodes: &[Node], start: usize) -> bool {
    let mut seen = vec![false; nodes.len()];
    let mut work: Vec<usize> = nodes[start].steps.iter().map(|(_, target)| *target).collect();
    while let Some(number) = work.pop() {
        if number == start {
            return true;
        }
        if !std::mem::replace(&mut seen[number], true) {
            work.extend(nodes[number].steps.iter().map(|(_, target)| *target));
        }
    }
    false
}

/// Is there an execution to this state after which the process holds the lock? The states are
/// multiplied with who holds it.
fn may_hold(nodes: &[Node], goal: usize, process: ProcId, object: ObjectId) -> bool {
    let mut seen = std::collections::HashSet::new();
    let mut work = vec![(0usize, false, 0i32)];
    while let Some((number, owns, reading)) = work.pop() {
        if !seen.insert((number, owns, reading)) {
            continue;
        }
        if number == goal && (owns || reading > 0) {
            return true;
        }
        for (action, target) in &nodes[number].steps {
            let (mut owns, mut reading) = (owns, reading);
            if action.object == Some(object) {
                match action.kind {
                    ActionKind::Lock => owns = action.actor == process,
                    ActionKind::Unlock => owns = false,
                    ActionKind::ReadLock if action.actor == process => reading += 1,
                    ActionKind::ReadUnlock if action.actor == process => reading -= 1,
                    _ => {}
                }
            }
            if reading.abs() < 4 {
                work.push((*target, owns, reading));
            }
        }
    }
    false
}

/// May a wait be passed while another process is about to add?
fn races(machine: &Machine, node: &Node) -> bool {
    node.steps.iter().any(|(wait, _)| {
        wait.kind == ActionKind::Wait
            && node.steps.iter().any(|(add, _)| {
                add.kind == ActionKind::Add
                    && add.object == wait.object
                    && machine.amount(&node.state, add) > 0
            })
    })
}

#[test]
fn faults_have_the_messages_that_the_checks_know() {
    for (fault, message) in [
        (Fault::SendOnClosed, "send on closed channel"),
        (Fault::CloseOfClosed, "close of closed channel"),
        (Fault::UnlockOfUnlocked, "unlock of unlocked mutex"),
        (Fault::UnlockOfUnlockedRw, "unlock of unlocked rwmutex"),
        (Fault::RUnlockOfUnlocked, "runlock of unlocked rwmutex"),
        (Fault::NegativeCounter, "negative waitgroup counter"),
    ] {
        assert_eq!(fault.message(), message);
    }
}
