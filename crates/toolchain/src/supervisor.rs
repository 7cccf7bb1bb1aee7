//! The process between Strait and a foreign program.
//!
//! It starts the program in a group of its own and then waits for the first of three things: the
//! program ends, the parent asks to end it, the parent is gone (its socket at end of file, or its
//! process ended). Whichever it is, afterwards nothing that the program started is left: the group is
//! killed, and on Linux so is what left the group, since orphans fall to the supervisor.
//!
//! The program is not started directly: between the two stands one more image of this binary
//! ([`execute_main`]), which limits itself and then becomes the program. A limit can thus be set
//! without code between fork and exec, which would be unsafe. In a sandbox the image stays, and a second
//! one becomes the program inside ([`crate::confine`]).

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};
use serde::{Deserialize, Serialize};

use crate::launch::{EXECUTE, Launcher};
use crate::limits::{Limits, limit_self};
use crate::parent::{self, PARENT_VARIABLE};
use crate::protocol::{Order, Report};
use crate::sandbox::Confinement;
use crate::watch::Resource;
use crate::{confine, watch};

/// What follows [`crate::SUPERVISE`] when the program's stdin comes from the parent.
pub(crate) const INPUT: &str = "input";
/// What follows it when the program's stdin is empty.
pub(crate) const NO_INPUT: &str = "no-input";

/// How long processes that were killed may take to disappear. Only one that hangs in the kernel
/// takes longer, and nobody can end that one.
const SWEEP: Duration = Duration::from_secs(5);

/// The exit code of what could not become the program; with the token on stderr.
pub(crate) const NOT_EXECUTED: u8 = 127;

/// The program's group, as long as its number is ours to use: the leader is not reaped before this
/// is emptied, so the number cannot have passed to somebody else.
type Group = Arc<Mutex<Option<Pid>>>;

/// What a program may use, see and change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bounds {
    pub(crate) limits: Limits,
    pub(crate) confinement: Option<Confinement>,
}

impl Bounds {
    fn read(text: &OsString) -> Result<Self, String> {
        serde_json::from_str(&text.to_string_lossy())
            .map_err(|error| format!("its limits cannot be read: {error}"))
    }
}

/// What follows [`EXECUTE`] instead of the supervisor's process id if the process is in a sandbox, where
/// the supervisor has no number.
const INSIDE: &str = "inside";

/// The whole life of a supervisor. Arguments: token, bounds, input, program, its arguments.
pub fn supervise_main(arguments: &[OsString]) -> ExitCode {
    let Ok(socket) = rustix::stdio::stdin().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::from(2);
    };
    let report = match supervise(arguments, &socket) {
        Ok(report) => report,
        Err(error) => Report::Failed { reason: error.to_string() },
    };
    // If the parent is gone nobody listens, and that is fine.
    let _ = say(&socket, &report);
    ExitCode::SUCCESS
}

fn supervise(arguments: &[OsString], socket: &UnixStream) -> io::Result<Report> {
    let [token, bounds, input, program @ ..] = arguments else {
        return Err(io::Error::other("the supervisor was started without its arguments"));
    };
    let limits = Bounds::read(bounds).map_err(io::Error::other)?.limits;
    adopt_orphans();
    let mut child = Command::new(own_program()?)
        .args([&OsString::from(EXECUTE), token, bounds])
        .arg(rustix::process::getpid().as_raw_nonzero().to_string())
        .args(program)
        .env_remove(PARENT_VARIABLE)
        .stdin(if input == INPUT { Stdio::piped() } else { Stdio::null() })
        .process_group(0)
        .spawn()?;
    let leader = pid_of(&child)?;
    let group: Group = Arc::new(Mutex::new(Some(leader)));
    let started = Report::Started { process: leader.as_raw_nonzero().get() };
    let stdin = child.stdin.take();
    // From here on nothing returns early: whatever fails, the program's processes have to be ended.
    let over = Arc::default();
    let watched = say(socket, &started)
        .and_then(|()| serve(socket, stdin, &group))
        .and_then(|()| watch_use(limits, &group, &over));
    if watched.is_err() {
        signal(&group, Signal::KILL);
    }
    let waited = wait_without_reaping(leader);
    signal(&group, Signal::KILL);
    group.lock().unwrap_or_else(PoisonError::into_inner).take();
    let status = child.wait();
    sweep(leader);
    watched.and(waited)?;
    let status = status?;
    let (cpu_micros, peak_memory) = usage();
    let over = *over.lock().unwrap_or_else(PoisonError::into_inner);
    let (code, signal) = (status.code(), status.signal());
    Ok(Report::Ended { code, signal, cpu_micros, peak_memory, over })
}

/// Starts the thread that ends the program when it uses more than it may.
fn watch_use(limits: Limits, group: &Group, over: &Arc<Mutex<Option<Resource>>>) -> io::Result<()> {
    let (group, over) = (Arc::clone(group), Arc::clone(over));
    watch::start(limits, move |resource| {
        over.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(resource);
        signal(&group, Signal::KILL);
    })
}

fn own_program() -> io::Result<std::path::PathBuf> {
    let launcher = Launcher::this_program().map_err(io::Error::other)?;
    Ok(launcher.program().to_owned())
}

pub(crate) fn pid_of(child: &Child) -> io::Result<Pid> {
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| io::Error::other("no process id"))
}

pub(crate) fn say(mut socket: &UnixStream, report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    socket.write_all(&line)
}

fn signal(group: &Group, signal: Signal) {
    let group = group.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(leader) = *group {
        // It fails if everybody has ended already, which is what is wanted.
        let _ = rustix::process::kill_process_group(leader, signal);
    }
}

/// Starts the threads that watch the parent, follow its orders and feed the program.
fn serve(socket: &UnixStream, stdin: Option<ChildStdin>, group: &Group) -> io::Result<()> {
    let orphaned = Arc::clone(group);
    parent::watch(move || signal(&orphaned, Signal::KILL)).map_err(io::Error::other)?;
    let (pieces, to_feed) = channel::<Vec<u8>>();
    if let Some(stdin) = stdin {
        thread::Builder::new().name("feed".into()).spawn(move || feed(stdin, &to_feed))?;
    }
    let (deadlines, to_kill) = channel();
    let late = Arc::clone(group);
    thread::Builder::new().name("grace".into()).spawn(move || kill_after_grace(&to_kill, &late))?;
    let (socket, group) = (socket.try_clone()?, Arc::clone(group));
    let obey = move || {
        follow_orders(&socket, pieces, &deadlines, &group);
        signal(&group, Signal::KILL);
    };
    thread::Builder::new().name("orders".into()).spawn(obey).map(|_| ())
}

/// Returns when the parent has nothing more to say.
fn follow_orders(
    socket: &UnixStream,
    pieces: Sender<Vec<u8>>,
    deadlines: &Sender<Instant>,
    group: &Group,
) {
    let mut pieces = Some(pieces);
    let mut buffer = Vec::new();
    while let Ok(order) = Order::read(socket, &mut buffer) {
        match order {
            Order::Input(bytes) => {
                // Whoever closed its stdin does not want the rest.
                pieces.as_ref().map(|pieces| pieces.send(bytes.to_vec()));
            }
            Order::EndOfInput => drop(pieces.take()),
            Order::Terminate(milliseconds) => {
                signal(group, Signal::TERM);
                let _ = deadlines.send(Instant::now() + Duration::from_millis(milliseconds));
            }
        }
    }
}

fn feed(mut stdin: ChildStdin, pieces: &Receiver<Vec<u8>>) {
    for piece in pieces {
        if stdin.write_all(&piece).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn kill_after_grace(deadlines: &Receiver<Instant>, group: &Group) {
    let Ok(mut deadline) = deadlines.recv() else { return };
    let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
    while let Ok(earlier) = deadlines.recv_timeout(left(deadline)) {
        deadline = deadline.min(earlier);
    }
    signal(group, Signal::KILL);
}

/// The leader stays a zombie, so that its number still means the group.
pub(crate) fn wait_without_reaping(leader: Pid) -> io::Result<()> {
    loop {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(leader), options) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Ends and reaps what is left.
pub(crate) fn sweep(leader: Pid) {
    let deadline = Instant::now() + SWEEP;
    while Instant::now() < deadline {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => {
                for child in children() {
                    let _ = rustix::process::kill_process(child, Signal::KILL);
                }
                thread::sleep(Duration::from_millis(2));
            }
            Err(_) => break,
        }
    }
    #[cfg(target_os = "linux")]
    let _ = leader;
    // Without orphans to adopt, the group is all that is known. Its number is free only when it is
    // empty, and then the chance that it was taken again in this moment is accepted.
    #[cfg(not(target_os = "linux"))]
    let _ = rustix::process::kill_process_group(leader, Signal::KILL);
}

#[cfg(target_os = "linux")]
pub(crate) fn adopt_orphans() {
    // Without it the group is still killed, only what left the group may escape.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt_orphans() {}

/// The processes whose parent this one is.
fn children() -> Vec<Pid> {
    let children = watch::children(std::process::id()).into_iter();
    children.filter_map(|number| Pid::from_raw(number.cast_signed())).collect()
}

/// Processor time in microseconds and largest memory in bytes of the children that were reaped.
pub(crate) fn usage() -> (Option<u64>, Option<u64>) {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return (None, None) };
    let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let memory = u64::try_from(usage.max_rss()).ok().map(|size| size.saturating_mul(unit));
    (u64::try_from(cpu).ok(), memory)
}

/// Limits this process and becomes the program. Arguments: token, bounds, the supervisor's process
/// id, program, its arguments. If that fails, a line with the token says why.
pub(crate) fn execute_main(arguments: &[OsString]) -> ExitCode {
    let (token, reason) = match arguments {
        [token, bounds, supervisor, program @ ..] if !program.is_empty() => {
            match execute(token, bounds, supervisor, program) {
                Ok(ended) => return ended,
                Err(reason) => (token.to_string_lossy(), reason),
            }
        }
        _ => ("".into(), "it was started without its arguments".into()),
    };
    let line = format!("{token} {reason}\n");
    // There is nobody left to tell if stderr is closed.
    let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
    ExitCode::from(NOT_EXECUTED)
}

/// Returns only if it fails, or if the program has run and ended in a sandbox.
fn execute(
    token: &OsString,
    bounds: &OsString,
    supervisor: &OsString,
    program: &[OsString],
) -> Result<ExitCode, String> {
    let is_inside = supervisor == INSIDE;
    if !is_inside {
        die_with(supervisor)?;
    }
    let Bounds { mut limits, confinement } = Bounds::read(bounds)?;
    match confinement {
        Some(confinement) if !is_inside => {
            let mut inner = Command::new(own_program().map_err(|error| error.to_string())?);
            inner.args([&OsString::from(EXECUTE), token, bounds, &OsString::from(INSIDE)]);
            let ended = confine::run(&confinement, &limits, inner.args(program));
            return ended.map(confine::end_like).map_err(|error| error.to_string());
        }
        Some(_) => {
            confine::unblock_polite_signals()
                .and_then(|()| confine::check_no_rights())
                .map_err(|error| format!("it cannot be kept in its sandbox: {error}"))?;
            // Inside, the system counts what is inside.
            limits.processes =
                [limits.processes, confine::threads(&limits)].into_iter().flatten().min();
        }
        None => {}
    }
    limit_self(&limits).map_err(|error| error.to_string())?;
    let (program, arguments) = program.split_first().ok_or("there is no program")?;
    Err(Command::new(program).args(arguments).exec().to_string())
}

/// This process ends with its supervisor, which is its parent.
fn die_with(supervisor: &OsString) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        // The supervisor's main thread starts this process and lives as long as the supervisor.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().to_string());
        if parent.as_deref() != supervisor.to_str() {
            return Err("its supervisor is gone".into());
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = supervisor;
    Ok(())
}
