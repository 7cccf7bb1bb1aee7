//! Bench: n dining philosophers, forks as processes, over rendezvous channels. States per second,
//! bytes per state, and how long it takes to decide whether they can deadlock.
//!
//! `cargo bench -p strait-calculus --bench philosophers [-- N…]`

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::Instant;

use strait_calculus::{Machine, Program, Recording, Verdict, parse};
use strait_explore::{StateOptions, states, states_until};

/// Philosophers who think (a step that involves no other process) and eat forever. With `polite` one of them takes the other fork first.
fn philosophers(count: usize, polite: bool) -> Program {
    let mut text = String::from(
        "fn fork(take: chan unit, drop: chan unit) { while true { get take; get drop } }\n\
         fn philosopher(take1: chan unit, drop1: chan unit, take2: chan unit, drop2: chan unit) {\n\
             while true { choose {}; put take1 (); put take2 (); put drop1 (); put drop2 () }\n\
         }\n\
         main {\n",
    );
    for fork in 0..count {
        text += &format!("chan t{fork}: unit\nchan d{fork}: unit\nspawn fork(t{fork}, d{fork})\n");
    }
    for left in 0..count {
        let right = (left + 1) % count;
        let (first, second) = if polite && left == 0 { (right, left) } else { (left, right) };
        text += &format!("spawn philosopher(t{first}, d{first}, t{second}, d{second})\n");
    }
    text += "}\n";
    parse(&text).expect("a correct program")
}

fn main() {
    let arguments: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    // Under `cargo test` nobody reads figures: one small round shows that it works.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let sizes = match (measured, arguments.is_empty()) {
        (_, false) => arguments,
        (true, true) => vec![8, 10, 12],
        (false, true) => vec![4],
    };
    println!("n   threads  states      transitions   seconds  CPU s   states/CPU s  bytes/state");
    for count in &sizes {
        for threads in [1, 2] {
            unreduced(*count, threads);
        }
    }
    println!("\nn   forks        can it deadlock?  states   seconds");
    for count in &sizes {
        for polite in [true, false] {
            can_deadlock(*count, polite);
        }
    }
}

fn unreduced(count: usize, threads: usize) {
    let machine = Machine::new(&philosophers(count, false), Recording::Nothing);
    let options = StateOptions { reduce: false, threads, ..StateOptions::default() };
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let found = states(&machine, &options);
    let (seconds, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let report = &found.report;
    println!(
        "{count:<3} {threads:<8} {:<11} {:<13} {seconds:<8.3} {cpu:<7.2} {:<13.0} {:.1}   {}",
        report.states,
        report.transitions,
        report.states as f64 / cpu.max(0.01),
        found.bytes as f64 / report.states as f64,
        report.coverage,
    );
}

/// CPU time of this process so far, where the system tells it; other programs do not disturb it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn can_deadlock(count: usize, polite: bool) {
    let machine = Machine::new(&philosophers(count, polite), Recording::Nothing);
    let options = StateOptions { reduce: true, ..StateOptions::default() };
    let started = Instant::now();
    let found = states_until(&machine, &options, |outcome| outcome.verdict == Verdict::Deadlock);
    let seconds = started.elapsed().as_secs_f64();
    let deadlock = !found.report.found.is_empty();
    let forks = if polite { "one swapped" } else { "all alike" };
    println!(
        "{count:<3} {forks:<12} {:<17} {:<8} {seconds:.3}",
        if deadlock { "yes" } else { "no" },
        found.report.states
    );
}
