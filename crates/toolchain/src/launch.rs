//! How Strait starts itself again, and what it does when it finds that it was.
//!
//! Three hidden arguments stand in the first place of the command line. None of them is for people,
//! and each is preceded by two underscores so that no subcommand can collide with it:
//!
//! | argument | what follows | what happens |
//! |---|---|---|
//! | [`SUPERVISE`] | token, limits, `input` or `no-input`, program, arguments | supervises the program |
//! | [`EXECUTE`] | token, limits, the supervisor's process id, program, arguments | becomes the program |
//! | [`WORKER`] | the worker's own arguments | watches its parent, then [`Entry::Worker`] |

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::Error;
use crate::limits::Limits;
use crate::{parent, supervisor};

/// First argument of a supervisor.
pub const SUPERVISE: &str = "__supervise";
/// First argument of what limits itself and then becomes the program.
pub const EXECUTE: &str = "__execute";
/// First argument of a worker.
pub const WORKER: &str = "__worker";

/// Why this process was started.
#[derive(Debug)]
pub enum Entry {
    /// By a person or a script: read the command line as usual.
    Person,
    /// As a worker: serve jobs. The process already ends with its parent.
    Worker(Vec<OsString>),
    /// For something this crate has done by now: return the code from `main`.
    Done(ExitCode),
}

/// To be called first thing in `main`, before threads, files or output: takes over when the
/// process was started by this crate.
pub fn entry(arguments: impl IntoIterator<Item = OsString>) -> Entry {
    let mut arguments = arguments.into_iter().skip(1);
    let Some(first) = arguments.next() else { return Entry::Person };
    let rest = || arguments.collect::<Vec<OsString>>();
    if first == OsStr::new(SUPERVISE) {
        Entry::Done(supervisor::supervise_main(&rest()))
    } else if first == OsStr::new(EXECUTE) {
        Entry::Done(supervisor::execute_main(&rest()))
    } else if first == OsStr::new(WORKER) {
        match parent::die_with_parent() {
            Ok(()) => Entry::Worker(rest()),
            Err(_) => Entry::Done(ExitCode::from(2)),
        }
    } else {
        Entry::Person
    }
}

/// The binary that is started as a supervisor or worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    program: PathBuf,
    directory: Option<PathBuf>,
    limits: Limits,
}

impl Launcher {
    /// The running program. On Linux it is found even if its file was replaced since, as happens
    /// when it is built anew during a campaign.
    pub fn this_program() -> Result<Self, Error> {
        let own = Path::new("/proc/self/exe");
        if own.exists() {
            return Ok(Launcher::of(own));
        }
        let program = std::env::current_exe().map_err(|source| Error::NoOwnPath { source })?;
        Ok(Launcher::of(program))
    }

    /// Another binary whose `main` calls [`entry`] first. For tests, whose own `main` does not.
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Launcher { program: program.into(), directory: None, limits: Limits::default() }
    }

    /// Programs start in this folder unless they are given another one. Tools such as rustup and go
    /// read files in the folder where they start, and those files can name other programs: who
    /// starts tools for a finding from elsewhere chooses a folder that other users cannot write to.
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Foreign programs have these limits, unless they are given others.
    pub fn limited(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The path to start.
    pub fn program(&self) -> &Path {
        &self.program
    }
}
