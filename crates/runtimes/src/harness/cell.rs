//! A channel of an instance and how processes hold its ends.
//!
//! Where the program may close (abandon) the channel, processes borrow the one sender (receiver)
//! for the time of an operation, so that closing, which drops it, takes effect at once as it does
//! in the language. Elsewhere a process may keep a clone of its own, as Rust programs do, until it
//! ends or, in some runs, until it has no more use for it (see [`super::uses`]).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::executor::lock;
use super::payload::Word;
use super::plan::Open;
use super::target::Target;

/// How long closing waits for the last operation to let go of its end.
const LETTING_GO: Duration = Duration::from_secs(2);

/// A channel.
pub struct Cell<T: Target, W: Word> {
    sender: Mutex<Option<Arc<T::Sender<W>>>>,
    receiver: Mutex<Option<Arc<T::Receiver<W>>>>,
    open: Open,
    abandoned: AtomicBool,
    closed: AtomicBool,
    /// The only process that sends, and the only one that receives; 0 as long as there is none.
    owners: [AtomicU32; 2],
    /// How many processes may still ask for a sender, and for a receiver.
    awaited: [AtomicU32; 2],
    /// Has a side been let go of because nobody will use it any more?
    let_go: [AtomicBool; 2],
}

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Senders.
    Sending,
    /// Receivers.
    Receiving,
}

/// The ends of a channel that a process keeps.
pub struct Ends<T: Target, W: Word> {
    /// The channel.
    pub cell: Arc<Cell<T, W>>,
    sender: Option<Arc<T::Sender<W>>>,
    receiver: Option<Arc<T::Receiver<W>>>,
}

impl<T: Target, W: Word> Cell<T, W> {
    /// A new channel.
    pub fn new(target: &T, open: &Open) -> Self {
        let (sender, receiver) = target.open(open.capacity);
        Cell {
            sender: Mutex::new(Some(Arc::new(sender))),
            receiver: Mutex::new(Some(Arc::new(receiver))),
            open: *open,
            abandoned: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            owners: [AtomicU32::new(0), AtomicU32::new(0)],
            awaited: [AtomicU32::new(0), AtomicU32::new(0)],
            let_go: [AtomicBool::new(false), AtomicBool::new(false)],
        }
    }

    /// May the side be let go of before the end of the run? Not if the program says itself when.
    pub fn may_be_let_go(&self, side: Side) -> bool {
        match side {
            Side::Sending => !self.open.is_closed,
            Side::Receiving => !self.open.is_abandoned,
        }
    }

    /// One more process may ask for this side.
    pub fn reserve(&self, side: Side) {
        self.awaited[side as usize].fetch_add(1, Ordering::SeqCst);
    }

    /// A process will not ask for this side any more. When it was the last one, so that those who
    /// hold an end of their own are the only ones left, this one is dropped.
    pub fn release(&self, side: Side) {
        if self.awaited[side as usize].fetch_sub(1, Ordering::SeqCst) > 1 {
            return;
        }
        self.let_go[side as usize].store(true, Ordering::SeqCst);
        match side {
            Side::Sending => drop(lock(&self.sender).take()),
            Side::Receiving => drop(lock(&self.receiver).take()),
        }
    }

    /// Have the receivers left?
    pub fn is_abandoned(&self) -> bool {
        let is_let_go = &self.let_go[Side::Receiving as usize];
        self.abandoned.load(Ordering::SeqCst) || is_let_go.load(Ordering::SeqCst)
    }

    /// Has the program taken the senders away?
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Notes that a process, given by a number above 0, uses a side; `false` when another one has.
    pub fn claim(&self, side: Side, process: u32) -> bool {
        let owner = &self.owners[side as usize];
        match owner.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => true,
            Err(other) => other == process,
        }
    }

    /// Closes the channel: by the crate's own operation if `by_operation` and there is one, else by
    /// dropping the sender. `false` when it is closed already.
    pub fn close(&self, by_operation: bool) -> bool {
        if self.closed.swap(true, Ordering::SeqCst) {
            return false;
        }
        let mut slot = lock(&self.sender);
        if by_operation && slot.as_ref().is_some_and(|sender| T::close(sender)) {
            return true;
        }
        let sender = slot.take();
        drop(slot);
        sender.into_iter().for_each(let_go);
        true
    }

    /// Drops the receiver. `false` when it is gone already.
    pub fn abandon(&self) -> bool {
        if self.abandoned.swap(true, Ordering::SeqCst) {
            return false;
        }
        let receiver = lock(&self.receiver).take();
        receiver.into_iter().for_each(let_go);
        true
    }
}

/// Drops what may still be borrowed by an operation that is just returning.
fn let_go<E>(mut end: Arc<E>) {
    let mut since: Option<Instant> = None;
    loop {
        match Arc::try_unwrap(end) {
            Ok(end) => return drop(end),
            Err(shared) => end = shared,
        }
        std::thread::yield_now();
        if since.get_or_insert_with(Instant::now).elapsed() > LETTING_GO {
            return;
        }
    }
}

impl<T: Target, W: Word> Ends<T, W> {
    /// No ends yet.
    pub fn new(cell: Arc<Cell<T, W>>) -> Self {
        Ends { cell, sender: None, receiver: None }
    }

    /// Drops what is kept of one side.
    pub fn drop_side(&mut self, side: Side) {
        match side {
            Side::Sending => self.sender = None,
            Side::Receiving => self.receiver = None,
        }
    }

    /// A sender for one operation; `None` when the channel is closed.
    pub fn sender(&mut self, keeps: bool) -> Option<Arc<T::Sender<W>>> {
        if let Some(sender) = &self.sender {
            return Some(sender.clone());
        }
        let shared = lock(&self.cell.sender).clone()?;
        if !keeps || self.cell.open.is_closed {
            return Some(shared);
        }
        let own = T::clone_sender(&shared).map_or(shared, Arc::new);
        self.sender = Some(own.clone());
        Some(own)
    }

    /// A receiver for one operation; `None` when the channel is abandoned.
    pub fn receiver(&mut self, keeps: bool) -> Option<Arc<T::Receiver<W>>> {
        if let Some(receiver) = &self.receiver {
            return Some(receiver.clone());
        }
        let shared = lock(&self.cell.receiver).clone()?;
        if !keeps || self.cell.open.is_abandoned {
            return Some(shared);
        }
        let own = T::clone_receiver(&shared).map_or(shared, Arc::new);
        self.receiver = Some(own.clone());
        Some(own)
    }
}
