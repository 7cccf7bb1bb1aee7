//! concurrent-queue: a queue that never waits; who waits tries again; threads and tasks.

use concurrent_queue::{ConcurrentQueue, PopError, PushError};

use crate::harness::parts::{Receiving, Sending, Sides, ends, room, try_until, try_until_task};
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Concurrent;

/// A queue.
pub struct Channel<W>(ConcurrentQueue<W>);

type Sender<W> = Sending<Channel<W>>;
type Receiver<W> = Receiving<Channel<W>>;

impl<W: Word> Sides for Channel<W> {
    fn close(&self) {
        self.0.close();
    }

    fn abandon(&self) {
        self.0.close();
    }
}

/// `None` if there is no room, and then the message stays where it is.
fn push<W: Word>(channel: &Channel<W>, word: &mut Option<W>) -> Option<Answer<W>> {
    match channel.0.push(word.take()?) {
        Ok(()) => Some(Answer::Sent),
        Err(PushError::Closed(_)) => Some(Answer::Gone),
        Err(PushError::Full(back)) => {
            *word = Some(back);
            None
        }
    }
}

fn pop<W: Word>(channel: &Channel<W>) -> Option<Answer<W>> {
    match channel.0.pop() {
        Ok(word) => Some(Answer::Got(word)),
        Err(PopError::Empty) => None,
        Err(PopError::Closed) => Some(Answer::Closed),
    }
}

impl Target for Concurrent {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "A concurrent multi-producer multi-consumer queue." · "Bounded queue with limited capacity" and
    /// "Unbounded queue with unlimited capacity". · "Queues also have the capability to get
    /// closed at any point. When closed, no more items can be pushed into the queue, although the remaining
    /// items can still be popped." · `push`: "If the queue is full or closed, the item is returned back as
    /// an error." · `pop`: "If the queue is empty, an error is returned." · No select and nothing that is given
    /// up: neither waits.
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
        ends(Channel(match capacity {
            Capacity::Unbounded => ConcurrentQueue::unbounded(),
            bounded => ConcurrentQueue::bounded(room(bounded).max(1)),
        }))
    }

    std_names! { clone }

    fn close<W: Word>(sender: &Sender<W>) -> bool {
        sender.0.close();
        true
    }

    std_names! { again push pop }
}
