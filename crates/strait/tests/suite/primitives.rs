//! Each primitive: what it gives under all schedules, and that the same code runs for real.

use std::sync::Arc;
use std::time::Duration;

use strait::channel::{Select, bounded, unbounded};
use strait::cref::CRef;
use strait::mvar::MVar;
use strait::sync::atomic::{AtomicUsize, Ordering};
use strait::sync::{Barrier, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use strait::{Builder, future, results, thread};

/// The results of a program under test; one of them must be what it gives for real.
pub(crate) fn check<T: strait::Value + Ord>(
    program: impl Fn() -> T + Send + Sync + Clone + 'static,
    expected: &[T],
) {
    let got: Vec<T> =
        results(program.clone()).into_iter().map(|result| result.expect("no failure")).collect();
    assert_eq!(got, expected);
    let real = program();
    assert!(expected.contains(&real), "for real it gave {real:?}");
}

#[test]
fn a_panic_poisons_a_mutex() {
    let program = || {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let panics = thread::spawn(move || {
            let _guard = theirs.lock();
            std::panic::resume_unwind(Box::new("no message"));
        });
        let early = mutex.lock().is_err();
        let failed = panics.join().is_err();
        (early, mutex.is_poisoned(), failed)
    };
    check(program, &[(false, true, true), (true, true, true)]);
}

#[test]
fn readers_share_and_writers_are_alone() {
    let program = || {
        let lock = Arc::new(RwLock::new(0));
        let inside = Arc::new(AtomicUsize::new(0));
        let read = |lock: Arc<RwLock<i32>>, inside: Arc<AtomicUsize>| {
            let guard = lock.read().unwrap();
            let before = inside.fetch_add(1, Ordering::SeqCst);
            inside.fetch_sub(1, Ordering::SeqCst);
            (*guard, before)
        };
        let (theirs, counter) = (lock.clone(), inside.clone());
        let reader = thread::spawn(move || read(theirs, counter));
        let theirs = lock.clone();
        let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
        let (_, mine) = read(lock.clone(), inside.clone());
        let (_, theirs) = reader.join().unwrap();
        writer.join().unwrap();
        assert!(lock.try_read().is_ok());
        mine + theirs
    };
    check(program, &[0, 1]);
}

#[test]
fn a_barrier_has_one_leader() {
    let program = || {
        let barrier = Arc::new(Barrier::new(3));
        let start = |_| {
            let barrier = barrier.clone();
            thread::spawn(move || usize::from(barrier.wait().is_leader()))
        };
        let handles: Vec<_> = (0..2).map(start).collect();
        let mine = usize::from(barrier.wait().is_leader());
        handles.into_iter().map(|handle| handle.join().unwrap()).sum::<usize>() + mine
    };
    check(program, &[1]);
}

#[test]
fn what_happens_once_happens_once() {
    let program = || {
        let shared = Arc::new((OnceLock::new(), Once::new(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.1.call_once(|| {
                theirs.2.fetch_add(1, Ordering::SeqCst);
            });
            *theirs.0.get_or_init(|| 1)
        });
        shared.1.call_once(|| {
            shared.2.fetch_add(1, Ordering::SeqCst);
        });
        let mine = *shared.0.get_or_init(|| 2);
        assert_eq!(mine, other.join().unwrap());
        assert_eq!(shared.2.load(Ordering::SeqCst), 1);
        mine
    };
    check(program, &[1, 2]);
    let lazy = || {
        let lazy = Arc::new(LazyLock::new(|| 5));
        let theirs = lazy.clone();
        let other = thread::spawn(move || **theirs);
        **lazy + other.join().unwrap()
    };
    check(lazy, &[10]);
}

#[test]
fn statics_begin_anew_in_each_execution() {
    static COUNTER: AtomicUsize = AtomicUsize::new_static(0);
    let outcomes = strait::check(|| {
        let other = thread::spawn(|| COUNTER.fetch_add(1, Ordering::SeqCst));
        let mine = COUNTER.fetch_add(1, Ordering::SeqCst);
        mine + other.join().unwrap()
    });
    assert_eq!((outcomes.executions, outcomes.values()), (2, vec![&1]));
}

#[test]
fn messages_of_two_senders_come_in_either_order() {
    let program = |bound: Option<usize>| {
        let (sender, receiver) = match bound {
            None => {
                let (sender, receiver) = mpsc::channel();
                (Some((sender.clone(), sender)), receiver)
            }
            Some(bound) => {
                let (sender, receiver) = mpsc::sync_channel(bound);
                let (one, other) = (sender.clone(), sender);
                let a = thread::spawn(move || one.send(1).unwrap());
                let b = thread::spawn(move || other.send(2).unwrap());
                let seen: Vec<i32> = receiver.iter().collect();
                a.join().unwrap();
                b.join().unwrap();
                return seen;
            }
        };
        let (one, other) = sender.unwrap();
        let a = thread::spawn(move || one.send(1).unwrap());
        let b = thread::spawn(move || other.send(2).unwrap());
        let seen: Vec<i32> = receiver.iter().collect();
        a.join().unwrap();
        b.join().unwrap();
        seen
    };
    for bound in [None, Some(2), Some(1), Some(0)] {
        check(move || program(bound), &[vec![1, 2], vec![2, 1]]);
    }
}

#[test]
fn a_full_channel_refuses_and_what_it_holds_is_received_in_time() {
    let program = || {
        let (sender, receiver) = mpsc::sync_channel(1);
        let theirs = sender.clone();
        let other = thread::spawn(move || theirs.try_send(1).is_ok());
        let mine = sender.try_send(2).is_ok();
        let theirs = other.join().unwrap();
        drop(sender);
        let got = receiver.recv_timeout(Duration::from_secs(5)).ok();
        (mine, theirs, got)
    };
    check(program, &[(false, true, Some(1)), (true, false, Some(2))]);
}

#[test]
fn a_select_takes_whatever_is_ready() {
    let program = || {
        let ((first, from_first), (second, from_second)) = (bounded(0), unbounded());
        let a = thread::spawn(move || first.send(1).is_ok());
        let b = thread::spawn(move || second.send(2).is_ok());
        let mut select = Select::new();
        let one = select.recv(&from_first);
        select.recv(&from_second);
        let chosen = select.select();
        let got = if chosen.index() == one {
            chosen.recv(&from_first).unwrap()
        } else {
            chosen.recv(&from_second).unwrap()
        };
        drop(from_first);
        drop(from_second);
        (got, a.join().unwrap(), b.join().is_ok())
    };
    check(program, &[(1, true, true), (2, false, true)]);
}

#[test]
fn selects_meet_each_other() {
    let program = || {
        let ((to_b, from_a), (to_a, from_b)) = (bounded::<u8>(0), bounded::<u8>(0));
        let b = thread::spawn(move || {
            let mut select = Select::new();
            let sends = select.send(&to_a);
            select.recv(&from_a);
            let chosen = select.select();
            if chosen.index() == sends {
                chosen.send(&to_a, 1).unwrap();
                10
            } else {
                chosen.recv(&from_a).unwrap()
            }
        });
        let mut select = Select::new();
        let sends = select.send(&to_b);
        select.recv(&from_b);
        let chosen = select.select();
        let mine = if chosen.index() == sends {
            chosen.send(&to_b, 2).unwrap();
            20
        } else {
            chosen.recv(&from_b).unwrap()
        };
        (mine, b.join().unwrap())
    };
    check(program, &[(1, 10), (20, 2)]);
}

#[test]
fn an_mvar_is_full_or_empty() {
    let program = || {
        let mvar = Arc::new(MVar::empty());
        let start = |value: u8| {
            let mvar = mvar.clone();
            thread::spawn(move || mvar.put(value))
        };
        let handles: Vec<_> = (1..=2).map(start).collect();
        let first = mvar.read();
        let seen = (first, mvar.take(), mvar.take());
        assert_eq!(mvar.try_take(), None);
        assert_eq!(mvar.try_put(9), Ok(()));
        assert_eq!(mvar.try_put(9), Err(9));
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        seen
    };
    check(program, &[(1, 1, 2), (2, 2, 1)]);
}

#[test]
fn two_takes_of_one_value_deadlock() {
    let got = results(|| {
        let mvar = Arc::new(MVar::new(1));
        let theirs = mvar.clone();
        let other = thread::spawn(move || theirs.take());
        mvar.take() + other.join().unwrap()
    });
    assert!(got.iter().all(Result::is_err));
}

#[test]
fn a_ticket_is_good_until_the_next_write() {
    let program = || {
        let cref = Arc::new(CRef::new(0));
        let theirs = cref.clone();
        let other = thread::spawn(move || theirs.modify(|value| (value + 10, ())));
        let ticket = cref.read_for_cas();
        let (done, now) = cref.cas(&ticket, ticket.peek() + 1);
        assert_eq!(done, *now.peek() == ticket.peek() + 1);
        other.join().unwrap();
        (done, cref.read())
    };
    check(program, &[(false, 10), (true, 11)]);
}

#[test]
fn writes_of_a_cref_are_seen_late() {
    let program = || {
        let shared = Arc::new((CRef::new(0), CRef::new(0)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.1.write(1);
            theirs.0.read()
        });
        shared.0.write(1);
        let mine = shared.1.read();
        (mine, other.join().unwrap())
    };
    check(program, &[(0, 0), (0, 1), (1, 0), (1, 1)]);
}

#[test]
fn scoped_threads_borrow() {
    let program = || {
        let (counter, data) = (AtomicUsize::new(0), [1, 2, 3]);
        thread::scope(|scope| {
            scope.spawn(|| counter.fetch_add(data[0], Ordering::SeqCst));
            let second = scope.spawn(|| data[1] + data[2] + counter.load(Ordering::SeqCst) / 100);
            counter.fetch_add(second.join().unwrap(), Ordering::SeqCst);
        });
        counter.load(Ordering::SeqCst)
    };
    check(program, &[6]);
}

#[test]
fn parking_waits_for_a_token() {
    let program = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let (theirs, me) = (flag.clone(), thread::current());
        let other = thread::spawn(move || {
            theirs.store(1, Ordering::SeqCst);
            me.unpark();
        });
        thread::park();
        let seen = flag.load(Ordering::SeqCst);
        other.join().unwrap();
        seen
    };
    check(program, &[1]);
}

#[test]
fn whether_a_thread_is_over_depends() {
    let program = || {
        let other = thread::spawn(|| ());
        let early = other.is_finished();
        other.join().unwrap();
        early
    };
    check(program, &[false, true]);
}

#[test]
fn tasks_wake_each_other() {
    let program = || {
        future::block_on(async {
            let one = future::spawn(async {
                future::yield_now().await;
                1
            });
            let two = future::spawn(async { 2 });
            one.await + two.await
        })
    };
    check(program, &[3]);
}

strait::thread_local! {
    static COUNT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    static NAMES: std::cell::RefCell<Vec<u32>> = std::cell::RefCell::new(Vec::new());
}

#[test]
fn each_thread_has_its_own_thread_local_values() {
    let program = || {
        let count = |times: u32| {
            for number in 0..times {
                COUNT.set(COUNT.get() + 1);
                NAMES.with_borrow_mut(|names| names.push(number));
                thread::yield_now();
            }
            (COUNT.get(), NAMES.with_borrow(Vec::len))
        };
        let other = thread::spawn(move || count(2));
        let mine = count(1);
        (mine, other.join().unwrap())
    };
    assert_eq!(strait::check(program).values(), [&((1, 1), (2, 2))]);
    // For real they are those of std.
    assert_eq!(program(), ((1, 1), (2, 2)));
    assert_eq!(COUNT.get(), 1);
}

#[test]
fn a_thread_local_value_is_dropped_at_the_end_of_its_thread() {
    struct Flag(Arc<AtomicUsize>);
    impl Drop for Flag {
        fn drop(&mut self) {
            self.0.store(1, Ordering::SeqCst);
        }
    }
    strait::thread_local! {
        static KEPT: std::cell::RefCell<Option<Flag>> = std::cell::RefCell::new(None);
    }
    let program = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let keep = move || KEPT.with(|kept| *kept.borrow_mut() = Some(Flag(theirs)));
        thread::spawn(keep).join().unwrap();
        flag.load(Ordering::SeqCst)
    };
    assert_eq!(strait::check(program).values(), [&1]);
}

#[test]
fn whether_a_weak_pointer_leads_anywhere_depends() {
    use strait::sync::Arc as Counted;
    check(
        || {
            let value = Counted::new(1);
            let weak = Counted::downgrade(&value);
            let other = thread::spawn(move || drop(value));
            let seen = weak.upgrade().map(|value| *value);
            other.join().unwrap();
            (seen, weak.upgrade().is_some())
        },
        &[(None, false), (Some(1), false)],
    );
}

#[test]
fn how_many_pointers_there_are_depends() {
    use strait::sync::Arc as Counted;
    check(
        || {
            let value = Counted::new(1);
            let theirs = value.clone();
            let other = thread::spawn(move || drop(theirs));
            let count = Counted::strong_count(&value);
            other.join().unwrap();
            (count, Counted::try_unwrap(value).is_ok())
        },
        &[(1, true), (2, true)],
    );
}

#[test]
#[allow(unsafe_code, reason = "accesses to the cell are checked, which is what this is about")]
fn the_last_owner_sees_what_the_others_wrote() {
    use strait::cell::UnsafeCell;
    use strait::sync::Arc as Counted;
    struct Slot(UnsafeCell<u32>);
    // SAFETY: each access is checked.
    unsafe impl Sync for Slot {}
    let program = || {
        let slot = Counted::new(Slot(UnsafeCell::new(0)));
        let theirs = slot.clone();
        let other = thread::spawn(move || {
            // SAFETY: no other thread accesses the cell, as the check shows.
            theirs.0.with_mut(|value| unsafe { *value = 1 });
        });
        let last = Counted::into_inner(slot).map(|slot| slot.0.into_inner());
        other.join().unwrap();
        last
    };
    let mut values: Vec<Option<u32>> =
        strait::check(program).values().into_iter().copied().collect();
    values.sort_unstable();
    assert_eq!(values, [None, Some(1)]);
}

#[test]
fn the_number_of_threads_at_once_is_what_the_test_says() {
    let parallelism = || thread::available_parallelism().unwrap().get();
    assert_eq!(strait::check(parallelism).values(), [&2]);
    let eight = Builder::new().parallelism(std::num::NonZero::new(8).unwrap());
    assert_eq!(eight.check(parallelism).values(), [&8]);
}

#[test]
fn a_result_that_nobody_joins_for_is_dropped_with_its_handle() {
    let program = |joins: bool| {
        move || {
            let (sender, receiver) = mpsc::channel::<()>();
            // The thread gives the sender back: the channel ends when the result does.
            let handle = thread::spawn(move || sender);
            if joins {
                drop(handle.join())
            } else {
                drop(handle)
            }
            receiver.recv().is_err()
        }
    };
    // The thread itself does nothing.
    let builder = Builder::new().allow_uncontrolled();
    assert_eq!(builder.check(program(true)).values(), [&true]);
    assert_eq!(builder.check(program(false)).values(), [&true]);
}

#[test]
fn sleeping_long_enough_is_no_synchronisation() {
    let program = || {
        let done = Arc::new(AtomicUsize::new(0));
        let theirs = done.clone();
        let other = thread::spawn(move || theirs.store(1, Ordering::SeqCst));
        thread::sleep(Duration::from_millis(20));
        let seen = done.load(Ordering::SeqCst);
        other.join().unwrap();
        seen
    };
    check(program, &[0, 1]);
}
