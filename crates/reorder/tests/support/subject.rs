//! A stand-in for the `strait` binary: supervisor of what the tests start.

use std::process::ExitCode;

use strait_toolchain::{Entry, entry};

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => code,
        Entry::Worker(_) | Entry::Person => ExitCode::from(2),
    }
}
