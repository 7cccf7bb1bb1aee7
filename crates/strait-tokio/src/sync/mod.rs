//! Channels, locks and the like, as in `tokio::sync`. Each operation is a step, in which tokio's own code does
//! the work.

mod barrier;
pub mod broadcast;
mod cancellation;
mod guards;
pub mod mpsc;
mod mpsc_bounded;
mod mpsc_unbounded;
mod mutex;
pub mod notify;
mod once_cell;
pub mod oneshot;
mod rwlock;
mod rwlock_guards;
mod semaphore;
mod set_once;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use cancellation::{
    CancellationToken, DropGuard, WaitForCancellationFuture, WaitForCancellationFutureOwned,
};
pub use mutex::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError,
};
pub use notify::Notify;
pub use once_cell::{OnceCell, SetError};
pub use rwlock::RwLock;
pub use rwlock_guards::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
pub use set_once::{SetOnce, SetOnceError};
pub use tokio::sync::{AcquireError, TryAcquireError};

/// Named futures of this module.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}
