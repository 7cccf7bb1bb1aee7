//! Synchronisation, as in `std::sync`.

mod arc;
pub mod atomic;
mod barrier;
mod condvar;
mod exclusion;
pub mod mpsc;
mod mutex;
mod once;
mod poison;
mod rwlock;

pub(crate) use arc::Shared as SharedCount;
pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub(crate) use exclusion::Taken;
pub use mutex::{Mutex, MutexGuard};
pub use once::{LazyLock, Once, OnceLock, OnceState};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
