//! Parts of a channel, for targets whose crate has no channels but what channels are built from: locks,
//! semaphores, events, queues. A buffer, ends that tell the channel when the last one of a side has gone, an
//! end that is lent to one operation at a time, and waiting by trying again.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use super::executor::lock;
use super::plan::Capacity;
use super::target::Answer;

/// The messages of a channel and whether its ends have gone. Belongs behind a lock.
pub struct Buffer<W> {
    words: VecDeque<W>,
    room: usize,
    is_closed: bool,
    is_abandoned: bool,
}

impl<W> Buffer<W> {
    /// Nothing in it yet.
    pub fn new(capacity: Capacity) -> Self {
        let room = room(capacity);
        Buffer { words: VecDeque::new(), room, is_closed: false, is_abandoned: false }
    }

    /// Sends; `None` if there is no room, and then the message stays where it is.
    pub fn push(&mut self, word: &mut Option<W>) -> Option<Answer<W>> {
        if self.is_abandoned {
            return Some(Answer::Gone);
        }
        if self.words.len() >= self.room {
            return None;
        }
        self.words.extend(word.take());
        Some(Answer::Sent)
    }

    /// Receives; `None` if there is nothing.
    pub fn pop(&mut self) -> Option<Answer<W>> {
        let word = self.words.pop_front().map(Answer::Got);
        word.or(self.is_closed.then_some(Answer::Closed))
    }

    /// The senders have gone.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// The receivers have gone; what was left for them.
    pub fn abandon(&mut self) -> VecDeque<W> {
        self.is_abandoned = true;
        std::mem::take(&mut self.words)
    }
}

/// How many messages a channel may hold.
pub fn room(capacity: Capacity) -> usize {
    match capacity {
        Capacity::Rendezvous => 0,
        Capacity::Bounded(room) => room as usize,
        Capacity::Unbounded => usize::MAX,
    }
}

/// A channel that has two sides.
pub trait Sides: Send + Sync + 'static {
    /// The last sender has gone.
    fn close(&self) {}
    /// The last receiver has gone.
    fn abandon(&self) {}
}

struct LastSender<C: Sides>(Arc<C>);
struct LastReceiver<C: Sides>(Arc<C>);

/// A sender of a channel.
pub struct Sending<C: Sides>(Arc<LastSender<C>>);
/// A receiver of a channel.
pub struct Receiving<C: Sides>(Arc<LastReceiver<C>>);

/// The two ends of a channel.
pub fn ends<C: Sides>(channel: C) -> (Sending<C>, Receiving<C>) {
    let channel = Arc::new(channel);
    let sender = Sending(Arc::new(LastSender(Arc::clone(&channel))));
    (sender, Receiving(Arc::new(LastReceiver(channel))))
}

impl<C: Sides> Drop for LastSender<C> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<C: Sides> Drop for LastReceiver<C> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl<C: Sides> Clone for Sending<C> {
    fn clone(&self) -> Self {
        Sending(Arc::clone(&self.0))
    }
}

impl<C: Sides> Clone for Receiving<C> {
    fn clone(&self) -> Self {
        Receiving(Arc::clone(&self.0))
    }
}

impl<C: Sides> Deref for Sending<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.0.0
    }
}

impl<C: Sides> Deref for Receiving<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.0.0
    }
}

/// What was taken from its place for one operation, and goes back there afterwards, also if the operation is
/// given up.
pub struct Lent<'a, E> {
    place: &'a Mutex<Option<E>>,
    end: Option<E>,
}

impl<'a, E> Lent<'a, E> {
    /// Takes it.
    ///
    /// # Panics
    /// If another operation has it.
    pub fn from(place: &'a Mutex<Option<E>>) -> Self {
        let end = lock(place).take();
        assert!(end.is_some(), "an end for one process is used by two");
        Lent { place, end }
    }
}

impl<E> Deref for Lent<'_, E> {
    type Target = E;

    fn deref(&self) -> &E {
        self.end.as_ref().expect("it goes back when it is dropped")
    }
}

impl<E> DerefMut for Lent<'_, E> {
    fn deref_mut(&mut self) -> &mut E {
        self.end.as_mut().expect("it goes back when it is dropped")
    }
}

impl<E> Drop for Lent<'_, E> {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            *lock(self.place) = Some(end);
        }
    }
}

/// Polls a future where it is, as who awaits `&mut future` does, and takes it away when it is ready; `None` if it
/// was ready before.
pub fn received_once<F: Future + Unpin>(
    place: &Mutex<Option<F>>,
) -> impl Future<Output = Option<F::Output>> {
    poll_fn(|context| {
        let mut place = lock(place);
        let Some(future) = place.as_mut() else { return Poll::Ready(None) };
        let polled = Pin::new(future).poll(context);
        if polled.is_ready() {
            *place = None;
        }
        polled.map(Some)
    })
}

/// How often an operation is tried before who waits takes short naps: to keep the processor busy would hold up
/// the very process that it waits for.
const TRIES: u32 = 64;
/// How long a nap is, at least.
const NAP: Duration = Duration::from_micros(5);

/// Tries on this thread until it succeeds.
pub fn try_until<A>(mut attempt: impl FnMut() -> Option<A>) -> A {
    let mut tried: u32 = 0;
    loop {
        if let Some(answer) = attempt() {
            return answer;
        }
        if tried < TRIES {
            tried += 1;
            std::hint::spin_loop();
        } else {
            std::thread::sleep(NAP);
        }
    }
}

/// Tries in this task until it succeeds.
pub fn try_until_task<A>(mut attempt: impl FnMut() -> Option<A>) -> impl Future<Output = A> {
    let mut tried: u32 = 0;
    poll_fn(move |context| {
        if let Some(answer) = attempt() {
            return Poll::Ready(answer);
        }
        if tried < TRIES {
            tried += 1
        } else {
            std::thread::sleep(NAP)
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
}
