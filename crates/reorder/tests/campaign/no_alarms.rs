//! Campaigns over correct tests, which must end without a report and without an internal error. The
//! module is in `tests/correct`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use strait_golang::{Build, Built, Go, Overlay, Request, TestBinary, Wishes, compile, packages};

use crate::support::{cache, fuzz, go_is_missing, launcher};

fn correct() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/correct")
}

/// Runs per test: a few by default, or what the variable says (10,000 for a measurement).
fn runs() -> u64 {
    let chosen = std::env::var("STRAIT_RUNS_WITHOUT_ALARM").ok();
    chosen.map_or(13, |runs| runs.parse().expect("STRAIT_RUNS_WITHOUT_ALARM is a number"))
}

/// Nothing is reported for these packages.
fn check(packages: &[&str], runs: u64) {
    if go_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = fuzz(&correct(), packages, runs, folder.path());
    let titles: Vec<&str> = outcome.findings.iter().map(|one| one.title.as_str()).collect();
    assert!(titles.is_empty(), "{titles:#?}");
    assert_eq!(outcome.ended.internal_errors, []);
    assert_eq!(outcome.ended.failing, Vec::<String>::new());
    assert!(outcome.ended.complete);
}

#[test]
fn the_collector_and_the_scheduler_are_left_alone() {
    check(&["./collector"], runs());
}

#[test]
fn timers_that_the_scheduler_runs_are_left_alone() {
    check(&["./timers"], runs());
}

#[test]
fn what_follows_a_failed_assertion_is_no_finding() {
    check(&["./failing"], 60);
}

#[test]
fn goroutines_that_wait_on_purpose_are_no_finding() {
    check(&["./waiting"], 25);
}

#[test]
fn goroutines_that_finalizers_signals_and_timers_can_wake_are_no_finding() {
    check(&["./reachable"], 25);
}

#[test]
fn a_goroutine_that_counts_ticks_is_no_finding() {
    check(&["./ticks"], 6);
}

#[test]
fn a_slow_test_is_no_finding() {
    check(&["./slow"], 1);
}

/// The id of a place, as the hooks compute it: FNV-1a over package, file name and line.
fn place(package: &str, file: &str, line: u64) -> u64 {
    let step = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0100_0000_01b3);
    let fold = |hash: u64, text: &str, number: u64| {
        step(text.bytes().fold(hash, |hash, byte| step(hash, u64::from(byte))), number)
    };
    fold(fold(0xcbf2_9ce4_8422_2325, package, u64::from(b'/')), file, line)
}

/// The tests of a package, by the real clock.
fn compiled(package: &str, folder: &Path) -> (Go, TestBinary) {
    let go = Go::find(&launcher(), &correct()).expect("go");
    let overlay = Overlay::prepare(&go, &cache()).expect("an overlay");
    let build = Build::default();
    let listed = packages(&go, &build, &[package.to_owned()]).expect("listed");
    match compile(&go, &overlay, &listed[0], &build, folder).expect("compiled") {
        Built::Binary(binary) => (go, binary),
        _ => panic!("the fixture compiles"),
    }
}

/// Half a second for each of thousands of selects is longer than a test may take. A test in which a
/// preference was in vain again and again was reported as one that does not end.
#[test]
fn preferences_in_vain_do_not_make_a_test_endless() {
    if go_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (go, binary) = compiled("./ticks", folder.path());
    let source = correct().join("ticks/ticks_test.go");
    let source = fs::read_to_string(source).expect("the fixture");
    let line = source.lines().position(|line| line.contains("select {")).expect("a select") + 1;
    let id = place("example.com/strait/correct/ticks", "ticks_test.go", line as u64);
    // The runtime numbers the cases from the last one.
    let picks = BTreeMap::from([(id, vec![0; 1000])]);
    // In a minute all of them could not be waited for either, on a machine as busy as it may be.
    let wishes = Wishes { picks, limit: Duration::from_secs(60), ..Wishes::default() };
    let request =
        Request { test: "TestCountsTicks", wishes: &wishes, verbose: false, processors: None };
    let run = binary.run(&go, &request, &folder.path().join("map")).expect("it runs");
    assert!(run.trace.expired > 5, "{} preferences in vain", run.trace.expired);
    assert!(run.passed(), "{:?}", run.trace.state);
}

/// The scheduler sends into the channels of timers on its own stack, where nothing may wait. An order
/// that asks the send to wait crashed the runtime.
#[test]
fn the_scheduler_never_waits_for_a_preferred_case() {
    if go_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (go, binary) = compiled("./timers", folder.path());
    let source = fs::read_to_string(go.root().join("src/time/sleep.go")).expect("package time");
    let picks: BTreeMap<u64, Vec<u16>> = (1..)
        .zip(source.lines())
        .filter(|(_, line)| line.contains("select {") || line.contains("case c.(chan Time) <-"))
        .map(|(number, _)| (place("time", "sleep.go", number), vec![0]))
        .collect();
    assert!(!picks.is_empty());
    let wishes = Wishes { picks, rate: 300, ..Wishes::default() };
    let request =
        Request { test: "TestUnreadTicker", wishes: &wishes, verbose: false, processors: None };
    for _ in 0..5 {
        let run = binary.run(&go, &request, &folder.path().join("map")).expect("it runs");
        assert!(run.passed(), "{}", run.finished.stderr.text());
    }
}
