//! The model of an atomic variable: its value lives in the world, as a number.
//!
//! What is inlined into the code under test is only the switch of stacks in the middle of a step; see
//! `coroutine.rs`.

use std::sync::atomic::Ordering;

use strait_explore::Atomic;

use super::coroutine::{Suspender, note_frames};
use super::current::with;
use super::features::Feature;
use super::memory::Model;
use super::op::{Place, reads, writes};
use super::schedule::{announce_at, arrive, arrive_at_stop, drain};
use super::slot::{Fresh, Slot};
use super::spin::{EXCHANGE, Read};
use super::world::World;

/// The number of an atomic, which has this value when the execution first meets it.
#[inline]
fn number(world: &mut World, slot: &Slot, initial: u64, place: Place) -> u32 {
    slot.find(world, || Fresh { kind: "atomic", open: 0, value: initial }, place).0
}

fn find(slot: &Slot, initial: u64, place: Place) -> u32 {
    with(|world| number(world, slot, initial, place)).unwrap_or(0)
}

#[inline]
pub(super) fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

#[inline]
pub(super) fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// The variable and the way out to wait for the announced step; none if there is nothing to wait for.
type Announced = (u32, Option<Suspender>);

#[inline(always)]
pub(crate) fn load(slot: &Slot, initial: u64, order: Ordering, place: Place) -> u64 {
    let (object, way_out) = announce_load(slot, initial, order, place);
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    finish_load(object, order, way_out.is_some())
}

fn announce_load(slot: &Slot, initial: u64, order: Ordering, place: Place) -> Announced {
    with(|world| {
        let object = number(world, slot, initial, place);
        if world.peeks(object) {
            return (object, None);
        }
        if world.meets_atomic() {
            let load = Atomic::Load { location: object, order };
            world.me().op.become_atomic(load, "load", place);
        } else {
            world.me().op.become_one(reads(object), "load", place);
        }
        (object, world.announced())
    })
    .unwrap_or((0, None))
}

fn finish_load(object: u32, order: Ordering, waited: bool) -> u64 {
    let value = with(|world| {
        let usual = waited & !world.stops;
        usual.then(|| world.loaded(object, order))
    });
    value.flatten().unwrap_or_else(|| finish_unusual_load(object, order, waited))
}

#[cold]
fn finish_unusual_load(object: u32, order: Ordering, waited: bool) -> u64 {
    if !waited && with(|world| world.peeks(object)) == Some(true) {
        return with(|world| world.object(object).value).unwrap_or(0);
    }
    arrive_at_stop(waited);
    with(|world| world.loaded(object, order)).unwrap_or(0)
}

impl World {
    #[inline(always)]
    fn loaded(&mut self, object: u32, order: Ordering) -> u64 {
        let value = if self.is_relaxed() {
            self.read_relaxed(object, order)
        } else {
            if self.clocks.on {
                self.learn_from(object, order);
            }
            self.seen(object)
        };
        if self.records {
            self.note_read(object, value, Read::Memory);
        }
        if self.me().alike.is_some() {
            self.note_alike_read(object, value);
        }
        value
    }

    /// The current thread reads an object: what it learns from that, and whether it may.
    #[cold]
    fn learn_from(&mut self, object: u32, order: Ordering) {
        self.look_for_maker(object, self.threads[self.current as usize].op.place);
        // What it has stored itself tells it nothing.
        if !self.has_buffered(self.current, Some(object)) {
            self.clocks.read(self.current, object, acquires(order));
        }
    }

    /// A data race if the current thread does not know that the object was made.
    pub(super) fn look_for_maker(&mut self, object: u32, place: Place) {
        let thread = self.current;
        let Some(made) = self.clocks.unknown_maker(thread, object) else { return };
        let fault = format!(
            "data race on {}: access by {} at {}:{}, not ordered with its creation by {} at {}:{}",
            self.describe_object(object),
            self.describe_thread(thread),
            place.file(),
            place.line(),
            self.describe_thread(made.thread()),
            made.place.file(),
            made.place.line(),
        );
        self.ending.fault.get_or_insert(fault);
        self.over |= !self.aborting;
    }

    /// A pointer that is published without a release may lead others to what they do not know about:
    /// then the clocks are needed.
    #[inline]
    pub(super) fn notice_publication(&mut self, object: u32, releases: bool) {
        if !releases && self.objects[object as usize].kind == "AtomicPtr" {
            self.want(Feature::Clocks);
        }
    }
}

/// Stands for the number of a variable when a store went into a buffer, and all is done.
const BUFFERED: u32 = u32::MAX;

#[inline(always)]
pub(crate) fn store(slot: &Slot, initial: u64, new: u64, order: Ordering, place: Place) {
    let (object, way_out) = announce_store(slot, initial, new, order, place);
    if object == BUFFERED {
        return;
    }
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    finish_store(object, new, order, way_out.is_some());
}

fn announce_store(slot: &Slot, initial: u64, new: u64, order: Ordering, place: Place) -> Announced {
    let announced = with(|world| {
        let object = number(world, slot, initial, place);
        if world.meets_atomic() {
            let store = Atomic::Store { location: object, value: new, order };
            world.me().op.become_atomic(store, "store", place);
            return Some((object, world.announced()));
        }
        if world.has_buffers() && order != Ordering::SeqCst && !world.aborting {
            world.buffer(object, new, releases(order), place);
            return Some((BUFFERED, None));
        }
        if world.drains() {
            return None;
        }
        world.me().op.become_one(writes(object), "store", place);
        Some((object, world.announced()))
    });
    match announced {
        Some(Some(announced)) => announced,
        _ => announce_store_after_others(slot, initial, place),
    }
}

/// The rest of [`announce_store`] for a thread whose buffered stores come first.
#[cold]
fn announce_store_after_others(slot: &Slot, initial: u64, place: Place) -> Announced {
    drain(None, place);
    let object = find(slot, initial, place);
    (object, announce_at(writes(object), "store", place))
}

fn finish_store(object: u32, new: u64, order: Ordering, waited: bool) {
    let stored = with(|world| {
        let usual = waited & !world.stops;
        if usual {
            world.stored(object, new, order);
        }
        usual
    });
    if stored != Some(true) {
        arrive_at_stop(waited);
        with(|world| world.stored(object, new, order));
    }
}

impl World {
    #[inline(always)]
    fn stored(&mut self, object: u32, new: u64, order: Ordering) {
        if self.is_relaxed() {
            return self.write_relaxed(object, new, order, false);
        }
        self.object(object).value = new;
        self.wrote(object);
        if self.clocks.on {
            self.look_for_maker(object, self.threads[self.current as usize].op.place);
            let released = self.clocks.handed_over(self.current, releases(order));
            self.clocks.store(object, released);
        } else {
            self.notice_publication(object, releases(order));
        }
    }
}

/// A read-modify-write: `change` gives the new value, or `None` to leave the old one. Gives the old
/// value, and whether it was changed.
#[inline(always)]
pub(crate) fn update(
    slot: &Slot,
    initial: u64,
    order: (Ordering, Ordering),
    label: &'static str,
    place: Place,
    change: impl FnOnce(u64) -> Option<u64>,
) -> Result<u64, u64> {
    let (object, way_out) = announce_update(slot, initial, order.0, label, place);
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    let old = current(object, way_out.is_some());
    let new = change(old);
    finish_update(object, new, order);
    if new == Some(old) {
        with(|world| world.note_unchanged(object, old));
    }
    if new.is_some() { Ok(old) } else { Err(old) }
}

impl World {
    /// The current thread has written what it has read.
    fn note_unchanged(&mut self, object: u32, value: u64) {
        if self.records {
            self.note_read(object, value, Read::Memory);
        }
    }
}

/// The change that a compare-exchange makes, its orderings, and whether it may fail for nothing.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    pub(crate) expected: u64,
    pub(crate) new: u64,
    pub(crate) success: Ordering,
    pub(crate) failure: Ordering,
    pub(crate) weak: bool,
}

/// A compare-exchange. Gives the old value, and whether it was changed. It is a read if it fails.
#[inline(always)]
pub(crate) fn compare_exchange(
    slot: &Slot,
    initial: u64,
    change: Change,
    place: Place,
) -> Result<u64, u64> {
    if with(World::may_end_round) == Some(true) {
        note_frames();
    }
    let (object, way_out) = announce_exchange(slot, initial, change, place);
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    let old = current(object, way_out.is_some());
    finish_exchange(object, change, old)
}

fn finish_exchange(object: u32, change: Change, old: u64) -> Result<u64, u64> {
    let Change { expected, new, success, failure, .. } = change;
    let found = with(|world| {
        let writes = if world.is_relaxed() { world.me().given.writes } else { old == expected };
        world.note_exchange(object, expected, (!writes).then_some(old));
        writes
    });
    let found = found == Some(true);
    finish_update(object, found.then_some(new), (success, failure));
    if found { Ok(old) } else { Err(old) }
}

fn announce_exchange(slot: &Slot, initial: u64, change: Change, place: Place) -> Announced {
    let Change { expected, success, failure, weak, .. } = change;
    let object = find(slot, initial, place);
    let relaxed = with(|world| world.model) == Some(Model::Pso) && !releases(success);
    drain(relaxed.then_some(object), place);
    let way_out = with(|world| {
        if world.meets_atomic() {
            let exchange = Atomic::Exchange { location: object, expected, success, failure, weak };
            world.me().op.become_atomic(exchange, EXCHANGE, place);
            let way_out = world.announced();
            if way_out.is_some() {
                world.announce_repeated_exchange(expected, place);
            }
            return way_out;
        }
        world.me().op.become_one(writes(object), EXCHANGE, place);
        let way_out = world.announced();
        if way_out.is_some() {
            world.announce_exchange(object, expected, place);
        }
        way_out
    });
    (object, way_out.flatten())
}

fn announce_update(
    slot: &Slot,
    initial: u64,
    order: Ordering,
    label: &'static str,
    place: Place,
) -> Announced {
    let object = find(slot, initial, place);
    let relaxed = with(|world| world.model) == Some(Model::Pso) && !releases(order);
    drain(relaxed.then_some(object), place);
    if with(World::meets_atomic) == Some(true) {
        let way_out = with(|world| {
            let update = Atomic::Update { location: object, order };
            world.me().op.become_atomic(update, label, place);
            world.announced()
        });
        return (object, way_out.flatten());
    }
    (object, announce_at(writes(object), label, place))
}

/// The value that all threads see, at a step that was announced; or the one that the search gives.
fn current(object: u32, waited: bool) -> u64 {
    arrive(waited);
    let value = |world: &mut World| match world.is_relaxed() {
        true => world.me().given.value,
        false => world.objects[object as usize].value,
    };
    with(value).unwrap_or(0)
}

fn finish_update(object: u32, new: Option<u64>, order: (Ordering, Ordering)) {
    let order = if new.is_some() { order.0 } else { order.1 };
    with(|world| {
        if world.is_relaxed() {
            world.read_relaxed(object, order);
            if let Some(new) = new {
                world.write_relaxed(object, new, order, true);
            }
            return;
        }
        if world.clocks.on {
            world.learn_from(object, order);
        }
        let Some(new) = new else { return };
        world.object(object).value = new;
        world.wrote(object);
        world.notice_publication(object, releases(order));
        world.clocks.change(world.current, object, releases(order));
    });
}

/// The value, given that no other thread can access the variable.
pub(crate) fn exclusive(slot: &Slot, initial: u64, place: Place) -> u64 {
    let object = find(slot, initial, place);
    if with(|world| world.is_relaxed() && !world.is_peeking()) == Some(true) {
        return super::relaxed::exclusive(object, place);
    }
    with(|world| world.seen(object)).unwrap_or(0)
}

/// Corrects the value that the step just made has written, before another thread can have seen it.
pub(crate) fn set_version(slot: &Slot, version: u64, place: Place) {
    let object = find(slot, version, place);
    with(|world| {
        world.me().given.written = version;
        world.object(object).value = version;
        world.wrote(object);
    });
}

/// Sets the value, given that no other thread can access the variable.
pub(crate) fn set_exclusive(slot: &Slot, new: u64, place: Place) {
    let object = find(slot, new, place);
    if with(|world| world.is_relaxed()) == Some(true) {
        return super::relaxed::set_exclusive(object, new, place);
    }
    with(|world| {
        world.object(object).value = new;
        world.wrote(object);
    });
}

/// What a trace says of the value that the current thread has just read, if it was not the last one.
pub(crate) fn age() -> &'static str {
    with(|world| {
        let me = world.me();
        match me.op.atomic {
            Some(Atomic::Load { .. }) if me.choice > 0 => ", an old value",
            Some(Atomic::Exchange { weak: false, .. }) if me.choice > 0 => ", an old value",
            Some(Atomic::Exchange { weak: true, .. }) if me.choice > 1 => ", an old value",
            Some(Atomic::Exchange { weak: true, .. }) if me.choice == 1 => ", without a reason",
            _ => "",
        }
    })
    .unwrap_or("")
}

/// A fence.
pub(crate) fn fence(order: Ordering, place: Place) {
    if with(|world| world.is_relaxed()) == Some(true) {
        super::relaxed::fence(order, place);
    }
    if order == Ordering::SeqCst {
        drain(None, place);
    } else if releases(order) {
        with(|world| world.release_fence());
    }
    with(|world| {
        world.me().operated = true;
        if acquires(order) {
            world.clocks.acquire_fence(world.current);
        }
        if releases(order) {
            world.clocks.release_fence(world.current);
        }
    });
}
