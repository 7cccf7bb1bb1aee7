//! A broken channel is caught, whatever its fault; the same channel without a fault is not.

use std::time::Duration;

use strait_calculus::{Explainer, Explanation, parse};
use strait_generate::{Config, Generator};
use strait_runtimes::harness::cell::Side;
use strait_runtimes::harness::plan::{At, Instruction, Slot};
use strait_runtimes::harness::uses::Uses;
use strait_runtimes::{
    Ended, Flavour, JobLine, Payload, Report, RunOptions, Style, Summary, lower, observation,
    serve, target,
};

/// Two senders, two receivers, a buffer and a rendezvous: every fault shows in it.
const PROGRAM: &str = "main {
    chan c: int[3]
    chan d: int
    spawn { put c 1; put c 2; put c 3 }
    spawn { get c; get c; put d 4 }
    get d
    get c
}";

fn run(name: &str, style: Style, repetitions: u64, patience: Duration) -> Summary {
    let program = parse(PROGRAM).expect("the program is right");
    let plan = lower(&program).expect("it can be lowered");
    let options = RunOptions {
        style,
        payload: Payload::Counted,
        repetitions,
        patience,
        ..RunOptions::default()
    };
    let mut runner = target(name).expect("it is there").runner();
    runner.run(&plan, &options).expect("threads can be started")
}

/// What is wrong with a summary.
fn verdict(summary: &Summary) -> &'static str {
    let program = parse(PROGRAM).expect("the program is right");
    let explainer = Explainer::new(&program);
    let is_wrong = summary.records.iter().any(|tally| {
        let explanation = explainer.explain(&observation(&tally.what), usize::MAX);
        matches!(explanation, Explanation::Impossible { .. })
    });
    match (&summary.ended, is_wrong) {
        (_, true) => "wrong",
        (Ended::Hung { .. }, false) => "hung",
        (Ended::Finished, false) => "clean",
        _ => "other",
    }
}

#[test]
fn every_fault_is_seen() {
    let rows = [
        ("reference", &["clean"][..]),
        // Who waits for the lost message waits forever, or learns that all senders have gone.
        ("broken-loses", &["hung", "wrong"]),
        ("broken-doubles", &["wrong"]),
        ("broken-swaps", &["wrong"]),
        ("broken-deadlocks", &["hung"]),
    ];
    for (name, expected) in rows {
        for style in [Style::Plain, Style::Batched, Style::Barrier] {
            let patience = Duration::from_secs(if name == "reference" { 20 } else { 1 });
            let summary = run(name, style, 5_000, patience);
            let found = verdict(&summary);
            assert!(expected.contains(&found), "{name} {style:?}: {found} {:?}", summary.ended);
        }
    }
}

/// Runs default programs until something is wrong; how many that took, and what it was.
fn hunt(name: &str, most: u64) -> Option<(u64, &'static str)> {
    let info = target(name).expect("it is there");
    let capabilities = info.capabilities(Flavour::Threads).expect("it has threads");
    let generator = Generator::new(1, Config { capabilities, ..Config::default() })
        .expect("the capabilities make sense");
    let mut runner = info.runner();
    for index in 0..most {
        let program = generator.generate(index).program;
        let options = RunOptions {
            style: [Style::Plain, Style::Batched][index as usize % 2],
            payload: Payload::Counted,
            seed: index,
            patience: Duration::from_secs(if name == "reference" { 20 } else { 2 }),
            ..RunOptions::default()
        };
        let plan = lower(&program).expect("it can be lowered");
        let summary = runner.run(&plan, &options).expect("threads can be started");
        let explainer = Explainer::new(&program);
        let is_impossible = |explanation| matches!(explanation, Explanation::Impossible { .. });
        let mut seen = summary.records.iter().map(|tally| observation(&tally.what));
        if seen.any(|seen| is_impossible(explainer.explain(&seen, 100_000))) {
            return Some((index, "wrong"));
        }
        match summary.ended {
            Ended::Hung { .. } => return Some((index, "hung")),
            Ended::Finished if summary.anomalies.is_empty() => {}
            _ => return Some((index, "other")),
        }
    }
    None
}

#[test]
fn default_programs_find_every_fault() {
    assert_eq!(hunt("reference", 300), None);
    for name in ["broken-loses", "broken-doubles", "broken-swaps", "broken-deadlocks"] {
        // One message in 1,000 is treated wrongly: about 10 programs, each run ten times.
        let found = hunt(name, 2_000);
        assert!(found.is_some_and(|(_, what)| what != "other"), "{name}: {found:?}");
    }
}

#[test]
fn ends_are_let_go_of_when_nobody_uses_them() {
    let text = "main { chan c: int[1]; chan d: int[1]; spawn { put c 1; put d 2 }
        get c; select { get d { } timeout { get d } } }";
    let plan = lower(&parse(text).expect("it is right")).expect("it can be lowered");
    let uses = Uses::of(&plan).expect("channels stay in their variables");
    let (begin, end) = (At(0), At(plan.instructions.len() as u32 - 1));
    let opened: Vec<Slot> = plan
        .instructions
        .iter()
        .filter_map(|instruction| match instruction {
            Instruction::Open(open) => Some(open.slot),
            _ => None,
        })
        .collect();
    let [c, d] = opened[..] else { panic!("{opened:?}") };
    let after_opening = At(2);
    for slot in [c, d] {
        assert!(!uses.may_use(begin, Side::Sending, slot), "it is not there yet");
        assert!(uses.may_use(after_opening, Side::Sending, slot), "the child will send");
        assert!(uses.may_use(after_opening, Side::Receiving, slot));
        assert!(!uses.may_use(end, Side::Receiving, slot));
    }
    assert!(uses.may_be_let_go(Side::Sending, c));
    assert!(!uses.may_be_let_go(Side::Sending, d), "a select would notice");
    assert!(uses.may_be_let_go(Side::Receiving, d));
    let passed = "main { chan c: chan int[1]; chan d: int[1]; put c d; e = get c; put e 1 }";
    let plan = lower(&parse(passed).expect("it is right")).expect("it can be lowered");
    assert_eq!(Uses::of(&plan), None, "channels are passed around");
}

#[test]
fn a_hang_says_who_waits_where() {
    let summary = run("broken-deadlocks", Style::Plain, 5_000, Duration::from_secs(1));
    let Ended::Hung { stuck, record, .. } = summary.ended else {
        panic!("{:?}", summary.ended);
    };
    assert!(!stuck.is_empty() && !record.finished);
    let program = parse(PROGRAM).expect("the program is right");
    let explained = Explainer::new(&program).explain(&observation(&record), usize::MAX);
    assert!(explained.is_possible(), "what was seen before the hang is right");
}

fn served(name: &str, jobs: u64) -> Vec<Report> {
    let program = parse(PROGRAM).expect("the program is right");
    let text = lower(&program).expect("it can be lowered").to_text();
    let mut input = String::new();
    for id in 0..jobs {
        let options = RunOptions {
            flavour: Flavour::Threads,
            repetitions: 300,
            patience: Duration::from_secs(1),
            ..RunOptions::default()
        };
        let line = JobLine { id, target: name.to_owned(), options, lines: text.lines().count() };
        assert_eq!(JobLine::from_line(&line.to_line()), Some(line.clone()));
        input.push_str(&format!("{}\n{text}", line.to_line()));
    }
    let mut output = Vec::new();
    let open = |name: &str| target(name).ok().map(|info| info.runner());
    serve(input.as_bytes(), &mut output, &open).expect("memory does not fail");
    let output = String::from_utf8(output).expect("reports are text");
    let reports = output.lines().map(|line| {
        let report = Report::from_line(line).unwrap_or_else(|| panic!("not a report: {line}"));
        assert_eq!(report.to_line(), line);
        report
    });
    reports.collect()
}

#[test]
fn a_worker_announces_runs_and_reports() {
    let reports = served("reference", 2);
    assert_eq!(reports[..2], [Report::Ready(1), Report::Begin(0)]);
    let seen: u64 = reports
        .iter()
        .filter_map(|report| match report {
            Report::Seen(1, tally) => Some(tally.count),
            _ => None,
        })
        .sum();
    assert_eq!(seen, 300);
    assert!(matches!(reports.last(), Some(Report::End(1, 300, _, Ended::Finished))));
}

#[test]
fn a_worker_ends_when_it_is_stuck() {
    let reports = served("broken-deadlocks", 100);
    assert!(matches!(reports.last(), Some(Report::End(_, _, _, Ended::Hung { .. }))));
}

#[test]
fn a_worker_refuses_what_it_does_not_know() {
    let reports = served("telepathy", 1);
    let why = "there is no such target".to_owned();
    assert!(matches!(&reports[2], Report::End(0, 0, _, Ended::Astray(told)) if *told == why));
}
