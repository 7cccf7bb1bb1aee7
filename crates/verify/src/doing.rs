//! What processes do and wait for, as values. Their text is made when it is shown.

use std::fmt;

use strait_calculus::{Fault, PanicCause};

/// What a process does, or how it stands, at a place that a verdict names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It waits.
    Waits(Wait),
    /// It can go on.
    CanGoOn,
    /// It runs by itself forever.
    Spins,
    /// Its operation panics.
    Panics {
        /// Why.
        cause: PanicCause,
        /// The channel, lock or wait group, if there is one.
        object: Option<String>,
    },
    /// It has panicked.
    Panicked(PanicCause),
    /// It adds to a wait group.
    AddsTo(String),
    /// It may already have passed the wait on a wait group.
    MayPassWait(String),
    /// It has taken a lock that is never released.
    KeepsLock(String),
    /// A channel, in place of a process: its buffer holds a message that is never received.
    HoldsMessage,
}

impl Doing {
    /// Does the process wait?
    pub fn is_waiting(&self) -> bool {
        matches!(self, Doing::Waits(_))
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doing::Waits(wait) => write!(formatter, "{wait}"),
            Doing::CanGoOn => formatter.write_str("can go on"),
            Doing::Spins => formatter.write_str("runs by itself forever"),
            Doing::Panics { cause, object: Some(object) } => {
                write!(formatter, "panics on {object}: {cause}")
            }
            Doing::Panics { cause, object: None } => write!(formatter, "panics: {cause}"),
            Doing::Panicked(cause) => write!(formatter, "has panicked: {cause}"),
            Doing::AddsTo(group) => write!(formatter, "adds to {group}"),
            Doing::MayPassWait(group) => {
                write!(formatter, "may already have passed the wait on {group}")
            }
            Doing::KeepsLock(lock) => write!(formatter, "locks {lock}, which is never unlocked"),
            Doing::HoldsMessage => formatter.write_str("holds a message that is never received"),
        }
    }
}

/// What a process waits for. A channel without a name is `nil`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// To send on a channel.
    Send(Option<String>),
    /// To receive from a channel.
    Receive(Option<String>),
    /// For one of the cases of a select.
    Select(Vec<SelectCase>),
    /// For nothing: a select without cases.
    EmptySelect,
    /// For a lock.
    Lock(String),
    /// For a lock, to read.
    ReadLock(String),
    /// For a lock that it holds itself.
    OwnLock(String),
    /// For a wait group.
    WaitGroup(String),
}

/// A case of a select; a channel without a name is `nil`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectCase {
    /// A send on a channel.
    Send(Option<String>),
    /// A receive from a channel.
    Receive(Option<String>),
}

fn or_nil(channel: &Option<String>) -> &str {
    channel.as_deref().unwrap_or("a nil channel")
}

impl fmt::Display for Wait {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Send(channel) => write!(formatter, "waits to send on {}", or_nil(channel)),
            Wait::Receive(channel) => {
                write!(formatter, "waits to receive from {}", or_nil(channel))
            }
            Wait::Select(cases) => {
                let cases: Vec<String> = cases.iter().map(ToString::to_string).collect();
                write!(formatter, "waits in a select to {}", cases.join(" or "))
            }
            Wait::EmptySelect => formatter.write_str("waits in an empty select"),
            Wait::Lock(lock) => write!(formatter, "waits for the lock {lock}"),
            Wait::ReadLock(lock) => write!(formatter, "waits for the read lock {lock}"),
            Wait::OwnLock(lock) => {
                write!(formatter, "waits for the lock {lock}, which it holds itself")
            }
            Wait::WaitGroup(group) => write!(formatter, "waits for the wait group {group}"),
        }
    }
}

impl fmt::Display for SelectCase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectCase::Send(channel) => write!(formatter, "send on {}", or_nil(channel)),
            SelectCase::Receive(channel) => write!(formatter, "receive from {}", or_nil(channel)),
        }
    }
}

/// What happens in a step of a trace, said of the process that acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// It starts another process.
    Starts(String),
    /// It sends to a receiver.
    SendsTo {
        /// On this channel.
        channel: String,
        /// To this process.
        receiver: String,
    },
    /// It sends into a buffer.
    Puts(String),
    /// It receives from a buffer.
    Gets(String),
    /// It finds a channel closed.
    GetsClosed(String),
    /// It sends on a channel from which no process receives any more.
    PutsLost(String),
    /// It closes a channel.
    Closes(String),
    /// It abandons a channel.
    Abandons(String),
    /// The timeout of a select.
    Timeout,
    /// The default of a select.
    Default,
    /// A branch that data decides, counted from 1.
    Branch(u32),
    /// It takes a lock.
    Locks(String),
    /// It releases a lock.
    Unlocks(String),
    /// It takes a lock for reading.
    ReadLocks(String),
    /// It releases a lock that it read under.
    ReadUnlocks(String),
    /// A writer asks for a lock.
    Announces(String),
    /// It changes the counter of a wait group.
    Adds(String),
    /// It passes a wait.
    PassesWait(String),
    /// Its operation panics.
    Panics {
        /// Why.
        fault: Fault,
        /// The channel, lock or wait group.
        object: String,
    },
}

impl StepAction {
    /// Is it a choice that the program's data would decide?
    pub fn is_choice(&self) -> bool {
        matches!(self, StepAction::Branch(_))
    }
}

impl fmt::Display for StepAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepAction::Starts(process) => write!(formatter, "starts {process}"),
            StepAction::SendsTo { channel, receiver } => {
                write!(formatter, "sends on {channel} to {receiver}")
            }
            StepAction::Puts(channel) => write!(formatter, "sends on {channel}, into its buffer"),
            StepAction::Gets(channel) => write!(formatter, "receives from {channel}"),
            StepAction::GetsClosed(channel) => {
                write!(formatter, "receives from {channel}, which is closed")
            }
            StepAction::PutsLost(channel) => {
                write!(formatter, "sends on {channel}, which has no receiver any more")
            }
            StepAction::Closes(channel) => write!(formatter, "closes {channel}"),
            StepAction::Abandons(channel) => write!(formatter, "abandons {channel}"),
            StepAction::Timeout => formatter.write_str("takes the timeout"),
            StepAction::Default => formatter.write_str("takes the default"),
            StepAction::Branch(branch) => write!(formatter, "takes branch {branch}"),
            StepAction::Locks(lock) => write!(formatter, "locks {lock}"),
            StepAction::Unlocks(lock) => write!(formatter, "unlocks {lock}"),
            StepAction::ReadLocks(lock) => write!(formatter, "locks {lock} for reading"),
            StepAction::ReadUnlocks(lock) => write!(formatter, "unlocks {lock} for reading"),
            StepAction::Announces(lock) => {
                write!(formatter, "asks for {lock}; new readers have to wait")
            }
            StepAction::Adds(group) => write!(formatter, "changes the counter of {group}"),
            StepAction::PassesWait(group) => write!(formatter, "passes the wait on {group}"),
            StepAction::Panics { fault, object } => {
                write!(formatter, "panics on {object}: {}", fault.message())
            }
        }
    }
}
