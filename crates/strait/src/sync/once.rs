//! `Once`, `OnceLock` and `LazyLock`, as in `std::sync`.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::{self as real, Mutex, PoisonError};

use crate::rt::current::{under_test, with};
use crate::rt::op::{Op, Place};
use crate::rt::schedule::{drain, point};
use crate::rt::slot::{Fresh, Slot};

/// Nobody is initialising.
const FREE: u8 = 1;
/// Initialisation is over.
const DONE: u8 = 2;

/// The model of something that happens once.
struct Happens {
    slot: Slot,
}

/// Marks the end of an initialisation, however it ends.
struct Ends {
    object: u32,
    place: Place,
    done: bool,
}

impl Drop for Ends {
    fn drop(&mut self) {
        drain(None, self.place);
        point(Op::write(self.object, "initialised", self.place));
        let done = if self.done { DONE } else { 0 };
        with(|world| {
            world.clocks.release(world.current, self.object);
            world.object(self.object).open = FREE | done;
        });
    }
}

impl Happens {
    #[track_caller]
    fn new(kind: &'static str) -> Self {
        Happens { slot: Slot::new(Fresh { kind, open: FREE, value: 0 }) }
    }

    const fn new_static() -> Self {
        Happens { slot: Slot::unnamed() }
    }

    fn find(&self, kind: &'static str, done: bool, place: Place) -> u32 {
        let open = if done { FREE | DONE } else { FREE };
        let fresh = || Fresh { kind, open, value: 0 };
        with(|world| self.slot.find(world, fresh, place).0).unwrap_or(0)
    }

    /// Has it happened?
    fn is_done(&self, kind: &'static str, done: bool, place: Place) -> bool {
        let object = self.find(kind, done, place);
        point(Op::read(object, "get", place));
        with(|world| {
            world.clocks.acquire(world.current, object);
            world.object(object).open & DONE != 0
        })
        .unwrap_or(false)
    }

    /// Waits until it has happened.
    fn wait(&self, kind: &'static str, done: bool, place: Place) {
        drain(None, place);
        let object = self.find(kind, done, place);
        point(Op::gated_read(object, DONE, "wait", place));
        with(|world| world.clocks.acquire(world.current, object));
    }

    /// Performs the initialisation unless it has happened; waits while another thread does.
    fn perform<E>(
        &self,
        kind: &'static str,
        done: bool,
        place: Place,
        initialise: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        drain(None, place);
        let object = self.find(kind, done, place);
        point(Op::gated(object, FREE, "get or initialise", place));
        let first = with(|world| {
            world.clocks.acquire(world.current, object);
            let first = world.object(object).open & DONE == 0;
            if first {
                world.object(object).open = 0;
            }
            first
        });
        if first == Some(true) {
            let mut ends = Ends { object, place, done: false };
            initialise()?;
            ends.done = true;
        }
        Ok(())
    }
}

/// A cell that is written once.
pub struct OnceLock<T> {
    happens: Happens,
    real: real::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// An empty cell.
    #[track_caller]
    pub fn new() -> Self {
        OnceLock { happens: Happens::new("OnceLock"), real: real::OnceLock::new() }
    }

    /// An empty cell for a `static`. What is written into it stays from one execution to the next.
    pub const fn new_static() -> Self {
        OnceLock { happens: Happens::new_static(), real: real::OnceLock::new() }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let value = self.real.get();
        if under_test() {
            let place = Location::caller();
            let done = self.happens.is_done("OnceLock", value.is_some(), place);
            return if done { self.real.get() } else { None };
        }
        value
    }

    /// Writes the value, or gives it back if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| match value.take() {
            Some(value) => value,
            None => unreachable!("a closure that is called once"),
        });
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// The value, made now if there is none.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if !under_test() {
            return self.real.get_or_init(make);
        }
        let place = Location::caller();
        let done = self.real.get().is_some();
        let made: Result<(), std::convert::Infallible> =
            self.happens.perform("OnceLock", done, place, || {
                // A value that is there already was left by an execution that was torn down.
                let _ = self.real.set(make());
                Ok(())
            });
        let Ok(()) = made;
        match self.real.get() {
            Some(value) => value,
            None => crate::rt::lock::gone(),
        }
    }

    /// Waits until there is a value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        if !under_test() {
            return self.real.wait();
        }
        self.happens.wait("OnceLock", self.real.get().is_some(), Location::caller());
        match self.real.get() {
            Some(value) => value,
            None => crate::rt::lock::gone(),
        }
    }

    /// Takes the value away, which nobody else can access.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }

    /// The value, which nobody else can access.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.real.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        self.real.into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let cell = OnceLock::new();
        let _ = cell.set(value);
        cell
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.real, formatter)
    }
}

/// A value that is made when it is first used.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    make: Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value to be made by this.
    #[track_caller]
    pub fn new(make: F) -> Self {
        LazyLock { cell: OnceLock::new(), make: Mutex::new(Some(make)) }
    }

    /// A value to be made by this, for a `static`.
    pub const fn new_static(make: F) -> Self {
        LazyLock { cell: OnceLock::new_static(), make: Mutex::new(Some(make)) }
    }

    /// The value.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.cell.get_or_init(|| {
            let make = this.make.lock().unwrap_or_else(PoisonError::into_inner).take();
            match make {
                Some(make) => make(),
                None => panic!("LazyLock instance has previously been poisoned"),
            }
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> Self {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.cell, formatter)
    }
}

/// How a [`Once`] was found.
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Has an earlier action panicked?
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

/// Something that happens once.
pub struct Once {
    cell: OnceLock<()>,
    poisoned: real::atomic::AtomicBool,
}

impl Once {
    /// Something that has not happened.
    #[track_caller]
    pub fn new() -> Self {
        Once { cell: OnceLock::new(), poisoned: real::atomic::AtomicBool::new(false) }
    }

    /// Something that has not happened, for a `static`.
    pub const fn new_static() -> Self {
        Once { cell: OnceLock::new_static(), poisoned: real::atomic::AtomicBool::new(false) }
    }

    /// Performs the action unless one was performed already. Panics if that one panicked.
    #[track_caller]
    pub fn call_once(&self, action: impl FnOnce()) {
        self.cell.get_or_init(|| {
            if self.poisoned.swap(true, real::atomic::Ordering::Relaxed) {
                panic!("Once instance has previously been poisoned");
            }
            action();
            self.poisoned.store(false, real::atomic::Ordering::Relaxed);
        });
    }

    /// Performs the action unless one was performed already and did not panic.
    #[track_caller]
    pub fn call_once_force(&self, action: impl FnOnce(&OnceState)) {
        self.cell.get_or_init(|| {
            let poisoned = self.poisoned.swap(true, real::atomic::Ordering::Relaxed);
            action(&OnceState { poisoned });
            self.poisoned.store(false, real::atomic::Ordering::Relaxed);
        });
    }

    /// Has it happened?
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.cell.get().is_some()
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Self {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Once").finish_non_exhaustive()
    }
}
