//! Targets run generated programs in each flavour and style, and every observation is one that some
//! schedule of the language gives.

use std::time::Duration;

use strait_calculus::{Explainer, Explanation, Program, print};
use strait_generate::{Config, Generator};
use strait_runtimes::{
    Contract, Ended, Flavour, Payload, Perturbation, Promise, RunOptions, Runner, Style, TARGETS,
    TEST_TARGETS, TargetInfo, capabilities, lower, observation,
};

const STYLES: [Style; 3] = [Style::Plain, Style::Batched, Style::Barrier];
const PAYLOADS: [Payload; 3] = [Payload::Plain, Payload::Boxed, Payload::Counted];
const MAX_STATES: usize = 200_000;

/// Takes away from a contract what a fault would spoil.
type Spare = fn(Flavour, &mut Contract);

/// Faults of current versions that are known, each with what not to ask for so that the rest can be
/// tested: flume's `Selector` misses wake-ups (upstream issue 135), and its messages were seen out
/// of order between a task and a thread; kanal's `send_timeout` leaks the message when time runs
/// out; a thread may sleep beside a free permit of async-lock's semaphore.
const KNOWN: [(&str, Spare); 3] = [
    ("flume", |flavour, contract| {
        contract.select_gets = false;
        contract.many_receivers = flavour != Flavour::Mixed;
    }),
    ("kanal", |_, contract| contract.cancel_puts = false),
    ("async-lock-semaphore", |flavour, contract| {
        contract.many_receivers = flavour == Flavour::Tasks;
        contract.many_senders = flavour == Flavour::Tasks;
    }),
];

/// Programs per target × flavour × style; `STRAIT_PROGRAMS` asks for more.
fn programs() -> u64 {
    std::env::var("STRAIT_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

fn seed() -> u64 {
    std::env::var("STRAIT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(5)
}

fn check(
    target: &TargetInfo,
    runner: &mut dyn Runner,
    program: &Program,
    options: &RunOptions,
    index: u64,
) -> bool {
    let context = || format!("{} {options:?} index {index}\n{}", target.name, print(program));
    let plan = lower(program).expect("generated programs can be lowered");
    let contract =
        runner.contract(options.promise, options.flavour).expect("the flavour was listed");
    if contract.covers(&plan).is_err() {
        return false;
    }
    let summary = runner.run(&plan, options).expect("threads can be started");
    assert_eq!(summary.ended, Ended::Finished, "{}\n{}", context(), plan.to_text());
    assert_eq!(summary.anomalies, vec![], "{}", context());
    assert_eq!(summary.runs, options.repetitions);
    let explainer = Explainer::new(program);
    for tally in &summary.records {
        let explanation = explainer.explain(&observation(&tally.what), MAX_STATES);
        let is_possible = !matches!(explanation, Explanation::Impossible { .. });
        assert!(is_possible, "{}\n{} ({} times)", context(), tally.what.to_text(), tally.count);
    }
    true
}

fn check_all(target: &TargetInfo) {
    for flavour in target.flavours() {
        let mut contract = target.contract(flavour).expect("the flavour was listed");
        let known = KNOWN.iter().filter(|(name, _)| *name == target.name);
        known.for_each(|(_, spare)| spare(flavour, &mut contract));
        let config =
            Config { capabilities: capabilities(&contract), size: 12, ..Config::default() };
        let generator = Generator::new(seed(), config).expect("the capabilities make sense");
        let mut runner = target.runner();
        let mut accepted = 0;
        for style in STYLES {
            for index in 0..programs() {
                let program = generator.generate(index).program;
                let options = RunOptions {
                    style,
                    flavour,
                    promise: Promise::Full,
                    payload: PAYLOADS[index as usize % 3],
                    seed: index,
                    repetitions: if style == Style::Batched { 60 } else { 10 },
                    perturbation: if index % 4 == 0 {
                        Perturbation::Heavy
                    } else {
                        Perturbation::Light
                    },
                    patience: Duration::from_secs(20),
                };
                accepted += u64::from(check(target, &mut *runner, &program, &options, index));
            }
        }
        assert!(accepted * 2 > programs(), "{} {flavour:?}: {accepted} programs fit", target.name);
    }
}

/// Crates in which no fault is known, and the reference: these are run with the other tests. A
/// fault of someone else's crate should be a finding and not a red test, so the rest is run on
/// demand: `STRAIT_TARGET` names a target, or says `all`.
const STEADY: [&str; 5] = ["std", "crossbeam-channel", "tokio", "async-channel", "reference"];

#[test]
fn every_observation_is_explained() {
    let asked = std::env::var("STRAIT_TARGET").ok();
    let mut checked = 0;
    for target in TARGETS.iter().chain(&TEST_TARGETS[..1]) {
        let wanted = match asked.as_deref() {
            None => STEADY.contains(&target.name),
            Some("all") => true,
            Some(name) => name == target.name,
        };
        if wanted {
            check_all(target);
            checked += 1;
        }
    }
    assert!(checked > 0, "no target is called {asked:?}");
}

#[test]
fn flavours_are_listed() {
    let crossbeam = strait_runtimes::target("crossbeam-channel").expect("it is there");
    assert_eq!(crossbeam.flavours(), vec![Flavour::Threads]);
}
