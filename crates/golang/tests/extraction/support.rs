//! What the tests share: a `go` below a supervisor, a cache for the helper, and the judgement.
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::path::Path;

use strait_calculus::{ExamineOptions, Program, Verdict, examine};
use strait_golang::{Error, ExtractOptions, Extraction, Go, extract};
use strait_toolchain::{Cache, Launcher};

/// The states after which a program is too large for a test.
const MAX_STATES: u64 = 60_000;

/// `go` in a folder, or `None` with a loud word when there is none. Where CI is set it has to be
/// there.
pub fn go(folder: &Path) -> Option<Go> {
    let launcher = Launcher::of(env!("CARGO_BIN_EXE_strait-golang-subject"));
    match Go::find(&launcher, folder) {
        Ok(go) => Some(go),
        Err(Error::NotInstalled) => {
            assert!(std::env::var_os("CI").is_none(), "SKIPPED: no go, which CI needs");
            eprintln!("SKIPPED: no go");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Extracts what the options ask for, with a helper that all tests of a target folder share.
pub fn extracted(go: &Go, options: ExtractOptions) -> Result<Extraction, Error> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("extraction");
    extract(go, &ExtractOptions { cache: Some(Cache::at(folder)), ..options })
}

/// The explorer's word, or `None` when the program is too large.
pub fn verdict(program: &Program) -> Option<Verdict> {
    let options =
        ExamineOptions { outcomes: false, max_states: MAX_STATES, ..ExamineOptions::default() };
    let examination = examine(program, &options);
    Some(examination.verdict).filter(|verdict| *verdict != Verdict::Unknown)
}
