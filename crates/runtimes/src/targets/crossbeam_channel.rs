//! crossbeam-channel: threads; rendezvous, bounded and unbounded; select over sends and receives.

use std::time::Duration;

use crossbeam_channel::{
    Receiver, RecvTimeoutError, Select, SendTimeoutError, Sender, TryRecvError, TrySendError,
    bounded, unbounded,
};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Offer, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct CrossbeamChannel;

impl Target for CrossbeamChannel {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "Multi-producer multi-consumer channels for message passing." · `bounded`: "A special case
    /// is zero-capacity channel, which cannot hold any messages. Instead, send and receive
    /// operations must appear at the same time in order to pair up and pass the message over." ·
    /// Disconnection: "When all senders or all receivers associated with a channel get dropped, the
    /// channel becomes disconnected. No more messages can be sent, but any remaining messages can
    /// still be received." · `Select`: "allows you to define a set of channel operations, wait until
    /// any one of them becomes ready, and finally execute it"; The same operation can be added
    /// multiple times is implied by its indices. · `send_timeout`, `recv_timeout`: give the message
    /// back, or leave it.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Threads).then_some(Contract::ALL)
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
        mut offers: Vec<Offer<'_, Self, W>>,
        patience: Option<Duration>,
    ) -> Option<(usize, Answer<W>)> {
        let mut select = Select::new();
        for offer in &offers {
            match offer {
                Offer::Put(sender, _) => select.send(sender),
                Offer::Get(receiver) => select.recv(receiver),
            };
        }
        let ready = match patience {
            None => select.select(),
            Some(patience) => select.select_timeout(patience).ok()?,
        };
        let position = ready.index();
        let answer = match offers.swap_remove(position) {
            Offer::Put(sender, word) => {
                ready.send(sender, word).map_or(Answer::Gone, |()| Answer::Sent)
            }
            Offer::Get(receiver) => ready.recv(receiver).map_or(Answer::Closed, Answer::Got),
        };
        Some((position, answer))
    }
}
