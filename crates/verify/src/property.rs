//! The properties that have a name.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// A property with a name. Where Lange et al. (ICSE 2018) have it, the variant cites its formula (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// ψ_g: as long as `main` has not finished, no reachable state is one in which processes wait
    /// and nothing can move. A `main` that waits in an empty select does so on purpose.
    NoDeadlock,
    /// No process stays blocked forever after `main` has finished.
    NoLeak,
    /// ψ_l: a process that waits at a send, receive, select, lock or wait can go on in some continuation.
    Live,
    /// ψ_s: nothing is sent on a closed channel, and no channel is closed twice.
    ChannelSafe,
    /// No process unlocks what is not locked, or waits forever for a lock that it holds itself.
    MutexSafe,
    /// No wait group gets below zero, or is added to while a process may pass its wait.
    WaitGroupSafe,
    /// No lock stays held forever after the process that took it last has finished or gone on.
    LocksReleased,
    /// ψ_e: what is in a buffer can be received in some continuation.
    EventualReception,
    /// ψ_t: no state is the last one.
    NoTerminal,
    /// ψ_c: no execution comes back to a state.
    NoCycle,
}

impl Property {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Property; 10] = [
        Property::NoDeadlock,
        Property::NoLeak,
        Property::Live,
        Property::ChannelSafe,
        Property::MutexSafe,
        Property::WaitGroupSafe,
        Property::LocksReleased,
        Property::EventualReception,
        Property::NoTerminal,
        Property::NoCycle,
    ];

    /// The name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            Property::NoDeadlock => "no-deadlock",
            Property::NoLeak => "no-leak",
            Property::Live => "live",
            Property::ChannelSafe => "channel-safe",
            Property::EventualReception => "eventual-reception",
            Property::MutexSafe => "mutex-safe",
            Property::WaitGroupSafe => "waitgroup-safe",
            Property::LocksReleased => "locks-released",
            Property::NoTerminal => "no-terminal",
            Property::NoCycle => "no-cycle",
        }
    }

    /// Is it checked when no property is named? The others are facts about a program, or are broken
    /// on purpose by common idioms.
    pub fn is_default(self) -> bool {
        !matches!(self, Property::EventualReception | Property::NoTerminal | Property::NoCycle)
    }

    /// Can its failure be a fault of the program? That a program ends, or that it goes on forever,
    /// is only a fact about it.
    pub fn is_requirement(self) -> bool {
        !matches!(self, Property::NoTerminal | Property::NoCycle)
    }

    /// What it says, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Property::NoDeadlock => "The program never deadlocks before main has returned.",
            Property::NoLeak => "No goroutine stays blocked forever after main has returned.",
            Property::Live => "Every goroutine that waits can go on in some continuation.",
            Property::ChannelSafe => {
                "No send on a closed channel, no second close, no close of nil."
            }
            Property::MutexSafe => {
                "No unlock of an unlocked lock, and no goroutine waits for a lock that it holds."
            }
            Property::WaitGroupSafe => {
                "No wait group counter becomes negative, and no Add races with a Wait."
            }
            Property::LocksReleased => "Every lock is released after its last use.",
            Property::EventualReception => "Every buffered message can still be received.",
            Property::NoTerminal => "The program never comes to an end.",
            Property::NoCycle => "The program never comes back to a state.",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Property {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Property::ALL.into_iter().find(|property| property.name() == name);
        found.ok_or_else(|| Error::UnknownProperty { name: name.to_owned() })
    }
}
