//! Hints, as in `std::hint`.

/// A hint that the thread is waiting in a loop. Under test others go first, as after
/// [`crate::thread::yield_now`], and the loop waits until something that it reads has changed.
#[inline(always)]
#[track_caller]
pub fn spin_loop() {
    if crate::rt::current::under_test() {
        crate::rt::thread::yield_now(std::panic::Location::caller());
    } else {
        std::hint::spin_loop();
    }
}
