//! crossfire 2.x, where the types of ends do not name the kind of channel. Not part of this crate: it is built
//! with versions that the target's own file does not fit. Only tasks, because the first of these versions
//! have no channel that blocks on both sides.

use crossfire::{MAsyncRx, MAsyncTx, MTx, mpmc};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Crossfire;

/// Bounded or not.
pub enum Sender<W: Word> {
    /// Waits for room.
    Bounded(MAsyncTx<W>),
    /// A send never waits.
    Unbounded(MTx<W>),
}

impl Target for Crossfire {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = MAsyncRx<W>;

    /// 2.0.0: "In async context, future-select! can be used. Cancelling is supported." · "0 size is not
    /// supported yet, threat it as 1 size for now".
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Tasks).then_some(Contract {
            rendezvous: false,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            cancel_puts: false,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, MAsyncRx<W>) {
        let size = match capacity {
            Capacity::Unbounded => {
                let (sender, receiver) = mpmc::unbounded_async();
                return (Sender::Unbounded(sender), receiver);
            }
            Capacity::Rendezvous => 1,
            Capacity::Bounded(capacity) => capacity as usize,
        };
        let (sender, receiver) = mpmc::bounded_async(size);
        (Sender::Bounded(sender), receiver)
    }

    fn clone_sender<W: Word>(sender: &Sender<W>) -> Option<Sender<W>> {
        Some(match sender {
            Sender::Bounded(sender) => Sender::Bounded(sender.clone()),
            Sender::Unbounded(sender) => Sender::Unbounded(sender.clone()),
        })
    }

    fn clone_receiver<W: Word>(receiver: &MAsyncRx<W>) -> Option<MAsyncRx<W>> {
        Some(receiver.clone())
    }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        // Where the type of the error comes from differs between versions, its methods do not.
        let is_full = match sender {
            Sender::Bounded(sender) => sender.try_send(word).map_err(|error| error.is_full()),
            Sender::Unbounded(sender) => sender.try_send(word).map_err(|error| error.is_full()),
        };
        match is_full {
            Ok(()) => Some(Answer::Sent),
            Err(true) => None,
            Err(false) => Some(Answer::Gone),
        }
    }

    fn try_get<W: Word>(receiver: &MAsyncRx<W>) -> Option<Answer<W>> {
        match receiver.try_recv() {
            Ok(word) => Some(Answer::Got(word)),
            Err(error) if error.is_empty() => None,
            Err(_) => Some(Answer::Closed),
        }
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        let is_sent = match sender {
            Sender::Bounded(sender) => sender.send(word).await.is_ok(),
            Sender::Unbounded(sender) => sender.send(word).is_ok(),
        };
        if is_sent { Answer::Sent } else { Answer::Gone }
    }

    async fn get_task<W: Word>(receiver: &MAsyncRx<W>) -> Answer<W> {
        receiver.recv().await.map_or(Answer::Closed, Answer::Got)
    }
}
