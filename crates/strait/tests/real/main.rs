//! The primitives outside of a check, where they run on threads of the operating system. Miri can follow
//! these tests, since no stack is switched (`cargo xtask sanitize miri`): it looks for undefined behaviour
//! and data races in the unsafe code of the locks, the wakers and the scoped threads.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use strait::channel;
use strait::cref::CRef;
use strait::future;
use strait::mvar::MVar;
use strait::stm::{TVar, atomically, check};
use strait::sync::atomic::{AtomicUsize, Ordering};
use strait::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard, Weak, mpsc,
};
use strait::thread;

/// So many threads, and so many rounds of each one: few, because Miri is slow.
const THREADS: usize = 3;
const ROUNDS: usize = 4;

fn on_threads(code: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        let code = &code;
        let threads: Vec<_> =
            (0..THREADS).map(|number| scope.spawn(move || code(number))).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("the thread does not panic"));
    });
}

#[test]
fn a_mutex_excludes() {
    let counter = Mutex::new(0);
    on_threads(|_| (0..ROUNDS).for_each(|_| *counter.lock().unwrap() += 1));
    assert!(counter.try_lock().is_ok());
    assert_eq!(counter.into_inner().unwrap(), THREADS * ROUNDS);
}

#[test]
fn a_panic_poisons_a_mutex() {
    let lock = Arc::new(Mutex::new(1));
    let theirs = lock.clone();
    let other = thread::spawn(move || {
        let _held = theirs.lock().unwrap();
        panic!("while it is held");
    });
    assert!(other.join().is_err());
    assert!(lock.is_poisoned());
    assert_eq!(*lock.lock().unwrap_err().into_inner(), 1);
}

#[test]
fn readers_share_and_writers_exclude() {
    let lock = RwLock::new((0, 0));
    on_threads(|number| {
        for _ in 0..ROUNDS {
            if number == 0 {
                let mut both = lock.write().unwrap();
                both.0 += 1;
                both.1 += 1;
                let read = RwLockWriteGuard::downgrade(both);
                assert_eq!(read.0, read.1);
            } else {
                let both = lock.read().unwrap();
                assert_eq!(both.0, both.1);
            }
        }
    });
    assert_eq!(lock.into_inner().unwrap(), (ROUNDS, ROUNDS));
}

#[test]
fn a_condition_variable_wakes_those_that_wait() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    on_threads(|number| {
        let mut now = turn.lock().unwrap();
        while *now != number {
            now = changed.wait(now).unwrap();
        }
        *now += 1;
        changed.notify_all();
    });
    assert_eq!(*turn.lock().unwrap(), THREADS);
}

#[test]
fn a_value_is_made_once() {
    static LAZY: LazyLock<String> = LazyLock::new_static(|| "lazy".to_owned());
    let (made, once, cell) = (AtomicUsize::new(0), Once::new(), OnceLock::new());
    on_threads(|number| {
        once.call_once(|| {
            made.fetch_add(1, Ordering::Relaxed);
        });
        let value = cell.get_or_init(|| {
            made.fetch_add(1, Ordering::Relaxed);
            format!("made by {number}")
        });
        assert_eq!(cell.wait(), value);
        assert_eq!(LAZY.as_str(), "lazy");
    });
    assert_eq!(made.into_inner(), 2);
    assert!(once.is_completed());
    assert!(cell.into_inner().unwrap().starts_with("made by"));
}

#[test]
fn a_barrier_has_one_leader() {
    let (barrier, leaders) = (Barrier::new(THREADS), AtomicUsize::new(0));
    on_threads(|_| {
        if barrier.wait().is_leader() {
            leaders.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(leaders.into_inner(), 1);
}

#[test]
fn the_last_arc_drops_the_value() {
    let shared = Arc::new(Mutex::new(vec![1]));
    let weak = Arc::downgrade(&shared);
    let others: Vec<_> = (0..THREADS)
        .map(|number| {
            let shared = shared.clone();
            thread::spawn(move || shared.lock().unwrap().push(number))
        })
        .collect();
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(Weak::upgrade(&weak).unwrap().lock().unwrap().len(), 1 + THREADS);
    drop(shared);
    assert!(weak.upgrade().is_none());
}

#[test]
fn channels_deliver_everything() {
    let (sender, receiver) = channel::bounded(1);
    let (other_sender, other_receiver) = mpsc::channel();
    let producer = thread::spawn(move || {
        for number in 0..ROUNDS {
            sender.send(number).unwrap();
            other_sender.send(number).unwrap();
        }
    });
    let received: Vec<usize> = receiver.iter().collect();
    assert_eq!(received, other_receiver.iter().collect::<Vec<_>>());
    assert_eq!(received.len(), ROUNDS);
    producer.join().unwrap();
}

#[test]
fn variables_beyond_std() {
    let (box_, sum, total) = (MVar::empty(), CRef::new(0), TVar::new(0));
    on_threads(|number| {
        if number == 0 {
            (1..THREADS).for_each(|value| box_.put(value));
        } else {
            let value = box_.take();
            sum.modify_cas(|old| (old + value, ()));
            atomically(|transaction| transaction.modify(&total, |old| old + value));
        }
    });
    let expected = (1..THREADS).sum::<usize>();
    assert_eq!(sum.read(), expected);
    assert_eq!(total.read(), expected);
    atomically(|transaction| {
        let value = transaction.read(&total)?;
        check(value == expected)
    });
}

/// Pending until it is told, by another thread, with its waker in a lock.
#[derive(Clone, Default)]
struct Signal(Arc<Mutex<(bool, Option<Waker>)>>);

impl Future for Signal {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().expect("nothing panics while it is held");
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

#[test]
fn tasks_are_woken() {
    let told = Signal::default();
    let theirs = told.clone();
    let teller = thread::spawn(move || {
        let waker = {
            let mut state = theirs.0.lock().unwrap();
            state.0 = true;
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake_by_ref();
        }
    });
    let waiting = future::spawn(told);
    let sum = future::block_on(async {
        future::yield_now().await;
        waiting.await;
        7
    });
    assert_eq!(sum, 7);
    teller.join().unwrap();
}
