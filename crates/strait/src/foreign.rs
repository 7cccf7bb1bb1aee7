//! What code under test does with the operating system, as far as that can be seen from outside: it
//! blocks its thread, or starts others.
//!
//! Linux says how often a thread has given up the processor of its own accord, which code under test
//! has no reason to do; and it says which number the last thread of the system has got, in whatever
//! program. An execution is repeated until no thread was started meanwhile: if the code under test starts
//! one itself, that never happens. Elsewhere nothing is seen.

use std::time::Duration;

/// What was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Foreign {
    /// The thread has waited for something.
    Blocks,
    /// The thread has started another.
    Threads,
}

/// Looks at executions while they are repeated.
#[derive(Default)]
pub(crate) struct Observer {
    executions: u32,
    blocked: u32,
    /// Was there an execution during which no thread was started anywhere?
    quiet: bool,
}

/// The number of executions that are looked at one by one before the code under test is said to block.
const EXECUTIONS: u32 = 8;

/// The number of executions that are looked at one by one before the code under test is said to start
/// threads. Other programs may start some at any time, but hardly during every one of these.
const PATIENCE: u32 = 60;

/// Milliseconds before executions are looked at again, before the code under test is said to block.
const PAUSES: [u64; 4] = [1, 5, 25, 125];

impl Observer {
    /// Looks at several executions at once. Says whether the thread may have blocked or started another
    /// meanwhile.
    pub(crate) fn notices<R>(executions: impl FnOnce() -> R) -> (R, bool) {
        let before = system::now();
        let result = executions();
        (result, system::now() != before)
    }

    /// Repeats an execution until it is clear what is due to the code under test, and not to other
    /// programs.
    pub(crate) fn conclude(mut again: impl FnMut()) -> Option<Foreign> {
        let mut seen = Observer::default();
        while seen.executions < EXECUTIONS || (!seen.quiet && seen.executions < PATIENCE) {
            seen.observe(&mut again);
        }
        if !seen.quiet {
            return Some(Foreign::Threads);
        }
        // The allocator, the printer and page faults on a busy machine block for a while. Code that waits
        // for something blocks again later.
        let blocks_later = |pause: &u64| {
            std::thread::sleep(Duration::from_millis(*pause));
            let mut more = Observer::default();
            (0..EXECUTIONS).for_each(|_| more.observe(&mut again));
            more.often_blocks()
        };
        let blocks = seen.often_blocks() && PAUSES.iter().all(blocks_later);
        blocks.then_some(Foreign::Blocks)
    }

    /// Looks at one execution.
    fn observe(&mut self, execution: impl FnOnce()) {
        let before = system::now();
        execution();
        let after = system::now();
        self.executions += 1;
        self.blocked += u32::from(after.switches != before.switches);
        self.quiet |= after.last_thread == before.last_thread;
    }

    fn often_blocks(&self) -> bool {
        self.blocked * 2 > self.executions
    }
}

/// What the system says at some point.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Now {
    /// How often this thread has given up the processor of its own accord.
    switches: u64,
    /// The number of the thread that was started last.
    last_thread: u64,
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn now() -> super::Now {
        super::Now::default()
    }
}

#[cfg(target_os = "linux")]
mod system {
    #![allow(unsafe_code, reason = "the C library says how often a thread has blocked")]

    use std::fs::File;
    use std::mem::MaybeUninit;
    use std::os::unix::fs::FileExt;

    thread_local! {
        /// See proc_loadavg(5). It is kept open: this is read twice per check.
        static LOAD: Option<File> = File::open("/proc/loadavg").ok();
    }

    /// What cannot be read stays 0, so that nothing is ever seen.
    pub(super) fn now() -> super::Now {
        super::Now { switches: switches().unwrap_or(0), last_thread: last_thread().unwrap_or(0) }
    }

    fn switches() -> Option<u64> {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to memory of the right size, all bytes of which may be zero.
        let code = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        // SAFETY: zeroes are a value of this type, and so is what the function has written.
        let usage = unsafe { usage.assume_init() };
        (code == 0).then_some(usage.ru_nvcsw as u64)
    }

    /// The last field.
    fn last_thread() -> Option<u64> {
        let mut text = [0; 128];
        let length = LOAD.try_with(|load| load.as_ref()?.read_at(&mut text, 0).ok()).ok()??;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        text.split_whitespace().next_back()?.parse().ok()
    }
}
