//! Data races by the rules of C++20 (sections 6.9.2 and 33.5): one row per program, with whether it has
//! a race. Each runs under every memory model.

use std::sync::Arc as StdArc;

use strait::cell::UnsafeCell;
use strait::sync::Arc;
use strait::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};
use strait::{Builder, Model, Outcome, thread};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

struct Shared(UnsafeCell<usize>);

// SAFETY: that its accesses are ordered is what the tests are about.
#[allow(unsafe_code, reason = "the cell is shared between threads on purpose")]
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Self {
        Shared(UnsafeCell::new(0))
    }

    #[allow(unsafe_code, reason = "races are reported before they happen for real")]
    fn write(&self, value: usize) {
        self.0.with_mut(|pointer| unsafe { *pointer = value });
    }

    #[allow(unsafe_code, reason = "races are reported before they happen for real")]
    fn read(&self) -> usize {
        self.0.with(|pointer| unsafe { *pointer })
    }
}

/// A name, a program, and whether it has a race.
type Row = (&'static str, fn() -> usize, bool);

/// The first race that is found, under each memory model.
fn race(program: fn() -> usize) -> Option<String> {
    let race = |model| {
        let outcomes = Builder::new().model(model).outcomes(program);
        assert!(outcomes.is_exhaustive(), "{outcomes}");
        let fault = outcomes.found.into_iter().find_map(|found| match found.outcome {
            Outcome::Fault(fault) => Some(fault),
            Outcome::Value(_) => None,
            other => panic!("{other}"),
        });
        fault.filter(|fault| fault.starts_with("data race on "))
    };
    let races = [Model::Sc, Model::Tso, Model::Pso].map(race);
    let found = races.iter().flatten().count();
    assert!(found == 0 || found == 3, "{races:?}");
    races.into_iter().flatten().next()
}

/// Message passing: what stands before and after the store of the flag and the load of it.
fn message(store: fn(&AtomicUsize), load: fn(&AtomicUsize) -> usize) -> usize {
    let shared = Arc::new((Shared::new(), AtomicUsize::new(0)));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        theirs.0.write(1);
        store(&theirs.1);
    });
    let seen = if load(&shared.1) == 1 { shared.0.read() } else { 2 };
    other.join().unwrap();
    seen
}

macro_rules! passing {
    ($store:expr, $load:expr) => {
        || message($store, $load)
    };
}

#[test]
fn fences_order_what_they_should() {
    let rows: [Row; 10] = [
        ("release, acquire", passing!(|f| f.store(1, Release), |f| f.load(Acquire)), false),
        ("relaxed, acquire", passing!(|f| f.store(1, Relaxed), |f| f.load(Acquire)), true),
        (
            "release fence, acquire",
            passing!(
                |f| {
                    fence(Release);
                    f.store(1, Relaxed)
                },
                |f| f.load(Acquire)
            ),
            false,
        ),
        (
            "release, acquire fence",
            passing!(|f| f.store(1, Release), |f| {
                let seen = f.load(Relaxed);
                fence(Acquire);
                seen
            }),
            false,
        ),
        (
            "release fence, acquire fence",
            passing!(
                |f| {
                    fence(Release);
                    f.store(1, Relaxed)
                },
                |f| {
                    let seen = f.load(Relaxed);
                    fence(Acquire);
                    seen
                }
            ),
            false,
        ),
        (
            "two SeqCst fences",
            passing!(
                |f| {
                    fence(SeqCst);
                    f.store(1, Relaxed)
                },
                |f| {
                    let seen = f.load(Relaxed);
                    fence(SeqCst);
                    seen
                }
            ),
            false,
        ),
        (
            "acquire fence on the wrong side",
            passing!(
                |f| {
                    fence(Acquire);
                    f.store(1, Relaxed)
                },
                |f| f.load(Acquire)
            ),
            true,
        ),
        (
            "acquire fence before the load",
            passing!(|f| f.store(1, Release), |f| {
                fence(Acquire);
                f.load(Relaxed)
            }),
            true,
        ),
        (
            "release fence after the store",
            passing!(
                |f| {
                    f.store(1, Relaxed);
                    fence(Release);
                },
                |f| f.load(Acquire)
            ),
            true,
        ),
        (
            "a relaxed store ends a release sequence",
            passing!(
                |f| {
                    f.store(2, Release);
                    f.store(1, Relaxed)
                },
                |f| f.load(Acquire)
            ),
            true,
        ),
    ];
    for (name, program, races) in rows {
        assert_eq!(race(program).is_some(), races, "{name}");
    }
}

/// Counts references as `std::sync::Arc` does; the last owner writes.
fn counted(order: Ordering, last: fn()) -> usize {
    let shared = Arc::new((Shared::new(), AtomicUsize::new(2)));
    let theirs = shared.clone();
    let give_up = move |shared: &(Shared, AtomicUsize)| {
        shared.0.read();
        if shared.1.fetch_sub(1, order) == 1 {
            last();
            shared.0.write(1);
        }
    };
    let other = thread::spawn(move || give_up(&theirs));
    give_up(&shared);
    other.join().unwrap();
    0
}

#[test]
fn the_last_owner_is_alone() {
    let rows: [Row; 5] = [
        ("AcqRel", || counted(AcqRel, || ()), false),
        ("Release, fence", || counted(Release, || fence(Acquire)), false),
        ("Release alone", || counted(Release, || ()), true),
        ("Relaxed, fence", || counted(Relaxed, || fence(Acquire)), true),
        ("Acquire", || counted(Acquire, || ()), true),
    ];
    for (name, program, races) in rows {
        assert_eq!(race(program).is_some(), races, "{name}");
    }
}

struct Node {
    cell: Shared,
    atomic: AtomicUsize,
}

/// Publishes a fresh node; the other thread looks into it.
#[allow(
    unsafe_code,
    reason = "the node is freed at the end, by the thread that has joined the other"
)]
fn publish(store: Ordering, load: Ordering, look: fn(&Node) -> usize) -> usize {
    let head = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
    let theirs = head.clone();
    let other = thread::spawn(move || {
        let node = Node { cell: Shared::new(), atomic: AtomicUsize::new(7) };
        theirs.store(Box::into_raw(Box::new(node)), store);
    });
    let node = head.load(load);
    // SAFETY: the node is freed below.
    let seen = unsafe { node.as_ref() }.map_or(0, look);
    other.join().unwrap();
    // SAFETY: it comes from a box, and only this thread is left.
    drop(unsafe { Box::from_raw(head.load(Relaxed)) });
    seen
}

#[test]
fn initial_values_are_writes() {
    let rows: [Row; 6] = [
        ("cell, released", || publish(Release, Acquire, |node| node.cell.read()), false),
        ("cell, relaxed", || publish(Relaxed, Acquire, |node| node.cell.read()), true),
        ("cell, not acquired", || publish(Release, Relaxed, |node| node.cell.read()), true),
        ("atomic, released", || publish(Release, Acquire, |node| node.atomic.load(Relaxed)), false),
        ("atomic, relaxed", || publish(Relaxed, Acquire, |node| node.atomic.load(Relaxed)), true),
        ("atomic swap", || publish(Relaxed, Relaxed, |node| node.atomic.swap(1, SeqCst)), true),
    ];
    for (name, program, races) in rows {
        assert_eq!(race(program).is_some(), races, "{name}");
    }
}

struct WritesAtEnd(Shared);

impl Drop for WritesAtEnd {
    fn drop(&mut self) {
        self.0.write(2);
    }
}

fn read_by_two(
    shared: impl std::ops::Deref<Target = WritesAtEnd> + Clone + Send + 'static,
) -> usize {
    let theirs = shared.clone();
    let other = thread::spawn(move || theirs.0.read());
    let seen = shared.0.read();
    drop(shared);
    other.join().unwrap();
    seen
}

#[test]
fn the_arc_of_std_is_refused_with_a_sentence() {
    assert_eq!(race(|| read_by_two(Arc::new(WritesAtEnd(Shared::new())))), None);
    let refused = race(|| read_by_two(StdArc::new(WritesAtEnd(Shared::new()))));
    assert!(refused.is_some_and(|fault| fault.ends_with("Take `strait::sync::Arc`.")));
}
