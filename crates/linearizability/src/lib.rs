#![doc = include_str!("../README.md")]

mod check;
mod history;
mod program;

pub use check::{Failure, Linearizability, Report};
pub use history::Event;

use std::fmt::Debug;
use std::hash::Hash;

/// A concurrent object.
pub trait Object: Send + Sync + Sized + 'static {
    /// What can be done with it.
    type Operation: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// What an operation gives.
    type Output: Clone + Eq + Hash + Debug + Send + 'static;

    /// A new object.
    fn make() -> Self;

    /// Performs an operation.
    fn perform(&self, operation: &Self::Operation) -> Self::Output;
}

/// What an object is meant to do, one operation after the other.
pub trait Model<O: Object>: Clone + Default + 'static {
    /// Performs an operation.
    fn perform(&mut self, operation: &O::Operation) -> O::Output;
}
