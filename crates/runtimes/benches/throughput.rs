//! Programs per second, each run ten times, for every target, flavour and style, and where the time
//! goes: two workers at once, as in a campaign on two processors.
//!
//! `cargo bench -p strait-runtimes --bench throughput [-- [TARGET] [SECONDS]]`. Rates are given by
//! the clock and per second of processor time, because the machine may be shared; shares are of
//! processor time. *overhead* is generation, lowering and judgement compared with the rest, which
//! is the time in the runtime itself.
#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use strait_calculus::Explainer;
use strait_generate::{Config, Generator};
use strait_runtimes::{
    Ended, Flavour, RunOptions, Style, TARGETS, TEST_TARGETS, TargetInfo, capabilities, lower,
    observation,
};

const WORKERS: u64 = 2;

/// Processor time of this thread or of the whole process.
fn processor_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// What the workers have done, and how long the parts took.
#[derive(Default)]
struct Spent {
    programs: AtomicU64,
    generate: AtomicU64,
    lower: AtomicU64,
    judge: AtomicU64,
    hangs: AtomicU64,
}

impl Spent {
    fn add(part: &AtomicU64, since: Duration) -> Duration {
        let now = processor_time(ClockId::ThreadCPUTime);
        part.fetch_add((now - since).as_nanos() as u64, Ordering::Relaxed);
        now
    }
}

fn work(info: &TargetInfo, flavour: Flavour, style: Style, time: Duration, spent: &Spent) {
    let contract = info.contract(flavour).expect("the flavour was listed");
    let config = Config { capabilities: capabilities(&contract), ..Config::default() };
    let generator = Generator::new(1, config).expect("the capabilities make sense");
    let mut runner = info.runner();
    let begun = Instant::now();
    while begun.elapsed() < time {
        let index = spent.programs.fetch_add(1, Ordering::Relaxed);
        let options = RunOptions { style, flavour, seed: index, ..RunOptions::default() };
        let start = processor_time(ClockId::ThreadCPUTime);
        let program = generator.generate(index).program;
        let start = Spent::add(&spent.generate, start);
        let plan = lower(&program).expect("it can be lowered");
        Spent::add(&spent.lower, start);
        let summary = runner.run(&plan, &options).expect("threads can be started");
        let start = processor_time(ClockId::ThreadCPUTime);
        let explainer = Explainer::new(&program);
        for tally in &summary.records {
            std::hint::black_box(explainer.explain(&observation(&tally.what), 10_000));
        }
        Spent::add(&spent.judge, start);
        if summary.ended != Ended::Finished {
            spent.hangs.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
}

fn measure(info: &TargetInfo, flavour: Flavour, word: &str, style: Style, time: Duration) {
    let spent = Spent::default();
    let (begun, before) = (Instant::now(), processor_time(ClockId::ProcessCPUTime));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| work(info, flavour, style, time, &spent));
        }
    });
    let (clock, processor) = (begun.elapsed(), processor_time(ClockId::ProcessCPUTime) - before);
    let programs = spent.programs.load(Ordering::Relaxed) as f64;
    let seconds = |part: &AtomicU64| part.load(Ordering::Relaxed) as f64 / 1e9;
    let (generate, lower) = (seconds(&spent.generate), seconds(&spent.lower));
    let judge = seconds(&spent.judge);
    let overhead = generate + lower + judge;
    let share = |part: f64| 100.0 * part / processor.as_secs_f64();
    println!(
        "{:<24} {:<8} {:<8} {:>10.0} {:>9.0} {:>8.1}% {:>6.1}% {:>6.1}% {:>8.1}%{}",
        info.name,
        flavour.word(),
        word,
        programs / clock.as_secs_f64(),
        programs / processor.as_secs_f64(),
        share(generate),
        share(lower),
        share(judge),
        100.0 * overhead / (processor.as_secs_f64() - overhead),
        if spent.hangs.load(Ordering::Relaxed) > 0 { " (ended by a hang)" } else { "" },
    );
}

fn main() {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let only = arguments.first();
    let seconds = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let time = Duration::from_secs_f64(if is_measured { seconds } else { 0.01 });
    println!(
        "{:<24} {:<8} {:<8} {:>10} {:>9} {:>9} {:>7} {:>7} {:>9}",
        "target",
        "flavour",
        "style",
        "programs/s",
        "per cpu-s",
        "generate",
        "lower",
        "judge",
        "overhead"
    );
    for info in TARGETS.iter().chain(&TEST_TARGETS[..1]) {
        if only.is_some_and(|only| only != info.name && only != "all") {
            continue;
        }
        for flavour in info.flavours() {
            for (word, style) in Style::all() {
                measure(info, flavour, word, style, time);
            }
        }
    }
}
