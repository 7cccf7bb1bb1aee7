//! State that is looked at by something that is no obvious operation, and accesses that last.

use super::*;

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

fn racy() -> Racy {
    Racy(UnsafeCell::new(0))
}

/// Counts of pointers are read with `Relaxed`, and pointers are cloned so. Only to have the value for
/// oneself, or a pointer from a `Weak`, comes after what happened before other pointers were dropped.
const COUNTS: &[Row] = &[
    row("a count of one orders nothing", &[], || {
        let arc = Arc::new(racy());
        let theirs = arc.clone();
        let other = thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            drop(theirs);
        });
        if Arc::strong_count(&arc) == 1 {
            arc.0.with(|_| ());
        }
        other.join().unwrap();
        0
    })
    .races(),
    row("a clone orders nothing", &[], || {
        let shared = Arc::new((racy(), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.0.with_mut(|_| ());
            drop(theirs.clone());
            theirs.1.store(true, Relaxed);
        });
        if shared.1.load(Relaxed) {
            let mine = shared.clone();
            mine.0.0.with(|_| ());
        }
        other.join().unwrap();
        0
    })
    .races(),
    row("a drop that is not the last orders nothing", &[], || {
        let shared = Arc::new((racy(), AtomicBool::new(false)));
        let (theirs, one, another) = (shared.clone(), Arc::new(()), Arc::new(()));
        let (their_one, kept) = (one.clone(), (one.clone(), another));
        let other = thread::spawn(move || {
            theirs.0.0.with_mut(|_| ());
            drop(their_one);
            theirs.1.store(true, Relaxed);
        });
        if shared.1.load(Relaxed) {
            drop(one);
            shared.0.0.with(|_| ());
        }
        other.join().unwrap();
        drop(kept);
        0
    })
    .races(),
    row("who has the value alone comes after the others", &[0, 1], || {
        let mut arc = Arc::new(racy());
        let theirs = arc.clone();
        let other = thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            drop(theirs);
        });
        let alone = Arc::get_mut(&mut arc).map(|racy| racy.0.with_mut(|_| ())).is_some();
        other.join().unwrap();
        usize::from(alone)
    }),
    row("who unwraps the value comes after the others", &[0, 1], || {
        let arc = Arc::new(racy());
        let theirs = arc.clone();
        let other = thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            drop(theirs);
        });
        let alone = Arc::try_unwrap(arc).map(|racy| racy.0.with_mut(|_| ())).is_ok();
        other.join().unwrap();
        usize::from(alone)
    }),
    row("the last drop comes after the others", &[0], || {
        struct Looks(Racy);
        impl Drop for Looks {
            fn drop(&mut self) {
                self.0.0.with_mut(|_| ());
            }
        }
        let arc = Arc::new(Looks(racy()));
        let theirs = arc.clone();
        let other = thread::spawn(move || {
            theirs.0.0.with(|_| ());
            drop(theirs);
        });
        arc.0.0.with(|_| ());
        drop(arc);
        other.join().unwrap();
        0
    }),
];

#[test]
fn counts_of_pointers_order_only_what_they_should() {
    check(COUNTS, ALL);
}
