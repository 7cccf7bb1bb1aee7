//! Counting semaphores, as `tokio::sync::Semaphore`: fair, so permits are given in the order of asking.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use strait::extend;
use tokio::sync::{AcquireError, Semaphore as RealSemaphore, TryAcquireError};

use crate::point::{Place, Point};

/// A number of permits.
pub struct Semaphore {
    real: RealSemaphore,
    point: Point,
}

impl Semaphore {
    /// The largest number of permits.
    pub const MAX_PERMITS: usize = RealSemaphore::MAX_PERMITS;

    /// A semaphore with so many permits.
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Semaphore { real: RealSemaphore::new(permits), point: Point::new("Semaphore") }
    }

    /// A semaphore for a `static`.
    pub const fn const_new(permits: usize) -> Self {
        let real = RealSemaphore::const_new(permits);
        Semaphore { real, point: Point::new_static("Semaphore") }
    }

    /// The semaphore of a lock, which the trace calls by this name.
    #[track_caller]
    pub(super) fn named(kind: &'static str, permits: usize) -> Self {
        Semaphore { real: RealSemaphore::new(permits), point: Point::new(kind) }
    }

    /// The semaphore of a lock for a `static`.
    pub(super) const fn const_named(kind: &'static str, permits: usize) -> Self {
        Semaphore { real: RealSemaphore::const_new(permits), point: Point::new_static(kind) }
    }

    /// Waits for permits, which the caller has to give back by [`Semaphore::give_back`]. The semaphore must
    /// not be closed.
    pub(super) async fn lock(&self, label: &'static str, count: u32, place: Place) -> bool {
        let permit = self.point.wait(label, place, self.real.acquire_many(count)).await;
        permit.map(|permit| permit.forget()).is_ok()
    }

    /// The same if there are as many permits. Says whether.
    pub(super) fn try_lock(&self, label: &'static str, count: u32, place: Place) -> bool {
        let acquire = || self.real.try_acquire_many(count).map(|permit| permit.forget()).is_ok();
        self.point.operation(label, place, acquire)
    }

    /// The only permit, if it is there; an error if the semaphore is closed.
    pub(super) fn try_lock_open(&self, label: &'static str, place: Place) -> Result<bool, ()> {
        let acquire = || match self.real.try_acquire() {
            Ok(permit) => {
                permit.forget();
                Ok(true)
            }
            Err(TryAcquireError::NoPermits) => Ok(false),
            Err(TryAcquireError::Closed) => Err(()),
        };
        self.point.operation(label, place, acquire)
    }

    /// Does something and closes the semaphore, in one step.
    pub(super) fn close_with<R>(
        &self,
        label: &'static str,
        place: Place,
        action: impl FnOnce() -> R,
    ) -> R {
        self.point.operation(label, place, || {
            let result = action();
            self.real.close();
            result
        })
    }

    /// Closes a semaphore that no other task knows.
    pub(super) fn close_silently(&self) {
        self.real.close();
    }

    /// A step that reads.
    pub(super) fn look(&self, label: &'static str, place: Place) {
        self.point.look(label, place, || {});
    }

    /// Gives permits back.
    pub(super) fn give_back(&self, label: &'static str, count: u32, place: Place) {
        self.point.operation(label, place, || self.real.add_permits(count as usize));
    }

    /// How many permits are left?
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        let count = || self.real.available_permits();
        self.point.look("available_permits", Location::caller(), count)
    }

    /// Adds permits.
    #[track_caller]
    pub fn add_permits(&self, count: usize) {
        self.point.operation("add_permits", Location::caller(), || self.real.add_permits(count));
    }

    /// Takes up to so many permits away for good. Gives how many.
    #[track_caller]
    pub fn forget_permits(&self, count: usize) -> usize {
        let forget = || self.real.forget_permits(count);
        self.point.operation("forget_permits", Location::caller(), forget)
    }

    /// Waits for a permit.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + '_ {
        self.acquire_many(1)
    }

    /// Waits for so many permits at once.
    #[track_caller]
    pub fn acquire_many(
        &self,
        count: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + '_ {
        let place = Location::caller();
        async move {
            let taken = Taken { semaphore: self, count: self.take(count, place).await? };
            Ok(SemaphorePermit { taken, place })
        }
    }

    /// Waits for permits, which the caller has to give back.
    async fn take(&self, count: u32, place: Place) -> Result<u32, AcquireError> {
        self.point.wait("acquire", place, self.real.acquire_many(count)).await?.forget();
        Ok(count)
    }

    /// A permit, if there is one.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// So many permits, if there are as many.
    #[track_caller]
    pub fn try_acquire_many(&self, count: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let place = Location::caller();
        self.try_take(count, place)?;
        Ok(SemaphorePermit { taken: Taken { semaphore: self, count }, place })
    }

    fn try_take(&self, count: u32, place: Place) -> Result<(), TryAcquireError> {
        let acquire = || self.real.try_acquire_many(count).map(|permit| permit.forget());
        self.point.operation("try_acquire", place, acquire)
    }

    /// Waits for a permit that owns the semaphore.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// Waits for so many permits, which own the semaphore.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        count: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let place = Location::caller();
        async move {
            self.take(count, place).await?;
            Ok(OwnedSemaphorePermit { taken: Taken { semaphore: self, count }, place })
        }
    }

    /// A permit that owns the semaphore, if there is one.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// So many permits, which own the semaphore, if there are as many.
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        count: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let place = Location::caller();
        self.try_take(count, place)?;
        Ok(OwnedSemaphorePermit { taken: Taken { semaphore: self, count }, place })
    }

    /// Waits for a permit on a thread that may block.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.blocking_acquire_many(1)
    }

    /// Waits for so many permits on a thread that may block.
    #[track_caller]
    pub fn blocking_acquire_many(&self, count: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        let place = Location::caller();
        if extend::under_test() {
            return crate::task::block_on(self.acquire_many(count));
        }
        self.real.blocking_acquire_many(count)?.forget();
        Ok(SemaphorePermit { taken: Taken { semaphore: self, count }, place })
    }

    /// Closes the semaphore: each task that waits for a permit, or will, gets an error.
    #[track_caller]
    pub fn close(&self) {
        self.point.operation("close", Location::caller(), || self.real.close());
    }

    /// Is the semaphore closed?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.point.look("is_closed", Location::caller(), || self.real.is_closed())
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Semaphore").finish_non_exhaustive()
    }
}

/// Permits of a semaphore that is reached in one way or another.
struct Taken<S> {
    semaphore: S,
    count: u32,
}

/// What both kinds of permits have in common.
macro_rules! permit {
    ($name:ident $(<$lifetime:lifetime>)?, $semaphore:ty) => {
        impl $(<$lifetime>)? $name $(<$lifetime>)? {
            /// Takes the permits away for good.
            pub fn forget(mut self) {
                self.taken.count = 0;
            }

            /// Adds the permits of another one.
            ///
            /// # Panics
            ///
            /// If they belong to another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                let (mine, theirs): (&Semaphore, &Semaphore) =
                    (&self.taken.semaphore, &other.taken.semaphore);
                assert!(
                    std::ptr::eq(mine, theirs),
                    "merging permits from different semaphore instances"
                );
                self.taken.count += std::mem::take(&mut other.taken.count);
            }

            /// Takes some of the permits as another one, if there are as many.
            pub fn split(&mut self, count: usize) -> Option<Self> {
                let count = u32::try_from(count).ok().filter(|&count| count <= self.taken.count)?;
                self.taken.count -= count;
                let semaphore = self.taken.semaphore.clone();
                Some($name { taken: Taken { semaphore, count }, place: self.place })
            }

            /// The number of permits.
            pub fn num_permits(&self) -> usize {
                self.taken.count as usize
            }

            /// The semaphore.
            pub fn semaphore(&self) -> &$semaphore {
                &self.taken.semaphore
            }
        }

        impl $(<$lifetime>)? Drop for $name $(<$lifetime>)? {
            fn drop(&mut self) {
                let Taken { semaphore, count } = &self.taken;
                if *count > 0 {
                    let add = || semaphore.real.add_permits(*count as usize);
                    semaphore.point.operation("release", self.place, add);
                }
            }
        }

        impl $(<$lifetime>)? fmt::Debug for $name $(<$lifetime>)? {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let permits = self.taken.count;
                formatter.debug_struct(stringify!($name)).field("permits", &permits).finish()
            }
        }
    };
}

/// Permits of a semaphore, given back when dropped.
#[must_use = "the permits are given back when this is dropped"]
pub struct SemaphorePermit<'a> {
    taken: Taken<&'a Semaphore>,
    place: Place,
}

/// Permits that own their semaphore, given back when dropped.
#[must_use = "the permits are given back when this is dropped"]
pub struct OwnedSemaphorePermit {
    taken: Taken<Arc<Semaphore>>,
    place: Place,
}

permit!(SemaphorePermit<'a>, Semaphore);
permit!(OwnedSemaphorePermit, Arc<Semaphore>);
