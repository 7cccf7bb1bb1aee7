//! async-channel: tasks, threads and both on one channel; bounded and unbounded.

use async_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded, unbounded};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct AsyncChannel;

impl Target for AsyncChannel {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "An async multi-producer multi-consumer channel, where each message can be received by only
    /// one of all existing consumers." "1. Bounded channel with limited capacity. 2. Unbounded
    /// channel with unlimited capacity." (`bounded`: "Capacity must be a positive number".) · "When
    /// all `Sender`s or all `Receiver`s are dropped, the channel becomes closed. When a channel is
    /// closed, no more messages can be sent, but remaining messages can still be received." · "The
    /// channel can also be closed manually by calling `Sender::close()` or `Receiver::close()`." ·
    /// `send_blocking`, `recv_blocking`: for non-asynchronous contexts; threads have neither
    /// select nor timeouts. · A future owns its message until it is in the queue, and an operation
    /// that was notified and dropped notifies another one.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        let can_poll = flavour == Flavour::Tasks;
        Some(Contract {
            rendezvous: false,
            select_gets: can_poll,
            select_puts: can_poll,
            same_channel_twice: can_poll,
            put_and_get_in_select: false,
            cancel_gets: can_poll,
            cancel_puts: can_poll,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        match capacity {
            Capacity::Rendezvous => bounded(1),
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
            Err(TrySendError::Closed(_)) => Some(Answer::Gone),
        }
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        match receiver.try_recv() {
            Ok(word) => Some(Answer::Got(word)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Closed) => Some(Answer::Closed),
        }
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.send_blocking(word).map_or(Answer::Gone, |()| Answer::Sent)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.recv_blocking().map_or(Answer::Closed, Answer::Got)
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.send(word).await.map_or(Answer::Gone, |()| Answer::Sent)
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.recv().await.map_or(Answer::Closed, Answer::Got)
    }
}
