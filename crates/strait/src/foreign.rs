//! What code under test does with the operating system, as far as that can be seen from outside: it
//! blocks its thread, or starts others.
//!
//! Linux says how often a thread has given up the processor of its own accord, which code under test
//! has no reason to do; and it says which number the last thread of the system has got, whichever has
//! started it. An execution is repeated until no thread was started meanwhile: if the code under
//! test does so itself, that never happens. Elsewhere nothing is seen.

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

/// So often an execution is repeated before the code under test is said to start threads. Other programs
/// may start some at any time, but hardly during every one of these.
const PATIENCE: u32 = 60;

impl Observer {
    /// Looks at one execution.
    pub(crate) fn observe<R>(&mut self, execution: impl FnOnce() -> R) -> R {
        let before = system::now();
        let result = execution();
        let after = system::now();
        self.executions += 1;
        self.blocked += u32::from(after.switches != before.switches);
        self.quiet |= after.last_thread == before.last_thread;
        result
    }

    /// What was seen. Repeats the execution as long as something may be due to others.
    pub(crate) fn conclude(mut self, mut again: impl FnMut()) -> Option<Foreign> {
        while !self.quiet && self.executions < PATIENCE {
            self.observe(&mut again);
        }
        if !self.quiet && self.executions > 0 {
            return Some(Foreign::Threads);
        }
        if !self.often_blocks() {
            return None;
        }
        // To block once in a while is the business of the allocator and of the printer. Code that blocks does
        // it again.
        let mut more = Observer::default();
        (0..self.executions).for_each(|_| more.observe(&mut again));
        more.often_blocks().then_some(Foreign::Blocks)
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
    use std::fs;

    /// What cannot be read stays 0, so that nothing is ever seen.
    pub(super) fn now() -> super::Now {
        super::Now { switches: switches().unwrap_or(0), last_thread: last_thread().unwrap_or(0) }
    }

    fn switches() -> Option<u64> {
        let status = fs::read_to_string("/proc/thread-self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse().ok()
    }

    /// The last field of proc_loadavg(5).
    fn last_thread() -> Option<u64> {
        let text = fs::read_to_string("/proc/loadavg").ok()?;
        text.split_whitespace().next_back()?.parse().ok()
    }
}
