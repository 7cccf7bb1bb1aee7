//! loole: threads, tasks and both on one channel; rendezvous, bounded and unbounded.

use std::time::Duration;

use loole::{
    Receiver, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError, TrySendError, bounded,
    unbounded,
};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Loole;

impl Target for Loole {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "A safe async/sync multi-producer multi-consumer channel": "Unbounded, bounded and rendezvous
    /// channels", "Send and receive operations can be blocking (sync) or non-blocking (async)". ·
    /// `bounded`: "A bounded queue with a limited maximum capacity of zero will block senders until
    /// a receiver is available to take the value": the value is left for whoever comes first, who
    /// may be another receiver than the waiting one or the sender itself, so that is no rendezvous
    /// as the language has it and none is asked for. · `close`: "The remaining messages can still be
    /// received." · `send_timeout` gives the message back, `recv_timeout` leaves it. ·
    /// `SendFuture`: "Dropping a pending `SendFuture` cancels the send", but a message is delivered
    /// when "the receiver won the hand-off race just as the future was dropped": not atomic. ·
    /// Threads have no select.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: false,
            select_gets: flavour == Flavour::Tasks,
            select_puts: false,
            same_channel_twice: flavour == Flavour::Tasks,
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

    fn close<W: Word>(sender: &Sender<W>) -> bool {
        sender.close();
        true
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

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.send_async(word).await.map_or(Answer::Gone, |()| Answer::Sent)
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.recv_async().await.map_or(Answer::Closed, Answer::Got)
    }
}
