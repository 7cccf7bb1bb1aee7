//! Channels made of async-lock's semaphore and mutex; threads and tasks.

use std::sync::{Arc, Mutex};

use async_lock::{MutexGuardArc, Semaphore};

use crate::harness::executor::lock;
use crate::harness::parts::{Buffer, Receiving, Sending, Sides, ends, room};
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// What is driven.
#[derive(Clone, Copy)]
pub enum AsyncLock {
    /// A buffer, and a `Semaphore` for each side.
    Semaphore,
    /// A buffer for one message, and a `Mutex` for each side.
    Mutex,
}

/// A channel.
pub struct Channel<W> {
    buffer: Mutex<Buffer<W>>,
    /// Opens once for each message.
    message: Gate,
    /// Opens once for each place; there is none if any number of messages has a place.
    place: Option<Gate>,
}

/// Lets one operation through whenever another one opens it.
enum Gate {
    /// Permits that are taken for good, and added.
    Semaphore(Semaphore),
    /// A lock, and what holds it.
    Mutex(Arc<async_lock::Mutex<()>>, Mutex<Option<MutexGuardArc<()>>>),
}

impl Gate {
    async fn pass(&self) {
        match self {
            Gate::Semaphore(semaphore) => semaphore.acquire().await.forget(),
            Gate::Mutex(mutex, held) => keep(held, mutex.lock_arc().await),
        }
    }

    fn pass_blocking(&self) {
        match self {
            Gate::Semaphore(semaphore) => semaphore.acquire_blocking().forget(),
            Gate::Mutex(mutex, held) => keep(held, mutex.lock_arc_blocking()),
        }
    }

    fn open(&self) {
        match self {
            Gate::Semaphore(semaphore) => semaphore.add_permits(1),
            Gate::Mutex(_, held) => {
                let guard = lock(held).take();
                drop(guard);
            }
        }
    }
}

fn keep(held: &Mutex<Option<MutexGuardArc<()>>>, guard: MutexGuardArc<()>) {
    let other = lock(held).replace(guard);
    assert!(other.is_none(), "a mutex is locked by two");
}

type Sender<W> = Sending<Channel<W>>;
type Receiver<W> = Receiving<Channel<W>>;

impl<W: Word> Sides for Channel<W> {}

impl<W: Word> Channel<W> {
    fn push(&self, word: W) -> Answer<W> {
        let answer = lock(&self.buffer).push(&mut Some(word));
        self.message.open();
        answer.expect("who got past the semaphore or lock has a place")
    }

    fn pop(&self) -> Answer<W> {
        let answer = lock(&self.buffer).pop();
        self.place.iter().for_each(Gate::open);
        answer.expect("who got past the semaphore or lock has a message")
    }
}

impl Target for AsyncLock {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// * `Semaphore`: "A counter for limiting the number of concurrent operations." · `acquire` and
    ///   `acquire_blocking`: "Waits for a permit for a concurrent operation." · `add_permits`: "Adds `n`
    ///   additional permits to the semaphore."
    /// * `Mutex`: `lock_arc`, `lock_arc_blocking`: "Acquires the mutex and clones a reference to it."
    ///
    /// Futures can be dropped at any time in Rust, and neither documents an effect of that. No close; nothing is
    /// tried, since locks are fair: "eventual fairness".
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        let can_poll = flavour == Flavour::Tasks;
        let is_semaphore = matches!(self, AsyncLock::Semaphore);
        Some(Contract {
            rendezvous: false,
            unbounded: is_semaphore,
            max_capacity: if is_semaphore { None } else { Some(1) },
            close: false,
            abandon: false,
            try_gets: false,
            try_puts: false,
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
        let (message, place) = match self {
            AsyncLock::Semaphore => {
                let is_bounded = capacity != Capacity::Unbounded;
                let places = is_bounded.then(|| Gate::Semaphore(Semaphore::new(room(capacity))));
                (Gate::Semaphore(Semaphore::new(0)), places)
            }
            AsyncLock::Mutex => {
                let locked = Arc::new(async_lock::Mutex::new(()));
                let guard = locked.try_lock_arc();
                let open = Gate::Mutex(Arc::default(), Mutex::default());
                (Gate::Mutex(locked, Mutex::new(guard)), Some(open))
            }
        };
        ends(Channel { buffer: Mutex::new(Buffer::new(capacity)), message, place })
    }

    std_names! { clone }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.place.iter().for_each(Gate::pass_blocking);
        sender.push(word)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.message.pass_blocking();
        receiver.pop()
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        if let Some(place) = &sender.place {
            place.pass().await;
        }
        sender.push(word)
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.message.pass().await;
        receiver.pop()
    }
}
