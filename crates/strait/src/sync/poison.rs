//! Poisoned locks: what `Mutex` and `RwLock` have in common.

use std::sync::{LockResult, PoisonError};

/// Under test the model alone decides about poisoning.
pub(super) fn poisoned_if<A>(value: A, poisoned: bool) -> LockResult<A> {
    if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}

/// The methods of a lock with the fields `slot`, `real` and `value` that are about poisoning, and those
/// that get at its parts.
macro_rules! poison_methods {
    ($holder:literal) => {
        #[doc = concat!("Has ", $holder, " panicked while it held the lock?")]
        #[track_caller]
        pub fn is_poisoned(&self) -> bool {
            if under_test() {
                lock::is_poisoned(&self.slot, Location::caller())
            } else {
                self.real.get().is_poisoned()
            }
        }

        #[doc = concat!("Forgets that ", $holder, " has panicked while it held the lock.")]
        #[track_caller]
        pub fn clear_poison(&self) {
            self.real.get().clear_poison();
            if under_test() {
                lock::clear_poison(&self.slot, Location::caller());
            }
        }

        /// What the lock protects; no other thread can have it.
        #[track_caller]
        pub fn get_mut(&mut self) -> LockResult<&mut T> {
            let poisoned = under_test().then(|| lock::is_poisoned(&self.slot, Location::caller()));
            let poisoned = poisoned.unwrap_or(self.real.get().is_poisoned());
            poisoned_if(self.value.get_mut(), poisoned)
        }

        pub(crate) fn slot(&self) -> &Slot {
            &self.slot
        }
    };
}

pub(super) use poison_methods;
