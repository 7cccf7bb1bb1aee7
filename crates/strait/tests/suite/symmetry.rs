//! Threads that can be exchanged for each other: fewer executions, the same outcomes up to exchanges.

use std::collections::BTreeSet;
use std::sync::Arc;

use strait::sync::Mutex;
use strait::sync::atomic::{AtomicU64, Ordering, fence};
use strait::thread::{spawn, spawn_symmetric};
use strait::{Builder, Model};

/// A step of a generated thread, at one of two variables.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize, Ordering),
    /// Stores one more than the sum of what was read.
    Store(usize, Ordering),
    Add(usize, Ordering),
    Exchange(usize, u64, Ordering),
    Fence(Ordering),
    /// Counts under a lock.
    Lock,
    Yield,
}

struct Shared {
    variables: [AtomicU64; 2],
    count: Mutex<u64>,
}

/// Performs a thread. Gives all that it has read.
fn perform(steps: &[Step], shared: &Shared) -> Vec<u64> {
    let mut read = Vec::new();
    for &step in steps {
        match step {
            Step::Load(variable, order) => read.push(shared.variables[variable].load(order)),
            Step::Store(variable, order) => {
                shared.variables[variable].store(read.iter().sum::<u64>() + 1, order);
            }
            Step::Add(variable, order) => {
                read.push(shared.variables[variable].fetch_add(1, order));
            }
            Step::Exchange(variable, expected, order) => {
                let variable = &shared.variables[variable];
                let found = variable.compare_exchange(expected, 7, order, Ordering::Relaxed);
                read.push(found.unwrap_or_else(|found| found + 10));
            }
            Step::Fence(order) => fence(order),
            Step::Lock => {
                let mut count = shared.count.lock().unwrap();
                *count += 1;
                read.push(*count);
            }
            Step::Yield => strait::thread::yield_now(),
        }
    }
    read
}

/// What three such threads can give beside another one: what each has read, in any order, and the values
/// at the end. Also how many executions that takes.
fn outcomes(
    steps: &[Step],
    other: &[Step],
    model: Model,
    symmetric: bool,
) -> (BTreeSet<String>, u64) {
    let (steps, other) = (steps.to_vec(), other.to_vec());
    let outcomes = Builder::new().model(model).outcomes(move || {
        let variables = [AtomicU64::new(0), AtomicU64::new(0)];
        let shared = Arc::new(Shared { variables, count: Mutex::new(0) });
        let (theirs, others) = (shared.clone(), other.clone());
        let other = spawn(move || perform(&others, &theirs));
        let (theirs, steps) = (shared.clone(), steps.clone());
        let code = move || perform(&steps, &theirs);
        let mut reads: Vec<Vec<u64>> = if symmetric {
            let results = spawn_symmetric(3, code).join().into_iter();
            results.map(Result::unwrap).collect()
        } else {
            let threads: Vec<_> = (0..3).map(|_| spawn(code.clone())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        };
        reads.sort();
        reads.push(other.join().unwrap());
        let values = shared.variables.each_ref().map(|one| one.load(Ordering::SeqCst));
        (reads, values)
    });
    assert!(outcomes.is_exhaustive(), "{:?}", outcomes.doubt);
    let found = outcomes.found.iter().map(|found| format!("{:?}", found.outcome));
    (found.collect(), outcomes.executions)
}

/// Arbitrary numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    fn step(&mut self) -> Step {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let variable = self.below(2);
        match self.below(12) {
            0..=3 => Step::Load(variable, [Relaxed, Acquire, SeqCst][self.below(3)]),
            4..=6 => Step::Store(variable, [Relaxed, Release, SeqCst][self.below(3)]),
            7 => Step::Add(variable, [Relaxed, AcqRel, SeqCst][self.below(3)]),
            8 => Step::Exchange(variable, self.below(2) as u64, [AcqRel, SeqCst][self.below(2)]),
            9 => Step::Fence([Acquire, Release, SeqCst][self.below(3)]),
            10 => Step::Lock,
            _ => Step::Yield,
        }
    }

    fn steps(&mut self, most: usize) -> Vec<Step> {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.step()).collect()
    }
}

#[test]
fn symmetric_threads_have_all_outcomes_up_to_exchanges() {
    let seed = std::env::var("STRAIT_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let count = std::env::var("STRAIT_TEST_COUNT").ok().and_then(|text| text.parse().ok());
    let mut numbers = Numbers(seed.unwrap_or(20_261_118));
    let mut saved = 0;
    for number in 0..count.unwrap_or(60) {
        let (steps, other) = (numbers.steps(2), numbers.steps(2));
        for model in [Model::Sc, Model::Tso, Model::Pso, Model::Rc11] {
            let (all, executions) = outcomes(&steps, &other, model, false);
            let (some, fewer) = outcomes(&steps, &other, model, true);
            let program = format!("program {number}: 3 × {steps:?} beside {other:?}, {model}");
            assert_eq!(all, some, "{program}");
            assert!(fewer <= executions, "{fewer} instead of {executions}: {program}");
            saved += executions - fewer;
        }
    }
    assert!(saved > 0);
}

/// Without symmetry these programs take 4, 36 and 576 executions. Divided by the 2, 6 and 24 ways to name
/// the threads that is 2, 6 and 24; under SC threads that have read the same value of different writes are
/// exchanged for each other too. Under RC11 threads that read from different writes are not
/// compared.
#[test]
fn symmetric_increments_take_few_executions() {
    let executions = |threads: usize, model| {
        let outcomes = Builder::new().model(model).outcomes(move || {
            let shared = Arc::new(AtomicU64::new(0));
            let theirs = shared.clone();
            let add = move || {
                let value = theirs.load(Ordering::SeqCst);
                theirs.store(value + 1, Ordering::SeqCst);
            };
            spawn_symmetric(threads, add).join().into_iter().for_each(Result::unwrap);
            shared.load(Ordering::SeqCst)
        });
        assert!(outcomes.is_exhaustive());
        assert_eq!(outcomes.found.len(), threads);
        outcomes.executions
    };
    let counts = |model| (2..=4).map(|threads| executions(threads, model)).collect::<Vec<_>>();
    assert_eq!((counts(Model::Sc), counts(Model::Rc11)), (vec![2, 6, 23], vec![2, 8, 52]));
}

#[test]
fn symmetric_threads_run_for_real() {
    let mut results: Vec<i32> =
        spawn_symmetric(3, || 5).join().into_iter().map(Result::unwrap).collect();
    results.dedup();
    assert_eq!(results, [5]);
}

#[test]
fn symmetric_threads_must_not_ask_who_they_are() {
    let failure = Builder::new().try_check(|| {
        let shared = Arc::new(AtomicU64::new(0));
        let code = move || {
            shared.load(Ordering::SeqCst);
            let _ = strait::thread::current().id();
        };
        spawn_symmetric(2, code).join().into_iter().for_each(Result::unwrap);
    });
    let failure = failure.expect_err("they can be told apart").to_string();
    assert!(failure.contains("asks for `thread::current` at "), "{failure}");
}
