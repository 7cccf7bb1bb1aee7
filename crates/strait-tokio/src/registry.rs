//! What an execution has beside the objects of the library: which gates of an object are taken, which task a
//! thread performs, which wakers are still to be called, and the clock.
//!
//! All threads of an execution are performed by one operating system thread, so this is kept there, and is
//! forgotten when another execution begins.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::mem::{forget, take};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use strait::extend::{self, ObjectId};

use crate::clock::Clock;
use crate::executor::Task;
use crate::runtime::ModelHandle;
use crate::task::LocalMembers;

/// What belongs to one execution.
#[derive(Default)]
pub(crate) struct Registry {
    execution: u64,
    /// For each object the gates that waiting futures have.
    taken: HashMap<ObjectId, u8>,
    /// For each thread the tasks that it performs, the innermost last, with their wakers.
    performed: HashMap<u32, Vec<(Arc<Task>, Waker)>>,
    /// Wakers that are not those of tasks, to be called when the operation is over.
    pub(crate) to_wake: Vec<Waker>,
    pub(crate) clock: Clock,
    tasks: u64,
    /// The threads that perform blocking functions.
    pub(crate) blocking_threads: HashSet<u32>,
    /// The runtimes that threads have entered, the innermost last.
    pub(crate) entered: HashMap<u32, Vec<ModelHandle>>,
    /// The local sets that threads have entered, the innermost last.
    pub(crate) local_sets: HashMap<u32, Vec<Rc<LocalMembers>>>,
}

thread_local! {
    static REGISTRY: RefCell<Registry> = RefCell::default();
}

/// Performs an action on what belongs to the current execution. The action must not make a step.
pub(crate) fn with<R>(action: impl FnOnce(&mut Registry) -> R) -> R {
    let execution = extend::execution().unwrap_or(0);
    REGISTRY.with_borrow_mut(|registry| {
        if registry.execution != execution {
            // What is left belongs to threads that were abandoned with their execution.
            forget(take(registry));
            registry.execution = execution;
        }
        action(registry)
    })
}

/// The gates that a common object keeps for itself.
pub(crate) const RESERVED: u8 = 0x80;

impl Registry {
    /// Takes a gate of an object for a future that waits there; nothing if all are taken.
    pub(crate) fn take_gate(&mut self, object: ObjectId) -> Option<u8> {
        let taken = self.taken.entry(object).or_insert(RESERVED);
        let free = (0..8).map(|bit| 1 << bit).find(|gate| *taken & gate == 0)?;
        *taken |= free;
        Some(free)
    }

    /// Gives a gate back.
    pub(crate) fn free_gate(&mut self, object: ObjectId, gate: u8) {
        if let Some(taken) = self.taken.get_mut(&object) {
            *taken &= !gate;
        }
    }

    /// The task that a thread performs.
    pub(crate) fn task_of(&self, thread: u32) -> Option<&(Arc<Task>, Waker)> {
        self.performed.get(&thread)?.last()
    }

    /// A thread begins to perform a task.
    pub(crate) fn begin(&mut self, thread: u32, task: Arc<Task>, waker: Waker) {
        self.performed.entry(thread).or_default().push((task, waker));
    }

    /// A thread ceases to perform its innermost task.
    pub(crate) fn end(&mut self, thread: u32) {
        if let Some(performed) = self.performed.get_mut(&thread) {
            performed.pop();
        }
    }

    /// A number for a new task.
    pub(crate) fn next_task(&mut self) -> u64 {
        self.tasks += 1;
        self.tasks
    }
}

/// The current thread.
pub(crate) fn thread() -> u32 {
    extend::activity().map_or(0, |(thread, _)| thread)
}

/// The task that the current thread performs, if it performs one, with its waker.
pub(crate) fn current_task() -> Option<(Arc<Task>, Waker)> {
    let thread = thread();
    with(|registry| registry.task_of(thread).cloned())
}
