//! thingbuf's mpsc: tasks, or threads; bounded; one receiver. Two targets, because a channel is made
//! for the one or for the other.

use std::time::Duration;

use thingbuf::Recycle;
use thingbuf::mpsc::errors::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use thingbuf::mpsc::{self, blocking};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// `thingbuf::mpsc`
#[derive(Clone, Default)]
pub struct Thingbuf;

/// `thingbuf::mpsc::blocking`
#[derive(Clone, Default)]
pub struct ThingbufBlocking;

/// The queue keeps its slots and their content; here a slot is empty or holds a message.
#[derive(Clone, Default)]
pub struct Slots;

impl<W> Recycle<Option<W>> for Slots {
    fn new_element(&self) -> Option<W> {
        None
    }

    fn recycle(&self, element: &mut Option<W>) {
        *element = None;
    }
}

/// "Multi-producer, single-consumer channels": "When all `Sender` handles have been dropped, … those
/// messages will be returned before `Receiver::recv` returns `None`"; "If the `Receiver` handle is
/// dropped, … all further attempts to send will result in an error". · Bounded channels alone. ·
/// Nothing is said about futures that are dropped: no select and no cancellation among tasks.
///
/// A channel that is abandoned keeps what was in it until the senders have gone as well, which the
/// drop of the whole channel then takes away.
const PROMISE: Contract = Contract {
    rendezvous: false,
    unbounded: false,
    many_receivers: false,
    select_gets: false,
    select_puts: false,
    same_channel_twice: false,
    put_and_get_in_select: false,
    cancel_gets: false,
    cancel_puts: false,
    ..Contract::ALL
};

fn slots(capacity: Capacity) -> usize {
    match capacity {
        Capacity::Bounded(capacity) => capacity as usize,
        Capacity::Rendezvous | Capacity::Unbounded => 1,
    }
}

fn tried_put<W>(sent: Result<(), TrySendError<Option<W>>>) -> Option<Answer<W>> {
    match sent {
        Ok(()) => Some(Answer::Sent),
        Err(TrySendError::Full(_)) => None,
        Err(_) => Some(Answer::Gone),
    }
}

fn tried_get<W>(received: Result<Option<W>, TryRecvError>) -> Option<Answer<W>> {
    match received {
        Ok(word) => Some(got(Some(word))),
        Err(TryRecvError::Empty) => None,
        Err(_) => Some(Answer::Closed),
    }
}

/// A slot that was handed over empty was never sent: the harness cannot go on with it.
fn got<W>(received: Option<Option<W>>) -> Answer<W> {
    match received {
        Some(slot) => Answer::Got(slot.expect("a received slot holds a message")),
        None => Answer::Closed,
    }
}

impl Target for Thingbuf {
    type Sender<W: Word> = mpsc::Sender<Option<W>, Slots>;
    type Receiver<W: Word> = mpsc::Receiver<Option<W>, Slots>;

    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Tasks).then_some(PROMISE)
    }

    /// Futures can be dropped at any time in Rust; a message may be lost then, since nothing is said about
    /// it, but the others have to go on.
    fn loose_contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Tasks).then_some(Contract {
            select_gets: true,
            select_puts: true,
            cancel_gets: true,
            cancel_puts: true,
            ..PROMISE
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Self::Sender<W>, Self::Receiver<W>) {
        mpsc::with_recycle(slots(capacity), Slots)
    }

    fn clone_sender<W: Word>(sender: &Self::Sender<W>) -> Option<Self::Sender<W>> {
        Some(sender.clone())
    }

    fn clone_receiver<W: Word>(_: &Self::Receiver<W>) -> Option<Self::Receiver<W>> {
        None
    }

    fn try_put<W: Word>(sender: &Self::Sender<W>, word: W) -> Option<Answer<W>> {
        tried_put(sender.try_send(Some(word)))
    }

    fn try_get<W: Word>(receiver: &Self::Receiver<W>) -> Option<Answer<W>> {
        tried_get(receiver.try_recv())
    }

    async fn put_task<W: Word>(sender: &Self::Sender<W>, word: W) -> Answer<W> {
        sender.send(Some(word)).await.map_or(Answer::Gone, |()| Answer::Sent)
    }

    async fn get_task<W: Word>(receiver: &Self::Receiver<W>) -> Answer<W> {
        got(receiver.recv().await)
    }
}

impl Target for ThingbufBlocking {
    type Sender<W: Word> = blocking::Sender<Option<W>, Slots>;
    type Receiver<W: Word> = blocking::Receiver<Option<W>, Slots>;

    /// Also `send_timeout`, which gives the message back, and `recv_timeout`.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        let promise = Contract { cancel_gets: true, cancel_puts: true, ..PROMISE };
        (flavour == Flavour::Threads).then_some(promise)
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Self::Sender<W>, Self::Receiver<W>) {
        blocking::with_recycle(slots(capacity), Slots)
    }

    fn clone_sender<W: Word>(sender: &Self::Sender<W>) -> Option<Self::Sender<W>> {
        Some(sender.clone())
    }

    fn clone_receiver<W: Word>(_: &Self::Receiver<W>) -> Option<Self::Receiver<W>> {
        None
    }

    fn try_put<W: Word>(sender: &Self::Sender<W>, word: W) -> Option<Answer<W>> {
        tried_put(sender.try_send(Some(word)))
    }

    fn try_get<W: Word>(receiver: &Self::Receiver<W>) -> Option<Answer<W>> {
        tried_get(receiver.try_recv())
    }

    fn put<W: Word>(sender: &Self::Sender<W>, word: W) -> Answer<W> {
        sender.send(Some(word)).map_or(Answer::Gone, |()| Answer::Sent)
    }

    fn get<W: Word>(receiver: &Self::Receiver<W>) -> Answer<W> {
        got(receiver.recv())
    }

    fn put_within<W: Word>(
        sender: &Self::Sender<W>,
        word: W,
        patience: Duration,
    ) -> Option<Answer<W>> {
        match sender.send_timeout(Some(word), patience) {
            Ok(()) => Some(Answer::Sent),
            Err(SendTimeoutError::Timeout(_)) => None,
            Err(_) => Some(Answer::Gone),
        }
    }

    fn get_within<W: Word>(receiver: &Self::Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        match receiver.recv_timeout(patience) {
            Ok(word) => Some(got(Some(word))),
            Err(RecvTimeoutError::Timeout) => None,
            Err(_) => Some(Answer::Closed),
        }
    }
}
