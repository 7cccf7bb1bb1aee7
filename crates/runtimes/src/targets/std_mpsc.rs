//! `std::sync::mpsc`: threads; rendezvous, bounded and unbounded; one receiver, no select.

use std::sync::Mutex;
use std::sync::mpsc::{
    self, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
};
use std::time::Duration;

use crate::harness::executor::lock;
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The module.
#[derive(Clone, Default)]
pub struct StdMpsc;

/// Bounded or not.
pub enum Sender<W> {
    /// `sync_channel`
    Bounded(SyncSender<W>),
    /// `channel`
    Unbounded(mpsc::Sender<W>),
}

/// Only one process receives, so the lock is never waited for.
pub struct Receiver<W>(Mutex<mpsc::Receiver<W>>);

impl Target for StdMpsc {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "Multi-producer, single-consumer FIFO queue communication primitives." · `sync_channel`:
    /// "`bound` specifies the buffer size … Note that a buffer size of 0 is valid, in which case
    /// this becomes a 'rendezvous channel' where each `send` will not return until a `recv` is
    /// paired with it." · "Once one half of a channel has been deallocated, most operations can no
    /// longer continue to make progress, so `Err` will be returned." · `recv_timeout` waits at most
    /// so long; a send cannot be given up (`send_timeout` is unstable).
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Threads).then_some(Contract {
            many_receivers: false,
            select_gets: false,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            cancel_puts: false,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        let bounded = |capacity| {
            let (sender, receiver) = sync_channel(capacity);
            (Sender::Bounded(sender), Receiver(Mutex::new(receiver)))
        };
        match capacity {
            Capacity::Rendezvous => bounded(0),
            Capacity::Bounded(capacity) => bounded(capacity as usize),
            Capacity::Unbounded => {
                let (sender, receiver) = channel();
                (Sender::Unbounded(sender), Receiver(Mutex::new(receiver)))
            }
        }
    }

    fn clone_sender<W: Word>(sender: &Sender<W>) -> Option<Sender<W>> {
        Some(match sender {
            Sender::Bounded(sender) => Sender::Bounded(sender.clone()),
            Sender::Unbounded(sender) => Sender::Unbounded(sender.clone()),
        })
    }

    fn clone_receiver<W: Word>(_: &Receiver<W>) -> Option<Receiver<W>> {
        None
    }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        match sender {
            Sender::Bounded(sender) => match sender.try_send(word) {
                Ok(()) => Some(Answer::Sent),
                Err(TrySendError::Full(_)) => None,
                Err(TrySendError::Disconnected(_)) => Some(Answer::Gone),
            },
            Sender::Unbounded(_) => Some(Self::put(sender, word)),
        }
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        match lock(&receiver.0).try_recv() {
            Ok(word) => Some(Answer::Got(word)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Answer::Closed),
        }
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        let sent = match sender {
            Sender::Bounded(sender) => sender.send(word),
            Sender::Unbounded(sender) => sender.send(word),
        };
        sent.map_or(Answer::Gone, |()| Answer::Sent)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        lock(&receiver.0).recv().map_or(Answer::Closed, Answer::Got)
    }

    fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        match lock(&receiver.0).recv_timeout(patience) {
            Ok(word) => Some(Answer::Got(word)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Answer::Closed),
        }
    }
}
