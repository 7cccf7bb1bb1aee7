//! Synchronisation, as in `std::sync`.

pub mod atomic;
mod notify;

pub use notify::Notify;
pub use std::sync::{LockResult, TryLockResult};
pub use strait::sync::{
    Arc, Barrier, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    WaitTimeoutResult,
};

/// Channels, as in `std::sync::mpsc`.
pub mod mpsc {
    pub use strait::sync::mpsc::{Receiver, Sender, channel};
}
