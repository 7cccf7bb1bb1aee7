//! Channels with a bound. As in tokio, to send is to wait for a permit, and then to use it.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use strait::extend;
use tokio::sync::mpsc as real;
use tokio::sync::mpsc::Sender as RealSender;
use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};

use super::mpsc::{receiver, sender};
use crate::point::{Point, Polling, Real};

/// Sends, waiting for room.
pub struct Sender<T> {
    real: Real<RealSender<T>>,
    point: Arc<Point>,
}

/// A sender that does not keep the channel open.
pub struct WeakSender<T> {
    real: real::WeakSender<T>,
    point: Arc<Point>,
}

/// Receives.
pub struct Receiver<T> {
    real: real::Receiver<T>,
    point: Arc<Point>,
    polling: Polling,
    /// Was it told that nothing can come any more?
    is_over: bool,
}

/// A channel with room for so many messages.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = real::channel(buffer);
    let point = Arc::new(Point::new("channel"));
    let sender = Sender { real: Real::new(sender), point: point.clone() };
    let polling = Polling::default();
    (sender, Receiver { real: receiver, point, polling, is_over: false })
}

receiver!(Receiver);
sender!(Sender, WeakSender, RealSender);

impl<T> Receiver<T> {
    /// How much room is left?
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.point.look("capacity", Location::caller(), || self.real.capacity())
    }

    /// How much room is there when the channel is empty?
    pub fn max_capacity(&self) -> usize {
        self.real.max_capacity()
    }
}

impl<T> Sender<T> {
    /// Waits for room and sends a message. Gives it back if the channel is closed.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + '_ {
        let place = Location::caller();
        async move {
            match self.point.wait("send", place, self.real.reserve()).await {
                // Between the two steps, room is taken although no message is there.
                Ok(permit) => {
                    self.point.operation("put message", place, || permit.send(value));
                    Ok(())
                }
                Err(SendError(())) => Err(SendError(value)),
            }
        }
    }

    /// Sends a message if there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.point.operation("try_send", Location::caller(), || self.real.try_send(message))
    }

    /// Waits for room at most so long, and sends a message.
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> + '_ {
        let place = Location::caller();
        let reserved = crate::time::timeout(timeout, self.reserve());
        async move {
            match reserved.await {
                Ok(Ok(permit)) => {
                    permit.send_at(value, place);
                    Ok(())
                }
                Ok(Err(_)) => Err(SendTimeoutError::Closed(value)),
                Err(_) => Err(SendTimeoutError::Timeout(value)),
            }
        }
    }

    /// Sends on a thread that may block.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        if extend::under_test() {
            crate::task::block_on(self.send(value))
        } else {
            self.real.blocking_send(value)
        }
    }

    /// Waits for room for one message.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> + '_ {
        let reserved = self.point.wait("reserve", Location::caller(), self.real.reserve());
        async move { Ok(Permit { real: Real::new(reserved.await?), point: &self.point }) }
    }

    /// Waits for room for so many messages.
    #[track_caller]
    pub fn reserve_many(
        &self,
        count: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> + '_ {
        let future = self.real.reserve_many(count);
        let reserved = self.point.wait("reserve_many", Location::caller(), future);
        async move { Ok(PermitIterator { real: Real::new(reserved.await?), point: &self.point }) }
    }

    /// Waits for room for one message. The permit owns the sender.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            let sender = (*self.real).clone();
            let real = self.point.wait("reserve_owned", place, sender.reserve_owned()).await?;
            Ok(OwnedPermit { real: Real::new(real), sender: Some(self) })
        }
    }

    /// Room for one message, if there is any.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        let place = Location::caller();
        let real = self.point.operation("try_reserve", place, || self.real.try_reserve())?;
        Ok(Permit { real: Real::new(real), point: &self.point })
    }

    /// Room for so many messages, if there is any.
    #[track_caller]
    pub fn try_reserve_many(
        &self,
        count: usize,
    ) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        let reserve = || self.real.try_reserve_many(count);
        let real = self.point.operation("try_reserve_many", Location::caller(), reserve)?;
        Ok(PermitIterator { real: Real::new(real), point: &self.point })
    }

    /// Room for one message, if there is any. The permit owns the sender.
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let sender = (*self.real).clone();
        let reserve = || sender.try_reserve_owned();
        match self.point.operation("try_reserve_owned", Location::caller(), reserve) {
            Ok(real) => Ok(OwnedPermit { real: Real::new(real), sender: Some(self) }),
            Err(TrySendError::Full(_)) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(_)) => Err(TrySendError::Closed(self)),
        }
    }

    /// How much room is left?
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.point.look("capacity", Location::caller(), || self.real.capacity())
    }

    /// How much room is there when the channel is empty?
    pub fn max_capacity(&self) -> usize {
        self.real.max_capacity()
    }
}

/// Room for one message.
pub struct Permit<'a, T> {
    real: Real<real::Permit<'a, T>>,
    point: &'a Point,
}

impl<T> Permit<'_, T> {
    /// Sends a message.
    #[track_caller]
    pub fn send(self, value: T) {
        self.send_at(value, Location::caller());
    }

    fn send_at(mut self, value: T, place: &'static Location<'static>) {
        if let Some(permit) = self.real.take() {
            self.point.operation("send", place, || permit.send(value));
        }
    }
}

impl<T> Drop for Permit<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(permit) = self.real.take() {
            self.point.operation("drop permit", Location::caller(), || drop(permit));
        }
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// Room for several messages, as permits.
pub struct PermitIterator<'a, T> {
    real: Real<real::PermitIterator<'a, T>>,
    point: &'a Point,
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        Some(Permit { real: Real::new(self.real.next()?), point: self.point })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.real.size_hint()
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(permits) = self.real.take()
            && permits.size_hint().0 > 0
        {
            self.point.operation("drop permits", Location::caller(), || drop(permits));
        }
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PermitIterator").finish_non_exhaustive()
    }
}

/// Room for one message, with the sender.
pub struct OwnedPermit<T> {
    real: Real<real::OwnedPermit<T>>,
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    /// Sends a message and gives the sender back.
    #[track_caller]
    pub fn send(mut self, value: T) -> Sender<T> {
        self.used("send", Location::caller(), |permit| drop(permit.send(value)))
    }

    /// Gives the room and the sender back.
    #[track_caller]
    pub fn release(mut self) -> Sender<T> {
        self.used("release", Location::caller(), |permit| drop(permit.release()))
    }

    fn used(
        &mut self,
        label: &'static str,
        place: &'static Location<'static>,
        action: impl FnOnce(real::OwnedPermit<T>),
    ) -> Sender<T> {
        match (self.real.take(), self.sender.take()) {
            (Some(permit), Some(sender)) => {
                sender.point.operation(label, place, || action(permit));
                sender
            }
            _ => unreachable!("a permit is used once"),
        }
    }

    /// Do both send to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        self.real.same_channel(&other.real)
    }

    /// Do both send to the same channel?
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.real.same_channel_as_sender(&sender.real)
    }
}

impl<T> Drop for OwnedPermit<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let (Some(permit), Some(sender)) = (self.real.take(), &self.sender) {
            sender.point.operation("drop permit", Location::caller(), || drop(permit));
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
