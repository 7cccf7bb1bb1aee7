//! How a façade object finds its model: the number it has in the current execution.

use std::sync::atomic::{AtomicU64, Ordering};

use super::current::{under_test, with};
use super::op::Place;
use super::world::World;

/// The number of an object, valid in one execution: the epoch of the world above, the number in the lower
/// bits. 0 if it has none.
#[derive(Debug)]
pub(crate) struct Slot(AtomicU64);

/// How an object looks when an execution meets it for the first time.
#[derive(Clone, Copy)]
pub(crate) struct Fresh {
    pub(crate) kind: &'static str,
    pub(crate) open: u8,
    pub(crate) value: u64,
}

/// How many bits the number of an object has. A search with more objects knows the others by their
/// addresses.
const NUMBER: u32 = 24;

impl Slot {
    /// The slot of an object made where it is not known whether this is a test: a static.
    pub(crate) const fn unnamed() -> Slot {
        Slot(AtomicU64::new(0))
    }

    /// The slot of an object made now.
    #[inline]
    #[track_caller]
    pub(crate) fn new(fresh: Fresh) -> Slot {
        if under_test() {
            Slot::named(fresh, std::panic::Location::caller())
        } else {
            Slot::unnamed()
        }
    }

    fn named(fresh: Fresh, place: Place) -> Slot {
        let word = with(|world| {
            let object = world.create(fresh.kind, fresh.open, fresh.value, place);
            let fits = object >> NUMBER == 0;
            if fits { world.epoch << NUMBER | u64::from(object) } else { 0 }
        });
        Slot(AtomicU64::new(word.unwrap_or(0)))
    }

    /// Was the object made where it is not known whether this is a test, or for real?
    #[inline]
    pub(crate) fn is_unnamed(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// The object's number in this world, if it was made in this execution.
    #[inline]
    pub(crate) fn known(&self, world: &World) -> Option<u32> {
        let word = self.0.load(Ordering::Relaxed);
        (word >> NUMBER == world.epoch).then_some(word as u32 & ((1 << NUMBER) - 1))
    }

    /// The object's number in this world. `fresh` says how it looks if this execution has not met
    /// it; then the second part of the answer is true.
    #[inline]
    pub(crate) fn find(
        &self,
        world: &mut World,
        fresh: impl FnOnce() -> Fresh,
        place: Place,
    ) -> (u32, bool) {
        if let Some(object) = self.known(world) {
            return (object, false);
        }
        let Fresh { kind, open, value } = fresh();
        if !self.is_unnamed() {
            world.leftover.get_or_insert((kind, place));
        }
        world.outside(std::ptr::from_ref(self).addr(), kind, open, value, place)
    }
}
