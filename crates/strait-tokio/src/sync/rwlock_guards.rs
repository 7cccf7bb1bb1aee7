//! The guards of a lock that readers share.
#![allow(
    unsafe_code,
    reason = "what a lock protects is reached by a pointer while permits are held"
)]

use std::sync::Arc;

use super::Semaphore;
use super::guards::{Lease, guard, mutable_guard};
use super::rwlock::RwLock;
use crate::point::Place;

/// Shared access to what a lock protects, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lease: Lease<&'a Semaphore>,
    data: *const T,
}

/// Access to what a lock protects, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lease: Lease<&'a Semaphore>,
    data: *mut T,
}

/// Access to a part of what a lock protects, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    lease: Lease<&'a Semaphore>,
    data: *mut T,
}

/// Shared access to what a lock protects, which it owns, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    lease: Lease<Arc<RwLock<T>>>,
    data: *const U,
}

/// Access to what a lock protects, which it owns, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    lease: Lease<Arc<RwLock<T>>>,
    data: *mut T,
}

/// Access to a part of what a lock protects, which it owns, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    lease: Lease<Arc<RwLock<T>>>,
    data: *mut U,
}

guard!(['a, T: ?Sized] RwLockReadGuard<'a, T>, T);
guard!(['a, T: ?Sized] RwLockWriteGuard<'a, T>, T);
mutable_guard!(['a, T: ?Sized] RwLockWriteGuard<'a, T>, T);
guard!(['a, T: ?Sized] RwLockMappedWriteGuard<'a, T>, T);
mutable_guard!(['a, T: ?Sized] RwLockMappedWriteGuard<'a, T>, T);
guard!([T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U>, U);
guard!([T: ?Sized] OwnedRwLockWriteGuard<T>, T);
mutable_guard!([T: ?Sized] OwnedRwLockWriteGuard<T>, T);
guard!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U>, U);
mutable_guard!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U>, U);

// SAFETY: as tokio's guards: a guard for reading is a shared reference to what the lock protects.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedRwLockReadGuard<T, U> {}

/// `map` and `try_map` of a guard for reading.
macro_rules! maps {
    ([$($generics:tt)*] $guard:ty, $from:ident => $to:ident<$($arguments:tt),*>) => {
        impl<$($generics)*> $guard {
            /// Access to a part of what is protected.
            pub fn map<V: ?Sized>(
                this: Self,
                part: impl FnOnce(&$from) -> &V,
            ) -> $to<$($arguments,)* V> {
                let data: *const V = part(&*this);
                $to { lease: this.lease, data }
            }

            /// Access to a part of what is protected, if there is such a part.
            pub fn try_map<V: ?Sized>(
                this: Self,
                part: impl FnOnce(&$from) -> Option<&V>,
            ) -> Result<$to<$($arguments,)* V>, Self> {
                match part(&*this).map(std::ptr::from_ref) {
                    Some(data) => Ok($to { lease: this.lease, data }),
                    None => Err(this),
                }
            }
        }
    };
    (mut [$($generics:tt)*] $guard:ty, $from:ident => $to:ident<$($arguments:tt),*>) => {
        impl<$($generics)*> $guard {
            /// Access to a part of what is protected.
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

maps!(['a, T: ?Sized] RwLockReadGuard<'a, T>, T => RwLockReadGuard<'a>);
maps!([T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U>, U => OwnedRwLockReadGuard<T>);
maps!(mut ['a, T: ?Sized] RwLockWriteGuard<'a, T>, T => RwLockMappedWriteGuard<'a>);
maps!(mut ['a, T: ?Sized] RwLockMappedWriteGuard<'a, T>, T => RwLockMappedWriteGuard<'a>);
maps!(mut [T: ?Sized] OwnedRwLockWriteGuard<T>, T => OwnedRwLockMappedWriteGuard<T>);
maps!(mut [T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U>, U => OwnedRwLockMappedWriteGuard<T>);

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    pub(super) fn new(lock: &'a Semaphore, data: *const T, place: Place) -> Self {
        RwLockReadGuard { lease: Lease { lock, count: 1, place }, data }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    pub(super) fn new(lock: &'a Semaphore, count: u32, data: *mut T, place: Place) -> Self {
        RwLockWriteGuard { lease: Lease { lock, count, place }, data }
    }

    /// Shares the lock with readers from now on.
    pub fn downgrade(mut self) -> RwLockReadGuard<'a, T> {
        self.lease.downgrade();
        RwLockReadGuard { lease: self.lease, data: self.data }
    }

    /// Shares the lock with readers from now on, and gives access to a part.
    pub fn downgrade_map<U: ?Sized>(
        this: Self,
        part: impl FnOnce(&T) -> &U,
    ) -> RwLockReadGuard<'a, U> {
        RwLockReadGuard::map(this.downgrade(), part)
    }

    /// The same access as that to a part.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockWriteGuard::map(this, |value| value)
    }
}

impl<T: ?Sized> OwnedRwLockReadGuard<T> {
    pub(super) fn new(lock: Arc<RwLock<T>>, data: *const T, place: Place) -> Self {
        OwnedRwLockReadGuard { lease: Lease { lock, count: 1, place }, data }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.lease.lock
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    pub(super) fn new(lock: Arc<RwLock<T>>, count: u32, data: *mut T, place: Place) -> Self {
        OwnedRwLockWriteGuard { lease: Lease { lock, count, place }, data }
    }

    /// Shares the lock with readers from now on.
    pub fn downgrade(mut self) -> OwnedRwLockReadGuard<T> {
        self.lease.downgrade();
        OwnedRwLockReadGuard { lease: self.lease, data: self.data }
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.lease.lock
    }

    /// The same access as that to a part.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockWriteGuard::map(this, |value| value)
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.lease.lock
    }
}
