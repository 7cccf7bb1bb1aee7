#![doc = include_str!("../README.md")]
//!
//! Modules: the trait ([`system`]), one file a strategy, and what they share.

mod coverage;
mod report;
mod system;

pub use coverage::Coverage;
pub use report::{Found, Report};
pub use system::{Stateful, System, ThreadId};
