//! Random programs of what else threads can share or ask: variables of any type with tickets,
//! reference counts, whether a thread is over, locks that are downgraded, numbers that are chosen.

use std::sync::Arc as Plain;

use super::{Draw, Family, Seen, compare_all, perform_all, program};
use crate::choice::choose;
use crate::cref::CRef;
use crate::rt::memory::Model;
use crate::sync::{Arc, RwLock, RwLockWriteGuard, Weak};
use crate::thread;

#[derive(Clone, Copy, Debug)]
enum Op {
    Write(usize),
    AtomicWrite(usize),
    ReadVariable(usize),
    Modify(usize),
    /// Reads a variable for a ticket, and writes another one meanwhile.
    Cas(usize),
    /// How many pointers there are to a value.
    Count,
    Upgrade,
    /// Drops the thread's own pointer, or makes one.
    DropPointer,
    Pointer,
    Unwrap,
    Shared,
    Downgrade,
    TryWrite,
    Choose,
    IsFinished(usize),
    Sleep,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flavour {
    Variables,
    Pointers,
    Questions,
}

fn draw(source: &mut Draw, flavour: Flavour) -> Op {
    let variable = source.below(2);
    let kind = match flavour {
        Flavour::Variables => source.below(6),
        Flavour::Pointers => 5 + source.below(6),
        Flavour::Questions => 10 + source.below(8),
    };
    match kind {
        0 => Op::Write(variable),
        1 => Op::AtomicWrite(variable),
        2 => Op::ReadVariable(variable),
        3 => Op::Modify(variable),
        4 => Op::Cas(variable),
        5 => Op::Count,
        6 => Op::Upgrade,
        7 => Op::DropPointer,
        8 => Op::Pointer,
        9 => Op::Unwrap,
        10 | 11 => Op::Shared,
        12 => Op::Downgrade,
        13 => Op::TryWrite,
        14 => Op::Choose,
        15 => Op::Sleep,
        _ => Op::IsFinished(variable),
    }
}

struct Shared {
    variables: [CRef<u8>; 2],
    weak: Weak<u8>,
    lock: RwLock<u8>,
}

fn perform(
    shared: &Shared,
    mut pointer: Option<Arc<u8>>,
    number: u8,
    ops: &[Op],
    threads: &[thread::JoinHandle<()>],
) -> Vec<u8> {
    let mut seen = Vec::new();
    for (index, &op) in ops.iter().enumerate() {
        let value = number * 10 + index as u8;
        match op {
            Op::Write(variable) => shared.variables[variable].write(value),
            Op::AtomicWrite(variable) => shared.variables[variable].atomic_write(value),
            Op::ReadVariable(variable) => seen.push(shared.variables[variable].read()),
            Op::Modify(variable) => {
                seen.push(shared.variables[variable].modify(|old| (value, *old)));
            }
            Op::Cas(variable) => {
                let ticket = shared.variables[variable].read_for_cas();
                shared.variables[1 - variable].write(value);
                let (done, now) = shared.variables[variable].cas(&ticket, value);
                seen.extend([u8::from(done), *now.peek()]);
            }
            Op::Count => {
                seen.push(pointer.as_ref().map_or(99, |mine| Arc::strong_count(mine) as u8));
            }
            Op::Upgrade => {
                pointer = shared.weak.upgrade().or(pointer);
                seen.push(pointer.as_ref().map_or(99, |value| **value));
            }
            Op::DropPointer => pointer = None,
            Op::Pointer => {
                let copy = pointer.clone();
                seen.push(u8::from(copy.is_some()));
            }
            Op::Unwrap => match pointer.take().map(Arc::try_unwrap) {
                Some(Ok(value)) => seen.push(value),
                Some(Err(kept)) => pointer = Some(kept),
                None => seen.push(99),
            },
            Op::Shared => seen.push(*shared.lock.read().unwrap()),
            Op::Downgrade => {
                let mut writer = shared.lock.write().unwrap();
                *writer += 1;
                let reader = RwLockWriteGuard::downgrade(writer);
                seen.push(*reader);
            }
            Op::TryWrite => match shared.lock.try_write() {
                Ok(mut writer) => *writer += 10,
                Err(_) => seen.push(98),
            },
            Op::Choose => seen.push(choose(2) as u8),
            Op::IsFinished(thread) => {
                seen.push(threads.get(thread).map_or(97, |thread| u8::from(thread.is_finished())));
            }
            Op::Sleep => thread::sleep(std::time::Duration::from_millis(1)),
        }
    }
    seen
}

fn run(ops: &[Vec<Op>]) -> Vec<Seen> {
    let pointer = Arc::new(7u8);
    let shared = Plain::new(Shared {
        variables: [CRef::new(0), CRef::new(0)],
        weak: Arc::downgrade(&pointer),
        lock: RwLock::new(0),
    });
    // A thread to be asked about.
    let asked = thread::spawn(|| thread::sleep(std::time::Duration::from_millis(1)));
    let asks = ops.iter().flatten().any(|op| matches!(op, Op::IsFinished(_)));
    let mut asked = asks.then_some(asked);
    let pointers: Vec<_> =
        ops.iter().map(|_| std::sync::Mutex::new(Some(pointer.clone()))).collect();
    drop(pointer);
    let asked: Plain<Vec<_>> = Plain::new(asked.take().into_iter().collect());
    perform_all(ops, move |number, ops, _| {
        let pointer = pointers[number].lock().unwrap().take();
        perform(&shared, pointer, number as u8 + 1, ops, &asked)
    })
}

fn compare_flavour(flavour: Flavour, model: Model, usual: u64) {
    let family = Family { name: &format!("{flavour:?}"), model, usual, bounded: false };
    let draw = |seed, index| program(seed, index, &[3, 2], |source| draw(source, flavour));
    compare_all(&family, draw, run);
}

#[test]
fn variables_with_tickets_are_searched_optimally() {
    compare_flavour(Flavour::Variables, Model::Tso, 40);
    compare_flavour(Flavour::Variables, Model::Pso, 20);
}

#[test]
fn reference_counts_are_searched_optimally() {
    compare_flavour(Flavour::Pointers, Model::Tso, 40);
}

#[test]
fn questions_about_threads_and_locks_are_searched_optimally() {
    compare_flavour(Flavour::Questions, Model::Tso, 40);
}
