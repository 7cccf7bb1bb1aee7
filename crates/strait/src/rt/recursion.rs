//! Read locks that a thread takes while it has one of the same lock. std's documentation warns of them: a
//! lock may let no more readers in while a writer waits, and the writer waits for the first read lock.
//!
//! Only in programs that do this is it a step of its own that a writer begins to wait. While one waits, a
//! thread that reads again either gets its lock or is blocked for good; both are tried.

use super::current::with;
use super::features::Feature;
use super::lock::{self, EXCLUSIVE, RWLOCK, SHARED};
use super::op::{Op, Place, Ways};
use super::schedule::{Leaves, detail, drain, point, wait};
use super::slot::Slot;
use super::world::World;

/// Who has locks for readers and writers, and who waits for them, as lock and thread.
#[derive(Default)]
pub(crate) struct Holders {
    reading: Vec<(u32, u32)>,
    /// Writers that have begun to wait.
    asking: Vec<(u32, u32)>,
}

impl Holders {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.reading.clear();
        self.asking.clear();
    }
}

/// How a lock for readers and writers is taken.
enum Request {
    Usual,
    /// By a writer, where it matters that it waits.
    Writer(u32),
    /// By a thread that reads already.
    Again(u32),
}

impl World {
    /// The current thread has got a read lock.
    pub(super) fn begin_reading(&mut self, lock: u32) {
        self.holders.reading.push((lock, self.current));
    }

    /// The current thread gives a read lock back.
    pub(super) fn end_reading(&mut self, lock: u32) {
        let mine = (lock, self.current);
        if let Some(index) = self.holders.reading.iter().position(|&one| one == mine) {
            self.holders.reading.swap_remove(index);
        }
    }

    fn request(&mut self, slot: &Slot, gate: u8, place: Place) -> Request {
        let matters = self.features.has(Feature::Recursion);
        if !matters && (gate == EXCLUSIVE || self.holders.reading.is_empty()) {
            return Request::Usual;
        }
        let lock = slot.find(self, || RWLOCK, place).0;
        if matters && gate == EXCLUSIVE {
            return Request::Writer(lock);
        }
        if !self.holders.reading.contains(&(lock, self.current)) {
            return Request::Usual;
        }
        self.want(Feature::Recursion);
        if matters { Request::Again(lock) } else { Request::Usual }
    }

    /// The current thread begins to wait for a lock, to write.
    fn ask_to_write(&mut self, lock: u32) {
        self.holders.asking.push((lock, self.current));
        self.object(lock).ways = 2;
    }

    /// It waits no more.
    fn withdraw(&mut self, lock: u32) {
        let mine = (lock, self.current);
        self.holders.asking.retain(|&one| one != mine);
        let others = self.holders.asking.iter().any(|one| one.0 == lock);
        self.object(lock).ways = 1 + u32::from(others);
    }
}

/// Waits for a lock for readers and writers and takes it. Says whether it is poisoned.
#[inline(always)]
pub(crate) fn acquire(slot: &Slot, gate: u8, label: &'static str, place: Place) -> bool {
    drain(None, place);
    match with(|world| world.request(slot, gate, place)).unwrap_or(Request::Usual) {
        Request::Usual => lock::acquire(slot, RWLOCK, gate, label, place),
        Request::Writer(lock) => write(lock, label, place),
        Request::Again(lock) => read_again(lock, label, place),
    }
}

fn write(lock: u32, label: &'static str, place: Place) -> bool {
    point(Op::write(lock, "wait to write", place));
    with(|world| world.ask_to_write(lock));
    let _leaves = Leaves(|| {
        with(|world| world.withdraw(lock));
    });
    lock::acquire_object(lock, label, place)
}

fn read_again(lock: u32, label: &'static str, place: Place) -> bool {
    let op = Op::gated(lock, SHARED, label, place).ways(Ways::Counted);
    if point(op) != 0 {
        detail(|| "a writer waits".to_owned());
        wait("a writer, which waits until this thread no longer reads", place);
    }
    lock::take(lock, SHARED)
}
