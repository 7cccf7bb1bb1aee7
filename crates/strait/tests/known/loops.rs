//! Loops that wait in unusual ways.

use super::*;

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
    row("a loop with a backoff that is bounded", &[1], || {
        beside(
            AtomicBool::new(false),
            |x| x.store(true, Release),
            |x| {
                let mut step = 0;
                while !x.load(Acquire) {
                    for _ in 0..1 << step {
                        hint::spin_loop();
                    }
                    if step < 3 {
                        step += 1;
                    }
                }
                1
            },
        )
    }),
    row("a loop that yields after some rounds of spinning", &[1], || {
        beside(
            AtomicBool::new(false),
            |x| x.store(true, Release),
            |x| {
                let mut step = 0_u32;
                while !x.load(Acquire) {
                    if step <= 2 {
                        (0..1 << step).for_each(|_| hint::spin_loop());
                        step += 1;
                    } else {
                        thread::yield_now();
                    }
                }
                1
            },
        )
    }),
    row("a loop that looks at its variable every third round", &[1], || {
        beside(
            AtomicBool::new(false),
            |x| x.store(true, Release),
            |x| {
                for round in (0..3).cycle() {
                    if round == 2 && x.load(Acquire) {
                        break;
                    }
                    thread::yield_now();
                }
                1
            },
        )
    }),
    row("a loop with a bounded backoff whose flag is taken back", &[1], || {
        let set = |x: &[AtomicUsize; 1]| {
            x[0].store(1, SeqCst);
            x[0].store(0, SeqCst);
        };
        beside(atomics(), set, |x| {
            let mut step = 0;
            while x[0].load(SeqCst) == 0 {
                for _ in 0..1 << step {
                    hint::spin_loop();
                }
                step = (step + 1).min(2);
            }
            1
        })
    })
    .deadlocks(),
    row("a loop that waits for the end of a thread", &[1], || {
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = x.clone();
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        while !other.is_finished() {
            thread::yield_now();
        }
        other.join().unwrap();
        x.load(Relaxed)
    }),
    row("a loop that waits for a value or the end of a thread", &[1, 2], || {
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = x.clone();
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        let seen = loop {
            if x.load(Relaxed) == 1 {
                break 1;
            }
            if other.is_finished() {
                break 2;
            }
            hint::spin_loop();
        };
        other.join().unwrap();
        seen
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
    // Under TSO and PSO a thread that reads what it has stored itself is not known to wait.
    check(LOOPS, &[Model::Sc, Model::Rc11]);
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
