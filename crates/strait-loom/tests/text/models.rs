// Included twice by `same_text.rs`: `loom` is loom there, and `strait-loom`. Everything that loom's public
// interface has is used once, and each model must hold, or fail, in both.

use loom::cell::{Cell, UnsafeCell};
use loom::future::{AtomicWaker, block_on};
use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use loom::sync::{Arc, Condvar, Mutex, Notify, RwLock, mpsc};
use loom::{lazy_static, thread, thread_local};

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// Does the model fail?
fn fails(program: fn()) -> bool {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let failed = std::panic::catch_unwind(|| loom::model(program)).is_err();
    std::panic::set_hook(hook);
    failed
}

#[test]
fn a_counter_counts() {
    loom::model(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let theirs = counter.clone();
        let other = thread::spawn(move || theirs.fetch_add(1, Relaxed));
        counter.fetch_add(1, Relaxed);
        other.join().unwrap();
        assert_eq!(counter.load(Relaxed), 2);
    });
}

#[test]
fn threads_need_not_send_what_they_capture() {
    loom::model(|| {
        let local = Rc::new(5);
        let other = thread::spawn(move || *local);
        assert_eq!(other.join().unwrap(), 5);
        let named = thread::Builder::new().name("other".to_owned()).stack_size(1 << 16);
        let named = named.spawn(|| thread::current().name().map(str::to_owned)).unwrap();
        assert_eq!(named.thread().name(), Some("other"));
        assert_eq!(named.join().unwrap().as_deref(), Some("other"));
    });
}

#[test]
fn raw_pointers_keep_the_count() {
    loom::model(|| {
        let first = Arc::new(AtomicUsize::new(7));
        let raw = Arc::into_raw(first.clone());
        // SAFETY: the pointer comes from `into_raw`, and each count is taken down once.
        #[allow(unsafe_code, reason = "raw pointers are what is tested")]
        let second = unsafe {
            Arc::increment_strong_count(raw);
            Arc::decrement_strong_count(raw);
            Arc::from_raw(raw)
        };
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(Arc::strong_count(&first), 2);
        let other = thread::spawn(move || second.load(Relaxed));
        assert_eq!(other.join().unwrap(), 7);
        assert_eq!(Arc::try_unwrap(first).unwrap().into_inner(), 7);
        let pinned = Arc::pin(3);
        assert_eq!(*pinned, 3);
        let _unsized: Arc<[u8]> = Arc::from_std(std::sync::Arc::from([1_u8, 2]));
    });
}

struct Shared(UnsafeCell<usize>, AtomicBool);

// SAFETY: accesses that are not ordered fail the model, and are not performed.
#[allow(unsafe_code, reason = "the cell is shared between threads on purpose")]
unsafe impl Sync for Shared {}

#[allow(unsafe_code, reason = "accesses through the pointers of a cell are what is tested")]
fn message(store: Ordering) {
    let shared = Arc::new(Shared(UnsafeCell::new(0), AtomicBool::new(false)));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        // SAFETY: the flag says that the value is there.
        theirs.0.with_mut(|pointer| unsafe { *pointer = 1 });
        theirs.1.store(true, store);
    });
    if shared.1.load(Acquire) {
        // SAFETY: as above.
        assert_eq!(unsafe { *shared.0.get().deref() }, 1);
        assert_eq!(shared.0.get_mut().with(|pointer| unsafe { *pointer }), 1);
    }
    other.join().unwrap();
}

#[test]
fn races_fail() {
    loom::model(|| message(Release));
    assert!(fails(|| message(Relaxed)));
}

#[test]
fn threads_that_never_end_are_deadlocks() {
    assert!(fails(|| drop(thread::spawn(thread::park))));
    assert!(fails(|| drop(thread::spawn(|| panic!("not joined")))));
    assert!(fails(|| drop(thread::spawn(|| panic!("joined")).join())));
    loom::model(|| {
        let parked = thread::spawn(thread::park);
        parked.thread().unpark();
        parked.join().unwrap();
    });
}

#[test]
fn locks_conditions_and_messages() {
    loom::model(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new(), RwLock::new(0)));
        let theirs = shared.clone();
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
            *theirs.2.write().unwrap() += 1;
            sender.send(4).unwrap();
        });
        let mut ready = shared.0.lock().unwrap();
        while !*ready {
            ready = shared.1.wait(ready).unwrap();
        }
        drop(ready);
        assert!(*shared.2.read().unwrap() <= 1);
        assert_eq!(receiver.recv(), Ok(4));
        other.join().unwrap();
    });
}

#[test]
fn a_notification_is_kept() {
    loom::model(|| {
        let notify = Arc::new(Notify::new());
        let flag = Arc::new(AtomicBool::new(false));
        let (theirs, their_flag) = (notify.clone(), flag.clone());
        let other = thread::spawn(move || {
            their_flag.store(true, Release);
            theirs.notify();
        });
        while !flag.load(Acquire) {
            notify.wait();
        }
        other.join().unwrap();
    });
}

#[test]
fn tasks_are_woken() {
    loom::model(|| {
        let shared = Arc::new((AtomicWaker::new(), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.1.store(true, Release);
            theirs.0.wake();
        });
        block_on(poll_fn(|context| {
            shared.0.register_by_ref(context.waker());
            if shared.1.load(Acquire) { Poll::Ready(()) } else { Poll::Pending }
        }));
        other.join().unwrap();
    });
}

/// A future that takes a second poll for a sign that it is ready.
#[test]
fn tasks_are_polled_without_a_reason() {
    assert!(fails(|| {
        let shared = Arc::new((AtomicWaker::new(), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.1.store(true, Release);
            theirs.0.wake();
        });
        let mut polled = false;
        block_on(poll_fn(|context| {
            shared.0.register_by_ref(context.waker());
            if shared.1.load(Acquire) || polled {
                return Poll::Ready(());
            }
            polled = true;
            Poll::Pending
        }));
        assert!(shared.1.load(Acquire));
        other.join().unwrap();
    }));
}

lazy_static! {
    static ref FIRST: AtomicUsize = AtomicUsize::new(1);
    /// With a visibility.
    pub(crate) static ref SECOND: Arc<AtomicUsize> = Arc::new(AtomicUsize::new(2));
}

thread_local! {
    static LOCAL: Cell<usize> = Cell::new(3);
}

#[test]
fn statics_begin_anew_in_each_execution() {
    loom::model(|| {
        let other = thread::spawn(|| {
            LOCAL.with(|local| local.set(local.get() + 1));
            FIRST.fetch_add(1, Relaxed) + SECOND.load(Relaxed)
        });
        assert!(FIRST.load(Relaxed) <= 2);
        assert_eq!(LOCAL.try_with(Cell::get).unwrap(), 3);
        assert_eq!(other.join().unwrap(), 3);
    });
}

#[test]
#[allow(unsafe_code, deprecated, reason = "the whole interface of loom's atomics is used")]
fn atomics_have_what_loom_has() {
    loom::model(|| {
        let mut atomic = AtomicU64::new(1);
        // SAFETY: there is no other thread.
        assert_eq!(unsafe { atomic.unsync_load() }, 1);
        atomic.with_mut(|value| *value += 1);
        assert_eq!(atomic.compare_and_swap(2, 3, SeqCst), 2);
        assert_eq!(atomic.fetch_update(AcqRel, Acquire, |value| value.checked_add(1)), Ok(3));
        assert_eq!(atomic.fetch_max(9, Relaxed), 4);
        assert_eq!(AtomicU8::from(5).into_inner(), 5);
        assert!(AtomicPtr::<u8>::default().load(Relaxed).is_null());
        fence(SeqCst);
        loom::stop_exploring();
        loom::explore();
        loom::sync::atomic::spin_loop_hint();
    });
}

#[test]
fn builders_have_bounds() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(1);
    builder.max_branches = 10_000;
    builder.max_threads = 3;
    builder.max_permutations = Some(100);
    builder.max_duration = Some(std::time::Duration::from_secs(5));
    builder.check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            loom::hint::spin_loop();
        }
        other.join().unwrap();
    });
}
