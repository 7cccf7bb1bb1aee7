//! Channels as in `std::sync::mpsc`: unbounded, bounded, and rendezvous (bounded by 0).

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc as real;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::time::Duration;

use crate::rt::channel::{Core, Nothing};
use crate::rt::current::under_test;

enum Side<R, T> {
    Real(R),
    Model(Arc<Core<T>>),
}

/// The sending side of an unbounded channel.
pub struct Sender<T>(Side<real::Sender<T>, T>);

/// The sending side of a bounded channel.
pub struct SyncSender<T>(Side<real::SyncSender<T>, T>);

/// The receiving side of a channel.
pub struct Receiver<T>(Side<real::Receiver<T>, T>);

/// A channel without a limit.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if under_test() {
        let core = Arc::new(Core::new(None));
        return (Sender(Side::Model(core.clone())), Receiver(Side::Model(core)));
    }
    let (sender, receiver) = real::channel();
    (Sender(Side::Real(sender)), Receiver(Side::Real(receiver)))
}

/// A channel that holds so many messages; with 0 each send waits for a receive.
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if under_test() {
        let core = Arc::new(Core::new(Some(bound)));
        return (SyncSender(Side::Model(core.clone())), Receiver(Side::Model(core)));
    }
    let (sender, receiver) = real::sync_channel(bound);
    (SyncSender(Side::Real(sender)), Receiver(Side::Real(receiver)))
}

macro_rules! sender {
    ($name:ident) => {
        impl<T> $name<T> {
            /// Sends, waiting for room or a partner. Gives the message back if nobody receives.
            #[inline(always)]
            #[track_caller]
            pub fn send(&self, message: T) -> Result<(), SendError<T>> {
                match &self.0 {
                    Side::Real(sender) => sender.send(message),
                    Side::Model(core) => core.send(message, Location::caller()).map_err(SendError),
                }
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                $name(match &self.0 {
                    Side::Real(sender) => Side::Real(sender.clone()),
                    Side::Model(core) => {
                        core.clone_sender();
                        Side::Model(core.clone())
                    }
                })
            }
        }

        impl<T> Drop for $name<T> {
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

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(concat!(stringify!($name), " { .. }"))
            }
        }
    };
}

sender!(Sender);
sender!(SyncSender);

impl<T> SyncSender<T> {
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

    /// Receives what is there, until nothing is.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

/// The messages of a channel until none is there.
#[derive(Debug)]
pub struct TryIter<'r, T>(&'r Receiver<T>);

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

/// The messages of a channel until it is disconnected, with the channel.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
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

impl<'r, T> IntoIterator for &'r Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'r, T>;

    fn into_iter(self) -> Iter<'r, T> {
        self.iter()
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

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Receiver { .. }")
    }
}
