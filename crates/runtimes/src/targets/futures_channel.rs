//! futures-channel's mpsc and oneshot: tasks; one receiver. The mpsc is two targets, because bounded channels
//! keep to their capacity only when there is one sender.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use futures_channel::{mpsc, oneshot};
use futures_core::Stream;

use crate::harness::executor::lock;
use crate::harness::parts::received_once;
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// `mpsc::unbounded`
#[derive(Clone, Default)]
pub struct FuturesUnbounded;

/// `mpsc::channel` with one sender.
#[derive(Clone, Default)]
pub struct FuturesBounded;

/// `oneshot`
#[derive(Clone, Default)]
pub struct FuturesOneshot;

/// What both kinds of `mpsc` promise. Like the `std::sync::mpsc`; "A multi-producer, single-consumer queue for
/// sending values across asynchronous tasks." · If the corresponding receiver is dropped, … sends
/// fail; the receiver's stream ends when all senders are gone. · `close_channel`: "Closes this
/// channel from the sender side, preventing any new messages." · `Stream::poll_next` and
/// `poll_ready` keep nothing when they are pending, so dropping a future loses nothing.
const PROMISE: Contract = Contract {
    rendezvous: false,
    many_receivers: false,
    same_channel_twice: false,
    put_and_get_in_select: false,
    ..Contract::ALL
};

fn received<W>(polled: Poll<Option<W>>) -> Poll<Answer<W>> {
    polled.map(|word| word.map_or(Answer::Closed, Answer::Got))
}

/// Receives only if there is something; no task is noted for waking.
fn poll_once<S: Stream + Unpin>(stream: &mut S) -> Option<Answer<S::Item>> {
    let mut context = Context::from_waker(std::task::Waker::noop());
    match received(Pin::new(stream).poll_next(&mut context)) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

impl Target for FuturesUnbounded {
    type Sender<W: Word> = mpsc::UnboundedSender<W>;
    type Receiver<W: Word> = Mutex<mpsc::UnboundedReceiver<W>>;

    /// `unbounded`: "A `send` on this channel will always succeed as long as the receive half has
    /// not been closed."
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Tasks).then_some(Contract { bounded: false, ..PROMISE })
    }

    fn open<W: Word>(&self, _: Capacity) -> (Self::Sender<W>, Self::Receiver<W>) {
        let (sender, receiver) = mpsc::unbounded();
        (sender, Mutex::new(receiver))
    }

    fn clone_sender<W: Word>(sender: &Self::Sender<W>) -> Option<Self::Sender<W>> {
        Some(sender.clone())
    }

    fn clone_receiver<W: Word>(_: &Self::Receiver<W>) -> Option<Self::Receiver<W>> {
        None
    }

    fn close<W: Word>(sender: &Self::Sender<W>) -> bool {
        sender.close_channel();
        true
    }

    fn try_put<W: Word>(sender: &Self::Sender<W>, word: W) -> Option<Answer<W>> {
        Some(sender.unbounded_send(word).map_or(Answer::Gone, |()| Answer::Sent))
    }

    fn try_get<W: Word>(receiver: &Self::Receiver<W>) -> Option<Answer<W>> {
        poll_once(&mut *lock(receiver))
    }

    async fn put_task<W: Word>(sender: &Self::Sender<W>, word: W) -> Answer<W> {
        sender.unbounded_send(word).map_or(Answer::Gone, |()| Answer::Sent)
    }

    fn get_task<W: Word>(receiver: &Self::Receiver<W>) -> impl Future<Output = Answer<W>> + Send {
        poll_fn(move |context| received(Pin::new(&mut *lock(receiver)).poll_next(context)))
    }
}

impl Target for FuturesBounded {
    type Sender<W: Word> = Mutex<mpsc::Sender<W>>;
    type Receiver<W: Word> = Mutex<mpsc::Receiver<W>>;

    /// `channel`: "The channel's capacity is equal to `buffer + num-senders`. In other words, each
    /// sender gets a guaranteed slot in the channel capacity, and on top of that there are `buffer`
    /// 'first come, first serve' slots available to all senders."
    ///
    /// Only a capacity of one is exact. A sender that takes the last of several slots waits until a message is
    /// received after that, even if the receiver has made room in between: "there is no *strict* guarantee
    /// that the receiver will wake up a parked task *immediately* when a slot becomes available", but "it is
    /// *guaranteed* that a sender will be unparked when the message that caused the sender to become parked is
    /// read out of the channel" (the comments at the head of the module). With one slot, that message is the
    /// only one.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Tasks).then_some(Contract {
            max_capacity: Some(1),
            unbounded: false,
            many_senders: false,
            ..PROMISE
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Self::Sender<W>, Self::Receiver<W>) {
        let slots = match capacity {
            Capacity::Bounded(capacity) => capacity as usize,
            Capacity::Rendezvous | Capacity::Unbounded => 1,
        };
        let (sender, receiver) = mpsc::channel(slots - 1);
        (Mutex::new(sender), Mutex::new(receiver))
    }

    std_names! { single }

    fn close<W: Word>(sender: &Self::Sender<W>) -> bool {
        lock(sender).close_channel();
        true
    }

    fn try_put<W: Word>(sender: &Self::Sender<W>, word: W) -> Option<Answer<W>> {
        match lock(sender).try_send(word) {
            Ok(()) => Some(Answer::Sent),
            Err(error) if error.is_full() => None,
            Err(_) => Some(Answer::Gone),
        }
    }

    fn try_get<W: Word>(receiver: &Self::Receiver<W>) -> Option<Answer<W>> {
        poll_once(&mut *lock(receiver))
    }

    fn put_task<W: Word>(
        sender: &Self::Sender<W>,
        word: W,
    ) -> impl Future<Output = Answer<W>> + Send {
        let mut word = Some(word);
        poll_fn(move |context| {
            let mut sender = lock(sender);
            match sender.poll_ready(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(_)) => return Poll::Ready(Answer::Gone),
                Poll::Ready(Ok(())) => {}
            }
            let sent = word.take().map(|word| sender.start_send(word));
            Poll::Ready(if matches!(sent, Some(Ok(()))) { Answer::Sent } else { Answer::Gone })
        })
    }

    fn get_task<W: Word>(receiver: &Self::Receiver<W>) -> impl Future<Output = Answer<W>> + Send {
        poll_fn(move |context| received(Pin::new(&mut *lock(receiver)).poll_next(context)))
    }
}

impl Target for FuturesOneshot {
    /// Empty when the message is sent.
    type Sender<W: Word> = Mutex<Option<oneshot::Sender<W>>>;
    /// Empty when the message is received.
    type Receiver<W: Word> = Mutex<Option<oneshot::Receiver<W>>>;

    /// "A channel for sending a single message between asynchronous tasks." · `Receiver`: "A future for a value that
    /// will be provided by another asynchronous task", and `Canceled`, the error "when the
    /// corresponding `Sender` is dropped". · `send`: "If the receiving end was dropped before this function was
    /// called, however, then `Err(t)` is returned." · Polling a receiver that
    /// stays where it is takes nothing if it is pending. · `try_recv`: "A return value of `None` must be
    /// considered immediately stale": not asked for.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Tasks).then_some(Contract {
            unbounded: false,
            max_capacity: Some(1),
            many_senders: false,
            one_message: true,
            select_puts: false,
            cancel_puts: false,
            try_gets: false,
            ..PROMISE
        })
    }

    fn open<W: Word>(&self, _: Capacity) -> (Self::Sender<W>, Self::Receiver<W>) {
        let (sender, receiver) = oneshot::channel();
        (Mutex::new(Some(sender)), Mutex::new(Some(receiver)))
    }

    std_names! { single }

    fn try_put<W: Word>(sender: &Self::Sender<W>, word: W) -> Option<Answer<W>> {
        Some(match lock(sender).take() {
            Some(sender) => sender.send(word).map_or(Answer::Gone, |()| Answer::Sent),
            None => Answer::Unsupported,
        })
    }

    async fn put_task<W: Word>(sender: &Self::Sender<W>, word: W) -> Answer<W> {
        Self::try_put(sender, word).unwrap_or(Answer::Unsupported)
    }

    async fn get_task<W: Word>(receiver: &Self::Receiver<W>) -> Answer<W> {
        match received_once(receiver).await {
            Some(received) => received.map_or(Answer::Closed, Answer::Got),
            None => Answer::Unsupported,
        }
    }
}
