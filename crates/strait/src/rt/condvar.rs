//! The model of condition variables: a list of waiting threads. The object counts them, because a
//! notification can go to any.

use std::sync::{Mutex, PoisonError};

use super::current::with;
use super::lock::{self, acquire_object};
use super::op::{Op, Place, Ways, writes};
use super::schedule::{detail, drain, point, point_at, wait_or_leave};
use super::slot::{Fresh, Slot};

pub(crate) const FRESH: Fresh = Fresh { kind: "Condvar", open: 0, value: 0 };

/// The threads that wait, in the order of their coming.
pub(crate) struct Waiters(Mutex<Vec<u32>>);

impl Waiters {
    pub(crate) const fn new() -> Self {
        Waiters(Mutex::new(Vec::new()))
    }

    /// Changes the list and tells the model how many there are.
    fn change<R>(&self, object: u32, change: impl FnOnce(&mut Vec<u32>) -> R) -> R {
        let mut waiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut waiters);
        let count = waiters.len() as u32;
        with(|world| world.object(object).ways = count);
        result
    }
}

fn find(slot: &Slot, waiters: &Waiters, place: Place) -> u32 {
    let found = with(|world| slot.find(world, || FRESH, place));
    let (object, fresh) = found.unwrap_or((0, false));
    if fresh {
        waiters.change(object, Vec::clear);
    }
    object
}

/// Finds the condition variable and the lock, once all stores are committed.
fn find_both(slot: &Slot, waiters: &Waiters, mutex: &Slot, place: Place) -> (u32, u32) {
    drain(None, place);
    (find(slot, waiters, place), lock::number(mutex, place))
}

/// Gives the lock back and joins the waiters, in one step.
#[inline(always)]
fn begin_waiting(
    object: u32,
    waiters: &Waiters,
    mutex: u32,
    label: &'static str,
    place: Place,
    hand_back: impl FnOnce(),
) {
    point(Op::write(mutex, label, place).and_writes(object));
    hand_back();
    join_waiters(object, waiters, mutex);
}

fn join_waiters(object: u32, waiters: &Waiters, mutex: u32) {
    let me = with(|world| {
        lock::open(world, mutex, false);
        world.current
    });
    waiters.change(object, |waiters| waiters.extend(me));
}

/// Takes a thread out of the waiters, if it is still there.
fn leave(object: u32, waiters: &Waiters, thread: u32) -> bool {
    waiters.change(object, |waiters| {
        let still = waiters.iter().position(|&waiter| waiter == thread);
        still.map(|position| waiters.remove(position)).is_some()
    })
}

/// Waits to be notified. Says whether the lock is poisoned.
#[inline(always)]
pub(crate) fn wait(
    slot: &Slot,
    waiters: &Waiters,
    mutex: &Slot,
    place: Place,
    hand_back: impl FnOnce(),
) -> bool {
    let (object, mutex) = find_both(slot, waiters, mutex, place);
    begin_waiting(object, waiters, mutex, "wait", place, hand_back);
    let me = with(|world| world.current).unwrap_or(0);
    wait_or_leave("a notification", place, || {
        leave(object, waiters, me);
    });
    acquire_object(mutex, "lock again", place)
}

/// Waits to be notified or for the time to be over. Says whether the lock is poisoned, and whether
/// the time was over.
#[inline(always)]
pub(crate) fn wait_timeout(
    slot: &Slot,
    waiters: &Waiters,
    mutex: &Slot,
    place: Place,
    hand_back: impl FnOnce(),
) -> (bool, bool) {
    let (object, mutex) = find_both(slot, waiters, mutex, place);
    begin_waiting(object, waiters, mutex, "wait_timeout", place, hand_back);
    // A thread that is still among the waiters when it comes to this was not notified.
    point_at(writes(object), "go on", place);
    let over = go_on(object, waiters);
    (acquire_object(mutex, "lock again", place), over)
}

fn go_on(object: u32, waiters: &Waiters) -> bool {
    let me = with(|world| world.current).unwrap_or(0);
    let over = leave(object, waiters, me);
    detail(|| if over { "time is over".to_owned() } else { "notified".to_owned() });
    over
}

/// Finds the condition variable, once all stores are committed.
fn drain_and_find(slot: &Slot, waiters: &Waiters, place: Place) -> u32 {
    drain(None, place);
    find(slot, waiters, place)
}

#[inline(always)]
pub(crate) fn notify_one(slot: &Slot, waiters: &Waiters, place: Place) {
    let object = drain_and_find(slot, waiters, place);
    let choice = point(Op::write(object, "notify_one", place).ways(Ways::Counted)) as usize;
    wake_one(object, waiters, choice);
}

fn wake_one(object: u32, waiters: &Waiters, choice: usize) {
    let woken =
        waiters.change(object, |waiters| (choice < waiters.len()).then(|| waiters.remove(choice)));
    if let Some(thread) = woken {
        with(|world| world.wake(thread));
    }
    detail(|| match woken {
        Some(thread) => format!("wakes thread {thread}"),
        None => "no thread waits".to_owned(),
    });
}

#[inline(always)]
pub(crate) fn notify_all(slot: &Slot, waiters: &Waiters, place: Place) {
    let object = drain_and_find(slot, waiters, place);
    point_at(writes(object), "notify_all", place);
    wake_all(object, waiters);
}

fn wake_all(object: u32, waiters: &Waiters) {
    let woken = waiters.change(object, std::mem::take);
    detail(|| format!("wakes {}", woken.len()));
    for thread in woken {
        with(|world| world.wake(thread));
    }
}
