//! A channel that waits by event-listener: a buffer behind a lock, and an event for each side; threads and
//! tasks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use event_listener::{Event, Listener};

use crate::harness::executor::lock;
use crate::harness::parts::{Buffer, Receiving, Sending, Sides, ends};
use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct EventListener;

/// A channel. Who waits follows the example of the documentation: look, "start listening for events", "check
/// … again after creating the listener", "wait for a notification and continue the loop".
pub struct Channel<W> {
    buffer: Mutex<Buffer<W>>,
    is_sent: Event,
    has_room: Event,
}

impl<W: Word> Channel<W> {
    fn push(&self, word: &mut Option<W>) -> Option<Answer<W>> {
        let answer = lock(&self.buffer).push(word)?;
        self.is_sent.notify_additional(1);
        Some(answer)
    }

    fn pop(&self) -> Option<Answer<W>> {
        let answer = lock(&self.buffer).pop()?;
        self.has_room.notify_additional(1);
        Some(answer)
    }
}

type Sender<W> = Sending<Channel<W>>;
type Receiver<W> = Receiving<Channel<W>>;

impl<W: Word> Sides for Channel<W> {
    fn close(&self) {
        lock(&self.buffer).close();
        self.is_sent.notify(usize::MAX);
    }

    fn abandon(&self) {
        let left = lock(&self.buffer).abandon();
        self.has_room.notify(usize::MAX);
        drop(left);
    }
}

/// Waits on a thread, at most until the deadline.
fn wait<A>(
    event: &Event,
    deadline: Option<Instant>,
    mut attempt: impl FnMut() -> Option<A>,
) -> Option<A> {
    loop {
        if let Some(answer) = attempt() {
            return Some(answer);
        }
        let listener = event.listen();
        if let Some(answer) = attempt() {
            return Some(answer);
        }
        match deadline {
            None => listener.wait(),
            Some(deadline) => listener.wait_deadline(deadline)?,
        }
    }
}

/// Waits in a task.
async fn wait_task<A>(event: &Event, mut attempt: impl FnMut() -> Option<A>) -> A {
    loop {
        if let Some(answer) = attempt() {
            return answer;
        }
        let listener = event.listen();
        if let Some(answer) = attempt() {
            return answer;
        }
        listener.await;
    }
}

impl Target for EventListener {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// `notify_additional`: "Notifies a number of active and still unnotified listeners", so each message and each place wakes one more. · `EventListener`: "If a notified listener
    /// is dropped without receiving a notification, dropping will notify another active listener", so an
    /// operation that is given up wakes another. · Everything but the waiting is a buffer behind a lock of
    /// std. No rendezvous, and no select for threads.
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
        let buffer = Mutex::new(Buffer::new(capacity));
        ends(Channel { buffer, is_sent: Event::new(), has_room: Event::new() })
    }

    std_names! { clone }

    fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
        sender.push(&mut Some(word))
    }

    fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
        receiver.pop()
    }

    fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        let mut word = Some(word);
        wait(&sender.has_room, None, || sender.push(&mut word)).unwrap_or(Answer::Unsupported)
    }

    fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        wait(&receiver.is_sent, None, || receiver.pop()).unwrap_or(Answer::Unsupported)
    }

    fn put_within<W: Word>(sender: &Sender<W>, word: W, patience: Duration) -> Option<Answer<W>> {
        let (deadline, mut word) = (Instant::now() + patience, Some(word));
        wait(&sender.has_room, Some(deadline), || sender.push(&mut word))
    }

    fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
        let deadline = Instant::now() + patience;
        wait(&receiver.is_sent, Some(deadline), || receiver.pop())
    }

    async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
        let mut word = Some(word);
        wait_task(&sender.has_room, || sender.push(&mut word)).await
    }

    async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
        wait_task(&receiver.is_sent, || receiver.pop()).await
    }
}
