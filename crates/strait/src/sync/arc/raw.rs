//! Raw pointers of `Arc`, as in `std::sync`. Under test the world remembers to which count a pointer
//! belongs, from the moment it is handed out.
#![allow(unsafe_code, reason = "the callers promise what std asks for")]

use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::sync as real;

use super::{Arc, Counted, Shared, Watched};
use crate::rt::current::with;
use crate::rt::op::Place;

/// Notes to which count a pointer belongs that is handed out.
fn note<T: ?Sized>(pointer: *const T, shared: Shared) {
    if shared.epoch != 0 {
        with(|world| world.raw_arcs.insert(pointer.cast::<()>().addr(), shared));
    }
}

/// To which count a pointer belongs that was handed out. None outside of a check, or if the pointer was
/// made outside of this execution.
fn shared_of<T: ?Sized>(pointer: *const T) -> Shared {
    let known = with(|world| {
        let known = world.raw_arcs.get(&pointer.cast::<()>().addr()).copied();
        known.filter(|shared| shared.epoch == world.epoch)
    });
    known.flatten().unwrap_or(Shared::NONE)
}

impl<T> Arc<T> {
    /// A pointer to a new value that is not moved any more.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: the value is on the heap, and no `Arc` lets it be moved while it is shared; the only way
        // to it is through this pin.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }
}

impl<T: ?Sized> Arc<T> {
    /// Where the value is.
    pub fn as_ptr(this: &Self) -> *const T {
        let pointer = real::Arc::as_ptr(this.real.get());
        note(pointer, this.counted.shared);
        pointer
    }

    /// The pointer as a raw one, to be given back to [`Arc::from_raw`].
    pub fn into_raw(this: Self) -> *const T {
        let pointer = Arc::as_ptr(&this);
        std::mem::forget(this);
        pointer
    }

    /// The pointer that was given away by [`Arc::into_raw`].
    ///
    /// # Safety
    ///
    /// As for `std::sync::Arc::from_raw`: the pointer comes from [`Arc::into_raw`], and is used up by this.
    #[track_caller]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let (shared, place): (_, Place) = (shared_of(pointer), Location::caller());
        // SAFETY: the caller promises it.
        let real = Watched::new(unsafe { real::Arc::from_raw(pointer) }, shared);
        Arc { counted: Counted { shared, place }, real }
    }

    /// Adds one to the count of pointers.
    ///
    /// # Safety
    ///
    /// As for `std::sync::Arc::increment_strong_count`.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: the caller promises it; the count is not taken down.
        let this = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        std::mem::forget(Arc::clone(&this));
    }

    /// Takes one from the count of pointers.
    ///
    /// # Safety
    ///
    /// As for `std::sync::Arc::decrement_strong_count`.
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: the caller promises it.
        drop(unsafe { Arc::from_raw(pointer) });
    }
}
