//! Sandboxes where there are none: every attempt fails, so that no program runs without the sandbox that
//! it was meant to be in.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode, ExitStatus};

use crate::limits::Limits;
use crate::sandbox::Confinement;

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "sandboxes need Linux")
}

pub(crate) fn run(_: &Confinement, _: &Limits, _: &mut Command) -> io::Result<ExitStatus> {
    Err(unsupported())
}

pub(crate) fn end_like(_: ExitStatus) -> ExitCode {
    ExitCode::FAILURE
}

pub(crate) fn init_main(_: Option<&OsString>) -> ExitCode {
    ExitCode::FAILURE
}

pub(crate) fn threads(_: &Limits) -> Option<u64> {
    None
}

pub(crate) fn check_no_rights() -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn unblock_polite_signals() -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn probe_main(_: Option<&OsString>) -> ExitCode {
    ExitCode::FAILURE
}
