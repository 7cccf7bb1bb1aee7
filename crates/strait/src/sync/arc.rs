//! `Arc`, as in `std::sync`, with a leak check: an execution whose `Arc`s are not all dropped at its
//! end fails. Cloning and dropping are not steps; nobody can tell their order.

use std::fmt;
use std::ops::Deref;
use std::sync as real;

use crate::rt::current::with;

/// A reference-counted pointer.
pub struct Arc<T: ?Sized> {
    real: real::Arc<T>,
    counted: Counted,
}

/// One reference of an execution under test; nothing otherwise.
struct Counted {
    epoch: u32,
}

impl Counted {
    #[inline]
    fn new() -> Self {
        let epoch = with(|world| {
            world.ending.arcs += 1;
            world.epoch
        });
        Counted { epoch: epoch.unwrap_or(0) }
    }
}

impl Drop for Counted {
    #[inline]
    fn drop(&mut self) {
        if self.epoch != 0 {
            with(|world| {
                if world.epoch == self.epoch {
                    world.ending.arcs -= 1;
                }
            });
        }
    }
}

impl<T> Arc<T> {
    /// A pointer to a new value.
    #[inline]
    pub fn new(value: T) -> Self {
        Arc { real: real::Arc::new(value), counted: Counted::new() }
    }

    /// The value, if this is the only pointer to it.
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        let Arc { real, counted } = this;
        real::Arc::try_unwrap(real).map_err(|real| Arc { real, counted })
    }

    /// The value, if this is the last pointer to it.
    pub fn into_inner(this: Self) -> Option<T> {
        real::Arc::into_inner(this.real)
    }
}

impl<T: ?Sized> Arc<T> {
    /// The value, if this is the only pointer to it.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        real::Arc::get_mut(&mut this.real)
    }

    /// How many pointers there are to the value.
    pub fn strong_count(this: &Self) -> usize {
        real::Arc::strong_count(&this.real)
    }

    /// Do both point to the same value?
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        real::Arc::ptr_eq(&this.real, &other.real)
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[inline]
    fn clone(&self) -> Self {
        Arc { real: real::Arc::clone(&self.real), counted: Counted::new() }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.real
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        &self.real
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
        fmt::Debug::fmt(&self.real, formatter)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.real, formatter)
    }
}
