//! Futures that are given up at a deadline.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::error::Elapsed;
use super::instant::Instant;
use super::sleep::{Sleep, sleep, sleep_until};

/// A future that is given up at a deadline. It is polled before the deadline is looked at, as in tokio.
#[must_use = "futures do nothing unless polled"]
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    delay: Sleep,
}

/// Gives a future up after so long.
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: Box::pin(future.into_future()), delay: sleep(duration) }
}

/// Gives a future up at a moment.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: Box::pin(future.into_future()), delay: sleep_until(deadline) }
}

impl<F> Timeout<F> {
    /// The future.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future.
    pub fn get_mut(&mut self) -> &mut F
    where
        F: Unpin,
    {
        &mut self.future
    }
}

impl<F: Unpin> Timeout<F> {
    /// The future, without a deadline.
    pub fn into_inner(self) -> F {
        *Pin::into_inner(self.future)
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut self.delay).poll(context).map(|()| Err(Elapsed::new()))
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Timeout").finish_non_exhaustive()
    }
}
