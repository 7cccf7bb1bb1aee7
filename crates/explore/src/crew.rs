//! The optimal search on several operating system threads.
//!
//! A search that has more than one branch left gives one away: a [`Task`] with the way to it, what
//! sleeps there, and the wakeup trees on the way. Whoever takes it explores the branch as its own
//! root; reversals that belong to nodes of the giver are collected and handed back at the end. A
//! giver leaves a node only when all branches it gave away from there are done; while it waits, it
//! works on tasks of others.
//!
//! A branch that somebody explores counts as explored for all others, as if it were asleep. So
//! nothing is forgotten, but a branch may be explored in a different order than alone: a few
//! executions can turn out to be in vain.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::threaded::{Pick, Step};

/// A branch of a wakeup tree on its own.
pub(crate) struct Planned {
    pub(crate) step: Step,
    pub(crate) children: Vec<Planned>,
}

/// What is known about a node on the way to a task.
pub(crate) struct Prefix {
    pub(crate) sleep: Vec<Step>,
    pub(crate) tree: Vec<Planned>,
}

/// Reversals for nodes of the giver, by depth.
pub(crate) type Reversals = Vec<(usize, Vec<Step>)>;

/// A branch to be explored.
pub(crate) struct Task {
    /// The way to the node of the branch.
    pub(crate) picks: Vec<Pick>,
    /// The nodes on the way, the one of the branch included.
    pub(crate) nodes: Vec<Prefix>,
    pub(crate) branch: Planned,
    pub(crate) reply: Reply,
}

/// Where the answer to a task arrives.
pub(crate) type Reply = Arc<Mutex<Option<Reversals>>>;

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    finished: bool,
}

/// Several searches that help each other.
#[derive(Default)]
pub(crate) struct Crew {
    state: Mutex<State>,
    changed: Condvar,
    /// How many have nothing to do.
    hungry: AtomicUsize,
    /// How many tasks nobody has taken.
    waiting: AtomicUsize,
    executions: AtomicU64,
    stopped: AtomicBool,
}

impl Crew {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Would somebody take a task at once?
    #[inline]
    pub(crate) fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > self.waiting.load(Ordering::Relaxed)
    }

    /// Counts an execution; gives how many there are in all.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.executions.fetch_add(1, Ordering::Relaxed) + 1
    }

    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Lets all searches end as soon as possible.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.finish();
    }

    /// There will be no more tasks.
    pub(crate) fn finish(&self) {
        self.state().finished = true;
        self.changed.notify_all();
    }

    pub(crate) fn give(&self, task: Task) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.state().tasks.push_back(task);
        self.changed.notify_one();
    }

    /// Answers a task.
    pub(crate) fn answer(&self, reply: &Reply, reversals: Reversals) {
        *reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(reversals);
        // Taken for a moment, so that nobody misses the change between a look and a wait.
        drop(self.state());
        self.changed.notify_all();
    }

    /// The next task, or `None` when there will be none.
    pub(crate) fn next(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            if state.finished {
                return None;
            }
            if let Some(task) = state.tasks.pop_front() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                return Some(task);
            }
            state = self.pause(state);
        }
    }

    /// The answer to a task, or a task to do meanwhile; neither if all is to stop.
    pub(crate) fn answer_or_task(&self, reply: &Reply) -> Option<Result<Reversals, Task>> {
        let mut state = self.state();
        loop {
            let answer = reply.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(reversals) = answer {
                return Some(Ok(reversals));
            }
            if self.is_stopped() {
                return None;
            }
            if let Some(task) = state.tasks.pop_front() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                return Some(Err(task));
            }
            state = self.pause(state);
        }
    }

    fn pause<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.hungry.fetch_add(1, Ordering::Relaxed);
        let state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        self.hungry.fetch_sub(1, Ordering::Relaxed);
        state
    }
}
