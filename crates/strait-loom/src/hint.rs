//! Hints, as in `std::hint`.
#![allow(unsafe_code, reason = "loom's interface has an unsafe function")]

pub use strait::hint::spin_loop;

/// Says that this place cannot be reached.
///
/// # Safety
///
/// As for `std::hint::unreachable_unchecked`. Here it panics if it is reached.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached!");
}
