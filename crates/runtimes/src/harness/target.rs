//! What a channel crate has to offer to be a target: one trait, and a table of what its
//! documentation promises.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::executor::{Executor, Workers};
use super::payload::Word;
use super::plan::Capacity;

/// Who runs the processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// A thread each.
    #[default]
    Threads,
    /// A task each, on a few threads.
    Tasks,
    /// Some are threads, some are tasks, on the same channels.
    Mixed,
}

/// How much is promised about operations that are given up or not chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Promise {
    /// They have not happened.
    #[default]
    Full,
    /// They may have happened, and their message may be lost. Apart from that nothing crashes or hangs, no
    /// message is received twice, and those that are received keep their order.
    Loose,
}

/// What a crate promises for one flavour. What is false here is not asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Channels on which sender and receiver meet.
    pub rendezvous: bool,
    /// Channels that hold just as many messages as asked for.
    pub bounded: bool,
    /// The most messages that such a channel may be asked to hold; `None` for any number.
    pub max_capacity: Option<u32>,
    /// Channels that hold any number.
    pub unbounded: bool,
    /// Several processes may send on one channel.
    pub many_senders: bool,
    /// Several processes may receive on one channel.
    pub many_receivers: bool,
    /// A channel carries one message at most, and is of no use after it.
    pub one_message: bool,
    /// When the last sender has gone, receivers get what is left and then learn of it.
    pub close: bool,
    /// When the last receiver has gone, sends fail at once.
    pub abandon: bool,
    /// One of several receives, the others without effect.
    pub select_gets: bool,
    /// One of several sends, the others without effect.
    pub select_puts: bool,
    /// A channel may stand in two cases of a select.
    pub same_channel_twice: bool,
    /// A send and a receive on one channel in one select.
    pub put_and_get_in_select: bool,
    /// Receives that do not wait, and say truly whether there was a message.
    pub try_gets: bool,
    /// Sends that do not wait, and say truly whether there was room.
    pub try_puts: bool,
    /// Receives that can be given up: either a message is received or none is lost.
    pub cancel_gets: bool,
    /// Sends that can be given up: either the message is sent or nobody receives it.
    pub cancel_puts: bool,
}

impl Contract {
    /// Everything.
    pub const ALL: Contract = Contract {
        rendezvous: true,
        bounded: true,
        max_capacity: None,
        unbounded: true,
        many_senders: true,
        many_receivers: true,
        one_message: false,
        close: true,
        abandon: true,
        select_gets: true,
        select_puts: true,
        same_channel_twice: true,
        put_and_get_in_select: true,
        try_gets: true,
        try_puts: true,
        cancel_gets: true,
        cancel_puts: true,
    };
}

/// How an operation ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer<W> {
    /// The message is sent.
    Sent,
    /// There is no receiver any more. The message is dropped.
    Gone,
    /// A message is received.
    Got(W),
    /// There is no sender any more, and no message.
    Closed,
    /// The target cannot do this. The contract should have said so.
    Unsupported,
}

/// One operation of a select.
pub enum Offer<'a, T: Target, W: Word> {
    /// To send this.
    Put(&'a T::Sender<W>, W),
    /// To receive.
    Get(&'a T::Receiver<W>),
}

/// A channel crate. Ends are shared by reference: one that wants `&mut` hides it behind a lock.
///
/// A crate without threads or without tasks leaves those methods alone.
pub trait Target: Clone + Send + Sync + Sized + 'static {
    /// The sending end.
    type Sender<W: Word>: Send + Sync + 'static;
    /// The receiving end.
    type Receiver<W: Word>: Send + Sync + 'static;

    /// What the crate promises for processes of this flavour; `None` when it has none.
    fn contract(&self, flavour: Flavour) -> Option<Contract>;

    /// What can be asked of the crate beyond its contract if [`Promise::Loose`] is enough: the contract
    /// with more operations. `None` when there is nothing more, or when the documentation leaves open
    /// whether such operations hang or crash.
    fn loose_contract(&self, _flavour: Flavour) -> Option<Contract> {
        None
    }

    /// What the crate promises to that degree.
    fn contract_to(&self, promise: Promise, flavour: Flavour) -> Option<Contract> {
        match promise {
            Promise::Full => self.contract(flavour),
            Promise::Loose => self.loose_contract(flavour),
        }
    }

    /// A new channel, within the contract.
    fn open<W: Word>(&self, capacity: Capacity) -> (Self::Sender<W>, Self::Receiver<W>);

    /// Another sender of the same channel; `None` when senders cannot be cloned.
    fn clone_sender<W: Word>(sender: &Self::Sender<W>) -> Option<Self::Sender<W>>;

    /// Another receiver of the same channel; `None` when receivers cannot be cloned.
    fn clone_receiver<W: Word>(receiver: &Self::Receiver<W>) -> Option<Self::Receiver<W>>;

    /// Closes the channel other than by dropping its senders, so that what is in it can still be
    /// received; `false` when there is no such operation.
    fn close<W: Word>(_sender: &Self::Sender<W>) -> bool {
        false
    }

    /// Sends without waiting; `None` when there is no room.
    fn try_put<W: Word>(_sender: &Self::Sender<W>, _word: W) -> Option<Answer<W>> {
        Some(Answer::Unsupported)
    }

    /// Receives without waiting; `None` when there is nothing.
    fn try_get<W: Word>(_receiver: &Self::Receiver<W>) -> Option<Answer<W>> {
        Some(Answer::Unsupported)
    }

    /// Sends; the thread waits.
    fn put<W: Word>(_sender: &Self::Sender<W>, _word: W) -> Answer<W> {
        Answer::Unsupported
    }

    /// Receives; the thread waits.
    fn get<W: Word>(_receiver: &Self::Receiver<W>) -> Answer<W> {
        Answer::Unsupported
    }

    /// Sends; the thread waits at most so long.
    fn put_within<W: Word>(_: &Self::Sender<W>, _word: W, _: Duration) -> Option<Answer<W>> {
        Some(Answer::Unsupported)
    }

    /// Receives; the thread waits at most so long.
    fn get_within<W: Word>(_: &Self::Receiver<W>, _: Duration) -> Option<Answer<W>> {
        Some(Answer::Unsupported)
    }

    /// Does one of several operations; the thread waits, at most so long if that is given.
    fn select<W: Word>(
        _offers: Vec<Offer<'_, Self, W>>,
        _patience: Option<Duration>,
    ) -> Option<(usize, Answer<W>)> {
        Some((0, Answer::Unsupported))
    }

    /// Sends; the task waits.
    fn put_task<W: Word>(
        _sender: &Self::Sender<W>,
        _word: W,
    ) -> impl Future<Output = Answer<W>> + Send {
        std::future::ready(Answer::Unsupported)
    }

    /// Receives; the task waits.
    fn get_task<W: Word>(_receiver: &Self::Receiver<W>) -> impl Future<Output = Answer<W>> + Send {
        std::future::ready(Answer::Unsupported)
    }

    /// What runs the tasks.
    fn executor(&self) -> Result<Arc<dyn Executor>, std::io::Error> {
        Ok(Workers::start(super::executor::WORKERS)?)
    }
}
