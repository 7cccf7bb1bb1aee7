//! The store in bad times: killed, disk full, read-only, damaged. What was found stays found.

#![expect(clippy::print_stdout, reason = "what is skipped is said aloud, and the seed")]
#![expect(
    clippy::disallowed_methods,
    reason = "tidy: starts a process because it must be killed, or mounts a small disk"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use strait_findings::{
    Batch, Discovery, Error, FINDINGS, INDEX, JOURNAL, Kind, Store, read, report,
};

/// A small generator of numbers, with its seed in STRAIT_TEST_SEED.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let given = std::env::var("STRAIT_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let now =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_nanos() as u64);
        let seed = given.unwrap_or(now | 1);
        println!("STRAIT_TEST_SEED={seed}");
        Random(seed)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn subject(folder: &Path, end: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait-findings-subject"));
    command.arg(folder).arg(end.to_string()).stdout(Stdio::piped());
    command
}

/// The findings with their counts, and how much was executed.
fn content(folder: &Path) -> (BTreeMap<String, u64>, u64) {
    let mut store = Store::open(folder).expect("it opens");
    let campaign = store.campaign(1, 1, "").expect("a campaign");
    let counts = store.findings().map(|finding| (finding.id.clone(), finding.count)).collect();
    (counts, store.executed(campaign, "toy", "1.0.0").expect("known").len())
}

#[test]
fn killed_at_any_moment_it_loses_nothing_and_repeats_nothing() {
    const END: u64 = 240;
    let (undisturbed, disturbed) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let started = Instant::now();
    assert!(subject(undisturbed.path(), END).output().expect("it runs").status.success());
    // A fortieth of the time it takes: so 20 kills surely come before its end.
    let patience = (started.elapsed().as_micros() as u64 / 40).max(200);
    let mut random = Random::new();
    let (mut kills, mut said_before) = (0, 0);
    for round in 0..2000 {
        let mut child = subject(disturbed.path(), END).spawn().expect("it starts");
        // Kills at all phases: opening, writing, committing. Later rounds are longer, so that it
        // gets to its end.
        thread::sleep(Duration::from_micros(random.below(patience * (1 + round / 20))));
        let over = child.try_wait().expect("a child").is_some();
        child.kill().expect("SIGKILL");
        let mut said = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
        child.wait().expect("reaped");
        if over && said.contains("complete") {
            break;
        }
        kills += 1;
        let indices: Vec<u64> = said.lines().filter_map(|line| line.parse().ok()).collect();
        assert!(
            indices.iter().all(|index| *index >= said_before),
            "repeated: {indices:?} after {said_before}"
        );
        said_before = indices.last().map_or(said_before, |last| last + 1);
        check_directories(disturbed.path());
    }
    println!("{kills} kills");
    assert!(kills >= 20, "too fast to be killed: {kills}");
    let (counts, executed) = content(disturbed.path());
    assert_eq!(executed, END);
    assert_eq!(counts.values().sum::<u64>(), END / 3);
    assert_eq!((counts, executed), content(undisturbed.path()));
}

/// Every directory that can be seen is complete.
fn check_directories(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder.join(FINDINGS)) else { return };
    for path in entries.map(|entry| entry.expect("readable").path()) {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            continue;
        }
        let finding = read(&path).expect("complete");
        assert!(finding.files.iter().all(|file| path.join(file).is_file()), "{}", path.display());
        assert!(path.join("README.md").is_file());
    }
}

/// A store with three findings and 100 executed indices.
fn filled(folder: &Path) {
    let mut store = Store::open(folder).expect("it opens");
    let campaign = store.campaign(1, 1, "").expect("a campaign");
    let mut batch = Batch::new(campaign, "toy", "1.0.0", 0..100);
    for (index, name) in ["a", "b", "c"].into_iter().enumerate() {
        batch = batch.found(
            Discovery::new(Kind::CRASH, "toy", "1.0.0", 1, index as u64)
                .fingerprint(name)
                .program("main { }"),
        );
    }
    store.commit(&batch).expect("it fits");
    store.close().expect("it closes");
}

#[test]
fn a_truncated_index_is_moved_aside_and_rebuilt() {
    let mut random = Random::new();
    for round in 0..12 {
        let folder = tempfile::tempdir().expect("a folder");
        filled(folder.path());
        let path = folder.path().join(INDEX);
        let length = fs::metadata(&path).expect("there").len();
        let keep = if round == 0 { 0 } else { random.below(length) };
        File::options().write(true).open(&path).and_then(|file| file.set_len(keep)).expect("cut");
        check_rebuilt(folder.path(), &format!("{keep} of {length} bytes"));
    }
}

#[test]
fn garbage_in_the_index_is_noticed_or_harmless() {
    let mut random = Random::new();
    for _ in 0..12 {
        let folder = tempfile::tempdir().expect("a folder");
        filled(folder.path());
        let path = folder.path().join(INDEX);
        let mut bytes = fs::read(&path).expect("there");
        let start = random.below(bytes.len() as u64 - 600) as usize;
        bytes[start..start + 600].iter_mut().for_each(|byte| *byte = random.below(256) as u8);
        fs::write(&path, bytes).expect("written");
        match Store::open(folder.path()) {
            Ok(store) => assert_eq!(store.findings().count(), 3, "garbage at {start}"),
            // A version number hit by chance.
            Err(error) => {
                assert!(matches!(error, Error::OtherVersion { .. }), "garbage at {start}: {error}")
            }
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path());
    fs::write(folder.path().join(INDEX), "this is a letter to my aunt".repeat(1000))
        .expect("written");
    check_rebuilt(folder.path(), "a letter");
}

fn check_rebuilt(folder: &Path, what: &str) {
    let page = report(folder).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(page.contains("3 findings in toy"), "{what}: the report needs the directories only");
    let store = Store::open(folder).unwrap_or_else(|error| panic!("{what}: {error}"));
    let recovery = store.recovery().clone();
    assert_eq!(store.findings().count(), 3, "{what}");
    assert_eq!(recovery.adopted.len(), 3, "{what}");
    assert!(recovery.damaged_index.is_some_and(|aside| aside.is_file()), "{what}");
    assert!(recovery.journal, "{what}");
    check_executed(store, what);
    assert_eq!(Store::open(folder).expect("sound").recovery().damaged_index, None, "{what}");
}

/// The campaign of [`filled`] is known with all it has done, as before the damage.
fn check_executed(mut store: Store, what: &str) {
    let known = store.last_campaign().expect("an index").expect(what);
    assert_eq!(
        (known.seed, known.generator_version, known.settings.as_str()),
        (1, 1, ""),
        "{what}"
    );
    let campaign = store.campaign(1, 1, "").expect("the same campaign");
    let executed = store.executed(campaign, "toy", "1.0.0").expect("known");
    assert_eq!(executed.intervals().first(), Some(&(0..100)), "{what}");
    assert_eq!(executed.len(), 100, "{what}");
    let totals = store.totals(campaign).expect("known");
    assert_eq!((totals.len(), totals[0].programs, totals[0].runs), (1, 100, 100), "{what}");
    assert!(store.findings().all(|finding| finding.count == 1), "{what}");
}

#[test]
fn a_damaged_index_is_rebuilt_from_the_journal_even_after_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = |store: &Store| -> u64 { store.findings().map(|finding| finding.count).sum() };
    let fill = |store: &mut Store, campaign, indices: std::ops::Range<u64>| {
        for index in indices {
            let found = Discovery::new(Kind::CRASH, "toy", "1.0.0", 7, index).fingerprint("a");
            let batch = Batch::new(campaign, "toy", "1.0.0", index..index + 1).runs(10);
            store.commit(&batch.found(found)).expect("it fits");
        }
    };
    let mut store = Store::open(folder.path()).expect("it opens");
    store.campaign(6, 1, "another one").expect("a campaign");
    let campaign = store.campaign(7, 1, "settings").expect("a campaign");
    fill(&mut store, campaign, 0..3);
    store.close().expect("it closes");
    let mut store = Store::open(folder.path()).expect("it opens");
    let campaign = store.campaign(7, 1, "settings").expect("a campaign");
    fill(&mut store, campaign, 3..10);
    // As after `kill -9`: nothing is closed, and the last line of the journal is cut short.
    drop(store);
    let journal = folder.path().join(JOURNAL);
    let mut text = fs::read(&journal).expect("there");
    text.truncate(text.len() - 40);
    fs::write(&journal, text).expect("written");
    for (round, left) in ["garbage", "nothing"].into_iter().enumerate() {
        match left {
            "garbage" => fs::write(folder.path().join(INDEX), "x".repeat(5000)).expect("written"),
            _ => {
                for suffix in ["", "-wal", "-shm"] {
                    let _ = fs::remove_file(folder.path().join(format!("{INDEX}{suffix}")));
                }
            }
        }
        let mut store = Store::open(folder.path()).expect("it opens");
        assert!(store.recovery().journal, "{left}");
        let last = store.last_campaign().expect("an index").expect("a campaign");
        assert_eq!((last.seed, last.settings.as_str()), (7, "settings"), "{left}");
        let campaign = store.campaign(7, 1, "settings").expect("the same one");
        let executed = store.executed(campaign, "toy", "1.0.0").expect("known");
        let missing = executed.missing(0..10);
        // The last batch is executed once more after the first damage, and counts once.
        assert_eq!(executed.len(), if round == 0 { 9 } else { 10 }, "{left}");
        for range in missing {
            fill(&mut store, campaign, range);
        }
        let total = &store.totals(campaign).expect("known")[0];
        assert_eq!((total.programs, total.runs, count(&store)), (10, 100, 10), "{left}");
        store.close().expect("it closes");
    }
}

/// A disk of its own, gone when dropped; `None`, said aloud, where one cannot be had.
struct Disk(tempfile::TempDir);

impl Disk {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Disk(folder));
        }
        println!("skipped: a small disk can be mounted by root on Linux only");
        None
    }

    /// A child that another test is just starting may hold a file of the disk for a moment.
    fn remount(&self, options: &str) {
        let remount = || {
            Command::new("mount")
                .args(["-o", &format!("remount,{options}")])
                .arg(self.0.path())
                .status()
        };
        let done = (0..200).any(|_| {
            thread::sleep(Duration::from_millis(10));
            remount().is_ok_and(|status| status.success())
        });
        assert!(done, "remount,{options}");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let Some(disk) = Disk::mount("3m") else { return };
    let folder = disk.0.path().join("out");
    let mut store = Store::open(&folder).expect("it opens");
    let campaign = store.campaign(1, 1, "").expect("a campaign");
    let name = |index: u64| {
        ('a'..='z')
            .cycle()
            .skip(index as usize % 26)
            .take(1 + index as usize / 26)
            .collect::<String>()
    };
    let batch = |index: u64| {
        let mut discovery =
            Discovery::new(Kind::CRASH, "toy", "1.0.0", 1, index).fingerprint(name(index));
        discovery.output = vec![b'x'; 100_000];
        Batch::new(campaign, "toy", "1.0.0", index..index + 1).found(discovery)
    };
    let (failed, error) = (0..1000)
        .find_map(|index| store.commit(&batch(index)).err().map(|error| (index, error)))
        .expect("3 MiB are not enough");
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert!(failed > 5, "{failed}");
    assert_eq!(store.findings().count() as u64, failed);
    assert!(store.commit(&batch(failed)).is_err(), "and still full");
    check_directories(&folder);
    assert!(report(&folder).expect("readers need no room").contains(&format!("{failed} findings")));
    disk.remount("size=20m");
    store.commit(&batch(failed)).expect("the same batch fits now");
    drop(store);
    let (counts, executed) = content(&folder);
    assert_eq!((counts.len() as u64, executed), (failed + 1, failed + 1));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_said_and_can_be_reported() {
    let Some(disk) = Disk::mount("5m") else { return };
    let folder = disk.0.path().join("out");
    filled(&folder);
    disk.remount("ro");
    let error = Store::open(&folder).expect_err("read-only");
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("choose another folder with --out"), "{error}");
    let page = report(&folder).expect("it can be read");
    assert!(
        page.contains("3 findings in toy") && !page.contains("Only the finding directories"),
        "{page}"
    );
    let error = Store::open(disk.0.path().join("new")).expect_err("read-only");
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
}

#[test]
fn a_disk_that_is_lost_in_the_middle_is_an_error_and_no_panic() {
    let Some(disk) = Disk::mount("5m") else { return };
    let folder = disk.0.path().join("out");
    let mut store = Store::open(&folder).expect("it opens");
    let campaign = store.campaign(1, 1, "").expect("a campaign");
    fs::remove_dir_all(&folder).expect("removed");
    let discovery = Discovery::new(Kind::CRASH, "toy", "1.0.0", 1, 1);
    let error =
        store.commit(&Batch::new(campaign, "toy", "1.0.0", 0..1).found(discovery)).map(|_| ());
    println!("{error:?}");
    drop(store);
    assert!(Store::open(&folder).is_ok());
}
