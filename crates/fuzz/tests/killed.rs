//! A campaign killed with SIGKILL at random moments and resumed does what an undisturbed one does,
//! and leaves no process behind.

#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use strait_campaign::{Request, begin};
use strait_findings::{Ranges, Store};
use strait_fuzz::Settings;

const COUNT: u64 = 400;
const KILLS: u32 = 10;
/// A channel that fails in nearly every longer program, so that the same faults show every time.
const TARGET: &str = "broken-aborts";

fn subject(folder: &Path, mark: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait-fuzz-subject"));
    command.arg(folder).args([TARGET, &COUNT.to_string(), "2", "resume"]);
    command.env("STRAIT_TEST_MARK", mark).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// What was executed and found.
fn results(folder: &Path) -> (Ranges, BTreeSet<String>) {
    let mut store = Store::open(folder).expect("a store");
    let request = Request::<Settings> { resume: true, ..Request::default() };
    let begun = begin(&mut store, folder, request, 0).expect("there is a campaign");
    let version = strait_fuzz::built_in_version(strait_runtimes::target(TARGET).expect("known"));
    let executed = store.executed(begun.id, TARGET, &version).expect("readable");
    let found = store.findings().map(|finding| finding.id.clone()).collect();
    (executed, found)
}

/// Processes that were started with this mark in their environment.
fn left_over(mark: &str) -> Vec<String> {
    let wanted = format!("STRAIT_TEST_MARK={mark}");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let marked = processes.filter(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    });
    marked.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn killed_again_and_again_it_finishes_as_if_undisturbed() {
    let (one, other) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let begun = Instant::now();
    let undisturbed = subject(one.path(), "undisturbed").status().expect("it starts");
    assert!(undisturbed.success());
    // Kills that come early enough to be kills, at different moments.
    let step = begun.elapsed() / (KILLS + 4);
    let mark = format!("killed-{}", std::process::id());
    let mut kills = 0;
    while kills < KILLS {
        let mut child = subject(other.path(), &mark).spawn().expect("it starts");
        std::thread::sleep(step + step * (kills % 3) / 3);
        let is_over = child.try_wait().expect("ours").is_some();
        child.kill().expect("SIGKILL");
        child.wait().expect("ours");
        if is_over {
            break;
        }
        kills += 1;
    }
    // How fast it is depends on what else the machine does.
    assert!(kills >= KILLS / 3, "it was through after {kills} kills: too fast for this test");
    let deadline = Instant::now() + Duration::from_secs(10);
    while !left_over(&mark).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(left_over(&mark), Vec::<String>::new(), "workers outlive the campaign");
    assert!(subject(other.path(), &mark).status().expect("it starts").success());
    let (expected, found) = (results(one.path()), results(other.path()));
    assert_eq!(found, expected);
    assert_eq!(found.0.len(), COUNT);
    assert!(!found.1.is_empty(), "the fault was not found");
}
