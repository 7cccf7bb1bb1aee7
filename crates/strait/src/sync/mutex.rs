//! `Mutex`, as in `std::sync`: locking and unlocking are steps; a panic in between poisons.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self as real, LockResult, PoisonError, TryLockError, TryLockResult};

use crate::rt::current::under_test;
use crate::rt::lock;
use crate::rt::slot::Slot;

/// A mutual exclusion lock.
pub struct Mutex<T: ?Sized> {
    slot: Slot,
    real: real::Mutex<T>,
}

/// Access to what a [`Mutex`] protects, until dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'m, T: ?Sized> {
    // Always there, except while the guard is taken apart.
    real: Option<real::MutexGuard<'m, T>>,
    mutex: &'m Mutex<T>,
    place: &'static Location<'static>,
    /// Was the thread unwinding already when it locked? Then its panic is not about this data.
    unwinding: bool,
    modelled: bool,
}

impl<T> Mutex<T> {
    /// A new lock, unlocked.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Mutex { slot: Slot::new(lock::MUTEX), real: real::Mutex::new(value) }
    }

    /// A new lock for a `static`. What it protects stays from one execution to the next.
    pub const fn new_static(value: T) -> Self {
        Mutex { slot: Slot::unnamed(), real: real::Mutex::new(value) }
    }

    /// What the lock protects.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = under_test().then(|| lock::is_poisoned(&self.slot, Location::caller()));
        with_poison(self.real.into_inner(), poisoned)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the lock is free and takes it.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        if !under_test() {
            return map_lock(self.real.lock(), |real| self.guard(real, false, place));
        }
        let poisoned = lock::acquire(&self.slot, lock::MUTEX, lock::EXCLUSIVE, "lock", place);
        let guard = self.guard(self.take(), true, place);
        if poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Takes the lock if it is free.
    #[inline(always)]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        if !under_test() {
            return match self.real.try_lock() {
                Ok(real) => Ok(self.guard(real, false, place)),
                Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
                Err(TryLockError::Poisoned(error)) => {
                    let guard = self.guard(error.into_inner(), false, place);
                    Err(TryLockError::Poisoned(PoisonError::new(guard)))
                }
            };
        }
        match lock::try_acquire(&self.slot, lock::MUTEX, lock::EXCLUSIVE, "try_lock", place) {
            None => Err(TryLockError::WouldBlock),
            Some(false) => Ok(self.guard(self.take(), true, place)),
            Some(true) => {
                let guard = self.guard(self.take(), true, place);
                Err(TryLockError::Poisoned(PoisonError::new(guard)))
            }
        }
    }

    /// Has a thread panicked while it held the lock?
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        if under_test() {
            lock::is_poisoned(&self.slot, Location::caller())
        } else {
            self.real.is_poisoned()
        }
    }

    /// Forgets that a thread has panicked while it held the lock.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.real.clear_poison();
        if under_test() {
            lock::clear_poison(&self.slot, Location::caller());
        }
    }

    /// What the lock protects; nobody else can have it.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = under_test().then(|| lock::is_poisoned(&self.slot, Location::caller()));
        with_poison(self.real.get_mut(), poisoned)
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    /// The real guard; the model has made sure that nobody has it.
    fn take(&self) -> Option<real::MutexGuard<'_, T>> {
        match self.real.try_lock() {
            Ok(real) => Some(real),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            // Only while an execution is torn down, where nobody waits for anybody.
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn guard<'m>(
        &'m self,
        real: impl Into<Option<real::MutexGuard<'m, T>>>,
        modelled: bool,
        place: &'static Location<'static>,
    ) -> MutexGuard<'m, T> {
        let unwinding = modelled && crate::rt::schedule::is_unwinding();
        MutexGuard { real: real.into(), mutex: self, place, unwinding, modelled }
    }
}

fn map_lock<A, B>(result: LockResult<A>, map: impl FnOnce(A) -> B) -> LockResult<B> {
    match result {
        Ok(value) => Ok(map(value)),
        Err(error) => Err(PoisonError::new(map(error.into_inner()))),
    }
}

/// Under test the model alone decides about poisoning.
pub(super) fn with_poison<A>(result: LockResult<A>, poisoned: Option<bool>) -> LockResult<A> {
    match (result, poisoned) {
        (result, None) => result,
        (Ok(value), Some(false)) => Ok(value),
        (Ok(value), Some(true)) => Err(PoisonError::new(value)),
        (Err(error), Some(false)) => Ok(error.into_inner()),
        (Err(error), Some(true)) => Err(error),
    }
}

impl<'m, T: ?Sized> MutexGuard<'m, T> {
    /// Gives the real guard away without unlocking in the model: for `Condvar`.
    pub(crate) fn into_parts(mut self) -> (Option<real::MutexGuard<'m, T>>, &'m Mutex<T>) {
        self.modelled = false;
        (self.real.take(), self.mutex)
    }

    /// A guard for a lock that the model has given to this thread.
    pub(crate) fn from_model(mutex: &'m Mutex<T>, place: &'static Location<'static>) -> Self {
        mutex.guard(mutex.take(), true, place)
    }

    /// A guard around a real one.
    pub(crate) fn from_real(
        mutex: &'m Mutex<T>,
        real: real::MutexGuard<'m, T>,
        place: &'static Location<'static>,
    ) -> Self {
        mutex.guard(real, false, place)
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.modelled && under_test() {
            let real = &mut self.real;
            lock::release(&self.mutex.slot, lock::MUTEX, self.unwinding, self.place, || {
                drop(real.take());
            });
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.real {
            Some(real) => real,
            None => lock::gone(),
        }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.real {
            Some(real) => real,
            None => lock::gone(),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, formatter)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.real, formatter)
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}
