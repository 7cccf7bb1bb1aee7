//! Waiting for a moment.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use strait::extend;

use super::instant::{Instant, Kind};
use crate::clock::{self, Base, TimerId};
use crate::point::{Place, Waiting};

/// Ready at its deadline.
#[must_use = "futures do nothing unless polled"]
pub struct Sleep(Inner);

enum Inner {
    Real(Pin<Box<tokio::time::Sleep>>),
    Model(Timer),
}

/// A timer under test.
struct Timer {
    id: TimerId,
    waiting: Waiting,
    /// Was it seen to have fired?
    has_fired: bool,
    place: Place,
}

impl Timer {
    fn new(base: Base, after: Duration, place: Place) -> Self {
        let id = clock::set(base, after, place);
        let waiting = Waiting::new(clock::object(), "sleep", place);
        Timer { id, waiting, has_fired: false, place }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.has_fired {
            return Poll::Ready(());
        }
        let id = self.id;
        let polled = self.waiting.poll(context, |context| clock::poll(id, context));
        self.has_fired = polled.is_ready();
        polled
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if extend::under_test() {
            let (id, has_fired, place) = (self.id, self.has_fired, self.place);
            self.waiting.cancel("stop waiting", || {});
            clock::forget(id, has_fired, place);
        }
    }
}

/// Waits so long.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep(match extend::under_test() {
        false => Inner::Real(Box::pin(tokio::time::sleep(duration))),
        true => Inner::Model(Timer::new(Base::Now, duration, Location::caller())),
    })
}

/// Waits until a moment.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep(match deadline.0 {
        Kind::Real(deadline) => Inner::Real(Box::pin(tokio::time::sleep_until(deadline))),
        Kind::Model(time) => Inner::Model(Timer::new(Base::Start, after(time), Location::caller())),
        Kind::After(moment, offset) => {
            Inner::Model(Timer::new(Base::Moment(moment), after(offset), Location::caller()))
        }
        Kind::Tick => {
            let time = clock::now(Location::caller());
            Inner::Model(Timer::new(Base::Start, after(time), Location::caller()))
        }
    })
}

fn after(nanoseconds: i64) -> Duration {
    Duration::from_nanos(nanoseconds.max(0) as u64)
}

impl Sleep {
    /// The deadline. Under test, if the clock runs, the earliest one that is possible.
    #[track_caller]
    pub fn deadline(&self) -> Instant {
        Instant(match &self.0 {
            Inner::Real(sleep) => Kind::Real(sleep.deadline()),
            Inner::Model(timer) => Kind::Model(clock::deadline(timer.id, Location::caller())),
        })
    }

    /// Is the deadline over?
    #[track_caller]
    pub fn is_elapsed(&self) -> bool {
        match &self.0 {
            Inner::Real(sleep) => sleep.is_elapsed(),
            Inner::Model(timer) => {
                timer.has_fired || clock::has_fired(timer.id, Location::caller())
            }
        }
    }

    /// Sets another deadline.
    #[track_caller]
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        match (&mut self.0, deadline.0) {
            (Inner::Real(sleep), Kind::Real(deadline)) => sleep.as_mut().reset(deadline),
            _ => *self = sleep_until(deadline),
        }
    }

    /// Sets a deadline so long after the last one, or after now.
    pub(super) fn reset_after(&mut self, from_deadline: bool, duration: Duration, place: Place) {
        match &mut self.0 {
            Inner::Real(sleep) => {
                let base =
                    if from_deadline { sleep.deadline() } else { tokio::time::Instant::now() };
                sleep.as_mut().reset(base + duration);
            }
            Inner::Model(timer) => {
                let base = if from_deadline { Base::Timer(timer.id) } else { Base::Now };
                *timer = Timer::new(base, duration, place);
            }
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Inner::Real(sleep) => sleep.as_mut().poll(context),
            Inner::Model(timer) => timer.poll(context),
        }
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sleep").finish_non_exhaustive()
    }
}
