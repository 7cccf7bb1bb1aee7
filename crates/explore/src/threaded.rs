//! What the search of `optimal.rs` sees: threads that are deterministic between the steps they
//! announce, and objects that the steps access.
//!
//! This is a narrower contract than [`crate::System`]. In exchange dependence is a comparison of
//! numbers, whether a step was possible earlier is a look at a bit, and no step allocates.

use std::fmt::Debug;
use std::hash::Hash;

use crate::system::ThreadId;

/// One object that a step accesses. Two steps are dependent if they access a common object and one
/// of them writes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// A small number; the same object has the same number in equivalent executions.
    pub object: u32,
    /// Does the order with reads matter?
    pub write: bool,
    /// The gates of the object of which one must be open, as bits; 0 if the step never waits for
    /// this object. A step with gates is enabled if any of its accesses has an open gate.
    pub gate: u8,
}

impl Access {
    /// Does the order of the two accesses matter? Objects that do not exist are only read.
    #[inline]
    pub(crate) fn clashes(self, other: Access) -> bool {
        self.object == other.object && (self.write | other.write)
    }
}

/// The event with this number (from 0) of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventId {
    /// Whose event.
    pub thread: ThreadId,
    /// How many events of the thread came before.
    pub index: u32,
}

/// The step that a thread has announced.
#[derive(Clone, Copy, Debug)]
pub struct Next<'r> {
    /// What it accesses.
    pub accesses: &'r [Access],
    /// Events other than the thread's own last one without which the thread would not have come
    /// here: those that created it, ended what it waited for, and the like.
    pub causes: &'r [EventId],
    /// The events that have opened its gates, as far as they do not write the objects it accesses:
    /// in another order others may do so. Of no meaning while the step is not enabled.
    pub enablers: &'r [EventId],
    /// An event of another thread that has to come first although it changes nothing about this step: of
    /// threads that can be exchanged for each other, the first one goes first.
    pub follows: Option<EventId>,
    /// How many ways there are to take it, at least 1; a function of the objects accessed.
    pub choices: u32,
    /// If given, the step accesses one object, and writes it only if that has this
    /// [value](Threaded::value): the access says what it would do now.
    pub writes_if: Option<u64>,
}

/// One decision of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pick {
    /// Who makes a step.
    pub thread: ThreadId,
    /// Which way it is taken.
    pub choice: u32,
}

/// A system of deterministic threads. It holds one execution, which is started anew as often as
/// the search likes.
pub trait Threaded {
    /// What a finished execution gave.
    type Outcome: Clone + Eq + Hash + Debug;

    /// Begins a fresh execution.
    fn restart(&mut self);

    /// All threads of this execution have numbers below this one.
    fn threads(&self) -> u32;

    /// Can the thread make its announced step? If an execution meets a fault that is no matter of the
    /// order of steps, it may end there and then, with no thread enabled: equivalent executions do
    /// not have to end after the same steps.
    fn enabled(&self, thread: ThreadId) -> bool;

    /// The step that a thread has announced, enabled or not.
    fn next(&self, thread: ThreadId) -> Option<Next<'_>>;

    /// The gates of an object that are open now. Only steps that write the object close them, and
    /// only those open them, with one exception: a step may open the gate of an object that it does
    /// not write if it is an [enabler](Next::enablers) of the step that goes through, if no step
    /// waits for more than this one gate, and if leaving out any event on the object, with all that
    /// happens after it, leaves the gate as it was before that event. A queue is like this: the n-th
    /// receive needs the n-th send, whatever else was sent, and with n - 1 receives a message is
    /// there as it was before the n-th.
    fn open(&self, object: u32) -> u8;

    /// The value of an object, if there are steps that write it only if it has a certain one. Only steps
    /// that write the object change it.
    fn value(&self, _object: u32) -> u64 {
        0
    }

    /// Makes an enabled thread's announced step, in one of the announced ways.
    fn step(&mut self, thread: ThreadId, choice: u32);

    /// What the execution gave; no thread is enabled any more.
    fn outcome(&mut self) -> Self::Outcome;
}

/// The accesses of a step. Nearly all steps have one, which is copied with the step.
#[derive(Debug)]
pub(crate) struct Accesses {
    /// The only one; of an object that does not exist if there is none or more than one.
    one: Access,
    many: Option<Box<[Access]>>,
}

impl Accesses {
    const NONE: Access = Access { object: u32::MAX, write: false, gate: 0 };

    #[inline]
    pub(crate) fn new(accesses: &[Access]) -> Self {
        match *accesses {
            [one] => Accesses { one, many: None },
            _ => Accesses::several(accesses),
        }
    }

    #[cold]
    fn several(accesses: &[Access]) -> Self {
        let many = (!accesses.is_empty()).then(|| accesses.into());
        Accesses { one: Accesses::NONE, many }
    }

    /// Says of the only access whether it writes.
    pub(crate) fn set_write(&mut self, write: bool) {
        self.one.write = write;
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[Access] {
        match &self.many {
            Some(many) => many,
            None if self.one.object == u32::MAX => &[],
            None => std::slice::from_ref(&self.one),
        }
    }
}

impl Clone for Accesses {
    #[inline]
    fn clone(&self) -> Self {
        match &self.many {
            None => Accesses { one: self.one, many: None },
            Some(many) => Accesses::several(many),
        }
    }
}

/// A step that was made or is planned.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) pick: Pick,
    pub(crate) accesses: Accesses,
}

impl Step {
    /// May the order with a step of another thread matter?
    #[inline]
    pub(crate) fn conflicts(&self, other: &Step) -> bool {
        if self.accesses.many.is_none() && other.accesses.many.is_none() {
            return self.accesses.one.clashes(other.accesses.one);
        }
        self.conflicts_anywhere(other)
    }

    #[cold]
    fn conflicts_anywhere(&self, other: &Step) -> bool {
        let clash =
            |&mine: &Access| other.accesses.as_slice().iter().any(|&theirs| mine.clashes(theirs));
        self.accesses.as_slice().iter().any(clash)
    }
}
