//! `--shard I/N`: what N machines do that know nothing of each other is, put together, what one does.

#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it is the command")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use strait_findings::{Ranges, Store};

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

/// What the last campaign in a folder has executed of its one target, and the folder's findings.
fn results(folder: &Path) -> (Ranges, BTreeSet<String>) {
    let mut store = Store::open(folder).expect("a store");
    let known = store.last_campaign().expect("readable").expect("a campaign");
    let id = store.campaign(known.seed, known.generator_version, &known.settings).expect("known");
    let totals = store.totals(id).expect("readable");
    let [total] = &totals[..] else { panic!("one target, not {totals:?}") };
    let executed = store.executed(id, &total.target, &total.version).expect("readable");
    drop(store);
    (executed, findings(folder))
}

/// A campaign that finds something, as a whole and in three shares, which are merged twice.
fn shares_are_the_campaign(folder: &Path, campaign: &str, count: u64) {
    let campaign = format!("{campaign} --count {count}");
    assert_eq!(strait(folder, &format!("{campaign} --out whole")), Some(1));
    let (whole, found) = results(&folder.join("whole"));
    assert_eq!(whole.len(), count);
    assert!(!found.is_empty());
    let (mut together, mut executed) = (Ranges::default(), 0);
    for share in 0..3 {
        let line = format!("{campaign} --shard {share}/3 --out share-{share}");
        assert!(strait(folder, &line).is_some_and(|code| code < 2), "{line}");
        let (own, _) = results(&folder.join(format!("share-{share}")));
        executed += own.len();
        own.intervals().iter().for_each(|range| together.insert(range.clone()));
    }
    assert_eq!((together, executed), (whole, count), "each index is in one share");
    for _ in 0..2 {
        assert_eq!(strait(folder, "merge share-0 share-1 share-2 --out together"), Some(1));
        assert_eq!(findings(&folder.join("together")), found);
    }
}

fn findings(folder: &Path) -> BTreeSet<String> {
    let store = Store::open(folder).expect("a store");
    store.findings().map(|finding| finding.id.clone()).collect()
}

#[test]
fn merged_shares_of_a_campaign_are_the_campaign() {
    let folder = tempfile::tempdir().expect("a folder");
    shares_are_the_campaign(folder.path(), "fuzz broken-aborts --seed 11", 3000);
}

#[test]
fn merged_shares_of_questions_to_a_compiler_are_all_questions() {
    let folder = tempfile::tempdir().expect("a folder");
    let compiler = folder.path().join("compiler");
    // It has a version, and crashes over some programs.
    let script = "#!/bin/sh\ncase \"$1\" in --version) echo 'rustc 1.95.0'; exit 0;; esac\n\
                  if grep -q 7i32.*9i32.*7i32 \"$1\"; then kill -SEGV $$; fi\n";
    fs::write(&compiler, script).expect("written");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&compiler, executable).expect("executable");
    let oracle = compiler.display();
    let campaign = format!("types --fuzzer core --seed 1 --oracle {oracle}");
    shares_are_the_campaign(folder.path(), &campaign, 2500);
}
