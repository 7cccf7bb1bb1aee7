//! The store in good times: what goes in comes out, once; and what others do to it meanwhile.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use strait_findings::{
    Batch, CampaignId, Discovery, Error, FINDINGS, INDEX, Kind, REDUCED, Replay, Store, attach,
    read, report,
};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn open(folder: &TempDir) -> (Store, CampaignId) {
    let mut store = Store::open(folder.path()).expect("it opens");
    let campaign = store.campaign(7, 1, "size=16").expect("a campaign");
    (store, campaign)
}

fn hang(index: u64, fingerprint: &str) -> Discovery {
    let mut discovery = Discovery::new(Kind::HANG, "flume", "0.12.0", 7, index)
        .title("it waits")
        .fingerprint(fingerprint);
    discovery.sources.push(("../main.rs".into(), "fn main() {}".into()));
    discovery.output = b"\xff raw \x1b[31m".to_vec();
    discovery.observation = Some(serde_json::json!({ "main": [1, 2] }));
    discovery.program("main { chan c: unit }")
}

fn directories(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join(FINDINGS))
        .expect("it is there")
        .map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_same_fault_is_one_finding_with_a_count() {
    let folder = folder();
    let (mut store, campaign) = open(&folder);
    let batch = Batch::new(campaign, "flume", "0.12.0", 0..10).runs(100);
    let batch =
        batch.found(hang(1, "wait at 0x1")).found(hang(2, "wait at 0x2")).found(hang(3, "other"));
    let recorded = store.commit(&batch).expect("it fits");
    let shown: Vec<(bool, u64)> =
        recorded.iter().map(|recorded| (recorded.new, recorded.count)).collect();
    assert_eq!(shown, [(true, 2), (true, 2), (true, 1)]);
    let again = store
        .commit(&Batch::new(campaign, "flume", "0.12.0", 10..20).found(hang(11, "wait at 0x77")))
        .expect("it fits");
    assert_eq!((again[0].new, again[0].count, &again[0].id), (false, 3, &recorded[0].id));
    store.close().expect("it closes");
    let finding = read(&recorded[0].directory).expect("it is there");
    assert_eq!((finding.count, finding.seed, finding.index), (3, 7, 1));
    assert_eq!(directories(folder.path()).len(), 2);
}

#[test]
fn a_directory_stands_alone() {
    let folder = folder();
    let (mut store, campaign) = open(&folder);
    let mut discovery = hang(1, "x").title("`rm -rf` <b>\n# no heading");
    discovery.schedule = Some(serde_json::json!(["main", "p1"]));
    discovery.program = Some("```\nmain { }".into());
    let recorded = store
        .commit(&Batch::new(campaign, "flume", "0.12.0", 0..2).found(discovery))
        .expect("it fits");
    let directory = &recorded[0].directory;
    let finding = read(directory).expect("it is there");
    assert_eq!(
        finding.files,
        ["program.strait", "source/_main.rs", "output.txt", "schedule.json", "observation.json"]
    );
    assert!(finding.files.iter().all(|file| directory.join(file).is_file()));
    assert_eq!(fs::read(directory.join("output.txt")).expect("there"), b"\xff raw \x1b[31m", "raw");
    let page = fs::read_to_string(directory.join("README.md")).expect("there");
    assert!(page.starts_with("# \\`rm -rf\\` \\<b\\> \\# no heading\n\nShows it again, started in this directory:\n\n```sh\nstrait replay .\n```\n"), "{page}");
    assert!(page.contains("````text\n  1  ```\n  2  main { }\n````"), "{page}");
}

#[test]
fn a_finding_can_be_replayed_and_added_to() {
    let folder = folder();
    let (mut store, campaign) = open(&folder);
    let recorded = store
        .commit(&Batch::new(campaign, "flume", "0.12.0", 0..2).found(hang(1, "x")))
        .expect("it fits");
    let directory = &recorded[0].directory;
    let replay = Replay::read(directory).expect("it is there");
    assert_eq!(replay.program.as_deref(), Some("main { chan c: unit }"));
    assert_eq!(replay.observation, Some(serde_json::json!({ "main": [1, 2] })));
    assert_eq!(attach(directory, REDUCED, b"main { }").expect("it fits"), REDUCED);
    assert!(attach(directory, "finding.json", b"{}").is_err());
    // The campaign goes on and counts; what was added stays.
    store
        .commit(&Batch::new(campaign, "flume", "0.12.0", 2..3).found(hang(2, "x")))
        .expect("it fits");
    store.close().expect("it closes");
    let replay = Replay::read(directory).expect("it is there");
    assert_eq!(
        (replay.program.as_deref(), replay.original.as_deref()),
        (Some("main { }"), Some("main { chan c: unit }"))
    );
    assert_eq!(
        (replay.finding.count, replay.finding.files.last().map(String::as_str)),
        (2, Some(REDUCED))
    );
    assert!(report(folder.path()).expect("a page").contains("The reduced program"));
    let error = Replay::read(folder.path()).expect_err("not a finding");
    assert!(error.to_string().contains("there is no finding in"), "{error}");
}

#[test]
fn a_batch_put_in_twice_counts_once() {
    let folder = folder();
    let (mut store, campaign) = open(&folder);
    let batch = Batch::new(campaign, "flume", "0.12.0", 0..10).found(hang(1, "x"));
    store.commit(&batch).expect("it fits");
    assert_eq!(store.commit(&batch).expect("it fits")[0].count, 1);
}

#[test]
fn a_campaign_is_taken_up_where_it_was() {
    let folder = folder();
    let (mut store, campaign) = open(&folder);
    for range in [0..10, 20..30, 10..15] {
        store.commit(&Batch::new(campaign, "flume", "0.12.0", range)).expect("it fits");
    }
    store.commit(&Batch::new(campaign, "flume", "0.11.0", 0..5).runs(50)).expect("it fits");
    let other = store.campaign(8, 1, "size=16").expect("another");
    drop(store);
    let (store, again) = open(&folder);
    assert_eq!(again, campaign);
    assert_ne!(again, other);
    assert_eq!(
        store.executed(campaign, "flume", "0.12.0").expect("known").intervals(),
        [0..15, 20..30]
    );
    assert_eq!(
        store.executed(campaign, "flume", "0.12.0").expect("known").missing(0..40),
        [15..20, 30..40]
    );
    assert!(store.executed(other, "flume", "0.12.0").expect("known").is_empty());
    let totals: Vec<(String, u64, u64)> = store
        .totals(campaign)
        .expect("known")
        .into_iter()
        .map(|total| (total.version, total.programs, total.runs))
        .collect();
    assert_eq!(totals, [("0.11.0".into(), 5, 50), ("0.12.0".into(), 25, 25)]);
}

#[test]
fn seeds_are_any_number_and_indices_are_bounded() {
    let folder = folder();
    let mut store = Store::open(folder.path()).expect("it opens");
    let campaign = store.campaign(u64::MAX, 1, "").expect("any seed");
    let mut discovery = hang(u64::MAX, "x");
    discovery.seed = u64::MAX;
    store.commit(&Batch::new(campaign, "x", "1", 0..1).found(discovery)).expect("any program");
    assert_eq!(store.findings().next().map(|finding| finding.seed), Some(u64::MAX));
    let error = store.commit(&Batch::new(campaign, "x", "1", 5..u64::MAX)).expect_err("too large");
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert_eq!(
        store.executed(campaign, "x", "1").expect("known").intervals().len(),
        1,
        "nothing of it went in"
    );
}

#[test]
fn only_one_may_write() {
    let folder = folder();
    let (store, _) = open(&folder);
    let error = Store::open(folder.path()).expect_err("it is in use");
    let own = format!("(process {})", std::process::id());
    assert!(
        error.to_string().contains("in use by another run of Strait")
            && error.to_string().contains(&own),
        "{error}"
    );
    drop(store);
    Store::open(folder.path()).expect("it is free");
}

#[test]
fn many_who_open_at_once_get_it_one_after_another() {
    let folder = folder();
    let count = std::thread::scope(|scope| {
        let try_it = |number: u64| {
            let mut committed = 0;
            for round in 0..20 {
                let Ok(mut store) = Store::open(folder.path()) else { continue };
                let campaign = store.campaign(7, 1, "").expect("a campaign");
                let index = number * 100 + round;
                store
                    .commit(
                        &Batch::new(campaign, "x", "1", index..index + 1).found(hang(index, "x")),
                    )
                    .expect("it fits");
                committed += 1;
            }
            committed
        };
        let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || try_it(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<u64>()
    });
    let store = Store::open(folder.path()).expect("it is free");
    assert!(count > 0);
    assert_eq!(store.findings().map(|finding| finding.count).collect::<Vec<u64>>(), [count]);
}

#[test]
fn an_index_that_another_program_holds_is_said() {
    let folder = folder();
    let (mut store, campaign) = open(&folder);
    let browser = Connection::open(folder.path().join(INDEX)).expect("it opens");
    browser.execute_batch("BEGIN IMMEDIATE; DELETE FROM executed").expect("it holds the file");
    let batch = Batch::new(campaign, "flume", "0.12.0", 0..10).found(hang(1, "x"));
    let error = store.commit(&batch).expect_err("it is locked");
    assert!(error.to_string().contains("is locked by another program"), "{error}");
    browser.execute_batch("ROLLBACK").expect("it lets go");
    assert_eq!(store.commit(&batch).expect("the same batch fits now")[0].count, 1);
}

#[test]
fn what_another_version_or_program_wrote_is_left_alone() {
    let newer = folder();
    drop(open(&newer));
    let index = Connection::open(newer.path().join(INDEX)).expect("it opens");
    index.pragma_update(None, "user_version", 99).expect("changed");
    drop(index);
    let error = Store::open(newer.path()).expect_err("from the future");
    assert!(error.to_string().contains("has format 99"), "{error}");

    let finding = folder();
    let (mut store, campaign) = open(&finding);
    let recorded = store
        .commit(&Batch::new(campaign, "flume", "0.12.0", 0..2).found(hang(1, "x")))
        .expect("it fits");
    drop(store);
    let path = recorded[0].directory.join("finding.json");
    let text = fs::read_to_string(&path).expect("there").replace("\"format\": 1", "\"format\": 5");
    fs::write(&path, text).expect("changed");
    let error = Store::open(finding.path()).expect_err("from the future");
    assert!(matches!(error, Error::OtherVersion { found: 5, .. }), "{error}");

    let foreign = folder();
    let other = Connection::open(foreign.path().join(INDEX)).expect("it opens");
    other.execute_batch("CREATE TABLE recipes (name TEXT)").expect("made");
    drop(other);
    let error = Store::open(foreign.path()).expect_err("not ours");
    assert!(error.to_string().contains("a database of another program"), "{error}");
}

#[test]
fn directories_and_index_are_made_to_agree() {
    let folder = folder();
    let (mut store, campaign) = open(&folder);
    let batch = Batch::new(campaign, "flume", "0.12.0", 0..9)
        .found(hang(1, "one"))
        .found(hang(2, "two"))
        .found(hang(3, "three"));
    let recorded = store.commit(&batch).expect("it fits");
    drop(store);
    // Somebody removes one, the index forgets another, a third is half written, a fourth is no finding.
    fs::remove_dir_all(&recorded[0].directory).expect("removed");
    let index = Connection::open(folder.path().join(INDEX)).expect("it opens");
    index.execute_batch("PRAGMA foreign_keys = ON").expect("on");
    index.execute("DELETE FROM findings WHERE id = ?1", [&recorded[1].id]).expect("deleted");
    drop(index);
    fs::create_dir(folder.path().join(FINDINGS).join(".incomplete-x")).expect("made");
    fs::create_dir(folder.path().join(FINDINGS).join("strange")).expect("made");
    let store = Store::open(folder.path()).expect("it opens");
    let recovery = store.recovery();
    assert_eq!(recovery.forgotten, [recorded[0].id.clone()]);
    assert_eq!(recovery.adopted, [recorded[1].id.clone()]);
    assert_eq!(recovery.cleaned, [".incomplete-x"]);
    assert_eq!(recovery.unreadable.len(), 1);
    let mut expected = vec![recorded[1].id.clone(), recorded[2].id.clone()];
    expected.sort();
    assert_eq!(
        store.findings().map(|finding| finding.id.clone()).collect::<Vec<String>>(),
        expected
    );
    drop(store);
    let store = Store::open(folder.path()).expect("it opens");
    assert!(store.recovery().adopted.is_empty(), "once is enough");
}

/// Two machines with a share each, and one of them merged twice, in between, too.
#[test]
fn shares_are_joined_and_counted_once() {
    let folders = [folder(), folder(), folder()];
    let share = |number: usize, indices: std::ops::Range<u64>, found: &[Discovery]| {
        let mut store = Store::open(folders[number].path()).expect("it opens");
        let settings = format!("share {number}");
        let campaign = store.campaign(7, 1, &settings).expect("a campaign");
        let batch = Batch::new(campaign, "flume", "0.12.0", indices).runs(100);
        let batch = Batch { discoveries: found.to_vec(), ..batch };
        store.commit(&batch).expect("it fits");
        store.close().expect("it closes");
    };
    share(0, 0..10, &[hang(1, "one"), hang(2, "one")]);
    share(1, 10..20, &[hang(11, "one"), hang(12, "two")]);
    let merged = |number: usize| {
        let mut store = Store::open(folders[2].path()).expect("it opens");
        let merged = store.merge(folders[number].path()).expect("it merges");
        store.close().expect("it closes");
        (merged.campaigns, merged.findings)
    };
    assert_eq!([merged(0), merged(0), merged(1)], [(1, 1), (0, 0), (1, 1)]);
    share(0, 20..30, &[hang(25, "two"), hang(26, "three")]);
    assert_eq!([merged(0), merged(1), merged(0)], [(1, 1), (0, 0), (0, 0)]);

    let mut store = Store::open(folders[2].path()).expect("it opens");
    let mut counts: Vec<u64> = store.findings().map(|finding| finding.count).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 2, 3]);
    let totals = ["share 0", "share 1"].map(|settings| {
        let campaign = store.campaign(7, 1, settings).expect("known");
        let executed = store.executed(campaign, "flume", "0.12.0").expect("known");
        let starts: Vec<u64> = executed.intervals().iter().map(|range| range.start).collect();
        (store.totals(campaign).expect("known")[0].programs, starts)
    });
    assert_eq!(totals, [(20, vec![0, 20]), (10, vec![10])]);
    let nothing = store.merge(Path::new("/nowhere"));
    assert!(matches!(nothing, Err(Error::NoCampaign { .. })));
    for finding in store.findings() {
        let there = read(&store.directory(&finding.id)).expect("its directory came along");
        assert_eq!(there.count, finding.count);
        assert!(there.files.iter().any(|file| file.starts_with("source/")));
        let mut files = there.files.iter().map(|file| store.directory(&finding.id).join(file));
        assert!(files.all(|file| file.is_file()));
    }
}

/// What was removed is left out; what is damaged is not passed over in silence.
#[test]
fn damaged_findings_are_not_merged() {
    let (share, all) = (folder(), folder());
    let mut store = Store::open(share.path()).expect("it opens");
    let campaign = store.campaign(7, 1, "").expect("a campaign");
    let batch = Batch::new(campaign, "flume", "0.12.0", 0..10).found(hang(1, "one"));
    let id = store.commit(&batch.found(hang(2, "two"))).expect("it fits")[0].id.clone();
    let directory = store.directory(&id);
    store.close().expect("it closes");
    fs::write(directory.join("finding.json"), "{ \"kind\": ").expect("written");
    let mut store = Store::open(all.path()).expect("it opens");
    let merged = store.merge(share.path());
    assert!(matches!(merged, Err(Error::NotAFinding { .. })), "{merged:?}");
    fs::remove_dir_all(directory).expect("removed");
    assert_eq!(store.merge(share.path()).expect("it merges").findings, 1);
}

#[test]
fn a_folder_that_strait_makes_is_kept_out_of_version_control() {
    let folder = tempfile::tempdir().expect("a folder");
    let (made, given) = (folder.path().join("strait-out"), folder.path().join("given"));
    fs::create_dir(&given).expect("made");
    for root in [&made, &given] {
        Store::open(root).expect("a store").close().expect("closed");
    }
    let text = |root: &Path| fs::read_to_string(root.join(".gitignore")).ok();
    assert_eq!(text(&made).as_deref(), Some("*\n"));
    // It may hold other things than ours.
    assert_eq!(text(&given), None);
    fs::remove_file(made.join(".gitignore")).expect("removed");
    Store::open(&made).expect("a store").close().expect("closed");
    assert_eq!(text(&made), None, "what the user removes stays removed");
}
