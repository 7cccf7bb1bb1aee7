//! flume: threads, tasks and both on one channel; rendezvous, bounded and unbounded; `Selector`.

use std::time::Duration;

use flume::{
    Receiver, RecvTimeoutError, Selector, SendTimeoutError, Sender, TryRecvError, TrySendError,
    bounded, unbounded,
};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Offer, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Flume;

impl Target for Flume {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "A blazingly fast multi-producer, multi-consumer channel"; "Unbounded, bounded and rendezvous
    /// queues"; "`async` support, including mix 'n match with sync code". · `bounded`: "A bounded
    /// queue with a maximum capacity of zero will block senders until a receiver is available to
    /// take the value." · `Selector`: "allowing a thread to wait upon the result of more than one
    /// operation at once", `wait`: "Wait until one of the events associated with this `Selector` has
    /// completed." · `send_timeout` gives the message back, `recv_timeout` leaves it.
    ///
    /// A value sent to a task that waits on a rendezvous channel is left for whoever comes first,
    /// who may be the sender itself: that is no rendezvous as the language has it, so tasks have
    /// none. Nothing is said about sends that are not chosen or whose future is dropped: they may still
    /// have happened, so they are not asked for.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: flavour == Flavour::Threads,
            select_puts: false,
            put_and_get_in_select: false,
            cancel_puts: flavour == Flavour::Threads,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        match capacity {
            Capacity::Rendezvous => bounded(0),
            Capacity::Bounded(capacity) => bounded(capacity as usize),
            Capacity::Unbounded => unbounded(),
        }
    }

    fn clone_sender<W: Word>(sender: &Sender<W>) -> Option<Sender<W>> {
        Some(sender.clone())
    }

    fn clone_receiver<W: Word>(receiver: &Receiver<W>) -> Option<Receiver<W>> {
        Some(receiver.clone())
    }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        match sender.try_send(word) {
            Ok(()) => Some(Answer::Sent),
            Err(TrySendError::Full(_)) => None,
            Err(TrySendError::Disconnected(_)) => Some(Answer::Gone),
        }
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        match receiver.try_recv() {
            Ok(word) => Some(Answer::Got(word)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Answer::Closed),
        }
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.send(word).map_or(Answer::Gone, |()| Answer::Sent)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.recv().map_or(Answer::Closed, Answer::Got)
    }

    fn put_within<W: Word>(sender: &Sender<W>, word: W, patience: Duration) -> Option<Answer<W>> {
        match sender.send_timeout(word, patience) {
            Ok(()) => Some(Answer::Sent),
            Err(SendTimeoutError::Timeout(_)) => None,
            Err(SendTimeoutError::Disconnected(_)) => Some(Answer::Gone),
        }
    }

    fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        match receiver.recv_timeout(patience) {
            Ok(word) => Some(Answer::Got(word)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Answer::Closed),
        }
    }

    fn select<W: Word>(
        offers: Vec<Offer<'_, Self, W>>,
        patience: Option<Duration>,
    ) -> Option<(usize, Answer<W>)> {
        let mut selector = Selector::new();
        for (position, offer) in offers.into_iter().enumerate() {
            selector = match offer {
                Offer::Put(sender, word) => selector.send(sender, word, move |sent| {
                    (position, sent.map_or(Answer::Gone, |()| Answer::Sent))
                }),
                Offer::Get(receiver) => selector.recv(receiver, move |received| {
                    (position, received.map_or(Answer::Closed, Answer::Got))
                }),
            };
        }
        match patience {
            None => Some(selector.wait()),
            Some(patience) => selector.wait_timeout(patience).ok(),
        }
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.send_async(word).await.map_or(Answer::Gone, |()| Answer::Sent)
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.recv_async().await.map_or(Answer::Closed, Answer::Got)
    }
}
