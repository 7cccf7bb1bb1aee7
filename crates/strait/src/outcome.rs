//! What one execution can give. Everything is a value, failures too.

use std::fmt;
use std::panic::Location;

/// A thread that waits for what will never come.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Blocked {
    /// The thread's name.
    pub thread: String,
    /// What it wants to do.
    pub what: String,
    /// Where: file and line.
    pub place: String,
}

impl Blocked {
    pub(crate) fn new(thread: String, what: String, place: &'static Location<'static>) -> Self {
        Blocked { thread, what, place: format!("{}:{}", place.file(), place.line()) }
    }
}

/// What one execution gave.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// The main thread returned this.
    Value(T),
    /// A thread panicked and was not joined, or the main thread did.
    Panic {
        /// The thread's name.
        thread: String,
        /// The panic's message and place.
        message: String,
    },
    /// The main thread can never go on.
    Deadlock(Vec<Blocked>),
    /// A data race, a broken invariant, or a misuse that the runtime has noticed.
    Fault(String),
    /// So many `strait::sync::Arc`s, or pieces of memory of `strait::alloc`, were never dropped.
    Leak(u64),
}

impl<T> Outcome<T> {
    /// The value, if the execution gave one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Outcome::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Is it anything but a value?
    pub fn is_failure(&self) -> bool {
        self.value().is_none()
    }

    /// Are both of the same kind?
    pub(crate) fn resembles(&self, other: &Outcome<T>) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Is it a deadlock?
    pub fn is_deadlock(&self) -> bool {
        matches!(self, Outcome::Deadlock(_))
    }

    /// Is it a panic?
    pub fn is_panic(&self) -> bool {
        matches!(self, Outcome::Panic { .. })
    }
}

impl<T: fmt::Debug> fmt::Display for Outcome<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Value(value) => write!(formatter, "{value:?}"),
            Outcome::Panic { thread, message } => write!(formatter, "{thread} panicked: {message}"),
            Outcome::Fault(fault) => write!(formatter, "{fault}"),
            Outcome::Leak(count) => {
                write!(formatter, "{count} Arcs or allocations were never dropped")
            }
            Outcome::Deadlock(blocked) => {
                write!(formatter, "deadlock:")?;
                for Blocked { thread, what, place } in blocked {
                    write!(formatter, "\n    {thread} waits for: {what} ({place})")?;
                }
                Ok(())
            }
        }
    }
}
