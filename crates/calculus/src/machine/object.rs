//! Channels, locks and wait groups at run time: their states and what each operation does to them.
//! Buffered and closed channels follow Lange et al., ICSE 2018 (Fig. 5); a rendezvous has no state but closed.

use smallvec::SmallVec;

use crate::language::ast::{Capacity, LockKind};
use crate::machine::value::Value;

/// The state of one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A channel.
    Channel(Channel),
    /// A mutex: is it locked?
    Mutex(bool),
    /// An rwmutex.
    RwMutex {
        /// How many hold it for reading.
        readers: u32,
        /// Has a writer announced itself? Stays so until it unlocks.
        announced: bool,
        /// Does that writer hold it?
        writing: bool,
    },
    /// A wait group's counter.
    WaitGroup(i64),
}

/// The state of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// How many messages it holds at most.
    pub capacity: Capacity,
    /// Can more be sent, and will anyone receive it?
    pub phase: Phase,
    /// The messages, oldest first.
    pub messages: SmallVec<[Value; 2]>,
}

/// Whether a channel is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Both sides are there.
    Open,
    /// The sending side has closed it.
    Closed,
    /// The receiving side has left.
    Abandoned,
}

impl Object {
    /// A new channel.
    pub fn channel(capacity: Capacity) -> Object {
        Object::Channel(Channel { capacity, phase: Phase::Open, messages: SmallVec::new() })
    }

    /// A new lock or wait group.
    pub fn lock(kind: LockKind) -> Object {
        match kind {
            LockKind::Mutex => Object::Mutex(false),
            LockKind::RwMutex => Object::RwMutex { readers: 0, announced: false, writing: false },
            LockKind::WaitGroup => Object::WaitGroup(0),
        }
    }
}

impl Object {
    /// Is it a channel on which senders and receivers can meet and have to?
    pub fn is_open_rendezvous(&self) -> bool {
        matches!(self, Object::Channel(channel) if channel.is_rendezvous() && channel.phase == Phase::Open)
    }
}

impl Channel {
    /// Do senders and receivers have to meet?
    pub fn is_rendezvous(&self) -> bool {
        self.capacity == Capacity::Rendezvous
    }

    /// Is there room for a message without meeting a receiver?
    pub fn has_room(&self) -> bool {
        match self.capacity {
            Capacity::Rendezvous => false,
            Capacity::Bounded(capacity) => self.messages.len() < capacity as usize,
            Capacity::Unbounded => true,
        }
    }
}
