//! `Once`, `OnceLock` and `LazyLock`, as in `std::sync`.
//!
//! Those that are made by `new_static` outlive executions, but what was made under test does not: each
//! execution finds them as they are for real, which is usually empty.
#![allow(
    unsafe_code,
    reason = "values of executions that are over are never freed, so references last"
)]

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{self as real, Mutex, PoisonError};

use crate::rt::current::{under_test, with};
use crate::rt::op::{Op, Place};
use crate::rt::schedule::{drain, point};
use crate::rt::slot::{Fresh, Slot};

/// No thread is initialising.
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
            world.release(self.object);
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
            world.acquire(object);
            world.object(object).open & DONE != 0
        })
        .unwrap_or(false)
    }

    /// Waits until it has happened.
    fn wait(&self, kind: &'static str, done: bool, place: Place) {
        drain(None, place);
        let object = self.find(kind, done, place);
        point(Op::gated_read(object, DONE, "wait", place));
        with(|world| world.acquire(object));
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
            world.acquire(object);
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
    /// The value of the current execution, if the cell was not made by it. Code that has got a reference to an
    /// older one, which looks as if it lasted as long as the cell, may still have it: it is never freed.
    again: AtomicPtr<Made<T>>,
}

/// A value that an execution has made.
struct Made<T> {
    epoch: u64,
    value: T,
}

// SAFETY: as for std's `OnceLock`, of which `again` is one more.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// An empty cell.
    #[track_caller]
    pub fn new() -> Self {
        Self::with(Happens::new("OnceLock"))
    }

    /// An empty cell for a `static`. Under test, each execution finds it empty, unless it was written for
    /// real. What executions write into it is not freed.
    pub const fn new_static() -> Self {
        Self::with(Happens::new_static())
    }

    const fn with(happens: Happens) -> Self {
        let again = AtomicPtr::new(std::ptr::null_mut());
        OnceLock { happens, real: real::OnceLock::new(), again }
    }

    /// The value that the code under test has made or finds, if there is one.
    fn modelled(&self) -> Option<&T> {
        // SAFETY: what was stored there was leaked, so it is never freed.
        let made = unsafe { self.again.load(Ordering::Acquire).as_ref() };
        let epoch = with(|world| world.epoch);
        let made = made.filter(|made| Some(made.epoch) == epoch);
        made.map(|made| &made.value).or_else(|| self.real.get())
    }

    /// Writes the value that the code under test has made.
    fn set_modelled(&self, value: T) {
        if self.happens.slot.is_unnamed() {
            let epoch = with(|world| world.epoch).unwrap_or(0);
            let made = Box::leak(Box::new(Made { epoch, value }));
            self.again.store(made, Ordering::Release);
        } else {
            let _ = self.real.set(value);
        }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if under_test() {
            let place = Location::caller();
            let done = self.happens.is_done("OnceLock", self.modelled().is_some(), place);
            return self.modelled().filter(|_| done);
        }
        self.real.get()
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
        let done = self.modelled().is_some();
        let made: Result<(), std::convert::Infallible> =
            self.happens.perform("OnceLock", done, place, || {
                self.set_modelled(make());
                Ok(())
            });
        let Ok(()) = made;
        self.modelled().unwrap_or_else(|| crate::rt::lock::gone())
    }

    /// Waits until there is a value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        if !under_test() {
            return self.real.wait();
        }
        self.happens.wait("OnceLock", self.modelled().is_some(), Location::caller());
        self.modelled().unwrap_or_else(|| crate::rt::lock::gone())
    }

    /// Takes the value away, which no other thread can access.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }

    /// The value, which no other thread can access.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let epoch = with(|world| world.epoch);
        // SAFETY: what was stored there was leaked, and the cell is not borrowed elsewhere.
        let made = unsafe { self.again.load(Ordering::Acquire).as_mut() };
        match made.filter(|made| Some(made.epoch) == epoch) {
            Some(made) => Some(&mut made.value),
            None => self.real.get_mut(),
        }
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        let epoch = with(|world| world.epoch);
        let made = self.again.load(Ordering::Acquire);
        // SAFETY: what was stored there was leaked as a box, and the cell, which is not borrowed, is used up.
        let made = unsafe { made.as_ref() }
            .filter(|made| Some(made.epoch) == epoch)
            .map(|_| unsafe { Box::from_raw(made) });
        made.map(|made| made.value).or_else(|| self.real.into_inner())
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
        let mut shown = formatter.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}

/// A value that is made when it is first used.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    make: Mutex<Option<F>>,
    /// How to copy what makes the value, for executions to come.
    copy: Option<fn(&F) -> F>,
    /// The epoch of the execution in which making the value has begun and not ended well.
    begun: AtomicU64,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value to be made by this.
    #[track_caller]
    pub fn new(make: F) -> Self {
        let (cell, begun) = (OnceLock::new(), AtomicU64::new(0));
        LazyLock { cell, make: Mutex::new(Some(make)), copy: None, begun }
    }

    /// A value to be made by this, for a `static`. Under test, each execution makes it anew.
    pub const fn new_static(make: F) -> Self
    where
        F: Copy,
    {
        let copy: Option<fn(&F) -> F> = Some(|make| *make);
        let cell = OnceLock::new_static();
        LazyLock { cell, make: Mutex::new(Some(make)), copy, begun: AtomicU64::new(0) }
    }

    /// What makes the value, unless that was tried before in vain.
    fn maker(&self) -> Option<F> {
        let mut make = self.make.lock().unwrap_or_else(PoisonError::into_inner);
        match self.copy.filter(|_| under_test()) {
            Some(copy) => {
                let again = self.begun.swap(epoch(), Ordering::Relaxed) == epoch();
                make.as_ref().filter(|_| !again).map(copy)
            }
            None => make.take(),
        }
    }

    /// The value.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.cell.get_or_init(|| match this.maker() {
            Some(make) => make(),
            None => panic!("LazyLock instance has previously been poisoned"),
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
    /// When an action has panicked: the epoch of the execution, or [`FOR_REAL`]; 0 if none has.
    poisoned: AtomicU64,
}

/// Stands for the epoch of what runs for real.
const FOR_REAL: u64 = 1;

fn epoch() -> u64 {
    with(|world| world.epoch).unwrap_or(FOR_REAL)
}

impl Once {
    /// Something that has not happened.
    #[track_caller]
    pub fn new() -> Self {
        Once { cell: OnceLock::new(), poisoned: AtomicU64::new(0) }
    }

    /// Something that has not happened, for a `static`. Under test, it happens once in each execution,
    /// unless it has happened for real.
    pub const fn new_static() -> Self {
        Once { cell: OnceLock::new_static(), poisoned: AtomicU64::new(0) }
    }

    /// Performs the action unless one was performed already. Panics if that one panicked.
    #[track_caller]
    pub fn call_once(&self, action: impl FnOnce()) {
        self.cell.get_or_init(|| {
            if self.poisoned.swap(epoch(), Ordering::Relaxed) == epoch() {
                panic!("Once instance has previously been poisoned");
            }
            action();
            self.poisoned.store(0, Ordering::Relaxed);
        });
    }

    /// Performs the action unless one was performed already and did not panic.
    #[track_caller]
    pub fn call_once_force(&self, action: impl FnOnce(&OnceState)) {
        self.cell.get_or_init(|| {
            let poisoned = self.poisoned.swap(epoch(), Ordering::Relaxed) == epoch();
            action(&OnceState { poisoned });
            self.poisoned.store(0, Ordering::Relaxed);
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
