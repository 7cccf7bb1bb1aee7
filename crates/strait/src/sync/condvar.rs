//! `Condvar`, as in `std::sync`. Under test any waiter may be the one that is notified, a time-out
//! may come at any time, and there are no wake-ups without a reason.

use std::fmt;
use std::panic::Location;
use std::sync::{self as real, LockResult, PoisonError};
use std::time::Duration;

use super::mutex::{Mutex, MutexGuard};
use crate::rt::condvar as model;
use crate::rt::current::under_test;
use crate::rt::slot::Slot;

/// A condition variable.
pub struct Condvar {
    slot: Slot,
    waiters: model::Waiters,
    real: real::Condvar,
}

/// Did a wait end because its time was over?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Was the time over?
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A new condition variable.
    #[track_caller]
    pub fn new() -> Self {
        Condvar {
            slot: Slot::new(model::FRESH),
            waiters: model::Waiters::new(),
            real: real::Condvar::new(),
        }
    }

    /// A new condition variable for a `static`.
    pub const fn new_static() -> Self {
        Condvar {
            slot: Slot::unnamed(),
            waiters: model::Waiters::new(),
            real: real::Condvar::new(),
        }
    }

    /// Gives the lock back and waits to be notified, then takes the lock again.
    #[inline(always)]
    #[track_caller]
    pub fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> LockResult<MutexGuard<'m, T>> {
        let place = Location::caller();
        let (real, mutex) = guard.into_parts();
        if !under_test() {
            let Some(real) = real else { crate::rt::lock::gone() };
            return match self.real.wait(real) {
                Ok(real) => Ok(MutexGuard::from_real(mutex, real, place)),
                Err(error) => {
                    let guard = MutexGuard::from_real(mutex, error.into_inner(), place);
                    Err(PoisonError::new(guard))
                }
            };
        }
        let hand_back = || mutex.hand_back(real);
        let poisoned = model::wait(&self.slot, &self.waiters, mutex.slot(), place, hand_back);
        again(mutex, poisoned, place)
    }

    /// Waits as long as the condition holds.
    #[track_caller]
    pub fn wait_while<'m, T>(
        &self,
        mut guard: MutexGuard<'m, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'m, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`Condvar::wait`], but goes on when the time is over.
    #[inline(always)]
    #[track_caller]
    pub fn wait_timeout<'m, T>(
        &self,
        guard: MutexGuard<'m, T>,
        duration: Duration,
    ) -> LockResult<(MutexGuard<'m, T>, WaitTimeoutResult)> {
        let place = Location::caller();
        let (real, mutex) = guard.into_parts();
        if !under_test() {
            let Some(real) = real else { crate::rt::lock::gone() };
            return match self.real.wait_timeout(real, duration) {
                Ok((real, over)) => {
                    let over = WaitTimeoutResult(over.timed_out());
                    Ok((MutexGuard::from_real(mutex, real, place), over))
                }
                Err(error) => {
                    let (real, over) = error.into_inner();
                    let over = WaitTimeoutResult(over.timed_out());
                    let guard = MutexGuard::from_real(mutex, real, place);
                    Err(PoisonError::new((guard, over)))
                }
            };
        }
        let hand_back = || mutex.hand_back(real);
        let (poisoned, over) =
            model::wait_timeout(&self.slot, &self.waiters, mutex.slot(), place, hand_back);
        match again(mutex, poisoned, place) {
            Ok(guard) => Ok((guard, WaitTimeoutResult(over))),
            Err(error) => Err(PoisonError::new((error.into_inner(), WaitTimeoutResult(over)))),
        }
    }

    /// Waits as long as the condition holds and there is time left.
    #[track_caller]
    pub fn wait_timeout_while<'m, T>(
        &self,
        mut guard: MutexGuard<'m, T>,
        duration: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'m, T>, WaitTimeoutResult)> {
        while condition(&mut guard) {
            let over;
            (guard, over) = self.wait_timeout(guard, duration)?;
            if over.timed_out() {
                let still = condition(&mut guard);
                return Ok((guard, WaitTimeoutResult(still)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Lets one waiter go on.
    #[inline(always)]
    #[track_caller]
    pub fn notify_one(&self) {
        if under_test() {
            model::notify_one(&self.slot, &self.waiters, Location::caller());
        } else {
            self.real.notify_one();
        }
    }

    /// Lets all waiters go on.
    #[inline(always)]
    #[track_caller]
    pub fn notify_all(&self) {
        if under_test() {
            model::notify_all(&self.slot, &self.waiters, Location::caller());
        } else {
            self.real.notify_all();
        }
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// The guard of a lock that was taken again.
fn again<'m, T>(
    mutex: &'m Mutex<T>,
    poisoned: bool,
    place: &'static Location<'static>,
) -> LockResult<MutexGuard<'m, T>> {
    let guard = MutexGuard::from_model(mutex, place);
    if poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Condvar").finish_non_exhaustive()
    }
}
