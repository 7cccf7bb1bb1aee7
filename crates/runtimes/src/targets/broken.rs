//! A plain channel under one lock: the reference when it has no fault, and with one the proof that
//! faults are caught. For tests; not a crate that anyone uses.
//!
//! All channels of a target share one lock, so a select sees them all at one moment.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use crate::harness::executor::lock;
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::random::Random;
use crate::harness::target::{Answer, Contract, Flavour, Offer, Target};

/// What goes wrong once in a thousand messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: the reference.
    #[default]
    None,
    /// A message is lost.
    Loses,
    /// A message is delivered twice.
    Doubles,
    /// Two messages in a buffer change places.
    Swaps,
    /// Somebody is not woken.
    Deadlocks,
    /// The process aborts.
    Aborts,
}

/// One message in so many is treated wrongly.
const RATE: u32 = 1_000;

/// The target.
#[derive(Clone, Default)]
pub struct Broken {
    fault: Fault,
    world: Arc<World>,
}

#[derive(Default)]
struct World {
    lock: Mutex<()>,
    messages: AtomicU64,
}

struct State<W> {
    buffer: VecDeque<W>,
    room: usize,
    is_closed: bool,
    is_abandoned: bool,
    waiting: VecDeque<Waiting<W>>,
}

/// One case of an operation that waits: to receive, or to send what it holds.
struct Waiting<W> {
    ticket: Arc<Ticket<W>>,
    case: usize,
    word: Option<W>,
}

/// An operation that waits.
struct Ticket<W> {
    done: Mutex<Option<(usize, Answer<W>)>>,
    is_done: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

struct Channel<W> {
    broken: Broken,
    state: Mutex<State<W>>,
}

/// The sending end; the channel is closed when it is dropped.
pub struct Sender<W: Word>(Arc<Channel<W>>, Arc<SenderCount<W>>);

/// The receiving end; the channel is abandoned when it is dropped.
pub struct Receiver<W: Word>(Arc<Channel<W>>, Arc<ReceiverCount<W>>);

struct SenderCount<W: Word>(Arc<Channel<W>>);
struct ReceiverCount<W: Word>(Arc<Channel<W>>);

impl Broken {
    /// A target with a fault.
    pub fn new(fault: Fault) -> Broken {
        Broken { fault, world: Arc::default() }
    }

    /// Is it time for something to go wrong?
    fn is_due(&self, fault: Fault) -> bool {
        if fault != self.fault {
            return false;
        }
        // Not every thousandth: that might hit the same message of a program each time.
        let count = self.world.messages.fetch_add(1, Ordering::Relaxed);
        Random::new(count, 0, &[]).below(RATE) == 0
    }
}

impl<W: Word> Drop for SenderCount<W> {
    fn drop(&mut self) {
        let _world = lock(&self.0.broken.world.lock);
        let mut state = lock(&self.0.state);
        state.is_closed = true;
        while let Some(waiting) = state.next_waiting(false) {
            waiting.ticket.finish(waiting.case, Answer::Closed, true);
        }
    }
}

impl<W: Word> Drop for ReceiverCount<W> {
    fn drop(&mut self) {
        let _world = lock(&self.0.broken.world.lock);
        let mut state = lock(&self.0.state);
        state.is_abandoned = true;
        state.buffer.clear();
        while let Some(waiting) = state.next_waiting(true) {
            waiting.ticket.finish(waiting.case, Answer::Gone, true);
        }
    }
}

impl<W> Ticket<W> {
    fn finish(&self, case: usize, answer: Answer<W>, wakes: bool) {
        *lock(&self.done) = Some((case, answer));
        self.is_done.store(1, Ordering::Release);
        let waker = lock(&self.waker).take();
        if wakes {
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl<W: Word> State<W> {
    /// The first that waits to send, or to receive, and is still waiting.
    fn next_waiting(&mut self, sends: bool) -> Option<Waiting<W>> {
        self.waiting.retain(|waiting| waiting.ticket.is_done.load(Ordering::Acquire) == 0);
        let position = self.waiting.iter().position(|waiting| waiting.word.is_some() == sends)?;
        self.waiting.remove(position)
    }

    fn put(&mut self, broken: &Broken, word: W) -> Result<Answer<W>, W> {
        if self.is_abandoned {
            return Ok(Answer::Gone);
        }
        if self.buffer.is_empty()
            && let Some(waiting) = self.next_waiting(false)
        {
            broken.deliver(waiting, word, self);
            return Ok(Answer::Sent);
        }
        if self.buffer.len() >= self.room {
            return Err(word);
        }
        self.store(broken, word);
        Ok(Answer::Sent)
    }

    fn store(&mut self, broken: &Broken, word: W) {
        broken.abort_if_due();
        if broken.is_due(Fault::Loses) {
            return;
        }
        if broken.is_due(Fault::Doubles) {
            self.buffer.push_back(word.copy());
        }
        self.buffer.push_back(word);
        if self.buffer.len() > 1 && broken.is_due(Fault::Swaps) {
            self.buffer.swap(0, 1);
        }
    }

    fn get(&mut self, broken: &Broken) -> Option<Answer<W>> {
        if let Some(word) = self.buffer.pop_front() {
            if self.buffer.len() < self.room
                && let Some(mut waiting) = self.next_waiting(true)
            {
                waiting.word.take().into_iter().for_each(|word| self.store(broken, word));
                let wakes = !broken.is_due(Fault::Deadlocks);
                waiting.ticket.finish(waiting.case, Answer::Sent, wakes);
            }
            return Some(Answer::Got(word));
        }
        if let Some(mut waiting) = self.next_waiting(true) {
            let word = waiting.word.take();
            let wakes = !broken.is_due(Fault::Deadlocks);
            waiting.ticket.finish(waiting.case, Answer::Sent, wakes);
            return word.map(Answer::Got);
        }
        self.is_closed.then_some(Answer::Closed)
    }
}

impl Broken {
    fn deliver<W: Word>(&self, waiting: Waiting<W>, word: W, state: &mut State<W>) {
        self.abort_if_due();
        if self.is_due(Fault::Loses) {
            state.waiting.push_front(waiting);
            return;
        }
        if self.is_due(Fault::Doubles) {
            state.buffer.push_back(word.copy());
        }
        let wakes = !self.is_due(Fault::Deadlocks);
        waiting.ticket.finish(waiting.case, Answer::Got(word), wakes);
    }

    #[expect(clippy::disallowed_methods, reason = "aborting is the fault that is to be caught")]
    fn abort_if_due(&self) {
        if self.is_due(Fault::Aborts) {
            std::process::abort();
        }
    }
}

/// Does an operation at once, or takes a ticket for it.
fn begin<W: Word>(offers: Vec<Offer<'_, Broken, W>>) -> Result<(usize, Answer<W>), Arc<Ticket<W>>> {
    let ticket = Arc::new(Ticket {
        done: Mutex::default(),
        is_done: AtomicU64::new(0),
        waker: Mutex::default(),
    });
    let world = match offers.first() {
        Some(Offer::Put(sender, _)) => sender.0.broken.world.clone(),
        Some(Offer::Get(receiver)) => receiver.0.broken.world.clone(),
        None => return Ok((0, Answer::Unsupported)),
    };
    let _world = lock(&world.lock);
    let mut waiting = Vec::new();
    for (case, offer) in offers.into_iter().enumerate() {
        let (channel, word) = match offer {
            Offer::Put(sender, word) => match lock(&sender.0.state).put(&sender.0.broken, word) {
                Ok(answer) => return Ok((case, answer)),
                Err(word) => (sender.0.clone(), Some(word)),
            },
            Offer::Get(receiver) => match lock(&receiver.0.state).get(&receiver.0.broken) {
                Some(answer) => return Ok((case, answer)),
                None => (receiver.0.clone(), None),
            },
        };
        waiting.push((channel, Waiting { ticket: ticket.clone(), case, word }));
    }
    for (channel, waiting) in waiting {
        lock(&channel.state).waiting.push_back(waiting);
    }
    Err(ticket)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits on a thread; gives up at the deadline, which nobody can then undo.
fn wait<W: Word>(
    ticket: &Ticket<W>,
    world: &World,
    deadline: Option<Instant>,
) -> Option<(usize, Answer<W>)> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    {
        let _world = lock(&world.lock);
        *lock(&ticket.waker) = Some(waker);
        if let Some(done) = lock(&ticket.done).take() {
            return Some(done);
        }
    }
    loop {
        match deadline {
            None => std::thread::park(),
            Some(deadline) => {
                std::thread::park_timeout(deadline.saturating_duration_since(Instant::now()));
            }
        }
        let _world = lock(&world.lock);
        // Whoever was to wake us has taken the waker and forgot to use it.
        let is_forgotten = deadline.is_none() && lock(&ticket.waker).is_none();
        match lock(&ticket.done).take() {
            Some(done) => return Some(done),
            None if is_forgotten => continue,
            None => {}
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            ticket.is_done.store(1, Ordering::Release);
            return None;
        }
    }
}

async fn wait_task<W: Word>(begun: Result<(usize, Answer<W>), Arc<Ticket<W>>>) -> Answer<W> {
    let ticket = match begun {
        Ok((_, answer)) => return answer,
        Err(ticket) => ticket,
    };
    poll_fn(|context| {
        *lock(&ticket.waker) = Some(context.waker().clone());
        match lock(&ticket.done).take() {
            Some((_, answer)) => Poll::Ready(answer),
            None => Poll::Pending,
        }
    })
    .await
}

impl Target for Broken {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// Everything among threads. A task that drops a future has no say in whether its operation was
    /// just done, so there is neither select nor cancellation.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        let is_threads = flavour == Flavour::Threads;
        Some(Contract {
            select_gets: is_threads,
            select_puts: is_threads,
            same_channel_twice: is_threads,
            put_and_get_in_select: is_threads,
            cancel_gets: is_threads,
            cancel_puts: is_threads,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        let room = match capacity {
            Capacity::Rendezvous => 0,
            Capacity::Bounded(capacity) => capacity as usize,
            Capacity::Unbounded => usize::MAX,
        };
        let state = State {
            buffer: VecDeque::new(),
            room,
            is_closed: false,
            is_abandoned: false,
            waiting: VecDeque::new(),
        };
        let channel = Arc::new(Channel { broken: self.clone(), state: Mutex::new(state) });
        let sender = Sender(channel.clone(), Arc::new(SenderCount(channel.clone())));
        let receiver = Receiver(channel.clone(), Arc::new(ReceiverCount(channel)));
        (sender, receiver)
    }

    fn clone_sender<W: Word>(sender: &Sender<W>) -> Option<Sender<W>> {
        Some(Sender(sender.0.clone(), sender.1.clone()))
    }

    fn clone_receiver<W: Word>(receiver: &Receiver<W>) -> Option<Receiver<W>> {
        Some(Receiver(receiver.0.clone(), receiver.1.clone()))
    }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        let _world = lock(&sender.0.broken.world.lock);
        lock(&sender.0.state).put(&sender.0.broken, word).ok()
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        let _world = lock(&receiver.0.broken.world.lock);
        lock(&receiver.0.state).get(&receiver.0.broken)
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        let done = Self::select(vec![Offer::Put(sender, word)], None);
        done.map_or(Answer::Unsupported, |(_, answer)| answer)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        let done = Self::select(vec![Offer::Get(receiver)], None);
        done.map_or(Answer::Unsupported, |(_, answer)| answer)
    }

    fn put_within<W: Word>(sender: &Sender<W>, word: W, patience: Duration) -> Option<Answer<W>> {
        Some(Self::select(vec![Offer::Put(sender, word)], Some(patience))?.1)
    }

    fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        Some(Self::select(vec![Offer::Get(receiver)], Some(patience))?.1)
    }

    fn select<W: Word>(
        offers: Vec<Offer<'_, Self, W>>,
        patience: Option<Duration>,
    ) -> Option<(usize, Answer<W>)> {
        let world = match offers.first()? {
            Offer::Put(sender, _) => sender.0.broken.world.clone(),
            Offer::Get(receiver) => receiver.0.broken.world.clone(),
        };
        match begin(offers) {
            Ok(done) => Some(done),
            Err(ticket) => {
                wait(&ticket, &world, patience.map(|patience| Instant::now() + patience))
            }
        }
    }

    fn put_task<W: Word>(sender: &Sender<W>, word: W) -> impl Future<Output = Answer<W>> + Send {
        wait_task(begin(vec![Offer::Put(sender, word)]))
    }

    fn get_task<W: Word>(receiver: &Receiver<W>) -> impl Future<Output = Answer<W>> + Send {
        wait_task(begin(vec![Offer::Get(receiver)]))
    }
}
