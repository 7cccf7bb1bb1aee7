//! The crate oneshot: one message; threads and tasks.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::Poll;
use std::time::Duration;

use oneshot::{RecvTimeoutError, TryRecvError};

use crate::harness::executor::lock;
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Oneshot;

type Awaited<W> = <oneshot::Receiver<W> as IntoFuture>::IntoFuture;

/// The receiving end.
pub enum Receiver<W> {
    /// For a thread, or for a task that has not begun to wait.
    Idle(oneshot::Receiver<W>),
    /// For a task.
    Awaited(Awaited<W>),
    /// The message was received.
    Done,
}

impl Target for Oneshot {
    /// Empty when the message is sent.
    type Sender<W: Word> = Mutex<Option<oneshot::Sender<W>>>;
    type Receiver<W: Word> = Mutex<Receiver<W>>;

    /// "Oneshot spsc (single producer, single consumer) channel. Meaning each channel instance can only transport
    /// a single message." · "The sender's send method is non-blocking" · `recv`: if the sender "has disconnected
    /// (been dropped), or it disconnects while this call is blocking, this call will wake up and return
    /// `Err`". · The error of `send` holds the message if the receiver "has already been dropped". · `try_recv`,
    /// `Empty`: "The channel is still open, but there was no message present in it." · "The receiving endpoint … implements
    /// Rust's `IntoFuture`"; a receiver that a task awaits has nothing that tries. · `recv_timeout` and the
    /// future leave the message where it is if they return without one.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: false,
            unbounded: false,
            max_capacity: Some(1),
            many_senders: false,
            many_receivers: false,
            one_message: true,
            select_gets: flavour == Flavour::Tasks,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            try_gets: flavour == Flavour::Threads,
            cancel_puts: false,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, _: Capacity) -> (Self::Sender<W>, Self::Receiver<W>) {
        let (sender, receiver) = oneshot::channel();
        (Mutex::new(Some(sender)), Mutex::new(Receiver::Idle(receiver)))
    }

    std_names! { single }

    fn try_put<W: Word>(sender: &Self::Sender<W>, word: W) -> Option<Answer<W>> {
        Some(Self::put(sender, word))
    }

    fn try_get<W: Word>(receiver: &Self::Receiver<W>) -> Option<Answer<W>> {
        received(receiver, |receiver| match receiver.try_recv() {
            Ok(word) => Some(Answer::Got(word)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Answer::Closed),
        })
    }

    fn put<W: Word>(sender: &Self::Sender<W>, word: W) -> Answer<W> {
        match lock(sender).take() {
            Some(sender) => sender.send(word).map_or(Answer::Gone, |()| Answer::Sent),
            None => Answer::Unsupported,
        }
    }

    fn get<W: Word>(receiver: &Self::Receiver<W>) -> Answer<W> {
        let answer = received(receiver, |receiver| {
            Some(receiver.recv_ref().map_or(Answer::Closed, Answer::Got))
        });
        answer.unwrap_or(Answer::Unsupported)
    }

    fn get_within<W: Word>(receiver: &Self::Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        received(receiver, |receiver| match receiver.recv_timeout(patience) {
            Ok(word) => Some(Answer::Got(word)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Answer::Closed),
        })
    }

    async fn put_task<W: Word>(sender: &Self::Sender<W>, word: W) -> Answer<W> {
        Self::put(sender, word)
    }

    fn get_task<W: Word>(receiver: &Self::Receiver<W>) -> impl Future<Output = Answer<W>> + Send {
        poll_fn(move |context| {
            let mut end = lock(receiver);
            let mut awaited = match std::mem::replace(&mut *end, Receiver::Done) {
                Receiver::Idle(receiver) => receiver.into_future(),
                Receiver::Awaited(awaited) => awaited,
                Receiver::Done => return Poll::Ready(Answer::Unsupported),
            };
            let polled = Pin::new(&mut awaited).poll(context);
            if polled.is_pending() {
                *end = Receiver::Awaited(awaited);
            }
            polled.map(|received| received.map_or(Answer::Closed, Answer::Got))
        })
    }
}

/// Receives on a thread. Only one process does, so the lock is never waited for.
fn received<W: Word>(
    receiver: &Mutex<Receiver<W>>,
    receive: impl FnOnce(&oneshot::Receiver<W>) -> Option<Answer<W>>,
) -> Option<Answer<W>> {
    let mut end = lock(receiver);
    let Receiver::Idle(receiver) = &*end else { return Some(Answer::Unsupported) };
    let answer = receive(receiver);
    if answer.is_some() {
        *end = Receiver::Done;
    }
    answer
}
