//! A user changes only imports: the same text is compiled with the names of `std` and with ours, runs
//! for real with both, and under test, and gives the same.

/// Programs over as much of `std::sync` and `std::thread` as there is, each of which always gives the
/// same result.
macro_rules! programs {
    () => {
        pub(super) const ALL: [fn() -> Vec<u64>; 10] =
            [locks, sharing, notices, once, counts, channels, atomics, threads, scopes, locals];

        fn locks() -> Vec<u64> {
            let mut mutex: Mutex<u64> = Mutex::from(1);
            *mutex.get_mut().unwrap() += 1;
            let mutex = Arc::new(mutex);
            let theirs = Arc::clone(&mutex);
            let panics = thread::spawn(move || {
                let _guard = theirs.lock().unwrap();
                std::panic::resume_unwind(Box::new(()));
            });
            let panicked = panics.join().is_err();
            let poisoned = mutex.is_poisoned() && mutex.lock().is_err();
            let tried = matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_)));
            mutex.clear_poison();
            let guard = mutex.lock().unwrap();
            let busy = matches!(mutex.try_lock(), Err(TryLockError::WouldBlock));
            let value = *guard;
            drop(guard);
            let all = [panicked, poisoned, tried, busy].map(u64::from);
            let left = Arc::try_unwrap(mutex).unwrap().into_inner().unwrap();
            [&all[..], &[value, left]].concat()
        }

        fn sharing() -> Vec<u64> {
            let mut lock: RwLock<u64> = RwLock::from(3);
            *lock.get_mut().unwrap() += 1;
            let lock = Arc::new(lock);
            let first = lock.read().unwrap();
            let second = lock.try_read().unwrap();
            let busy = u64::from(lock.try_write().is_err());
            let sum = *first + *second;
            drop((first, second));
            let mut writer = lock.write().unwrap();
            *writer += 1;
            let theirs = lock.clone();
            let reads = thread::spawn(move || *theirs.read().unwrap());
            let reader = RwLockWriteGuard::downgrade(writer);
            let read = reads.join().unwrap();
            let shown = format!("{reader} {reader:?}").len() as u64;
            drop(reader);
            lock.clear_poison();
            vec![busy, sum, read, shown, u64::from(lock.is_poisoned())]
        }

        fn notices() -> Vec<u64> {
            let shared = Arc::new((Mutex::new(0u64), Condvar::new()));
            let theirs = shared.clone();
            let other = thread::spawn(move || {
                for value in 1..=2 {
                    *theirs.0.lock().unwrap() = value;
                    theirs.1.notify_all();
                }
            });
            let guard = shared.0.lock().unwrap();
            let guard = shared.1.wait_while(guard, |value| *value < 2).unwrap();
            let time = Duration::from_millis(1);
            let (guard, over) = shared.1.wait_timeout_while(guard, time, |_| false).unwrap();
            let seen = *guard;
            drop(guard);
            other.join().unwrap();
            let barrier = Arc::new(Barrier::new(2));
            let theirs = barrier.clone();
            let other = thread::spawn(move || theirs.wait().is_leader());
            let leads = barrier.wait().is_leader();
            vec![seen, u64::from(over.timed_out()), u64::from(leads != other.join().unwrap())]
        }

        fn once() -> Vec<u64> {
            let cell = Arc::new(OnceLock::new());
            let theirs = cell.clone();
            let other = thread::spawn(move || *theirs.wait() + 1);
            let set = cell.set(4u64).is_ok();
            let again = cell.set(5).is_err();
            let waited = other.join().unwrap();
            let mut copy: OnceLock<u64> = (*cell).clone();
            let equal = copy == *cell;
            let taken = copy.take();
            let happens = Once::new();
            happens.call_once(|| ());
            happens.call_once_force(|_| unreachable!());
            let lazy: LazyLock<u64> = LazyLock::new(|| 6);
            let made: LazyLock<u64> = LazyLock::default();
            let all = [set, again, equal, copy.get().is_none(), happens.is_completed()];
            let all = all.map(u64::from);
            [&all[..], &[waited, taken.unwrap(), *lazy, *made, *cell.get_or_init(|| 9)]].concat()
        }

        fn counts() -> Vec<u64> {
            struct Node {
                me: Weak<Node>,
                value: u64,
            }
            let node = Arc::new_cyclic(|me: &Weak<Node>| Node { me: me.clone(), value: 7 });
            let again = node.me.upgrade().unwrap();
            let same = Arc::ptr_eq(&node, &again);
            let pointers = [Arc::strong_count(&node), Arc::weak_count(&node)].map(|n| n as u64);
            let weak = Arc::downgrade(&again);
            drop((node, again));
            let gone = weak.upgrade().is_none() && weak.strong_count() == 0;
            let mut copied = Arc::new(1u64);
            let kept = copied.clone();
            *Arc::make_mut(&mut copied) += 1;
            let alone = Arc::get_mut(&mut copied).is_some();
            let text: Arc<str> = Arc::from("four");
            let list: Arc<[u64]> = (0..3).collect();
            let order = kept < copied && kept == Arc::new(1);
            let flags = [same, gone, alone, order].map(u64::from);
            let rest = [text.len() as u64, list.iter().sum(), Arc::unwrap_or_clone(copied), *kept];
            let _ = weak.upgrade().map(|node| node.value);
            [&flags[..], &pointers, &rest].concat()
        }

        fn channels() -> Vec<u64> {
            let (sender, receiver) = mpsc::channel();
            let another = sender.clone();
            let other = thread::spawn(move || (1..=3).for_each(|n| another.send(n).unwrap()));
            other.join().unwrap();
            sender.send(4).unwrap();
            let tried: u64 = receiver.try_iter().take(2).sum();
            let third = receiver.recv().unwrap();
            drop(sender);
            let rest: u64 = receiver.into_iter().sum();
            let (sender, receiver) = mpsc::sync_channel(1);
            sender.send(5).unwrap();
            let full = u64::from(matches!(sender.try_send(6), Err(mpsc::TrySendError::Full(6))));
            let got: u64 = receiver.iter().next().unwrap();
            let nothing = u64::from(receiver.try_recv() == Err(mpsc::TryRecvError::Empty));
            let late = u64::from(receiver.recv_timeout(Duration::from_millis(1)).is_err());
            drop(receiver);
            let back = sender.send(7).unwrap_err().0;
            let (sender, receiver) = mpsc::sync_channel(0);
            let other = thread::spawn(move || sender.send(8u64).is_ok());
            let met = receiver.recv().unwrap() + u64::from(other.join().unwrap());
            vec![tried, third, rest, full, got, nothing, late, back, met]
        }

        fn atomics() -> Vec<u64> {
            let order = Ordering::SeqCst;
            let number = AtomicU64::from(6);
            let olds = [
                number.fetch_add(1, order),
                number.fetch_sub(2, order),
                number.fetch_and(6, order),
                number.fetch_or(3, order),
                number.fetch_xor(1, order),
                number.fetch_nand(2, order),
                number.fetch_max(1, order),
                number.fetch_min(9, order),
                number.swap(2, order),
                number.compare_exchange(2, 3, order, Ordering::Relaxed).unwrap(),
                number.compare_exchange(2, 4, order, order).unwrap_err(),
                number.fetch_update(order, order, |old| old.checked_mul(2)).unwrap(),
                number.load(order),
            ];
            fence(order);
            let flag = AtomicBool::from(false);
            let flags = [
                flag.fetch_not(order),
                flag.fetch_or(false, order),
                flag.fetch_nand(true, order),
                flag.into_inner(),
            ];
            let mut place = 1u64;
            let pointer = AtomicPtr::new(&raw mut place);
            let null = pointer.swap(std::ptr::null_mut(), order);
            let flags = flags.map(u64::from);
            let pointers = [u64::from(null.is_null()), u64::from(pointer.into_inner().is_null())];
            [&olds[..], &flags, &pointers].concat()
        }

        fn threads() -> Vec<u64> {
            let named = thread::Builder::new().name("named".to_owned()).stack_size(1 << 20);
            let other = named.spawn(|| {
                thread::park();
                thread::current().name().map_or(0, str::len) as u64
            });
            let other = other.unwrap();
            let differs = u64::from(other.thread().id() != thread::current().id());
            other.thread().unpark();
            thread::yield_now();
            thread::sleep(Duration::from_millis(1));
            thread::park_timeout(Duration::from_millis(1));
            let length = other.join().unwrap();
            let waiting = thread::spawn(|| ());
            while !waiting.is_finished() {
                thread::yield_now();
            }
            let panics = thread::spawn(|| std::panic::resume_unwind(Box::new(3u64)));
            let payload = *panics.join().unwrap_err().downcast::<u64>().unwrap();
            let many = u64::from(thread::available_parallelism().is_ok());
            vec![differs, length, payload, many, u64::from(thread::panicking())]
        }

        fn scopes() -> Vec<u64> {
            let (mut own, shared) = (vec![1u64], Mutex::new(0));
            let got = thread::scope(|scope| {
                let pushes = scope.spawn(|| own.push(2));
                let adds = scope.spawn(|| *shared.lock().unwrap() += 5);
                let named = thread::Builder::new().name("scoped".to_owned());
                let named = named.spawn_scoped(scope, || 7).unwrap();
                adds.join().unwrap();
                pushes.join().unwrap();
                named.join().unwrap()
            });
            own.extend([got, shared.into_inner().unwrap()]);
            own
        }

        thread_local! {
            static CELL: std::cell::Cell<u64> = const { std::cell::Cell::new(1) };
            static LIST: std::cell::RefCell<Vec<u64>> = std::cell::RefCell::new(vec![2]);
        }

        fn locals() -> Vec<u64> {
            let old = CELL.replace(3);
            LIST.with_borrow_mut(|list| list.push(old));
            let theirs = thread::spawn(|| CELL.get() + LIST.with_borrow(Vec::len) as u64);
            let theirs = theirs.join().unwrap();
            let list = LIST.take();
            LIST.set(vec![2]);
            vec![theirs, CELL.replace(1), list.len() as u64]
        }
    };
}

mod with_std {
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering, fence};
    use std::sync::{
        Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard,
        TryLockError, Weak, mpsc,
    };
    use std::thread;
    use std::time::Duration;

    programs!();
}

mod with_strait {
    use std::time::Duration;
    use strait::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering, fence};
    use strait::sync::{
        Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard,
        TryLockError, Weak, mpsc,
    };
    use strait::{thread, thread_local};

    programs!();
}

#[test]
fn only_imports_differ() {
    for (number, program) in with_std::ALL.into_iter().enumerate() {
        let expected = program();
        let ours = with_strait::ALL[number];
        assert_eq!(ours(), expected, "program {number} for real");
        // A loop that waits for another thread to end has schedules without end.
        let builder = if number == 7 {
            strait::Builder::new().random(200, 1)
        } else {
            strait::Builder::new()
        };
        let outcomes = builder.outcomes(ours);
        let values: Vec<_> = outcomes.found.iter().map(|found| found.outcome.value()).collect();
        assert_eq!(values, [Some(&expected)], "program {number} under test");
    }
}
