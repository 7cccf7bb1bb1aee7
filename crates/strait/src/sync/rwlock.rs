//! `RwLock`, as in `std::sync`: readers share, a writer is alone, a writer's panic poisons.
#![allow(
    unsafe_code,
    reason = "what a lock protects stands beside the real lock, so that it can be had when that is held by \
              a thread that was abandoned"
)]

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self as real, LockResult, PoisonError, TryLockError, TryLockResult};

use super::exclusion::{RealRwLock, Taken};
use super::poison::{poison_methods, poisoned_if};
use crate::rt::current::{under_test, with};
use crate::rt::lock;
use crate::rt::recursion;
use crate::rt::schedule::is_unwinding;
use crate::rt::slot::Slot;

/// A lock for many readers or one writer.
pub struct RwLock<T: ?Sized> {
    slot: Slot,
    real: RealRwLock,
    value: UnsafeCell<T>,
}

// SAFETY: as for std's `RwLock`: code with a reference to the value has the lock.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above; several readers may have references at the same time.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> std::panic::UnwindSafe for RwLock<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for RwLock<T> {}

/// Shared access to what a [`RwLock`] protects, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'l, T: ?Sized> {
    real: Option<real::RwLockReadGuard<'l, ()>>,
    value: &'l UnsafeCell<T>,
    held: Held<'l>,
}

// SAFETY: as for std's guard: a reference to the guard gives shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}

/// Exclusive access to what a [`RwLock`] protects, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'l, T: ?Sized> {
    real: Option<real::RwLockWriteGuard<'l, ()>>,
    value: &'l UnsafeCell<T>,
    held: Held<'l>,
}

// SAFETY: as for std's guard: a shared reference to the guard gives shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

/// What a guard has to give back to the model.
#[derive(Clone, Copy)]
struct Held<'l> {
    slot: &'l Slot,
    real: &'l RealRwLock,
    place: &'static Location<'static>,
    unwinding: bool,
    modelled: bool,
}

impl Held<'_> {
    #[inline(always)]
    fn release(&self, hand_back: impl FnOnce()) {
        if self.modelled && under_test() {
            lock::release(self.slot, lock::RWLOCK, self.unwinding, self.place, || {
                if self.slot.is_unnamed() {
                    with(|world| world.let_go_outside(Taken::rwlock(self.real)));
                }
                hand_back();
            });
        } else {
            hand_back();
        }
    }
}

impl<T> RwLock<T> {
    /// A new lock, free.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::with_slot(Slot::new(lock::RWLOCK), value)
    }

    /// A new lock for a `static`. What it protects stays from one execution to the next.
    pub const fn new_static(value: T) -> Self {
        Self::with_slot(Slot::unnamed(), value)
    }

    const fn with_slot(slot: Slot, value: T) -> Self {
        let real = RealRwLock::new(real::RwLock::new(()));
        RwLock { slot, real, value: UnsafeCell::new(value) }
    }

    /// What the lock protects.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = under_test().then(|| lock::is_poisoned(&self.slot, Location::caller()));
        poisoned_if(self.value.into_inner(), poisoned.unwrap_or(self.real.get().is_poisoned()))
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
                let (real, poisoned) = match self.real.get().$lock() {
                    Ok(real) => (real, false),
                    Err(error) => (error.into_inner(), true),
                };
                return poisoned_if(
                    $guard { real: Some(real), value: &self.value, held },
                    poisoned,
                );
            }
            let label = stringify!($lock);
            let poisoned = recursion::acquire(&self.slot, $gate, label, place);
            let real = self.real.get();
            let real = Some(had(real.$try_lock(), || real.$lock()));
            let guard = $guard { real, value: &self.value, held: self.held(true, place) };
            poisoned_if(guard, poisoned)
        }

        #[doc = concat!("Takes ", $doc, " access if it can be had now.")]
        #[inline(always)]
        #[track_caller]
        pub fn $try_lock(&self) -> TryLockResult<$guard<'_, T>> {
            let place = Location::caller();
            if !under_test() {
                let held = self.held(false, place);
                let (real, poisoned) = match self.real.get().$try_lock() {
                    Ok(real) => (real, false),
                    Err(TryLockError::Poisoned(error)) => (error.into_inner(), true),
                    Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
                };
                let guard = $guard { real: Some(real), value: &self.value, held };
                return poisoned_if(guard, poisoned).map_err(TryLockError::Poisoned);
            }
            let label = stringify!($try_lock);
            match lock::try_acquire(&self.slot, lock::RWLOCK, $gate, label, place) {
                None => Err(TryLockError::WouldBlock),
                Some(poisoned) => {
                    let real = self.real.get();
                    let real = Some(had(real.$try_lock(), || real.$lock()));
                    let guard = $guard { real, value: &self.value, held: self.held(true, place) };
                    poisoned_if(guard, poisoned).map_err(TryLockError::Poisoned)
                }
            }
        }
    };
}

/// The real guard; the model has made sure that no thread under test is in the way. Waits for others.
fn had<G>(result: TryLockResult<G>, wait: impl FnOnce() -> LockResult<G>) -> G {
    match result {
        Ok(real) => real,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        Err(TryLockError::WouldBlock) => wait().unwrap_or_else(PoisonError::into_inner),
    }
}

impl<T: ?Sized> RwLock<T> {
    lock_methods!(read, try_read, RwLockReadGuard, lock::SHARED, "shared");
    lock_methods!(write, try_write, RwLockWriteGuard, lock::EXCLUSIVE, "exclusive");

    fn held(&self, modelled: bool, place: &'static Location<'static>) -> Held<'_> {
        let unwinding = modelled && is_unwinding();
        if modelled && self.slot.is_unnamed() {
            with(|world| world.take_outside(Taken::rwlock(&self.real)));
        }
        Held { slot: &self.slot, real: &self.real, place, unwinding, modelled }
    }

    poison_methods!("a writer");
}

impl<'l, T: ?Sized> RwLockWriteGuard<'l, T> {
    /// Lets readers in, as one of them; no writer comes between.
    #[track_caller]
    pub fn downgrade(mut guard: Self) -> RwLockReadGuard<'l, T> {
        if guard.held.modelled && under_test() {
            lock::downgrade(guard.held.slot, Location::caller());
        }
        let real = guard.real.take().map(real::RwLockWriteGuard::downgrade);
        let (value, held) = (guard.value, guard.held);
        std::mem::forget(guard);
        RwLockReadGuard { real, value, held }
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
        // SAFETY: the guard has the lock.
        unsafe { &*self.value.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock.
        unsafe { &*self.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock alone, and is not borrowed elsewhere.
        unsafe { &mut *self.value.get() }
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
        let mut shown = formatter.debug_struct("RwLock");
        match self.try_read() {
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
            Err(TryLockError::Poisoned(guard)) => shown.field("data", &&**guard.get_ref()),
            Ok(guard) => shown.field("data", &&*guard),
        };
        shown.finish_non_exhaustive()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}
