//! What can go wrong when a program is written in another language.

use std::fmt;

use crate::language::Language;

/// Why a program cannot be written as a crate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The writer does not know the crate.
    Crate,
    /// The crate has no tasks.
    Tasks,
    /// The crate has no operations that block a thread.
    Threads,
    /// The crate has no such channels.
    Capacity,
    /// The crate has no operations that do not wait.
    Trying,
    /// The crate has no operations that a thread can give up.
    GivingUp,
    /// The crate has no select for threads.
    ThreadSelect,
    /// A default beside several cases or beside a timeout, or a select without a case.
    Select,
    /// Channels are sent over channels or held by several variables.
    ChannelsAsValues,
    /// Functions take channels.
    ChannelsInFunctions,
    /// A channel is nil.
    Nil,
    /// There are mutexes or wait groups.
    Locks,
    /// The crate is not a published version.
    WorkingTree,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Refusal::Crate => "its operations are not known to the writer",
            Refusal::Tasks => "it needs tasks, and the crate has none",
            Refusal::Threads => "it needs threads that block, and the crate has only tasks",
            Refusal::Capacity => "it needs a channel of a capacity that the crate does not have",
            Refusal::Trying => "it needs operations that do not wait, and the crate has none",
            Refusal::GivingUp => {
                "it needs operations with a timeout, and the crate has none for threads"
            }
            Refusal::ThreadSelect => {
                "it needs a select over several operations, and the crate has none for threads"
            }
            Refusal::Select => {
                "it has a select with a default beside several cases or beside a timeout"
            }
            Refusal::ChannelsAsValues => {
                "it sends channels over channels or copies them to other variables"
            }
            Refusal::ChannelsInFunctions => "it has functions that take channels",
            Refusal::Nil => "it uses a nil channel",
            Refusal::Locks => "it uses locks or wait groups",
            Refusal::WorkingTree => "the crate is a working tree and not a published version",
        })
    }
}

/// Strait's own failures; what a compiler or a runtime does wrong is a result.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The program uses what the language, or our way of writing it, does not have.
    #[error(
        "{} has no {what}; ask the generator for programs within the capabilities of {}",
        language.title(),
        language.name()
    )]
    Beyond {
        /// The language.
        language: Language,
        /// What it lacks.
        what: &'static str,
    },
    /// The program cannot be written as a crate of its own.
    #[error("this program cannot be written for {target} without Strait: {why}")]
    NotStandalone {
        /// The channel crate by the name of its target.
        target: String,
        /// Why.
        why: Refusal,
    },
    /// The program does not pass the checker, so its types are not known.
    #[error("the program cannot be written in another language because it is wrong itself: {why}")]
    Unchecked {
        /// The first complaint of the checker.
        why: String,
    },
}
