//! Choices that no thread makes: what a random number, the environment or a part that is not
//! modelled might say.

use std::hash::{BuildHasher, RandomState};
use std::panic::Location;

use crate::rt::current::under_test;
use crate::rt::op::{Op, Ways};
use crate::rt::schedule::{detail, point};

/// A number below `count`. Under test every one of them is tried, whatever the schedule; for real one
/// is drawn.
///
/// # Panics
///
/// If `count` is 0: there is no such number.
#[track_caller]
pub fn choose(count: u32) -> u32 {
    assert!(count > 0, "there is no number below 0 to choose");
    if !under_test() {
        return (RandomState::new().hash_one(()) % u64::from(count)) as u32;
    }
    let op = Op::local("choose", Location::caller()).ways(Ways::Fixed(count));
    let chosen = point(op);
    detail(|| chosen.to_string());
    chosen
}
