//! Random programs of atomics, locks, condition variables and parking.

use std::sync::Arc;
use std::time::Duration;

use super::{Draw, Family, compare_all, program};
use crate::rt::memory::Model;
use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::{Barrier, Condvar, Mutex, OnceLock, RwLock};
use crate::thread;

/// One instruction of a generated thread.
#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize, Ordering),
    Store(usize, u8, Ordering),
    Add(usize),
    Lock(usize),
    Unlock(usize),
    TryLock(usize),
    Read,
    Write,
    Release,
    Wait,
    Notify,
    NotifyAll,
    Park,
    Unpark(usize),
    TimedPark,
    TimedWait,
    /// Initialises what is initialised once, or looks whether it is.
    Once(usize),
    Look,
    Meet,
    /// Compare and exchange.
    Exchange(usize, u8, u8),
    /// Waits in a loop until the variable has the value.
    Until(usize, u8),
    /// Changes 0 to 1, in a loop that yields or not.
    Acquire(usize, bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flavour {
    /// Atomics, sequentially consistent.
    Atomics,
    /// Atomics of all orderings.
    Weak,
    /// Locks of all kinds, with a few atomics.
    Locks,
    /// Condition variables and parking.
    Waits,
    /// What is waited for for a while, what happens once, and barriers.
    Others,
    /// Atomics with compare and exchange.
    Exchanges,
    /// Loops that wait for atomics.
    Loops,
}

fn draw(source: &mut Draw, flavour: Flavour) -> Op {
    let orders = [Ordering::Relaxed, Ordering::Release, Ordering::SeqCst];
    let (variable, value) = (source.below(2), source.below(2) as u8 + 1);
    let order = if flavour == Flavour::Weak { orders[source.below(3)] } else { Ordering::SeqCst };
    let load = if order == Ordering::Release { Ordering::Acquire } else { order };
    let exchange = Op::Exchange(variable, source.below(3) as u8, value);
    let kind = match flavour {
        Flavour::Exchanges if source.below(3) > 0 => return exchange,
        Flavour::Loops => match source.below(6) {
            0 => return Op::Until(variable, value),
            1 => return Op::Acquire(variable, value == 1),
            2 => return exchange,
            3 => return Op::Store(variable, 0, order),
            _ => source.below(4),
        },
        Flavour::Exchanges => source.below(5),
        Flavour::Atomics | Flavour::Weak => source.below(5),
        Flavour::Locks => 1 + source.below(10),
        Flavour::Waits => 4 + source.below(14),
        Flavour::Others => 11 + source.below(12),
    };
    match kind {
        0 | 1 => Op::Load(variable, load),
        2 | 3 => Op::Store(variable, value, order),
        4 => Op::Add(variable),
        5 | 6 => Op::Lock(variable),
        7 => Op::Unlock(variable),
        8 => Op::TryLock(variable),
        9 => Op::Read,
        10 => Op::Write,
        11 => Op::Release,
        12 | 13 => Op::Wait,
        14 => Op::Notify,
        15 => Op::NotifyAll,
        16 => Op::Park,
        17 => Op::Unpark(source.below(2)),
        18 => Op::TimedPark,
        19 => Op::TimedWait,
        20 => Op::Once(variable),
        21 => Op::Look,
        _ => Op::Meet,
    }
}

struct Shared {
    atomics: [AtomicU8; 2],
    mutexes: [Mutex<u8>; 2],
    rwlock: RwLock<u8>,
    waiting: Mutex<u8>,
    condvar: Condvar,
    once: OnceLock<u8>,
    barrier: Barrier,
}

impl Shared {
    fn new() -> Self {
        Shared {
            atomics: [AtomicU8::new(0), AtomicU8::new(0)],
            mutexes: [Mutex::new(0), Mutex::new(0)],
            rwlock: RwLock::new(0),
            waiting: Mutex::new(0),
            condvar: Condvar::new(),
            once: OnceLock::new(),
            barrier: Barrier::new(2),
        }
    }
}

/// Performs one thread. Gives what it saw.
fn perform(shared: &Shared, ops: &[Op], threads: &[thread::Thread]) -> Vec<u8> {
    let mut seen = Vec::new();
    let mut held = [None, None];
    let (mut reading, mut writing) = (None, None);
    for &op in ops {
        match op {
            Op::Load(variable, order) => seen.push(shared.atomics[variable].load(order)),
            Op::Store(variable, value, order) => shared.atomics[variable].store(value, order),
            Op::Add(variable) => seen.push(shared.atomics[variable].fetch_add(3, Ordering::SeqCst)),
            Op::Lock(mutex) => {
                if held[mutex].is_none() {
                    let mut guard = shared.mutexes[mutex].lock().unwrap();
                    *guard += 1;
                    seen.push(*guard);
                    held[mutex] = Some(guard);
                }
            }
            Op::Unlock(mutex) => held[mutex] = None,
            Op::Exchange(variable, expected, new) => {
                let (success, failure) = (Ordering::SeqCst, Ordering::SeqCst);
                let variable = &shared.atomics[variable];
                let old = variable.compare_exchange(expected, new, success, failure);
                seen.push(old.unwrap_or_else(|old| 100 + old));
            }
            Op::Until(variable, value) => {
                while shared.atomics[variable].load(Ordering::SeqCst) != value {
                    crate::hint::spin_loop();
                }
            }
            Op::Acquire(variable, yields) => {
                let variable = &shared.atomics[variable];
                let (success, failure) = (Ordering::SeqCst, Ordering::SeqCst);
                while variable.compare_exchange(0, 1, success, failure).is_err() {
                    if yields {
                        thread::yield_now();
                    }
                }
            }
            Op::TryLock(mutex) => {
                if held[mutex].is_none() {
                    held[mutex] = shared.mutexes[mutex].try_lock().ok();
                    seen.push(u8::from(held[mutex].is_some()));
                }
            }
            Op::Read if reading.is_none() && writing.is_none() => {
                reading = Some(shared.rwlock.read().unwrap());
                seen.push(reading.as_deref().copied().unwrap());
            }
            Op::Write if reading.is_none() && writing.is_none() => {
                writing = Some(shared.rwlock.write().unwrap());
                **writing.as_mut().unwrap() += 1;
            }
            Op::Read | Op::Write => {}
            Op::Release => {
                reading = None;
                writing = None;
            }
            Op::Wait => {
                let guard = shared.waiting.lock().unwrap();
                seen.push(*shared.condvar.wait(guard).unwrap());
            }
            Op::TimedWait => {
                let guard = shared.waiting.lock().unwrap();
                let (guard, over) =
                    shared.condvar.wait_timeout(guard, Duration::from_millis(1)).unwrap();
                seen.extend([*guard, u8::from(over.timed_out())]);
            }
            Op::Once(variable) => {
                let make = || shared.atomics[variable].fetch_add(1, Ordering::SeqCst) + 10;
                seen.push(*shared.once.get_or_init(make));
            }
            Op::Look => seen.push(shared.once.get().copied().unwrap_or(99)),
            Op::Meet => seen.push(u8::from(shared.barrier.wait().is_leader())),
            Op::Notify => {
                *shared.waiting.lock().unwrap() += 1;
                shared.condvar.notify_one();
            }
            Op::NotifyAll => shared.condvar.notify_all(),
            Op::Park => thread::park(),
            Op::TimedPark => thread::park_timeout(Duration::from_millis(1)),
            Op::Unpark(thread) => {
                if let Some(thread) = threads.get(thread) {
                    thread.unpark();
                }
            }
        }
    }
    seen
}

fn run(ops: &[Vec<Op>]) -> Vec<Vec<u8>> {
    let shared = Arc::new(Shared::new());
    let mut handles: Vec<thread::JoinHandle<Vec<u8>>> = Vec::new();
    for ops in ops {
        let (shared, ops) = (shared.clone(), ops.clone());
        let threads: Vec<_> = handles.iter().map(|handle| handle.thread().clone()).collect();
        handles.push(thread::spawn(move || perform(&shared, &ops, &threads)));
    }
    let mut seen: Vec<Vec<u8>> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
    seen.push(shared.atomics.iter().map(|atomic| atomic.load(Ordering::SeqCst)).collect());
    seen
}

fn compare_flavour(flavour: Flavour, model: Model, usual: u64, bounded: bool) {
    let family = Family { name: &format!("{flavour:?}"), model, usual, bounded };
    let draw = |seed, index| program(seed, index, &[4, 3], |source| draw(source, flavour));
    compare_all(&family, draw, |ops: &[Vec<Op>]| run(ops));
}

#[test]
fn atomics_are_searched_optimally() {
    compare_flavour(Flavour::Atomics, Model::Sc, 200, true);
}

#[test]
fn weak_stores_are_searched_optimally_under_tso() {
    compare_flavour(Flavour::Weak, Model::Tso, 150, true);
}

#[test]
fn weak_stores_are_searched_optimally_under_pso() {
    compare_flavour(Flavour::Weak, Model::Pso, 150, false);
}

#[test]
fn locks_are_searched_optimally() {
    compare_flavour(Flavour::Locks, Model::Tso, 200, true);
}

#[test]
fn waiting_is_searched_optimally() {
    compare_flavour(Flavour::Waits, Model::Tso, 200, false);
}

#[test]
fn waiting_for_a_while_and_what_happens_once_is_searched_optimally() {
    compare_flavour(Flavour::Others, Model::Tso, 200, false);
}

#[test]
fn compare_and_exchange_is_searched_optimally() {
    compare_flavour(Flavour::Exchanges, Model::Sc, 300, true);
    compare_flavour(Flavour::Exchanges, Model::Tso, 100, false);
}

#[test]
fn loops_that_wait_are_searched_optimally() {
    compare_flavour(Flavour::Loops, Model::Sc, 150, false);
    compare_flavour(Flavour::Loops, Model::Tso, 100, false);
}

/// Waiting for a change instead of going round changes nothing but that deadlocks are seen.
#[test]
fn loops_that_wait_lose_nothing() {
    compare_loops(Model::Sc, 150);
}

#[test]
fn loops_that_wait_lose_nothing_under_rc11() {
    compare_loops(Model::Rc11, 60);
}

fn compare_loops(model: Model, usual: u64) {
    let seed = super::seed();
    let (mut compared, mut ending) = (0, 0);
    for index in 0..super::count(usual) {
        let ops = program(seed, index, &[3, 2], |source| draw(source, Flavour::Loops));
        let loops = |op: &Op| matches!(op, Op::Until(..) | Op::Acquire(..));
        let rounds = ops.iter().flatten().filter(|op| loops(op)).count();
        if !(1..=2).contains(&rounds) {
            continue;
        }
        let name = format!("program {index} of seed {seed}: {ops:?}");
        let values = super::compare_with_rounds(&name, Arc::new(move || run(&ops)), model);
        compared += 1;
        ending += u32::from(values > 0);
    }
    assert!(ending >= 10, "{ending} of {compared} programs can end");
}

#[test]
fn atomics_with_locks_under_rc11_have_all_outcomes() {
    compare_flavour(Flavour::Weak, Model::Rc11, 60, false);
    compare_flavour(Flavour::Locks, Model::Rc11, 150, false);
}

#[test]
fn atomics_with_waiting_under_rc11_have_all_outcomes() {
    compare_flavour(Flavour::Waits, Model::Rc11, 150, false);
    compare_flavour(Flavour::Others, Model::Rc11, 150, false);
}
