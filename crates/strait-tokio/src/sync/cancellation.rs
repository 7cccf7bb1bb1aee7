//! Tokens by which tasks are told to stop, as `tokio_util::sync::CancellationToken`. All tokens of a tree are
//! one object, since to cancel one is to cancel all below it.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use strait::extend;
use tokio_util::sync::CancellationToken as RealToken;

use crate::point::{Leaf, Place, Point, Real, Waiting};

/// Tells tasks to stop.
pub struct CancellationToken {
    real: Real<RealToken>,
    point: Arc<Point>,
}

impl CancellationToken {
    /// A token that is not cancelled.
    #[track_caller]
    pub fn new() -> CancellationToken {
        let point = Arc::new(Point::new("CancellationToken"));
        CancellationToken { real: Real::new(RealToken::new()), point }
    }

    /// A token that is cancelled with this one.
    #[track_caller]
    pub fn child_token(&self) -> CancellationToken {
        let place = Location::caller();
        let real = self.point.operation("child_token", place, || self.real.child_token());
        CancellationToken { real: Real::new(real), point: self.point.clone() }
    }

    /// Cancels this token and all below it.
    #[track_caller]
    pub fn cancel(&self) {
        self.point.operation("cancel", Location::caller(), || self.real.cancel());
    }

    /// Is the token cancelled?
    #[track_caller]
    pub fn is_cancelled(&self) -> bool {
        self.point.look("is_cancelled", Location::caller(), || self.real.is_cancelled())
    }

    /// Waits until the token is cancelled.
    #[track_caller]
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        let place = Location::caller();
        let real = (*self.real).clone();
        WaitForCancellationFuture { inner: Cancelled::new(&self.point, real, place), _token: self }
    }

    /// Waits until the token is cancelled; the future owns it.
    #[track_caller]
    pub fn cancelled_owned(self) -> WaitForCancellationFutureOwned {
        let real = (*self.real).clone();
        WaitForCancellationFutureOwned {
            inner: Cancelled::new(&self.point, real, Location::caller()),
            _token: self,
        }
    }

    /// A guard that cancels the token when it is dropped.
    pub fn drop_guard(self) -> DropGuard {
        DropGuard { token: Some(self) }
    }

    /// Performs a future until it is over or the token is cancelled.
    #[track_caller]
    pub fn run_until_cancelled<'a, F: Future + 'a>(
        &'a self,
        future: F,
    ) -> impl Future<Output = Option<F::Output>> + 'a {
        let cancelled = self.cancelled();
        async move {
            let (mut future, mut cancelled) = (pin!(future), pin!(cancelled));
            std::future::poll_fn(|context| match cancelled.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => future.as_mut().poll(context).map(Some),
            })
            .await
        }
    }

    /// As [`CancellationToken::run_until_cancelled`], owning the token.
    pub async fn run_until_cancelled_owned<F: Future>(self, future: F) -> Option<F::Output> {
        self.run_until_cancelled(future).await
    }
}

impl Clone for CancellationToken {
    fn clone(&self) -> Self {
        CancellationToken { real: Real::new((*self.real).clone()), point: self.point.clone() }
    }
}

impl Default for CancellationToken {
    #[track_caller]
    fn default() -> Self {
        CancellationToken::new()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CancellationToken").finish_non_exhaustive()
    }
}

/// Tokio's future, in a step if this is code under test.
struct Cancelled(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Cancelled {
    fn new(point: &Point, real: RealToken, place: Place) -> Self {
        let future = real.cancelled_owned();
        match point.object(place) {
            Some(object) if extend::under_test() => {
                let waiting = Waiting::new(object, "cancelled", place);
                Cancelled(Box::pin(Leaf::new(waiting, future)))
            }
            _ => Cancelled(Box::pin(future)),
        }
    }
}

/// Ready when a token is cancelled.
#[must_use = "futures do nothing unless polled"]
pub struct WaitForCancellationFuture<'a> {
    inner: Cancelled,
    _token: &'a CancellationToken,
}

/// Ready when a token is cancelled, which it owns.
#[must_use = "futures do nothing unless polled"]
pub struct WaitForCancellationFutureOwned {
    inner: Cancelled,
    _token: CancellationToken,
}

impl Future for WaitForCancellationFuture<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.inner.0.as_mut().poll(context)
    }
}

impl Future for WaitForCancellationFutureOwned {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.inner.0.as_mut().poll(context)
    }
}

impl fmt::Debug for WaitForCancellationFuture<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WaitForCancellationFuture").finish_non_exhaustive()
    }
}

impl fmt::Debug for WaitForCancellationFutureOwned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WaitForCancellationFutureOwned").finish_non_exhaustive()
    }
}

/// Cancels a token when it is dropped.
#[derive(Debug)]
pub struct DropGuard {
    token: Option<CancellationToken>,
}

impl DropGuard {
    /// Gives the token back, not cancelled.
    pub fn disarm(mut self) -> CancellationToken {
        match self.token.take() {
            Some(token) => token,
            None => unreachable!("a guard is used once"),
        }
    }
}

impl Drop for DropGuard {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }
}
