//! Threads that can be exchanged for each other: they were started one after the other with the same code.
//!
//! As long as two of them have made the same steps with the same results, and none that others can notice,
//! to exchange them changes nothing. Then whatever the second one could do first, the first one can do
//! first, and the rest of the execution is the same but for their names. So the second one waits until the
//! first one has made its step. This is done only for steps that follow loads: after anything else the two
//! can be told apart.
//!
//! Each set of executions that differ only in the names of such threads keeps at least one execution.
//! (Kokologiannakis, Marmanis, Vafeiadis: SPORE: Combining Symmetry and Partial Order Reduction, PLDI 2024,
//! do this in TruSt; there the order of writes is compared too.)

use strait_explore::{EventId, ThreadId};

use super::op::Place;
use super::record::{State, Thread};
use super::world::World;

/// What a thread is compared by with those that can be exchanged for it.
pub(crate) struct Alike {
    /// The one that was started before it.
    previous: Option<u32>,
    /// What its steps have read, as long as all of them were loads.
    reads: Vec<Read>,
}

/// What a load has read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Read {
    object: u32,
    value: u64,
    /// The write that it has read from, under RC11: the same value of another write is another execution.
    source: Option<EventId>,
}

impl World {
    /// The thread can be exchanged for the one that was started before it, if there is one.
    pub(crate) fn note_alike(&mut self, number: u32, previous: Option<u32>) {
        let thread = &mut self.threads[number as usize];
        thread.rarities = true;
        thread.alike = Some(Box::new(Alike { previous, reads: Vec::new() }));
    }

    /// The current thread asks which one it is. Threads that are exchanged for each other must not.
    pub(crate) fn refuse_identity(&mut self, place: Place) {
        if self.me().alike.is_none() || self.aborting {
            return;
        }
        let fault = format!(
            "a thread of `spawn_symmetric` asks for `thread::current` at {}:{}: code that tells its \
             threads apart must not exchange them. Take `thread::spawn`.",
            place.file(),
            place.line()
        );
        self.ending.fault.get_or_insert(fault);
        self.over = true;
    }

    /// The current thread has loaded a value.
    #[cold]
    pub(super) fn note_alike_read(&mut self, object: u32, value: u64) {
        let relaxed = self.relaxed;
        let me = self.me();
        let source = me.given.source.filter(|_| relaxed);
        let is_plain = me.is_plain();
        let Some(alike) = &mut me.alike else { return };
        if is_plain && alike.reads.len() + 1 == me.events as usize {
            alike.reads.push(Read { object, value, source });
        }
    }

    /// The step that has to come before the next one of a thread because the two threads can be exchanged
    /// for each other.
    pub(super) fn follows(&self, thread: &Thread, alike: &Alike) -> Option<EventId> {
        if !thread.is_plain() || alike.reads.len() != thread.events as usize {
            return None;
        }
        let mut previous = alike.previous;
        while let Some(number) = previous {
            let known = self.threads[number as usize].alike.as_ref()?;
            if known.reads.starts_with(&alike.reads) {
                return Some(EventId { thread: ThreadId(number), index: thread.events });
            }
            previous = known.previous;
        }
        None
    }

    /// Does no other thread have to go first?
    pub(super) fn may_go(&self, thread: &Thread, alike: &Alike) -> bool {
        self.follows(thread, alike).is_none_or(|first| {
            let other = &self.threads[first.thread.0 as usize];
            other.events > first.index || other.state == State::Finished
        })
    }
}

impl Thread {
    /// Has it done nothing but steps?
    fn is_plain(&self) -> bool {
        self.stores == 0 && self.children == 0 && !self.operated
    }
}
