//! A channel with one fault in what happens when operations are given up, when threads and tasks meet,
//! or when it is closed; and the same channel without it. For tests; not a crate that anyone uses.
//!
//! A message stays in the buffer until it is received. Who waits is notified when there is something to
//! do and then looks again; who was notified and gives up notifies the next one. Threads run the same
//! futures as tasks.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use crate::harness::executor::lock;
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::random::linger;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// What is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Who was notified and gives up notifies no other.
    LosesWakeup,
    /// When two receives are given up at the same time, the first message is there twice.
    Doubles,
    /// A message for a waiting thread overtakes what is in the buffer for a task.
    Overtakes,
    /// A receive looks into the buffer first and asks whether the channel is closed about 300 ns later. If a
    /// message and the close come in between, the message is not seen.
    ClosesEarly,
    /// A send that has been given a place in the buffer and gives up takes the place away for good.
    LosesPermit,
    /// A send touches the receiving end for about 20 ns without holding the lock. If the receiving end is
    /// dropped meanwhile, memory would be used after it was freed: the process is aborted instead.
    TouchesFreed,
}

/// Rounds of [`linger`] that take about 300 ns in an optimised build.
const PAUSE: u32 = 1_100;
/// Rounds of [`linger`] that take about 20 ns in an optimised build.
const TOUCHES: u32 = 75;

/// The target.
#[derive(Clone, Copy, Default)]
pub struct Planted(pub Fault);

struct Channel<W> {
    fault: Fault,
    state: Mutex<State<W>>,
    /// Receives that are just being given up.
    leaving: AtomicU32,
    /// Sends that just touch the receiving end, and whether that has gone; for [`Fault::TouchesFreed`].
    touching: AtomicU32,
    is_freed: AtomicBool,
}

struct State<W> {
    buffer: VecDeque<W>,
    room: usize,
    is_closed: bool,
    is_abandoned: bool,
    receivers: VecDeque<Arc<Waiter<W>>>,
    senders: VecDeque<Arc<Waiter<W>>>,
}

/// An operation that waits. It leaves its queue when it is notified.
struct Waiter<W> {
    is_notified: AtomicBool,
    is_thread: bool,
    waker: Mutex<Waker>,
    /// A message for this one alone; only [`Fault::Overtakes`] puts one there.
    hand: Mutex<Option<W>>,
}

/// The sending end; the channel is closed when all are dropped.
pub struct Sender<W: Word>(Arc<SenderCount<W>>);

/// The receiving end; the channel is abandoned when all are dropped.
pub struct Receiver<W: Word>(Arc<ReceiverCount<W>>);

struct SenderCount<W: Word>(Arc<Channel<W>>);
struct ReceiverCount<W: Word>(Arc<Channel<W>>);

impl<W> Waiter<W> {
    fn new(is_thread: bool, context: &Context<'_>) -> Arc<Self> {
        Arc::new(Waiter {
            is_notified: AtomicBool::new(false),
            is_thread,
            waker: Mutex::new(context.waker().clone()),
            hand: Mutex::new(None),
        })
    }

    fn notify(&self) {
        self.is_notified.store(true, Ordering::SeqCst);
        lock(&self.waker).wake_by_ref();
    }
}

fn notify_one<W>(queue: &mut VecDeque<Arc<Waiter<W>>>) {
    queue.pop_front().into_iter().for_each(|waiter| waiter.notify());
}

impl<W: Word> State<W> {
    fn push(&mut self, fault: Fault, word: W) {
        if fault == Fault::Overtakes && self.receivers.front().is_some_and(|first| first.is_thread)
        {
            let first = self.receivers.pop_front();
            first.iter().for_each(|first| {
                *lock(&first.hand) = Some(word.copy());
                first.notify();
            });
            drop(word);
            // The buffer has as much room as before.
            return notify_one(&mut self.senders);
        }
        self.buffer.push_back(word);
        notify_one(&mut self.receivers);
    }

    fn try_put(&mut self, fault: Fault, word: &mut Option<W>) -> Option<Answer<W>> {
        if self.is_abandoned {
            return Some(Answer::Gone);
        }
        if self.buffer.len() >= self.room {
            return None;
        }
        word.take().into_iter().for_each(|word| self.push(fault, word));
        Some(Answer::Sent)
    }

    fn take(&mut self) -> Option<Answer<W>> {
        let word = self.buffer.pop_front()?;
        notify_one(&mut self.senders);
        Some(Answer::Got(word))
    }
}

impl<W: Word> Channel<W> {
    fn try_get(&self) -> Option<Answer<W>> {
        let mut state = lock(&self.state);
        let taken = state.take();
        if taken.is_some() {
            return taken;
        }
        if self.fault == Fault::ClosesEarly {
            drop(state);
            linger(PAUSE);
            state = lock(&self.state);
        }
        state.is_closed.then_some(Answer::Closed)
    }

    /// What a send does before it takes the lock.
    fn touch_receivers(&self) {
        if self.fault == Fault::TouchesFreed && !self.is_freed.load(Ordering::SeqCst) {
            self.touching.fetch_add(1, Ordering::SeqCst);
            linger(TOUCHES);
            self.touching.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// What the receiving end does when it goes.
    #[expect(clippy::disallowed_methods, reason = "stands for what damaged memory does")]
    fn free_receivers(&self) {
        self.is_freed.store(true, Ordering::SeqCst);
        if self.touching.load(Ordering::SeqCst) > 0 {
            std::process::abort();
        }
    }

    fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        state.receivers.drain(..).for_each(|waiter| waiter.notify());
    }
}

impl<W: Word> Drop for SenderCount<W> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<W: Word> Drop for ReceiverCount<W> {
    fn drop(&mut self) {
        self.0.free_receivers();
        let mut state = lock(&self.0.state);
        state.is_abandoned = true;
        let dropped = std::mem::take(&mut state.buffer);
        state.senders.drain(..).for_each(|waiter| waiter.notify());
        drop(state);
        drop(dropped);
    }
}

/// A receive.
struct Receiving<'a, W: Word> {
    channel: &'a Channel<W>,
    is_thread: bool,
    waiter: Option<Arc<Waiter<W>>>,
}

/// A send.
struct Sending<'a, W: Word> {
    channel: &'a Channel<W>,
    word: Option<W>,
    waiter: Option<Arc<Waiter<W>>>,
}

// Nothing refers to the future itself.
impl<W: Word> Unpin for Receiving<'_, W> {}
impl<W: Word> Unpin for Sending<'_, W> {}

impl<W: Word> Future for Receiving<'_, W> {
    type Output = Answer<W>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer<W>> {
        if let Some(waiter) = &self.waiter {
            if !waiter.is_notified.load(Ordering::SeqCst) {
                *lock(&waiter.waker) = context.waker().clone();
                // It may have been notified just before.
                if !waiter.is_notified.load(Ordering::SeqCst) {
                    return Poll::Pending;
                }
            }
            let handed = lock(&waiter.hand).take();
            self.waiter = None;
            if let Some(word) = handed {
                return Poll::Ready(Answer::Got(word));
            }
        }
        if self.channel.fault == Fault::ClosesEarly
            && let Some(answer) = self.channel.try_get()
        {
            return Poll::Ready(answer);
        }
        let mut state = lock(&self.channel.state);
        if let Some(answer) = state.take() {
            return Poll::Ready(answer);
        }
        if state.is_closed {
            return Poll::Ready(Answer::Closed);
        }
        let waiter = Waiter::new(self.is_thread, context);
        state.receivers.push_back(Arc::clone(&waiter));
        drop(state);
        self.waiter = Some(waiter);
        Poll::Pending
    }
}

impl<W: Word> Future for Sending<'_, W> {
    type Output = Answer<W>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer<W>> {
        if let Some(waiter) = &self.waiter {
            if !waiter.is_notified.load(Ordering::SeqCst) {
                *lock(&waiter.waker) = context.waker().clone();
                if !waiter.is_notified.load(Ordering::SeqCst) {
                    return Poll::Pending;
                }
                return self.poll(context);
            }
            self.waiter = None;
        }
        let channel = self.channel;
        channel.touch_receivers();
        let mut state = lock(&channel.state);
        if let Some(answer) = state.try_put(channel.fault, &mut self.word) {
            return Poll::Ready(answer);
        }
        let waiter = Waiter::new(false, context);
        state.senders.push_back(Arc::clone(&waiter));
        drop(state);
        self.waiter = Some(waiter);
        Poll::Pending
    }
}

impl<W: Word> Drop for Receiving<'_, W> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        let others = self.channel.leaving.fetch_add(1, Ordering::SeqCst);
        let mut state = lock(&self.channel.state);
        state.receivers.retain(|known| !Arc::ptr_eq(known, &waiter));
        let handed = lock(&waiter.hand).take();
        handed.into_iter().for_each(|word| state.buffer.push_front(word));
        let fault = self.channel.fault;
        if fault == Fault::Doubles
            && others > 0
            && let Some(copy) = state.buffer.front().map(W::copy)
        {
            state.buffer.push_front(copy);
        }
        let is_notified = waiter.is_notified.load(Ordering::SeqCst);
        if is_notified && !state.buffer.is_empty() && fault != Fault::LosesWakeup {
            notify_one(&mut state.receivers);
        }
        drop(state);
        self.channel.leaving.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<W: Word> Drop for Sending<'_, W> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        let mut state = lock(&self.channel.state);
        state.senders.retain(|known| !Arc::ptr_eq(known, &waiter));
        if !waiter.is_notified.load(Ordering::SeqCst) {
            return;
        }
        match self.channel.fault {
            Fault::LosesWakeup => {}
            Fault::LosesPermit => state.room = state.room.saturating_sub(1),
            _ => notify_one(&mut state.senders),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread; gives it up at the deadline.
fn wait<F: Future>(future: F, patience: Option<Duration>) -> Option<F::Output> {
    let deadline = patience.map(|patience| Instant::now() + patience);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => std::thread::park(),
            Some(left) if left.is_zero() => return None,
            Some(left) => std::thread::park_timeout(left),
        }
    }
}

fn receiving<W: Word>(receiver: &Receiver<W>, is_thread: bool) -> Receiving<'_, W> {
    Receiving { channel: &receiver.0.0, is_thread, waiter: None }
}

fn sending<W: Word>(sender: &Sender<W>, word: W) -> Sending<'_, W> {
    Sending { channel: &sender.0.0, word: Some(word), waiter: None }
}

impl Target for Planted {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// Everything but rendezvous, and a select of threads.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        let can_poll = flavour == Flavour::Tasks;
        Some(Contract {
            rendezvous: false,
            select_gets: can_poll,
            select_puts: can_poll,
            same_channel_twice: can_poll,
            put_and_get_in_select: false,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        let room = match capacity {
            Capacity::Rendezvous => 1,
            Capacity::Bounded(capacity) => capacity as usize,
            Capacity::Unbounded => usize::MAX,
        };
        let state = State {
            buffer: VecDeque::new(),
            room,
            is_closed: false,
            is_abandoned: false,
            receivers: VecDeque::new(),
            senders: VecDeque::new(),
        };
        let channel = Arc::new(Channel {
            fault: self.0,
            state: Mutex::new(state),
            leaving: AtomicU32::new(0),
            touching: AtomicU32::new(0),
            is_freed: AtomicBool::new(false),
        });
        let sender = Sender(Arc::new(SenderCount(Arc::clone(&channel))));
        (sender, Receiver(Arc::new(ReceiverCount(channel))))
    }

    fn clone_sender<W: Word>(sender: &Sender<W>) -> Option<Sender<W>> {
        Some(Sender(Arc::clone(&sender.0)))
    }

    fn clone_receiver<W: Word>(receiver: &Receiver<W>) -> Option<Receiver<W>> {
        Some(Receiver(Arc::clone(&receiver.0)))
    }

    fn close<W: Word>(sender: &Sender<W>) -> bool {
        sender.0.0.close();
        true
    }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        let channel = &sender.0.0;
        channel.touch_receivers();
        lock(&channel.state).try_put(channel.fault, &mut Some(word))
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        receiver.0.0.try_get()
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        wait(sending(sender, word), None).unwrap_or(Answer::Unsupported)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        wait(receiving(receiver, true), None).unwrap_or(Answer::Unsupported)
    }

    fn put_within<W: Word>(sender: &Sender<W>, word: W, patience: Duration) -> Option<Answer<W>> {
        wait(sending(sender, word), Some(patience))
    }

    fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        wait(receiving(receiver, true), Some(patience))
    }

    fn put_task<W: Word>(sender: &Sender<W>, word: W) -> impl Future<Output = Answer<W>> + Send {
        sending(sender, word)
    }

    fn get_task<W: Word>(receiver: &Receiver<W>) -> impl Future<Output = Answer<W>> + Send {
        receiving(receiver, false)
    }
}
