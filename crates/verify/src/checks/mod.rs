//! One file a property, or a family of them. Each comes from the built state space to a verdict.

pub mod cycle;
pub mod data;
pub mod deadlock;
pub mod faults;
pub mod live;
pub mod mutex;
pub mod reception;
