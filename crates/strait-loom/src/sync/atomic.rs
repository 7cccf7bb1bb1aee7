//! Atomic variables, as in `std::sync::atomic`.

pub use strait::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

/// The old name of [`crate::hint::spin_loop`].
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}
