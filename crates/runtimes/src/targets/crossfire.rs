//! crossfire (mpmc): threads, tasks and both on one channel; bounded and unbounded; a select over
//! receives.

use std::time::Duration;

use crossfire::select::Select;
use crossfire::{
    MAsyncRx, MAsyncTx, MRx, MTx, RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError,
    mpmc,
};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Offer, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Crossfire;

/// Bounded or not; for threads and for tasks.
pub enum Sender<W: Word> {
    /// `mpmc::Array`
    Bounded(MTx<mpmc::Array<W>>, MAsyncTx<mpmc::Array<W>>),
    /// `mpmc::List`; a send never waits.
    Unbounded(MTx<mpmc::List<W>>),
}

/// Bounded or not; for threads and for tasks.
pub enum Receiver<W: Word> {
    /// `mpmc::Array`
    Bounded(MRx<mpmc::Array<W>>, MAsyncRx<mpmc::Array<W>>),
    /// `mpmc::List`
    Unbounded(MRx<mpmc::List<W>>, MAsyncRx<mpmc::List<W>>),
}

impl Target for Crossfire {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "High-performance lockless spsc/mpsc/mpmc channels"; "supports async contexts and bridges the
    /// gap between async and blocking contexts". · `bounded_blocking`: "a channel size of 0 is not
    /// supported and will be treated as a channel of size 1". · "The `AsyncTx::send()` and
    /// `AsyncRx::recv()` operations are cancellation-safe in an async context", "But you cannot know
    /// the true result from SendFuture, since it's dropped upon cancellation": a send is not given
    /// up by a task. · `send_timeout`: "We guarantee the result is atomic"; `recv_timeout`: "The
    /// behavior is atomic". · `Select`: "wait for message from multiple receivers or close event",
    /// receives only.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: false,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            cancel_puts: flavour == Flavour::Threads,
            ..Contract::ALL
        })
    }

    /// "You cannot know the true result from SendFuture, since it's dropped upon cancellation": the message
    /// may be sent or not.
    fn loose_contract(&self, flavour: Flavour) -> Option<Contract> {
        let promised = self.contract(flavour)?;
        let can_poll = flavour == Flavour::Tasks;
        Some(Contract { select_puts: can_poll, cancel_puts: true, ..promised })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        match capacity {
            Capacity::Unbounded => {
                let (sender, receiver) = mpmc::unbounded_blocking();
                let task = receiver.clone().into_async();
                (Sender::Unbounded(sender), Receiver::Unbounded(receiver, task))
            }
            Capacity::Rendezvous => bounded(1),
            Capacity::Bounded(capacity) => bounded(capacity as usize),
        }
    }

    fn clone_sender<W: Word>(sender: &Sender<W>) -> Option<Sender<W>> {
        Some(match sender {
            Sender::Bounded(thread, task) => Sender::Bounded(thread.clone(), task.clone()),
            Sender::Unbounded(sender) => Sender::Unbounded(sender.clone()),
        })
    }

    fn clone_receiver<W: Word>(receiver: &Receiver<W>) -> Option<Receiver<W>> {
        Some(match receiver {
            Receiver::Bounded(thread, task) => Receiver::Bounded(thread.clone(), task.clone()),
            Receiver::Unbounded(thread, task) => Receiver::Unbounded(thread.clone(), task.clone()),
        })
    }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        let sent = match sender {
            Sender::Bounded(sender, _) => sender.try_send(word),
            Sender::Unbounded(sender) => sender.try_send(word),
        };
        match sent {
            Ok(()) => Some(Answer::Sent),
            Err(TrySendError::Full(_)) => None,
            Err(TrySendError::Disconnected(_)) => Some(Answer::Gone),
        }
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        let received = match receiver {
            Receiver::Bounded(receiver, _) => receiver.try_recv(),
            Receiver::Unbounded(receiver, _) => receiver.try_recv(),
        };
        match received {
            Ok(word) => Some(Answer::Got(word)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Answer::Closed),
        }
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        let sent = match sender {
            Sender::Bounded(sender, _) => sender.send(word),
            Sender::Unbounded(sender) => sender.send(word),
        };
        sent.map_or(Answer::Gone, |()| Answer::Sent)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        let received = match receiver {
            Receiver::Bounded(receiver, _) => receiver.recv(),
            Receiver::Unbounded(receiver, _) => receiver.recv(),
        };
        received.map_or(Answer::Closed, Answer::Got)
    }

    fn put_within<W: Word>(sender: &Sender<W>, word: W, patience: Duration) -> Option<Answer<W>> {
        let sent = match sender {
            Sender::Bounded(sender, _) => sender.send_timeout(word, patience),
            Sender::Unbounded(_) => return Some(Self::put(sender, word)),
        };
        match sent {
            Ok(()) => Some(Answer::Sent),
            Err(SendTimeoutError::Timeout(_)) => None,
            Err(SendTimeoutError::Disconnected(_)) => Some(Answer::Gone),
        }
    }

    fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        let received = match receiver {
            Receiver::Bounded(receiver, _) => receiver.recv_timeout(patience),
            Receiver::Unbounded(receiver, _) => receiver.recv_timeout(patience),
        };
        match received {
            Ok(word) => Some(Answer::Got(word)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Answer::Closed),
        }
    }

    fn select<W: Word>(
        offers: Vec<Offer<'_, Self, W>>,
        patience: Option<Duration>,
    ) -> Option<(usize, Answer<W>)> {
        let mut select = Select::new_random();
        for offer in &offers {
            match offer {
                Offer::Get(Receiver::Bounded(receiver, _)) => select.add(receiver),
                Offer::Get(Receiver::Unbounded(receiver, _)) => select.add(receiver),
                Offer::Put(..) => return Some((0, Answer::Unsupported)),
            }
        }
        let ready = match patience {
            None => select.select().ok(),
            Some(patience) => match select.select_timeout(patience) {
                Err(RecvTimeoutError::Timeout) => return None,
                other => other.ok(),
            },
        };
        let Some(ready) = ready else {
            return Some((0, Answer::Unsupported));
        };
        for (position, offer) in offers.iter().enumerate() {
            let received = match offer {
                Offer::Get(Receiver::Bounded(receiver, _)) if ready.is_from(receiver) => {
                    receiver.read_select(ready)
                }
                Offer::Get(Receiver::Unbounded(receiver, _)) if ready.is_from(receiver) => {
                    receiver.read_select(ready)
                }
                _ => continue,
            };
            return Some((position, received.map_or(Answer::Closed, Answer::Got)));
        }
        Some((0, Answer::Unsupported))
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        let sent = match sender {
            Sender::Bounded(_, sender) => sender.send(word).await,
            Sender::Unbounded(sender) => sender.send(word),
        };
        sent.map_or(Answer::Gone, |()| Answer::Sent)
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        let received = match receiver {
            Receiver::Bounded(_, receiver) => receiver.recv().await,
            Receiver::Unbounded(_, receiver) => receiver.recv().await,
        };
        received.map_or(Answer::Closed, Answer::Got)
    }
}

fn bounded<W: Word>(capacity: usize) -> (Sender<W>, Receiver<W>) {
    let (sender, receiver) = mpmc::bounded_blocking(capacity);
    let (to_task, by_task) = (sender.clone().into_async(), receiver.clone().into_async());
    (Sender::Bounded(sender, to_task), Receiver::Bounded(receiver, by_task))
}
