//! The class of each finding, what its story says, and that one cause is one finding. The module is in
//! `tests/classes`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use strait_findings::{Finding, Kind};
use strait_reorder::{Assessment, Place, Prediction, Rules, Witness};

use crate::support::{Outcome, cache, fuzz_with, go_is_missing, launcher};

/// Runs per test. Each of the faults is found in a third of them or less.
const RUNS: u64 = 40;

fn campaign(packages: &[&str], rules: Rules) -> Outcome {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/classes");
    let folder = tempfile::tempdir().expect("a folder");
    fuzz_with(&module, packages, RUNS, folder.path(), rules)
}

/// Go before 1.26 cannot prove leaks.
fn proves_leaks(outcome: &Outcome) -> bool {
    !["1.24", "1.25"].iter().any(|old| outcome.prepared.go.version().starts_with(old))
}

fn text<'f>(finding: &'f Finding, name: &str) -> &'f str {
    finding.details[name].as_str().expect("a text")
}

/// `test: class, level`, sorted.
fn classes(outcome: &Outcome) -> Vec<String> {
    let mut lines: Vec<String> = outcome
        .findings
        .iter()
        .map(|finding| {
            let assessment = Assessment::of(&finding.details).expect("an assessment");
            let (test, class) = (text(finding, "test"), assessment.class);
            format!("{test}: {class}, {}", assessment.level())
        })
        .collect();
    lines.sort();
    lines
}

/// The story of the one finding of a test has these parts.
#[track_caller]
fn tells(outcome: &Outcome, test: &str, parts: &[&str]) {
    let mut findings = outcome.findings.iter().filter(|one| text(one, "test") == test);
    let finding = findings.next().expect("a finding");
    for part in parts {
        let story = format!("{}\n{}", finding.title, finding.explanation);
        assert!(story.contains(part), "{part:?} in\n{story}");
    }
}

#[test]
fn goroutines_that_are_left_for_one_reason_are_one_finding() {
    if go_is_missing() {
        return;
    }
    let outcome = campaign(&["./together"], Rules::default());
    if !proves_leaks(&outcome) {
        return;
    }
    for tests in [["TestAdder", "TestMultiplier"], ["TestLate", "TestTooLate"]] {
        let found = outcome.findings.iter().filter(|one| tests.contains(&text(one, "test")));
        assert_eq!(found.count(), 1, "{tests:?}: {:?}", classes(&outcome));
    }
    let of_pipes = |one: &&Finding| text(one, "test").starts_with("TestPipes");
    assert_eq!(outcome.findings.iter().filter(of_pipes).count(), 1, "{:?}", classes(&outcome));
    assert_eq!(outcome.findings.len(), 3, "{:?}", classes(&outcome));
}

#[test]
fn deadlocks_around_locks() {
    if go_is_missing() {
        return;
    }
    let outcome = campaign(&["./locks"], Rules::default());
    let expected = [
        "TestOnce: deadlock, error",
        "TestOppositeOrder: deadlock, error",
        "TestReadLockTwice: deadlock, error",
    ];
    assert_eq!(classes(&outcome), expected);
    tells(
        &outcome,
        "TestOppositeOrder",
        &[
            "holds the lock since locks/locks_test.go:",
            "which is locking a mutex at locks/locks_test.go:",
            "(TestOppositeOrder) is waiting for a WaitGroup",
        ],
    );
    tells(
        &outcome,
        "TestReadLockTwice",
        &[
            "is read-locking a RWMutex at locks/locks_test.go:36",
            "called from locks/locks_test.go:44 in locks.(*table).report",
            "it holds a read lock itself, since locks/locks_test.go:42",
            "waits to write at locks/locks_test.go:48, and new readers wait for it",
            "holds a read lock since locks/locks_test.go:42",
        ],
    );
    tells(
        &outcome,
        "TestOnce",
        &[
            "is waiting for a sync.Once at locks/locks_test.go:72",
            "is running the function of the Once, which is receiving from a channel",
        ],
    );
}

#[test]
fn leaks_and_panics_around_channels() {
    if go_is_missing() {
        return;
    }
    let outcome = campaign(&["./channels"], Rules::default());
    if !proves_leaks(&outcome) {
        return;
    }
    let expected = [
        "TestClosedTwice: panic, error",
        "TestManyCases: leak in every run, error",
        "TestOneMissing: deadlock, error",
        "TestOtherMissing: deadlock, error",
        "TestSecondAnswer: leak in every run, error",
        "TestStopped: leak in rare orders only, error",
    ];
    assert_eq!(classes(&outcome), expected);
    tells(
        &outcome,
        "TestClosedTwice",
        &["the channel, made at channels/channels_test.go:35, had been closed at"],
    );
    tells(&outcome, "TestManyCases", &["and 5 more channels", "no other goroutine ever"]);
    tells(
        &outcome,
        "TestSecondAnswer",
        &["the last receive from it was at channels/channels_test.go:16 by goroutine"],
    );
}

/// Two tests of two packages forget to close the same thing, which has two goroutines.
#[test]
fn one_cause_is_one_finding() {
    if go_is_missing() {
        return;
    }
    let outcome = campaign(&["./cache", "./client"], Rules::default());
    if !proves_leaks(&outcome) {
        return;
    }
    let [finding] = outcome.findings.as_slice() else { panic!("{:?}", classes(&outcome)) };
    assert_eq!(finding.target, "example.com/classes/cache");
    assert!(finding.version.starts_with("go1."), "{}", finding.version);
    assert_eq!(finding.details["library"], true);
    assert_eq!(finding.details["class"], "leak-in-every-run");
    assert_eq!(outcome.ended.by_package.len(), 2);
    assert!(outcome.ended.by_package.values().all(|package| package.runs >= RUNS));
}

#[test]
fn what_is_left_at_the_end_of_a_test() {
    if go_is_missing() {
        return;
    }
    let lifecycle = |lifecycle, allowed: &[&str]| {
        let allowed = allowed.iter().map(ToString::to_string).collect();
        campaign(&["./lifecycle"], Rules { lifecycle, allowed })
    };
    let unasked = lifecycle(false, &[]);
    if proves_leaks(&unasked) {
        // Its timer wakes it, so it is not blocked; but nothing can stop it.
        let expected = ["TestTicker: left running at the end of the test, warning"];
        assert_eq!(classes(&unasked), expected);
    }
    let outcome = lifecycle(true, &[]);
    let expected = [
        "TestParts: left running at the end of the test, error",
        "TestTicker: left running at the end of the test, error",
    ];
    assert_eq!(classes(&outcome), expected);
    tells(
        &outcome,
        "TestParts",
        &["a goroutine of TestParts/left is left at the end, receiving from a channel at"],
    );
    let lists: [&[&str]; 2] =
        [&["lifecycle.listen", "lifecycle.beat"], &["example.com/classes/lifecycle"]];
    for allowed in lists {
        assert_eq!(classes(&lifecycle(true, allowed)), Vec::<String>::new(), "{allowed:?}");
    }
}

/// A circle of locks that a run shows is closed if that is possible, and else only listed.
#[test]
fn lock_orders_are_predicted_and_forced() {
    if go_is_missing() {
        return;
    }
    let outcome = campaign(&["./orders"], Rules::default());
    assert_eq!(classes(&outcome), ["TestLate: deadlock, error", "TestThree: deadlock, error"]);
    let mut predicted: Vec<&str> =
        outcome.ended.predicted.iter().filter_map(|(test, _)| test.split(' ').nth(1)).collect();
    predicted.sort_unstable();
    assert_eq!(predicted, ["TestGuarded", "TestOneAfterTheOther"]);
}

/// What a campaign shows is also seen by the runs that confirm a verdict of `go verify`.
#[test]
fn what_a_campaign_shows_is_confirmed() {
    if go_is_missing() {
        return;
    }
    let outcome = campaign(&["./locks", "./channels"], Rules::default());
    let stop = Arc::new(AtomicBool::new(false));
    let base = &outcome.prepared.base;
    let mut witnesses: BTreeMap<&str, Witness> = BTreeMap::new();
    for finding in &outcome.findings {
        let package = text(finding, "package");
        let witness = witnesses.entry(package).or_insert_with(|| {
            let (directory, package) = (base.clone(), package.to_owned());
            let place = Place { directory, package, main: false, tags: None };
            Witness::open(&place, &launcher(), &cache(), &stop).expect("compiled")
        });
        let line = |location: &Value| {
            let (file, line) = location.as_str().expect("a text").rsplit_once(':').expect("a line");
            let file = base.join(file).canonicalize().expect("there");
            (file, line.parse().expect("a number"))
        };
        let at = finding.details["locations"].as_array().expect("a list").iter().map(line);
        let panics = finding.kind == Kind::PANIC;
        let prediction = Prediction { panics, at: at.collect(), cases: Vec::new() };
        let (test, time) = (text(finding, "test"), Duration::from_secs(120));
        let predictions = [prediction];
        let seen = witness.look_for(Some(test), &predictions, 120, time, &stop).expect("it runs");
        assert!(seen.seen[0] > 0, "{test}: {seen:?}");
    }
    assert!(outcome.findings.len() >= 6, "{:?}", classes(&outcome));
}
