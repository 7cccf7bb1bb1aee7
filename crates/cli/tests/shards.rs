//! `--shard I/N`: what N machines do that know nothing of each other is, put together, what one does.

#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it is the command")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use strait_findings::{Ranges, Store};

const TARGET: &str = "broken-aborts";

/// Runs a command in a folder; its exit code.
fn strait(folder: &Path, line: &str) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait"));
    command.args(line.split(' ')).arg("--quiet").current_dir(folder);
    command.output().expect("it runs").status.code()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let read = |path: &Path| fs::read(path).expect("a file");
    entries.map(|entry| (entry.file_name().display().to_string(), read(&entry.path()))).collect()
}

#[test]
fn shares_of_programs_are_all_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let gen_to = |more: &str| {
        let line = format!("gen --seed 3 --count 50 --mutants=2 {more}");
        assert_eq!(strait(folder.path(), &line), Some(0), "{line}");
    };
    gen_to("--out whole");
    let whole = files(&folder.path().join("whole"));
    let mut together = BTreeMap::new();
    for share in 0..3 {
        gen_to(&format!("--shard {share}/3 --out share-{share}"));
        for (name, content) in files(&folder.path().join(format!("share-{share}"))) {
            assert!(together.insert(name.clone(), content).is_none(), "{name} is in two shares");
        }
    }
    assert_eq!(together, whole);
    assert!(whole.len() > 50, "mutants as well");
}

/// What the last campaign in a folder has executed, and the folder's findings with their counts.
fn results(folder: &Path) -> (Ranges, BTreeMap<String, u64>) {
    let mut store = Store::open(folder).expect("a store");
    let version = strait_fuzz::built_in_version(strait_runtimes::target(TARGET).expect("known"));
    let known = store.last_campaign().expect("readable").expect("a campaign");
    let id = store.campaign(known.seed, known.generator_version, &known.settings).expect("known");
    let executed = store.executed(id, TARGET, &version).expect("readable");
    (executed, store.findings().map(|finding| (finding.id.clone(), finding.count)).collect())
}

#[test]
fn merged_shares_of_a_campaign_are_the_campaign() {
    let folder = tempfile::tempdir().expect("a folder");
    let fuzz = format!("fuzz {TARGET} --seed 11 --count 3000");
    assert_eq!(strait(folder.path(), &format!("{fuzz} --out whole")), Some(1));
    let (whole, found) = results(&folder.path().join("whole"));
    assert_eq!(whole.len(), 3000);
    let (mut together, mut executed) = (Ranges::default(), 0);
    for share in 0..3 {
        let line = format!("{fuzz} --shard {share}/3 --out share-{share}");
        assert!(strait(folder.path(), &line).is_some_and(|code| code < 2), "{line}");
        let (own, _) = results(&folder.path().join(format!("share-{share}")));
        executed += own.len();
        own.intervals().iter().for_each(|range| together.insert(range.clone()));
    }
    assert_eq!((together, executed), (whole, 3000), "each index is in one share");
    for _ in 0..2 {
        let merge = "merge share-0 share-1 share-2 --out together";
        assert_eq!(strait(folder.path(), merge), Some(1));
        let merged = results(&folder.path().join("together")).1;
        assert_eq!(merged.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    }
}
