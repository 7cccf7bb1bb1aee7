//! What the search under a relaxed memory model sees: a [`Threaded`] system whose atomic accesses read
//! what the search tells them to.

use std::sync::atomic::Ordering;

use crate::system::ThreadId;
use crate::threaded::{EventId, Pick, Threaded};

/// What an announced step does to an atomic variable, or as a fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// Reads a variable.
    Load {
        /// Which one: a number as in [`crate::Access::object`].
        location: u32,
        /// Its ordering.
        order: Ordering,
    },
    /// Writes a variable.
    Store {
        /// Which one.
        location: u32,
        /// What is written.
        value: u64,
        /// Its ordering.
        order: Ordering,
    },
    /// Reads and writes a variable in one step.
    Update {
        /// Which one.
        location: u32,
        /// Its ordering.
        order: Ordering,
    },
    /// Reads a variable, and writes it in the same step if it has the expected value.
    Exchange {
        /// Which one.
        location: u32,
        /// The value at which it writes.
        expected: u64,
        /// The ordering if it writes.
        success: Ordering,
        /// The ordering if it does not.
        failure: Ordering,
        /// May it find the expected value and not write all the same?
        weak: bool,
    },
    /// Orders accesses of its thread.
    Fence {
        /// How.
        order: Ordering,
    },
}

impl Atomic {
    /// The variable that is accessed.
    pub fn location(self) -> Option<u32> {
        match self {
            Atomic::Load { location, .. }
            | Atomic::Store { location, .. }
            | Atomic::Update { location, .. }
            | Atomic::Exchange { location, .. } => Some(location),
            Atomic::Fence { .. } => None,
        }
    }
}

/// How a thread is to make its announced step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Directions {
    /// Which way, if there are several ([`crate::Next::choices`]). For a step at an atomic variable the
    /// number by which [`crate::Memory`] makes the same step again.
    pub choice: u32,
    /// The write that it reads from, if it reads an atomic variable and not its initial value.
    pub source: Option<EventId>,
    /// The value that it reads.
    pub value: u64,
    /// Does it write the atomic variable?
    pub writes: bool,
}

/// A system of threads whose atomic variables have no state of their own: what a step reads is up to the
/// search, and so is the order of writes.
pub trait Relaxed: Threaded {
    /// The atomic part of the step that a thread has announced.
    fn atomic(&self, thread: ThreadId) -> Option<Atomic>;

    /// The value of a variable before anybody has written it.
    fn initial(&self, location: u32) -> u64;

    /// Makes the announced step of an enabled thread.
    fn perform(&mut self, thread: ThreadId, directions: Directions);

    /// The value that the last step of the thread has written to an atomic variable.
    fn written(&self, thread: ThreadId) -> u64;

    /// Has the execution ended early, at a fault? In another order of the same events it may do so earlier
    /// or later.
    fn has_ended(&self) -> bool {
        false
    }

    /// An execution has come to an end in which a thread waits in a loop for a value that is there already.
    /// It is left out, since the loop would go on. The search calls this for some of these executions, with
    /// their steps.
    fn ended_unfairly(&mut self, _steps: &[Pick]) {}

    /// If the thread waits in a loop whose last round has read something and changed nothing: how many
    /// events it had performed before that round.
    fn waits_since(&self, _thread: ThreadId) -> Option<u32> {
        None
    }
}
