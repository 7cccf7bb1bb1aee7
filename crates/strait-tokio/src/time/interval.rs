//! Moments at equal distances.

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use strait::extend;
use tokio::time::MissedTickBehavior;

use super::instant::{Instant, Kind};
use super::sleep::{Sleep, sleep, sleep_until};
use crate::point::Place;

/// Moments at equal distances.
#[derive(Debug)]
pub struct Interval(Inner);

#[derive(Debug)]
enum Inner {
    Real(tokio::time::Interval),
    Model(Ticks),
}

/// The ticks of an execution.
#[derive(Debug)]
struct Ticks {
    delay: Sleep,
    period: Duration,
    behavior: MissedTickBehavior,
    place: Place,
}

/// Ticks at once, and after each period.
///
/// # Panics
///
/// If the period is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    if !extend::under_test() {
        return Interval(Inner::Real(tokio::time::interval(period)));
    }
    Interval::model(sleep(Duration::ZERO), period, Location::caller())
}

/// Ticks at a moment, and after each period.
///
/// # Panics
///
/// If the period is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    if let Kind::Real(start) = start.0 {
        return Interval(Inner::Real(tokio::time::interval_at(start, period)));
    }
    Interval::model(sleep_until(start), period, Location::caller())
}

impl Ticks {
    /// Waits for a tick, and sets the next one.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if Pin::new(&mut self.delay).poll(context).is_pending() {
            return Poll::Pending;
        }
        let from_deadline = match self.behavior {
            MissedTickBehavior::Burst => true,
            // How many ticks were missed is not tried: as if it were none.
            MissedTickBehavior::Skip => {
                extend::leaves_out("ticks of an interval that skips missed ones are never missed");
                true
            }
            MissedTickBehavior::Delay => {
                extend::leaves_out("ticks of an interval that delays missed ones are never missed");
                true
            }
        };
        self.delay.reset_after(from_deadline, self.period, self.place);
        Poll::Ready(())
    }
}

impl Interval {
    fn model(delay: Sleep, period: Duration, place: Place) -> Interval {
        Interval(Inner::Model(Ticks { delay, period, behavior: MissedTickBehavior::Burst, place }))
    }

    /// Waits for the next tick. Gives the moment of it; under test it stays open which time that was until it is
    /// compared with another moment.
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|context| self.poll_tick(context)).await
    }

    /// Polls for the next tick.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<Instant> {
        match &mut self.0 {
            Inner::Real(interval) => {
                interval.poll_tick(context).map(|instant| Instant(Kind::Real(instant)))
            }
            Inner::Model(ticks) => ticks.poll(context).map(|()| Instant(Kind::Tick)),
        }
    }

    /// Ticks a period from now.
    #[track_caller]
    pub fn reset(&mut self) {
        self.reset_after(self.period());
    }

    /// Ticks at once.
    #[track_caller]
    pub fn reset_immediately(&mut self) {
        self.reset_after(Duration::ZERO);
    }

    /// Ticks after so long.
    #[track_caller]
    pub fn reset_after(&mut self, after: Duration) {
        let place = Location::caller();
        match &mut self.0 {
            Inner::Real(interval) => interval.reset_after(after),
            Inner::Model(ticks) => ticks.delay.reset_after(false, after, place),
        }
    }

    /// Ticks at a moment.
    #[track_caller]
    pub fn reset_at(&mut self, deadline: Instant) {
        match (&mut self.0, deadline.0) {
            (Inner::Real(interval), Kind::Real(deadline)) => {
                interval.reset_at(deadline);
            }
            (Inner::Real(_), _) => panic!("{}", crate::task::join_set::MIXED),
            (Inner::Model(ticks), _) => ticks.delay = sleep_until(deadline),
        }
    }

    /// What happens when ticks are missed.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        match &self.0 {
            Inner::Real(interval) => interval.missed_tick_behavior(),
            Inner::Model(ticks) => ticks.behavior,
        }
    }

    /// Says what happens when ticks are missed.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        match &mut self.0 {
            Inner::Real(interval) => interval.set_missed_tick_behavior(behavior),
            Inner::Model(ticks) => ticks.behavior = behavior,
        }
    }

    /// The distance of ticks.
    pub fn period(&self) -> Duration {
        match &self.0 {
            Inner::Real(interval) => interval.period(),
            Inner::Model(ticks) => ticks.period,
        }
    }
}
