//! Bench: every property, and a formula, on n dining philosophers with mutexes as forks, all states.
//!
//! `cargo bench -p strait-verify --bench properties [-- N…] [--aut FILE]`; n = 12 has more
//! than a million states and ten million steps. Times are CPU-seconds of this process. With `--aut` the graph of the last n is written for peers.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::Write;

use strait_calculus::{Program, parse};
use strait_verify::{
    Budget, Formula, Model, Nowhere, Property, Reduction, check_formula, check_property, verify,
};

fn philosophers(count: usize) -> Program {
    let mut text = String::from(
        "fn philosopher(first: mutex, second: mutex) {\n\
             while true { lock first; lock second; unlock second; unlock first }\n}\nmain {\n",
    );
    for fork in 0..count {
        text += &format!("mutex f{fork}\n");
    }
    for left in 0..count {
        // The last one takes the other fork first, so that no property fails early.
        let (first, second) = (left.min((left + 1) % count), left.max((left + 1) % count));
        text += &format!("spawn philosopher(f{first}, f{second})\n");
    }
    text += "}\n";
    parse(&text).expect("a correct program")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = arguments.iter().filter_map(|one| one.parse().ok()).collect();
    let measured = arguments.iter().any(|argument| argument == "--bench");
    let sizes = match (sizes.is_empty(), measured) {
        (false, _) => sizes,
        (true, true) => vec![5, 10, 12],
        // Under `cargo test` nobody reads figures.
        (true, false) => vec![3],
    };
    for count in &sizes {
        measure(*count);
    }
    let aut = arguments.iter().position(|one| one == "--aut").and_then(|at| arguments.get(at + 1));
    if let (Some(path), Some(count)) = (aut, sizes.last()) {
        write_aut(path, *count).expect("the graph is written");
    }
}

fn measure(count: usize) {
    let program = philosophers(count);
    let started = cpu_seconds();
    verify(&program, &Property::ALL, &Budget::default(), &Nowhere);
    println!("n = {count}: all properties as users ask for them: {:.3} s", seconds(started));
    let budget = Budget {
        reduction: Reduction::Never,
        states: u64::MAX,
        memory: 8 << 30,
        ..Budget::default()
    };
    let started = cpu_seconds();
    let model = Model::explore(&program, &budget);
    let (states, steps) = (model.space.states(), model.space.transitions());
    println!("  {states} states, {steps} steps, built in {:.3} s", seconds(started));
    for property in Property::ALL {
        let started = cpu_seconds();
        let verdict = check_property(&program, &model, property, &Nowhere);
        println!(
            "  {property:<20} {:<12} {:.3} s",
            format!("{:?}", verdict.holds()),
            seconds(started)
        );
    }
    for text in ["nu X. [true]X && <true>true", "[true*]<true*.lock(f0)>true"] {
        let formula = Formula::parse(text).expect("a formula");
        let started = cpu_seconds();
        let verdict = check_formula(&model, &formula, &Nowhere);
        println!("  {text:<28} {:<12} {:.3} s", format!("{:?}", verdict.holds()), seconds(started));
    }
}

fn seconds(started: f64) -> f64 {
    cpu_seconds() - started
}

/// CPU time of this process so far, where the system tells it; other programs do not disturb it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The graph in Aldebaran format.
fn write_aut(path: &str, count: usize) -> std::io::Result<()> {
    let budget = Budget {
        reduction: Reduction::Never,
        states: u64::MAX,
        memory: 8 << 30,
        ..Budget::default()
    };
    let model = Model::explore(&philosophers(count), &budget);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "des (0, {}, {})", model.space.transitions(), model.space.states())?;
    let labels: Vec<String> =
        model.space.actions().iter().map(|action| model.machine.label(action)).collect();
    for state in 0..model.space.states() {
        for (label, target) in model.space.steps(state) {
            writeln!(file, "({state}, \"{}\", {target})", labels[label as usize])?;
        }
    }
    file.flush()
}
