//! Published modules: nothing in them makes the extraction fail, and most of their concurrency is
//! lowered exactly. `cargo run --release -p strait-golang --example modules` does the same with large
//! ones.
#![allow(clippy::print_stdout, reason = "the share that is exact is reported")]

use strait_golang::{ExtractOptions, Go};
use strait_toolchain::Launcher;

use crate::files::{COPY, fetch};
use crate::support::{extracted, go};

const MODULES: &[&str] = &[
    "github.com/cenkalti/backoff/v4@v4.3.0",
    "github.com/eapache/go-resiliency@v1.7.0",
    "github.com/fsnotify/fsnotify@v1.10.1",
    "github.com/gorilla/websocket@v1.5.3",
    "github.com/hashicorp/golang-lru/v2@v2.0.7",
    "github.com/hashicorp/yamux@v0.1.2",
    "github.com/panjf2000/ants/v2@v2.12.1",
    "github.com/robfig/cron/v3@v3.0.1",
    "github.com/sourcegraph/conc@v0.3.0",
    "golang.org/x/sync@v0.24.0",
];

#[test]
fn published_modules_are_read_without_a_fault() {
    for module in MODULES {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(outside) = go(folder.path()) else { return };
        fetch(&outside, module).unwrap_or_else(|error| panic!("{module}: {error}"));
        let launcher = Launcher::of(env!("CARGO_BIN_EXE_strait-golang-subject"));
        let inside = Go::find(&launcher, &folder.path().join(COPY)).expect("go");
        let extraction = extracted(&inside, ExtractOptions::default())
            .unwrap_or_else(|error| panic!("{module}: {error}"));
        assert!(extraction.entries.len() > 10, "{module} has tests");
        assert!(extraction.warnings.is_empty(), "{module}: {:?}", extraction.warnings);
        let (mut reached, mut exact) = (0, 0);
        for entry in &extraction.entries {
            reached += entry.operations.reached;
            exact += entry.operations.exact;
            for assumption in &entry.assumptions {
                let fault = assumption.about == strait_golang::About::Refused;
                assert!(!fault, "{module}, {}: {}", entry.name, assumption.subject);
            }
        }
        println!("{module}: {exact} of {reached} operations are exact");
        // What code that is not read may do counts as inexact as well.
        assert!(exact * 100 >= reached * 75, "{module}: only {exact} of {reached} are exact");
    }
}
