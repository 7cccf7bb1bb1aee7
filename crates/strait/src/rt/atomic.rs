//! The model of an atomic variable: its value lives in the world, as a number.

use std::sync::atomic::Ordering;

use super::current::with;
use super::memory::Model;
use super::op::{Place, reads, writes};
use super::schedule::{drain, point_at};
use super::slot::{Fresh, Slot};

/// The number of an atomic; `value` gives its value when the execution first meets it.
#[inline]
fn find(slot: &Slot, value: impl Fn() -> u64, place: Place) -> u32 {
    with(|world| slot.find(world, || Fresh { kind: "atomic", open: 0, value: value() }, place).0)
        .unwrap_or(0)
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

#[inline]
pub(crate) fn load(slot: &Slot, value: impl Fn() -> u64, order: Ordering, place: Place) -> u64 {
    let object = find(slot, value, place);
    if with(|world| world.peeks(object)) == Some(true) {
        return with(|world| world.object(object).value).unwrap_or(0);
    }
    point_at(reads(object), "load", place);
    with(|world| {
        if acquires(order) {
            world.clocks.acquire(world.current, object);
        }
        world.seen(object)
    })
    .unwrap_or(0)
}

#[inline]
pub(crate) fn store(slot: &Slot, value: impl Fn() -> u64, new: u64, order: Ordering, place: Place) {
    let object = find(slot, value, place);
    let buffered = with(|world| {
        if world.model == Model::Sc || order == Ordering::SeqCst || world.aborting {
            return false;
        }
        world.buffer(object, new, releases(order), place);
        true
    });
    if buffered == Some(true) {
        return;
    }
    drain(None, place);
    point_at(writes(object), "store", place);
    with(|world| {
        world.object(object).value = new;
        let released =
            if releases(order) { world.clocks.released(world.current) } else { Vec::new() };
        world.clocks.store(object, released);
    });
}

/// A read-modify-write: `change` gives the new value, or `None` to leave the old one. Gives the old
/// value, and whether it was changed.
#[inline]
pub(crate) fn update(
    slot: &Slot,
    value: impl Fn() -> u64,
    order: (Ordering, Ordering),
    label: &'static str,
    place: Place,
    change: impl FnOnce(u64) -> Option<u64>,
) -> Result<u64, u64> {
    let object = find(slot, value, place);
    let relaxed = with(|world| world.model) == Some(Model::Pso) && !releases(order.0);
    drain(relaxed.then_some(object), place);
    point_at(writes(object), label, place);
    with(|world| {
        let old = world.objects[object as usize].value;
        let new = change(old);
        let order = if new.is_some() { order.0 } else { order.1 };
        if acquires(order) {
            world.clocks.acquire(world.current, object);
        }
        let Some(new) = new else { return Err(old) };
        world.object(object).value = new;
        if releases(order) {
            world.clocks.release(world.current, object);
        }
        Ok(old)
    })
    .unwrap_or(Err(0))
}

/// The value, given that nobody else can access the variable.
pub(crate) fn exclusive(slot: &Slot, value: impl Fn() -> u64, place: Place) -> u64 {
    let object = find(slot, value, place);
    with(|world| world.seen(object)).unwrap_or(0)
}

/// Corrects the value that the step just made has written, before anybody can have seen it.
pub(crate) fn set_version(slot: &Slot, version: u64, place: Place) {
    set_exclusive(slot, version, place);
}

/// Sets the value, given that nobody else can access the variable.
pub(crate) fn set_exclusive(slot: &Slot, new: u64, place: Place) {
    let object = find(slot, || new, place);
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
