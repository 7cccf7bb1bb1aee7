//! Small random programs: the optimal search must give the outcomes of brute force, with exactly as
//! many executions as there are Mazurkiewicz traces, and the bounded search within wide bounds the
//! same outcomes. A failing program is named by its seed and number.

mod messages;
mod transactions;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::panic::Location;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use strait_explore::{
    Bounds, Coverage, Limits, Workers, bounded, brute, optimal, optimal_parallel,
};

use crate::check::Value;
use crate::rt::execution::Program;
use crate::rt::features::Features;
use crate::rt::memory::Model;
use crate::rt::system::Tested;
use crate::rt::thread::install_hook;
use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::{Condvar, Mutex, RwLock};
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
}

/// How many programs are drawn: `STRAIT_TEST_COUNT`, or what the test says.
fn count(usual: u64) -> u64 {
    std::env::var("STRAIT_TEST_COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn seed() -> u64 {
    std::env::var("STRAIT_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_115)
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
}

fn draw(rng: &mut ChaCha8Rng, flavour: Flavour) -> Op {
    let below = |rng: &mut ChaCha8Rng, bound: u32| (rng.next_u32() % bound) as usize;
    let orders = [Ordering::Relaxed, Ordering::Release, Ordering::SeqCst];
    let (variable, value) = (below(rng, 2), below(rng, 2) as u8 + 1);
    let order = if flavour == Flavour::Weak { orders[below(rng, 3)] } else { Ordering::SeqCst };
    let load = if order == Ordering::Release { Ordering::Acquire } else { order };
    let kind = match flavour {
        Flavour::Atomics | Flavour::Weak => below(rng, 5),
        Flavour::Locks => 1 + below(rng, 10),
        Flavour::Waits => 4 + below(rng, 14),
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
        17 => Op::Unpark(below(rng, 2)),
        _ => Op::TimedPark,
    }
}

fn program(seed: u64, index: u64, flavour: Flavour) -> Vec<Vec<Op>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    let threads = 2 + rng.next_u32() % 2;
    let longest = if threads == 2 { 4 } else { 3 };
    let mut thread = || {
        let length = 1 + rng.next_u32() % longest;
        (0..length).map(|_| draw(&mut rng, flavour)).collect()
    };
    (0..threads).map(|_| thread()).collect()
}

struct Shared {
    atomics: [AtomicU8; 2],
    mutexes: [Mutex<u8>; 2],
    rwlock: RwLock<u8>,
    waiting: Mutex<u8>,
    condvar: Condvar,
}

impl Shared {
    fn new() -> Self {
        Shared {
            atomics: [AtomicU8::new(0), AtomicU8::new(0)],
            mutexes: [Mutex::new(0), Mutex::new(0)],
            rwlock: RwLock::new(0),
            waiting: Mutex::new(0),
            condvar: Condvar::new(),
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
            Op::Notify => {
                *shared.waiting.lock().unwrap() += 1;
                shared.condvar.notify_one();
            }
            Op::NotifyAll => shared.condvar.notify_all(),
            Op::Park => thread::park(),
            Op::TimedPark => thread::park_timeout(std::time::Duration::from_secs(1)),
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

fn set<T: Debug>(outcomes: impl Iterator<Item = T>) -> BTreeSet<String> {
    outcomes.map(|outcome| format!("{outcome:?}")).collect()
}

/// The program with all that it wants.
fn tested<T: Value>(program: &Program<T>, model: Model) -> Tested<T> {
    let mut tested = Tested::new(program.clone(), model, Features::default(), Location::caller());
    loop {
        let mut execution = tested.execution();
        let limits = Limits { executions: Some(20_000), ..Limits::default() };
        optimal(&mut execution, &limits, |execution, _| !execution.world().lacks());
        tested.take_up(execution.world());
        drop(execution);
        match tested.satisfied() {
            Some(more) => tested = more,
            None => return tested,
        }
    }
}

/// Compares the searches on one program. Gives the number of traces, or `None` if it is too large.
pub(crate) fn compare<T: Value>(name: &str, program: Program<T>, model: Model) -> Option<u64> {
    install_hook();
    let tested = tested(&program, model);
    let limits = Limits { executions: Some(20_000), ..Limits::default() };
    let truth = brute(&tested, &limits);
    if truth.report.coverage != Coverage::Exhaustive {
        return None;
    }
    let expected = set(truth.report.found.iter().map(|found| &found.outcome));
    let mut execution = tested.execution();
    let report = optimal(&mut execution, &Limits::default(), |_, _| true);
    let got = set(report.found.iter().map(|found| &found.outcome));
    assert_eq!(got, expected, "outcomes of {name}");
    assert_eq!(report.redundant, 0, "executions in vain of {name}");
    assert_eq!(report.executions, truth.traces, "executions of {name}");
    compare_divided(name, &tested, &expected, truth.traces);
    assert!(tested.satisfied().is_none(), "nothing new was wanted by {name}");
    Some(truth.traces)
}

/// However the search is divided among workers, it explores each trace exactly once.
fn compare_divided<T: Value>(
    name: &str,
    tested: &Tested<T>,
    expected: &BTreeSet<String>,
    traces: u64,
) {
    let divisions = [(1, true), (2, true), (3, false)];
    for workers in divisions.map(|(count, eager)| Workers { count, eager }) {
        let report =
            optimal_parallel(|| tested.execution(), workers, &Limits::default(), |_, _| true);
        let got = set(report.found.iter().map(|found| &found.outcome));
        assert_eq!(&got, expected, "outcomes of {name} by {workers:?}");
        assert_eq!(report.executions, traces, "executions of {name} by {workers:?}");
        assert_eq!(report.redundant, 0, "executions in vain of {name} by {workers:?}");
        assert_eq!(report.coverage, Coverage::Exhaustive);
    }
}

fn compare_all(flavour: Flavour, model: Model, usual: u64, wide: bool) {
    let seed = seed();
    let mut compared = 0;
    for index in 0..count(usual) {
        let ops = program(seed, index, flavour);
        let name = format!("{flavour:?} program {index} of seed {seed} under {model:?}: {ops:?}");
        let code: Program<Vec<Vec<u8>>> = {
            let ops = ops.clone();
            Arc::new(move || run(&ops))
        };
        if compare(&name, code.clone(), model).is_some() {
            compared += 1;
            if wide {
                compare_bounded(&name, code, model);
            }
        }
    }
    assert!(compared * 2 > count(usual), "most programs are small enough to compare: {compared}");
}

/// Within bounds that leave nothing out the bounded search gives the same outcomes.
fn compare_bounded(name: &str, program: Program<Vec<Vec<u8>>>, model: Model) {
    let tested = Tested::new(program, model, Features::default(), Location::caller());
    let bounds = Bounds { preemptions: Some(30), ..Bounds::default() };
    let report = bounded(&tested, &bounds, &Limits::default());
    let mut execution = tested.execution();
    let expected = optimal(&mut execution, &Limits::default(), |_, _| true);
    assert_eq!(
        set(report.found.iter().map(|found| &found.outcome)),
        set(expected.found.iter().map(|found| &found.outcome)),
        "outcomes within bounds of {name}"
    );
}

#[test]
fn atomics_are_searched_optimally() {
    compare_all(Flavour::Atomics, Model::Sc, 200, true);
}

#[test]
fn weak_stores_are_searched_optimally_under_tso() {
    compare_all(Flavour::Weak, Model::Tso, 150, true);
}

#[test]
fn weak_stores_are_searched_optimally_under_pso() {
    compare_all(Flavour::Weak, Model::Pso, 150, false);
}

#[test]
fn locks_are_searched_optimally() {
    compare_all(Flavour::Locks, Model::Tso, 200, true);
}

#[test]
fn waiting_is_searched_optimally() {
    compare_all(Flavour::Waits, Model::Tso, 200, false);
}
