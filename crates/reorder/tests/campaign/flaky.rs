//! The smallest disturbances that make flaky tests fail, and their replays. The module is in
//! `tests/flaky`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_findings::{Batch, Store};
use strait_reorder::{Exhibit, FlakyOutcome, FlakySearch, Permitted, Request, prepare};

use crate::support::{cache, go_is_missing, launcher};

/// How long a search may take.
const TIME: Duration = Duration::from_secs(180);
/// In how many of twenty runs a disturbance has to show on a busy machine.
const OFTEN: u64 = 17;

#[test]
fn the_smallest_disturbance_is_found_and_replayed() {
    if go_is_missing() {
        return;
    }
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flaky");
    let stop = Arc::new(AtomicBool::new(false));
    let request = Request {
        directory: module.clone(),
        patterns: vec!["./...".to_owned()],
        run: None,
        race: false,
        virtual_time: true,
        tags: None,
    };
    let prepared = prepare(&request, &launcher(), &cache(), &stop, &mut |_| {}).expect("prepared");
    let search = |test: &str, time: Duration| -> FlakyOutcome {
        let mut subjects = prepared.subjects.iter();
        let subject = subjects.find(|subject| subject.test == test).expect("a test");
        FlakySearch::new(&prepared, subject, 1, time, &stop).run().expect("it runs")
    };
    let table = [
        (
            "TestForgottenWait",
            "the first goroutine that comes to flaky_test.go:16 in flaky.TestForgottenWait.func1 is 2ms late",
        ),
        (
            "TestOrder",
            "the first goroutine that comes to flaky_test.go:35 in flaky.TestOrder.func1 is 50ms late",
        ),
        (
            "TestTimeout",
            "the first goroutine that comes to flaky_test.go:50 in flaky.TestTimeout.func1 is 2s late",
        ),
    ];
    for (test, expected) in table {
        let outcome = search(test, TIME);
        assert_eq!(outcome.undisturbed.failed, 0, "{test}");
        let explained = outcome.explained.expect("found");
        let nudges: Vec<String> = explained.nudges.iter().map(ToString::to_string).collect();
        assert_eq!(nudges, [expected]);
        assert!(explained.failed >= OFTEN, "{test}: {} of {}", explained.failed, explained.runs);
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("a store");
        let id = store.campaign(1, 1, "flaky").expect("a campaign");
        let discovery = explained.discovery;
        let directory = folder.path().join("findings").join(discovery.id());
        store.commit(&Batch::new(id, "m", "go", 0..0).found(discovery)).expect("kept");
        store.close().expect("closed");
        let permitted = Permitted { module: None, here: &module, trust: false };
        let (launcher, cache) = (launcher(), cache());
        let exhibit = Exhibit::open(&directory, &permitted, &launcher, &cache, &stop, &mut |_| {})
            .expect("it is a finding");
        let again = exhibit.run(20, TIME, &stop).expect("it runs");
        assert!(again.failed >= OFTEN, "{test}: {again:?}");
    }
    let steady = search("TestSteady", Duration::from_secs(5));
    assert!(steady.explained.is_none(), "{:?}", steady.explained);
    assert_eq!(steady.undisturbed.failed, 0);
}
