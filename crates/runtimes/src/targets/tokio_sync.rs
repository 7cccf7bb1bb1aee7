//! tokio's other channels, and channels made of its locks, semaphores and notifications; tasks.

use std::pin::pin;
use std::sync::{Arc, Mutex};

use tokio::sync::{self, Notify, OwnedMutexGuard, Semaphore, broadcast, oneshot, watch};

use crate::harness::executor::lock;
use crate::harness::parts::{Buffer, Lent, Receiving, Sending, Sides, ends, received_once, room};
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// What is driven.
#[derive(Clone, Copy)]
pub enum TokioSync {
    /// `tokio::sync::oneshot`
    Oneshot,
    /// `tokio::sync::broadcast` with one receiver.
    Broadcast,
    /// `tokio::sync::watch` with one receiver, for one message.
    Watch,
    /// A buffer, and a `Semaphore` for each side.
    Semaphore,
    /// A buffer, and a `Notify` for each side.
    Notify,
    /// A buffer for one message, and a `Mutex` for each side.
    Mutex,
}

/// A message that several may hold and one takes.
pub struct Shared<W>(Arc<Mutex<Option<W>>>);

impl<W> Clone for Shared<W> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

impl<W> Shared<W> {
    fn new(word: W) -> Self {
        Shared(Arc::new(Mutex::new(Some(word))))
    }

    /// # Panics
    /// If it was taken before.
    fn take(&self) -> Answer<W> {
        Answer::Got(lock(&self.0).take().expect("a message is received once"))
    }
}

/// The sending end of any of them.
pub enum Sender<W: Word> {
    /// Empty when the message is sent.
    Oneshot(Mutex<Option<oneshot::Sender<W>>>),
    /// Can be cloned.
    Broadcast(broadcast::Sender<Shared<W>>),
    /// Of one message.
    Watch(watch::Sender<Option<Shared<W>>>),
    /// Can be cloned.
    Built(Sending<Built<W>>),
}

/// The receiving end of any of them.
pub enum Receiver<W: Word> {
    /// Empty when the message is received.
    Oneshot(Mutex<Option<oneshot::Receiver<W>>>),
    /// Lent to one operation.
    Broadcast(Mutex<Option<broadcast::Receiver<Shared<W>>>>),
    /// Lent to one operation.
    Watch(Mutex<Option<watch::Receiver<Option<Shared<W>>>>>),
    /// Can be cloned.
    Built(Receiving<Built<W>>),
}

/// A channel that is made of something else.
pub struct Built<W> {
    buffer: Mutex<Buffer<W>>,
    waiting: Waiting,
}

enum Waiting {
    /// A permit for each message, and one for each place if places are limited.
    Permits { messages: Semaphore, places: Option<Semaphore> },
    /// Notifications about messages and about places.
    Notifications { messages: Notify, places: Notify },
    /// Locks that are open when there is a message, and when there is a place.
    Locks { message: Lock, place: Lock },
}

/// A lock that one operation takes and another one opens.
struct Lock {
    mutex: Arc<sync::Mutex<()>>,
    guard: Mutex<Option<OwnedMutexGuard<()>>>,
}

impl Lock {
    fn new(is_open: bool) -> Lock {
        let mutex = Arc::new(sync::Mutex::new(()));
        let guard = if is_open { None } else { Arc::clone(&mutex).try_lock_owned().ok() };
        Lock { mutex, guard: Mutex::new(guard) }
    }

    async fn take(&self) {
        let guard = Arc::clone(&self.mutex).lock_owned().await;
        let other = lock(&self.guard).replace(guard);
        assert!(other.is_none(), "a mutex is locked by two");
    }

    fn open(&self) {
        let guard = lock(&self.guard).take();
        drop(guard);
    }
}

impl<W: Word> Sides for Built<W> {
    fn close(&self) {
        lock(&self.buffer).close();
        if let Waiting::Notifications { messages, .. } = &self.waiting {
            messages.notify_waiters();
        }
    }

    fn abandon(&self) {
        let left = lock(&self.buffer).abandon();
        if let Waiting::Notifications { places, .. } = &self.waiting {
            places.notify_waiters();
        }
        drop(left);
    }
}

impl<W: Word> Built<W> {
    fn try_put(&self, word: &mut Option<W>) -> Option<Answer<W>> {
        let answer = lock(&self.buffer).push(word)?;
        match &self.waiting {
            Waiting::Permits { messages, .. } => messages.add_permits(1),
            Waiting::Notifications { messages, .. } => messages.notify_one(),
            Waiting::Locks { message, .. } => message.open(),
        }
        Some(answer)
    }

    fn try_get(&self) -> Option<Answer<W>> {
        let answer = lock(&self.buffer).pop()?;
        match &self.waiting {
            Waiting::Permits { places, .. } => {
                places.iter().for_each(|places| places.add_permits(1));
            }
            Waiting::Notifications { places, .. } => places.notify_one(),
            Waiting::Locks { place, .. } => place.open(),
        }
        Some(answer)
    }

    async fn put(&self, word: W) -> Answer<W> {
        let mut word = Some(word);
        match &self.waiting {
            Waiting::Permits { places: None, .. } => {}
            Waiting::Permits { places: Some(places), .. } => acquire(places).await,
            Waiting::Notifications { places, .. } => {
                return notified(places, || self.try_put(&mut word)).await;
            }
            Waiting::Locks { place, .. } => place.take().await,
        }
        self.try_put(&mut word).expect("who got past the semaphore or lock has a place")
    }

    async fn get(&self) -> Answer<W> {
        match &self.waiting {
            Waiting::Permits { messages, .. } => acquire(messages).await,
            Waiting::Notifications { messages, .. } => {
                return notified(messages, || self.try_get()).await;
            }
            Waiting::Locks { message, .. } => message.take().await,
        }
        self.try_get().expect("who got past the semaphore or lock has a message")
    }
}

/// Takes a permit for good.
async fn acquire(semaphore: &Semaphore) {
    semaphore.acquire().await.expect("the semaphore is never closed").forget();
}

/// Waits as the example of `Notify` for several receivers does: `enable`, try, wait.
async fn notified<A>(notify: &Notify, mut attempt: impl FnMut() -> Option<A>) -> A {
    let mut notified = pin!(notify.notified());
    loop {
        notified.as_mut().enable();
        if let Some(answer) = attempt() {
            return answer;
        }
        notified.as_mut().await;
        notified.set(notify.notified());
    }
}

/// How many messages a broadcast channel keeps for its receiver. No generated program has as many.
const KEPT: usize = 64;

/// One receiver that cannot be borrowed twice, for tasks.
const SINGLE: Contract = Contract {
    rendezvous: false,
    many_receivers: false,
    same_channel_twice: false,
    put_and_get_in_select: false,
    ..Contract::ALL
};

/// A channel for one message; its send never waits.
const ONESHOT: Contract = Contract {
    many_senders: false,
    one_message: true,
    unbounded: false,
    max_capacity: Some(1),
    select_puts: false,
    cancel_puts: false,
    ..SINGLE
};

/// Nothing but waiting: no close, and nothing about what is tried while permits are handed to those who wait.
const WAITING: Contract = Contract {
    rendezvous: false,
    close: false,
    abandon: false,
    try_gets: false,
    try_puts: false,
    put_and_get_in_select: false,
    ..Contract::ALL
};

impl Target for TokioSync {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// * `oneshot`: "A one-shot channel is used for sending a single message between asynchronous tasks." ·
    ///   "If the sender is dropped without sending, the receiver will fail with `error::RecvError`" ·
    ///   `send`: "An unsuccessful send would be one where the corresponding receiver has already been
    ///   deallocated"; the value is given back. · "Awaiting a `&mut
    ///   Receiver<T>` is cancel safe."
    /// * `broadcast`: "Each sent value is seen by all consumers", here by the one that there is. · "A receiver
    ///   that lags" misses messages, so as many are kept as any program sends, and sends never wait. · `recv`:
    ///   "all `Sender` halves have dropped, indicating that no further values can be sent". · `send` "can
    ///   only fail if there are no active receivers". · `recv` "is cancel safe".
    /// * `watch`: "only retains the last sent value"; one message is the last one. · `wait_for`: "If the
    ///   closure returns `true` when given the current value, then `wait_for` will immediately return a
    ///   reference to the current value"; "If the channel is closed, then `wait_for` will return a
    ///   `RecvError`". · `send`
    ///   fails when "every receiver has been dropped". · `wait_for` "is cancel safe".
    /// * `Semaphore`: "A semaphore maintains a set of permits"; `acquire`: "Cancelling a call to `acquire` makes
    ///   you lose your place in the queue", and nothing else. It is fair, so `try_acquire` may fail when a
    ///   permit was handed to a task that has not run yet: nothing is tried.
    /// * `Notify`: the second example of its documentation is such a channel for many receivers: "Make sure
    ///   that no wakeup is lost if we get" nothing.
    /// * `Mutex`: `lock_owned`: "Cancelling a call to `lock_owned` makes you lose your place in the queue." Fair
    ///   as well.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        let contract = match self {
            TokioSync::Oneshot | TokioSync::Watch => ONESHOT,
            TokioSync::Broadcast => Contract { bounded: false, ..SINGLE },
            TokioSync::Semaphore => WAITING,
            TokioSync::Notify => {
                Contract { rendezvous: false, put_and_get_in_select: false, ..Contract::ALL }
            }
            TokioSync::Mutex => Contract { unbounded: false, max_capacity: Some(1), ..WAITING },
        };
        (flavour == Flavour::Tasks).then_some(contract)
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        let waiting = match self {
            TokioSync::Oneshot => {
                let (sender, receiver) = oneshot::channel();
                let sender = Sender::Oneshot(Mutex::new(Some(sender)));
                return (sender, Receiver::Oneshot(Mutex::new(Some(receiver))));
            }
            TokioSync::Broadcast => {
                let (sender, receiver) = broadcast::channel(KEPT);
                let receiver = Receiver::Broadcast(Mutex::new(Some(receiver)));
                return (Sender::Broadcast(sender), receiver);
            }
            TokioSync::Watch => {
                let (sender, receiver) = watch::channel(None);
                return (Sender::Watch(sender), Receiver::Watch(Mutex::new(Some(receiver))));
            }
            TokioSync::Semaphore => Waiting::Permits {
                messages: Semaphore::new(0),
                places: (capacity != Capacity::Unbounded).then(|| Semaphore::new(room(capacity))),
            },
            TokioSync::Notify => {
                Waiting::Notifications { messages: Notify::new(), places: Notify::new() }
            }
            TokioSync::Mutex => {
                Waiting::Locks { message: Lock::new(false), place: Lock::new(true) }
            }
        };
        let buffer = Mutex::new(Buffer::new(capacity));
        let (sender, receiver) = ends(Built { buffer, waiting });
        (Sender::Built(sender), Receiver::Built(receiver))
    }

    fn clone_sender<W: Word>(sender: &Sender<W>) -> Option<Sender<W>> {
        match sender {
            Sender::Broadcast(sender) => Some(Sender::Broadcast(sender.clone())),
            Sender::Built(sender) => Some(Sender::Built(sender.clone())),
            Sender::Oneshot(_) | Sender::Watch(_) => None,
        }
    }

    fn clone_receiver<W: Word>(receiver: &Receiver<W>) -> Option<Receiver<W>> {
        match receiver {
            Receiver::Built(receiver) => Some(Receiver::Built(receiver.clone())),
            _ => None,
        }
    }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        match sender {
            Sender::Oneshot(sender) => Some(match lock(sender).take() {
                Some(sender) => sender.send(word).map_or(Answer::Gone, |()| Answer::Sent),
                None => Answer::Unsupported,
            }),
            Sender::Broadcast(sender) => {
                Some(sender.send(Shared::new(word)).map_or(Answer::Gone, |_| Answer::Sent))
            }
            Sender::Watch(sender) => {
                Some(sender.send(Some(Shared::new(word))).map_or(Answer::Gone, |()| Answer::Sent))
            }
            Sender::Built(channel) => channel.try_put(&mut Some(word)),
        }
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        match receiver {
            Receiver::Oneshot(receiver) => {
                let received = lock(receiver).as_mut().map(oneshot::Receiver::try_recv);
                match received {
                    Some(Ok(word)) => Some(Answer::Got(word)),
                    Some(Err(oneshot::error::TryRecvError::Empty)) => None,
                    Some(Err(oneshot::error::TryRecvError::Closed)) => Some(Answer::Closed),
                    None => Some(Answer::Unsupported),
                }
            }
            Receiver::Broadcast(receiver) => match Lent::from(receiver).try_recv() {
                Ok(word) => Some(word.take()),
                Err(broadcast::error::TryRecvError::Empty) => None,
                Err(broadcast::error::TryRecvError::Closed) => Some(Answer::Closed),
                Err(broadcast::error::TryRecvError::Lagged(_)) => Some(Answer::Unsupported),
            },
            Receiver::Watch(receiver) => {
                let receiver = Lent::from(receiver);
                // In this order: what was sent before the sender went is there when it has gone.
                let is_closed = receiver.has_changed().is_err();
                let word = receiver.borrow().clone();
                match (word, is_closed) {
                    (Some(word), _) => Some(word.take()),
                    (None, true) => Some(Answer::Closed),
                    (None, false) => None,
                }
            }
            Receiver::Built(channel) => channel.try_get(),
        }
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        match sender {
            Sender::Built(channel) => channel.put(word).await,
            other => Self::try_put(other, word).unwrap_or(Answer::Unsupported),
        }
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        match receiver {
            Receiver::Oneshot(receiver) => match received_once(receiver).await {
                Some(received) => received.map_or(Answer::Closed, Answer::Got),
                None => Answer::Unsupported,
            },
            Receiver::Broadcast(receiver) => match Lent::from(receiver).recv().await {
                Ok(word) => word.take(),
                Err(broadcast::error::RecvError::Closed) => Answer::Closed,
                Err(broadcast::error::RecvError::Lagged(_)) => Answer::Unsupported,
            },
            Receiver::Watch(receiver) => {
                let mut receiver = Lent::from(receiver);
                let word = receiver.wait_for(Option::is_some).await.map(|word| word.clone());
                match word {
                    Ok(Some(word)) => word.take(),
                    Ok(None) => Answer::Unsupported,
                    Err(_) => Answer::Closed,
                }
            }
            Receiver::Built(channel) => channel.get().await,
        }
    }
}
