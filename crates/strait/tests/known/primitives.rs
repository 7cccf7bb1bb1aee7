//! Locks, conditions, channels, tasks and ends of threads.

use super::*;

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
    row("a lock is read again while a writer waits", &[0, 11], || {
        let lock = Arc::new(RwLock::new(0));
        let theirs = lock.clone();
        let other = thread::spawn(move || *theirs.write().unwrap() = 1);
        let (first, second) = (lock.read().unwrap(), lock.read().unwrap());
        let seen = 10 * *first + *second;
        drop((first, second));
        other.join().unwrap();
        seen
    })
    .deadlocks(),
    row("a lock is read again while another reader waits", &[0], || {
        beside(
            RwLock::new(0),
            |lock| drop(lock.read()),
            |lock| {
                let (first, second) = (lock.read().unwrap(), lock.read().unwrap());
                *first + *second
            },
        )
    }),
    row("a lock is read again after a writer was there", &[2], || {
        let lock = Arc::new(RwLock::new(0));
        let theirs = lock.clone();
        thread::spawn(move || *theirs.write().unwrap() = 1).join().unwrap();
        let (first, second) = (lock.read().unwrap(), lock.read().unwrap());
        *first + *second
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

const LONG: Duration = Duration::from_secs(1);

/// A time is over only while what is waited for is not there.
const TIMES: &[Row] = &[
    row("a message that is there is received in time", &[1], || {
        let (sender, receiver) = mpsc::channel();
        sender.send(1).unwrap();
        receiver.recv_timeout(LONG).unwrap()
    }),
    row("an end that has come is seen in time", &[1], || {
        let (sender, receiver) = mpsc::channel::<()>();
        drop(sender);
        usize::from(receiver.recv_timeout(LONG) == Err(RecvTimeoutError::Disconnected))
    }),
    row("a message that comes may come too late", &[0, 1], || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(1));
        let received = receiver.recv_timeout(LONG).unwrap_or(0);
        let _ = other.join();
        received
    }),
    row("room that is there is taken in time", &[1], || {
        let (sender, receiver) = strait::channel::bounded(1);
        let sent = usize::from(sender.send_timeout((), LONG).is_ok());
        drop(receiver);
        sent
    }),
    row("a case that is ready is chosen in time", &[1], || {
        let (sender, receiver) = strait::channel::bounded(1);
        sender.send(1).unwrap();
        strait::channel::select! {
            recv(receiver) -> message => message.unwrap(),
            default(LONG) => 0,
        }
    }),
    row("a token that is there is used up", &[], || {
        let me = thread::current();
        thread::spawn(move || me.unpark()).join().unwrap();
        thread::park_timeout(LONG);
        thread::park();
        0
    })
    .deadlocks(),
];

#[test]
fn times_are_over_only_while_there_is_nothing() {
    check(TIMES, ALL);
}
