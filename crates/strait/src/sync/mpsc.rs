//! Channels as in `std::sync::mpsc`: unbounded, bounded, and rendezvous (bounded by 0).

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc as real;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::time::Duration;

use crate::rt::channel::{Core, Nothing};
use crate::rt::current::under_test;
use crate::sides::{Side, receiver_side, sender_side, trying_sender_side};

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

sender_side!(Sender);
sender_side!(SyncSender);
trying_sender_side!(SyncSender);
receiver_side!(Receiver);
