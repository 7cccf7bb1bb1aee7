//! tokio's mpsc: tasks on a multi-thread runtime; bounded and unbounded; one receiver.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};

use crate::harness::executor::{Executor, Task, WORKERS, lock};
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct TokioMpsc;

/// Bounded or not.
pub enum Sender<W> {
    /// `mpsc::channel`
    Bounded(mpsc::Sender<W>),
    /// `mpsc::unbounded_channel`
    Unbounded(mpsc::UnboundedSender<W>),
}

/// Bounded or not. Only one process receives, so the lock is never waited for.
pub enum Receiver<W> {
    /// `mpsc::channel`
    Bounded(Mutex<mpsc::Receiver<W>>),
    /// `mpsc::unbounded_channel`
    Unbounded(Mutex<mpsc::UnboundedReceiver<W>>),
}

impl Target for TokioMpsc {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "A multi-producer, single-consumer queue for sending values between asynchronous tasks." ·
    /// `channel`: "The channel will buffer up to the provided number of messages", no rendezvous. ·
    /// "When all `Sender` handles have been dropped, it is no longer possible to send values into
    /// the channel", `recv`: "returns `None` if the channel has been closed and there are no
    /// remaining messages". · `recv`, Cancel safety: This method is cancel safe. If `recv` is used
    /// as the event in a `tokio::select!` statement and some other branch completes first, it is
    /// guaranteed that no messages were received on this channel. · `send`, "Cancel safety: … it is
    /// guaranteed that the message was not sent." · A select polls such futures; one receiver cannot
    /// be borrowed for two of them.
    ///
    /// No `try_send`: a permit that was handed to a waiting task makes the channel full before that
    /// task's message is in it, which the documentation of `reserve` describes and the language
    /// cannot say.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Tasks).then_some(Contract {
            rendezvous: false,
            many_receivers: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            try_puts: false,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        match capacity {
            Capacity::Unbounded => {
                let (sender, receiver) = mpsc::unbounded_channel();
                (Sender::Unbounded(sender), Receiver::Unbounded(Mutex::new(receiver)))
            }
            Capacity::Rendezvous => bounded(1),
            Capacity::Bounded(capacity) => bounded(capacity as usize),
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
                Err(TrySendError::Closed(_)) => Some(Answer::Gone),
            },
            Sender::Unbounded(sender) => {
                Some(sender.send(word).map_or(Answer::Gone, |()| Answer::Sent))
            }
        }
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        let received = match receiver {
            Receiver::Bounded(receiver) => lock(receiver).try_recv(),
            Receiver::Unbounded(receiver) => lock(receiver).try_recv(),
        };
        match received {
            Ok(word) => Some(Answer::Got(word)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Answer::Closed),
        }
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        match sender {
            Sender::Bounded(sender) => {
                sender.send(word).await.map_or(Answer::Gone, |()| Answer::Sent)
            }
            Sender::Unbounded(sender) => sender.send(word).map_or(Answer::Gone, |()| Answer::Sent),
        }
    }

    fn get_task<W: Word>(receiver: &Receiver<W>) -> impl Future<Output = Answer<W>> + Send {
        poll_fn(move |context| {
            let polled = match receiver {
                Receiver::Bounded(receiver) => lock(receiver).poll_recv(context),
                Receiver::Unbounded(receiver) => lock(receiver).poll_recv(context),
            };
            match polled {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Some(word)) => Poll::Ready(Answer::Got(word)),
                Poll::Ready(None) => Poll::Ready(Answer::Closed),
            }
        })
    }

    fn executor(&self) -> Result<Arc<dyn Executor>, std::io::Error> {
        let runtime = Builder::new_multi_thread().worker_threads(WORKERS).build()?;
        Ok(Arc::new(Tokio { runtime: Mutex::new(Some(runtime)) }))
    }
}

fn bounded<W>(capacity: usize) -> (Sender<W>, Receiver<W>) {
    let (sender, receiver) = mpsc::channel(capacity);
    (Sender::Bounded(sender), Receiver::Bounded(Mutex::new(receiver)))
}

struct Tokio {
    runtime: Mutex<Option<Runtime>>,
}

impl Executor for Tokio {
    fn spawn(&self, task: Task) {
        if let Some(runtime) = lock(&self.runtime).as_ref() {
            runtime.spawn(task);
        }
    }

    fn stop(&self) {
        if let Some(runtime) = lock(&self.runtime).take() {
            runtime.shutdown_background();
        }
    }
}
