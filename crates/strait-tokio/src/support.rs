//! What the macros of this crate expand to.

use std::future::Future;

use strait::extend;

pub use strait::{Builder, thread_local};

/// The first branch that a `select!` polls: under test every one of them is tried.
pub fn start(branches: u32) -> u32 {
    if extend::under_test() { strait::choose(branches) } else { random(branches) }
}

fn random(branches: u32) -> u32 {
    use std::cell::Cell;
    use std::hash::{BuildHasher, RandomState};
    thread_local! {
        static STATE: Cell<u64> = Cell::new(0);
    }
    // A linear congruential generator (Knuth) that begins anywhere.
    STATE.with(|state| {
        let before = match state.get() {
            0 => RandomState::new().hash_one(branches) | 1,
            before => before,
        };
        let next =
            before.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.set(next);
        ((next >> 33) % u64::from(branches)) as u32
    })
}

/// The body of a test: performed for each execution.
#[track_caller]
pub fn perform_main<F: Future>(
    is_current_thread: bool,
    start_paused: bool,
    future: F,
) -> F::Output {
    crate::runtime::perform_main(is_current_thread, start_paused, future)
}
