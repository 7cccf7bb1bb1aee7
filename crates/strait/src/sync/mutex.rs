//! `Mutex`, as in `std::sync`: locking and unlocking are steps; a panic in between poisons.
#![allow(
    unsafe_code,
    reason = "what a lock protects stands beside the real lock, so that it can be had when that is held by \
              a thread that was abandoned"
)]

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self as real, LockResult, PoisonError, TryLockError, TryLockResult};

use super::exclusion::{RealMutex, Taken};
use super::poison::{poison_methods, poisoned_if};
use crate::rt::current::{under_test, with};
use crate::rt::lock;
use crate::rt::slot::Slot;

/// A mutual exclusion lock.
pub struct Mutex<T: ?Sized> {
    slot: Slot,
    real: RealMutex,
    value: UnsafeCell<T>,
}

// SAFETY: as for std's `Mutex`: code with a reference to the value has the lock.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> std::panic::UnwindSafe for Mutex<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for Mutex<T> {}

/// Access to what a [`Mutex`] protects, until dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'m, T: ?Sized> {
    // Always there, except while the guard is taken apart.
    real: Option<real::MutexGuard<'m, ()>>,
    mutex: &'m Mutex<T>,
    place: &'static Location<'static>,
    /// Was the thread unwinding already when it locked? Then its panic is not about this data.
    unwinding: bool,
    modelled: bool,
    value: PhantomData<&'m mut T>,
}

// SAFETY: as for std's guard: a shared reference to the guard gives shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// A new lock, unlocked.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::with_slot(Slot::new(lock::MUTEX), value)
    }

    /// A new lock for a `static`. What it protects stays from one execution to the next.
    pub const fn new_static(value: T) -> Self {
        Self::with_slot(Slot::unnamed(), value)
    }

    const fn with_slot(slot: Slot, value: T) -> Self {
        let real = RealMutex::new(real::Mutex::new(()));
        Mutex { slot, real, value: UnsafeCell::new(value) }
    }

    /// What the lock protects.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = under_test().then(|| lock::is_poisoned(&self.slot, Location::caller()));
        poisoned_if(self.value.into_inner(), poisoned.unwrap_or(self.real.get().is_poisoned()))
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the lock is free and takes it.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        if !under_test() {
            return map_lock(self.real.get().lock(), |real| self.guard(real, false, place));
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
            return match self.real.get().try_lock() {
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

    poison_methods!("a thread");

    /// The real guard; the model has made sure that no thread under test has it.
    fn take(&self) -> real::MutexGuard<'_, ()> {
        if self.slot.is_unnamed() {
            with(|world| world.take_outside(Taken::mutex(&self.real)));
        }
        match self.real.get().try_lock() {
            Ok(real) => real,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => self.wait_for_real(),
        }
    }

    /// Gives the real lock back, at a step of a thread under test.
    pub(crate) fn hand_back(&self, real: Option<real::MutexGuard<'_, ()>>) {
        if self.slot.is_unnamed() {
            with(|world| world.let_go_outside(Taken::mutex(&self.real)));
        }
        drop(real);
    }

    /// Waits for a thread that is not part of this execution.
    #[cold]
    fn wait_for_real(&self) -> real::MutexGuard<'_, ()> {
        self.real.get().lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn guard<'m>(
        &'m self,
        real: real::MutexGuard<'m, ()>,
        modelled: bool,
        place: &'static Location<'static>,
    ) -> MutexGuard<'m, T> {
        let unwinding = modelled && crate::rt::schedule::is_unwinding();
        MutexGuard { real: Some(real), mutex: self, place, unwinding, modelled, value: PhantomData }
    }
}

fn map_lock<A, B>(result: LockResult<A>, map: impl FnOnce(A) -> B) -> LockResult<B> {
    match result {
        Ok(value) => Ok(map(value)),
        Err(error) => Err(PoisonError::new(map(error.into_inner()))),
    }
}

impl<'m, T: ?Sized> MutexGuard<'m, T> {
    /// Gives the real guard away without unlocking in the model: for `Condvar`.
    pub(crate) fn into_parts(mut self) -> (Option<real::MutexGuard<'m, ()>>, &'m Mutex<T>) {
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
        real: real::MutexGuard<'m, ()>,
        place: &'static Location<'static>,
    ) -> Self {
        mutex.guard(real, false, place)
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.modelled && under_test() {
            let (slot, unwinding, place) = (&self.mutex.slot, self.unwinding, self.place);
            lock::release(slot, lock::MUTEX, unwinding, place, || {
                self.mutex.hand_back(self.real.take());
            });
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock, and is not borrowed elsewhere.
        unsafe { &mut *self.mutex.value.get() }
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
        let mut shown = formatter.debug_struct("Mutex");
        match self.try_lock() {
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
            Err(TryLockError::Poisoned(guard)) => shown.field("data", &&**guard.get_ref()),
            Ok(guard) => shown.field("data", &&*guard),
        };
        shown.finish_non_exhaustive()
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
