//! One process that Strait started, own or foreign: how it is fed, asked to end, killed and reaped.
//!
//! An own process is started directly and watches its parent by itself; a foreign one stands below
//! a supervisor. Both have a socket as stdin, because a write to a socket can be given a time limit.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use serde::Serialize;

use crate::error::Error;
use crate::launch::{Launcher, SUPERVISE, WORKER};
use crate::limits::Limits;
use crate::parent::PARENT_VARIABLE;
use crate::protocol::{FRAME, Order, Report};
use crate::sandbox::Folders;
use crate::signal;
use crate::supervisor::{Bounds, INPUT, NO_INPUT};
use crate::watch::Resource;

/// How long a supervisor may take to do what it is told, beyond the grace it gives the program.
/// Long, because the machine may be busy: it only matters when the supervisor itself is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that did not come from us: `SIGSEGV`, `SIGABRT`, …
    Signalled(String),
    /// Ended by us, because its time was over.
    TimedOut,
    /// Ended by us, because we were asked to.
    Stopped,
    /// Ended by us, because it used more than it may.
    OverLimit(Resource),
}

impl End {
    /// It ended by itself and says that all went well.
    pub fn is_success(&self) -> bool {
        *self == End::Exited(0)
    }

    pub(crate) fn of(code: Option<i32>, signal: Option<i32>) -> Self {
        match (code, signal) {
            (_, Some(signal)) => End::Signalled(signal::name(signal)),
            (code, None) => End::Exited(code.unwrap_or(-1)),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exited(code) => write!(f, "exit code {code}"),
            End::Signalled(signal) => write!(f, "{signal}"),
            End::TimedOut => write!(f, "ended by Strait, its time was over"),
            End::Stopped => write!(f, "ended by Strait"),
            End::OverLimit(resource) => write!(f, "ended by Strait, it used too {resource}"),
        }
    }
}

/// How it ended and what it used.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) cpu: Option<Duration>,
    pub(crate) peak_memory: Option<u64>,
}

/// What to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [OsString],
    pub(crate) directory: Option<&'a Path>,
    pub(crate) environment: &'a [(OsString, Option<OsString>)],
    /// What it may see and change in the launcher's sandbox; `None` if it runs outside.
    pub(crate) folders: Option<&'a Folders>,
}

/// A process that runs, or that has ended and not been asked about yet.
#[derive(Debug)]
pub(crate) struct Process {
    /// The supervisor, or the own process itself.
    child: Child,
    socket: UnixStream,
    program: PathBuf,
    /// Only if there is a supervisor.
    supervised: Option<Supervised>,
    outcome: Option<Outcome>,
}

#[derive(Debug)]
struct Supervised {
    /// The program's group.
    group: Option<Pid>,
    /// What has come of a line that is not complete yet.
    line: Vec<u8>,
}

impl Process {
    /// Starts the launcher's binary as a worker.
    pub(crate) fn own(launcher: &Launcher, start: &Start<'_>) -> Result<Self, Error> {
        let mut arguments = vec![OsString::from(WORKER)];
        arguments.extend_from_slice(start.arguments);
        let (child, socket) = spawn(launcher, &arguments, start)?;
        let program = launcher.program().to_owned();
        Ok(Process { child, socket, program, supervised: None, outcome: None })
    }

    /// Starts a foreign program below a supervisor. If it cannot be executed, it will seem to exit
    /// with [`crate::supervisor::NOT_EXECUTED`], and its stderr begins with `token`.
    pub(crate) fn foreign(
        launcher: &Launcher,
        start: &Start<'_>,
        limits: &Limits,
        input: bool,
        token: &str,
    ) -> Result<Self, Error> {
        let sandbox = launcher.sandbox().zip(start.folders);
        let bounds = Bounds {
            limits: limits.or(launcher.limits()),
            confinement: sandbox.map(|(sandbox, folders)| {
                sandbox.around(start.program, folders, start.environment)
            }),
        };
        let bounds = serde_json::to_string(&bounds)
            .map_err(|error| Error::Refused { what: "the limits", source: error.into() })?;
        let input = if input { INPUT } else { NO_INPUT };
        let mut arguments: Vec<OsString> =
            [SUPERVISE, token, &bounds, input].map(OsString::from).to_vec();
        arguments.push(start.program.into());
        arguments.extend_from_slice(start.arguments);
        let (child, socket) = spawn(launcher, &arguments, start)?;
        let supervised = Some(Supervised { group: None, line: Vec::new() });
        let mut process =
            Process { child, socket, program: start.program.to_owned(), supervised, outcome: None };
        match process.report(Some(Instant::now() + PATIENCE)) {
            Ok(Some(Report::Started { process: group })) => {
                if let Some(supervised) = &mut process.supervised {
                    supervised.group = Pid::from_raw(group);
                }
                Ok(process)
            }
            Ok(Some(Report::Failed { reason })) => {
                Err(Error::CannotStart { program: start.program.to_owned(), reason })
            }
            Ok(other) => Err(Error::NotASupervisor {
                program: launcher.program().to_owned(),
                said: format!("{other:?}"),
            }),
            Err(error @ Error::SupervisorLost { .. }) => {
                // Killed before its first word, or never a supervisor.
                let status = process.child.wait().ok();
                let said = match status {
                    Some(status) if status.signal().is_none() => {
                        format!("nothing and ended with {status}")
                    }
                    _ => return Err(error),
                };
                Err(Error::NotASupervisor { program: launcher.program().to_owned(), said })
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// A way to feed the process from another thread.
    pub(crate) fn input(&self) -> Result<Input, Error> {
        let socket = self
            .socket
            .try_clone()
            .map_err(|source| Error::Refused { what: "another handle of a socket", source })?;
        Ok(Input { socket, framed: self.supervised.is_some() })
    }

    /// Asks politely; after the grace it is killed.
    pub(crate) fn terminate(&mut self, grace: Duration) {
        if self.supervised.is_some() {
            let milliseconds = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
            // A supervisor that does not listen is killed by whoever waits for the end.
            let _ = self.socket.set_write_timeout(Some(PATIENCE));
            let _ = Order::Terminate(milliseconds).write(&self.socket);
        } else {
            self.signal(Signal::TERM);
        }
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        match &self.supervised {
            // The supervisor takes the end of its orders as the order to end.
            Some(_) => {
                let _ = self.socket.shutdown(Shutdown::Write);
            }
            None => self.signal(Signal::KILL),
        }
    }

    /// Signals everybody of the program's group, if it has not been reaped.
    fn signal(&self, signal: Signal) {
        let own = Pid::from_raw(self.child.id().cast_signed());
        let group = self.supervised.as_ref().map_or(own, |supervised| supervised.group);
        if let Some(group) = group.filter(|_| self.outcome.is_none()) {
            // It fails if everybody has ended already, which is what is wanted.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// Waits for the end, up to the deadline; `None` if it still runs then.
    pub(crate) fn wait(&mut self, deadline: Option<Instant>) -> Result<Option<Outcome>, Error> {
        if self.outcome.is_none() {
            self.outcome = if self.supervised.is_some() {
                self.wait_for_report(deadline)?
            } else {
                self.wait_directly(deadline)?
            };
        }
        Ok(self.outcome.clone())
    }

    /// Kills it and waits until it and everything below it is gone.
    pub(crate) fn end(&mut self) -> Result<Outcome, Error> {
        self.kill();
        match self.wait(Some(Instant::now() + PATIENCE))? {
            Some(outcome) => Ok(outcome),
            None => self.force(),
        }
    }

    /// The supervisor does not react: the group and the supervisor are killed from here.
    fn force(&mut self) -> Result<Outcome, Error> {
        self.signal(Signal::KILL);
        let _ = self.child.kill();
        let reaped = self.child.wait();
        let outcome = Outcome { end: End::Stopped, cpu: None, peak_memory: None };
        self.outcome = Some(outcome.clone());
        reaped
            .map(|_| outcome)
            .map_err(|source| Error::Refused { what: "to wait for a process", source })
    }

    fn wait_for_report(&mut self, deadline: Option<Instant>) -> Result<Option<Outcome>, Error> {
        match self.report(deadline) {
            Ok(Some(Report::Ended { code, signal, cpu_micros, peak_memory, over })) => {
                self.reap()?;
                let cpu = cpu_micros.map(Duration::from_micros);
                let end = over.map_or_else(|| End::of(code, signal), End::OverLimit);
                Ok(Some(Outcome { end, cpu, peak_memory }))
            }
            Ok(Some(Report::Failed { reason })) => {
                self.reap()?;
                Err(Error::CannotStart { program: self.program.clone(), reason })
            }
            Ok(Some(Report::Started { .. })) => self.wait_for_report(deadline),
            Ok(None) => Ok(None),
            Err(error) => {
                self.force()?;
                Err(error)
            }
        }
    }

    /// The supervisor has said its last word.
    fn reap(&mut self) -> Result<(), Error> {
        self.child
            .wait()
            .map(|_| ())
            .map_err(|source| Error::Refused { what: "to wait for a process", source })
    }

    /// The next line of the supervisor.
    fn report(&mut self, deadline: Option<Instant>) -> Result<Option<Report>, Error> {
        let Some(supervised) = &mut self.supervised else { return Ok(None) };
        next_report(&self.socket, &mut supervised.line, &self.program, deadline)
    }

    fn wait_directly(&mut self, deadline: Option<Instant>) -> Result<Option<Outcome>, Error> {
        let refused = |source: io::Error| Error::Refused { what: "to wait for a process", source };
        let own = Pid::from_raw(self.child.id().cast_signed())
            .ok_or_else(|| refused(io::ErrorKind::NotFound.into()))?;
        let mut pause = Duration::from_micros(100);
        loop {
            // Not reaped yet, so that its number still means its group.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            match rustix::process::waitid(WaitId::Pid(own), options) {
                Ok(Some(_)) => break,
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(refused(errno.into())),
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        self.signal(Signal::KILL);
        let status: ExitStatus = self.child.wait().map_err(refused)?;
        Ok(Some(Outcome {
            end: End::of(status.code(), status.signal()),
            cpu: None,
            peak_memory: None,
        }))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.outcome.is_none() {
            // Nobody is left to hear of a failure, and `end` has forced it by then.
            let _ = self.end();
        }
    }
}

/// The stdin of a process.
#[derive(Debug)]
pub(crate) struct Input {
    socket: UnixStream,
    /// Whether a supervisor reads it.
    framed: bool,
}

impl Input {
    /// Writes everything, or fails if the process takes nothing for `patience`.
    pub(crate) fn write(&mut self, bytes: &[u8], patience: Option<Duration>) -> io::Result<()> {
        self.socket
            .set_write_timeout(patience.map(|patience| patience.max(Duration::from_millis(1))))?;
        if !self.framed {
            return self.socket.write_all(bytes);
        }
        bytes.chunks(FRAME).try_for_each(|piece| Order::Input(piece).write(&self.socket))
    }

    /// Nothing more will come.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        if self.framed {
            Order::EndOfInput.write(&self.socket)
        } else {
            self.socket.shutdown(Shutdown::Write)
        }
    }
}

/// The next report on a socket, up to the deadline. `line` keeps what has come of a line that is not
/// complete yet.
pub(crate) fn next_report(
    mut socket: &UnixStream,
    line: &mut Vec<u8>,
    program: &Path,
    deadline: Option<Instant>,
) -> Result<Option<Report>, Error> {
    let lost = || Error::SupervisorLost { program: program.to_owned() };
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = line.drain(..=end).collect();
            let said = || String::from_utf8_lossy(&line).into_owned();
            return serde_json::from_slice(&line)
                .map(Some)
                .map_err(|_| Error::NotASupervisor { program: program.to_owned(), said: said() });
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
        socket
            .set_read_timeout(left)
            .map_err(|source| Error::Refused { what: "a time limit", source })?;
        match socket.read(&mut buffer) {
            Ok(0) => return Err(lost()),
            Ok(count) => line.extend_from_slice(&buffer[..count]),
            Err(error) if is_not_yet(&error) => {}
            Err(_) => return Err(lost()),
        }
    }
}

/// Whether a time limit was the reason, or nothing in particular.
pub(crate) fn is_not_yet(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Starts the launcher's binary in a group of its own, so that Ctrl-C at the terminal does not
/// reach it, with a socket as stdin.
pub(crate) fn spawn(
    launcher: &Launcher,
    arguments: &[OsString],
    start: &Start<'_>,
) -> Result<(Child, UnixStream), Error> {
    let (ours, theirs) =
        UnixStream::pair().map_err(|source| Error::Refused { what: "a socket", source })?;
    let directory = start.directory.or(launcher.directory());
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        return Err(Error::NoDirectory {
            program: start.program.to_owned(),
            directory: directory.to_owned(),
        });
    }
    let mut command = Command::new(launcher.program());
    command.args(arguments).arg0("strait");
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in start.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env(PARENT_VARIABLE, std::process::id().to_string()).process_group(0);
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    let cannot = |source: io::Error| Error::CannotStart {
        program: launcher.program().to_owned(),
        reason: source.to_string(),
    };
    Ok((command.spawn().map_err(cannot)?, ours))
}
