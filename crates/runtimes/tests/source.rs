//! The program for another version is complete.

use std::collections::BTreeSet;

use strait_runtimes::{TARGETS, harness_source, target};

#[test]
fn every_file_of_the_harness_is_in_it() {
    let source = harness_source(target("kanal").expect("it is there"), "0.1.0-pre1")
        .expect("kanal is a crate");
    let modules = include_str!("../src/harness/mod.rs").lines();
    let modules = modules.filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let mut expected: BTreeSet<String> =
        modules.chain(["mod"]).map(|module| format!("src/harness/{module}.rs")).collect();
    let more = ["Cargo.toml", "src/main.rs", "src/targets/kanal.rs", "src/targets/mod.rs"];
    expected.extend(more.map(str::to_owned));
    let files: BTreeSet<String> = source.files.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(files, expected);
    assert_eq!(source.pin, Some(("kanal".to_owned(), "0.1.0-pre1".to_owned())));
    let manifest = &source.files.iter().find(|(path, _)| path == "Cargo.toml").unwrap().1;
    assert!(manifest.contains("kanal = { version = \"0.1.0-pre1\" }"), "{manifest}");
}

#[test]
fn harness_and_targets_use_nothing_of_strait() {
    for info in TARGETS {
        let Some(source) = harness_source(info, "1.0.0") else { continue };
        for (path, text) in source.files {
            assert!(!text.contains("strait_"), "{}: {path}", info.name);
        }
    }
}
