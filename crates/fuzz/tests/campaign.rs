//! Campaigns against channels whose faults are known: one that is right, and the same with a fault
//! in one of a thousand operations.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_campaign::{Campaign, Counters, Request, Stop, begin};
use strait_findings::{Finding, Store};
use strait_fuzz::{Exhibit, FuzzTarget, Programs, Reducer, Settings, TargetFinder, counts, keep};
use strait_runtimes::target;
use strait_toolchain::Launcher;

fn launcher() -> Launcher {
    Launcher::of(env!("CARGO_BIN_EXE_strait-fuzz-subject"))
}

/// Fuzzes one target; what was counted and found.
fn fuzz(folder: &Path, name: &str, count: u64, time: Duration) -> (Counters, Vec<Finding>) {
    let mut store = Store::open(folder).expect("a store");
    let settings = Settings::new(vec![name.to_owned()]);
    let request = Request { settings, count: Some(count), ..Request::default() };
    let begun = begin(&mut store, folder, request, 7).expect("begun");
    let (counters, launcher) = (Counters::default(), launcher());
    let target = FuzzTarget::built_in(target(name).expect("a target"));
    let workload = Programs::new(&launcher, vec![target], begun.seed).expect("programs");
    let stop = Stop::default();
    let _timer = stop.after(Some(time));
    let campaign = Campaign {
        workload: &workload,
        count: begun.count,
        shard: begun.shard,
        jobs: 2,
        stop: &stop,
        counters: &counters,
    };
    campaign.run(&mut store, begun.id, &mut |_, _| {}).expect("it runs to its end");
    let findings = store.findings().cloned().collect();
    store.close().expect("closed");
    (counters, findings)
}

#[test]
fn a_right_channel_has_no_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let (counters, findings) = fuzz(folder.path(), "reference", 600, Duration::from_secs(600));
    assert_eq!(findings, []);
    assert_eq!(counters.programs(), 600);
    assert_eq!(counters.count(counts::ASTRAY), 0, "programs that are none for their target");
    assert_eq!(counters.count(counts::UNDECIDED), 0);
    assert!(counters.runs() >= 6_000);
}

/// Every fault is found within the minute that a campaign has by default.
fn check(name: &str, kinds: &[&str], words: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, findings) = fuzz(folder.path(), name, u64::MAX, Duration::from_secs(25));
    let found = findings.iter().find(|finding| kinds.contains(&finding.kind.as_str()));
    let found = found.unwrap_or_else(|| panic!("{name}: none of {kinds:?} in {findings:#?}"));
    assert!(findings.iter().all(|finding| kinds.contains(&finding.kind.as_str())), "{findings:#?}");
    let told = format!("{} {}", found.title, found.explanation);
    assert!(words.iter().any(|word| told.contains(word)), "{told}");
    told
}

#[test]
fn a_lost_message_is_found() {
    check("broken-loses", &["hang", "wrong-outcome"], &["waiting at get", "lost", "waiting at"]);
}

#[test]
fn a_doubled_message_is_found() {
    let words = ["received twice", "impossible", "dropped", "hangs"];
    check("broken-doubles", &["wrong-outcome", "hang"], &words);
}

#[test]
fn swapped_messages_are_found() {
    let words = ["received in the other", "impossible"];
    check("broken-swaps", &["wrong-outcome", "hang"], &words);
}

#[test]
fn a_deadlock_is_found() {
    check("broken-deadlocks", &["hang"], &["waiting at"]);
}

#[test]
fn an_abort_is_found_and_compared() {
    let told = check("broken-aborts", &["crash"], &["SIGABRT"]);
    // Other faults take their time to be confirmed, and time may be up before they are compared.
    assert!(told.contains("without fault on"), "it was not compared: {told}");
}

#[test]
fn a_finding_can_be_run_again_and_made_small() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, findings) = fuzz(folder.path(), "broken-aborts", 3_000, Duration::from_secs(60));
    let finding = findings.first().expect("one in a thousand operations aborts");
    let directory = folder.path().join("findings").join(&finding.id);
    let launcher = launcher();
    let mut targets = TargetFinder::new(&launcher, std::sync::Arc::new(AtomicBool::new(false)));
    let exhibit = Exhibit::open(&directory, &mut targets, &mut |_| {}).expect("readable");
    let rerun = exhibit.run(&launcher, Duration::from_secs(60), &|| false).expect("run");
    assert!(rerun.failed > 0, "{rerun:?}");
    let reducer = Reducer {
        launcher: &launcher,
        time: Duration::from_secs(60),
        stop: &|| false,
        tell: &|_, _| {},
    };
    let reduced = reducer.reduce(&exhibit).expect("tried").expect("it still shows");
    assert!(reduced.after < reduced.before, "{reduced:?}");
    keep(&directory, &exhibit, &reduced, "").expect("written");
    let page = std::fs::read_to_string(directory.join("README.md")).expect("a page");
    let small = strait_calculus::print(&reduced.program);
    let first = small.lines().next().expect("a program");
    assert!(page.contains(&format!("The reduced program:\n\n```text\n  1  {first}\n")), "{page}");
    let again = Exhibit::open(&directory, &mut targets, &mut |_| {}).expect("readable");
    assert_eq!(again.work.program, reduced.program, "a replay takes the smaller program");
}
