//! The model of an atomic variable: its value lives in the world, as a number.
//!
//! What is inlined into the code under test is only the switch of stacks in the middle of a step; see
//! `coroutine.rs`.

use std::sync::atomic::Ordering;

use super::coroutine::Suspender;
use super::current::with;
use super::memory::Model;
use super::op::{Place, reads, writes};
use super::schedule::{announce_at, arrive, arrive_at_stop, drain};
use super::slot::{Fresh, Slot};
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
fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

#[inline]
fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// The variable and the way out to wait for the announced step; none if there is nothing to wait for.
type Announced = (u32, Option<Suspender>);

#[inline(always)]
pub(crate) fn load(slot: &Slot, initial: u64, order: Ordering, place: Place) -> u64 {
    let (object, way_out) = announce_load(slot, initial, place);
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    finish_load(object, order, way_out.is_some())
}

fn announce_load(slot: &Slot, initial: u64, place: Place) -> Announced {
    with(|world| {
        let object = number(world, slot, initial, place);
        if world.peeks(object) {
            return (object, None);
        }
        world.me().op.become_one(reads(object), "load", place);
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
    #[inline]
    fn loaded(&mut self, object: u32, order: Ordering) -> u64 {
        if acquires(order) {
            self.clocks.acquire(self.current, object);
        }
        self.seen(object)
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
        if world.model != Model::Sc && order != Ordering::SeqCst && !world.aborting {
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
    #[inline]
    fn stored(&mut self, object: u32, new: u64, order: Ordering) {
        self.object(object).value = new;
        if self.clocks.on {
            let released =
                if releases(order) { self.clocks.released(self.current) } else { Vec::new() };
            self.clocks.store(object, released);
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
    if new.is_some() { Ok(old) } else { Err(old) }
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
    (object, announce_at(writes(object), label, place))
}

/// The value that everybody sees, at a step that was announced.
fn current(object: u32, waited: bool) -> u64 {
    arrive(waited);
    with(|world| world.objects[object as usize].value).unwrap_or(0)
}

fn finish_update(object: u32, new: Option<u64>, order: (Ordering, Ordering)) {
    let order = if new.is_some() { order.0 } else { order.1 };
    with(|world| {
        if acquires(order) {
            world.clocks.acquire(world.current, object);
        }
        let Some(new) = new else { return };
        world.object(object).value = new;
        if releases(order) {
            world.clocks.release(world.current, object);
        }
    });
}

/// The value, given that nobody else can access the variable.
pub(crate) fn exclusive(slot: &Slot, initial: u64, place: Place) -> u64 {
    let object = find(slot, initial, place);
    with(|world| world.seen(object)).unwrap_or(0)
}

/// Corrects the value that the step just made has written, before anybody can have seen it.
pub(crate) fn set_version(slot: &Slot, version: u64, place: Place) {
    set_exclusive(slot, version, place);
}

/// Sets the value, given that nobody else can access the variable.
pub(crate) fn set_exclusive(slot: &Slot, new: u64, place: Place) {
    let object = find(slot, new, place);
    with(|world| world.object(object).value = new);
}

/// A fence.
pub(crate) fn fence(order: Ordering, place: Place) {
    if order == Ordering::SeqCst {
        drain(None, place);
    } else if releases(order) {
        with(|world| world.release_fence());
    }
}
