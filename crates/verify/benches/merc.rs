//! Bench: every property against the merc crates, on the same graph in one run: n dining philosophers
//! with mutexes as forks, all states. A property is for merc the formula that says at most as much
//! about this graph; both sides begin with the graph in memory, and times are CPU-seconds.
//!
//! `cargo bench -p strait-verify --features merc --bench merc [-- N…]`; n = 12 has more than a million
//! states and ten million steps, and merc needs minutes and gigabytes for it.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write;

use merc_lts::{LabelledTransitionSystem, read_aut};
use merc_syntax::UntypedStateFrmSpec;
use merc_vpg::{solve_zielonka, translate};
use strait_calculus::{Program, parse};
use strait_verify::{Budget, Model, Nowhere, Property, Reduction, check_property};

fn philosophers(count: usize) -> Program {
    let mut text = String::from(
        "fn philosopher(first: mutex, second: mutex) {\n\
             while true { lock first; lock second; unlock second; unlock first }\n}\nmain {\n",
    );
    for fork in 0..count {
        text += &format!("mutex f{fork}\n");
    }
    for left in 0..count {
        let (first, second) = (left.min((left + 1) % count), left.max((left + 1) % count));
        text += &format!("spawn philosopher(f{first}, f{second})\n");
    }
    text += "}\n";
    parse(&text).expect("a correct program")
}

/// What merc is asked instead. Steps are named after the process that takes them: `p1`, `p2`, …
fn formula(property: Property) -> &'static str {
    match property {
        // No philosopher is ever finished here, so one of them always waits.
        Property::NoDeadlock | Property::NoLeak | Property::NoTerminal => "[true*]<true>true",
        // For one of the processes; the property is about all of them.
        Property::Live => "[true*]<true*.p1>true",
        Property::ChannelSafe | Property::MutexSafe | Property::WaitGroupSafe => {
            "[true*.panic]false"
        }
        // Every philosopher comes back for its forks.
        Property::LocksReleased => "true",
        Property::EventualReception => "[true*.put]<true*.get>true",
        Property::NoCycle => "mu X. [true]X",
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = arguments.iter().filter_map(|one| one.parse().ok()).collect();
    let measured = arguments.iter().any(|argument| argument == "--bench");
    let sizes = match (sizes.is_empty(), measured) {
        (false, _) => sizes,
        (true, true) => vec![8, 12],
        (true, false) => vec![3],
    };
    for count in sizes {
        compare(count);
    }
}

fn compare(count: usize) {
    let program = philosophers(count);
    let budget = Budget {
        reduction: Reduction::Never,
        states: u64::MAX,
        memory: 8 << 30,
        ..Budget::default()
    };
    let model = Model::explore(&program, &budget);
    let (states, steps) = (model.space.states(), model.space.transitions());
    println!("n = {count}: {states} states, {steps} steps; CPU-seconds ours, merc's, ratio");
    let graph = graph(&model);
    for property in Property::ALL {
        let started = cpu_seconds();
        let ours = check_property(&program, &model, property, &Nowhere).holds();
        let own = cpu_seconds() - started;
        let asked = UntypedStateFrmSpec::parse(formula(property)).expect("a formula").formula;
        let started = cpu_seconds();
        let game = translate(&graph, &asked).expect("a game");
        let theirs = solve_zielonka(&game, false).0[0][0];
        let other = cpu_seconds() - started;
        assert_eq!(ours, Some(theirs), "{property}");
        // The clock counts hundredths.
        let ratio = other / own.max(0.01);
        println!("  {property:<20} {own:>8.2} {other:>8.2} {ratio:>8.0}");
    }
}

/// The graph for merc: labels are processes.
fn graph(model: &Model<'_>) -> LabelledTransitionSystem<String> {
    let mut text = format!("des (0, {}, {})\n", model.space.transitions(), model.space.states());
    let actions = model.space.actions();
    for state in 0..model.space.states() {
        for (label, target) in model.space.steps(state) {
            let process = actions[label as usize].actor.0;
            writeln!(text, "({state}, \"p{process}\", {target})").expect("text");
        }
    }
    read_aut(text.as_bytes()).expect("a graph")
}

/// CPU time of this process so far; other programs do not disturb it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
