//! Memory that is checked for leaks under test, in the manner of loom: what an execution allocates here
//! and does not free makes it fail, as a `strait::sync::Arc` does that is never dropped.
#![allow(unsafe_code, reason = "allocating and freeing is up to the caller, as in `std::alloc`")]

pub use std::alloc::Layout;

use crate::rt::current::with;

/// One allocation of an execution under test; nothing otherwise.
#[derive(Debug)]
struct Counted {
    epoch: u64,
}

impl Counted {
    fn new() -> Self {
        let epoch = with(|world| {
            world.ending.arcs += 1;
            world.epoch
        });
        Counted { epoch: epoch.unwrap_or(0) }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        with(|world| {
            if world.epoch == self.epoch {
                world.ending.arcs -= 1;
            }
        });
    }
}

/// Allocates memory.
///
/// # Safety
///
/// As for `std::alloc::alloc`.
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: the caller promises it.
    noted(unsafe { std::alloc::alloc(layout) })
}

/// Allocates memory that is zero.
///
/// # Safety
///
/// As for `std::alloc::alloc_zeroed`.
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: the caller promises it.
    noted(unsafe { std::alloc::alloc_zeroed(layout) })
}

/// Frees memory.
///
/// # Safety
///
/// As for `std::alloc::dealloc`.
///
/// # Panics
///
/// Under test, if the memory was not allocated by [`alloc`] or [`alloc_zeroed`] in this execution, or was
/// freed already.
pub unsafe fn dealloc(pointer: *mut u8, layout: Layout) {
    let known = with(|world| {
        let known = world.allocations.remove(&pointer.addr());
        world.ending.arcs -= i64::from(known);
        known
    });
    if known == Some(false) {
        panic!("memory is freed that was not allocated by `strait::alloc` in this execution");
    }
    // SAFETY: the caller promises it.
    unsafe { std::alloc::dealloc(pointer, layout) }
}

fn noted(pointer: *mut u8) -> *mut u8 {
    if !pointer.is_null() {
        with(|world| {
            world.allocations.insert(pointer.addr());
            world.ending.arcs += 1;
        });
    }
    pointer
}

/// A value whose leak makes an execution under test fail.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    _counted: Counted,
}

impl<T> Track<T> {
    /// Begins to track a value.
    pub fn new(value: T) -> Track<T> {
        Track { value, _counted: Counted::new() }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value, to be changed.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value, which is not tracked any more.
    pub fn into_inner(self) -> T {
        self.value
    }
}
