//! Programs a second (each run ten times) for every target, flavour and style, and where the time
//! goes. `cargo bench -p strait-runtimes [-- NAME]`; figures per second of processor time, because
//! the machine may be shared.
#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::time::{Duration, Instant};

use strait_calculus::Explainer;
use strait_generate::{Config, Generator};
use strait_runtimes::{
    Ended, Flavour, RunOptions, Style, TARGETS, TEST_TARGETS, TargetInfo, capabilities, lower,
    observation,
};

const TIME: Duration = Duration::from_millis(1_000);

/// Seconds of processor time of this process (`/proc/self/stat`, hundredths); 0 elsewhere.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    let fields = behind.split_ascii_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

struct Spent {
    programs: u64,
    generate: Duration,
    lower: Duration,
    run: Duration,
    judge: Duration,
    ended: &'static str,
}

fn measure(info: &TargetInfo, flavour: Flavour, style: Style) -> Spent {
    let contract = info.contract(flavour).expect("the flavour was listed");
    let config = Config { capabilities: capabilities(&contract), ..Config::default() };
    let generator = Generator::new(1, config).expect("the capabilities make sense");
    let mut runner = info.runner();
    let options = RunOptions { style, flavour, ..RunOptions::default() };
    let zero = Duration::ZERO;
    let mut spent =
        Spent { programs: 0, generate: zero, lower: zero, run: zero, judge: zero, ended: "" };
    let begun = Instant::now();
    while begun.elapsed() < TIME {
        let start = Instant::now();
        let program = generator.generate(spent.programs).program;
        let generated = Instant::now();
        let plan = lower(&program).expect("it can be lowered");
        let lowered = Instant::now();
        let summary = runner.run(&plan, &options).expect("threads can be started");
        let run = Instant::now();
        let explainer = Explainer::new(&program);
        for tally in &summary.records {
            std::hint::black_box(explainer.explain(&observation(&tally.what), 10_000));
        }
        spent.programs += 1;
        spent.generate += generated - start;
        spent.lower += lowered - generated;
        spent.run += run - lowered;
        spent.judge += run.elapsed();
        if summary.ended != Ended::Finished {
            spent.ended = "(ended by a hang)";
            break;
        }
    }
    spent
}

fn main() {
    let only = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    println!(
        "{:<26} {:<8} {:<8} {:>10} {:>12} {:>8} {:>8} {:>8} {:>8}",
        "target",
        "flavour",
        "style",
        "programs/s",
        "per cpu-s",
        "generate",
        "lower",
        "run",
        "judge"
    );
    for info in TARGETS.iter().chain(&TEST_TARGETS[..1]) {
        if only.as_ref().is_some_and(|only| only != info.name) {
            continue;
        }
        for flavour in info.flavours() {
            for (word, style) in Style::all() {
                let (begun, before) = (Instant::now(), processor_seconds());
                let spent = measure(info, flavour, style);
                let (wall, cpu) = (begun.elapsed(), processor_seconds() - before);
                let share = |part: Duration| 100.0 * part.as_secs_f64() / wall.as_secs_f64();
                println!(
                    "{:<26} {:<8} {:<8} {:>10.0} {:>12.0} {:>7.1}% {:>7.1}% {:>7.1}% {:>7.1}% {}",
                    info.name,
                    flavour.word(),
                    word,
                    spent.programs as f64 / wall.as_secs_f64(),
                    spent.programs as f64 / cpu.max(0.01),
                    share(spent.generate),
                    share(spent.lower),
                    share(spent.run),
                    share(spent.judge),
                    spent.ended,
                );
            }
        }
    }
}
