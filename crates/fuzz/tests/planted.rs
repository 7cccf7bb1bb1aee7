//! Faults that are planted into a channel, each in a few instructions of what happens when operations are
//! given up, when threads and tasks meet, or when the channel is closed: found by default settings. The
//! same channel without a fault is clean.

use std::time::{Duration, Instant};

use strait_campaign::{Campaign, Counters, Request, Stop, begin};
use strait_findings::{Finding, Store};
use strait_fuzz::{FuzzTarget, Programs, Settings, counts};
use strait_runtimes::target;
use strait_toolchain::Launcher;

/// How long a planted fault may take.
const BAR: Duration = Duration::from_secs(120);

/// Fuzzes one target until something is found; what, how many programs that took and how long.
fn first_finding(name: &str, count: u64, time: Duration) -> (Option<Finding>, Counters, Duration) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(folder.path()).expect("a store");
    let settings = Settings::new(vec![name.to_owned()]);
    let request = Request { settings, count: Some(count), ..Request::default() };
    let seed = std::env::var("STRAIT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let begun = begin(&mut store, folder.path(), request, seed).expect("begun");
    let launcher = Launcher::of(env!("CARGO_BIN_EXE_strait-fuzz-subject"));
    let built_in = FuzzTarget::built_in(target(name).expect("a target"));
    let workload = Programs::new(&launcher, vec![built_in], begun.seed).expect("programs");
    let (stop, counters) = (Stop::default(), Counters::default());
    let _timer = stop.after(Some(time));
    let campaign = Campaign {
        workload: &workload,
        count: begun.count,
        shard: begun.shard,
        jobs: 2,
        stop: &stop,
        counters: &counters,
    };
    let start = Instant::now();
    campaign.run(&mut store, begun.id, &mut |_, _| stop.end()).expect("it runs to its end");
    let taken = start.elapsed();
    let found = store.findings().next().cloned();
    store.close().expect("closed");
    (found, counters, taken)
}

fn check(name: &str, kinds: &[&str]) {
    let (found, counters, taken) = first_finding(name, u64::MAX, BAR);
    let found =
        found.unwrap_or_else(|| panic!("{name}: nothing in {} programs", counters.programs()));
    assert!(kinds.contains(&found.kind.as_str()), "{name}: {} {}", found.kind, found.explanation);
    println!("{name}: {} after {} programs, {taken:?}", found.title, counters.programs());
}

#[test]
fn a_wakeup_that_cancellation_loses_is_found() {
    check("planted-loses-wakeup", &["hang"]);
}

#[test]
fn a_message_that_two_cancellations_double_is_found() {
    check("planted-doubles", &["wrong-outcome", "hang"]);
}

#[test]
fn a_thread_that_overtakes_a_task_is_found() {
    check("planted-overtakes", &["wrong-outcome", "hang"]);
}

#[test]
fn a_close_that_is_seen_too_early_is_found() {
    check("planted-closes-early", &["wrong-outcome", "hang"]);
}

/// `STRAIT_TEST_COUNT` asks for more programs.
#[test]
fn the_channel_without_a_fault_is_clean() {
    let count = std::env::var("STRAIT_TEST_COUNT").ok().and_then(|text| text.parse().ok());
    let count = count.unwrap_or(400);
    let (found, counters, _) = first_finding("planted-none", count, Duration::from_secs(3_600));
    assert_eq!(found, None);
    assert_eq!(counters.programs(), count);
    assert_eq!(counters.count(counts::ASTRAY), 0, "programs that are none for their target");
}
