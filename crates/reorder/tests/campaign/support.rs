//! What the tests share: a campaign over a folder of tests, in this process.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use strait_campaign::{Stop, Threads};
use strait_findings::{Finding, Store};
use strait_reorder::{
    Counters, Ended, LocalTests, Prepared, Request, Rules, RunIndices, Switches, Terms, prepare,
};
use strait_toolchain::{Cache, Launcher};

/// What a campaign gave.
pub struct Outcome {
    pub findings: Vec<Finding>,
    pub ended: Ended,
    pub prepared: Prepared,
    pub folder: PathBuf,
}

impl Outcome {
    /// Tests with the kinds of what was found in them.
    pub fn by_test(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for finding in &self.findings {
            let test = finding.details["test"].as_str().expect("a test").to_owned();
            found.entry(test).or_default().insert(finding.kind.to_string());
        }
        found
    }
}

pub fn launcher() -> Launcher {
    Launcher::of(env!("CARGO_BIN_EXE_strait-reorder-subject"))
}

/// The overlay and the compiled standard library are worth keeping between runs of the tests.
pub fn cache() -> Cache {
    Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
}

pub fn go_is_missing() -> bool {
    let missing = strait_golang::Go::find(&launcher(), Path::new("/")).is_err();
    if missing {
        assert!(std::env::var_os("CI").is_none(), "go is missing");
        eprintln!("SKIPPED: go is missing");
    }
    missing
}

/// A campaign over some packages of a module.
pub fn fuzz(directory: &Path, patterns: &[&str], runs: u64, folder: &Path) -> Outcome {
    fuzz_with(directory, patterns, runs, folder, Rules::default())
}

/// A campaign with rules of its own.
pub fn fuzz_with(
    directory: &Path,
    patterns: &[&str],
    runs: u64,
    folder: &Path,
    rules: Rules,
) -> Outcome {
    let stop = Stop::default();
    let request = Request {
        directory: directory.to_owned(),
        patterns: patterns.iter().map(ToString::to_string).collect(),
        run: None,
        race: false,
        virtual_time: true,
        tags: None,
    };
    let prepared =
        prepare(&request, &launcher(), &cache(), stop.flag(), &mut |_| {}).expect("prepared");
    let mut store = Store::open(folder).expect("a store");
    let id = store.campaign(1, 1, "test").expect("a campaign");
    let terms = Terms {
        prepared: &prepared,
        seed: 1,
        runs: Some(runs),
        switches: Switches::default(),
        rules: &rules,
        ending: &stop,
        indices: None,
    };
    let indices = RunIndices::new(&prepared, &store, id, false).expect("readable");
    let (counters, sums) = (Counters::default(), strait_campaign::Counters::default());
    let tests = LocalTests::new(terms, &indices, &counters, &store);
    let threads = Threads { jobs: 2, stop: &stop, counters: &sums };
    let ended = tests.run(&threads, &mut store, id, &mut |_, _| {}).expect("it runs");
    let findings = store.findings().cloned().collect();
    store.close().expect("closed");
    Outcome { findings, ended, prepared, folder: folder.to_owned() }
}
