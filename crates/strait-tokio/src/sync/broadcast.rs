//! Channels whose messages all receivers get, as in `tokio::sync::broadcast`.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use strait::extend;
use tokio::sync::broadcast as real;
pub use tokio::sync::broadcast::error;

use crate::point::{Point, Real, counts_handles};
use error::{RecvError, SendError, TryRecvError};

/// Sends to all receivers.
pub struct Sender<T> {
    real: Real<real::Sender<T>>,
    point: Arc<Point>,
}

/// A sender that does not keep the channel open.
pub struct WeakSender<T> {
    real: real::WeakSender<T>,
    point: Arc<Point>,
}

/// Receives every message, unless it is too slow.
pub struct Receiver<T> {
    real: Real<real::Receiver<T>>,
    point: Arc<Point>,
}

/// A channel that keeps so many messages.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = real::channel(capacity);
    let point = Arc::new(Point::new("broadcast channel"));
    let sender = Sender { real: Real::new(sender), point: point.clone() };
    (sender, Receiver { real: Real::new(receiver), point })
}

impl<T> Sender<T> {
    /// A channel without receivers that keeps so many messages.
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        let point = Arc::new(Point::new("broadcast channel"));
        Sender { real: Real::new(real::Sender::new(capacity)), point }
    }

    /// Sends a message. Gives the number of receivers, or the message back if there is none.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.point.operation("send", Location::caller(), || self.real.send(value))
    }

    /// A receiver of what is sent from now on.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let place = Location::caller();
        let real = self.point.operation("subscribe", place, || self.real.subscribe());
        Receiver { real: Real::new(real), point: self.point.clone() }
    }

    /// A sender that does not keep the channel open.
    #[track_caller]
    pub fn downgrade(&self) -> WeakSender<T> {
        let place = Location::caller();
        let real = self.point.operation("downgrade", place, || self.real.downgrade());
        WeakSender { real, point: self.point.clone() }
    }

    /// How many messages are there that not every receiver has got?
    #[track_caller]
    pub fn len(&self) -> usize {
        self.point.look("len", Location::caller(), || self.real.len())
    }

    /// Has every receiver got every message?
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.point.look("is_empty", Location::caller(), || self.real.is_empty())
    }

    /// How many receivers are there?
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.point.look("receiver_count", Location::caller(), || self.real.receiver_count())
    }

    /// Do both send to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        self.real.same_channel(&other.real)
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + '_ {
        self.point.wait("closed", Location::caller(), self.real.closed())
    }

    /// How many senders are there?
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        counts_handles();
        self.point.look("strong_count", Location::caller(), || self.real.strong_count())
    }

    /// How many weak senders are there?
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        counts_handles();
        self.point.look("weak_count", Location::caller(), || self.real.weak_count())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender { real: Real::new((*self.real).clone()), point: self.point.clone() }
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        if extend::under_test()
            && let Some(real) = self.real.take()
        {
            let is_last = |real: &real::Sender<T>| real.strong_count() == 1;
            self.point.drop_if("drop sender", Location::caller(), real, is_last);
        }
    }
}

impl<T> WeakSender<T> {
    /// A sender, if there is still one.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let real = self.point.operation("upgrade", Location::caller(), || self.real.upgrade())?;
        Some(Sender { real: Real::new(real), point: self.point.clone() })
    }

    /// How many senders are there?
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        counts_handles();
        self.point.look("strong_count", Location::caller(), || self.real.strong_count())
    }

    /// How many weak senders are there?
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        counts_handles();
        self.point.look("weak_count", Location::caller(), || self.real.weak_count())
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender { real: self.real.clone(), point: self.point.clone() }
    }
}

impl<T> Receiver<T> {
    /// How many messages are there for this receiver?
    #[track_caller]
    pub fn len(&self) -> usize {
        self.point.look("len", Location::caller(), || self.real.len())
    }

    /// Is no message there for this receiver?
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.point.look("is_empty", Location::caller(), || self.real.is_empty())
    }

    /// Do both receive from the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        self.real.same_channel(&other.real)
    }

    /// How many senders are there?
    #[track_caller]
    pub fn sender_strong_count(&self) -> usize {
        counts_handles();
        let count = || self.real.sender_strong_count();
        self.point.look("sender_strong_count", Location::caller(), count)
    }

    /// How many weak senders are there?
    #[track_caller]
    pub fn sender_weak_count(&self) -> usize {
        counts_handles();
        let count = || self.real.sender_weak_count();
        self.point.look("sender_weak_count", Location::caller(), count)
    }

    /// Is the channel closed?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.point.look("is_closed", Location::caller(), || self.real.is_closed())
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives the next message. If this receiver was too slow, says how many messages it has missed.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> + '_ {
        let Receiver { real, point } = self;
        point.wait("recv", Location::caller(), real.recv())
    }

    /// Receives the next message if it is there.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let Receiver { real, point } = self;
        point.operation("try_recv", Location::caller(), || real.try_recv())
    }

    /// Receives the next message on a thread that may block.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        if extend::under_test() {
            crate::task::block_on(self.recv())
        } else {
            self.real.blocking_recv()
        }
    }

    /// Another receiver of what is sent from now on.
    #[track_caller]
    pub fn resubscribe(&self) -> Self {
        let place = Location::caller();
        let real = self.point.operation("resubscribe", place, || self.real.resubscribe());
        Receiver { real: Real::new(real), point: self.point.clone() }
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if extend::under_test()
            && let Some(real) = self.real.take()
        {
            self.point.operation("drop receiver", Location::caller(), || drop(real));
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("broadcast::Sender")
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("broadcast::WeakSender")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("broadcast::Receiver")
    }
}
