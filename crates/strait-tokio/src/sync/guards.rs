//! What the guards of locks have in common: permits that are given back, and a pointer to what the lock
//! protects.

use std::sync::Arc;

use super::Semaphore;
use super::mutex::Mutex;
use super::rwlock::RwLock;
use crate::point::Place;

/// A way to reach the semaphore of a lock.
pub trait Locks {
    /// The semaphore.
    fn semaphore(&self) -> &Semaphore;
}

impl Locks for &Semaphore {
    fn semaphore(&self) -> &Semaphore {
        self
    }
}

impl<T: ?Sized> Locks for Arc<Mutex<T>> {
    fn semaphore(&self) -> &Semaphore {
        &self.semaphore
    }
}

impl<T: ?Sized> Locks for Arc<RwLock<T>> {
    fn semaphore(&self) -> &Semaphore {
        &self.semaphore
    }
}

/// Permits of a lock, given back when dropped.
pub struct Lease<L: Locks> {
    pub(super) lock: L,
    pub(super) count: u32,
    pub(super) place: Place,
}

impl<L: Locks> Lease<L> {
    /// Keeps one permit and gives the others back.
    pub(super) fn downgrade(&mut self) {
        let others = std::mem::replace(&mut self.count, 1) - 1;
        self.lock.semaphore().give_back("downgrade", others, self.place);
    }
}

impl<L: Locks> Drop for Lease<L> {
    fn drop(&mut self) {
        self.lock.semaphore().give_back("unlock", self.count, self.place);
    }
}

/// Access to what a guard protects.
macro_rules! guard {
    ([$($generics:tt)*] $name:ty, $target:ident) => {
        // SAFETY: as tokio's guards: a guard is a reference to what the lock protects.
        unsafe impl<$($generics)*> Sync for $name where $target: Send + Sync {}

        impl<$($generics)*> std::ops::Deref for $name {
            type Target = $target;

            fn deref(&self) -> &$target {
                // SAFETY: the guard has the lock, in which the pointer lies.
                unsafe { &*self.data }
            }
        }

        impl<$($generics)*> std::fmt::Debug for $name where $target: std::fmt::Debug {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&**self, formatter)
            }
        }

        impl<$($generics)*> std::fmt::Display for $name where $target: std::fmt::Display {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&**self, formatter)
            }
        }
    };
}

/// Access to change what a guard protects.
macro_rules! mutable_guard {
    ([$($generics:tt)*] $name:ty, $target:ident) => {
        // SAFETY: as tokio's guards: what is protected may be used by the thread that has the guard.
        unsafe impl<$($generics)*> Send for $name where $target: Send {}

        impl<$($generics)*> std::ops::DerefMut for $name {
            fn deref_mut(&mut self) -> &mut $target {
                // SAFETY: the guard has the lock alone, and is not borrowed elsewhere.
                unsafe { &mut *self.data }
            }
        }
    };
}

pub(super) use {guard, mutable_guard};
