//! kanal: threads, tasks and both on one channel; rendezvous, bounded and unbounded; no select.
//!
//! Early versions have other error types; only their names in `Debug` are used.

use std::fmt::Debug;
use std::time::Duration;

use kanal::{AsyncReceiver, AsyncSender, bounded, unbounded};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Kanal;

/// The same sender for threads and for tasks.
pub struct Sender<W> {
    thread: kanal::Sender<W>,
    task: AsyncSender<W>,
}

/// The same receiver for threads and for tasks.
pub struct Receiver<W> {
    thread: kanal::Receiver<W>,
    task: AsyncReceiver<W>,
}

fn sender<W>(thread: kanal::Sender<W>) -> Sender<W> {
    let task = thread.clone_async();
    Sender { thread, task }
}

fn receiver<W>(thread: kanal::Receiver<W>) -> Receiver<W> {
    let task = thread.clone_async();
    Receiver { thread, task }
}

fn is_timeout(error: &impl Debug) -> bool {
    format!("{error:?}") == "Timeout"
}

impl Target for Kanal {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "The fast sync and async channel that Rust deserves": Kanal library has different
    /// implementations … multi-producer and multi-consumer, can be used to send messages from sync
    /// to async context and the reverse. · `bounded`: if size is set to 0, it's a rendezvous
    /// channel. · Ends: `ReceiveError::SendClosed`: "all sender instances are dropped and the
    /// channel is closed from the send side". `close` empties the queue, so it is not used. ·
    /// `AsyncReceiver::recv`: "if a `ReceiveFuture` is dropped exactly at the time when new data is
    /// written to the channel, it may result in the loss of the received value", "constructs such as
    /// `tokio::select!` are not correct to use with kanal async channels": no cancellation and no
    /// select among tasks.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        let is_threads = flavour == Flavour::Threads;
        Some(Contract {
            select_gets: false,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            cancel_gets: is_threads,
            cancel_puts: is_threads,
            ..Contract::ALL
        })
    }

    /// A value may be lost, see above; nothing says that other operations may hang for it.
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
        let (thread_sender, thread_receiver) = match capacity {
            Capacity::Rendezvous => bounded(0),
            Capacity::Bounded(capacity) => bounded(capacity as usize),
            Capacity::Unbounded => unbounded(),
        };
        (sender(thread_sender), receiver(thread_receiver))
    }

    fn clone_sender<W: Word>(original: &Sender<W>) -> Option<Sender<W>> {
        Some(sender(original.thread.clone()))
    }

    fn clone_receiver<W: Word>(original: &Receiver<W>) -> Option<Receiver<W>> {
        Some(receiver(original.thread.clone()))
    }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        match sender.thread.try_send(word) {
            Ok(true) => Some(Answer::Sent),
            Ok(false) => None,
            Err(_) => Some(Answer::Gone),
        }
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        match receiver.thread.try_recv() {
            Ok(word) => word.map(Answer::Got),
            Err(_) => Some(Answer::Closed),
        }
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.thread.send(word).map_or(Answer::Gone, |()| Answer::Sent)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.thread.recv().map_or(Answer::Closed, Answer::Got)
    }

    fn put_within<W: Word>(sender: &Sender<W>, word: W, patience: Duration) -> Option<Answer<W>> {
        match sender.thread.send_timeout(word, patience) {
            Ok(()) => Some(Answer::Sent),
            Err(error) if is_timeout(&error) => None,
            Err(_) => Some(Answer::Gone),
        }
    }

    fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        match receiver.thread.recv_timeout(patience) {
            Ok(word) => Some(Answer::Got(word)),
            Err(error) if is_timeout(&error) => None,
            Err(_) => Some(Answer::Closed),
        }
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.task.send(word).await.map_or(Answer::Gone, |()| Answer::Sent)
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.task.recv().await.map_or(Answer::Closed, Answer::Got)
    }
}
