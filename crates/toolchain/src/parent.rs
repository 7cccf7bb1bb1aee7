//! A process that ends with its parent, whatever ends the parent.
//!
//! Linux offers a signal for that, `PR_SET_PDEATHSIG`, but it is sent when the *thread* that
//! started the child ends, and a worker that dies because a thread of its parent finished would look
//! like a crash that was found. So a thread waits for the parent's process: at a pidfd where there
//! are such, and by asking ten times per second where not.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::error::Error;

/// Names the parent to a process that is to end with it, so that a parent that is gone already can
/// be told from one that is still there.
pub const PARENT_VARIABLE: &str = "STRAIT_PARENT";

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// From now on, the calling process (with its process group if it leads one) ends at once when its
/// parent ends, however that happens. [`crate::entry`] calls it for workers; a harness that links
/// this crate calls it first thing in `main`.
pub fn die_with_parent() -> Result<(), Error> {
    watch(die)
}

/// Calls `then` in a thread of its own when the parent has ended.
pub(crate) fn watch(then: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let named = std::env::var(PARENT_VARIABLE).ok();
    let named = named.and_then(|text| text.parse().ok()).and_then(Pid::from_raw);
    let parent = named.or_else(rustix::process::getppid);
    let wait = move || {
        if let Some(parent) = parent {
            wait_for_end_of(parent);
        }
        then();
    };
    thread::Builder::new()
        .name("parent-watch".into())
        .spawn(wait)
        .map(|_| ())
        .map_err(|source| Error::Refused { what: "a thread", source })
}

fn wait_for_end_of(parent: Pid) {
    let still_there = || rustix::process::getppid() == Some(parent);
    // Should the number belong to another process by now, the second question finds out.
    if still_there() && wait_at_pidfd(parent, still_there).is_ok() {
        return;
    }
    while still_there() {
        thread::sleep(BETWEEN_LOOKS);
    }
}

#[cfg(target_os = "linux")]
fn wait_at_pidfd(parent: Pid, still_there: impl Fn() -> bool) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{PidfdFlags, pidfd_open};

    let pidfd = pidfd_open(parent, PidfdFlags::empty())?;
    while still_there() {
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn wait_at_pidfd(_: Pid, _: impl Fn() -> bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No destructors, no allocation: the heap of this process may be what the campaign has broken.
fn die() {
    let own = rustix::process::getpid();
    loop {
        // The group first: its members include this process.
        if rustix::process::getpgrp() == own {
            let _ = rustix::process::kill_process_group(own, Signal::KILL);
        }
        let _ = rustix::process::kill_process(own, Signal::KILL);
    }
}
