//! Cells that are set once, as `tokio::sync::OnceCell`: one task at a time tries to make the value.

use std::fmt;
use std::future::Future;
use std::panic::Location;

pub use tokio::sync::SetError;

use super::Semaphore;
use super::guards::Lease;
use crate::point::Place;

/// A cell that is set once.
pub struct OnceCell<T> {
    value: std::sync::OnceLock<T>,
    /// The right to make the value; closed when it is set.
    semaphore: Semaphore,
}

impl<T> OnceCell<T> {
    /// An empty cell.
    #[track_caller]
    pub fn new() -> Self {
        OnceCell { value: std::sync::OnceLock::new(), semaphore: Semaphore::named("OnceCell", 1) }
    }

    /// An empty cell for a `static`.
    pub const fn const_new() -> Self {
        let semaphore = Semaphore::const_named("OnceCell", 1);
        OnceCell { value: std::sync::OnceLock::new(), semaphore }
    }

    /// A cell with this value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        let cell = OnceCell::new();
        if let Some(value) = value {
            let _ = cell.value.set(value);
            cell.semaphore.close_silently();
        }
        cell
    }

    /// Is the cell set?
    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get_at("initialized", Location::caller()).is_some()
    }

    /// The value, if the cell is set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.get_at("get", Location::caller())
    }

    fn get_at(&self, label: &'static str, place: Place) -> Option<&T> {
        self.semaphore.look(label, place);
        self.value.get()
    }

    /// The value, if the cell is set; no other task can have it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Sets the cell, unless it is set or a task makes a value for it.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        let place = Location::caller();
        if self.get_at("set", place).is_some() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.semaphore.try_lock_open("set", place) {
            Ok(true) => {
                let lease = Lease { lock: &self.semaphore, count: 1, place };
                self.fill(value, lease);
                Ok(())
            }
            Ok(false) => Err(SetError::InitializingError(value)),
            Err(()) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    /// Sets the cell by one who has the right to.
    fn fill(&self, value: T, lease: Lease<&Semaphore>) -> &T {
        let place = lease.place;
        std::mem::forget(lease);
        self.semaphore.close_with("set", place, || self.value.set(value).is_ok());
        match self.value.get() {
            Some(value) => value,
            None => unreachable!("the cell was set"),
        }
    }

    /// The value, which is made if the cell is not set. Other tasks wait meanwhile.
    #[track_caller]
    pub fn get_or_init<'a, F, Fut>(&'a self, make: F) -> impl Future<Output = &'a T>
    where
        F: FnOnce() -> Fut + 'a,
        Fut: Future<Output = T> + 'a,
    {
        let place = Location::caller();
        async move {
            let made = self.get_or_make(place, async || Ok::<T, Never>(make().await)).await;
            match made {
                Ok(value) => value,
                Err(never) => match never {},
            }
        }
    }

    /// The value, which is made if the cell is not set. If that fails, another task may try.
    #[track_caller]
    pub fn get_or_try_init<'a, E, F, Fut>(
        &'a self,
        make: F,
    ) -> impl Future<Output = Result<&'a T, E>>
    where
        F: FnOnce() -> Fut + 'a,
        Fut: Future<Output = Result<T, E>> + 'a,
    {
        let place = Location::caller();
        self.get_or_make(place, make)
    }

    async fn get_or_make<E, F, Fut>(&self, place: Place, make: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        if let Some(value) = self.get_at("get_or_init", place) {
            return Ok(value);
        }
        if !self.semaphore.lock("get_or_init", 1, place).await {
            // It was closed because the cell was set.
            match self.value.get() {
                Some(value) => return Ok(value),
                None => unreachable!("the semaphore is closed when the cell is set"),
            }
        }
        let lease = Lease { lock: &self.semaphore, count: 1, place };
        let value = make().await?;
        Ok(self.fill(value, lease))
    }

    /// The value, if the cell is set.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value; the cell is empty after that.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

/// What cannot fail.
enum Never {}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        OnceCell::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        OnceCell::new_with(Some(value))
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OnceCell").field("value", &self.value.get()).finish()
    }
}
