//! What travels through a channel: always one integer, carried plainly, in a box of its own, or by
//! a payload that counts how often it is made and dropped.
//!
//! A ledger lives as long as the process: a payload that a faulty channel drops twice must not
//! reach for memory that is gone, or the report would be lost in the crash.

use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};

const BOXED: u8 = 1;
const COUNTED: u8 = 2;

/// A message type that wraps an integer.
pub trait Word: Send + Sync + Unpin + 'static {
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

/// A message: one type for every [`Payload`], since each type that travels through a target means
/// all of the harness compiled once more for it.
pub enum Parcel {
    /// [`Payload::Plain`]
    Plain(i64),
    /// [`Payload::Boxed`]
    Boxed(Box<i64>),
    /// [`Payload::Counted`]
    Counted(Counted),
}

impl Word for Parcel {
    fn wrap(word: i64, ledger: &'static Ledger) -> Parcel {
        match ledger.payload.load(Ordering::Relaxed) {
            BOXED => Parcel::Boxed(Box::new(word)),
            COUNTED => Parcel::Counted(Counted::new(word, ledger)),
            _ => Parcel::Plain(word),
        }
    }

    fn unwrap(self) -> i64 {
        match self {
            Parcel::Plain(word) => word,
            Parcel::Boxed(word) => *word,
            Parcel::Counted(counted) => *counted.word,
        }
    }

    fn copy(&self) -> Parcel {
        match self {
            Parcel::Plain(word) => Parcel::Plain(*word),
            Parcel::Boxed(word) => Parcel::Boxed(word.clone()),
            Parcel::Counted(counted) => {
                Parcel::Counted(Counted::new(*counted.word, counted.ledger))
            }
        }
    }
}

/// A message that is entered into a [`Ledger`] when it is made and when it is dropped.
pub struct Counted {
    word: Box<i64>,
    mark: u64,
    ledger: &'static Ledger,
}

impl Counted {
    fn new(word: i64, ledger: &'static Ledger) -> Counted {
        let mark = ledger.enter();
        Counted { word: Box::new(word), mark, ledger }
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
    /// What messages are made of: [`BOXED`], [`COUNTED`], or else plain.
    payload: AtomicU8,
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
    /// Decides what messages are made of from now on.
    pub fn carry(&self, payload: Payload) {
        let code = match payload {
            Payload::Plain => 0,
            Payload::Boxed => BOXED,
            Payload::Counted => COUNTED,
        };
        self.payload.store(code, Ordering::Relaxed);
    }

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
