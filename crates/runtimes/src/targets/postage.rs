//! postage's `dispatch`: threads, tasks and both on one channel; bounded; several receivers.

use postage::dispatch::{Receiver, Sender, channel};
use postage::sink::{Sink, TrySendError};
use postage::stream::{Stream, TryRecvError};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate. Its `mpsc` is the same queue with a receiver that cannot be cloned.
#[derive(Clone, Default)]
pub struct Postage;

impl Target for Postage {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "A fixed-capacity multi-producer, multi-consumer queue. At most one receiver will observe each
    /// value." · "the sender task is suspended if the channel becomes full." · `try_send`: pending
    /// "if the channel is full", rejected "if the channel is closed". · Nothing is said about
    /// futures that are dropped, and threads have no timeouts: no cancellation, no select.
    ///
    /// Operations want `&mut`, so each is performed on a clone of the end: what the documentation
    /// offers for sharing.
    fn contract(&self, _: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: false,
            unbounded: false,
            select_gets: false,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            cancel_gets: false,
            cancel_puts: false,
            ..Contract::ALL
        })
    }

    /// Futures can be dropped at any time in Rust; a message may be lost then, since nothing is said about
    /// it, but the others have to go on.
    fn loose_contract(&self, flavour: Flavour) -> Option<Contract> {
        let promised = self.contract(flavour)?;
        let can_poll = flavour == Flavour::Tasks;
        can_poll.then_some(Contract {
            select_gets: true,
            select_puts: true,
            cancel_gets: true,
            cancel_puts: true,
            ..promised
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        match capacity {
            Capacity::Bounded(capacity) => channel(capacity as usize),
            Capacity::Rendezvous | Capacity::Unbounded => channel(1),
        }
    }

    std_names! { clone }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        match sender.clone().try_send(word) {
            Ok(()) => Some(Answer::Sent),
            Err(TrySendError::Pending(_)) => None,
            Err(TrySendError::Rejected(_)) => Some(Answer::Gone),
        }
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        match receiver.clone().try_recv() {
            Ok(word) => Some(Answer::Got(word)),
            Err(TryRecvError::Pending) => None,
            Err(TryRecvError::Closed) => Some(Answer::Closed),
        }
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.clone().blocking_send(word).map_or(Answer::Gone, |()| Answer::Sent)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.clone().blocking_recv().map_or(Answer::Closed, Answer::Got)
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.clone().send(word).await.map_or(Answer::Gone, |()| Answer::Sent)
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.clone().recv().await.map_or(Answer::Closed, Answer::Got)
    }
}
