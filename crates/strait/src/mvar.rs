//! `MVar` (Déjà Fu, Haskell 2015, section 2.1, there `CVar`): a variable that is full or empty. Taking waits
//! until it is full, putting until it is empty.

use std::fmt;
use std::panic::Location;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::rt::current::{under_test, with};
use crate::rt::op::{Op, Place};
use crate::rt::schedule::{drain, point};
use crate::rt::slot::{Fresh, Slot};

const FULL: u8 = 1;
const EMPTY: u8 = 2;

/// A variable under mutual exclusion, full or empty.
pub struct MVar<T> {
    slot: Slot,
    value: Mutex<Option<T>>,
    changed: Condvar,
}

fn gates(full: bool) -> u8 {
    if full { FULL } else { EMPTY }
}

impl<T> MVar<T> {
    /// A full variable.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::with(Some(value))
    }

    /// An empty variable.
    #[track_caller]
    pub fn empty() -> Self {
        Self::with(None)
    }

    #[track_caller]
    fn with(value: Option<T>) -> Self {
        let fresh = Fresh { kind: "MVar", open: gates(value.is_some()), value: 0 };
        MVar { slot: Slot::new(fresh), value: Mutex::new(value), changed: Condvar::new() }
    }

    fn guard(&self) -> MutexGuard<'_, Option<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn object(&self, place: Place) -> u32 {
        drain(None, place);
        let full = self.guard().is_some();
        let fresh = || Fresh { kind: "MVar", open: gates(full), value: 0 };
        with(|world| self.slot.find(world, fresh, place).0).unwrap_or(0)
    }

    /// Accesses the value in a step that was announced.
    fn change<R>(&self, object: u32, change: impl FnOnce(&mut Option<T>) -> R) -> R {
        let mut value = self.guard();
        let result = change(&mut value);
        let open = gates(value.is_some());
        with(|world| {
            world.acquire(object);
            world.release(object);
            world.object(object).open = open;
        });
        result
    }

    /// Waits until the variable is full and empties it.
    #[track_caller]
    pub fn take(&self) -> T {
        if !under_test() {
            let mut value = self.guard();
            loop {
                if let Some(taken) = value.take() {
                    self.changed.notify_all();
                    return taken;
                }
                value = self.changed.wait(value).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let place = Location::caller();
        let object = self.object(place);
        point(Op::gated(object, FULL, "take", place));
        match self.change(object, Option::take) {
            Some(value) => value,
            None => crate::rt::lock::gone(),
        }
    }

    /// Waits until the variable is empty and fills it.
    #[track_caller]
    pub fn put(&self, new: T) {
        if !under_test() {
            let mut value = self.guard();
            while value.is_some() {
                value = self.changed.wait(value).unwrap_or_else(PoisonError::into_inner);
            }
            *value = Some(new);
            self.changed.notify_all();
            return;
        }
        let place = Location::caller();
        let object = self.object(place);
        point(Op::gated(object, EMPTY, "put", place));
        self.change(object, |value| *value = Some(new));
    }

    /// Empties the variable if it is full.
    #[track_caller]
    pub fn try_take(&self) -> Option<T> {
        if !under_test() {
            let taken = self.guard().take();
            self.changed.notify_all();
            return taken;
        }
        let place = Location::caller();
        let object = self.object(place);
        point(Op::write(object, "try_take", place));
        self.change(object, Option::take)
    }

    /// Fills the variable if it is empty; gives the value back otherwise.
    #[track_caller]
    pub fn try_put(&self, new: T) -> Result<(), T> {
        let fill = |value: &mut Option<T>| match value {
            Some(_) => Err(new),
            None => {
                *value = Some(new);
                Ok(())
            }
        };
        if !under_test() {
            let result = fill(&mut self.guard());
            self.changed.notify_all();
            return result;
        }
        let place = Location::caller();
        let object = self.object(place);
        point(Op::write(object, "try_put", place));
        self.change(object, fill)
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl<T: Clone> MVar<T> {
    /// Waits until the variable is full and gives its value, which stays.
    #[track_caller]
    pub fn read(&self) -> T {
        if !under_test() {
            let mut value = self.guard();
            loop {
                if let Some(seen) = &*value {
                    return seen.clone();
                }
                value = self.changed.wait(value).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let place = Location::caller();
        let object = self.object(place);
        if with(|world| world.peeks(object)) == Some(true)
            && let Some(value) = self.guard().clone()
        {
            return value;
        }
        point(Op::gated_read(object, FULL, "read", place));
        self.seen(object).unwrap_or_else(|| crate::rt::lock::gone())
    }

    /// The value, which stays, if the variable is full.
    #[track_caller]
    pub fn try_read(&self) -> Option<T> {
        if !under_test() {
            return self.guard().clone();
        }
        let place = Location::caller();
        let object = self.object(place);
        if with(|world| world.peeks(object)) == Some(true) {
            return self.guard().clone();
        }
        point(Op::read(object, "try_read", place));
        self.seen(object)
    }

    fn seen(&self, object: u32) -> Option<T> {
        with(|world| world.acquire(object));
        self.guard().clone()
    }
}

impl<T: fmt::Debug> fmt::Debug for MVar<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("MVar").field(&*self.guard()).finish()
    }
}
