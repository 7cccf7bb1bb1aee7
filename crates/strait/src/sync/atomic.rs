//! Atomic variables, as in `std::sync::atomic`. Under test each load, store and read-modify-write
//! is a step, and stores are subject to the memory model.

use std::fmt;
use std::panic::Location;
use std::sync::atomic as real;

pub use std::sync::atomic::{Ordering, compiler_fence};

use crate::rt::atomic as model;
use crate::rt::current::under_test;
use crate::rt::schedule::detail;
use crate::rt::slot::{Fresh, Slot};

/// An atomic fence, as `std::sync::atomic::fence`.
#[track_caller]
pub fn fence(order: Ordering) {
    if under_test() {
        model::fence(order, Location::caller());
    } else {
        real::fence(order);
    }
}

/// Orderings that std refuses are refused under test too.
#[inline]
#[track_caller]
fn check_load(order: Ordering) {
    if matches!(order, Ordering::Release | Ordering::AcqRel) {
        panic!("there is no such thing as a release load");
    }
}

#[inline]
#[track_caller]
fn check_store(order: Ordering) {
    if matches!(order, Ordering::Acquire | Ordering::AcqRel) {
        panic!("there is no such thing as an acquire store");
    }
}

macro_rules! atomic_type {
    ($(#[$doc:meta])* $name:ident $(<$generic:ident>)?, $value:ty, $to:expr, $from:expr) => {
        $(#[$doc])*
        pub struct $name $(<$generic>)? {
            real: real::$name $(<$generic>)?,
            slot: Slot,
        }

        impl $(<$generic>)? $name $(<$generic>)? {
            /// A new variable.
            #[inline]
            #[track_caller]
            pub fn new(value: $value) -> Self {
                let to = $to;
                let fresh = Fresh { kind: stringify!($name), open: 0, value: to(value) };
                Self { real: real::$name::new(value), slot: Slot::new(fresh) }
            }

            /// A new variable for a `static`. Under test, each execution finds it with this value.
            pub const fn new_static(value: $value) -> Self {
                Self { real: real::$name::new(value), slot: Slot::unnamed() }
            }

            pub(crate) fn slot(&self) -> &Slot {
                &self.slot
            }

            #[inline]
            fn initial(&self) -> u64 {
                $to(self.real.load(Ordering::Relaxed))
            }

            /// The value.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                if !under_test() {
                    return self.real.load(order);
                }
                check_load(order);
                let word = model::load(&self.slot, self.initial(), order, Location::caller());
                let value: $value = $from(word);
                detail(|| format!("{value:?}{}", model::age()));
                value
            }

            /// Sets the value.
            #[inline(always)]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                if !under_test() {
                    return self.real.store(value, order);
                }
                check_store(order);
                let place = Location::caller();
                model::store(&self.slot, self.initial(), $to(value), order, place);
                detail(|| format!("{value:?}"));
            }

            #[inline(always)]
            #[track_caller]
            fn update(
                &self,
                order: Ordering,
                failure: Ordering,
                label: &'static str,
                change: impl FnOnce($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let old = model::update(
                    &self.slot,
                    self.initial(),
                    (order, failure),
                    label,
                    Location::caller(),
                    |old| change($from(old)).map($to),
                );
                detail(|| match old {
                    Ok(old) => { let old: $value = $from(old); format!("was {old:?}") }
                    Err(old) => { let old: $value = $from(old); format!("failed, is {old:?}") }
                });
                old.map($from).map_err($from)
            }

            #[inline(always)]
            #[track_caller]
            fn exchange(
                &self,
                (current, new): ($value, $value),
                (success, failure): (Ordering, Ordering),
                weak: bool,
            ) -> Result<$value, $value> {
                let (expected, new) = ($to(current), $to(new));
                let change = model::Change { expected, new, success, failure, weak };
                let place = Location::caller();
                let old = model::compare_exchange(&self.slot, self.initial(), change, place);
                detail(|| match old {
                    Ok(old) => { let old: $value = $from(old); format!("was {old:?}") }
                    Err(old) => {
                        let old: $value = $from(old);
                        format!("failed, is {old:?}{}", model::age())
                    }
                });
                old.map($from).map_err($from)
            }

            /// Sets the value and gives the old one.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                if !under_test() {
                    return self.real.swap(value, order);
                }
                self.update(order, order, "swap", |_| Some(value)).unwrap_or_else(|old| old)
            }

            /// Sets the value if it is the expected one.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if !under_test() {
                    return self.real.compare_exchange(current, new, success, failure);
                }
                check_load(failure);
                self.exchange((current, new), (success, failure), false)
            }

            /// As [`Self::compare_exchange`]. Under RC11 it may also fail without a reason.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if !under_test() {
                    return self.real.compare_exchange_weak(current, new, success, failure);
                }
                check_load(failure);
                self.exchange((current, new), (success, failure), true)
            }

            /// As [`Self::compare_exchange`], with the orderings of failure that follow from those of success.
            #[inline]
            #[track_caller]
            #[deprecated(note = "Use `compare_exchange` or `compare_exchange_weak` instead")]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let failure = match order {
                    Ordering::Relaxed | Ordering::Release => Ordering::Relaxed,
                    Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
                    _ => Ordering::SeqCst,
                };
                self.compare_exchange(current, new, order, failure).unwrap_or_else(|old| old)
            }

            /// Repeats a change until no other thread has interfered, or it is refused.
            #[track_caller]
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut old = self.load(failure);
                while let Some(new) = change(old) {
                    match self.compare_exchange_weak(old, new, success, failure) {
                        Ok(old) => return Ok(old),
                        Err(newer) => old = newer,
                    }
                }
                Err(old)
            }

            /// The value, read without synchronisation. Under test this is a step as a relaxed load is one.
            ///
            /// # Safety
            ///
            /// No other thread writes the variable meanwhile.
            #[inline]
            #[track_caller]
            #[allow(unsafe_code, reason = "loom's interface: the caller promises that no thread writes")]
            pub unsafe fn unsync_load(&self) -> $value {
                self.load(Ordering::Relaxed)
            }

            /// The value, which no other thread can access.
            #[track_caller]
            pub fn into_inner(self) -> $value {
                if under_test() {
                    let place = Location::caller();
                    return $from(model::exclusive(&self.slot, self.initial(), place));
                }
                self.real.into_inner()
            }

            /// Reads and changes the value, which no other thread can access. Stands for std's
            /// `get_mut`, because under test the value lives elsewhere.
            #[track_caller]
            pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $value) -> R) -> R {
                if !under_test() {
                    return change(self.real.get_mut());
                }
                let place = Location::caller();
                let mut value: $value =
                    $from(model::exclusive(&self.slot, self.initial(), place));
                let result = change(&mut value);
                model::set_exclusive(&self.slot, $to(value), place);
                result
            }
        }

        impl $(<$generic>)? fmt::Debug for $name $(<$generic>)? {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.load(Ordering::Relaxed), formatter)
            }
        }
    };
}

macro_rules! atomic_integer {
    ($name:ident, $value:ty) => {
        atomic_type!(
            #[doc = concat!("An atomic `", stringify!($value), "`.")]
            $name,
            $value,
            |value: $value| value as u64,
            |word: u64| word as $value
        );

        atomic_integer!(@fetch $name, $value, {
            fetch_add: "Adds to the value, wrapping around." => |old, other| old.wrapping_add(other),
            fetch_sub: "Subtracts from the value, wrapping around." => |old, other| old.wrapping_sub(other),
            fetch_and: "Bitwise and." => |old, other| old & other,
            fetch_or: "Bitwise or." => |old, other| old | other,
            fetch_xor: "Bitwise exclusive or." => |old, other| old ^ other,
            fetch_nand: "Bitwise nand." => |old, other| !(old & other),
            fetch_max: "The larger of both." => |old, other| old.max(other),
            fetch_min: "The smaller of both." => |old, other| old.min(other),
        });

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }

        impl From<$value> for $name {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
    (@fetch $name:ident, $value:ty, {$($method:ident: $doc:literal => $change:expr,)*}) => {
        impl $name {
            $(
                #[doc = concat!($doc, " Gives the old value.")]
                #[inline]
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    if !under_test() {
                        return self.real.$method(value, order);
                    }
                    let change: fn($value, $value) -> $value = $change;
                    self.update(order, order, stringify!($method), |old| Some(change(old, value)))
                        .unwrap_or_else(|old| old)
                }
            )*
        }
    };
}

atomic_integer!(AtomicUsize, usize);
atomic_integer!(AtomicIsize, isize);
atomic_integer!(AtomicU64, u64);
atomic_integer!(AtomicI64, i64);
atomic_integer!(AtomicU32, u32);
atomic_integer!(AtomicI32, i32);
atomic_integer!(AtomicU16, u16);
atomic_integer!(AtomicI16, i16);
atomic_integer!(AtomicU8, u8);
atomic_integer!(AtomicI8, i8);

atomic_type!(
    /// An atomic `bool`.
    AtomicBool,
    bool,
    |value: bool| u64::from(value),
    |word: u64| word != 0
);

atomic_integer!(@fetch AtomicBool, bool, {
    fetch_and: "Logical and." => |old, other| old & other,
    fetch_or: "Logical or." => |old, other| old | other,
    fetch_xor: "Logical exclusive or." => |old, other| old ^ other,
    fetch_nand: "Logical nand." => |old, other| !(old & other),
});

impl AtomicBool {
    /// Logical not. Gives the old value.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl From<bool> for AtomicBool {
    #[track_caller]
    fn from(value: bool) -> Self {
        Self::new(value)
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}

atomic_type!(
    /// An atomic pointer.
    AtomicPtr<T>,
    *mut T,
    |value: *mut T| value.expose_provenance() as u64,
    |word: u64| std::ptr::with_exposed_provenance_mut(word as usize)
);

impl<T> From<*mut T> for AtomicPtr<T> {
    #[track_caller]
    fn from(pointer: *mut T) -> Self {
        Self::new(pointer)
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
