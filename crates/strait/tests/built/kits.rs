//! The primitives of the library, and the same built of atomic variables.

use strait::channel::{Receiver, Sender, unbounded};
use strait::hint::spin_loop;
use strait::sync::atomic::AtomicUsize;
use strait::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use strait::sync::{
    Barrier, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use strait::thread::{self, Thread};

/// Primitives that threads share.
pub trait Kit: Send + Sync + 'static {
    type Lock<'k>;
    type Reading<'k>;
    type Writing<'k>;
    fn new() -> Self;
    fn lock(&self, number: usize) -> Self::Lock<'_>;
    fn read(&self) -> Self::Reading<'_>;
    fn write(&self) -> Self::Writing<'_>;
    fn park(&self, me: usize);
    /// Gives up waiting or not.
    fn park_for_a_while(&self, me: usize);
    fn unpark(&self, number: usize, thread: &Thread);
    fn send(&self, value: u8);
    fn receive(&self) -> u8;
    fn meet(&self) -> bool;
    fn once(&self, make: impl FnOnce() -> u8) -> u8;
}

pub struct Library {
    mutexes: [Mutex<()>; 2],
    lock: RwLock<()>,
    channel: (Sender<u8>, Receiver<u8>),
    barrier: Barrier,
    once: OnceLock<u8>,
}

impl Kit for Library {
    type Lock<'k> = MutexGuard<'k, ()>;
    type Reading<'k> = RwLockReadGuard<'k, ()>;
    type Writing<'k> = RwLockWriteGuard<'k, ()>;

    fn new() -> Self {
        Library {
            mutexes: [Mutex::new(()), Mutex::new(())],
            lock: RwLock::new(()),
            channel: unbounded(),
            barrier: Barrier::new(2),
            once: OnceLock::new(),
        }
    }

    fn lock(&self, number: usize) -> Self::Lock<'_> {
        self.mutexes[number].lock().unwrap()
    }

    fn read(&self) -> Self::Reading<'_> {
        self.lock.read().unwrap()
    }

    fn write(&self) -> Self::Writing<'_> {
        self.lock.write().unwrap()
    }

    fn park(&self, _: usize) {
        thread::park();
    }

    fn park_for_a_while(&self, _: usize) {
        thread::park_timeout(std::time::Duration::from_secs(1));
    }

    fn unpark(&self, _: usize, thread: &Thread) {
        thread.unpark();
    }

    fn send(&self, value: u8) {
        self.channel.0.send(value).unwrap();
    }

    fn receive(&self) -> u8 {
        self.channel.1.recv().unwrap()
    }

    fn meet(&self) -> bool {
        self.barrier.wait().is_leader()
    }

    fn once(&self, make: impl FnOnce() -> u8) -> u8 {
        *self.once.get_or_init(make)
    }
}

pub struct Built {
    mutexes: [AtomicUsize; 2],
    /// How many read, or [`WRITING`].
    lock: AtomicUsize,
    tokens: [AtomicUsize; 5],
    /// Where the next message goes, where the next one is taken, and the messages, each plus 1.
    channel: (AtomicUsize, AtomicUsize, [AtomicUsize; 20]),
    /// How many have come to the barrier, in all rounds.
    barrier: AtomicUsize,
    /// 0 is nothing, 1 in the making, else the value and 2.
    once: AtomicUsize,
}

const WRITING: usize = 100;

fn acquire(lock: &AtomicUsize, from: usize, to: usize) {
    while lock.compare_exchange(from, to, Acquire, Relaxed).is_err() {
        spin_loop();
    }
}

/// Gives the lock back when it is dropped.
pub struct Held<'k>(&'k AtomicUsize);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.store(0, Release);
    }
}

/// Gives the lock back when it is dropped.
pub struct Shared<'k>(&'k AtomicUsize);

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Release);
    }
}

impl Kit for Built {
    type Lock<'k> = Held<'k>;
    type Reading<'k> = Shared<'k>;
    type Writing<'k> = Held<'k>;

    fn new() -> Self {
        let zero = || AtomicUsize::new(0);
        Built {
            mutexes: [zero(), zero()],
            lock: zero(),
            tokens: std::array::from_fn(|_| zero()),
            channel: (zero(), zero(), std::array::from_fn(|_| zero())),
            barrier: zero(),
            once: zero(),
        }
    }

    fn lock(&self, number: usize) -> Held<'_> {
        acquire(&self.mutexes[number], 0, 1);
        Held(&self.mutexes[number])
    }

    fn read(&self) -> Shared<'_> {
        loop {
            let readers = self.lock.load(Relaxed);
            let change = |to| self.lock.compare_exchange(readers, to, Acquire, Relaxed);
            if readers < WRITING && change(readers + 1).is_ok() {
                return Shared(&self.lock);
            }
            spin_loop();
        }
    }

    fn write(&self) -> Held<'_> {
        acquire(&self.lock, 0, WRITING);
        Held(&self.lock)
    }

    fn park(&self, me: usize) {
        acquire(&self.tokens[me], 1, 0);
    }

    fn park_for_a_while(&self, me: usize) {
        self.tokens[me].swap(0, Acquire);
    }

    fn unpark(&self, number: usize, _: &Thread) {
        self.tokens[number].swap(1, Release);
    }

    fn send(&self, value: u8) {
        let place = self.channel.0.fetch_add(1, Relaxed);
        self.channel.2[place].store(1 + usize::from(value), Release);
    }

    fn receive(&self) -> u8 {
        loop {
            let place = self.channel.1.load(Relaxed);
            let value = self.channel.2[place].load(Acquire);
            let take = || self.channel.1.compare_exchange(place, place + 1, Relaxed, Relaxed);
            if value > 0 && take().is_ok() {
                return (value - 1) as u8;
            }
            spin_loop();
        }
    }

    fn meet(&self) -> bool {
        let before = self.barrier.fetch_add(1, AcqRel);
        let round = before / 2;
        while self.barrier.load(Acquire) / 2 == round {
            spin_loop();
        }
        before % 2 == 1
    }

    fn once(&self, make: impl FnOnce() -> u8) -> u8 {
        if self.once.compare_exchange(0, 1, Relaxed, Relaxed).is_ok() {
            let value = make();
            self.once.store(2 + usize::from(value), Release);
        }
        loop {
            let value = self.once.load(Acquire);
            if value >= 2 {
                return (value - 2) as u8;
            }
            spin_loop();
        }
    }
}
