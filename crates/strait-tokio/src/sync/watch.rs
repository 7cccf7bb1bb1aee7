//! Channels that keep the last value, as in `tokio::sync::watch`.
//!
//! A borrowed value holds a lock. Under test, a thread that sends meanwhile waits for its release.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use strait::extend::{self, Gate, ObjectId};
use tokio::sync::watch as real;
pub use tokio::sync::watch::error;

use crate::point::{Place, Point, Real, call_wakers, counts_handles};
use crate::registry::RESERVED;
use error::{RecvError, SendError};

/// The gate that is open while nothing is borrowed.
const FREE: u8 = RESERVED;

/// What the handles of a channel share.
#[derive(Debug)]
struct Shared {
    point: Point,
    /// How many values are borrowed.
    borrowed: AtomicU32,
}

impl Shared {
    #[track_caller]
    fn new() -> Arc<Shared> {
        let shared = Shared { point: Point::new("watch channel"), borrowed: AtomicU32::new(0) };
        if let Some(object) = shared.point.object(Location::caller()) {
            object.set_gates(FREE, 0);
        }
        Arc::new(shared)
    }

    /// An operation that needs the lock alone.
    fn change<R>(&self, label: &'static str, place: Place, action: impl FnOnce() -> R) -> R {
        let Some(object) = self.point.object(place) else { return action() };
        extend::wait(&[Gate { object, bits: FREE, write: true }], label, place);
        let result = action();
        call_wakers(place);
        result
    }

    fn borrow<'a, T>(self: &'a Arc<Self>, real: real::Ref<'a, T>, place: Place) -> Ref<'a, T> {
        let object = self.point.object(place);
        if let Some(object) = object {
            self.borrowed.fetch_add(1, Ordering::Relaxed);
            object.set_gates(0, FREE);
        }
        Ref { real: Some(real), shared: self, object, place }
    }
}

/// Sends values.
pub struct Sender<T> {
    real: Real<real::Sender<T>>,
    shared: Arc<Shared>,
}

/// Sees the last value, and changes of it.
pub struct Receiver<T> {
    real: Real<real::Receiver<T>>,
    shared: Arc<Shared>,
}

/// A borrowed value.
pub struct Ref<'a, T> {
    real: Option<real::Ref<'a, T>>,
    shared: &'a Arc<Shared>,
    object: Option<ObjectId>,
    place: Place,
}

/// A channel with a first value.
#[track_caller]
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = real::channel(value);
    let shared = Shared::new();
    let sender = Sender { real: Real::new(sender), shared: shared.clone() };
    (sender, Receiver { real: Real::new(receiver), shared })
}

impl<T> Sender<T> {
    /// A channel with a first value and without receivers.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Sender { real: Real::new(real::Sender::new(value)), shared: Shared::new() }
    }

    /// Sends a value. Gives it back if there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.shared.change("send", Location::caller(), || self.real.send(value))
    }

    /// Changes the value.
    #[track_caller]
    pub fn send_modify<F: FnOnce(&mut T)>(&self, modify: F) {
        self.shared.change("send_modify", Location::caller(), || self.real.send_modify(modify));
    }

    /// Changes the value, and notifies receivers if the function says so.
    #[track_caller]
    pub fn send_if_modified<F: FnOnce(&mut T) -> bool>(&self, modify: F) -> bool {
        let send = || self.real.send_if_modified(modify);
        self.shared.change("send_if_modified", Location::caller(), send)
    }

    /// Sends a value, receivers or not. Gives the old one.
    #[track_caller]
    pub fn send_replace(&self, value: T) -> T {
        self.shared.change("send_replace", Location::caller(), || self.real.send_replace(value))
    }

    /// The last value.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let place = Location::caller();
        let real = self.shared.point.operation("borrow", place, || self.real.borrow());
        self.shared.borrow(real, place)
    }

    /// Is there no receiver?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.shared.point.look("is_closed", Location::caller(), || self.real.is_closed())
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + '_ {
        self.shared.point.wait("closed", Location::caller(), self.real.closed())
    }

    /// A receiver that has seen the last value.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let place = Location::caller();
        let real = self.shared.point.operation("subscribe", place, || self.real.subscribe());
        Receiver { real: Real::new(real), shared: self.shared.clone() }
    }

    /// How many receivers are there?
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        let count = || self.real.receiver_count();
        self.shared.point.look("receiver_count", Location::caller(), count)
    }

    /// How many senders are there?
    #[track_caller]
    pub fn sender_count(&self) -> usize {
        counts_handles();
        self.shared.point.look("sender_count", Location::caller(), || self.real.sender_count())
    }

    /// Do both send to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        self.real.same_channel(&other.real)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender { real: Real::new((*self.real).clone()), shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        if extend::under_test()
            && let Some(real) = self.real.take()
        {
            let is_last = |real: &real::Sender<T>| real.sender_count() == 1;
            self.shared.point.drop_if("drop sender", Location::caller(), real, is_last);
        }
    }
}

impl<T: Default> Default for Sender<T> {
    #[track_caller]
    fn default() -> Self {
        Sender::new(T::default())
    }
}

impl<T> Receiver<T> {
    /// The last value, which is not marked as seen.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let place = Location::caller();
        let real = self.shared.point.operation("borrow", place, || self.real.borrow());
        self.shared.borrow(real, place)
    }

    /// The last value, which is marked as seen.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let place = Location::caller();
        let Receiver { real, shared } = self;
        let value = shared.point.operation("borrow_and_update", place, || real.borrow_and_update());
        shared.borrow(value, place)
    }

    /// Is the last value not seen? An error if there is no sender.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.shared.point.look("has_changed", Location::caller(), || self.real.has_changed())
    }

    /// Marks the last value as not seen.
    pub fn mark_changed(&mut self) {
        self.real.mark_changed();
    }

    /// Marks the last value as seen.
    #[track_caller]
    pub fn mark_unchanged(&mut self) {
        let Receiver { real, shared } = self;
        shared.point.look("mark_unchanged", Location::caller(), || real.mark_unchanged());
    }

    /// Waits for a value that is not seen, and marks it as seen. An error if none can come any more.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> + '_ {
        let Receiver { real, shared } = self;
        shared.point.wait("changed", Location::caller(), real.changed())
    }

    /// Waits for a value that the function accepts, and marks it as seen.
    #[track_caller]
    pub fn wait_for<'a>(
        &'a mut self,
        accepts: impl FnMut(&T) -> bool + 'a,
    ) -> impl Future<Output = Result<Ref<'a, T>, RecvError>> + 'a {
        let place = Location::caller();
        let Receiver { real, shared } = self;
        async move {
            let value = shared.point.wait("wait_for", place, real.wait_for(accepts)).await?;
            Ok(shared.borrow(value, place))
        }
    }

    /// Is there no sender?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.shared.point.look("is_closed", Location::caller(), || self.real.is_closed())
    }

    /// Do both receive from the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        self.real.same_channel(&other.real)
    }
}

impl<T> Clone for Receiver<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let place = Location::caller();
        let clone = || (*self.real).clone();
        let real = self.shared.point.operation("clone receiver", place, clone);
        Receiver { real: Real::new(real), shared: self.shared.clone() }
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if extend::under_test()
            && let Some(real) = self.real.take()
        {
            self.shared.point.operation("drop receiver", Location::caller(), || drop(real));
        }
    }
}

impl<T> Ref<'_, T> {
    /// Was the value not seen when it was borrowed?
    pub fn has_changed(&self) -> bool {
        self.real.as_ref().is_some_and(|real| real.has_changed())
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.real {
            Some(real) => real,
            None => unreachable!("what is dropped is not used"),
        }
    }
}

impl<T> Drop for Ref<'_, T> {
    fn drop(&mut self) {
        let Some(object) = self.object.filter(|_| extend::under_test()) else { return };
        // A value that was borrowed for no longer than a step was not in the way of others.
        if !extend::is_in_step_at(object) {
            object.step("release", self.place);
        }
        self.real = None;
        if self.shared.borrowed.fetch_sub(1, Ordering::Relaxed) == 1 {
            object.set_gates(FREE, 0);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("watch::Sender")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("watch::Receiver")
    }
}
