//! `Arc` and `Weak`, as in `std::sync`, with a leak check: an execution whose `Arc`s are not all
//! dropped at its end fails. Cloning and dropping are no steps, unless the program asks about other
//! pointers (`strong_count`, `try_unwrap`, `upgrade` and the like), or dropping a value makes steps,
//! which whoever drops the last pointer makes: then their order can be told.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync as real;

use crate::rt::current::{under_test, with};
use crate::rt::features::Feature;
use crate::rt::op::{Place, reads, writes};
use crate::rt::schedule::point_at;

/// A reference-counted pointer.
pub struct Arc<T: ?Sized> {
    // Dropped first: if that is a step, it is made before the pointer goes.
    counted: Counted,
    real: Watched<T>,
}

/// The real pointer. Notes whether dropping the value makes steps.
struct Watched<T: ?Sized>(Option<real::Arc<T>>);

impl<T: ?Sized> Watched<T> {
    #[inline]
    fn new(real: real::Arc<T>) -> Self {
        Watched(Some(real))
    }

    /// The pointer, which is there until it is dropped or taken away.
    #[inline]
    fn get(&self) -> &real::Arc<T> {
        match &self.0 {
            Some(real) => real,
            None => unreachable!("nobody has a pointer that was taken away"),
        }
    }

    /// Takes the pointer away.
    fn take(mut self) -> real::Arc<T> {
        match self.0.take() {
            Some(real) => real,
            None => unreachable!("nobody has a pointer that was taken away"),
        }
    }
}

impl<T: ?Sized> Drop for Watched<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(real) = self.0.take()
            && under_test()
            && real::Arc::strong_count(&real) == 1
        {
            drop_watched(real);
        }
    }
}

/// Drops the last pointer to a value.
fn drop_watched<T: ?Sized>(real: real::Arc<T>) {
    let steps = || with(|world| world.me().events);
    let before = steps();
    drop(real);
    if steps() != before {
        with(|world| world.features.want(Feature::Arcs));
    }
}

/// A pointer that does not keep its value.
pub struct Weak<T: ?Sized> {
    shared: Shared,
    real: real::Weak<T>,
}

/// Which pointers belong together, in an execution under test.
#[derive(Clone, Copy)]
struct Shared {
    epoch: u32,
    /// The object that stands for the count, if anybody needs it; 0 otherwise.
    object: u32,
}

impl Shared {
    const NONE: Shared = Shared { epoch: 0, object: 0 };

    #[inline]
    fn new(place: Place) -> Self {
        let shared = with(|world| {
            let features = world.features;
            let needed = features.has(Feature::Arcs) || features.has(Feature::Clocks);
            let object = if needed { world.create("Arc", 0, 0, place) } else { 0 };
            Shared { epoch: world.epoch, object }
        });
        shared.unwrap_or(Shared::NONE)
    }

    /// Changes the count, or looks at it: a step, if that can be told. Whoever does it sees what
    /// others did before they did it.
    #[inline]
    fn step(self, changes: bool, label: &'static str, place: Place) {
        if self.object != 0 && with(|world| world.epoch == self.epoch) == Some(true) {
            self.synchronise(changes, label, place);
        }
    }

    #[cold]
    fn synchronise(self, changes: bool, label: &'static str, place: Place) {
        if with(|world| world.features.has(Feature::Arcs)) == Some(true) {
            let access = if changes { writes(self.object) } else { reads(self.object) };
            point_at(access, label, place);
        }
        with(|world| {
            world.clocks.acquire(world.current, self.object);
            if changes {
                world.clocks.release(world.current, self.object);
            }
        });
    }

    /// The program asks about other pointers to the same value.
    fn asks(self, changes: bool, label: &'static str, place: Place) {
        with(|world| world.features.want(Feature::Arcs));
        self.step(changes, label, place);
    }

    fn count(self, change: i64) {
        if self.epoch != 0 {
            with(|world| {
                if world.epoch == self.epoch {
                    world.ending.arcs += change;
                }
            });
        }
    }
}

/// One reference of an execution under test; nothing otherwise.
struct Counted {
    shared: Shared,
    place: Place,
}

impl Counted {
    #[inline]
    fn new(shared: Shared, place: Place) -> Self {
        shared.count(1);
        Counted { shared, place }
    }

    /// The reference is gone, and no step is to be made of that.
    fn gone(self) {
        self.shared.count(-1);
        std::mem::forget(self);
    }
}

impl Drop for Counted {
    #[inline]
    fn drop(&mut self) {
        if self.shared.epoch != 0 {
            self.shared.step(true, "drop", self.place);
            self.shared.count(-1);
        }
    }
}

impl<T> Arc<T> {
    /// A pointer to a new value.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        let place = Location::caller();
        let counted = Counted::new(Shared::new(place), place);
        Arc { counted, real: Watched::new(real::Arc::new(value)) }
    }

    /// The value, if this is the only pointer to it.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        let Arc { counted, real } = this;
        counted.shared.asks(true, "try_unwrap", Location::caller());
        match real::Arc::try_unwrap(real.take()) {
            Ok(value) => {
                counted.gone();
                Ok(value)
            }
            Err(real) => Err(Arc { counted, real: Watched::new(real) }),
        }
    }

    /// The value, if this is the last pointer to it.
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        let Arc { counted, real } = this;
        counted.shared.asks(true, "into_inner", Location::caller());
        let value = real::Arc::into_inner(real.take());
        counted.gone();
        value
    }
}

impl<T: ?Sized> Arc<T> {
    /// The value, if this is the only pointer to it.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.counted.shared.asks(false, "get_mut", Location::caller());
        this.real.0.as_mut().and_then(real::Arc::get_mut)
    }

    /// How many pointers there are to the value.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.counted.shared.asks(false, "strong_count", Location::caller());
        real::Arc::strong_count(this.real.get())
    }

    /// A pointer that does not keep the value.
    pub fn downgrade(this: &Self) -> Weak<T> {
        Weak { shared: this.counted.shared, real: real::Arc::downgrade(this.real.get()) }
    }

    /// Do both point to the same value?
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        real::Arc::ptr_eq(this.real.get(), other.real.get())
    }
}

impl<T> Weak<T> {
    /// A pointer to nothing.
    pub fn new() -> Self {
        Weak { shared: Shared::NONE, real: real::Weak::new() }
    }
}

impl<T: ?Sized> Weak<T> {
    /// A pointer that keeps the value, if it is still there.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let place = Location::caller();
        self.shared.asks(true, "upgrade", place);
        let real = self.real.upgrade()?;
        Some(Arc { counted: Counted::new(self.shared, place), real: Watched::new(real) })
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Weak::new()
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Self {
        Weak { shared: self.shared, real: self.real.clone() }
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(Weak)")
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[inline]
    #[track_caller]
    fn clone(&self) -> Self {
        let (shared, place) = (self.counted.shared, Location::caller());
        shared.step(true, "clone", place);
        let real = Watched::new(self.real.get().clone());
        Arc { counted: Counted::new(shared, place), real }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.real.get()
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self.real.get()
    }
}

impl<T> From<T> for Arc<T> {
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Self {
        Arc::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.real.get(), formatter)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.real.get(), formatter)
    }
}
