//! `RwLock`, as in `std::sync`: readers share, a writer is alone, a writer's panic poisons.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self as real, LockResult, PoisonError, TryLockError, TryLockResult};

use crate::rt::current::under_test;
use crate::rt::lock;
use crate::rt::schedule::is_unwinding;
use crate::rt::slot::Slot;

/// A lock for many readers or one writer.
pub struct RwLock<T: ?Sized> {
    slot: Slot,
    real: real::RwLock<T>,
}

/// Shared access to what a [`RwLock`] protects, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'l, T: ?Sized> {
    real: Option<real::RwLockReadGuard<'l, T>>,
    held: Held<'l>,
}

/// Exclusive access to what a [`RwLock`] protects, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'l, T: ?Sized> {
    real: Option<real::RwLockWriteGuard<'l, T>>,
    held: Held<'l>,
}

/// What a guard has to give back to the model.
#[derive(Clone, Copy)]
struct Held<'l> {
    slot: &'l Slot,
    place: &'static Location<'static>,
    unwinding: bool,
    modelled: bool,
}

impl Held<'_> {
    #[inline(always)]
    fn release(&self, hand_back: impl FnOnce()) {
        if self.modelled && under_test() {
            lock::release(self.slot, lock::RWLOCK, self.unwinding, self.place, hand_back);
        } else {
            hand_back();
        }
    }
}

impl<T> RwLock<T> {
    /// A new lock, free.
    #[track_caller]
    pub fn new(value: T) -> Self {
        RwLock { slot: Slot::new(lock::RWLOCK), real: real::RwLock::new(value) }
    }

    /// A new lock for a `static`. What it protects stays from one execution to the next.
    pub const fn new_static(value: T) -> Self {
        RwLock { slot: Slot::unnamed(), real: real::RwLock::new(value) }
    }

    /// What the lock protects.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = under_test().then(|| lock::is_poisoned(&self.slot, Location::caller()));
        super::mutex::with_poison(self.real.into_inner(), poisoned)
    }
}

macro_rules! lock_methods {
    ($lock:ident, $try_lock:ident, $guard:ident, $gate:expr, $doc:literal) => {
        #[doc = concat!("Waits for ", $doc, " access.")]
        #[inline(always)]
        #[track_caller]
        pub fn $lock(&self) -> LockResult<$guard<'_, T>> {
            let place = Location::caller();
            if !under_test() {
                let held = self.held(false, place);
                return match self.real.$lock() {
                    Ok(real) => Ok($guard { real: Some(real), held }),
                    Err(error) => {
                        Err(PoisonError::new($guard { real: Some(error.into_inner()), held }))
                    }
                };
            }
            let label = stringify!($lock);
            let poisoned = lock::acquire(&self.slot, lock::RWLOCK, $gate, label, place);
            let real = some(self.real.$try_lock());
            let guard = $guard { real, held: self.held(true, place) };
            if poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
        }

        #[doc = concat!("Takes ", $doc, " access if it can be had now.")]
        #[inline(always)]
        #[track_caller]
        pub fn $try_lock(&self) -> TryLockResult<$guard<'_, T>> {
            let place = Location::caller();
            if !under_test() {
                let held = self.held(false, place);
                return match self.real.$try_lock() {
                    Ok(real) => Ok($guard { real: Some(real), held }),
                    Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
                    Err(TryLockError::Poisoned(error)) => {
                        let guard = $guard { real: Some(error.into_inner()), held };
                        Err(TryLockError::Poisoned(PoisonError::new(guard)))
                    }
                };
            }
            let label = stringify!($try_lock);
            match lock::try_acquire(&self.slot, lock::RWLOCK, $gate, label, place) {
                None => Err(TryLockError::WouldBlock),
                Some(poisoned) => {
                    let real = some(self.real.$try_lock());
                    let guard = $guard { real, held: self.held(true, place) };
                    if poisoned {
                        Err(TryLockError::Poisoned(PoisonError::new(guard)))
                    } else {
                        Ok(guard)
                    }
                }
            }
        }
    };
}

/// The real guard; the model has made sure that it can be had, unless all is torn down.
fn some<G>(result: TryLockResult<G>) -> Option<G> {
    match result {
        Ok(real) => Some(real),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl<T: ?Sized> RwLock<T> {
    lock_methods!(read, try_read, RwLockReadGuard, lock::SHARED, "shared");
    lock_methods!(write, try_write, RwLockWriteGuard, lock::EXCLUSIVE, "exclusive");

    fn held(&self, modelled: bool, place: &'static Location<'static>) -> Held<'_> {
        let unwinding = modelled && is_unwinding();
        Held { slot: &self.slot, place, unwinding, modelled }
    }

    /// Has a writer panicked while it held the lock?
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        if under_test() {
            lock::is_poisoned(&self.slot, Location::caller())
        } else {
            self.real.is_poisoned()
        }
    }

    /// Forgets that a writer has panicked while it held the lock.
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
        super::mutex::with_poison(self.real.get_mut(), poisoned)
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl<'l, T: ?Sized> RwLockWriteGuard<'l, T> {
    /// Lets readers in, as one of them; no writer comes between.
    #[track_caller]
    pub fn downgrade(mut guard: Self) -> RwLockReadGuard<'l, T> {
        if guard.held.modelled && under_test() {
            lock::downgrade(guard.held.slot, Location::caller());
        }
        let real = guard.real.take().map(real::RwLockWriteGuard::downgrade);
        let held = guard.held;
        std::mem::forget(guard);
        RwLockReadGuard { real, held }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let real = &mut self.real;
        self.held.release(|| drop(real.take()));
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let real = &mut self.real;
        self.held.release(|| drop(real.take()));
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.real {
            Some(real) => real,
            None => lock::gone(),
        }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.real {
            Some(real) => real,
            None => lock::gone(),
        }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.real {
            Some(real) => real,
            None => lock::gone(),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, formatter)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, formatter)
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.real, formatter)
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}
