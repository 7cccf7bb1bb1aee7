//! Time, as in `tokio::time`.
//!
//! Under test there is no real time. A clock that runs (the default) may move to the next deadline between any
//! two steps, so a timeout may fire at each moment that its length allows: of two timers that are set at the
//! same time the shorter one fires first; of timers that are set at different moments, each order is tried
//! that the lengths allow. A clock that stands still (`pause`, `start_paused`) is moved as tokio moves it:
//! by `advance`, and to the next deadline when all tasks wait.
//!
//! What is left out is said: a check whose code reads a clock that runs ([`Instant::now`]) is not called
//! exhaustive, because of all times that the clock could show only the earliest is tried.

use std::future::Future;
use std::panic::Location;

use strait::extend;

use crate::clock;
use crate::runtime::{Handle, RuntimeFlavor};

pub mod error;
mod instant;
mod interval;
mod sleep;
mod timeout;

pub use instant::Instant;
pub use interval::{Interval, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
pub use std::time::Duration;
pub use timeout::{Timeout, timeout, timeout_at};
pub use tokio::time::MissedTickBehavior;

/// Stops the clock.
///
/// # Panics
///
/// If it stands still already, or if the runtime has several threads.
#[track_caller]
pub fn pause() {
    if !extend::under_test() {
        return tokio::time::pause();
    }
    let flavor = Handle::current().runtime_flavor();
    assert!(
        flavor == RuntimeFlavor::CurrentThread,
        "`time::pause()` requires the `current_thread` Tokio runtime. This is the default Runtime used by \
         `#[tokio::test]`; with strait_tokio, write `#[strait_tokio::test(flavor = \"current_thread\")]`."
    );
    assert!(clock::pause(Location::caller()), "time is already frozen");
}

/// Lets the clock run.
///
/// # Panics
///
/// If it runs already.
#[track_caller]
pub fn resume() {
    if !extend::under_test() {
        return tokio::time::resume();
    }
    assert!(clock::resume(Location::caller()), "time is not frozen");
}

/// Moves a clock that stands still.
///
/// # Panics
///
/// If it runs.
#[track_caller]
pub fn advance(duration: Duration) -> impl Future<Output = ()> {
    let place = Location::caller();
    async move {
        if extend::under_test() {
            let moved = clock::advance(Some(duration), place);
            assert!(moved, "time is not frozen");
            crate::task::yield_now().await;
        } else {
            tokio::time::advance(duration).await;
        }
    }
}
