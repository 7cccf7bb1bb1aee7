//! Transactions under test. A transaction is one step, and depends on another only if one of them
//! writes a variable that the other touches (`rt/footprint.rs` says how that is known).
//!
//! A transaction that retries is a step that reads, and then waits for one of the variables it has
//! read; one that throws or panics reads as well.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use strait_explore::Access;

use super::{Abort, Entry, Stm, Transaction, locked};
use crate::rt::current::with;
use crate::rt::op::{Op, Place, reads, writes};
use crate::rt::schedule::{detail, drain, point, wait_or_leave};
use crate::rt::slot::Fresh;
use crate::rt::world::World;

/// How a variable looks when an execution first meets it.
pub(super) const TVAR: Fresh = Fresh { kind: "TVar", open: 0, value: 0 };

/// One attempt; `None` if it has to be tried again, now.
pub(super) fn attempt<T>(
    transaction: impl Fn(&mut Transaction) -> Stm<T>,
    place: Place,
) -> Option<Result<T, Box<dyn Any + Send>>> {
    if with(|world| world.is_peeking()) == Some(true) {
        return peek(transaction, place);
    }
    drain(None, place);
    let (index, op) = with(|world| announcement(world, place))?;
    point(op);
    let mut attempt = Transaction::default();
    let result = catch_unwind(AssertUnwindSafe(|| transaction(&mut attempt)));
    let log = attempt.log.take();
    let succeeds = matches!(result, Ok(Ok(_)));
    let retries = matches!(result, Ok(Err(Abort::Retry)));
    with(|world| {
        let touched = note(world, index, &log, succeeds, place);
        if retries {
            world.footprints.note_waiting(touched.iter().map(|access| access.object));
        }
    });
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(Ok(value)) => {
            log.into_iter().filter(|entry| entry.written).for_each(write);
            detail(|| "succeeds".to_owned());
            Some(Ok(value))
        }
        Ok(Err(Abort::Throw(payload))) => Some(Err(payload)),
        Ok(Err(Abort::Retry)) => {
            detail(|| "retries".to_owned());
            wait_for_change(&log, place);
            None
        }
    }
}

/// The step of the current thread's next transaction, and its number among the thread's steps.
fn announcement(world: &mut World, place: Place) -> (u32, Op) {
    let (thread, index) = (world.current, world.me().events);
    let mut op = Op::local("transaction", place);
    if world.footprints.is_coarse() {
        op.accesses.push(writes(world.own_object(0, 5, "transactions", place)));
    }
    let known = world.footprints.known(thread, index).to_vec();
    let written = known.iter().filter(|access| access.write);
    let mut groups: Vec<u32> =
        written.filter_map(|access| world.footprints.group(access.object)).collect();
    groups.sort_unstable();
    groups.dedup();
    known.into_iter().for_each(|access| op.accesses.push(access));
    for group in groups {
        op.accesses.push(writes(world.own_object(group, 7, "waiting transactions", place)));
    }
    (index, op)
}

/// Takes up what a transaction has touched.
fn note(world: &mut World, index: u32, log: &[Entry], succeeds: bool, place: Place) -> Vec<Access> {
    let mut touched: Vec<Access> = Vec::with_capacity(log.len());
    for entry in log {
        let (object, fresh) = entry.variable.slot.find(world, || TVAR, place);
        if fresh {
            // Threads of an execution that ended early may still wait for it.
            locked(&entry.variable.content).waiters.clear();
        }
        touched.push(if succeeds && entry.written { writes(object) } else { reads(object) });
        world.acquire(object);
        world.release(object);
    }
    world.footprints.note(world.current, index, &touched);
    touched
}

/// Gives a variable its new value, and wakes who waits for it.
fn write(entry: Entry) {
    let mut content = locked(&entry.variable.content);
    content.value = entry.value;
    content.version += 1;
    let waiters = std::mem::take(&mut content.waiters);
    drop(content);
    with(|world| waiters.into_iter().for_each(|thread| world.wake(thread)));
}

fn wait_for_change(log: &[Entry], place: Place) {
    let me = with(|world| world.current).unwrap_or(0);
    for entry in log {
        locked(&entry.variable.content).waiters.push(me);
    }
    let leave = || {
        for entry in log {
            locked(&entry.variable.content).waiters.retain(|waiter| *waiter != me);
        }
    };
    wait_or_leave("a variable of its transaction to change", place, leave);
    leave();
}

/// A transaction in the condition of an invariant: no step, and it changes nothing.
fn peek<T>(
    transaction: impl Fn(&mut Transaction) -> Stm<T>,
    place: Place,
) -> Option<Result<T, Box<dyn Any + Send>>> {
    let mut attempt = Transaction::default();
    let result = transaction(&mut attempt);
    with(|world| {
        for entry in attempt.log.take() {
            let object = entry.variable.slot.find(world, || TVAR, place).0;
            world.peeks(object);
        }
    });
    match result {
        Ok(value) => Some(Ok(value)),
        Err(Abort::Throw(payload)) => Some(Err(payload)),
        Err(Abort::Retry) => Some(Err(Box::new("a condition cannot wait"))),
    }
}
