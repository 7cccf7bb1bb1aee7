//! The tests of the library, by theme.
#![allow(clippy::unwrap_used, reason = "a test that gets nothing should fail there")]

mod api;
mod bugs;
mod channels;
mod counts;
mod exceptions;
mod imports;
mod litmus;
mod loops;
mod lost;
mod polls;
mod primitives;
mod races;
mod sampling;
mod stm;
mod symmetry;
mod trust;
