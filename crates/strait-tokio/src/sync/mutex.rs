//! Locks that may be held across an `await`, as `tokio::sync::Mutex`: a fair semaphore with one permit.
#![allow(
    unsafe_code,
    reason = "what a lock protects is reached by a pointer while its permit is held"
)]

use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use strait::extend;

use super::Semaphore;
use super::guards::{Lease, guard, mutable_guard};
use crate::point::Place;

/// A lock.
pub struct Mutex<T: ?Sized> {
    pub(super) semaphore: Semaphore,
    value: UnsafeCell<T>,
}

// SAFETY: as for tokio's `Mutex`: code with a reference to the value has the permit.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// A lock, unlocked.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Mutex { semaphore: Semaphore::named("Mutex", 1), value: UnsafeCell::new(value) }
    }

    /// A lock for a `static`.
    pub const fn const_new(value: T) -> Self {
        Mutex { semaphore: Semaphore::const_named("Mutex", 1), value: UnsafeCell::new(value) }
    }

    /// What the lock protects.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock, in the order of asking.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> + '_ {
        let place = Location::caller();
        async move {
            self.semaphore.lock("lock", 1, place).await;
            self.guard(place)
        }
    }

    /// Waits for the lock on a thread that may block.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// Waits for the lock; the guard owns it.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let place = Location::caller();
        async move {
            self.semaphore.lock("lock", 1, place).await;
            OwnedMutexGuard::new(self, place)
        }
    }

    /// Waits for the lock on a thread that may block; the guard owns it.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// Takes the lock if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        let is_free = self.semaphore.try_lock("try_lock", 1, place);
        if is_free { Ok(self.guard(place)) } else { Err(TryLockError(())) }
    }

    /// Takes the lock if it is free; the guard owns it.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let place = Location::caller();
        let is_free = self.semaphore.try_lock("try_lock", 1, place);
        if is_free { Ok(OwnedMutexGuard::new(self, place)) } else { Err(TryLockError(())) }
    }

    /// What the lock protects; no other task can have it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    fn guard(&self, place: Place) -> MutexGuard<'_, T> {
        let lease = Lease { lock: &self.semaphore, count: 1, place };
        MutexGuard { lease, data: self.value.get(), mutex: self }
    }
}

/// Performs a future on a thread that may block.
#[track_caller]
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    if extend::under_test() {
        return crate::task::block_on(future);
    }
    match tokio::runtime::Handle::try_current() {
        Ok(handle) => handle.block_on(future),
        Err(_) => strait::future::block_on(future),
    }
}

/// The lock is not free.
#[derive(Debug, PartialEq, Eq)]
pub struct TryLockError(pub(super) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("operation would block")
    }
}

impl std::error::Error for TryLockError {}

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

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mutex").finish_non_exhaustive()
    }
}

/// Access to what a lock protects, until dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    lease: Lease<&'a Semaphore>,
    data: *mut T,
    mutex: &'a Mutex<T>,
}

/// Access to a part of what a lock protects, until dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    lease: Lease<&'a Semaphore>,
    data: *mut T,
}

/// Access to what a lock protects, which it owns, until dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMutexGuard<T: ?Sized> {
    lease: Lease<Arc<Mutex<T>>>,
    data: *mut T,
}

/// Access to a part of what a lock protects, which it owns, until dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    lease: Lease<Arc<Mutex<T>>>,
    data: *mut U,
}

guard!(['a, T: ?Sized] MutexGuard<'a, T>, T);
mutable_guard!(['a, T: ?Sized] MutexGuard<'a, T>, T);
guard!(['a, T: ?Sized] MappedMutexGuard<'a, T>, T);
mutable_guard!(['a, T: ?Sized] MappedMutexGuard<'a, T>, T);
guard!([T: ?Sized] OwnedMutexGuard<T>, T);
mutable_guard!([T: ?Sized] OwnedMutexGuard<T>, T);
guard!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>, U);
mutable_guard!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>, U);

/// `map` and `try_map` of a guard.
macro_rules! maps {
    ([$($generics:tt)*] $guard:ty, $from:ident => $to:ident<$($arguments:tt),*>) => {
        impl<$($generics)*> $guard {
            /// Access to a part of what is protected.
            #[allow(clippy::missing_panics_doc, reason = "only the function may panic")]
            pub fn map<V: ?Sized>(
                mut this: Self,
                part: impl FnOnce(&mut $from) -> &mut V,
            ) -> $to<$($arguments,)* V> {
                let data: *mut V = part(&mut *this);
                $to { lease: this.lease, data }
            }

            /// Access to a part of what is protected, if there is such a part.
            pub fn try_map<V: ?Sized>(
                mut this: Self,
                part: impl FnOnce(&mut $from) -> Option<&mut V>,
            ) -> Result<$to<$($arguments,)* V>, Self> {
                match part(&mut *this).map(std::ptr::from_mut) {
                    Some(data) => Ok($to { lease: this.lease, data }),
                    None => Err(this),
                }
            }
        }
    };
}

maps!(['a, T: ?Sized] MutexGuard<'a, T>, T => MappedMutexGuard<'a>);
maps!(['a, T: ?Sized] MappedMutexGuard<'a, T>, T => MappedMutexGuard<'a>);
maps!([T: ?Sized] OwnedMutexGuard<T>, T => OwnedMappedMutexGuard<T>);
maps!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>, U => OwnedMappedMutexGuard<T>);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The lock.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.mutex
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    fn new(mutex: Arc<Mutex<T>>, place: Place) -> Self {
        let data = mutex.value.get();
        OwnedMutexGuard { lease: Lease { lock: mutex, count: 1, place }, data }
    }

    /// The lock.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.lease.lock
    }
}
