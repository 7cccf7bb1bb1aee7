//! A broken channel is caught, whatever its fault; the same channel without a fault is not.

use std::time::Duration;

use strait_calculus::{Explainer, Explanation, parse};
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
        ("broken-loses", &["hung"]),
        ("broken-doubles", &["wrong"]),
        ("broken-swaps", &["wrong"]),
        ("broken-deadlocks", &["hung"]),
    ];
    for (name, expected) in rows {
        for style in [Style::Plain, Style::Batched, Style::Barrier] {
            let patience = Duration::from_secs(if name == "reference" { 20 } else { 1 });
            let summary = run(name, style, 1_500, patience);
            let found = verdict(&summary);
            assert!(expected.contains(&found), "{name} {style:?}: {found} {:?}", summary.ended);
        }
    }
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
