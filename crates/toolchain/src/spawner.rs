//! The parent's side of [`crate::spawn_server`]: servers that wait for their next program, and a program
//! that is run by one of them from its start to its end.

use std::io::{self, IoSlice, PipeReader, PipeWriter, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal};

use crate::error::Error;
use crate::launch::{Launcher, SERVE};
use crate::process::{End, Outcome, PATIENCE, Start, next_report, spawn};
use crate::protocol::Report;
use crate::spawn_server::Request;

/// Between looks at the flag that stops a program.
const LOOK: Duration = Duration::from_millis(50);

/// Servers of one launcher that have nothing to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpawnServers(Arc<Mutex<Vec<SpawnServer>>>);

impl SpawnServers {
    /// One that has nothing to do, or a new one.
    pub(crate) fn take(&self, launcher: &Launcher) -> Result<SpawnServer, Error> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| SpawnServer::start(launcher), Ok)
    }

    /// A server that has done its work and can be used again.
    pub(crate) fn give_back(&self, server: SpawnServer) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(server);
    }
}

/// A server, as its parent sees it.
#[derive(Debug)]
pub(crate) struct SpawnServer {
    child: Child,
    socket: UnixStream,
    /// What has come of a line that is not complete yet.
    line: Vec<u8>,
    /// The group of the program that runs.
    group: Option<Pid>,
}

/// The outputs of a program that a server runs.
pub(crate) struct Outputs {
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
}

/// How long a program may run, and what ends it.
pub(crate) struct Ending<'a> {
    pub(crate) deadline: Option<Instant>,
    pub(crate) grace: Duration,
    /// How long a program may take to end that is cancelled, before it is killed.
    pub(crate) hurry: Duration,
    pub(crate) cancel: Option<&'a AtomicBool>,
}

impl SpawnServer {
    fn start(launcher: &Launcher) -> Result<Self, Error> {
        let start = Start {
            program: launcher.program(),
            arguments: &[],
            directory: None,
            environment: &[],
            folders: None,
        };
        let (child, socket) = spawn(launcher, &[SERVE.into()], &start)?;
        Ok(SpawnServer { child, socket, line: Vec::new(), group: None })
    }

    /// Starts a program, whose output can be read then.
    pub(crate) fn start_program(&mut self, start: &Start<'_>) -> Result<Outputs, Error> {
        let refused = |source: io::Error| Error::Refused { what: "a pipe", source };
        let (stdout, to_stdout) = io::pipe().map_err(refused)?;
        let (stderr, to_stderr) = io::pipe().map_err(refused)?;
        let lost = |_| Error::SupervisorLost { program: start.program.to_owned() };
        self.ask(start, [&to_stdout, &to_stderr]).map_err(lost)?;
        drop((to_stdout, to_stderr));
        match self.report(start.program, Some(Instant::now() + PATIENCE))? {
            Some(Report::Started { process }) => {
                self.group = Pid::from_raw(process);
                Ok(Outputs { stdout, stderr })
            }
            Some(Report::Failed { reason }) => {
                Err(Error::CannotStart { program: start.program.to_owned(), reason })
            }
            other => Err(Error::NotASupervisor {
                program: start.program.to_owned(),
                said: format!("{other:?}"),
            }),
        }
    }

    /// Waits for the end of the program, or brings it about. The second part says why we ended it, if we
    /// did.
    pub(crate) fn wait(
        &mut self,
        program: &Path,
        ending: &Ending<'_>,
    ) -> Result<(Outcome, Option<End>), Error> {
        let reason = loop {
            // Without a flag there is nothing to look at in between.
            let look = ending.cancel.map(|_| Instant::now() + LOOK);
            let until = [look, ending.deadline].into_iter().flatten().min();
            if let Some(outcome) = self.outcome(program, until)? {
                return Ok((outcome, None));
            }
            if ending.cancel.is_some_and(|flag| flag.load(Ordering::SeqCst)) {
                break End::Stopped;
            }
            if ending.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break End::TimedOut;
            }
        };
        let grace = match reason {
            End::Stopped => ending.grace.min(ending.hurry),
            _ => ending.grace,
        };
        let milliseconds = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let lost = |_| Error::SupervisorLost { program: program.to_owned() };
        self.send(&Request::Terminate(milliseconds), &[]).map_err(lost)?;
        let until = Instant::now() + grace + PATIENCE;
        match self.outcome(program, Some(until))? {
            Some(outcome) => Ok((outcome, Some(reason))),
            None => Err(Error::SupervisorLost { program: program.to_owned() }),
        }
    }

    fn outcome(
        &mut self,
        program: &Path,
        until: Option<Instant>,
    ) -> Result<Option<Outcome>, Error> {
        match self.report(program, until)? {
            Some(Report::Ended { code, signal, cpu_micros, peak_memory, over }) => {
                self.group = None;
                let cpu = cpu_micros.map(Duration::from_micros);
                let end = over.map_or_else(|| End::of(code, signal), End::OverLimit);
                Ok(Some(Outcome { end, cpu, peak_memory }))
            }
            Some(Report::Failed { reason }) => {
                Err(Error::CannotStart { program: program.to_owned(), reason })
            }
            Some(Report::Started { .. }) => {
                let said = "a second start".to_owned();
                Err(Error::NotASupervisor { program: program.to_owned(), said })
            }
            None => Ok(None),
        }
    }

    fn report(
        &mut self,
        program: &Path,
        deadline: Option<Instant>,
    ) -> Result<Option<Report>, Error> {
        next_report(&self.socket, &mut self.line, program, deadline)
    }

    fn ask(&self, start: &Start<'_>, outputs: [&PipeWriter; 2]) -> io::Result<()> {
        let request = Request::Run {
            program: start.program.to_owned(),
            arguments: start.arguments.to_vec(),
            directory: start.directory.map(PathBuf::from),
            environment: start.environment.to_vec(),
        };
        self.send(&request, &outputs)
    }

    /// The descriptors travel with the length of the request.
    fn send(&self, request: &Request, descriptors: &[&PipeWriter]) -> io::Result<()> {
        let (length, payload) = request.frame()?;
        let descriptors: Vec<_> = descriptors.iter().map(|one| one.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::Error::other("too many descriptors"));
        }
        self.socket.set_write_timeout(Some(PATIENCE))?;
        let sent =
            sendmsg(&self.socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
        let mut socket = &self.socket;
        socket.write_all(&length[sent..])?;
        socket.write_all(&payload)
    }
}

impl Drop for SpawnServer {
    fn drop(&mut self) {
        // The server takes the end of its requests as the order to end. What it was running must not
        // outlive it, also if the server itself is gone.
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
