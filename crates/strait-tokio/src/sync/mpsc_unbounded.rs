//! Channels without a bound.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

use strait::extend;
use tokio::sync::mpsc as real;
use tokio::sync::mpsc::UnboundedSender as RealSender;
use tokio::sync::mpsc::error::{SendError, TryRecvError};

use super::mpsc::{receiver, sender};
use crate::point::{Point, Polling, Real};

/// Sends without waiting.
pub struct UnboundedSender<T> {
    real: Real<RealSender<T>>,
    point: Arc<Point>,
}

/// A sender that does not keep the channel open.
pub struct WeakUnboundedSender<T> {
    real: real::WeakUnboundedSender<T>,
    point: Arc<Point>,
}

/// Receives.
pub struct UnboundedReceiver<T> {
    real: real::UnboundedReceiver<T>,
    point: Arc<Point>,
    polling: Polling,
    /// Was it told that nothing can come any more?
    is_over: bool,
}

/// A channel without a bound.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = real::unbounded_channel();
    let point = Arc::new(Point::new("unbounded channel"));
    let sender = UnboundedSender { real: Real::new(sender), point: point.clone() };
    let polling = Polling::default();
    (sender, UnboundedReceiver { real: receiver, point, polling, is_over: false })
}

receiver!(UnboundedReceiver);
sender!(UnboundedSender, WeakUnboundedSender, RealSender);

impl<T> UnboundedSender<T> {
    /// Sends a message. Gives it back if the channel is closed.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.point.operation("send", Location::caller(), || self.real.send(message))
    }
}
