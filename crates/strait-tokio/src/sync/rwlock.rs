//! Locks that readers share, as `tokio::sync::RwLock`: a fair semaphore of which a reader takes one permit
//! and a writer all of them.
#![allow(
    unsafe_code,
    reason = "what a lock protects is reached by a pointer while permits are held"
)]

use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use super::Semaphore;
use super::mutex::{TryLockError, block_on};
use super::rwlock_guards::{
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};

/// As many readers as tokio allows.
const MAX_READERS: u32 = u32::MAX >> 3;

/// A lock that readers share.
pub struct RwLock<T: ?Sized> {
    readers: u32,
    pub(super) semaphore: Semaphore,
    value: UnsafeCell<T>,
}

// SAFETY: as for tokio's `RwLock`: code with a reference to the value has a permit, or all of them.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    /// A lock, unlocked.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::with_max_readers(value, MAX_READERS)
    }

    /// A lock that at most so many readers share.
    #[track_caller]
    pub fn with_max_readers(value: T, readers: u32) -> Self {
        assert!(
            readers <= MAX_READERS,
            "a RwLock may not be created with more than {MAX_READERS} readers"
        );
        let semaphore = Semaphore::named("RwLock", readers as usize);
        RwLock { readers, semaphore, value: UnsafeCell::new(value) }
    }

    /// A lock for a `static`.
    pub const fn const_new(value: T) -> Self {
        Self::const_with_max_readers(value, MAX_READERS)
    }

    /// A lock for a `static` that at most so many readers share.
    pub const fn const_with_max_readers(value: T, readers: u32) -> Self {
        let semaphore = Semaphore::const_named("RwLock", readers as usize);
        RwLock { readers, semaphore, value: UnsafeCell::new(value) }
    }

    /// What the lock protects.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until the lock can be shared, in the order of asking.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> + '_ {
        let place = Location::caller();
        async move {
            self.semaphore.lock("read", 1, place).await;
            RwLockReadGuard::new(&self.semaphore, self.value.get(), place)
        }
    }

    /// Waits until the lock can be shared, on a thread that may block.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_on(self.read())
    }

    /// Waits until the lock can be shared; the guard owns it.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let place = Location::caller();
        async move {
            self.semaphore.lock("read", 1, place).await;
            let data = self.value.get();
            OwnedRwLockReadGuard::new(self, data, place)
        }
    }

    /// Shares the lock if that is possible at once.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        match self.semaphore.try_lock("try_read", 1, place) {
            true => Ok(RwLockReadGuard::new(&self.semaphore, self.value.get(), place)),
            false => Err(TryLockError(())),
        }
    }

    /// Shares the lock if that is possible at once; the guard owns it.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        let (place, data) = (Location::caller(), self.value.get());
        match self.semaphore.try_lock("try_read", 1, place) {
            true => Ok(OwnedRwLockReadGuard::new(self, data, place)),
            false => Err(TryLockError(())),
        }
    }

    /// Waits for the lock, in the order of asking.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> + '_ {
        let place = Location::caller();
        async move {
            self.semaphore.lock("write", self.readers, place).await;
            RwLockWriteGuard::new(&self.semaphore, self.readers, self.value.get(), place)
        }
    }

    /// Waits for the lock on a thread that may block.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_on(self.write())
    }

    /// Waits for the lock; the guard owns it.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let place = Location::caller();
        async move {
            self.semaphore.lock("write", self.readers, place).await;
            let (data, readers) = (self.value.get(), self.readers);
            OwnedRwLockWriteGuard::new(self, readers, data, place)
        }
    }

    /// Takes the lock if it is free.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let (place, data, readers) = (Location::caller(), self.value.get(), self.readers);
        match self.semaphore.try_lock("try_write", readers, place) {
            true => Ok(RwLockWriteGuard::new(&self.semaphore, readers, data, place)),
            false => Err(TryLockError(())),
        }
    }

    /// Takes the lock if it is free; the guard owns it.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        let (place, data, readers) = (Location::caller(), self.value.get(), self.readers);
        match self.semaphore.try_lock("try_write", readers, place) {
            true => Ok(OwnedRwLockWriteGuard::new(self, readers, data, place)),
            false => Err(TryLockError(())),
        }
    }

    /// What the lock protects; no other task can have it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RwLock").finish_non_exhaustive()
    }
}
