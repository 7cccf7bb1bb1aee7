//! Schedules that are drawn: they converge to the exhaustive set under each memory model, failures can be
//! replayed, and the answer says how much was seen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex as StdMutex;

use strait::sync::Mutex;
use strait::sync::atomic::{AtomicUsize, Ordering, fence};
use strait::{Builder, Coverage, Interleavings, Model, thread};

/// Each way to draw so many schedules of a seed.
fn samplers(executions: u64, seed: u64) -> [Builder; 4] {
    let builder = Builder::new;
    [
        builder().random(executions, seed),
        builder().pct(executions, 3, seed),
        builder().pos(executions, seed),
        builder().surw(executions, seed),
    ]
}

fn message_passing() -> (usize, usize) {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let theirs = shared.clone();
    let writer = thread::spawn(move || {
        theirs.0.store(1, Ordering::Relaxed);
        theirs.1.store(1, Ordering::Relaxed);
    });
    let seen = (shared.1.load(Ordering::Relaxed), shared.0.load(Ordering::Relaxed));
    writer.join().unwrap();
    seen
}

fn store_buffering() -> (usize, usize) {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        theirs.0.store(1, Ordering::Release);
        theirs.1.load(Ordering::Acquire)
    });
    shared.1.store(1, Ordering::Release);
    let mine = shared.0.load(Ordering::Acquire);
    (mine, other.join().unwrap())
}

fn fenced_store_buffering() -> (usize, usize) {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        theirs.0.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        theirs.1.load(Ordering::Relaxed)
    });
    shared.1.store(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    let mine = shared.0.load(Ordering::Relaxed);
    (mine, other.join().unwrap())
}

fn exchanges() -> (usize, usize) {
    let shared = Arc::new(AtomicUsize::new(0));
    let theirs = shared.clone();
    let exchange = |shared: &AtomicUsize, to| {
        let result = shared.compare_exchange_weak(0, to, Ordering::AcqRel, Ordering::Relaxed);
        result.unwrap_or_else(|found| 10 + found)
    };
    let other = thread::spawn(move || exchange(&theirs, 1));
    let mine = exchange(&shared, 2);
    (mine, other.join().unwrap())
}

fn locked() -> (usize, usize) {
    let shared = Arc::new(Mutex::new(0));
    let adders: Vec<_> = [1, 2]
        .into_iter()
        .map(|amount| {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut held = shared.lock().unwrap();
                *held = *held * 10 + amount;
                *held
            })
        })
        .collect();
    let results: Vec<usize> = adders.into_iter().map(|adder| adder.join().unwrap()).collect();
    (results[0], results[1])
}

/// Samples of small programs are all that the exhaustive search finds, and nothing else, under each memory
/// model.
#[test]
fn samples_converge_to_the_exhaustive_set() {
    let programs: [fn() -> (usize, usize); 5] =
        [message_passing, store_buffering, fenced_store_buffering, exchanges, locked];
    for (number, program) in programs.into_iter().enumerate() {
        for model in [Model::Sc, Model::Tso, Model::Rc11] {
            let truth = Builder::new().model(model).results(program);
            for builder in samplers(600, 1) {
                let drawn = builder.clone().model(model).results(program);
                assert_eq!(drawn, truth, "program {number} under {model}: {builder:?}");
            }
        }
    }
}

#[test]
fn a_sample_says_how_it_was_drawn_and_never_that_it_is_exhaustive() {
    for builder in samplers(300, 5) {
        let outcomes = builder.check(message_passing);
        assert_eq!(outcomes.coverage, Coverage::Sampled(300));
        assert!(!outcomes.is_exhaustive());
        assert_eq!(outcomes.model, Model::Rc11);
        let text = outcomes.to_string();
        assert!(text.starts_with("sampled (300 executions) under RC11, "), "{text}");
        assert!(text.contains("ordered pairs of conflicting operations seen"), "{text}");
    }
}

/// Two stores and two loads at two variables: the load and the store of each one conflict.
#[test]
fn the_interleaving_coverage_is_about_what_loads_see() {
    for builder in samplers(300, 5) {
        for model in [Model::Sc, Model::Rc11] {
            let seen = builder.clone().model(model).outcomes(message_passing).interleavings;
            assert_eq!(seen, Some(Interleavings { seen: 4, known: 4 }), "{model}");
        }
        let one = Builder::new().random(1, 1).outcomes(message_passing).interleavings;
        assert_eq!(one, Some(Interleavings { seen: 2, known: 4 }));
    }
    assert_eq!(strait::outcomes(message_passing).interleavings, None);
}

#[test]
fn failures_that_were_drawn_can_be_replayed() {
    let stale = || assert_ne!(message_passing(), (1, 0), "the flag without the datum");
    let deadlock = || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let theirs = locks.clone();
        let other = thread::spawn(move || {
            let _second = theirs.1.lock().unwrap();
            let _first = theirs.0.lock().unwrap();
        });
        let first = locks.0.lock().unwrap();
        let second = locks.1.lock().unwrap();
        drop((first, second));
        other.join().unwrap();
    };
    let programs: [fn(); 2] = [stale, deadlock];
    for program in programs {
        for builder in samplers(2000, 2) {
            let failure = builder.try_check(program).expect_err("it happens");
            let (outcome, trace) =
                Builder::new().replay(&failure.trace.replay, program).expect("the string fits");
            assert!(outcome.is_failure(), "{outcome}");
            assert_eq!(trace.to_string(), failure.trace.to_string());
            assert!(failure.search.ends_with("under RC11"), "{}", failure.search);
        }
    }
}

/// A check ends with the first schedule that fails, on any number of cores.
#[test]
fn a_check_ends_with_the_first_failure() {
    let program = || assert_ne!(message_passing(), (1, 0));
    for builder in samplers(100_000, 2) {
        let failure = builder.try_check(program).expect_err("it happens");
        assert!(failure.executions < 1000, "{}", failure.executions);
        let on_two = builder.cores(2).try_check(program).expect_err("it happens");
        assert_eq!(on_two.executions, failure.executions);
    }
}

/// A short thread and a long one: where the load stands among twelve stores.
fn load_among_stores() -> usize {
    let shared = Arc::new(AtomicUsize::new(0));
    let theirs = shared.clone();
    let writer = thread::spawn(move || {
        for value in 1..=12 {
            theirs.store(value, Ordering::SeqCst);
        }
    });
    let reader = thread::spawn(move || shared.load(Ordering::SeqCst));
    let seen = reader.join().unwrap();
    writer.join().unwrap();
    seen
}

/// How often each value was read in 1,300 schedules.
fn counted(builder: &Builder) -> BTreeMap<usize, usize> {
    let counts = Arc::new(StdMutex::new(BTreeMap::new()));
    let theirs = counts.clone();
    // What is counted is kept outside of the executions, which the library is right to refuse.
    let outcomes = builder.clone().model(Model::Sc).allow_uncontrolled().outcomes(move || {
        let value = load_among_stores();
        *theirs.lock().unwrap().entry(value).or_insert(0) += 1;
        value
    });
    assert_eq!(outcomes.executions, 1300);
    let counts = counts.lock().unwrap();
    counts.clone()
}

/// Thirteen places, each of which ought to come up 100 times in 1,300. The standard deviation is 10. The
/// threads are started one after the other, and the weight of a thread that is not started yet is part of
/// its parent's.
#[test]
fn surw_is_about_uniform_where_random_schedules_are_not() {
    let uniform = counted(&Builder::new().surw(1300, 3));
    assert_eq!(uniform.len(), 13, "{uniform:?}");
    assert!(uniform.values().all(|count| (55..=150).contains(count)), "{uniform:?}");
    let walks = counted(&Builder::new().random(1300, 3));
    let early: usize = walks.range(..=3).map(|(_, count)| count).sum();
    let late: usize = walks.range(10..).map(|(_, count)| count).sum();
    assert!(early > 900 && late < 20, "{walks:?}");
}
