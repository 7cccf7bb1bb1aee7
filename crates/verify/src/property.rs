//! The properties that have a name.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// A property with a name. Where paper 003 has it, the variant cites its formula (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// ψ_g: in no reachable state is somebody waiting while nothing can move.
    NoDeadlock,
    /// ψ_l: whoever waits at a send, receive, select, lock or wait can go on in some continuation.
    Live,
    /// ψ_s: nothing is sent on a closed channel, and no channel is closed twice.
    ChannelSafe,
    /// ψ_e: what is in a buffer can be received in some continuation.
    EventualReception,
    /// No process unlocks what is not locked, or locks for ever what it holds itself.
    MutexSafe,
    /// No wait group gets below zero, or is added to while somebody passes its wait.
    WaitGroupSafe,
    /// ψ_t: no state is the last one.
    NoTerminal,
    /// ψ_c: no execution comes back to a state.
    NoCycle,
}

impl Property {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Property; 8] = [
        Property::NoDeadlock,
        Property::Live,
        Property::ChannelSafe,
        Property::EventualReception,
        Property::MutexSafe,
        Property::WaitGroupSafe,
        Property::NoTerminal,
        Property::NoCycle,
    ];

    /// The name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            Property::NoDeadlock => "no-deadlock",
            Property::Live => "live",
            Property::ChannelSafe => "channel-safe",
            Property::EventualReception => "eventual-reception",
            Property::MutexSafe => "mutex-safe",
            Property::WaitGroupSafe => "waitgroup-safe",
            Property::NoTerminal => "no-terminal",
            Property::NoCycle => "no-cycle",
        }
    }

    /// Is its failure a fault of the program? That a program ends, or that it goes on for ever, is
    /// only a fact about it.
    pub fn is_requirement(self) -> bool {
        !matches!(self, Property::NoTerminal | Property::NoCycle)
    }

    /// What it says, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Property::NoDeadlock => "whenever somebody waits, something can move",
            Property::Live => "whoever waits can go on in some continuation",
            Property::ChannelSafe => "nothing is sent on a closed channel, none is closed twice",
            Property::EventualReception => "what is in a buffer can still be received",
            Property::MutexSafe => "only what is locked is unlocked, nobody locks what it holds",
            Property::WaitGroupSafe => "no counter gets below zero, no add races with a wait",
            Property::NoTerminal => "the program never comes to an end",
            Property::NoCycle => "the program never comes back to where it was",
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
