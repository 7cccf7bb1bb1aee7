//! Search under the relaxed memory model RC11: one execution for each execution graph.
//!
//! TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly stateless, optimal dynamic partial order
//! reduction, POPL 2022), for a system of [`Relaxed`] threads. `search.rs` says how.

mod advance;
mod consistency;
mod contract;
mod graph;
mod memory;
mod placement;
mod search;

pub use contract::{Atomic, Directions, Relaxed};
pub use memory::{Announced, Memory};
pub use search::relaxed;
