//! Channels with many senders and receivers, and select over sends and receives, in the manner of
//! `crossbeam-channel`, which does the work when the code runs for real.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel as real;
pub use crossbeam_channel::{
    RecvError, RecvTimeoutError, SelectTimeoutError, SendError, SendTimeoutError, TryRecvError,
    TrySelectError, TrySendError,
};

pub use self::select::{Select, SelectedOperation};
use crate::rt::channel::{Core, Nothing};
use crate::rt::current::under_test;
pub use crate::select;
use crate::sides::{Side, receiver_side, sender_side, trying_sender_side};

mod select;

/// The sending side of a channel.
pub struct Sender<T>(Side<real::Sender<T>, T>);

/// The receiving side of a channel.
pub struct Receiver<T>(Side<real::Receiver<T>, T>);

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

/// A channel that never has a message and is never disconnected.
#[track_caller]
pub fn never<T>() -> Receiver<T> {
    if under_test() {
        // Its one sender has no owner, so it is never dropped.
        return Receiver(Side::Model(Arc::new(Core::new(None))));
    }
    Receiver(Side::Real(real::never()))
}

/// A channel that has one message, the time, after a while, and is never disconnected. Under test
/// that is a thread which sends it when it comes to that.
#[track_caller]
pub fn after(duration: Duration) -> Receiver<Instant> {
    if !under_test() {
        return Receiver(Side::Real(real::after(duration)));
    }
    let place = Location::caller();
    let core = Arc::new(Core::new(Some(1)));
    let (theirs, then) = (core.clone(), Instant::now() + duration);
    let send = move || {
        // If no receiver is left, the message is dropped.
        let _ = theirs.try_send(then, place);
    };
    let _ = crate::thread::Builder::new().name("after".to_owned()).spawn(send);
    Receiver(Side::Model(core))
}

#[track_caller]
fn modelled<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let core = Arc::new(Core::new(capacity));
    (Sender(Side::Model(core.clone())), Receiver(Side::Model(core)))
}

sender_side!(Sender);
trying_sender_side!(Sender);
receiver_side!(Receiver);

impl<T> Sender<T> {
    /// Sends, or gives up when the time is over. Under test both may happen.
    #[inline(always)]
    #[track_caller]
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match &self.0 {
            Side::Real(sender) => sender.send_timeout(message, timeout),
            Side::Model(core) => {
                core.send_timeout(message, Location::caller()).map_err(|(message, why)| match why {
                    Nothing::Empty => SendTimeoutError::Timeout(message),
                    Nothing::Disconnected => SendTimeoutError::Disconnected(message),
                })
            }
        }
    }
}

macro_rules! looks {
    ($side:ident) => {
        impl<T> $side<T> {
            /// How many messages are in the channel.
            #[track_caller]
            pub fn len(&self) -> usize {
                match &self.0 {
                    Side::Real(real) => real.len(),
                    Side::Model(core) => core.length(Location::caller()),
                }
            }

            /// Is no message in the channel?
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Are as many messages in the channel as it holds? Always, if it holds none.
            #[track_caller]
            pub fn is_full(&self) -> bool {
                match &self.0 {
                    Side::Real(real) => real.is_full(),
                    Side::Model(_) => {
                        self.capacity().is_some_and(|capacity| self.len() == capacity)
                    }
                }
            }

            /// How many messages the channel holds, if there is a limit.
            pub fn capacity(&self) -> Option<usize> {
                match &self.0 {
                    Side::Real(real) => real.capacity(),
                    Side::Model(core) => core.capacity(),
                }
            }

            /// Is it the same channel?
            pub fn same_channel(&self, other: &Self) -> bool {
                match (&self.0, &other.0) {
                    (Side::Real(one), Side::Real(other)) => one.same_channel(other),
                    (Side::Model(one), Side::Model(other)) => Arc::ptr_eq(one, other),
                    _ => false,
                }
            }
        }
    };
}

looks!(Sender);
looks!(Receiver);

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

impl<T> crate::annotate::Shared for Sender<T> {
    fn object_slot(&self) -> crate::annotate::ObjectSlot<'_> {
        static REAL: crate::rt::slot::Slot = crate::rt::slot::Slot::unnamed();
        crate::annotate::ObjectSlot(match &self.0 {
            Side::Real(_) => &REAL,
            Side::Model(core) => core.slot(),
        })
    }
}
