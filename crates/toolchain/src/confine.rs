//! Puts a program into a sandbox: namespaces of its own for users, processes, mounts, network and
//! messages between processes. Linux only.
//!
//! Three processes take part, all of them this binary:
//!
//! | process | where | what it does |
//! |---|---|---|
//! | [`run`] | outside of the process namespace | makes the namespaces, arranges the folders, starts the other two, waits, ends as the program ended |
//! | [`init_main`] | the first process inside | mounts `/proc`, takes orphans; the system ends everything inside when it ends |
//! | [`crate::supervisor::execute_main`] | inside | gives up all rights in the namespaces and becomes the program |
//!
//! However one of them ends, the others end too: the first one dies with the supervisor, the second
//! one reads a pipe that the first one holds, and the program cannot outlive the second one. Mounts
//! and the files in memory go with the namespaces, so nothing is left after `kill -9`.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::sched::CloneFlags;
use nix::sys::signal::{SigSet, Signal as Name};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MountFlags, mount, mount_remount};
use rustix::process::{Signal, WaitOptions, getgid, getpid, getuid};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::launch::INIT;
use crate::limits::Limits;
use crate::sandbox::Confinement;
use crate::{loopback, mounts};

/// Where the program starts if its own folder cannot be seen inside.
const NOWHERE: &str = "/";
/// Where programs inside have their temporary files.
const TEMPORARY: &str = "/tmp";
/// The most capabilities a kernel may know.
const CAPABILITIES: u32 = 64;
/// Threads for each process that is allowed.
const THREADS: u64 = 8;
/// The system takes no lower limit.
const LEAST_THREADS: u64 = 512;
/// How often orphans are looked for that have ended.
const BETWEEN_LOOKS: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What the system refuses.
fn refused(what: &str) -> impl FnOnce(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Runs `command` in a sandbox and returns how it ended. The command is this binary with the arguments
/// that make it become the program.
pub(crate) fn run(
    confinement: &Confinement,
    limits: &Limits,
    command: &mut Command,
) -> io::Result<ExitStatus> {
    let directory = std::env::current_dir().unwrap_or_else(|_| NOWHERE.into());
    enter()?;
    mounts::arrange(confinement)?;
    hand_down_rights().map_err(refused("rights in the sandbox cannot be handed down"))?;
    let mut init = start_init(threads(limits))?;
    give_up_rights().map_err(refused("rights in the sandbox cannot be given up"))?;
    command.current_dir(if is_reachable(&directory) { &directory } else { Path::new(NOWHERE) });
    let is_kept = |name: &OsString| confinement.variables.iter().any(|kept| name == kept.as_str());
    for (name, _) in std::env::vars_os().filter(|(name, _)| !is_kept(name)) {
        command.env_remove(name);
    }
    for name in ["TMPDIR", "GOTMPDIR"] {
        if std::env::var_os(name).is_some_and(|folder| !is_reachable(&PathBuf::from(folder))) {
            command.env(name, TEMPORARY);
        }
    }
    // The polite signal goes to the whole group. The program decides what it does, and this process
    // waits for it.
    block_polite_signals()?;
    let status = command.spawn().and_then(|mut program| program.wait());
    // Ends everything inside, and waits for that.
    drop(init.stdin.take());
    init.wait()?;
    status
}

fn is_reachable(folder: &Path) -> bool {
    folder.is_dir()
}

/// Ends as the program did, as far as a process can.
pub(crate) fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        let _ = polite_signals().thread_unblock();
        if let Some(signal) = Signal::from_named_raw(signal) {
            // Rust has a handler for two of them, which puts the usual behaviour back at the first.
            for _ in 0..2 {
                let _ = rustix::process::kill_process(getpid(), signal);
            }
        }
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// Makes the namespaces and is the same user in them as before.
fn enter() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let kinds = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    nix::sched::unshare(kinds).map_err(|errno| match errno {
        // Which the system calls a lack of space on a device.
        Errno::ENOSPC | Errno::EUSERS => {
            io::Error::other("the system allows no more user namespaces (user.max_user_namespaces)")
        }
        errno => refused("the system refuses user namespaces")(errno.into()),
    })?;
    // Changing credentials forgets this.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let own = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    for (file, text) in own {
        std::fs::write(file, text).map_err(refused("the user cannot be mapped in the sandbox"))?;
    }
    // Who makes namespaces inside could mount memory that is not counted.
    std::fs::write("/proc/sys/user/max_user_namespaces", "0")
        .map_err(refused("user namespaces in the sandbox cannot be forbidden"))?;
    loopback::bring_up().map_err(refused("the network of the sandbox cannot be configured"))
}

/// Starts the first process inside and waits until it is ready.
fn start_init(threads: Option<u64>) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    // What it holds can be read inside.
    command.arg(INIT).args(threads.map(|threads| threads.to_string())).env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.current_dir(NOWHERE);
    let mut init =
        command.spawn().map_err(refused("the first process in the sandbox does not start"))?;
    let mut said = [0];
    let output = init.stdout.take();
    let ready = output.map(|mut output| output.read_exact(&mut said)).unwrap_or(Ok(()));
    ready.map_err(refused("the first process in the sandbox has ended"))?;
    Ok(init)
}

/// The life of the first process inside: until whoever started it closes its input. The argument is how
/// many threads there may be inside.
pub(crate) fn init_main(threads: Option<&OsString>) -> ExitCode {
    mount_proc(threads);
    let ready = || rustix::io::write(rustix::stdio::stdout(), b"+");
    if give_up_rights().is_err() || ready().is_err() {
        return ExitCode::FAILURE;
    }
    loop {
        let stdin = rustix::stdio::stdin();
        let input = &mut [PollFd::new(&stdin, PollFlags::IN)];
        if poll(input, Some(&BETWEEN_LOOKS)).is_ok_and(|ready| ready > 0) {
            return ExitCode::SUCCESS;
        }
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
    }
}

/// Where parts of /proc are covered, the system refuses another one. Then the old one stays, which can
/// only be read and shows the names of processes that are outside.
fn mount_proc(threads: Option<&OsString>) {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if mount("proc", "/proc", "proc", flags, None).is_err() {
        return;
    }
    if let Some(threads) = threads {
        // Before Linux 6.14 this number is the machine's, and cannot be written to.
        let _ = std::fs::write("/proc/sys/kernel/pid_max", threads.as_encoded_bytes());
    }
    let read_only = MountFlags::BIND | MountFlags::RDONLY | flags;
    let _ = mount_remount("/proc", read_only, "");
}

/// Threads and processes that the system allows inside, where the supervisor allows so many processes.
/// It allows more, because a program can start thousands of processes between two looks of the
/// supervisor, and is to be ended by the supervisor, which knows why.
pub(crate) fn threads(limits: &Limits) -> Option<u64> {
    limits.family.map(|family| family.saturating_mul(THREADS).max(LEAST_THREADS))
}

/// The next program that this process starts has what it takes to mount and to give up the rest.
fn hand_down_rights() -> io::Result<()> {
    let needed = [CapabilitySet::SYS_ADMIN, CapabilitySet::SETPCAP];
    let sets = rustix::thread::capabilities(None)?;
    let inheritable = needed.iter().fold(CapabilitySet::empty(), |all, one| all | *one);
    rustix::thread::set_capabilities(None, CapabilitySets { inheritable, ..sets })?;
    for one in needed {
        rustix::thread::configure_capability_in_ambient_set(one, true)?;
    }
    Ok(())
}

/// From here on neither this process nor anything that it starts has any rights in the namespaces: it
/// cannot undo what was arranged.
fn give_up_rights() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    rustix::thread::clear_ambient_capability_set()?;
    for number in 0..CAPABILITIES {
        let one = CapabilitySet::from_bits_retain(1 << number);
        match rustix::thread::remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // The kernel knows no more of them.
            Err(rustix::io::Errno::INVAL) => break,
            Err(errno) => return Err(errno.into()),
        }
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets)?;
    Ok(())
}

fn polite_signals() -> SigSet {
    [Name::SIGTERM, Name::SIGINT, Name::SIGHUP].into_iter().collect()
}

fn block_polite_signals() -> io::Result<()> {
    polite_signals().thread_block().map_err(io::Error::from)
}

/// The mask is inherited, and the program begins without one.
pub(crate) fn unblock_polite_signals() -> io::Result<()> {
    polite_signals().thread_unblock().map_err(io::Error::from)
}

/// The program must not be able to undo what was arranged.
pub(crate) fn check_no_rights() -> io::Result<()> {
    let sets = rustix::thread::capabilities(None)?;
    match sets.permitted.is_empty() && rustix::thread::no_new_privs()? {
        true => Ok(()),
        false => Err(io::Error::other("it has rights that it must not have")),
    }
}

/// Looks around inside, for [`crate::Sandbox::check`]: writes to stderr what is not as it has to be.
pub(crate) fn probe_main(home: Option<&OsString>) -> ExitCode {
    let mut wrong = Vec::new();
    let places = ["/", "/etc", "/usr", "/var"];
    for place in places.iter().map(Path::new).filter(|place| place.is_dir()) {
        let file = place.join(format!("strait-probe-{}", std::process::id()));
        if std::fs::write(&file, "").is_ok() {
            wrong.push(format!("{} can be written to", place.display()));
        }
    }
    let network = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let others = network.lines().skip(2).filter(|line| !line.trim_start().starts_with("lo:"));
    wrong.extend(others.map(|line| format!("there is a network: {}", line.trim())));
    let hidden = home.map(PathBuf::from).filter(|home| home != Path::new("/"));
    if hidden.is_some_and(|home| home.join(".ssh").exists() || home.join(".profile").exists()) {
        wrong.push("the home folder can be seen".to_owned());
    }
    let listening = std::net::TcpListener::bind("127.0.0.1:0");
    let reached = listening.and_then(|listener| {
        std::net::TcpStream::connect_timeout(&listener.local_addr()?, Duration::from_secs(10))
    });
    if let Err(error) = reached {
        wrong.push(format!("127.0.0.1 does not work: {error}"));
    }
    if wrong.is_empty() {
        return ExitCode::SUCCESS;
    }
    // There is nobody left to tell if stderr is closed.
    let _ = rustix::io::write(rustix::stdio::stderr(), wrong.join("; ").as_bytes());
    ExitCode::FAILURE
}
