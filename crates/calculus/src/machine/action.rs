//! The steps of a program that a search chooses between, and which of them commute.

use std::fmt;

use smol_str::SmolStr;

use crate::language::index::{ObjectId, ProcId};

/// One visible step. In a given state it decides the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// What happens.
    pub kind: ActionKind,
    /// Who does it; the sender of a rendezvous.
    pub actor: ProcId,
    /// Which case of the actor's select, or branch of its choice.
    pub case: u16,
    /// The receiver of a rendezvous and the case it takes.
    pub partner: Option<(ProcId, u16)>,
    /// On which object.
    pub object: Option<ObjectId>,
    /// The processes that the actor and the partner spawn on the way to their next operations, as
    /// numbers of the machine's tables; 0 for none. What those do depends on this step.
    pub born: [u32; 2],
    /// For a default: the number of the actor's state, which tells the channels that it depends
    /// on; else 0.
    pub local: u32,
}

/// What happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// Sender and receiver meet (E-SYNC, E-SELECT-GET, E-SELECT-PUT, E-SELECT-SELECT).
    Meet,
    /// A message goes into a buffer.
    Put,
    /// A message comes out of a buffer.
    Get,
    /// A get finds the channel closed and empty.
    GetClosed,
    /// A put finds the channel abandoned; the message is lost.
    PutLost,
    /// A channel is closed.
    Close,
    /// A channel is abandoned.
    Abandon,
    /// The timeout of a select.
    Timeout,
    /// The default of a select.
    Default,
    /// A branch of a choice.
    Branch,
    /// A lock is taken.
    Lock,
    /// A lock is released.
    Unlock,
    /// A read lock is taken.
    ReadLock,
    /// A read lock is released.
    ReadUnlock,
    /// A writer announces itself.
    Announce,
    /// A wait group's counter changes.
    Add,
    /// A wait group is at zero.
    Wait,
    /// The operation is not allowed in this state: the process panics.
    Fault(Fault),
}

/// Why an operation panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// `put` on a closed channel.
    SendOnClosed,
    /// `close` of a closed channel.
    CloseOfClosed,
    /// `close` of an abandoned channel is fine; a second `abandon` is not.
    AbandonOfAbandoned,
    /// `get` on an abandoned channel.
    GetOnAbandoned,
    /// `unlock` of a mutex that is not locked.
    UnlockOfUnlocked,
    /// `unlock` of an rwmutex that is not locked for writing.
    UnlockOfUnlockedRw,
    /// `runlock` of an rwmutex that is not locked for reading.
    RUnlockOfUnlocked,
    /// A wait group below zero.
    NegativeCounter,
}

impl Fault {
    /// The panic's message.
    pub fn message(self) -> &'static str {
        match self {
            Fault::SendOnClosed => "send on closed channel",
            Fault::CloseOfClosed => "close of closed channel",
            Fault::AbandonOfAbandoned => "abandon of abandoned channel",
            Fault::GetOnAbandoned => "get on abandoned channel",
            Fault::UnlockOfUnlocked => "unlock of unlocked mutex",
            Fault::UnlockOfUnlockedRw => "unlock of unlocked rwmutex",
            Fault::RUnlockOfUnlocked => "runlock of unlocked rwmutex",
            Fault::NegativeCounter => "negative waitgroup counter",
        }
    }
}

/// Why a process has panicked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PanicCause {
    /// An operation that its object does not allow.
    Fault(Fault),
    /// `close` of `nil`.
    CloseOfNil,
    /// `abandon` of `nil`.
    AbandonOfNil,
    /// A `panic` statement with its message.
    Statement(SmolStr),
}

impl PanicCause {
    /// Is it a `panic` statement?
    pub fn is_deliberate(&self) -> bool {
        matches!(self, PanicCause::Statement(_))
    }
}

impl fmt::Display for PanicCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            PanicCause::Fault(fault) => fault.message(),
            PanicCause::CloseOfNil => "close of nil channel",
            PanicCause::AbandonOfNil => "abandon of nil channel",
            PanicCause::Statement(message) => message,
        })
    }
}

impl ActionKind {
    /// The word for labels.
    pub fn word(self) -> &'static str {
        match self {
            ActionKind::Meet => "meet",
            ActionKind::Put => "put",
            ActionKind::Get => "get",
            ActionKind::GetClosed => "get_closed",
            ActionKind::PutLost => "put_lost",
            ActionKind::Close => "close",
            ActionKind::Abandon => "abandon",
            ActionKind::Timeout => "timeout",
            ActionKind::Default => "default",
            ActionKind::Branch => "choose",
            ActionKind::Lock => "lock",
            ActionKind::Unlock => "unlock",
            ActionKind::ReadLock => "rlock",
            ActionKind::ReadUnlock => "runlock",
            ActionKind::Announce => "announce",
            ActionKind::Add => "add",
            ActionKind::Wait => "wait",
            ActionKind::Fault(_) => "panic",
        }
    }
}

impl Action {
    /// Does this process take part?
    pub fn involves(&self, process: ProcId) -> bool {
        self.actor == process || self.partner.is_some_and(|(partner, _)| partner == process)
    }

    /// May the order of the two matter, apart from births? Steps of a common process always do. On a common object all
    /// do, except those that leave each other's outcome alone wherever both can happen.
    pub fn depends_on(&self, other: &Action) -> bool {
        let common_process = other.involves(self.actor)
            || self.partner.is_some_and(|(partner, _)| other.involves(partner));
        if common_process {
            return true;
        }
        if self.object.is_none() || self.object != other.object {
            return false;
        }
        !matches!(
            (self.kind, other.kind),
            (ActionKind::Meet, ActionKind::Meet)
                | (ActionKind::GetClosed, ActionKind::GetClosed)
                | (ActionKind::PutLost, ActionKind::PutLost)
                | (ActionKind::ReadLock, ActionKind::ReadLock)
                | (ActionKind::Wait, ActionKind::Wait)
                | (ActionKind::Fault(_), ActionKind::Fault(_))
        )
    }
}
