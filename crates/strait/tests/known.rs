//! Small programs whose outcomes are known: one row each, with the exact set under each model.
//!
//! The sets are argued from the documentation of `std` and the axioms of RC11. A row is here because the
//! program does something that a search can easily overlook: it looks at shared state without an
//! operation that is obviously one, waits in an unusual loop, or ends in an unusual way.

#![allow(clippy::unwrap_used, reason = "a test that gets nothing should fail there")]

use std::cell::Cell as Plain;
use std::future::poll_fn;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use std::task::Poll;
use std::time::Duration;

use strait::cell::UnsafeCell;
use strait::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use strait::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
use strait::{Builder, Model, Outcome, future, hint, thread};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// What a program may do: give numbers, deadlock, panic, or fail because of a data race.
#[derive(Debug)]
struct Row {
    name: &'static str,
    program: fn() -> usize,
    values: &'static [usize],
    deadlocks: bool,
    panics: bool,
    races: bool,
}

const fn row(name: &'static str, values: &'static [usize], program: fn() -> usize) -> Row {
    Row { name, program, values, deadlocks: false, panics: false, races: false }
}

impl Row {
    const fn deadlocks(mut self) -> Self {
        self.deadlocks = true;
        self
    }

    const fn panics(mut self) -> Self {
        self.panics = true;
        self
    }

    const fn races(mut self) -> Self {
        self.races = true;
        self
    }

    /// What differs from the expected outcomes under a model, if anything does.
    fn wrong(&self, model: Model) -> Option<String> {
        let outcomes = Builder::new().model(model).outcomes(self.program);
        let mut values: Vec<usize> = outcomes.values().into_iter().copied().collect();
        values.sort_unstable();
        let any =
            |is: fn(&Outcome<usize>) -> bool| outcomes.found.iter().any(|found| is(&found.outcome));
        let seen = (
            any(Outcome::is_deadlock),
            any(Outcome::is_panic),
            any(|outcome| matches!(outcome, Outcome::Fault(..))),
        );
        let expected = (self.deadlocks, self.panics, self.races);
        // A race ends the search of a program as a whole: the other outcomes mean nothing then.
        let same = seen == expected && (self.races || values == self.values);
        (!same || !outcomes.is_exhaustive())
            .then(|| format!("{} under {model}: {outcomes}", self.name))
    }
}

fn check(rows: &[Row], models: &[Model]) {
    let wrong: Vec<String> =
        rows.iter().flat_map(|row| models.iter().filter_map(|model| row.wrong(*model))).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

const ALL: &[Model] = &[Model::Sc, Model::Tso, Model::Pso, Model::Rc11];

/// Runs the code in another thread and here, and gives what was returned here.
fn beside<T: Send + Sync + 'static, R>(shared: T, other: fn(&T), here: impl FnOnce(&T) -> R) -> R {
    let shared = Arc::new(shared);
    let theirs = shared.clone();
    let other = thread::spawn(move || other(&theirs));
    let result = here(&shared);
    other.join().unwrap();
    result
}

fn atomics<const N: usize>() -> [AtomicUsize; N] {
    std::array::from_fn(|_| AtomicUsize::new(0))
}

/// State is looked at by something that is no obvious operation.
const LOOKING: &[Row] = &[
    row("an atomic is shown", &[0, 1], || {
        beside(
            AtomicUsize::new(0),
            |x| x.store(1, SeqCst),
            |x| usize::from(format!("{x:?}") == "1"),
        )
    }),
    row("a mutex is shown while it is held, free and changed", &[0, 1, 2], || {
        let show = |mutex: &Mutex<usize>| match format!("{mutex:?}") {
            text if text.contains("<locked>") => 2,
            text => usize::from(text.contains("data: 1")),
        };
        beside(Mutex::new(0), |mutex| *mutex.lock().unwrap() = 1, show)
    }),
    row("a lock is shown while it is written", &[0, 1, 2], || {
        let show = |lock: &RwLock<usize>| match format!("{lock:?}") {
            text if text.contains("<locked>") => 2,
            text => usize::from(text.contains("data: 1")),
        };
        beside(RwLock::new(0), |lock| *lock.write().unwrap() = 1, show)
    }),
    row("a cell that is written once is shown", &[0, 1], || {
        let show = |cell: &OnceLock<usize>| usize::from(format!("{cell:?}").contains('7'));
        beside(OnceLock::new(), |cell| cell.set(7).unwrap(), show)
    }),
    row("weak pointers are counted while one is dropped", &[0, 1], || {
        let arc = Arc::new(0);
        let weak = Arc::downgrade(&arc);
        let other = thread::spawn(move || drop(weak));
        let count = Arc::weak_count(&arc);
        other.join().unwrap();
        count
    }),
    row("weak pointers are counted while one is cloned", &[1, 2], || {
        let arc = Arc::new(0);
        let weak = Arc::downgrade(&arc);
        let other = thread::spawn(move || {
            let another = weak.clone();
            (weak, another)
        });
        let count = Arc::weak_count(&arc);
        drop(other.join().unwrap());
        count
    }),
    row("weak pointers are counted while one is made", &[0, 1], || {
        let arc = Arc::new(0);
        let theirs = arc.clone();
        let other = thread::spawn(move || Arc::downgrade(&theirs));
        let count = Arc::weak_count(&arc);
        drop(other.join().unwrap());
        count
    }),
    row("a weak pointer keeps another thread from changing the value", &[0, 1], || {
        let mut arc = Arc::new(0);
        let weak = Arc::downgrade(&arc);
        let other = thread::spawn(move || drop(weak));
        let alone = Arc::get_mut(&mut arc).is_some();
        other.join().unwrap();
        usize::from(alone)
    }),
    row("a weak pointer counts strong ones", &[1, 2], || {
        let arc = Arc::new(0);
        let (theirs, weak) = (arc.clone(), Arc::downgrade(&arc));
        let other = thread::spawn(move || drop(theirs));
        let count = Weak::strong_count(&weak);
        other.join().unwrap();
        count
    }),
    row("exactly one thread gets the value of an Arc", &[1], || {
        let arc = Arc::new(0);
        let theirs = arc.clone();
        let other = thread::spawn(move || usize::from(Arc::into_inner(theirs).is_some()));
        let mine = usize::from(Arc::into_inner(arc).is_some());
        mine + other.join().unwrap()
    }),
    row("perhaps no thread unwraps an Arc", &[0, 1], || {
        let arc = Arc::new(0);
        let theirs = arc.clone();
        let other = thread::spawn(move || usize::from(Arc::try_unwrap(theirs).is_ok()));
        let mine = usize::from(Arc::try_unwrap(arc).is_ok());
        mine + other.join().unwrap()
    }),
    row("poison is looked at", &[0, 1], || {
        let mutex = Arc::new(Mutex::new(()));
        let theirs = mutex.clone();
        let other = thread::spawn(move || {
            let _guard = theirs.lock();
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        let poisoned = usize::from(mutex.is_poisoned());
        assert!(other.join().is_err());
        poisoned
    }),
    row("a thread is over or not", &[0, 1], || {
        let other = thread::spawn(|| AtomicUsize::new(0).store(1, SeqCst));
        let over = usize::from(other.is_finished());
        other.join().unwrap();
        over
    }),
    row("a once is completed or not", &[0, 1], || {
        beside(Once::new(), |once| once.call_once(|| ()), |once| usize::from(once.is_completed()))
    }),
];

#[test]
fn what_looks_at_shared_state_is_a_step() {
    check(LOOKING, ALL);
}

/// A data race that only shows because an access lasts longer than its beginning.
const LONG_ACCESSES: &[Row] = &[
    row("a write lasts until its closure returns", &[], || {
        let shared = Arc::new((Racy(UnsafeCell::new(0)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.0.with_mut(|_| theirs.1.store(true, Release));
        });
        if shared.1.load(Acquire) {
            shared.0.0.with(|_| ());
        }
        other.join().unwrap();
        0
    })
    .races(),
    row("a read lasts until its closure returns", &[], || {
        let shared = Arc::new((Racy(UnsafeCell::new(0)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.0.with(|_| theirs.1.store(true, Release));
        });
        if shared.1.load(Acquire) {
            shared.0.0.with_mut(|_| ());
        }
        other.join().unwrap();
        0
    })
    .races(),
    row("an access that has ended is over", &[0, 1], || {
        let shared = Arc::new((Racy(UnsafeCell::new(0)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.0.with_mut(|_| theirs.1.load(Relaxed));
            theirs.1.store(true, Release);
        });
        let seen = shared.1.load(Acquire);
        if seen {
            shared.0.0.with_mut(|_| ());
        }
        other.join().unwrap();
        usize::from(seen)
    }),
];

struct Racy(UnsafeCell<usize>);

// SAFETY: the library reports accesses that are not ordered, and nothing is read or written.
#[allow(unsafe_code, reason = "the cell is shared between threads on purpose")]
unsafe impl Sync for Racy {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "the cell is shared between threads on purpose")]
unsafe impl Send for Racy {}

#[test]
fn accesses_last_until_their_end() {
    check(LONG_ACCESSES, ALL);
}

/// Loops that wait in unusual ways.
const LOOPS: &[Row] = &[
    row("nested loops that wait for two flags", &[1], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[1].store(1, Release);
            x[0].store(1, Release);
        };
        beside(atomics(), set, |x| {
            while x[0].load(Acquire) == 0 {
                while x[1].load(Acquire) == 0 {
                    thread::yield_now();
                }
                thread::yield_now();
            }
            x[1].load(Relaxed)
        })
    }),
    row("a loop that leaves by either of two flags", &[1, 2], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[0].store(1, Relaxed);
            x[1].store(1, Relaxed);
        };
        beside(atomics(), set, |x| {
            loop {
                if x[0].load(Relaxed) == 1 {
                    break 1;
                }
                if x[1].load(Relaxed) == 1 {
                    break 2;
                }
                hint::spin_loop();
            }
        })
    }),
    row("a flag that is taken back may be missed", &[1], || {
        let set = |x: &[AtomicUsize; 1]| {
            x[0].store(1, SeqCst);
            x[0].store(0, SeqCst);
        };
        beside(atomics(), set, |x| {
            while x[0].load(SeqCst) == 0 {
                hint::spin_loop();
            }
            1
        })
    })
    .deadlocks(),
    row("a change that came before is waited for in vain", &[1], || {
        beside(
            atomics::<1>(),
            |x| x[0].store(1, SeqCst),
            |x| {
                let old = x[0].load(SeqCst);
                while x[0].load(SeqCst) == old {
                    thread::yield_now();
                }
                1
            },
        )
    })
    .deadlocks(),
    row("two threads take turns twice", &[4], || {
        fn turns(x: &[AtomicUsize; 2], me: usize) {
            for _ in 0..2 {
                while x[0].load(Acquire) != me {
                    hint::spin_loop();
                }
                x[1].store(x[1].load(Relaxed) + 1, Relaxed);
                x[0].store(1 - me, Release);
            }
        }
        beside(atomics(), |x| turns(x, 1), |x| turns(x, 0));
        4
    }),
    row("each adds until it finds two", &[4], || {
        fn add(x: &AtomicUsize) {
            while x.fetch_add(1, SeqCst) < 2 {
                thread::yield_now();
            }
        }
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = x.clone();
        let other = thread::spawn(move || add(&theirs));
        add(&x);
        other.join().unwrap();
        x.load(SeqCst)
    }),
    row("a lock by fetch_or", &[2], || {
        fn add(x: &[AtomicUsize; 2]) {
            while x[0].fetch_or(1, Acquire) == 1 {
                hint::spin_loop();
            }
            x[1].store(x[1].load(Relaxed) + 1, Relaxed);
            x[0].store(0, Release);
        }
        let x = Arc::new(atomics());
        let theirs = x.clone();
        let other = thread::spawn(move || add(&theirs));
        add(&x);
        other.join().unwrap();
        x[1].load(Relaxed)
    }),
    row("a loop that reads by fetch_add of 0", &[5], || {
        beside(
            AtomicUsize::new(0),
            |x| x.store(5, Release),
            |x| {
                loop {
                    match x.fetch_add(0, Acquire) {
                        0 => hint::spin_loop(),
                        value => break value,
                    }
                }
            },
        )
    }),
    row("compare-exchange with a backoff that doubles", &[2], || {
        fn add(x: &AtomicUsize) {
            let mut backoff = 1;
            let mut old = x.load(Relaxed);
            while let Err(now) = x.compare_exchange(old, old + 1, AcqRel, Relaxed) {
                old = now;
                for _ in 0..backoff {
                    hint::spin_loop();
                }
                backoff *= 2;
            }
        }
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = x.clone();
        let other = thread::spawn(move || add(&theirs));
        add(&x);
        other.join().unwrap();
        x.load(Relaxed)
    }),
    row("rounds are counted in a floating-point number", &[0, 1], || {
        beside(
            AtomicBool::new(false),
            |x| x.store(true, SeqCst),
            |x| {
                let mut rounds = 0.0;
                while !x.load(SeqCst) {
                    rounds += 1.0;
                    if rounds > 4.5 {
                        return 0;
                    }
                    hint::spin_loop();
                }
                1
            },
        )
    }),
    row("rounds are counted in an array on the stack", &[0, 1], || {
        beside(
            AtomicBool::new(false),
            |x| x.store(true, SeqCst),
            |x| {
                let mut rounds = [0_u8; 64];
                for round in 0.. {
                    if x.load(SeqCst) {
                        break;
                    }
                    if rounds.iter().filter(|round| **round == 1).count() > 3 {
                        return 0;
                    }
                    std::hint::black_box(&mut rounds)[63 - round] = 1;
                    thread::yield_now();
                }
                1
            },
        )
    }),
    row("rounds are counted under a lock", &[0, 1], || {
        beside(
            AtomicBool::new(false),
            |x| x.store(true, SeqCst),
            |x| {
                let rounds = Mutex::new(0);
                while !x.load(SeqCst) {
                    *rounds.lock().unwrap() += 1;
                    if *rounds.lock().unwrap() > 2 {
                        return 0;
                    }
                    thread::yield_now();
                }
                1
            },
        )
    }),
    row("a loop waits until all of three flags are set", &[3], || {
        beside(
            atomics::<3>(),
            |x| x.iter().for_each(|x| x.store(1, Release)),
            |x| {
                while x.iter().any(|x| x.load(Acquire) == 0) {
                    thread::yield_now();
                }
                x.iter().map(|x| x.load(Relaxed)).sum()
            },
        )
    }),
    row("three waiters and one that lets them go", &[3], || {
        let x = Arc::new(atomics::<2>());
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || {
                    while x[0].load(Acquire) == 0 {
                        hint::spin_loop();
                    }
                    x[1].fetch_add(1, Relaxed);
                })
            })
            .collect();
        x[0].store(1, Release);
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        x[1].load(Relaxed)
    }),
    row("a value that changes twice while an exchange is repeated", &[3], || {
        let set = |x: &AtomicUsize| {
            x.store(1, SeqCst);
            x.store(2, SeqCst);
        };
        beside(AtomicUsize::new(0), set, |x| {
            while x.compare_exchange(2, 3, SeqCst, SeqCst).is_err() {
                hint::spin_loop();
            }
            x.load(SeqCst)
        })
    }),
    row("an acquire fence after a loop", &[42], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[1].store(42, Relaxed);
            x[0].store(1, Release);
        };
        beside(atomics(), set, |x| {
            while x[0].load(Relaxed) == 0 {
                hint::spin_loop();
            }
            fence(Acquire);
            x[1].load(Relaxed)
        })
    }),
    row("a loop sleeps", &[1], || {
        beside(
            AtomicBool::new(false),
            |x| x.store(true, Release),
            |x| {
                while !x.load(Acquire) {
                    thread::sleep(Duration::from_millis(1));
                }
                1
            },
        )
    }),
];

#[test]
fn unusual_loops_wait() {
    check(LOOPS, ALL);
}

/// Loops in which another operation than a load says whether to go on.
const TRYING: &[Row] = &[
    row("a loop of try_lock", &[1], || {
        beside(
            Mutex::new(()),
            |mutex| drop(mutex.lock()),
            |mutex| {
                while mutex.try_lock().is_err() {
                    thread::yield_now();
                }
                1
            },
        )
    }),
    row("a loop of try_recv", &[7], || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(7).unwrap());
        let value = loop {
            match receiver.try_recv() {
                Ok(value) => break value,
                Err(_) => thread::yield_now(),
            }
        };
        other.join().unwrap();
        value
    }),
    row("a loop waits until a pointer is the only one", &[1], || {
        let arc = Arc::new(());
        let theirs = arc.clone();
        let other = thread::spawn(move || drop(theirs));
        while Arc::strong_count(&arc) > 1 {
            thread::yield_now();
        }
        other.join().unwrap();
        Arc::strong_count(&arc)
    }),
];

#[test]
fn loops_that_try_are_not_taken_for_exhaustive_in_vain() {
    for row in TRYING {
        for model in ALL {
            let outcomes = Builder::new().model(*model).outcomes(row.program);
            let values: Vec<usize> = outcomes.values().into_iter().copied().collect();
            assert!(
                !outcomes.is_exhaustive() || values == row.values,
                "{} under {model}: {outcomes}",
                row.name
            );
        }
    }
}

/// Rounds that are counted where the library does not look: either the outcomes are right or the check
/// says that they are not all.
#[test]
fn rounds_that_are_counted_elsewhere_give_no_wrong_answer() {
    strait::thread_local! { static MODELLED: Plain<usize> = const { Plain::new(0) }; }
    std::thread_local! { static REAL: Plain<usize> = const { Plain::new(0) }; }
    fn patient(next: impl Fn() -> usize) -> usize {
        beside(
            AtomicBool::new(false),
            |x| x.store(true, SeqCst),
            |x| {
                while !x.load(SeqCst) {
                    if next() >= 3 {
                        return 0;
                    }
                    hint::spin_loop();
                }
                1
            },
        )
    }
    let programs: [fn() -> usize; 4] = [
        || patient(|| MODELLED.replace(MODELLED.get() + 1)),
        || {
            REAL.set(0);
            patient(|| REAL.replace(REAL.get() + 1))
        },
        || {
            let rounds = std::rc::Rc::new(Plain::new(0));
            patient(|| rounds.replace(rounds.get() + 1))
        },
        || {
            let rounds = Plain::new(Vec::new());
            patient(|| {
                let mut list: Vec<u8> = rounds.take();
                list.push(0);
                let length = list.len();
                rounds.set(list);
                length
            })
        },
    ];
    for (index, program) in programs.into_iter().enumerate() {
        for model in ALL {
            let outcomes = Builder::new().model(*model).outcomes(program);
            let values: Vec<usize> = outcomes.values().into_iter().copied().collect();
            assert!(
                !outcomes.is_exhaustive() || values.len() == 2,
                "program {index} under {model}: {outcomes}"
            );
        }
    }
}

/// Locks, conditions, channels, tasks and ends of threads.
const PRIMITIVES: &[Row] = &[
    row("two notifications for two waiters", &[2], || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut tokens = shared.0.lock().unwrap();
                    while *tokens == 0 {
                        tokens = shared.1.wait(tokens).unwrap();
                    }
                    *tokens -= 1;
                })
            })
            .collect();
        for _ in 0..2 {
            *shared.0.lock().unwrap() += 1;
            shared.1.notify_one();
        }
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        2
    }),
    row("one notification for two tokens", &[2], || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut tokens = shared.0.lock().unwrap();
                    while *tokens == 0 {
                        tokens = shared.1.wait(tokens).unwrap();
                    }
                    *tokens -= 1;
                })
            })
            .collect();
        *shared.0.lock().unwrap() += 2;
        shared.1.notify_one();
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        2
    })
    .deadlocks(),
    row("a wait with a time-out", &[0, 1], || {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            drop(theirs.0.lock());
            theirs.1.notify_one();
        });
        let guard = shared.0.lock().unwrap();
        let (guard, over) = shared.1.wait_timeout(guard, Duration::from_secs(1)).unwrap();
        drop(guard);
        other.join().unwrap();
        usize::from(over.timed_out())
    }),
    row("a barrier that is used twice", &[2], || {
        let barrier = Arc::new(Barrier::new(2));
        let theirs = barrier.clone();
        let twice = |barrier: &Barrier| (0..2).filter(|_| barrier.wait().is_leader()).count();
        let other = thread::spawn(move || twice(&theirs));
        twice(&barrier) + other.join().unwrap()
    }),
    row("two tokens may become one", &[1], || {
        let other = thread::spawn(|| {
            thread::park();
            thread::park();
        });
        other.thread().unpark();
        other.thread().unpark();
        other.join().unwrap();
        1
    })
    .deadlocks(),
    row("a reader tries while a writer writes", &[0, 1, 2], || {
        beside(
            RwLock::new(0),
            |lock| *lock.write().unwrap() = 1,
            |lock| lock.try_read().map_or(2, |value| *value),
        )
    }),
    row("two readers at once keep a writer out", &[0, 1], || {
        let lock = Arc::new(RwLock::new(()));
        let theirs = lock.clone();
        let other = thread::spawn(move || drop(theirs.read()));
        let mine = usize::from(lock.try_write().is_ok());
        other.join().unwrap();
        mine
    }),
    row("an action that panicked poisons a once", &[1], || {
        let once = Arc::new(Once::new());
        let theirs = once.clone();
        let other =
            thread::spawn(move || theirs.call_once(|| std::panic::resume_unwind(Box::new(()))));
        assert!(other.join().is_err());
        let again =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| once.call_once(|| ())));
        usize::from(again.is_err())
    }),
    row("one of two writes of a cell wins", &[1, 2], || {
        let first = |cell: &OnceLock<usize>| {
            let _ = cell.set(1);
        };
        beside(OnceLock::new(), first, |cell| {
            let _ = cell.set(2);
            *cell.get().unwrap()
        })
    }),
    row("a panic in a thread that is not joined", &[], || {
        drop(thread::spawn(|| {
            AtomicUsize::new(0).store(1, SeqCst);
            std::panic::resume_unwind(Box::new("on purpose"));
        }));
        0
    })
    .panics(),
    row("a scope ends with a panic if one of its threads does", &[1], || {
        let ended = std::panic::catch_unwind(|| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    AtomicUsize::new(0).store(1, SeqCst);
                    std::panic::resume_unwind(Box::new("on purpose"))
                });
            });
        });
        usize::from(ended.is_err())
    }),
    row("the poisoned value can be had", &[0, 5], || {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let other = thread::spawn(move || {
            *theirs.lock().unwrap() = 5;
            let _guard = theirs.lock();
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        let value = match mutex.lock() {
            Ok(value) => *value,
            Err(poisoned) => *poisoned.into_inner(),
        };
        let _ = other.join();
        value
    }),
    row("a message is sent before or after the receiver goes", &[0, 1], || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || drop(receiver));
        let sent = usize::from(sender.send(()).is_ok());
        other.join().unwrap();
        sent
    }),
    row("what was sent is received although the sender is gone", &[12], || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        let all = receiver.iter().fold(0, |all, value| 10 * all + value);
        other.join().unwrap();
        all
    }),
    row("disconnected, empty or a message", &[0, 1, 2], || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            let _ = sender.send(1);
        });
        // Both a message and the end may be seen by the second look.
        let _ = receiver.try_recv();
        let second = match receiver.try_recv() {
            Ok(_) => 1,
            Err(TryRecvError::Empty) => 0,
            Err(TryRecvError::Disconnected) => 2,
        };
        other.join().unwrap();
        second
    }),
    row("a rendezvous without waiting", &[0, 1], || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let other = thread::spawn(move || receiver.recv_timeout(Duration::from_secs(1)));
        let sent = match sender.try_send(3) {
            Ok(()) => 1,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => 0,
        };
        drop(sender);
        let received = other.join().unwrap();
        assert!(sent == usize::from(received.is_ok()));
        if sent == 0 {
            assert!(matches!(
                received,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected)
            ));
        }
        sent
    }),
    row("a waker that is dropped is waited for in vain", &[], || {
        let other = thread::spawn(|| AtomicUsize::new(0).store(1, SeqCst));
        future::block_on(poll_fn(|context| {
            drop(context.waker().clone());
            Poll::<()>::Pending
        }));
        other.join().unwrap();
        0
    })
    .deadlocks(),
    row("two clones of a waker wake one task", &[1], || {
        let shared = Arc::new((Mutex::new(None::<std::task::Waker>), AtomicBool::new(false)));
        let start = || {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.1.store(true, Release);
                let waker = shared.0.lock().unwrap().clone();
                if let Some(waker) = waker {
                    waker.wake();
                }
            })
        };
        let others = [start(), start()];
        future::block_on(poll_fn(|context| {
            *shared.0.lock().unwrap() = Some(context.waker().clone());
            if shared.1.load(Acquire) { Poll::Ready(()) } else { Poll::Pending }
        }));
        others.into_iter().for_each(|other| other.join().unwrap());
        1
    }),
    row("a waker that is registered after the look comes too late", &[1], || {
        let shared = Arc::new((Mutex::new(None::<std::task::Waker>), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.1.store(true, SeqCst);
            let waker = theirs.0.lock().unwrap().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        future::block_on(poll_fn(|context| {
            if shared.1.load(SeqCst) {
                return Poll::Ready(());
            }
            *shared.0.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        }));
        other.join().unwrap();
        1
    })
    .deadlocks(),
    row("a task that is not waited for panics", &[], || {
        drop(future::spawn(async {
            future::yield_now().await;
            std::panic::resume_unwind(Box::new("on purpose"));
        }));
        0
    })
    .panics(),
];

#[test]
fn primitives_end_as_they_should() {
    check(PRIMITIVES, ALL);
}

/// Orderings under RC11.
const ORDERINGS: &[Row] = &[
    row("a failed exchange acquires", &[0, 11], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[1].store(1, Relaxed);
            x[0].store(1, Release);
        };
        beside(atomics(), set, |x| match x[0].compare_exchange(5, 6, Relaxed, Acquire) {
            Err(1) => 10 + x[1].load(Relaxed),
            _ => 0,
        })
    }),
    row("a failed exchange does not acquire", &[0, 10, 11], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[1].store(1, Relaxed);
            x[0].store(1, Release);
        };
        beside(atomics(), set, |x| match x[0].compare_exchange(5, 6, AcqRel, Relaxed) {
            Err(1) => 10 + x[1].load(Relaxed),
            _ => 0,
        })
    }),
    row("the store of another thread ends a release sequence", &[0, 20, 21], || {
        let x = Arc::new(atomics::<2>());
        let (first, second) = (x.clone(), x.clone());
        let first = thread::spawn(move || {
            first[1].store(1, Relaxed);
            first[0].store(1, Release);
        });
        let second = thread::spawn(move || second[0].store(2, Relaxed));
        let seen = match x[0].load(Acquire) {
            2 => 20 + x[1].load(Relaxed),
            _ => 0,
        };
        first.join().unwrap();
        second.join().unwrap();
        seen
    }),
    row("the exchange of another thread continues a release sequence", &[0, 21], || {
        let x = Arc::new(atomics::<2>());
        let (first, second) = (x.clone(), x.clone());
        let first = thread::spawn(move || {
            first[1].store(1, Relaxed);
            first[0].store(1, Release);
        });
        let second =
            thread::spawn(move || second[0].compare_exchange(1, 2, Relaxed, Relaxed).is_ok());
        let seen = match x[0].load(Acquire) {
            2 => 20 + x[1].load(Relaxed),
            _ => 0,
        };
        first.join().unwrap();
        second.join().unwrap();
        seen
    }),
    row("an old value after a loop that read a new one", &[0, 1], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[1].store(1, Relaxed);
            x[0].store(1, Relaxed);
        };
        beside(atomics(), set, |x| {
            while x[0].load(Relaxed) == 0 {
                hint::spin_loop();
            }
            x[1].load(Relaxed)
        })
    }),
    row("an SeqCst fence against an SeqCst access", &[0, 1, 10, 11], || {
        // RC11 orders SeqCst fences with each other, not a fence with a single relaxed access.
        let x = Arc::new(atomics::<2>());
        let theirs = x.clone();
        let other = thread::spawn(move || {
            theirs[0].store(1, Relaxed);
            fence(AcqRel);
            theirs[1].load(SeqCst)
        });
        x[1].store(1, Relaxed);
        fence(SeqCst);
        let mine = x[0].load(Relaxed);
        10 * mine + other.join().unwrap()
    }),
    row("SeqCst fences on both sides", &[1, 10, 11], || {
        let x = Arc::new(atomics::<2>());
        let theirs = x.clone();
        let other = thread::spawn(move || {
            theirs[0].store(1, Relaxed);
            fence(SeqCst);
            theirs[1].load(Relaxed)
        });
        x[1].store(1, Relaxed);
        fence(SeqCst);
        let mine = x[0].load(Relaxed);
        10 * mine + other.join().unwrap()
    }),
    row("a fence on one side, SeqCst accesses on the other", &[1, 10, 11], || {
        let x = Arc::new(atomics::<2>());
        let theirs = x.clone();
        let other = thread::spawn(move || {
            theirs[0].store(1, SeqCst);
            theirs[1].load(SeqCst)
        });
        x[1].store(1, Relaxed);
        fence(SeqCst);
        let mine = x[0].load(Relaxed);
        10 * mine + other.join().unwrap()
    }),
];

#[test]
fn orderings_are_those_of_rc11() {
    check(ORDERINGS, &[Model::Rc11]);
}
