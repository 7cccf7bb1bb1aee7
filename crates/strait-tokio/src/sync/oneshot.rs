//! Channels for one message, as in `tokio::sync::oneshot`.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use strait::extend;
use tokio::sync::oneshot as real;
pub use tokio::sync::oneshot::error;

use crate::point::{Point, Polling, Real};
use error::{RecvError, TryRecvError};

/// Sends one message.
pub struct Sender<T> {
    real: Real<real::Sender<T>>,
    point: Arc<Point>,
    polling: Polling,
}

/// Receives one message: a future of it.
pub struct Receiver<T> {
    real: Real<real::Receiver<T>>,
    point: Arc<Point>,
    polling: Polling,
    /// Was it told what becomes of the message?
    is_over: bool,
}

/// A channel for one message.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = real::channel();
    let point = Arc::new(Point::new("oneshot channel"));
    let sender =
        Sender { real: Real::new(sender), point: point.clone(), polling: Polling::default() };
    let polling = Polling::default();
    (sender, Receiver { real: Real::new(receiver), point, polling, is_over: false })
}

impl<T> Sender<T> {
    /// Sends the message. Gives it back if the receiver is gone.
    #[track_caller]
    pub fn send(mut self, message: T) -> Result<(), T> {
        match self.real.take() {
            Some(real) => self.point.operation("send", Location::caller(), || real.send(message)),
            None => Err(message),
        }
    }

    /// Waits until the receiver is gone or closed.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> + '_ {
        let Sender { real, point, .. } = self;
        point.wait("closed", Location::caller(), real.closed())
    }

    /// Is the receiver gone or closed?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.point.look("is_closed", Location::caller(), || self.real.is_closed())
    }

    /// Polls for the end of the receiver.
    #[track_caller]
    pub fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Sender { real, point, polling } = self;
        let closed = |context: &mut Context<'_>| real.poll_closed(context);
        polling.poll(point, "poll_closed", context, Location::caller(), closed)
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(real) = self.real.take() {
            self.point.operation("drop sender", Location::caller(), || drop(real));
        }
        if extend::under_test() {
            self.polling.cancel();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> Receiver<T> {
    /// Closes the channel: nothing can be sent any more, what was sent can be received.
    #[track_caller]
    pub fn close(&mut self) {
        let Receiver { real, point, .. } = self;
        point.operation("close", Location::caller(), || real.close());
    }

    /// Was the message received, or the end of the sender seen?
    pub fn is_terminated(&self) -> bool {
        self.real.is_terminated()
    }

    /// Is no message there?
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.point.look("is_empty", Location::caller(), || self.real.is_empty())
    }

    /// Receives the message if it is there.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let Receiver { real, point, is_over, .. } = self;
        let received = point.operation("try_recv", Location::caller(), || real.try_recv());
        *is_over |= !matches!(received, Err(TryRecvError::Empty));
        received
    }

    /// Receives the message on a thread that may block.
    #[track_caller]
    pub fn blocking_recv(mut self) -> Result<T, RecvError> {
        match self.real.take() {
            Some(real) if !extend::under_test() => real.blocking_recv(),
            Some(real) => {
                self.real = Real::new(real);
                crate::task::block_on(self)
            }
            None => unreachable!("what is dropped is not used"),
        }
    }
}

impl<T> Unpin for Receiver<T> {}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Receiver { real, point, polling, is_over } = &mut *self;
        let receive = |context: &mut Context<'_>| Pin::new(&mut **real).poll(context);
        let received = polling.poll(point, "recv", context, Location::caller(), receive);
        *is_over |= received.is_ready();
        received
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if !extend::under_test() {
            return;
        }
        if let Some(mut real) = self.real.take()
            && !self.is_over
        {
            // The message is dropped after the step: that may be steps of other objects.
            let place = Location::caller();
            let left = self.point.operation("drop receiver", place, || {
                real.close();
                let left = real.try_recv();
                drop(real);
                left
            });
            drop(left);
        }
        self.polling.cancel();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Receiver").finish_non_exhaustive()
    }
}
