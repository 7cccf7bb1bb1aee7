//! A channel made of parking_lot's mutex and condition variables; threads.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::harness::parts::{Buffer, Receiving, Sending, Sides, ends};
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct ParkingLotCondvar;

/// A channel.
pub struct Channel<W> {
    buffer: Mutex<Buffer<W>>,
    is_sent: Condvar,
    has_room: Condvar,
}

type Sender<W> = Sending<Channel<W>>;
type Receiver<W> = Receiving<Channel<W>>;

impl<W: Word> Sides for Channel<W> {
    fn close(&self) {
        self.buffer.lock().close();
        self.is_sent.notify_all();
    }

    fn abandon(&self) {
        let left = self.buffer.lock().abandon();
        self.has_room.notify_all();
        drop(left);
    }
}

impl<W: Word> Channel<W> {
    /// Tries until it succeeds or the deadline has passed; in between it waits for one condition, and
    /// afterwards it tells the other one.
    fn wait(
        &self,
        (waits_for, tells): (&Condvar, &Condvar),
        deadline: Option<Instant>,
        mut attempt: impl FnMut(&mut Buffer<W>) -> Option<Answer<W>>,
    ) -> Option<Answer<W>> {
        let mut buffer = self.buffer.lock();
        loop {
            if let Some(answer) = attempt(&mut buffer) {
                drop(buffer);
                tells.notify_one();
                return Some(answer);
            }
            match deadline {
                None => waits_for.wait(&mut buffer),
                Some(deadline) if deadline <= Instant::now() => return None,
                // Tries once more when the time is up: it may be the one that was notified.
                Some(deadline) => drop(waits_for.wait_until(&mut buffer, deadline)),
            }
        }
    }

    fn push(&self, word: W, deadline: Option<Instant>) -> Option<Answer<W>> {
        let mut word = Some(word);
        self.wait((&self.has_room, &self.is_sent), deadline, |buffer| buffer.push(&mut word))
    }

    fn pop(&self, deadline: Option<Instant>) -> Option<Answer<W>> {
        self.wait((&self.is_sent, &self.has_room), deadline, Buffer::pop)
    }
}

impl Target for ParkingLotCondvar {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// `Condvar`: "Condition variables represent the ability to block a thread such that it consumes no CPU time while
    /// waiting for an event to occur." · `notify_one`: "If there is a blocked thread on this condition variable,
    /// then it will be woken up from its call to `wait` or `wait_timeout`." · `wait` "will atomically unlock the
    /// mutex specified … and block the current thread. This means that any calls to `notify_*()` which
    /// happen logically after the mutex is unlocked are candidates to wake this thread up." · Who gives up has
    /// tried once more before, with the mutex locked.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Threads).then_some(Contract {
            rendezvous: false,
            select_gets: false,
            select_puts: false,
            same_channel_twice: false,
            put_and_get_in_select: false,
            ..Contract::ALL
        })
    }

    fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
        let buffer = Mutex::new(Buffer::new(capacity));
        ends(Channel { buffer, is_sent: Condvar::new(), has_room: Condvar::new() })
    }

    std_names! { clone }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        sender.push(word, Some(Instant::now()))
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        receiver.pop(Some(Instant::now()))
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        sender.push(word, None).unwrap_or(Answer::Unsupported)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        receiver.pop(None).unwrap_or(Answer::Unsupported)
    }

    fn put_within<W: Word>(sender: &Sender<W>, word: W, patience: Duration) -> Option<Answer<W>> {
        sender.push(word, Some(Instant::now() + patience))
    }

    fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        receiver.pop(Some(Instant::now() + patience))
    }
}
