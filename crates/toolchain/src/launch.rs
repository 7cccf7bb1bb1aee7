//! How Strait starts itself again, and what it does when it finds that it was.
//!
//! Six hidden arguments stand in the first place of the command line. None of them is for people,
//! and each is preceded by two underscores so that no subcommand can collide with it:
//!
//! | argument | what follows | what happens |
//! |---|---|---|
//! | [`SUPERVISE`] | token, bounds, `input` or `no-input`, program, arguments | supervises the program |
//! | [`SERVE`] | nothing | supervises one program after the other |
//! | [`EXECUTE`] | token, bounds, the supervisor's process id, program, arguments | becomes the program |
//! | [`INIT`] | the most threads | is the first process in a sandbox |
//! | [`PROBE`] | the user's home | looks around in a sandbox |
//! | [`WORKER`] | the worker's own arguments | watches its parent, then [`Entry::Worker`] |

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::Error;
use crate::limits::Limits;
use crate::sandbox::Sandbox;
use crate::spawner::SpawnServers;
use crate::{confine, parent, spawn_server, supervisor};

/// First argument of a supervisor.
pub const SUPERVISE: &str = "__supervise";
/// First argument of a supervisor of many programs.
pub const SERVE: &str = "__serve";
/// First argument of what limits itself and then becomes the program.
pub const EXECUTE: &str = "__execute";
/// First argument of the first process in a sandbox.
pub const INIT: &str = "__init";
/// First argument of what looks around in a sandbox.
pub const PROBE: &str = "__probe";
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
    } else if first == OsStr::new(SERVE) {
        Entry::Done(spawn_server::serve_main())
    } else if first == OsStr::new(EXECUTE) {
        Entry::Done(supervisor::execute_main(&rest()))
    } else if first == OsStr::new(INIT) {
        Entry::Done(confine::init_main(rest().first()))
    } else if first == OsStr::new(PROBE) {
        Entry::Done(confine::probe_main(rest().first()))
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
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    directory: Option<PathBuf>,
    limits: Limits,
    sandbox: Option<Sandbox>,
    cancel: Option<Arc<AtomicBool>>,
    servers: SpawnServers,
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
        let limits = Limits::default();
        let servers = SpawnServers::default();
        let program = program.into();
        Launcher { program, directory: None, limits, sandbox: None, cancel: None, servers }
    }

    /// Programs start in this folder unless they are given another one. Tools such as rustup and go
    /// read files in the folder where they start, and those files can name other programs: who
    /// starts tools for a finding from elsewhere chooses a folder that other users cannot write to.
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// A flag that ends all programs that run to their end, unless they are given another flag.
    pub fn cancelled_by(mut self, flag: &Arc<AtomicBool>) -> Self {
        self.cancel = Some(Arc::clone(flag));
        self
    }

    pub(crate) fn cancel(&self) -> Option<&Arc<AtomicBool>> {
        self.cancel.as_ref()
    }

    /// Foreign programs have these limits, unless they are given others.
    pub fn limited(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Foreign programs run in this sandbox, unless they are to run outside.
    pub fn sandboxed(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Do foreign programs run in a sandbox?
    pub fn is_sandboxed(&self) -> bool {
        self.sandbox.is_some()
    }

    pub(crate) fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    pub(crate) fn servers(&self) -> &SpawnServers {
        &self.servers
    }

    /// The limits of foreign programs.
    pub fn limits(&self) -> &Limits {
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
