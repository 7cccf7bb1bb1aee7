//! A supervisor that starts one program after the other, for programs that are started many times a
//! second: an image of this binary takes longer to start than a small test takes to run.
//!
//! Requests come over the socket that is its stdin, each with the two descriptors for the program's
//! output. Like [`crate::supervisor`], it ends everything that a program has started before it reports
//! the end, and ends everything at once when its parent is gone. There is no image between it and the
//! program, so there are no limits and no sandbox, and the program has to see to it by itself that it
//! ends when this process is killed ([`crate::Spec::ends_with_parent`]).

use std::ffi::OsString;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use crate::limits::{Limits, limit_self};
use crate::parent::{self, PARENT_VARIABLE};
use crate::protocol::Report;
use crate::supervisor::{adopt_orphans, pid_of, say, sweep, usage, wait_without_reaping};

/// Longest request: the arguments and the environment of a program.
const LONGEST: usize = 4 << 20;

/// What a parent asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// A program to run. Two descriptors come with it.
    Run {
        program: PathBuf,
        arguments: Vec<OsString>,
        directory: Option<PathBuf>,
        environment: Vec<(OsString, Option<OsString>)>,
    },
    /// SIGTERM to the group of the program that runs, and SIGKILL after so many milliseconds.
    Terminate(u64),
}

impl Request {
    /// The request as bytes, with its length before it.
    pub(crate) fn frame(&self) -> io::Result<([u8; 4], Vec<u8>)> {
        let payload = serde_json::to_vec(self)?;
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        Ok((length.to_le_bytes(), payload))
    }
}

/// The program that runs: its number in the order of requests and its group. As long as the group is
/// here its leader is not reaped, so the number cannot belong to another process.
#[derive(Debug, Default)]
struct Running {
    number: u64,
    group: Option<Pid>,
}

type Shared = Arc<Mutex<Running>>;

fn lock(running: &Shared) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn signal(running: &Running, signal: Signal) {
    if let Some(group) = running.group {
        // It fails if every process has ended already, which is what is wanted.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// A program that was asked for.
struct Job {
    command: Command,
}

/// The whole life of the server.
pub(crate) fn serve_main() -> ExitCode {
    let Ok(socket) = rustix::stdio::stdin().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::from(2);
    };
    match serve(&socket) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

fn serve(socket: &UnixStream) -> io::Result<()> {
    adopt_orphans();
    // Core files are turned off, as for every program that Strait starts.
    let _ = limit_self(&Limits::default());
    let running = Shared::default();
    let orphaned = Arc::clone(&running);
    parent::watch(move || signal(&lock(&orphaned), Signal::KILL)).map_err(io::Error::other)?;
    let (jobs, to_run) = channel();
    let (requests, shared) = (socket.try_clone()?, Arc::clone(&running));
    let read = move || {
        // The end of the requests is the order to end.
        let _ = read_requests(&requests, &jobs, &shared);
        signal(&lock(&shared), Signal::KILL);
    };
    thread::Builder::new().name("requests".into()).spawn(read)?;
    run_all(socket, &to_run, &running)
}

fn run_all(socket: &UnixStream, to_run: &Receiver<Job>, running: &Shared) -> io::Result<()> {
    for job in to_run {
        let report = match run(socket, job, running) {
            Ok(report) => report,
            Err(error) => Report::Failed { reason: error.to_string() },
        };
        say(socket, &report)?;
    }
    Ok(())
}

fn run(socket: &UnixStream, mut job: Job, running: &Shared) -> io::Result<Report> {
    let before = usage().0;
    let mut child = job.command.spawn()?;
    // Its ends of the program's output are closed with it.
    drop(job);
    let leader = pid_of(&child)?;
    {
        let mut running = lock(running);
        running.number += 1;
        running.group = Some(leader);
    }
    // From here on nothing returns early: whatever fails, the program's processes have to be ended.
    let said = say(socket, &Report::Started { process: leader.as_raw_nonzero().get() });
    if said.is_err() {
        signal(&lock(running), Signal::KILL);
    }
    let waited = wait_without_reaping(leader);
    {
        let mut running = lock(running);
        signal(&running, Signal::KILL);
        running.group = None;
    }
    let status = child.wait();
    sweep(leader);
    said.and(waited)?;
    let status = status?;
    let cpu_micros = usage().0.zip(before).map(|(after, before)| after.saturating_sub(before));
    let (code, signal) = (status.code(), status.signal());
    // The system knows the largest memory of all programs so far only.
    Ok(Report::Ended { code, signal, cpu_micros, peak_memory: None, over: None })
}

/// Reads requests until there are no more.
fn read_requests(socket: &UnixStream, jobs: &Sender<Job>, running: &Shared) -> io::Result<()> {
    loop {
        let (request, descriptors) = read_request(socket)?;
        match request {
            Request::Run { program, arguments, directory, environment } => {
                let Ok([stdout, stderr]) = <[OwnedFd; 2]>::try_from(descriptors) else {
                    return Err(io::Error::other("a request without its descriptors"));
                };
                let mut command = Command::new(program);
                command.args(arguments).process_group(0).env_remove(PARENT_VARIABLE);
                command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
                for (name, value) in environment {
                    match value {
                        Some(value) => command.env(name, value),
                        None => command.env_remove(name),
                    };
                }
                if let Some(directory) = directory {
                    command.current_dir(directory);
                }
                jobs.send(Job { command }).map_err(io::Error::other)?;
            }
            Request::Terminate(milliseconds) => {
                let number = {
                    let running = lock(running);
                    signal(&running, Signal::TERM);
                    running.number
                };
                let late = Arc::clone(running);
                let kill = move || {
                    thread::sleep(Duration::from_millis(milliseconds));
                    let running = lock(&late);
                    if running.number == number {
                        signal(&running, Signal::KILL);
                    }
                };
                thread::Builder::new().name("grace".into()).spawn(kill)?;
            }
        }
    }
}

fn read_request(mut socket: &UnixStream) -> io::Result<(Request, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut head = [0; 4];
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut head)];
        match recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => break received.bytes,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    };
    if received == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let descriptors = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let descriptors: Vec<OwnedFd> = descriptors.flatten().collect();
    socket.read_exact(&mut head[received..])?;
    let length = u32::from_le_bytes(head) as usize;
    if length > LONGEST {
        return Err(io::Error::other("the request is too long"));
    }
    let mut payload = vec![0; length];
    socket.read_exact(&mut payload)?;
    Ok((serde_json::from_slice(&payload)?, descriptors))
}
