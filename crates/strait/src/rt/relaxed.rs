//! Atomic variables under RC11: what a step reads, and where a write stands among the others, is left to
//! the search (`strait_explore::relaxed`). Here a step is announced with its ordering, and told the value.
//!
//! What happens before what through locks, channels and the like is told to the search as causes of the
//! next step of the thread that learns of it.
//!
//! A program that uses no atomic variable is searched as under sequential consistency: RC11 means the same
//! for it.

use std::sync::atomic::Ordering;

use strait_explore::{Atomic, EventId, Memory, ThreadId};

use super::atomic::{acquires, releases};
use super::current::with;
use super::features::Feature;
use super::memory::Model;
use super::op::{Op, Place};
use super::record::{NO_EVENT, State, add_past};
use super::schedule::point;
use super::short_list::ShortList;
use super::spin::waits_in_loop;
use super::world::World;

impl World {
    /// Are atomic variables left to the search?
    #[inline]
    pub(crate) fn is_relaxed(&self) -> bool {
        self.relaxed
    }

    /// The current thread is about to access an atomic variable. Says whether those are left to the
    /// search.
    #[inline]
    pub(super) fn meets_atomic(&mut self) -> bool {
        self.model == Model::Rc11 && self.leaves_atomic()
    }

    #[cold]
    fn leaves_atomic(&mut self) -> bool {
        if !self.relaxed {
            self.want(Feature::Atomics);
        }
        self.relaxed
    }

    /// The current thread learns what was released through an object.
    #[inline]
    pub(crate) fn acquire(&mut self, object: u32) {
        self.clocks.acquire(self.current, object);
        if self.relaxed {
            self.acquire_past(object);
        }
    }

    #[cold]
    fn acquire_past(&mut self, object: u32) {
        if let Some(released) = self.releases.get(object as usize) {
            add_past(&mut self.threads[self.current as usize].past, released);
        }
    }

    /// The current thread releases what it knows through an object, besides what was released before.
    #[inline]
    pub(crate) fn release(&mut self, object: u32) {
        self.clocks.release(self.current, object);
        if self.relaxed {
            self.release_past(object);
        }
    }

    #[cold]
    fn release_past(&mut self, object: u32) {
        let index = object as usize;
        if self.releases.len() <= index {
            self.releases.resize(index + 1, ShortList::new(NO_EVENT));
        }
        add_past(&mut self.releases[index], &self.threads[self.current as usize].past);
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

    /// Exceptions that are thrown to threads that access atomic variables are not searched.
    #[cold]
    pub(super) fn refuse_exceptions(&mut self) {
        let fault = "exceptions for threads and atomic variables in one program are not searched under \
                     RC11: choose another model, such as \
                     `strait::Builder::new().model(strait::Model::Sc)`";
        self.ending.fault = Some(fault.to_owned());
        self.over = true;
    }

    /// Lets those go on who wait in loops and could read something else now.
    pub(super) fn open_loops(&mut self, memory: &Memory) {
        for number in 0..self.met() {
            let Some(first) = self.waits_since(number) else { continue };
            let goes_on = memory.may_read_otherwise(ThreadId(number), first)
                || self.has_changed_directly(number);
            for access in self.threads[number as usize].op.accesses.iter() {
                let open = &mut self.objects[access.object as usize].open;
                *open &= !access.gate;
                *open |= if goes_on { access.gate } else { 0 };
            }
        }
    }

    /// How many steps a thread had made before the last round of the loop in which it waits, if it does.
    pub(super) fn waits_since(&self, number: u32) -> Option<u32> {
        let thread = self.threads.get(number as usize)?;
        let waits = thread.state == State::Announced && waits_in_loop(&thread.op);
        waits.then(|| thread.rounds.waits_since())
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
    with(World::note_fence);
}

/// The value, given that no other thread can access the variable: there is only one to be read.
pub(super) fn exclusive(object: u32, place: Place) -> u64 {
    let mut op = Op::local("load", place);
    op.atomic = Some(Atomic::Load { location: object, order: Ordering::Relaxed });
    point(op);
    with(|world| world.read_relaxed(object, Ordering::Relaxed)).unwrap_or(0)
}

/// Sets the value, given that no other thread can access the variable.
pub(super) fn set_exclusive(object: u32, new: u64, place: Place) {
    let mut op = Op::local("store", place);
    op.atomic = Some(Atomic::Store { location: object, value: new, order: Ordering::Relaxed });
    point(op);
    with(|world| world.write_relaxed(object, new, Ordering::Relaxed, false));
}
