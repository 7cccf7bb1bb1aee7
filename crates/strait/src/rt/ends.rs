//! What the steps at a channel access, and what they leave behind for each other.
//!
//! A send works at the back of the queue and a receive at the front, so they commute as long as
//! neither decides what the other can do. Where one waits for the other there is no choice: the n-th
//! receive needs the n-th send, and in a buffer for c messages the n-th send needs the receive before
//! the last c. So these are no conflicts but causes ([`strait_explore::Next::enablers`]). Only who
//! does not wait can tell whether the queue was empty or full, and who finds a channel closed, whether
//! the other side was gone.
//!
//! | step | back | front | senders | waits for |
//! |---|---|---|---|---|
//! | send | writes | | | the receive that made room, if the queue is bounded |
//! | try_send, send_timeout | writes | reads, if the queue is bounded | | |
//! | recv | | writes | | the send of the message, or all senders being dropped |
//! | try_recv, recv_timeout | reads | writes | writes | |
//! | len and the like | reads | reads | writes | |
//! | drop a sender | | | reads | |
//! | drop a receiver | writes | writes, if there were several | writes, if there were several | |
//!
//! A step that accesses the front without waiting there is ordered with all that can open it for others,
//! the senders' going included ([`strait_explore::Threaded::open`]): so `len` writes what it does not
//! look at. A `try_send` comes before its own sender goes.
//!
//! A receiver that was never cloned is dropped after all it has received, whichever thread did that for it;
//! with several, those that are left may still receive.
//!
//! A channel is a whole, all of whose steps are ordered with each other, if it is a rendezvous, if
//! a select looks at it, which may wait for several channels at once, and while exceptions are in
//! use, which make every waiting step wait for two things.

use strait_explore::{Access, EventId};

use super::features::{Feature, Features};
use super::op::{reads, writes};
use super::record::add_past;
use super::short_list::ShortList;
use super::world::World;

/// There is room, a receiver waits, or no receiver is left.
pub(crate) const SEND: u8 = 1;
/// There is a message, a sender waits, or no sender is left.
pub(crate) const RECEIVE: u8 = 2;

/// What is done to a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    Send,
    TrySend,
    Receive,
    TryReceive,
    SendTimeout,
    ReceiveTimeout,
    /// Having waited for a partner for a while.
    TimeOut,
    /// Looking how many messages there are.
    Look,
    DropSender,
    DropReceiver,
}

impl Doing {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Doing::Send => "send",
            Doing::TrySend => "try_send",
            Doing::Receive => "recv",
            Doing::TryReceive => "try_recv",
            Doing::SendTimeout => "send_timeout",
            Doing::ReceiveTimeout => "recv_timeout",
            Doing::TimeOut => "time is over",
            Doing::Look => "look",
            Doing::DropSender => "drop sender",
            Doing::DropReceiver => "drop receiver",
        }
    }
}

/// How long a thread waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// Perhaps long enough, perhaps not.
    Limited,
    Endless,
}

/// How a queue behaves towards its steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Unbounded,
    Bounded,
    Rendezvous,
}

impl Shape {
    pub(crate) fn of(capacity: Option<usize>) -> Shape {
        match capacity {
            None => Shape::Unbounded,
            Some(0) => Shape::Rendezvous,
            Some(_) => Shape::Bounded,
        }
    }

    /// Are all steps at such a channel ordered with each other, if selects look at it or not?
    #[inline]
    pub(crate) fn is_whole(self, selected: bool, features: Features) -> bool {
        selected || self == Shape::Rendezvous || features.has(Feature::Exceptions)
    }
}

/// The objects that stand for a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// Where messages come in; stands for the whole.
    pub(crate) back: u32,
    /// Where messages go out.
    pub(crate) front: u32,
    /// The senders' being there.
    pub(crate) senders: u32,
}

impl Ends {
    /// The access of a step that has only one, as the usual ones do.
    #[inline]
    pub(crate) fn only_access(self, doing: Doing, shape: Shape, whole: bool) -> Option<Access> {
        let Ends { back, front, senders } = self;
        let gated = |object, gate| Some(Access { object, write: true, gate });
        match (doing, shape) {
            (Doing::Look, Shape::Rendezvous) => Some(reads(back)),
            (_, Shape::Rendezvous) => Some(writes(back)),
            (Doing::Look, _) if whole => Some(reads(back)),
            (Doing::Send, _) if whole => gated(back, SEND),
            (Doing::Receive, _) if whole => gated(back, RECEIVE),
            (_, _) if whole => Some(writes(back)),
            (Doing::Send, Shape::Bounded) => gated(back, SEND),
            (Doing::Send | Doing::TrySend, Shape::Unbounded) => Some(writes(back)),
            (Doing::Receive, _) => gated(front, RECEIVE),
            (Doing::DropSender, _) => Some(reads(senders)),
            _ => None,
        }
    }

    /// The accesses of a step that may have several. The first object is the one whose gate says in
    /// how many ways it can be taken.
    pub(crate) fn accesses(self, doing: Doing, several_receivers: bool) -> ShortList<Access> {
        let Ends { back, front, senders } = self;
        let mut accesses = ShortList::new(reads(u32::MAX));
        match doing {
            Doing::Send | Doing::TrySend | Doing::SendTimeout => {
                accesses.extend([writes(back), reads(front)]);
            }
            Doing::Look => accesses.extend([reads(back), reads(front), writes(senders)]),
            // Only where there are no ends.
            Doing::TimeOut => accesses.push(writes(back)),
            Doing::Receive | Doing::TryReceive | Doing::ReceiveTimeout => {
                accesses.extend([writes(front), reads(back), writes(senders)]);
            }
            Doing::DropSender => accesses.push(reads(senders)),
            Doing::DropReceiver => {
                accesses.push(writes(back));
                if several_receivers {
                    accesses.extend([writes(front), writes(senders)]);
                }
            }
        }
        accesses
    }
}

/// What a step leaves in the queue, for the step that needs it.
#[derive(Clone, Default, Debug)]
pub(crate) struct Stamp {
    pub(crate) event: Option<EventId>,
    /// What its thread knew, if clocks are kept.
    pub(crate) clock: Vec<u32>,
    /// What happened before it, if atomic variables are left to the search.
    past: Vec<EventId>,
}

impl World {
    /// What the current thread leaves with its last step.
    pub(crate) fn stamp(&mut self) -> Stamp {
        let past = if self.is_relaxed() { self.me().past.to_vec() } else { Vec::new() };
        Stamp { event: self.last_event(), clock: self.clocks.released(self.current), past }
    }

    /// The current thread finds what a step has left.
    pub(crate) fn find_stamp(&mut self, stamp: &Stamp) {
        self.clocks.learn(self.current, &stamp.clock);
        add_past(&mut self.me().past, &stamp.past);
    }
}
