//! A read-write lock out of two mutexes and a counter (Courtois, Heymans, Parnas 1971), and a version
//! that forgets to protect the counter.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use strait::mvar::MVar;
use strait::sync::atomic::{AtomicUsize, Ordering};

/// Many readers or one writer.
pub struct ReadWriteLock {
    readers: AtomicUsize,
    counter: MVar<()>,
    room: MVar<()>,
    careful: bool,
}

impl ReadWriteLock {
    /// A free lock. A careless one does not protect its counter.
    pub fn new(careful: bool) -> Self {
        let (counter, room) = (MVar::new(()), MVar::new(()));
        ReadWriteLock { readers: AtomicUsize::new(0), counter, room, careful }
    }

    fn count(&self, change: impl FnOnce(usize) -> usize, edge: usize) {
        if self.careful {
            self.counter.take();
        }
        let before = self.readers.load(Ordering::SeqCst);
        let after = change(before);
        self.readers.store(after, Ordering::SeqCst);
        if before.max(after) == 1 && after == edge {
            if edge == 1 { self.room.take() } else { self.room.put(()) }
        }
        if self.careful {
            self.counter.put(());
        }
    }

    /// Shares the lock during the action.
    pub fn read<R>(&self, action: impl FnOnce() -> R) -> R {
        self.count(|readers| readers + 1, 1);
        let result = action();
        self.count(|readers| readers - 1, 0);
        result
    }

    /// Has the lock alone during the action.
    pub fn write<R>(&self, action: impl FnOnce() -> R) -> R {
        self.room.take();
        let result = action();
        self.room.put(());
        result
    }
}

fn main() {
    println!("{}", ReadWriteLock::new(true).read(|| 42));
}

#[cfg(test)]
mod tests {
    use super::ReadWriteLock;
    use std::sync::Arc;
    use strait::sync::atomic::{AtomicUsize, Ordering};
    use strait::{Builder, thread};

    fn program(careful: bool) -> impl Fn() + Clone + Send + Sync + 'static {
        move || {
            let lock = Arc::new((ReadWriteLock::new(careful), AtomicUsize::new(0)));
            let (one, two) = (lock.clone(), lock.clone());
            let reader = thread::spawn(move || one.0.read(|| one.1.load(Ordering::SeqCst)));
            let writer = thread::spawn(move || {
                two.0.write(|| {
                    two.1.store(1, Ordering::SeqCst);
                    two.1.store(2, Ordering::SeqCst);
                });
            });
            let seen = lock.0.read(|| lock.1.load(Ordering::SeqCst));
            assert_ne!(seen, 1, "a reader saw a writer's work half done");
            assert_ne!(reader.join().expect("no panics"), 1);
            writer.join().expect("no panics");
        }
    }

    #[test]
    fn a_careful_lock_keeps_readers_and_writers_apart() {
        Builder::new().preemptions(2).check(program(true));
    }

    #[test]
    fn a_careless_lock_does_not() {
        let failure = Builder::new().preemptions(2).try_check(program(false));
        assert!(failure.is_err());
    }
}
