//! What a program under test can say about itself: names for its variables, invariants, and which
//! threads know about which variables. For real, all of this does nothing.

use std::panic::Location;

use crate::rt::current::{under_test, with};
use crate::rt::slot::{Fresh, Slot};

/// A shared object that can be named.
pub trait Shared {
    #[doc(hidden)]
    fn object_slot(&self) -> ObjectSlot<'_>;
}

/// The place in an object that says which one it is.
#[doc(hidden)]
#[derive(Debug)]
pub struct ObjectSlot<'o>(pub(crate) &'o Slot);

macro_rules! shared {
    ($([$($generics:tt)*] $type:ty;)*) => {
        $(
            impl<$($generics)*> Shared for $type {
                fn object_slot(&self) -> ObjectSlot<'_> {
                    ObjectSlot(self.slot())
                }
            }
        )*
    };
}

shared! {
    [T] crate::mvar::MVar<T>;
    [T] crate::stm::TVar<T>;
    [T] crate::cref::CRef<T>;
    [T: ?Sized] crate::sync::Mutex<T>;
    [T: ?Sized] crate::sync::RwLock<T>;
    [] crate::sync::Condvar;
    [] crate::sync::Barrier;
    [] crate::sync::atomic::AtomicBool;
    [] crate::sync::atomic::AtomicUsize;
    [] crate::sync::atomic::AtomicIsize;
    [] crate::sync::atomic::AtomicU64;
    [] crate::sync::atomic::AtomicI64;
    [] crate::sync::atomic::AtomicU32;
    [] crate::sync::atomic::AtomicI32;
    [] crate::sync::atomic::AtomicU16;
    [] crate::sync::atomic::AtomicI16;
    [] crate::sync::atomic::AtomicU8;
    [] crate::sync::atomic::AtomicI8;
    [T] crate::sync::atomic::AtomicPtr<T>;
}

#[track_caller]
fn number(shared: &impl Shared) -> Option<u32> {
    let place = Location::caller();
    let slot = shared.object_slot().0;
    let fresh = || Fresh { kind: "object", open: 0, value: 0 };
    with(|world| slot.find(world, fresh, place).0)
}

/// Names an object: traces and deadlocks show the name.
#[track_caller]
pub fn label(shared: &impl Shared, name: &str) {
    if let Some(object) = number(shared) {
        with(|world| world.labels.insert(object, name.to_owned()));
    }
}

/// From now on the condition must hold after every step. It may read atomics, `CRef`s, full
/// `MVar`s and `TVar`s; reading them there is no step, and sees what is committed.
pub fn invariant(name: &str, holds: impl Fn() -> bool + 'static) {
    if under_test() {
        crate::rt::invariant::register(name, holds);
    }
}

/// The current thread can access the variable.
#[track_caller]
pub fn knows_about(shared: &impl Shared) {
    if let Some(object) = number(shared) {
        with(|world| world.knows(object));
    }
}

/// The current thread can no longer access the variable.
#[track_caller]
pub fn forgets(shared: &impl Shared) {
    if let Some(object) = number(shared) {
        with(|world| world.forgets(object));
    }
}

/// The current thread has declared every variable it can access. When all threads have, threads
/// that wait for each other are a fault even while others go on.
pub fn all_known() {
    with(|world| world.all_known());
}
