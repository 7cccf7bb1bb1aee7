//! Campaigns over correct tests, which must end without a report and without an internal error. The
//! module is in `tests/correct`.

use std::path::{Path, PathBuf};

use crate::support::{fuzz, go_is_missing};

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
fn a_slow_test_is_no_finding() {
    check(&["./slow"], 1);
}
