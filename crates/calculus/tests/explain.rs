//! `explain` against the truth. For each program the set of everything that can be seen of it is
//! collected by visiting every state; then these observations, and thousands of near misses made
//! from them, are explained: possible exactly if in the set.
//!
//! An observation that does not claim to be finished may end in any state, so the truth is what has
//! been seen in any reachable state, and for finished ones in those where every process is done.
//! `STRAIT_SEED` changes the near misses.

#[path = "common/rng.rs"]
mod rng;
#[path = "common/sources.rs"]
mod sources;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rng::Rng;
use sources::sources;
use strait_calculus::{
    Event, Explanation, Machine, Observation, Program, Recording, Seen, explain, parse,
};
use strait_explore::{Stateful, System};

/// Programs with more states are left out.
const STATES: usize = 3_000;
/// How many near misses are tried for each program.
const PERTURBED: usize = 60;

type Histories = BTreeMap<String, Vec<Event>>;

/// What can be seen of a program: whether all have finished, and what each process saw.
fn truth(program: &Program) -> Option<BTreeSet<(bool, Histories)>> {
    let machine = Machine::new(program, Recording::Everything);
    let mut truth = BTreeSet::new();
    let (mut visited, mut waiting) = (HashSet::new(), vec![machine.start()]);
    let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
    while let Some(mut state) = waiting.pop() {
        let mut bytes = Vec::new();
        machine.encode(&state, &mut bytes);
        if !visited.insert(bytes) {
            continue;
        }
        if visited.len() > STATES {
            return None;
        }
        outcomes.clear();
        machine.outcomes(&mut state, &mut outcomes);
        for outcome in &outcomes {
            // What is seen beside a panic, or beyond a limit, is not told.
            if outcome.panic.is_some() || outcome.limit.is_some() {
                return None;
            }
            let Observation { processes, finished } = outcome.observation();
            truth.insert((finished, processes.clone()));
            truth.insert((false, processes));
        }
        machine.enabled(&mut state, &mut actions);
        for action in &actions {
            let mut next = state.clone();
            machine.step(&mut next, action);
            waiting.push(next);
        }
    }
    Some(truth)
}

/// One thing changed.
fn perturbed(rng: &mut Rng, (finished, histories): &(bool, Histories)) -> (bool, Histories) {
    let (mut finished, mut histories) = (*finished, histories.clone());
    let names: Vec<String> = histories.keys().cloned().collect();
    let events = [
        Event::Received(Seen::Int(1)),
        Event::Received(Seen::Unit),
        Event::Closed,
        Event::Chose(0),
        Event::Defaulted,
        Event::TimedOut,
        Event::Observed(Seen::Int(1)),
    ];
    if names.is_empty() || rng.below(12) == 0 {
        let name = rng.pick(&["main", "main.1", "main.2", "main.1.1", "nobody"]).to_string();
        histories.entry(name).or_default().push(*rng.pick(&events));
        return (finished, histories);
    }
    let (name, other) = (rng.pick(&names).clone(), rng.pick(&names).clone());
    let elsewhere = *rng.pick(&histories[&other]);
    let history = histories.get_mut(&name).expect("a history of that name");
    let (at, with) = (rng.below(history.len()), rng.below(history.len()));
    match rng.below(9) {
        0 => drop(history.remove(at)),
        1 => drop(history.pop()),
        2 => history.insert(at, history[at]),
        3 => history.swap(at, with),
        4 => history[at] = changed(history[at]),
        5 => history[at] = elsewhere,
        6 => history.push(*rng.pick(&events)),
        7 => finished = !finished,
        _ => {
            let moved = history.remove(at);
            histories.entry(other).or_default().push(moved);
        }
    }
    histories.retain(|_, history| !history.is_empty());
    (finished, histories)
}

fn changed(event: Event) -> Event {
    match event {
        Event::Received(Seen::Int(value)) => Event::Received(Seen::Int(value + 1)),
        Event::Received(Seen::Bool(value)) => Event::Received(Seen::Bool(!value)),
        Event::Received(_) => Event::Closed,
        Event::Closed => Event::Received(Seen::Int(0)),
        Event::Chose(case) => Event::Chose(1 - case.min(1)),
        Event::Defaulted => Event::Chose(0),
        Event::TimedOut => Event::Defaulted,
        Event::Observed(Seen::Int(value)) => Event::Observed(Seen::Int(value - 1)),
        Event::Observed(_) => Event::Observed(Seen::Nil),
    }
}

/// Asks about one observation. A schedule that is given must lead there.
fn check(name: &str, program: &Program, asked: &(bool, Histories), expected: bool) {
    let (finished, processes) = asked.clone();
    let explanation = explain(program, &Observation { processes, finished });
    assert!(!matches!(explanation, Explanation::Unknown { .. }), "{name}");
    assert_eq!(explanation.is_possible(), expected, "{name}: {asked:?}");
    if let Explanation::Possible { schedule } = explanation {
        let (machine, trace) = schedule.steps().expect("the schedule can be followed");
        assert_eq!(trace.len(), schedule.len());
        let recording = Machine::new(program, Recording::Everything);
        let trace = machine.translate(&trace, &recording).expect("and by another machine");
        let mut state = recording.start();
        trace.iter().for_each(|action| recording.step(&mut state, action));
        let mut outcomes = Vec::new();
        recording.outcomes(&mut state, &mut outcomes);
        // Beside a panic nothing is told.
        if let [outcome] = &outcomes[..]
            && outcome.panic.is_none()
        {
            let found = outcome.observation();
            assert_eq!(found.processes, asked.1, "{name}");
            assert!(!finished || found.finished, "{name}");
        }
    }
}

/// Explains what is true and what is nearly true; tells how many of the near misses were untrue.
fn check_program(name: &str, program: &Program, rng: &mut Rng) -> Option<[usize; 2]> {
    let truth = truth(program)?;
    let all: Vec<&(bool, Histories)> = truth.iter().collect();
    let mut counts = [0, 0];
    for asked in all.iter().step_by(1 + all.len() / 100) {
        check(name, program, asked, true);
    }
    for _ in 0..PERTURBED {
        let original = rng_pick(rng, &all);
        let asked = perturbed(rng, original);
        let possible = truth.contains(&asked);
        check(name, program, &asked, possible);
        counts[usize::from(possible)] += 1;
    }
    Some(counts)
}

#[test]
fn explanations_of_the_corpus_are_right() {
    let seed = std::env::var("STRAIT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut rng = Rng(seed);
    let (mut programs, mut impossible, mut possible) = (0, 0, 0);
    for (name, source) in sources() {
        let program = parse(&source).expect("a program of the corpus");
        if let Some([untrue, true_after_all]) = check_program(&name, &program, &mut rng) {
            programs += 1;
            impossible += untrue;
            possible += true_after_all;
        }
    }
    assert!(programs >= 40, "only {programs} programs were small enough");
    assert!(impossible >= 1_000, "only {impossible} impossible observations");
    assert!(possible >= 200, "only {possible} possible ones among the near misses");
}

#[test]
fn explanations_of_small_programs_are_right() {
    let rows = [
        "main {}",
        "main { chan c: int; spawn { put c 1 }; spawn { put c 2 }; x = get c; y = get c }",
        "main { chan c: int[1]; spawn { put c 1; put c 2 }; x = get c; y = get c }",
        "main { chan c: int; spawn { put c 1 }; select { x = get c {} default {} } }",
        "main { chan c: int; chan d: int; spawn { put c 1 }; spawn { put d 1 }; select { x = get c {} x = get d {} timeout {} } }",
        "main { chan c: int[1]; spawn { close c }; x, ok = get c; y, ok = get c }",
        "main { chan c: int; spawn { abandon c }; put c 1; observe 1 }",
        "main { mutex m; spawn { lock m; observe 1; unlock m }; lock m; observe 2; unlock m }",
        "main { chan c: chan int; chan d: int; spawn { e = get c; x = get e }; put c d; put d 4 }",
        "main { choose { observe 1 } or { chan c: int; get c } }",
        // Endless, but what they see is finite.
        "main { mutex m; spawn { while true { lock m; unlock m } }; chan c: int; spawn { put c 1 }; x = get c }",
        "main { chan c: int; spawn { put c 1 }; mutex m; spawn { x = get c }; while true { lock m; unlock m } }",
        "main { chan c: int[1]; chan d: int; spawn { while true { put c 1; get c } }; spawn { put d 1 }; x = get d }",
        "main { rwmutex m; spawn { while true { rlock m; runlock m } }; lock m; unlock m; observe 1 }",
        "main { waitgroup w; spawn { while true { add w 1; done w } }; wait w; observe 1; wait w; observe 2 }",
        "main { chan c: int; spawn { while true { choose { } or { put c 1 } } }; x = get c; y = get c }",
        "main { chan c: int; abandon c; spawn { while true { put c 1 } }; chan d: int[1]; spawn { put d 1 }; x = get d }",
    ];
    let mut rng = Rng(7);
    let mut checked = 0;
    for source in rows {
        let program =
            parse(source).unwrap_or_else(|errors| panic!("{}", errors.render("", source)));
        checked += usize::from(check_program(source, &program, &mut rng).is_some());
    }
    // One of them gets forever: there is no end of what it may see.
    assert_eq!(checked, rows.len() - 1);
}

fn rng_pick<'a, T>(rng: &mut Rng, choices: &[&'a T]) -> &'a T {
    choices[rng.below(choices.len())]
}

/// Operations of random programs; `#` is a fresh number or, in every second program, always 1, so
/// that messages cannot be told apart.
const OPERATIONS: [&str; 30] = [
    "put a #",
    "put b #",
    "put a #",
    "put b #",
    "x# = get a",
    "x# = get b",
    "x# = get a",
    "x# = get b",
    "y#, ok# = get a",
    "close a",
    "close b",
    "abandon a",
    "abandon b",
    "observe #",
    "select { put a # {} z# = get b {} }",
    "select { put b # {} z# = get a {} }",
    "select { z# = get a {} w# = get b {} }",
    "select { put a # {} put b # {} }",
    "select { z# = get a {} default {} }",
    "select { z# = get b {} default { put a # } }",
    "select { put b # {} default {} }",
    "select { z# = get a {} put b # {} default {} }",
    "select { z# = get a {} timeout {} }",
    "choose { put a # } or { z# = get b }",
    "choose { } or { put b # }",
    "spawn { put a # }",
    "spawn { z# = get b; observe # }",
    "v# = get over; put v# #",
    "put over a",
    "put over b",
];

fn random_program(rng: &mut Rng) -> String {
    let kinds = ["int", "int", "int[1]", "int[2]", "int[unbounded]"];
    let over = ["chan int", "chan int[1]"];
    let (a, b, over) = (rng.pick(&kinds), rng.pick(&kinds), rng.pick(&over));
    let are_unique = rng.below(2) == 0;
    let mut number = 0;
    let mut body = |rng: &mut Rng| {
        let mut body = String::new();
        for _ in 0..1 + rng.below(4) {
            number += 1;
            let operation = rng.pick(&OPERATIONS);
            // Variables need names of their own in any case.
            let named = ["x#", "y#", "ok#", "z#", "w#", "v#"]
                .iter()
                .fold(operation.to_string(), |text, name| {
                    text.replace(name, &name.replace('#', &number.to_string()))
                });
            body += &named.replace('#', &if are_unique { number } else { 1 }.to_string());
            body += "\n";
        }
        body
    };
    let mut text = format!("main {{\nchan a: {a}\nchan b: {b}\nchan over: {over}\n");
    for _ in 0..1 + rng.below(3) {
        text += &format!("spawn {{\n{}}}\n", body(rng));
    }
    text + &body(rng) + "}\n"
}

#[test]
fn explanations_of_random_programs_are_right() {
    let seed = std::env::var("STRAIT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let programs = std::env::var("STRAIT_COUNT").ok().and_then(|count| count.parse().ok());
    let mut rng = Rng(seed);
    let (mut checked, mut counts) = (0, [0, 0]);
    for _ in 0..programs.unwrap_or(400) {
        let source = random_program(&mut rng);
        let program =
            parse(&source).unwrap_or_else(|errors| panic!("{}", errors.render("", &source)));
        if let Some(found) = check_program(&source, &program, &mut rng) {
            checked += 1;
            counts[0] += found[0];
            counts[1] += found[1];
        }
    }
    assert!(checked >= 100, "only {checked} programs have no panic");
    assert!(counts[0] >= 2_000 && counts[1] >= 400, "{counts:?}");
}
