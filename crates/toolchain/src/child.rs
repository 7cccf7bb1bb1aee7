//! A foreign program run from its start to its end: what it may use comes in, what it wrote, how it
//! ended and what it used goes out. When [`run`] returns, nothing it started is left.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use crate::capture::{Capture, Captured};
use crate::error::Error;
use crate::launch::Launcher;
use crate::limits::Limits;
use crate::process::{End, Outcome, Process, Start};
use crate::sandbox::Folders;
use crate::spawner::Ending;
use crate::supervisor::NOT_EXECUTED;

/// What is kept of each end of an output when nothing is said.
pub(crate) const KEEP: usize = 64 * 1024;

/// Between looks at the flag that stops a program.
const LOOK: Duration = Duration::from_millis(50);

/// How long an output may stay open after everything below the supervisor has ended.
const DRAIN: Duration = Duration::from_secs(5);
/// How long a program may take to end that is cancelled, before it is killed.
const HURRY: Duration = Duration::from_millis(300);

/// A program, what it is given and what it may use.
#[derive(Clone, Debug)]
pub struct Spec {
    program: PathBuf,
    arguments: Vec<OsString>,
    directory: Option<PathBuf>,
    environment: Vec<(OsString, Option<OsString>)>,
    input: Vec<u8>,
    limits: Limits,
    wall: Option<Duration>,
    grace: Duration,
    keep: usize,
    cancel: Option<Arc<AtomicBool>>,
    /// `None` if it runs outside of the launcher's sandbox.
    folders: Option<Folders>,
    ends_with_parent: bool,
}

impl Spec {
    /// The program, a path or a name to be found in PATH. Without more: no arguments, no input, no
    /// limits, two seconds between the polite signal and the other one.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Spec {
            program: program.into(),
            arguments: Vec::new(),
            directory: None,
            environment: Vec::new(),
            input: Vec::new(),
            limits: Limits::default(),
            wall: None,
            grace: Duration::from_secs(2),
            keep: KEEP,
            cancel: None,
            folders: Some(Folders::default()),
            ends_with_parent: false,
        }
    }

    /// Another program instead, with everything else as it is.
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Adds arguments.
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Where it runs.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets a variable of its environment.
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }

    /// Removes a variable of its environment.
    pub fn without_variable(mut self, name: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// Where it puts its temporary files, whatever the user's environment says: TMPDIR, and GOTMPDIR
    /// for `go`. What it leaves there when it is killed goes with the folder.
    pub fn temporary(self, folder: impl Into<OsString>) -> Self {
        let folder = folder.into();
        self.writable(&folder).variable("TMPDIR", folder.clone()).variable("GOTMPDIR", folder)
    }

    /// In a sandbox: a file or folder of the user's that it may read. What is not there is left out.
    pub fn readable(mut self, path: impl Into<PathBuf>) -> Self {
        if let Some(folders) = &mut self.folders {
            folders.readable.push(path.into());
        }
        self
    }

    /// In a sandbox: a file or folder that it may change. It has to exist.
    pub fn writable(mut self, path: impl Into<PathBuf>) -> Self {
        if let Some(folders) = &mut self.folders {
            folders.writable.push(path.into());
        }
        self
    }

    /// In a sandbox: a folder that it may read and change, but the changes end with it. The folder has
    /// to exist.
    pub fn copied(mut self, path: impl Into<PathBuf>) -> Self {
        if let Some(folders) = &mut self.folders {
            folders.copied.push(path.into());
        }
        self
    }

    /// It runs outside of the launcher's sandbox: it needs the network, or is a part of Strait, and
    /// runs no code from elsewhere.
    pub fn outside_sandbox(mut self) -> Self {
        self.folders = None;
        self
    }

    /// The program ends by itself when its parent does, whatever ends the parent. Without input, limits
    /// and a sandbox, a supervisor that is there already starts it, which is quick.
    pub fn ends_with_parent(mut self) -> Self {
        self.ends_with_parent = true;
        self
    }

    /// What it reads from stdin.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// What it may use.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long it may take.
    pub fn wall(mut self, wall: Duration) -> Self {
        self.wall = Some(wall);
        self
    }

    /// How long it may take to end after it was asked to.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How many bytes are kept of the beginning and of the end of each output.
    pub fn keep(mut self, bytes: usize) -> Self {
        self.keep = bytes;
        self
    }

    /// A flag that ends the program when it is set.
    pub fn cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = Some(flag);
        self
    }
}

/// A program that has ended.
#[derive(Clone, Debug, Serialize)]
pub struct Finished {
    /// How.
    pub end: End,
    /// What it wrote.
    pub stdout: Captured,
    /// What it wrote to stderr.
    pub stderr: Captured,
    /// How long it took, by the clock.
    pub wall: Duration,
    /// Processor time, with that of the children it waited for.
    pub cpu: Option<Duration>,
    /// The largest memory of one of its processes, in bytes.
    pub peak_memory: Option<u64>,
}

/// Runs a program to its end.
pub fn run(launcher: &Launcher, spec: &Spec) -> Result<Finished, Error> {
    let started = Instant::now();
    let (program, token) = (absolute(&spec.program), token());
    let start = Start {
        program: &program,
        arguments: &spec.arguments,
        directory: spec.directory.as_deref(),
        environment: &spec.environment,
        folders: spec.folders.as_ref(),
    };
    if spec.ends_with_parent && spec.input.is_empty() && is_free(launcher, spec) {
        return run_by_server(launcher, spec, &start, started);
    }
    let mut process =
        Process::foreign(launcher, &start, &spec.limits, !spec.input.is_empty(), &token)?;
    let stdout =
        process.take_stdout().map(|output| Capture::start(output, spec.keep)).transpose()?;
    let stderr =
        process.take_stderr().map(|output| Capture::start(output, spec.keep)).transpose()?;
    feed(&process, &spec.input)?;
    let cancel = spec.cancel.as_ref().or(launcher.cancel());
    let (outcome, ours) = wait(&mut process, spec, cancel.map(Arc::as_ref), started)?;
    let wall = started.elapsed();
    let captured =
        |capture: Option<Capture>| capture.map(|capture| capture.finish(DRAIN)).unwrap_or_default();
    let (stdout, stderr) = (captured(stdout), captured(stderr));
    check_executed(&program, &outcome.end, &stderr, &token)?;
    let end = ours.unwrap_or(outcome.end);
    Ok(Finished { end, stdout, stderr, wall, cpu: outcome.cpu, peak_memory: outcome.peak_memory })
}

/// Has it neither limits nor a sandbox?
fn is_free(launcher: &Launcher, spec: &Spec) -> bool {
    let sandboxed = launcher.is_sandboxed() && spec.folders.is_some();
    !sandboxed && spec.limits.or(launcher.limits()) == Limits::default()
}

/// Has a server run it.
fn run_by_server(
    launcher: &Launcher,
    spec: &Spec,
    start: &Start<'_>,
    started: Instant,
) -> Result<Finished, Error> {
    let directory = start.directory.or(launcher.directory());
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        let (program, directory) = (start.program.to_owned(), directory.to_owned());
        return Err(Error::NoDirectory { program, directory });
    }
    let mut server = launcher.servers().take(launcher)?;
    let outputs = server.start_program(&Start { directory, ..*start })?;
    let stdout = Capture::start(outputs.stdout, spec.keep)?;
    let stderr = Capture::start(outputs.stderr, spec.keep)?;
    let cancel = spec.cancel.as_ref().or(launcher.cancel());
    let ending = Ending {
        deadline: spec.wall.map(|wall| started + wall),
        grace: spec.grace,
        hurry: HURRY,
        cancel: cancel.map(Arc::as_ref),
    };
    let (outcome, ours) = server.wait(start.program, &ending)?;
    launcher.servers().give_back(server);
    let wall = started.elapsed();
    let (stdout, stderr) = (stdout.finish(DRAIN), stderr.finish(DRAIN));
    let end = ours.unwrap_or(outcome.end);
    Ok(Finished { end, stdout, stderr, wall, cpu: outcome.cpu, peak_memory: outcome.peak_memory })
}

/// Waits for the end, or brings it about. The second part says why we ended it, if we did.
fn wait(
    process: &mut Process,
    spec: &Spec,
    cancel: Option<&AtomicBool>,
    started: Instant,
) -> Result<(Outcome, Option<End>), Error> {
    let deadline = spec.wall.map(|wall| started + wall);
    let mut ours = None;
    let reason = loop {
        // Without a flag there is nothing to look at in between.
        let look = cancel.map(|_| Instant::now() + LOOK);
        let until = [look, deadline].into_iter().flatten().min();
        if let Some(outcome) = process.wait(until)? {
            return Ok((outcome, ours));
        }
        if cancel.is_some_and(|flag| flag.load(Ordering::SeqCst)) {
            break End::Stopped;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break End::TimedOut;
        }
    };
    // Who is told to stop has little time: the user waits.
    let grace = if reason == End::Stopped { spec.grace.min(HURRY) } else { spec.grace };
    ours.replace(reason);
    process.terminate(grace);
    let outcome = match process.wait(Some(Instant::now() + grace + DRAIN))? {
        Some(outcome) => outcome,
        None => process.end()?,
    };
    Ok((outcome, ours))
}

/// Hands the input over in a thread of its own: the program may write before it reads.
fn feed(process: &Process, input: &[u8]) -> Result<(), Error> {
    if input.is_empty() {
        return Ok(());
    }
    let (mut to, bytes) = (process.input()?, input.to_vec());
    let write = move || {
        // A program that ends without reading everything is in its right.
        let _ = to.write(&bytes, None).and_then(|()| to.close());
    };
    let spawned = thread::Builder::new().name("feed".into()).spawn(write);
    spawned.map(|_| ()).map_err(|source| Error::Refused { what: "a thread", source })
}

/// A path with several parts means the same wherever the program is started.
pub(crate) fn absolute(program: &Path) -> PathBuf {
    let is_name = program.components().count() == 1 && !program.is_absolute();
    let found = if is_name { None } else { std::path::absolute(program).ok() };
    found.unwrap_or_else(|| program.to_owned())
}

/// What nobody else writes to stderr.
pub(crate) fn token() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("strait-{}-{}: cannot execute:", std::process::id(), now.as_nanos())
}

/// Whether it was the program at all that ended.
pub(crate) fn check_executed(
    program: &Path,
    end: &End,
    stderr: &Captured,
    token: &str,
) -> Result<(), Error> {
    if *end == End::Exited(i32::from(NOT_EXECUTED)) && stderr.first.starts_with(token.as_bytes()) {
        let reason = String::from_utf8_lossy(&stderr.first[token.len()..]).trim().to_owned();
        return Err(Error::CannotStart { program: program.to_owned(), reason });
    }
    Ok(())
}
