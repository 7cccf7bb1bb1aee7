//! The helper's own house: its Go tests pass, it is formatted and vetted, and all of it travels in
//! the binary.

use std::fs;
use std::path::Path;

use crate::support::go;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("extract")
}

#[test]
fn the_helper_passes_its_own_tests() {
    let Some(go) = go(&folder()) else { return };
    for arguments in [["vet", "./..."], ["test", "./..."]] {
        let spec =
            go.spec(arguments).variable("GOFLAGS", "-mod=readonly").variable("GOWORK", "off");
        let finished = go.run(spec).expect("go runs");
        let (stdout, stderr) = (finished.stdout.text(), finished.stderr.text());
        assert!(finished.end.is_success(), "go {}: {stdout}{stderr}", arguments.join(" "));
    }
    let gofmt = go.root().join("bin/gofmt");
    let finished = go.run(go.program(gofmt).arguments(["-l", "."])).expect("gofmt runs");
    assert_eq!(finished.stdout.text(), "", "these files are not formatted");
}

#[test]
fn every_source_of_the_helper_travels_in_the_binary() {
    let listed = include_str!("../../src/extract/helper.rs");
    for file in fs::read_dir(folder()).expect("the helper") {
        let name = file.expect("a file").file_name().into_string().expect("a plain name");
        if name.ends_with(".go") && !name.ends_with("_test.go") {
            let line = format!("include_str!(\"../../extract/{name}\")");
            assert!(listed.contains(&line), "{name} is not in SOURCES");
        }
    }
}
