//! Bench: how long `explain` takes for programs of 60 operations and at least 10 processes, for
//! observations that happened and for observations that cannot happen.
//!
//! `cargo bench -p strait-generate --bench explain`

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::{Duration, Instant};

use strait_calculus::{Event, Explainer, Machine, Observation, Program, Recording, Seen};
use strait_explore::{Limits, random};
use strait_generate::{Capabilities, Config, Generator, Heuristic};

const OPERATIONS: u32 = 60;
const PROCESSES: usize = 10;

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let wanted = if measured { 300 } else { 3 };
    println!("payloads   kind        programs  median ms  99 % ms   max ms");
    for (name, capabilities) in [
        ("unit", Capabilities::default()),
        ("unique", Capabilities { integers: true, ..Capabilities::default() }),
    ] {
        let config = Config { weights: Heuristic::F.weights(), capabilities, size: OPERATIONS };
        let generator = Generator::new(1, config).expect("a correct setting");
        let mut prepared = Vec::new();
        let mut possible = Vec::new();
        let mut impossible = Vec::new();
        for index in 0.. {
            if possible.len() == wanted {
                break;
            }
            let program = generator.generate(index).program;
            let Some(observation) = observe(&program, index) else { continue };
            let started = Instant::now();
            let explainer = Explainer::new(&program);
            prepared.push(started.elapsed());
            let started = Instant::now();
            assert!(explainer.explain(&observation, usize::MAX).is_possible());
            possible.push(started.elapsed());
            let Some(wrong) = corrupt(observation) else { continue };
            let started = Instant::now();
            let explanation = explainer.explain(&wrong, usize::MAX);
            impossible.push(started.elapsed());
            assert!(!explanation.is_possible());
        }
        show(name, "compiled", prepared);
        show(name, "happened", possible);
        show(name, "impossible", impossible);
    }
}

/// What one random execution shows, if the program has enough processes.
fn observe(program: &Program, seed: u64) -> Option<Observation> {
    let machine = Machine::new(program, Recording::Everything);
    let report = random(&machine, seed, 1, &Limits::default());
    let outcome = &report.found.first()?.outcome;
    (outcome.accounts.len() >= PROCESSES).then(|| outcome.observation())
}

/// The observation with one message received once more at the end: nobody sent it.
fn corrupt(mut observation: Observation) -> Option<Observation> {
    let events = observation.processes.values_mut().next_back()?;
    let received = events.iter().rfind(|event| matches!(event, Event::Received(_)));
    events.push(received.copied().unwrap_or(Event::Received(Seen::Unit)));
    Some(observation)
}

fn show(payloads: &str, kind: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| {
        let position = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times.get(position).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    };
    let count = times.len();
    println!(
        "{payloads:<10} {kind:<11} {count:<9} {:<10.3} {:<9.3} {:.3}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}
