//! `CRef` (Déjà Fu, Haskell 2015, section 2.1): a shared variable of any type. Reading and writing are not
//! synchronised; changing atomically and compare-and-swap with a [`Ticket`] are.
//!
//! Under test the model's value is the number of a version; the versions are kept beside it.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::rt::atomic as model;
use crate::rt::current::{under_test, with};
use crate::rt::slot::{Fresh, Slot};

/// A shared variable.
pub struct CRef<T> {
    slot: Slot,
    /// For real the last one counts; under test the model says which one does.
    versions: Mutex<Vec<Arc<T>>>,
}

/// A witness of the value that was seen.
pub struct Ticket<T> {
    version: u64,
    value: Arc<T>,
}

impl<T> Ticket<T> {
    /// The value that was seen.
    pub fn peek(&self) -> &T {
        &self.value
    }
}

impl<T> Clone for Ticket<T> {
    fn clone(&self) -> Self {
        Ticket { version: self.version, value: self.value.clone() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Ticket<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Ticket").field(&self.value).finish()
    }
}

impl<T> CRef<T> {
    /// A new variable.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let slot = Slot::new(Fresh { kind: "CRef", open: 0, value: 0 });
        CRef { slot, versions: Mutex::new(vec![Arc::new(value)]) }
    }

    fn versions(&self) -> MutexGuard<'_, Vec<Arc<T>>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a version; gives its number.
    fn keep(&self, value: Arc<T>) -> u64 {
        let mut versions = self.versions();
        versions.push(value);
        versions.len() as u64 - 1
    }

    fn version(&self, number: u64) -> Arc<T> {
        let versions = self.versions();
        let last = versions.len() - 1;
        versions[(number as usize).min(last)].clone()
    }

    /// For real only the last version is kept; its number grows all the same.
    fn replace(&self, change: impl FnOnce(&Ticket<T>) -> Option<Arc<T>>) -> (bool, Ticket<T>) {
        let mut versions = self.versions();
        let current = Ticket { version: 0, value: versions[0].clone() };
        match change(&current) {
            None => (false, current),
            Some(value) => {
                versions[0] = value.clone();
                (true, Ticket { version: 0, value })
            }
        }
    }

    /// Writes, not synchronised: other threads may see it late.
    #[track_caller]
    pub fn write(&self, value: T) {
        self.store(value, Ordering::Relaxed, Location::caller());
    }

    /// Writes so that all threads see it at once.
    #[track_caller]
    pub fn atomic_write(&self, value: T) {
        self.store(value, Ordering::SeqCst, Location::caller());
    }

    fn store(&self, value: T, order: Ordering, place: &'static Location<'static>) {
        let value = Arc::new(value);
        if under_test() {
            let version = self.keep(value);
            model::store(&self.slot, 0, version, order, place);
        } else {
            self.replace(|_| Some(value));
        }
    }

    /// A witness of the current value, for [`CRef::cas`].
    #[track_caller]
    pub fn read_for_cas(&self) -> Ticket<T> {
        if !under_test() {
            return self.replace(|_| None).1;
        }
        let version = model::load(&self.slot, 0, Ordering::Relaxed, Location::caller());
        Ticket { version, value: self.version(version) }
    }

    /// Writes if the variable was not written since the witness was made. Says whether, and gives a
    /// witness of the value now.
    #[track_caller]
    pub fn cas(&self, ticket: &Ticket<T>, value: T) -> (bool, Ticket<T>) {
        let value = Arc::new(value);
        if !under_test() {
            // A value that is the same allocation was not replaced: the witness keeps it alive.
            let same = |current: &Ticket<T>| Arc::ptr_eq(&current.value, &ticket.value);
            return self.replace(|current| same(current).then_some(value));
        }
        let version = self.keep(value);
        let place = Location::caller();
        let (success, failure) = (Ordering::SeqCst, Ordering::SeqCst);
        let swapped = if with(|world| world.is_relaxed()) == Some(true) {
            let (expected, new) = (ticket.version, version);
            let change = model::Change { expected, new, success, failure, weak: false };
            model::compare_exchange(&self.slot, 0, change, place)
        } else {
            let swap = |old| (old == ticket.version).then_some(version);
            model::update(&self.slot, 0, (success, failure), "cas", place, swap)
        };
        let (done, now) = match swapped {
            Ok(_) => (true, version),
            Err(old) => (false, old),
        };
        (done, Ticket { version: now, value: self.version(now) })
    }

    /// Changes the value in one step. Gives the second part of what `change` gave.
    #[track_caller]
    pub fn modify<R>(&self, change: impl FnOnce(&T) -> (T, R)) -> R {
        let mut result = None;
        let apply = |old: &T| {
            let (new, part) = change(old);
            result = Some(part);
            Arc::new(new)
        };
        if under_test() {
            let place = Location::caller();
            let order = (Ordering::SeqCst, Ordering::SeqCst);
            let next = self.versions().len() as u64;
            let old = model::update(&self.slot, 0, order, "modify", place, |_| Some(next));
            // The version is made after the step: its number was reserved by no other thread, because
            // no thread runs between the step and here.
            let reserved = self.versions().len() as u64;
            let new = apply(&self.version(old.unwrap_or(0)));
            self.keep(new);
            model::set_version(&self.slot, reserved, place);
        } else {
            self.replace(|current| Some(apply(&current.value)));
        }
        match result {
            Some(result) => result,
            None => unreachable!("the change was applied"),
        }
    }

    /// As [`CRef::modify`], by compare-and-swap.
    #[track_caller]
    pub fn modify_cas<R>(&self, mut change: impl FnMut(&T) -> (T, R)) -> R {
        let mut ticket = self.read_for_cas();
        loop {
            let (new, result) = change(ticket.peek());
            let (done, now) = self.cas(&ticket, new);
            if done {
                return result;
            }
            ticket = now;
        }
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl<T: Clone> CRef<T> {
    /// Reads, not synchronised: the value may be old.
    #[track_caller]
    pub fn read(&self) -> T {
        self.read_for_cas().peek().clone()
    }
}

impl<T> fmt::Debug for CRef<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CRef").finish_non_exhaustive()
    }
}
