//! What cannot be read is one clear error.

use std::fs;

use strait_golang::{Error, ExtractOptions};

use crate::support::{extracted, go};

#[test]
fn a_package_that_does_not_compile_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(go) = go(folder.path()) else { return };
    fs::write(folder.path().join("go.mod"), "module example.com/m\n\ngo 1.24\n").expect("written");
    fs::write(folder.path().join("main.go"), "package main\n\nfunc main() { x := 1 }\n")
        .expect("written");
    let error = extracted(&go, ExtractOptions::default()).expect_err("does not compile");
    assert!(matches!(error, Error::Packages { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("main.go:3:15") && said.contains("declared and not used"), "{said}");
}

#[test]
fn an_entry_that_is_not_there_is_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(go) = go(folder.path()) else { return };
    fs::write(folder.path().join("go.mod"), "module example.com/m\n\ngo 1.24\n").expect("written");
    fs::write(folder.path().join("main.go"), "package main\n\nfunc main() {}\n").expect("written");
    let options = ExtractOptions { entries: vec!["nowhere".to_owned()], ..Default::default() };
    let extraction = extracted(&go, options).expect("extracted");
    assert!(extraction.entries.is_empty());
    assert!(extraction.warnings[0].subject.contains("nowhere"), "{:?}", extraction.warnings);
}
