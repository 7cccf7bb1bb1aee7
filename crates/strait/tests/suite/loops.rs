//! Loops that wait are recognised: they need no bound, and what they wait for in vain is a deadlock.

use std::sync::Arc;

use strait::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use strait::{Builder, Model, hint, results, thread};

use Ordering::{Acquire, Relaxed, Release, SeqCst};

/// The outcomes under each model, which must be the same, and exhaustive.
fn outcomes<T: strait::Value + Ord>(program: fn() -> T) -> Vec<T> {
    let search = |model| {
        let outcomes = Builder::new().model(model).check(program);
        assert!(outcomes.is_exhaustive(), "{outcomes}");
        let mut values: Vec<T> = outcomes.values().into_iter().cloned().collect();
        values.sort();
        values
    };
    let [sc, tso, pso, rc11] = [Model::Sc, Model::Tso, Model::Pso, Model::Rc11].map(search);
    assert_eq!(sc, tso);
    assert_eq!(sc, pso);
    assert_eq!(sc, rc11);
    sc
}

#[test]
fn an_assertion_behind_a_loop_is_reached() {
    let program = |wait: fn()| {
        move || {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(true, Release));
            while !flag.load(Acquire) {
                wait();
            }
            other.join().unwrap();
            assert_eq!(1, 2);
        }
    };
    for wait in [hint::spin_loop as fn(), thread::yield_now] {
        let failure = Builder::new().try_check(program(wait)).expect_err("it panics");
        assert!(failure.to_string().starts_with("main panicked: "), "{failure}");
    }
}

fn message() -> usize {
    let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        theirs.0.store(7, Relaxed);
        theirs.1.store(true, Release);
    });
    while !shared.1.load(Acquire) {
        hint::spin_loop();
    }
    other.join().unwrap();
    shared.0.load(Relaxed)
}

/// Counts under a lock that waits in a loop.
fn counted(lock: fn(&AtomicUsize)) -> usize {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let add = move |shared: &(AtomicUsize, AtomicUsize)| {
        lock(&shared.0);
        shared.1.store(shared.1.load(Relaxed) + 1, Relaxed);
        shared.0.store(0, Release);
    };
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || add(&shared))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    shared.1.load(Relaxed)
}

fn by_exchange(lock: &AtomicUsize) {
    while lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
}

fn by_exchange_and_hint(lock: &AtomicUsize) {
    while lock.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
        hint::spin_loop();
    }
}

fn by_swap(lock: &AtomicUsize) {
    while lock.swap(1, Acquire) == 1 {
        hint::spin_loop();
    }
}

/// A sequence lock: the reader tries again while a writer writes.
fn by_sequence() -> usize {
    let shared = Arc::new([0; 3].map(AtomicUsize::new));
    let theirs = shared.clone();
    let writer = thread::spawn(move || {
        theirs[0].store(1, Relaxed);
        fence(Release);
        theirs[1].store(1, Relaxed);
        theirs[2].store(1, Relaxed);
        theirs[0].store(2, Release);
    });
    let read = loop {
        let number = shared[0].load(Acquire);
        let read = (shared[1].load(Relaxed), shared[2].load(Relaxed));
        fence(Acquire);
        if number.is_multiple_of(2) && shared[0].load(Relaxed) == number {
            break read;
        }
        hint::spin_loop();
    };
    writer.join().unwrap();
    10 * read.0 + read.1
}

fn by_looking_first(lock: &AtomicUsize) {
    loop {
        while lock.load(Relaxed) != 0 {
            thread::yield_now();
        }
        if lock.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
            return;
        }
    }
}

/// A lock with tickets: each thread waits for another number.
fn by_ticket() -> usize {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                let ticket = shared.0.fetch_add(1, Relaxed);
                while shared.1.load(Acquire) != ticket {
                    hint::spin_loop();
                }
                shared.2.store(shared.2.load(Relaxed) + 1, Relaxed);
                shared.1.store(ticket + 1, Release);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    shared.2.load(Relaxed)
}

/// Waits for two variables in one loop.
fn for_either() -> usize {
    let shared = Arc::new([0; 2].map(AtomicUsize::new));
    let start = |index: usize| {
        let shared = shared.clone();
        thread::spawn(move || shared[index].store(1, SeqCst))
    };
    let threads = [start(0), start(1)];
    let seen = loop {
        let seen = (shared[0].load(SeqCst), shared[1].load(SeqCst));
        if seen != (0, 0) {
            break seen;
        }
        thread::yield_now();
    };
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    10 * seen.0 + seen.1
}

#[test]
fn loops_are_exhaustive_without_a_bound() {
    assert_eq!(outcomes(message), [7]);
    assert_eq!(outcomes(|| counted(by_exchange)), [2]);
    assert_eq!(outcomes(|| counted(by_exchange_and_hint)), [2]);
    assert_eq!(outcomes(|| counted(by_looking_first)), [2]);
    assert_eq!(outcomes(|| counted(by_swap)), [2]);
    assert_eq!(outcomes(by_sequence), [0, 11]);
    assert_eq!(outcomes(by_ticket), [3]);
    assert_eq!(outcomes(for_either), [1, 10, 11]);
}

#[test]
fn waiting_in_vain_is_a_deadlock() {
    let alone = || {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {
            hint::spin_loop();
        }
    };
    let failure = Builder::new().try_check(alone).expect_err("it waits forever");
    assert!(
        failure.message.starts_with("deadlock:\n    main waits for: a change of "),
        "{failure}"
    );
    // Each waits for the other.
    let both = || {
        let turns = Arc::new([const { AtomicBool::new_static(false) }; 2]);
        let theirs = turns.clone();
        let take = |turns: &[AtomicBool; 2], own: usize| {
            while !turns[1 - own].load(SeqCst) {
                thread::yield_now();
            }
            turns[own].store(true, SeqCst);
        };
        let other = thread::spawn(move || take(&theirs, 1));
        take(&turns, 0);
        other.join().unwrap();
    };
    let outcomes = strait::outcomes(both);
    assert!(outcomes.is_exhaustive() && outcomes.found[0].outcome.is_deadlock(), "{outcomes}");
    let nothing = || {
        AtomicBool::new(false).load(SeqCst);
        loop {
            thread::yield_now();
        }
    };
    let failure = Builder::new().try_check(nothing).expect_err("it waits forever");
    assert!(failure.message.starts_with("deadlock:"), "{failure}");
}

#[test]
fn a_yield_outside_a_loop_waits_for_nothing() {
    let program = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, SeqCst));
        let first = flag.load(SeqCst);
        thread::yield_now();
        let second = flag.load(SeqCst);
        other.join().unwrap();
        (first, second)
    };
    assert_eq!(results(program), [Ok((false, false)), Ok((false, true)), Ok((true, true))]);
}

/// Gives up after some rounds; how the rounds are counted.
fn patient(count: fn(&mut usize) -> bool) -> impl Fn() -> bool + Send + Sync + 'static {
    move || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, SeqCst));
        let mut rounds = 0;
        let mut seen = flag.load(SeqCst);
        while !seen && count(&mut rounds) {
            hint::spin_loop();
            seen = flag.load(SeqCst);
        }
        other.join().unwrap();
        seen
    }
}

#[test]
fn a_loop_that_counts_its_rounds_may_give_up() {
    for limit in [
        (|rounds| {
            *rounds += 1;
            *rounds <= 1
        }) as fn(&mut usize) -> bool,
        |rounds| {
            *rounds += 1;
            *rounds <= 5
        },
        |rounds| {
            *rounds = *rounds * 2 + 1;
            *rounds < 200
        },
    ] {
        assert_eq!(results(patient(limit)), [Ok(false), Ok(true)]);
    }
    let by_register = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, SeqCst));
        let seen = (0..6).any(|_| {
            thread::yield_now();
            flag.load(SeqCst)
        });
        other.join().unwrap();
        seen
    };
    assert_eq!(results(by_register), [Ok(false), Ok(true)]);
}

#[test]
fn rounds_that_are_counted_elsewhere_are_noticed() {
    let program = || {
        let flag = AtomicBool::new(false);
        let rounds = Box::new(std::cell::Cell::new(0));
        while !flag.load(SeqCst) && rounds.get() < 20 {
            // The compiler must not keep the count anywhere else.
            let rounds = std::hint::black_box(&rounds);
            rounds.set(rounds.get() + 1);
            hint::spin_loop();
        }
    };
    let failure = Builder::new().try_check(program).expect_err("it does not wait");
    assert!(failure.message.contains("stops waiting at "), "{failure}");
}

/// The other thread always goes on, so nothing is ever blocked.
#[test]
fn rounds_that_are_counted_elsewhere_are_noticed_while_others_go_on() {
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::Rc11] {
        let failure = Builder::new().model(model).try_check(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(true, SeqCst));
            let rounds = Box::new(std::cell::Cell::new(0));
            while !flag.load(SeqCst) && rounds.get() < 20 {
                // The compiler must not keep the count anywhere else.
                let rounds = std::hint::black_box(&rounds);
                rounds.set(rounds.get() + 1);
                thread::yield_now();
            }
            other.join().unwrap();
        });
        let failure = failure.expect_err("it does not wait").to_string();
        assert!(failure.contains("loops.rs"), "{model}: {failure}");
    }
}
