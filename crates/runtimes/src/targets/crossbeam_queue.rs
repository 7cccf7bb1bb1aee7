//! crossbeam-queue: queues that never wait; who waits tries again; threads and tasks.

use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_queue::{ArrayQueue, SegQueue};

use crate::harness::parts::{Receiving, Sending, Sides, ends, room, try_until, try_until_task};
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct CrossbeamQueue;

/// A queue, and whether an end has gone, which the queue itself does not know.
pub struct Channel<W> {
    queue: Queue<W>,
    is_closed: AtomicBool,
    is_abandoned: AtomicBool,
}

enum Queue<W> {
    Bounded(ArrayQueue<W>),
    Unbounded(SegQueue<W>),
}

type Sender<W> = Sending<Channel<W>>;
type Receiver<W> = Receiving<Channel<W>>;

impl<W: Word> Sides for Channel<W> {
    fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::SeqCst);
    }
}

/// `None` if there is no room, and then the message stays where it is.
fn push<W: Word>(channel: &Channel<W>, word: &mut Option<W>) -> Option<Answer<W>> {
    if channel.is_abandoned.load(Ordering::SeqCst) {
        return Some(Answer::Gone);
    }
    let sent = word.take()?;
    match &channel.queue {
        Queue::Unbounded(queue) => queue.push(sent),
        Queue::Bounded(queue) => {
            if let Err(back) = queue.push(sent) {
                *word = Some(back);
                return None;
            }
        }
    }
    Some(Answer::Sent)
}

fn pop<W: Word>(channel: &Channel<W>) -> Option<Answer<W>> {
    // In this order: what was sent before the senders went is there when they have gone.
    let is_closed = channel.is_closed.load(Ordering::SeqCst);
    let word = match &channel.queue {
        Queue::Bounded(queue) => queue.pop(),
        Queue::Unbounded(queue) => queue.pop(),
    };
    word.map(Answer::Got).or(is_closed.then_some(Answer::Closed))
}

impl Target for CrossbeamQueue {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// `ArrayQueue`: "A bounded multi-producer multi-consumer queue." · `push`: "If the queue is full, the
    /// element is returned back as an error." · `pop`: "If the queue is empty, `None` is returned." · `SegQueue`:
    /// "An unbounded multi-producer multi-consumer queue." · Closing and leaving are marks beside the queue. ·
    /// No select and nothing that is given up: neither waits.
    fn contract(&self, _: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: false,
            select_gets: false,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            cancel_gets: false,
            cancel_puts: false,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        let queue = match capacity {
            Capacity::Unbounded => Queue::Unbounded(SegQueue::new()),
            bounded => Queue::Bounded(ArrayQueue::new(room(bounded).max(1))),
        };
        let (is_closed, is_abandoned) = Default::default();
        ends(Channel { queue, is_closed, is_abandoned })
    }

    std_names! { clone }

    std_names! { again push pop }
}
