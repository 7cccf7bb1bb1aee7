//! The programs, for the types of the module in which the macro stands: `Arc`, `AtomicUsize`, `Ordering`,
//! `UnsafeCell`, `fence`, `thread`, and `pause` for loops that wait.

macro_rules! programs {
    () => {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

        struct Cell(UnsafeCell<usize>);

        // SAFETY: both libraries report accesses that are not ordered, and do not perform them.
        #[allow(unsafe_code, reason = "the cell is shared between threads on purpose")]
        unsafe impl Sync for Cell {}
        // SAFETY: as above.
        #[allow(unsafe_code, reason = "the cell is shared between threads on purpose")]
        unsafe impl Send for Cell {}

        #[allow(unsafe_code, reason = "races are reported before they happen for real")]
        impl Cell {
            fn new() -> Self {
                Cell(UnsafeCell::new(0))
            }

            fn get(&self) -> usize {
                self.0.with(|pointer| unsafe { *pointer })
            }

            fn set(&self, value: usize) {
                self.0.with_mut(|pointer| unsafe { *pointer = value });
            }
        }

        /// Atomic variables and plain ones.
        struct Shared {
            a: [AtomicUsize; 4],
            d: [Cell; 2],
        }

        /// Runs the code in another thread and here. Gives both results.
        fn two(
            other: impl Fn(&Shared) -> usize + Send + Sync + 'static,
            here: impl Fn(&Shared) -> usize,
        ) -> (usize, usize, Arc<Shared>) {
            let shared = Arc::new(Shared {
                a: std::array::from_fn(|_| AtomicUsize::new(0)),
                d: std::array::from_fn(|_| Cell::new()),
            });
            let theirs = shared.clone();
            let handle = thread::spawn(move || other(&theirs));
            let mine = here(&shared);
            let other = handle.join().expect("no panic");
            (other, mine, shared)
        }

        /// Both threads increment a plain counter in a critical section. Gives the counter.
        fn counter(lock: fn(&Shared, usize), unlock: fn(&Shared, usize)) -> usize {
            let increment = move |shared: &Shared, me: usize| {
                lock(shared, me);
                shared.d[0].set(shared.d[0].get() + 1);
                unlock(shared, me);
                0
            };
            let (_, _, shared) =
                two(move |shared| increment(shared, 0), move |shared| increment(shared, 1));
            shared.d[0].get()
        }

        pub fn spin_lock() -> usize {
            counter(
                |shared, _| {
                    while shared.a[0].compare_exchange(0, 1, Acquire, Relaxed).is_err() {
                        pause();
                    }
                },
                |shared, _| shared.a[0].store(0, Release),
            )
        }

        pub fn spin_lock_relaxed() -> usize {
            counter(
                |shared, _| {
                    while shared.a[0].compare_exchange(0, 1, Relaxed, Relaxed).is_err() {
                        pause();
                    }
                },
                |shared, _| shared.a[0].store(0, Relaxed),
            )
        }

        pub fn spin_lock_weak() -> usize {
            counter(
                |shared, _| {
                    while shared.a[0].compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
                        pause();
                    }
                },
                |shared, _| shared.a[0].store(0, Release),
            )
        }

        fn ticket(acquire: Ordering, shared: &Shared) {
            let ticket = shared.a[0].fetch_add(1, Relaxed);
            while shared.a[1].load(acquire) != ticket {
                pause();
            }
        }

        pub fn ticket_lock() -> usize {
            counter(
                |shared, _| ticket(Acquire, shared),
                |shared, _| shared.a[1].store(shared.a[1].load(Relaxed) + 1, Release),
            )
        }

        pub fn ticket_lock_relaxed() -> usize {
            counter(
                |shared, _| ticket(Relaxed, shared),
                |shared, _| shared.a[1].store(shared.a[1].load(Relaxed) + 1, Release),
            )
        }

        /// Waits for a flag, then reads what was written before it was set.
        fn wait(set: fn(&Shared), wait: fn(&Shared)) -> usize {
            let set = move |shared: &Shared| {
                shared.d[0].set(1);
                set(shared);
                0
            };
            let get = move |shared: &Shared| {
                wait(shared);
                shared.d[0].get()
            };
            two(set, get).1
        }

        pub fn flag() -> usize {
            wait(
                |shared| shared.a[0].store(1, Release),
                |shared| {
                    while shared.a[0].load(Acquire) == 0 {
                        pause();
                    }
                },
            )
        }

        fn wait_relaxed(shared: &Shared) {
            while shared.a[0].load(Relaxed) == 0 {
                pause();
            }
        }

        pub fn flag_fence() -> usize {
            wait(
                |shared| shared.a[0].store(1, Release),
                |shared| {
                    wait_relaxed(shared);
                    fence(Acquire);
                },
            )
        }

        pub fn flag_relaxed() -> usize {
            wait(|shared| shared.a[0].store(1, Release), wait_relaxed)
        }

        pub fn flag_never() -> usize {
            wait(|shared| shared.a[0].store(0, Release), wait_relaxed)
        }

        /// Peterson's lock: flags 0 and 1, turn 2.
        fn enter(shared: &Shared, me: usize, store: Ordering, load: Ordering) {
            shared.a[me].store(1, store);
            shared.a[2].store(1 - me, store);
            while shared.a[1 - me].load(load) == 1 && shared.a[2].load(load) == 1 - me {
                pause();
            }
        }

        pub fn peterson() -> usize {
            counter(
                |shared, me| enter(shared, me, SeqCst, SeqCst),
                |shared, me| shared.a[me].store(0, SeqCst),
            )
        }

        pub fn peterson_weak() -> usize {
            counter(
                |shared, me| enter(shared, me, Release, Acquire),
                |shared, me| shared.a[me].store(0, Release),
            )
        }

        /// Each thread writes its own variable, meets the other, and reads the other's.
        fn meet(order: Ordering, load: Ordering) -> usize {
            let code = move |shared: &Shared, me: usize| {
                shared.d[me].set(me + 1);
                shared.a[0].fetch_add(1, order);
                while shared.a[0].load(load) < 2 {
                    pause();
                }
                shared.d[1 - me].get()
            };
            let (one, two, _) = two(move |shared| code(shared, 0), move |shared| code(shared, 1));
            one + two
        }

        pub fn barrier() -> usize {
            meet(AcqRel, Acquire)
        }

        pub fn barrier_relaxed() -> usize {
            meet(Relaxed, Acquire)
        }

        /// A sequence lock: the number 0, the data 1 and 2. Gives both data as digits.
        fn sequence(reader: fn(&Shared) -> usize) -> usize {
            let write = |shared: &Shared| {
                shared.a[0].store(1, Relaxed);
                fence(Release);
                shared.a[1].store(1, Relaxed);
                shared.a[2].store(1, Relaxed);
                shared.a[0].store(2, Release);
                0
            };
            let read = move |shared: &Shared| loop {
                let before = shared.a[0].load(Acquire);
                let data = reader(shared);
                if before.is_multiple_of(2) && before == shared.a[0].load(Relaxed) {
                    break data;
                }
                pause();
            };
            two(write, read).1
        }

        fn data(shared: &Shared) -> usize {
            10 * shared.a[1].load(Relaxed) + shared.a[2].load(Relaxed)
        }

        pub fn seqlock_broken() -> usize {
            sequence(data)
        }

        /// A value that the first of two threads makes: state 0 is nothing, 1 in the making, 2 there.
        fn made(release: Ordering) -> usize {
            let code = move |shared: &Shared| {
                if shared.a[0].compare_exchange(0, 1, Acquire, Acquire).is_ok() {
                    shared.d[0].set(7);
                    shared.a[0].store(2, release);
                }
                while shared.a[0].load(Acquire) != 2 {
                    pause();
                }
                shared.d[0].get()
            };
            let (one, two, _) = two(code, code);
            assert_eq!(one, two);
            one
        }

        pub fn lazy() -> usize {
            made(Release)
        }

        pub fn lazy_relaxed() -> usize {
            made(Relaxed)
        }

        /// Treiber's stack of two nodes: both threads push one, then one pops. Node n is variable n - 1,
        /// its next one is the atomic variable n. Gives what was popped.
        fn push_and_pop(release: Ordering) -> usize {
            let push = move |shared: &Shared, node: usize| {
                shared.d[node - 1].set(node);
                let mut head = shared.a[0].load(Relaxed);
                loop {
                    shared.a[node].store(head, Relaxed);
                    match shared.a[0].compare_exchange(head, node, release, Relaxed) {
                        Ok(_) => break,
                        Err(other) => head = other,
                    }
                }
            };
            let pop = |shared: &Shared| {
                let mut head = shared.a[0].load(Acquire);
                loop {
                    let next = shared.a[head].load(Relaxed);
                    match shared.a[0].compare_exchange(head, next, Acquire, Acquire) {
                        Ok(_) => break shared.d[head - 1].get(),
                        Err(other) => head = other,
                    }
                }
            };
            let other = move |shared: &Shared| {
                push(shared, 1);
                0
            };
            let here = move |shared: &Shared| {
                push(shared, 2);
                pop(shared)
            };
            two(other, here).1
        }

        pub fn stack() -> usize {
            push_and_pop(Release)
        }

        pub fn stack_relaxed() -> usize {
            push_and_pop(Relaxed)
        }

        /// A reader says that it reads (1), takes the pointer (0) and reads through it. The writer sets the
        /// pointer, waits until nobody reads, and writes to the old place.
        fn quiescent(order: Ordering, load: Ordering) -> usize {
            let writer = move |shared: &Shared| {
                shared.d[1].set(5);
                shared.a[0].store(1, order);
                while shared.a[1].load(load) == 1 {
                    pause();
                }
                shared.d[0].set(9);
                0
            };
            let reader = move |shared: &Shared| {
                shared.a[1].store(1, order);
                let read = shared.d[shared.a[0].load(load)].get();
                shared.a[1].store(0, order);
                read
            };
            two(writer, reader).1
        }

        pub fn quiescence() -> usize {
            quiescent(SeqCst, SeqCst)
        }

        pub fn quiescence_weak() -> usize {
            quiescent(Release, Acquire)
        }
    };
}
