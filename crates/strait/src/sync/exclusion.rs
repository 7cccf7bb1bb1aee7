//! The real locks beneath `Mutex` and `RwLock`, apart from what they protect.
//!
//! Under test the model decides who has a lock, and the real one is taken as well, so that threads which
//! are not under test are kept out. A thread that is abandoned with its execution never gives a lock back.
//! If the lock outlives the execution, as a static does, it is made free by force.
#![allow(
    unsafe_code,
    reason = "a real lock is replaced by a free one when the thread that has it will never come back"
)]

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync as real;

/// A real lock that can be made free by force.
pub(crate) struct Exclusion<L>(UnsafeCell<L>);

// SAFETY: the lock is reached by shared references only, except in `free_by_force`.
unsafe impl<L: Sync> Sync for Exclusion<L> {}

impl<L> Exclusion<L> {
    pub(super) const fn new(lock: L) -> Self {
        Exclusion(UnsafeCell::new(lock))
    }

    pub(super) fn get(&self) -> &L {
        // SAFETY: shared access; see `free_by_force` for the exception.
        unsafe { &*self.0.get() }
    }
}

pub(super) type RealMutex = Exclusion<real::Mutex<()>>;
pub(super) type RealRwLock = Exclusion<real::RwLock<()>>;

/// A real lock that a thread under test has, and that was not made by its execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    Mutex(NonNull<RealMutex>),
    RwLock(NonNull<RealRwLock>),
}

impl Taken {
    pub(super) fn mutex(lock: &RealMutex) -> Taken {
        Taken::Mutex(NonNull::from(lock))
    }

    pub(super) fn rwlock(lock: &RealRwLock) -> Taken {
        Taken::RwLock(NonNull::from(lock))
    }

    /// Makes the lock free, although the guard of an abandoned thread still borrows it.
    pub(crate) fn free_by_force(self) {
        // SAFETY: the guard on the stack of the abandoned thread borrows the lock, so the lock is there.
        // No thread under test waits for a real lock, since the model has given it to one thread alone.
        unsafe {
            match self {
                Taken::Mutex(lock) => lock.as_ref().0.get().write(real::Mutex::new(())),
                Taken::RwLock(lock) => lock.as_ref().0.get().write(real::RwLock::new(())),
            }
        }
    }
}
