//! What travels through a channel: always one integer, carried plainly, in a box of its own, or by
//! a payload that counts how often it is made and dropped.
//!
//! A ledger lives as long as the process: a payload that a faulty channel drops twice must not
//! reach for memory that is gone, or the report would be lost in the crash.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A message type that wraps an integer.
pub trait Word: Send + Unpin + 'static {
    /// Wraps it.
    fn wrap(word: i64, ledger: &'static Ledger) -> Self;
    /// Takes it out.
    fn unwrap(self) -> i64;
    /// Another one with the same content: for a target that is broken on purpose.
    fn copy(&self) -> Self;
}

/// Which message type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Payload {
    /// The integer itself.
    #[default]
    Plain,
    /// A box: the message owns memory.
    Boxed,
    /// A box that counts its creation and its drop.
    Counted,
}

impl Word for i64 {
    fn wrap(word: i64, _: &'static Ledger) -> i64 {
        word
    }

    fn unwrap(self) -> i64 {
        self
    }

    fn copy(&self) -> i64 {
        *self
    }
}

impl Word for Box<i64> {
    fn wrap(word: i64, _: &'static Ledger) -> Box<i64> {
        Box::new(word)
    }

    fn unwrap(self) -> i64 {
        *self
    }

    fn copy(&self) -> Box<i64> {
        self.clone()
    }
}

/// A message that is entered into a [`Ledger`] when it is made and when it is dropped.
pub struct Counted {
    word: Box<i64>,
    mark: u64,
    ledger: &'static Ledger,
}

impl Word for Counted {
    fn wrap(word: i64, ledger: &'static Ledger) -> Counted {
        let mark = ledger.enter();
        Counted { word: Box::new(word), mark, ledger }
    }

    fn unwrap(self) -> i64 {
        *self.word
    }

    fn copy(&self) -> Counted {
        Counted::wrap(*self.word, self.ledger)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.ledger.leave(self.mark);
    }
}

/// How many messages were made and dropped in one instance.
#[derive(Debug, Default)]
pub struct Ledger {
    made: AtomicU64,
    alive: AtomicI64,
    /// The sum of the marks of those alive: not zero although none is alive when one was dropped
    /// twice and another never.
    marks: AtomicU64,
}

/// What is wrong with a ledger at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Imbalance {
    /// So many messages were never dropped.
    Leaked(u64),
    /// So many drops too many.
    DoubleDropped(u64),
    /// As many drops as messages, but not of the same ones.
    Confused,
}

impl Ledger {
    fn enter(&self) -> u64 {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        let mark = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.alive.fetch_add(1, Ordering::Relaxed);
        self.marks.fetch_add(mark, Ordering::Relaxed);
        mark
    }

    fn leave(&self, mark: u64) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
        self.marks.fetch_sub(mark, Ordering::Relaxed);
    }

    /// Settles the account when every message should be gone, and starts a new one.
    pub fn settle(&self) -> Option<Imbalance> {
        self.made.store(0, Ordering::Relaxed);
        let alive = self.alive.swap(0, Ordering::Relaxed);
        let marks = self.marks.swap(0, Ordering::Relaxed);
        match alive {
            0 if marks == 0 => None,
            0 => Some(Imbalance::Confused),
            1.. => Some(Imbalance::Leaked(alive.unsigned_abs())),
            _ => Some(Imbalance::DoubleDropped(alive.unsigned_abs())),
        }
    }
}
