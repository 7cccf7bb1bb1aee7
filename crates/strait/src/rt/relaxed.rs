//! Atomic variables under RC11: what a step reads, and where a write stands among the others, is left to
//! the search (`strait_explore::relaxed`). Here a step is announced with its ordering, and told the value.

use std::sync::atomic::Ordering;

use strait_explore::{Atomic, EventId, ThreadId};

use super::atomic::{acquires, releases};
use super::current::with;
use super::memory::Model;
use super::op::{Op, Place};
use super::schedule::point;
use super::world::World;

impl World {
    /// Are atomic variables left to the search?
    #[inline]
    pub(crate) fn is_relaxed(&self) -> bool {
        self.model == Model::Rc11
    }

    /// The step that the current thread makes.
    fn current_event(&self) -> EventId {
        let thread = self.current;
        let made = self.threads[thread as usize].events;
        EventId { thread: ThreadId(thread), index: made.saturating_sub(1) }
    }

    /// The current thread has read a variable. Gives the value.
    #[cold]
    pub(super) fn read_relaxed(&mut self, object: u32, order: Ordering) -> u64 {
        if self.clocks.on {
            self.look_for_maker(object, self.threads[self.current as usize].op.place);
            let source = self.me().given.source;
            self.clocks.read_from(self.current, source, acquires(order));
        }
        self.me().given.value
    }

    /// The current thread has written a variable; as part of a read-modify-write or not.
    #[cold]
    pub(super) fn write_relaxed(&mut self, object: u32, new: u64, order: Ordering, updates: bool) {
        self.me().given.written = new;
        self.object(object).value = new;
        if self.clocks.on {
            self.look_for_maker(object, self.threads[self.current as usize].op.place);
            let source = self.me().given.source.filter(|_| updates);
            let event = self.current_event();
            self.clocks.write_at(event, source, releases(order));
        } else {
            self.notice_publication(object, releases(order));
        }
    }
}

/// A fence.
pub(super) fn fence(order: Ordering, place: Place) {
    let mut op = Op::local("fence", place);
    op.atomic = Some(Atomic::Fence { order });
    point(op);
}

/// The value, given that nobody else can access the variable: there is only one to be read.
pub(super) fn exclusive(object: u32, place: Place) -> u64 {
    let mut op = Op::local("load", place);
    op.atomic = Some(Atomic::Load { location: object, order: Ordering::Relaxed });
    point(op);
    with(|world| world.read_relaxed(object, Ordering::Relaxed)).unwrap_or(0)
}

/// Sets the value, given that nobody else can access the variable.
pub(super) fn set_exclusive(object: u32, new: u64, place: Place) {
    let mut op = Op::local("store", place);
    op.atomic = Some(Atomic::Store { location: object, value: new, order: Ordering::Relaxed });
    point(op);
    with(|world| world.write_relaxed(object, new, Ordering::Relaxed, false));
}
