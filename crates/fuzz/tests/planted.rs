//! Faults that are planted into a channel are found by default settings, and the channel without them is
//! clean. How long that takes depends on the machine and stands in BENCHMARKS.md; here campaigns are bounded
//! by their number of programs.

use strait_campaign::{Campaign, Counters, Request, Stop, begin};
use strait_findings::{Finding, Kind, Store};
use strait_fuzz::{FuzzTarget, Programs, Settings, counts};
use strait_runtimes::target;
use strait_toolchain::Launcher;

/// Programs after which a planted fault counts as missed. Each is found in a small part of them.
const MOST: u64 = 30_000;

/// Fuzzes one target until something is found; what, and what was counted.
fn first_finding(name: &str, count: u64) -> (Option<Finding>, Counters) {
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
    let campaign = Campaign {
        workload: &workload,
        count: begun.count,
        shard: begun.shard,
        jobs: 2,
        stop: &stop,
        counters: &counters,
    };
    campaign.run(&mut store, begun.id, &mut |_, _| stop.end()).expect("it runs to its end");
    let found = store.findings().next().cloned();
    store.close().expect("closed");
    (found, counters)
}

/// `STRAIT_TEST_COUNT` asks for more programs.
#[test]
fn the_channel_without_a_fault_is_clean() {
    let count = std::env::var("STRAIT_TEST_COUNT").ok().and_then(|text| text.parse().ok());
    let count = count.unwrap_or(200);
    let (found, counters) = first_finding("planted-none", count);
    assert_eq!(found, None);
    assert_eq!(counters.programs(), count);
    assert_eq!(counters.count(counts::ASTRAY), 0, "programs that are none for their target");
}

/// The first finding has one of these kinds.
fn is_found(name: &str, kinds: &[Kind]) {
    let (found, counters) = first_finding(name, MOST);
    let found = found.map(|finding| finding.kind);
    let programs = counters.programs();
    assert!(
        found.as_ref().is_some_and(|found| kinds.contains(found)),
        "{name}: {found:?} instead of one of {kinds:?} after {programs} programs"
    );
}

#[test]
fn a_wakeup_that_is_lost_when_an_operation_is_given_up_is_found() {
    is_found("planted-loses-wakeup", &[Kind::HANG]);
}

/// A copy that is received is a wrong outcome. A copy that stays in a full buffer makes a later send wait
/// forever.
#[test]
fn a_message_that_is_doubled_when_two_receives_are_given_up_is_found() {
    is_found("planted-doubles", &[Kind::WRONG_OUTCOME, Kind::HANG]);
}

#[test]
fn a_message_to_a_thread_that_overtakes_one_to_a_task_is_found() {
    is_found("planted-overtakes", &[Kind::WRONG_OUTCOME]);
}

#[test]
fn a_close_that_is_seen_too_early_is_found() {
    is_found("planted-closes-early", &[Kind::WRONG_OUTCOME]);
}

#[test]
fn a_permit_that_is_lost_when_a_send_is_given_up_is_found() {
    is_found("planted-loses-permit", &[Kind::HANG]);
}

#[test]
fn memory_that_is_touched_some_nanoseconds_after_it_was_freed_is_found() {
    is_found("planted-touches-freed", &[Kind::CRASH]);
}
