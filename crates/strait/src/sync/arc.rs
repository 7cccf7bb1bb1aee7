//! `Arc` and `Weak`, as in `std::sync`, with a leak check: an execution whose `Arc`s are not all
//! dropped at its end fails. Cloning and dropping are no steps, unless the program asks about other
//! pointers (`strong_count`, `try_unwrap`, `upgrade` and the like), or dropping a value makes steps,
//! which the thread that drops the last pointer makes: then their order can be told. The same holds for
//! `Weak`s, if the program asks about those (`weak_count`, `get_mut`, `make_mut`).

mod raw;

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

/// The real pointer. Notes whether dropping the value makes steps, and the last one that is dropped sees
/// what happened before the others were.
struct Watched<T: ?Sized>(Option<real::Arc<T>>, Shared);

impl<T: ?Sized> Watched<T> {
    #[inline]
    fn new(real: real::Arc<T>, shared: Shared) -> Self {
        Watched(Some(real), shared)
    }

    /// The pointer, which is there until it is dropped or taken away.
    #[inline]
    fn get(&self) -> &real::Arc<T> {
        match &self.0 {
            Some(real) => real,
            None => unreachable!("there is no pointer that was taken away"),
        }
    }

    /// Takes the pointer away.
    fn take(mut self) -> real::Arc<T> {
        match self.0.take() {
            Some(real) => real,
            None => unreachable!("there is no pointer that was taken away"),
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
            self.1.acquire();
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
        with(|world| world.want(Feature::Arcs));
    }
}

/// A pointer that does not keep its value.
pub struct Weak<T: ?Sized> {
    shared: Shared,
    place: Place,
    real: real::Weak<T>,
}

/// Which pointers belong together, in an execution under test.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    epoch: u64,
    /// The object that stands for the count, if it is needed; 0 otherwise.
    object: u32,
}

impl Shared {
    const NONE: Shared = Shared { epoch: 0, object: 0 };

    #[inline]
    fn new(place: Place) -> Self {
        let shared = with(|world| {
            let features = world.features;
            let needed = [Feature::Arcs, Feature::Weaks, Feature::Clocks];
            let needed = needed.iter().any(|feature| features.has(*feature));
            let object = if needed { world.create("Arc", 0, 0, place) } else { 0 };
            Shared { epoch: world.epoch, object }
        });
        shared.unwrap_or(Shared::NONE)
    }

    /// Does an object of this execution stand for the count?
    #[inline]
    fn is_modelled(self) -> bool {
        self.object != 0 && with(|world| world.epoch == self.epoch) == Some(true)
    }

    /// Changes the count, or looks at it: a step, if that can be told. By itself it orders nothing.
    #[inline]
    fn step(self, changes: bool, label: &'static str, place: Place) {
        if self.is_modelled() {
            self.count_step(changes, label, place);
        }
    }

    #[cold]
    fn count_step(self, changes: bool, label: &'static str, place: Place) {
        if with(|world| world.features.has(Feature::Arcs)) == Some(true) {
            let access = if changes { writes(self.object) } else { reads(self.object) };
            point_at(access, label, place);
        }
    }

    /// The thread has got the value for itself, or a pointer from a `Weak`: it sees what happened before
    /// other pointers were dropped.
    #[inline]
    fn acquire(self) {
        if self.is_modelled() {
            with(|world| world.acquire(self.object));
        }
    }

    /// The thread gives its pointer up.
    #[inline]
    fn release(self) {
        if self.is_modelled() {
            with(|world| world.release(self.object));
        }
    }

    /// The program asks about other pointers to the same value.
    fn asks(self, changes: bool, label: &'static str, place: Place) {
        with(|world| world.want(Feature::Arcs));
        self.step(changes, label, place);
    }

    /// The program asks about all pointers to the same value, `Weak`s included.
    fn asks_about_weak(self, changes: bool, label: &'static str, place: Place) {
        with(|world| world.want(Feature::Weaks));
        self.asks(changes, label, place);
    }

    /// Makes or drops a `Weak`: a step, if that can be told.
    #[inline]
    fn weak_step(self, label: &'static str, place: Place) {
        if self.object != 0 {
            let told =
                with(|world| world.epoch == self.epoch && world.features.has(Feature::Weaks));
            if told == Some(true) {
                point_at(writes(self.object), label, place);
            }
        }
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
            self.shared.release();
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
        Arc::counted(real::Arc::new(value), Shared::new(place), place)
    }

    /// A pointer to a new value that knows how to find itself.
    #[track_caller]
    pub fn new_cyclic(make: impl FnOnce(&Weak<T>) -> T) -> Self {
        let place = Location::caller();
        let shared = Shared::new(place);
        let make = |weak: &real::Weak<T>| make(&Weak { shared, place, real: weak.clone() });
        let real = real::Arc::new_cyclic(make);
        Arc::counted(real, shared, place)
    }

    /// The value, if this is the only pointer to it; otherwise a copy.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }

    /// The value to be changed, of which this becomes the only owner by copying it if need be.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        this.counted.shared.asks_about_weak(true, "make_mut", Location::caller());
        if this.real.0.as_mut().is_none_or(|real| real::Arc::get_mut(real).is_none()) {
            *this = Arc::new((**this).clone());
        }
        this.counted.shared.acquire();
        match this.real.0.as_mut().and_then(real::Arc::get_mut) {
            Some(value) => value,
            None => unreachable!("no other thread has the new pointer"),
        }
    }

    /// The value, if this is the only pointer to it.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        let Arc { counted, real } = this;
        counted.shared.asks(true, "try_unwrap", Location::caller());
        match real::Arc::try_unwrap(real.take()) {
            Ok(value) => {
                counted.shared.acquire();
                counted.gone();
                Ok(value)
            }
            Err(real) => {
                let real = Watched::new(real, counted.shared);
                Err(Arc { counted, real })
            }
        }
    }

    /// The value, if this is the last pointer to it.
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        let Arc { counted, real } = this;
        counted.shared.asks(true, "into_inner", Location::caller());
        let value = real::Arc::into_inner(real.take());
        match value {
            Some(_) => counted.shared.acquire(),
            None => counted.shared.release(),
        }
        counted.gone();
        value
    }
}

impl<T: ?Sized> Arc<T> {
    /// The same for a pointer of `std`, which can be one to an unsized value.
    #[track_caller]
    pub fn from_std(real: real::Arc<T>) -> Self {
        let place = Location::caller();
        Arc::counted(real, Shared::new(place), place)
    }

    /// One more pointer.
    #[inline]
    fn counted(real: real::Arc<T>, shared: Shared, place: Place) -> Self {
        Arc { counted: Counted::new(shared, place), real: Watched::new(real, shared) }
    }

    /// How many pointers there are that do not keep the value.
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        this.counted.shared.asks_about_weak(false, "weak_count", Location::caller());
        real::Arc::weak_count(this.real.get())
    }

    /// The value, if this is the only pointer to it.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let shared = this.counted.shared;
        shared.asks_about_weak(false, "get_mut", Location::caller());
        this.real.0.as_mut().and_then(real::Arc::get_mut).inspect(|_| shared.acquire())
    }

    /// How many pointers there are to the value.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.counted.shared.asks(false, "strong_count", Location::caller());
        real::Arc::strong_count(this.real.get())
    }

    /// A pointer that does not keep the value.
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        let (shared, place) = (this.counted.shared, Location::caller());
        shared.weak_step("downgrade", place);
        Weak { shared, place, real: real::Arc::downgrade(this.real.get()) }
    }

    /// Do both point to the same value?
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        real::Arc::ptr_eq(this.real.get(), other.real.get())
    }
}

impl<T> Weak<T> {
    /// A pointer to nothing.
    #[track_caller]
    pub fn new() -> Self {
        Weak { shared: Shared::NONE, place: Location::caller(), real: real::Weak::new() }
    }
}

impl<T: ?Sized> Weak<T> {
    /// A pointer that keeps the value, if it is still there.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let place = Location::caller();
        self.shared.asks(true, "upgrade", place);
        let real = self.real.upgrade()?;
        self.shared.acquire();
        Some(Arc::counted(real, self.shared, place))
    }

    /// How many pointers keep the value.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.shared.asks(false, "strong_count", Location::caller());
        self.real.strong_count()
    }

    /// Do both point to the same value?
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.real.ptr_eq(&other.real)
    }
}

impl<T> Default for Weak<T> {
    #[track_caller]
    fn default() -> Self {
        Weak::new()
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let (shared, place) = (self.shared, Location::caller());
        shared.weak_step("clone", place);
        Weak { shared, place, real: self.real.clone() }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[inline]
    fn drop(&mut self) {
        self.shared.weak_step("drop", self.place);
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
        Arc::counted(self.real.get().clone(), shared, place)
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
    #[track_caller]
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

impl<T: ?Sized> std::borrow::Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

macro_rules! from_parts {
    ($(($($generic:ident)?) $parts:ty => $whole:ty;)*) => {$(
        impl$(<$generic>)? From<$parts> for Arc<$whole> {
            #[track_caller]
            fn from(parts: $parts) -> Self {
                Arc::from_std(parts.into())
            }
        }
    )*};
}

from_parts! {
    () &str => str;
    () String => str;
    (T) Vec<T> => [T];
    (T) Box<[T]> => [T];
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Arc::from_std(values.into_iter().collect())
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + std::hash::Hash> std::hash::Hash for Arc<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
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
