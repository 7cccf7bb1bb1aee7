//! Notifications of tasks, as `tokio::sync::Notify`.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::Notify as RealNotify;
use tokio::sync::futures as real;

use crate::point::{Place, Point, Waiting};

/// Notifies one task, or all that wait.
pub struct Notify {
    real: Kind,
    point: Point,
}

enum Kind {
    Shared(Arc<RealNotify>),
    Static(RealNotify),
}

impl std::ops::Deref for Kind {
    type Target = RealNotify;

    fn deref(&self) -> &RealNotify {
        match self {
            Kind::Shared(real) => real,
            Kind::Static(real) => real,
        }
    }
}

impl Notify {
    /// Without a permit.
    #[track_caller]
    pub fn new() -> Notify {
        Notify { real: Kind::Shared(Arc::new(RealNotify::new())), point: Point::new("Notify") }
    }

    /// For a `static`, without a permit.
    pub const fn const_new() -> Notify {
        let real = Kind::Static(RealNotify::const_new());
        Notify { real, point: Point::new_static("Notify") }
    }

    /// A future that is ready when a notification comes. Those of `notify_waiters` count from now on, whether
    /// the future was polled or not.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let place = Location::caller();
        let real = self.point.operation("notified", place, || self.real.notified());
        Notified { inner: Inner::new(&self.point, Box::pin(real), place) }
    }

    /// As [`Notify::notified`], owning the object.
    ///
    /// # Panics
    ///
    /// If the object was made by [`Notify::const_new`].
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let place = Location::caller();
        let Kind::Shared(real) = &self.real else {
            panic!("`notified_owned` needs a `Notify` that was made by `Notify::new`");
        };
        let real = self.point.operation("notified", place, || real.clone().notified_owned());
        OwnedNotified { inner: Inner::new(&self.point, Box::pin(real), place) }
    }

    /// Notifies the task that has waited longest, or leaves a permit for the next one.
    #[track_caller]
    pub fn notify_one(&self) {
        self.point.operation("notify_one", Location::caller(), || self.real.notify_one());
    }

    /// Notifies the task that has waited shortest, or leaves a permit for the next one.
    #[track_caller]
    pub fn notify_last(&self) {
        self.point.operation("notify_last", Location::caller(), || self.real.notify_last());
    }

    /// Notifies all tasks that wait.
    #[track_caller]
    pub fn notify_waiters(&self) {
        self.point.operation("notify_waiters", Location::caller(), || self.real.notify_waiters());
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Notify").finish_non_exhaustive()
    }
}

/// What both kinds of futures have in common.
struct Inner<F> {
    /// On the heap: tokio links waiting futures with each other.
    real: Option<Pin<Box<F>>>,
    /// If it is under test.
    waiting: Option<Waiting>,
}

impl<F> Inner<F> {
    fn new(point: &Point, real: Pin<Box<F>>, place: Place) -> Self {
        let waiting = point.object(place).map(|object| Waiting::new(object, "notified", place));
        Inner { real: Some(real), waiting }
    }

    fn act<R>(&mut self, act: impl FnOnce(Pin<&mut F>) -> R) -> R {
        let Some(real) = &mut self.real else { unreachable!("what is dropped is not used") };
        match &mut self.waiting {
            None => act(real.as_mut()),
            Some(waiting) => waiting.act("enable", || act(real.as_mut())),
        }
    }

    fn end(&mut self) {
        let real = self.real.take();
        match &mut self.waiting {
            None => drop(real),
            Some(waiting) => waiting.cancel("stop waiting", || drop(real)),
        }
    }
}

impl<F: Future<Output = ()>> Inner<F> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(real) = &mut self.real else { unreachable!("what is dropped is not used") };
        match &mut self.waiting {
            None => real.as_mut().poll(context),
            Some(waiting) => waiting.poll(context, |context| real.as_mut().poll(context)),
        }
    }
}

/// Ready when a notification comes.
pub struct Notified<'a> {
    inner: Inner<real::Notified<'a>>,
}

impl Notified<'_> {
    /// Waits from now on, without being polled. Says whether a notification has come.
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        self.inner.act(|real| real.enable())
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.inner.poll(context)
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        self.inner.end();
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Notified").finish_non_exhaustive()
    }
}

/// Ready when a notification comes; owns what it waits for.
pub struct OwnedNotified {
    inner: Inner<real::OwnedNotified>,
}

impl OwnedNotified {
    /// Waits from now on, without being polled. Says whether a notification has come.
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        self.inner.act(|real| real.enable())
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.inner.poll(context)
    }
}

impl Drop for OwnedNotified {
    fn drop(&mut self) {
        self.inner.end();
    }
}

impl fmt::Debug for OwnedNotified {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OwnedNotified").finish_non_exhaustive()
    }
}
