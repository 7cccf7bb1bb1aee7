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
    /// How many ways there are to take it, at least 1; a function of the objects accessed.
    pub choices: u32,
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

    /// Can the thread make its announced step?
    fn enabled(&self, thread: ThreadId) -> bool;

    /// The step that a thread has announced, enabled or not.
    fn next(&self, thread: ThreadId) -> Option<Next<'_>>;

    /// The gates of an object that are open now. Only steps that write the object change them.
    fn open(&self, object: u32) -> u8;

    /// Makes an enabled thread's announced step, in one of the announced ways.
    fn step(&mut self, thread: ThreadId, choice: u32);

    /// What the execution gave; no thread is enabled any more.
    fn outcome(&mut self) -> Self::Outcome;
}

/// The accesses of a step. Nearly all steps have one or two: these are copied as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Accesses {
    few: [Access; 2],
    count: u32,
    many: Option<Box<[Access]>>,
}

impl Accesses {
    #[inline]
    pub(crate) fn new(accesses: &[Access]) -> Self {
        const NONE: Access = Access { object: u32::MAX, write: false, gate: 0 };
        let count = accesses.len() as u32;
        let mut few = [NONE; 2];
        match *accesses {
            [] => {}
            [one] => few[0] = one,
            [one, other] => few = [one, other],
            _ => return Accesses { few, count, many: Some(accesses.into()) },
        }
        Accesses { few, count, many: None }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[Access] {
        match &self.many {
            Some(many) => many,
            None => &self.few[..self.count as usize],
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
        self.accesses.as_slice().iter().any(|mine| {
            let clash =
                |theirs: &Access| mine.object == theirs.object && (mine.write || theirs.write);
            other.accesses.as_slice().iter().any(clash)
        })
    }
}
