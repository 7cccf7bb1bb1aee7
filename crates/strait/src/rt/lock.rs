//! The model of locks: `Mutex` and `RwLock`. The gates say who may have the lock now; the value
//! counts readers and remembers poison.

use super::current::with;
use strait_explore::Access;

use super::op::{Place, reads, writes};
use super::schedule::{drain, is_unwinding, point_at};
use super::slot::{Fresh, Slot};

/// The gate for having the lock alone.
pub(crate) const EXCLUSIVE: u8 = 1;
/// The gate for sharing the lock with readers.
pub(crate) const SHARED: u8 = 2;

/// The bit of an object's value that says "poisoned"; the bits below count readers.
const POISON: u64 = 1 << 63;

pub(crate) const MUTEX: Fresh = Fresh { kind: "Mutex", open: EXCLUSIVE | SHARED, value: 0 };
pub(crate) const RWLOCK: Fresh = Fresh { kind: "RwLock", open: EXCLUSIVE | SHARED, value: 0 };

fn find(slot: &Slot, fresh: Fresh, place: Place) -> u32 {
    with(|world| slot.find(world, || fresh, place).0).unwrap_or(0)
}

/// Waits for the lock and takes it. Says whether it is poisoned.
#[inline(always)]
pub(crate) fn acquire(
    slot: &Slot,
    fresh: Fresh,
    gate: u8,
    label: &'static str,
    place: Place,
) -> bool {
    let object = drain_and_find(slot, fresh, place);
    point_at(Access { object, write: true, gate }, label, place);
    take(object, gate)
}

/// Everything before locking and unlocking.
fn drain_and_find(slot: &Slot, fresh: Fresh, place: Place) -> u32 {
    drain(None, place);
    find(slot, fresh, place)
}

/// Takes the lock again after a wait; the caller has announced nothing yet.
#[inline(always)]
pub(crate) fn acquire_object(object: u32, label: &'static str, place: Place) -> bool {
    point_at(Access { object, write: true, gate: EXCLUSIVE }, label, place);
    take(object, EXCLUSIVE)
}

/// Takes a lock that can be had. Says whether it is poisoned.
pub(super) fn take(object: u32, gate: u8) -> bool {
    with(|world| {
        world.acquire(object);
        if gate == SHARED {
            world.begin_reading(object);
        }
        let lock = world.object(object);
        if gate == EXCLUSIVE {
            lock.open = 0;
        } else {
            lock.open = SHARED;
            lock.value += 1;
        }
        lock.value & POISON != 0
    })
    .unwrap_or(false)
}

/// Takes the lock if it can be had. Says whether it is poisoned then.
#[inline(always)]
pub(crate) fn try_acquire(
    slot: &Slot,
    fresh: Fresh,
    gate: u8,
    label: &'static str,
    place: Place,
) -> Option<bool> {
    let object = drain_and_find(slot, fresh, place);
    point_at(writes(object), label, place);
    try_take(object, gate)
}

fn try_take(object: u32, gate: u8) -> Option<bool> {
    let free = with(|world| world.object(object).open & gate != 0) == Some(true);
    super::schedule::detail(|| if free { "taken".to_owned() } else { "not free".to_owned() });
    free.then(|| take(object, gate))
}

/// Releases the lock after `hand_back` has given the real one back.
#[inline(always)]
pub(crate) fn release(
    slot: &Slot,
    fresh: Fresh,
    was_unwinding: bool,
    place: Place,
    hand_back: impl FnOnce(),
) {
    let object = drain_and_find(slot, fresh, place);
    point_at(writes(object), "unlock", place);
    hand_back();
    give_back(object, was_unwinding);
}

/// Shares a lock that the current thread has alone.
#[inline(always)]
pub(crate) fn downgrade(slot: &Slot, place: Place) {
    let object = drain_and_find(slot, RWLOCK, place);
    point_at(writes(object), "downgrade", place);
    with(|world| {
        world.release(object);
        world.begin_reading(object);
        let lock = world.object(object);
        lock.open = SHARED;
        lock.value += 1;
    });
}

fn give_back(object: u32, was_unwinding: bool) {
    let poison = !was_unwinding && is_unwinding();
    with(|world| {
        let poison = poison && !world.aborting;
        open(world, object, poison);
    });
}

/// Opens the gates of a lock that the current thread gives back.
pub(crate) fn open(world: &mut super::world::World, object: u32, poison: bool) {
    world.release(object);
    if world.object(object).open == SHARED {
        world.end_reading(object);
    }
    let lock = world.object(object);
    if lock.open == SHARED {
        lock.value -= 1;
    } else if poison {
        lock.value |= POISON;
    }
    if lock.value & !POISON == 0 {
        lock.open = EXCLUSIVE | SHARED;
    }
}

pub(crate) fn is_poisoned(slot: &Slot, place: Place) -> bool {
    let object = find(slot, MUTEX, place);
    point_at(reads(object), "is_poisoned", place);
    with(|world| world.object(object).value & POISON != 0).unwrap_or(false)
}

pub(crate) fn clear_poison(slot: &Slot, place: Place) {
    let object = find(slot, MUTEX, place);
    point_at(writes(object), "clear_poison", place);
    with(|world| world.object(object).value &= !POISON);
}

/// The number of a lock, for `Condvar`.
pub(crate) fn number(slot: &Slot, place: Place) -> u32 {
    find(slot, MUTEX, place)
}

/// Something is not there that the model says is there: another execution has it.
#[cold]
pub(crate) fn gone() -> ! {
    if with(|world| world.aborting) == Some(true) {
        with(super::world::World::begin_unwinding);
        std::panic::resume_unwind(Box::new(super::exception::TornDown))
    }
    panic!("this belongs to another execution, or another test uses it at the same time")
}
