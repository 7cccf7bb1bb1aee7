//! One file per property, or per family of properties. Each goes from the state space to a verdict.

pub(crate) mod certain;
pub mod cycle;
pub mod data;
pub mod deadlock;
pub mod faults;
pub mod leak;
pub mod live;
pub mod locks;
pub mod mutex;
pub mod reception;
