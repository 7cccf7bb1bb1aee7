//! Channels with many senders and receivers, and select over sends and receives, in the manner of
//! `crossbeam-channel`, which does the work when the code runs for real.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel as real;
pub use crossbeam_channel::{
    RecvError, RecvTimeoutError, SendError, TryRecvError, TrySelectError, TrySendError,
};

use crate::rt::channel::{Core, Nothing};
use crate::rt::current::{under_test, with};
use crate::rt::select::{self as model, Case};

/// The sending side of a channel.
pub struct Sender<T>(Side<real::Sender<T>, T>);

/// The receiving side of a channel.
pub struct Receiver<T>(Side<real::Receiver<T>, T>);

enum Side<R, T> {
    Real(R),
    Model(Arc<Core<T>>),
}

/// A channel without a limit.
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    if under_test() {
        return modelled(None);
    }
    let (sender, receiver) = real::unbounded();
    (Sender(Side::Real(sender)), Receiver(Side::Real(receiver)))
}

/// A channel that holds so many messages; with 0 each send waits for a receive.
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    if under_test() {
        return modelled(Some(capacity));
    }
    let (sender, receiver) = real::bounded(capacity);
    (Sender(Side::Real(sender)), Receiver(Side::Real(receiver)))
}

#[track_caller]
fn modelled<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let core = Arc::new(Core::new(capacity));
    (Sender(Side::Model(core.clone())), Receiver(Side::Model(core)))
}

impl<T> Sender<T> {
    /// Sends, waiting for room or a partner. Gives the message back if no receiver is left.
    #[inline(always)]
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Side::Real(sender) => sender.send(message),
            Side::Model(core) => core.send(message, Location::caller()).map_err(SendError),
        }
    }

    /// Sends if that is possible at once.
    #[inline(always)]
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Side::Real(sender) => sender.try_send(message),
            Side::Model(core) => {
                core.try_send(message, Location::caller()).map_err(|(message, why)| match why {
                    Nothing::Empty => TrySendError::Full(message),
                    Nothing::Disconnected => TrySendError::Disconnected(message),
                })
            }
        }
    }
}

impl<T> Receiver<T> {
    /// Receives, waiting for a message. Fails if none can come any more.
    #[inline(always)]
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            Side::Real(receiver) => receiver.recv(),
            Side::Model(core) => core.receive(Location::caller()).ok_or(RecvError),
        }
    }

    /// Receives if a message is there.
    #[inline(always)]
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            Side::Real(receiver) => receiver.try_recv(),
            Side::Model(core) => core.try_receive(Location::caller()).map_err(|why| match why {
                Nothing::Empty => TryRecvError::Empty,
                Nothing::Disconnected => TryRecvError::Disconnected,
            }),
        }
    }

    /// Receives, or gives up when the time is over. Under test both may happen.
    #[inline(always)]
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            Side::Real(receiver) => receiver.recv_timeout(timeout),
            Side::Model(core) => {
                core.receive_timeout(Location::caller()).map_err(|why| match why {
                    Nothing::Empty => RecvTimeoutError::Timeout,
                    Nothing::Disconnected => RecvTimeoutError::Disconnected,
                })
            }
        }
    }

    /// Receives until no message can come any more.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }
}

/// The messages of a channel until it is disconnected.
#[derive(Debug)]
pub struct Iter<'r, T>(&'r Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender(match &self.0 {
            Side::Real(sender) => Side::Real(sender.clone()),
            Side::Model(core) => {
                core.clone_sender();
                Side::Model(core.clone())
            }
        })
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Receiver(match &self.0 {
            Side::Real(receiver) => Side::Real(receiver.clone()),
            Side::Model(core) => {
                core.clone_receiver();
                Side::Model(core.clone())
            }
        })
    }
}

impl<T> Drop for Sender<T> {
    #[inline(always)]
    #[track_caller]
    fn drop(&mut self) {
        if let Side::Model(core) = &self.0
            && under_test()
        {
            core.drop_sender(Location::caller());
        }
    }
}

impl<T> Drop for Receiver<T> {
    #[inline(always)]
    #[track_caller]
    fn drop(&mut self) {
        if let Side::Model(core) = &self.0
            && under_test()
        {
            core.drop_receiver(Location::caller());
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sender { .. }")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Receiver { .. }")
    }
}

impl<T> crate::annotate::Shared for Sender<T> {
    fn object_slot(&self) -> crate::annotate::ObjectSlot<'_> {
        static REAL: crate::rt::slot::Slot = crate::rt::slot::Slot::unnamed();
        crate::annotate::ObjectSlot(match &self.0 {
            Side::Real(_) => &REAL,
            Side::Model(core) => core.slot(),
        })
    }
}

/// Several sends and receives of which one is to happen.
#[derive(Default)]
pub struct Select<'c> {
    real: Option<real::Select<'c>>,
    cases: Vec<Case<'c>>,
}

/// The operation that a [`Select`] has chosen. It has to be completed on the same channel.
#[must_use = "the chosen operation has to be completed"]
pub struct SelectedOperation<'c> {
    real: Option<real::SelectedOperation<'c>>,
    index: usize,
    /// Has a partner completed it already?
    met: bool,
}

impl<'c> Select<'c> {
    /// No operations yet.
    pub fn new() -> Self {
        Select { real: (!under_test()).then(real::Select::new), cases: Vec::new() }
    }

    /// Adds a send. Gives its index.
    pub fn send<T>(&mut self, sender: &'c Sender<T>) -> usize {
        match (&sender.0, &mut self.real) {
            (Side::Real(sender), Some(real)) => real.send(sender),
            (Side::Model(core), _) => self.add(&**core, true),
            (Side::Real(_), None) => mixed(),
        }
    }

    /// Adds a receive. Gives its index.
    pub fn recv<T>(&mut self, receiver: &'c Receiver<T>) -> usize {
        match (&receiver.0, &mut self.real) {
            (Side::Real(receiver), Some(real)) => real.recv(receiver),
            (Side::Model(core), _) => self.add(&**core, false),
            (Side::Real(_), None) => mixed(),
        }
    }

    fn add(&mut self, channel: &'c dyn model::Selectable, sends: bool) -> usize {
        self.cases.push(Case { channel, sends });
        self.cases.len() - 1
    }

    /// Waits until one of the operations is ready and chooses it.
    #[track_caller]
    pub fn select(&mut self) -> SelectedOperation<'c> {
        if let Some(real) = &mut self.real {
            let chosen = real.select();
            return SelectedOperation { index: chosen.index(), real: Some(chosen), met: false };
        }
        match model::select(&self.cases, true, Location::caller()) {
            Some((index, met)) => SelectedOperation { real: None, index, met },
            None => crate::rt::lock::gone(),
        }
    }

    /// Chooses one of the operations if one is ready.
    #[track_caller]
    pub fn try_select(&mut self) -> Result<SelectedOperation<'c>, TrySelectError> {
        if let Some(real) = &mut self.real {
            let chosen = real.try_select()?;
            return Ok(SelectedOperation { index: chosen.index(), real: Some(chosen), met: false });
        }
        let chosen = model::select(&self.cases, false, Location::caller());
        let (index, met) = chosen.ok_or(TrySelectError)?;
        Ok(SelectedOperation { real: None, index, met })
    }
}

/// A channel that was made for real is used under test.
#[track_caller]
fn mixed() -> usize {
    panic!("a channel that was made outside the check cannot be selected from within it")
}

impl SelectedOperation<'_> {
    /// The index of the chosen operation.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Completes a send.
    #[track_caller]
    pub fn send<T>(self, sender: &Sender<T>, message: T) -> Result<(), SendError<T>> {
        match (&sender.0, self.real) {
            (Side::Real(sender), Some(chosen)) => chosen.send(sender, message),
            (Side::Model(core), _) => {
                if self.met {
                    if let Some(receiver) = model::partner() {
                        core.hand_to(receiver, message);
                    }
                    return Ok(());
                }
                core.send_now(message, true, Location::caller()).map_err(SendError)
            }
            (Side::Real(_), None) => panic!("the chosen operation is on another channel"),
        }
    }

    /// Completes a receive.
    #[track_caller]
    pub fn recv<T>(self, receiver: &Receiver<T>) -> Result<T, RecvError> {
        match (&receiver.0, self.real) {
            (Side::Real(receiver), Some(chosen)) => chosen.recv(receiver),
            (Side::Model(core), _) => {
                if self.met {
                    let me = with(|world| world.current).unwrap_or(0);
                    return core.handed(me).ok_or(RecvError);
                }
                core.receive_now(true, Location::caller()).map_err(|_| RecvError)
            }
            (Side::Real(_), None) => panic!("the chosen operation is on another channel"),
        }
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Select").field("cases", &self.cases.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SelectedOperation").field("index", &self.index).finish()
    }
}
