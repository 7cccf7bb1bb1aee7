//! `UnsafeCell` whose accesses are checked under test: two that are not ordered by synchronisation,
//! and of which one writes, are a data race, which ends the execution as a fault.

use std::panic::Location;

use crate::rt::current::{under_test, with};
use crate::rt::features::Feature;
use crate::rt::op::Place;
use crate::rt::slot::{Fresh, Slot};
use crate::rt::thread::activity;
use crate::rt::world::World;

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
        self.during(false, Location::caller(), || access(self.real.get()))
    }

    /// Writes through a pointer that is valid during the call, if no other thread accesses the cell
    /// meanwhile.
    #[track_caller]
    pub fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        self.during(true, Location::caller(), || access(self.real.get()))
    }

    /// The value, which no other thread can access.
    pub fn get_mut(&mut self) -> &mut T {
        self.real.get_mut()
    }

    /// Performs an access. It lasts until the closure returns: if that makes steps, others may access the
    /// cell meanwhile, so the end of the access is checked too.
    fn during<R>(&self, write: bool, place: Place, access: impl FnOnce() -> R) -> R {
        if !under_test() {
            return access();
        }
        self.check(write, place);
        let before = activity();
        let result = access();
        if activity() != before {
            self.check(write, place);
        }
        result
    }

    fn check(&self, write: bool, place: Place) {
        let cell = with(|world| self.number(world, place));
        touch(cell.unwrap_or(0), write, place);
    }

    fn number(&self, world: &mut World, place: Place) -> u32 {
        let fresh = || Fresh { kind: "UnsafeCell", open: 0, value: 0 };
        world.want(Feature::Clocks);
        self.slot.find(world, fresh, place).0
    }

    /// Begins an access that lasts until the first part of the answer is dropped, and excludes others as
    /// references do: it is a fault if one begins meanwhile and one of both writes.
    #[doc(hidden)]
    #[track_caller]
    pub fn begin(&self, write: bool) -> (Access, *mut T) {
        let place = Location::caller();
        let begun = with(|world| {
            let cell = self.number(world, place);
            let (me, epoch) = (world.current, world.epoch);
            let under_way = world.accesses.entry(cell).or_insert(0);
            let excluded = *under_way < 0 || write && *under_way > 0;
            *under_way = if write { -1 } else { *under_way + 1 };
            if excluded {
                let fault = format!(
                    "{} is accessed by {} at {}:{} while another access is under way",
                    world.describe_object(cell),
                    world.describe_thread(me),
                    place.file(),
                    place.line(),
                );
                world.ending.fault = Some(fault);
            }
            (Access { cell, epoch, write, place }, excluded)
        });
        let Some((access, excluded)) = begun else {
            return (Access { cell: 0, epoch: 0, write, place }, self.real.get());
        };
        touch(access.cell, write, place);
        if excluded {
            crate::rt::schedule::give_up();
        }
        (access, self.real.get())
    }
}

/// An access under way; see [`UnsafeCell::begin`].
#[doc(hidden)]
#[derive(Debug)]
pub struct Access {
    cell: u32,
    /// Of the execution; 0 outside of a check.
    epoch: u64,
    write: bool,
    place: Place,
}

impl Drop for Access {
    fn drop(&mut self) {
        let Access { cell, epoch, write, place } = *self;
        let known = with(|world| {
            let known = world.epoch == epoch && !world.aborting;
            if let Some(under_way) = world.accesses.get_mut(&cell).filter(|_| known) {
                *under_way = if write { 0 } else { *under_way - 1 };
            }
            known
        });
        if known == Some(true) && !std::thread::panicking() {
            touch(cell, write, place);
        }
    }
}

/// Checks an access of the current thread to a cell.
fn touch(cell: u32, write: bool, place: Place) {
    let races = with(|world| {
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
