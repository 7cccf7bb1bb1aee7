//! The channel into which faults are planted is clean without them. How long the faults take to be found
//! depends on the machine: `strait fuzz planted-loses-wakeup --time 2m`, and the like for the others.

use std::time::Duration;

use strait_campaign::{Campaign, Counters, Request, Stop, begin};
use strait_findings::{Finding, Store};
use strait_fuzz::{FuzzTarget, Programs, Settings, counts};
use strait_runtimes::target;
use strait_toolchain::Launcher;

/// Fuzzes one target until something is found; what, and what was counted.
fn first_finding(name: &str, count: u64, time: Duration) -> (Option<Finding>, Counters) {
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
    let (found, counters) = first_finding("planted-none", count, Duration::from_secs(3_600));
    assert_eq!(found, None);
    assert_eq!(counters.programs(), count);
    assert_eq!(counters.count(counts::ASTRAY), 0, "programs that are none for their target");
}
