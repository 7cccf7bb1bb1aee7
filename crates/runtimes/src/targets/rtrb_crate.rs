//! rtrb: a ring buffer for one sender and one receiver that never wait; who waits tries again; threads and
//! tasks.

use std::sync::Mutex;

use rtrb::{Consumer, Producer, RingBuffer};

use crate::harness::executor::lock;
use crate::harness::parts::{room, try_until, try_until_task};
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Rtrb;

/// `None` if there is no room, and then the message stays where it is.
fn push<W: Word>(sender: &Mutex<Producer<W>>, word: &mut Option<W>) -> Option<Answer<W>> {
    let mut sender = lock(sender);
    if sender.is_abandoned() {
        return Some(Answer::Gone);
    }
    match sender.push(word.take()?) {
        Ok(()) => Some(Answer::Sent),
        Err(rtrb::PushError::Full(back)) => {
            *word = Some(back);
            None
        }
    }
}

fn pop<W: Word>(receiver: &Mutex<Consumer<W>>) -> Option<Answer<W>> {
    let mut receiver = lock(receiver);
    // In this order: what was sent before the sender went is there when it has gone.
    let is_closed = receiver.is_abandoned();
    receiver.pop().ok().map(Answer::Got).or(is_closed.then_some(Answer::Closed))
}

impl Target for Rtrb {
    type Sender<W: Word> = Mutex<Producer<W>>;
    type Receiver<W: Word> = Mutex<Consumer<W>>;

    /// "A realtime-safe single-producer single-consumer (SPSC) ring buffer." · "Attempts to write to a full
    /// buffer return an error", "Attempts to read from an empty buffer return an error as well." · "there is no
    /// way for the reading thread to wait for new data, other than trying repeatedly" · `is_abandoned`: "The
    /// items that are left in the ring buffer can still be consumed", and it synchronises with the end that has
    /// gone. · No select and nothing that is given up: neither waits.
    fn contract(&self, _: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: false,
            unbounded: false,
            many_senders: false,
            many_receivers: false,
            select_gets: false,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            cancel_gets: false,
            cancel_puts: false,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Self::Sender<W>, Self::Receiver<W>) {
        let (sender, receiver) = RingBuffer::new(room(capacity));
        (Mutex::new(sender), Mutex::new(receiver))
    }

    std_names! { single }

    std_names! { again push pop }
}
