//! The properties straight from their definitions, on the explicit graph of the one-step
//! semantics: slow, without components, reductions or arrays, written to be compared with.

use std::collections::{BTreeMap, HashMap, VecDeque};

use strait_calculus::{
    Action, ActionKind, Fault, Holding, Machine, ObjectId, PanicCause, ProcId, Program, Recording,
    State, Waiting, Wish,
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
    let mut depends_on_the_way = false;
    let mut refute = |property| {
        holds.insert(property, false);
    };
    for number in 0..nodes.len() {
        let node = &nodes[number];
        if node.over {
            for panic in machine.panics(&node.state) {
                match panic.cause {
                    PanicCause::Statement(_) => {}
                    PanicCause::Fault(Fault::NegativeCounter) => refute(Property::WaitGroupSafe),
                    PanicCause::Fault(
                        Fault::UnlockOfUnlocked
                        | Fault::UnlockOfUnlockedRw
                        | Fault::RUnlockOfUnlocked,
                    ) => refute(Property::MutexSafe),
                    _ => refute(Property::ChannelSafe),
                }
            }
            refute(Property::NoTerminal);
            continue;
        }
        let waiting = machine.waiting(&node.state);
        if node.steps.is_empty() && !node.spins {
            refute(Property::NoTerminal);
            if waiting.iter().any(|one| one.process == ProcId(0) && !one.wants.is_empty()) {
                refute(Property::NoDeadlock);
            }
        }
        if node.spins || comes_back(&nodes, number) {
            refute(Property::NoCycle);
        }
        let main_has_finished = !machine.is_unfinished(&node.state, ProcId(0));
        for one in waiting {
            let moves = |action: &Action| action.involves(one.process);
            if !possible(&nodes, number, &moves) {
                // An empty select is meant to wait, but does not end with `main`. Where `main` waits in
                // one, a process that waits for its next message is idle.
                let idle = || is_idle(&machine, &one) && may_serve(&machine, &nodes, number);
                if !one.wants.is_empty() && !idle() {
                    refute(Property::Live);
                }
                if main_has_finished {
                    refute(Property::NoLeak);
                }
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
        for (object, holding) in machine.held_locks(&node.state) {
            match kept(&machine, &nodes, number, object, holding) {
                Kept::No => {}
                Kept::Yes => refute(Property::LocksReleased),
                Kept::DependsOnTheWay => depends_on_the_way = true,
            }
        }
        if races(&machine, node) {
            refute(Property::WaitGroupSafe);
        }
    }
    // One way to the same state says that the holder is blocked, another that it is not.
    if depends_on_the_way && holds[&Property::LocksReleased] {
        holds.remove(&Property::LocksReleased);
    }
    Some(holds)
}

/// Is a lock that is held in a state never released, though no process waits for it or blocks with
/// it in its hands?
enum Kept {
    No,
    Yes,
    DependsOnTheWay,
}

fn kept(
    machine: &Machine,
    nodes: &[Node],
    number: usize,
    object: ObjectId,
    holding: Holding,
) -> Kept {
    let release = match holding {
        Holding::Exclusive => ActionKind::Unlock,
        Holding::Readers => ActionKind::ReadUnlock,
    };
    let released = |action: &Action| action.object == Some(object) && action.kind == release;
    if possible(nodes, number, &released) {
        return Kept::No;
    }
    let wanted = |one: &Waiting| {
        one.wants.iter().any(|want| {
            want.object == Some(object) && matches!(want.wish, Wish::Lock | Wish::ReadLock)
        })
    };
    let after = reachable(nodes, number);
    if after.iter().any(|later| machine.waiting(&nodes[*later].state).iter().any(wanted)) {
        return Kept::No;
    }
    // Only where everything has settled: from every later state one comes back.
    if after.iter().any(|later| !reachable(nodes, *later).contains(&number)) {
        return Kept::No;
    }
    let users = last_users(nodes, number, object, holding);
    let waiting = machine.waiting(&nodes[number].state);
    let blocked = |user: &ProcId| {
        let moves = |action: &Action| action.involves(*user);
        waiting.iter().any(|one| one.process == *user && !one.wants.is_empty())
            && !possible(nodes, number, &moves)
    };
    match (users.iter().any(blocked), users.iter().any(|user| !blocked(user))) {
        (_, false) => Kept::No,
        (false, true) => Kept::Yes,
        (true, true) => Kept::DependsOnTheWay,
    }
}

fn reachable(nodes: &[Node], start: usize) -> std::collections::BTreeSet<usize> {
    let mut seen = std::collections::BTreeSet::new();
    let mut work = vec![start];
    while let Some(number) = work.pop() {
        if seen.insert(number) {
            work.extend(nodes[number].steps.iter().map(|(_, target)| *target));
        }
    }
    seen
}

/// The processes that may have taken the lock last on some way to a state. The states are
/// multiplied with who holds it.
fn last_users(
    nodes: &[Node],
    goal: usize,
    object: ObjectId,
    holding: Holding,
) -> std::collections::BTreeSet<ProcId> {
    let (take, release) = match holding {
        Holding::Exclusive => (ActionKind::Lock, ActionKind::Unlock),
        Holding::Readers => (ActionKind::ReadLock, ActionKind::ReadUnlock),
    };
    let mut found = std::collections::BTreeSet::new();
    let mut seen = std::collections::HashSet::new();
    let mut work: Vec<(usize, Vec<ProcId>)> = vec![(0, vec![])];
    while let Some((number, users)) = work.pop() {
        if !seen.insert((number, users.clone())) || users.len() > 4 {
            continue;
        }
        if number == goal {
            found.extend(users.last());
        }
        for (action, target) in &nodes[number].steps {
            let mut users = users.clone();
            if action.object == Some(object) && action.kind == take {
                users.push(action.actor);
            } else if action.object == Some(object) && action.kind == release {
                let own = users.iter().rposition(|user| *user == action.actor);
                if let Some(last) = own.or(users.len().checked_sub(1)) {
                    users.remove(last);
                }
            }
            work.push((*target, users));
        }
    }
    found
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

/// Does the process wait for its next message, at a place to which it comes back?
fn is_idle(machine: &Machine, one: &Waiting) -> bool {
    one.wants.iter().all(|want| want.wish == Wish::Receive)
        && one.wants.iter().any(|want| want.object.is_some())
        && machine.waits_after(one.pc).iter().any(|span| span.start == one.span.start)
}

/// Can `main` still come to wait in an empty select?
fn may_serve(machine: &Machine, nodes: &[Node], start: usize) -> bool {
    let serves = |node: &Node| {
        let waiting = machine.waiting(&node.state);
        waiting.iter().any(|one| one.process == ProcId(0) && one.wants.is_empty())
    };
    let mut seen = vec![false; nodes.len()];
    let mut work = vec![start];
    while let Some(number) = work.pop() {
        if std::mem::replace(&mut seen[number], true) {
            continue;
        }
        if serves(&nodes[number]) {
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
