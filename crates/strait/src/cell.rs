//! `UnsafeCell` whose accesses are checked under test: two that are not ordered by synchronisation,
//! and of which one writes, are a data race, which ends the execution as a fault.

use std::panic::Location;

use crate::rt::current::{under_test, with};
use crate::rt::features::Feature;
use crate::rt::slot::{Fresh, Slot};

/// Memory without synchronisation of its own.
#[derive(Debug)]
pub struct UnsafeCell<T: ?Sized> {
    slot: Slot,
    real: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A new cell.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let slot = Slot::new(Fresh { kind: "UnsafeCell", open: 0, value: 0 });
        UnsafeCell { slot, real: std::cell::UnsafeCell::new(value) }
    }

    /// A new cell for a `static`. What it holds stays from one execution to the next.
    pub const fn new_static(value: T) -> Self {
        UnsafeCell { slot: Slot::unnamed(), real: std::cell::UnsafeCell::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.real.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer that is valid during the call, if no other thread writes meanwhile.
    #[track_caller]
    pub fn with<R>(&self, access: impl FnOnce(*const T) -> R) -> R {
        self.touch(false, Location::caller());
        access(self.real.get())
    }

    /// Writes through a pointer that is valid during the call, if no other thread accesses the cell
    /// meanwhile.
    #[track_caller]
    pub fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        self.touch(true, Location::caller());
        access(self.real.get())
    }

    /// The value, which no other thread can access.
    pub fn get_mut(&mut self) -> &mut T {
        self.real.get_mut()
    }

    fn touch(&self, write: bool, place: &'static Location<'static>) {
        if under_test() {
            self.check(write, place);
        }
    }

    fn check(&self, write: bool, place: &'static Location<'static>) {
        let fresh = || Fresh { kind: "UnsafeCell", open: 0, value: 0 };
        let races = with(|world| {
            world.want(Feature::Clocks);
            let (cell, _) = self.slot.find(world, fresh, place);
            let thread = world.current;
            world.me().operated = true;
            if write {
                world.break_round();
            }
            let rival = world.clocks.touch(thread, cell, write, place)?;
            let kind = if write { "write" } else { "read" };
            let fault = format!(
                "data race on {}: {kind} by {} at {}:{}, not ordered with the access by {} at {}:{}",
                world.describe_object(cell),
                world.describe_thread(thread),
                place.file(),
                place.line(),
                world.describe_thread(rival.thread()),
                rival.place.file(),
                rival.place.line(),
            );
            world.ending.fault = Some(format!("{fault}{}", hint_about_arc()));
            Some(())
        });
        if races.flatten().is_some() {
            crate::rt::schedule::give_up();
        }
    }
}

/// A sentence about `std::sync::Arc`, if the access comes from the last drop of one: that it comes after
/// all others is known to it alone.
#[cold]
fn hint_about_arc() -> &'static str {
    let stack = std::backtrace::Backtrace::force_capture().to_string();
    // A frame is its name and, below, its place; either says whose function it is.
    let (frames, places) = (stack.lines(), stack.lines().skip(1));
    let drops = frames.zip(places).any(|(frame, place)| {
        frame.contains("drop_slow")
            && (frame.contains("sync::Arc<") || place.contains("alloc/src/sync.rs"))
    });
    if drops {
        "\nThe access is made by the last drop of a `std::sync::Arc`, and strait does not see how that \
         orders accesses. Take `strait::sync::Arc`."
    } else {
        ""
    }
}
