#![doc = include_str!("../README.md")]
//!
//! Modules mirror those of loom. What std and loom have in common is strait's own type, re-exported; the
//! rest is here.

pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
mod statics;
pub mod sync;
pub mod thread;

#[doc(inline)]
pub use model::model;
pub use strait::thread_local;

/// How many threads a model may have. There is no such limit here.
pub const MAX_THREADS: usize = usize::MAX;

/// loom leaves out schedules from here to [`explore`]. Here all schedules are searched, so this does
/// nothing.
pub fn stop_exploring() {}

/// Ends what [`stop_exploring`] begins.
pub fn explore() {}

/// loom leaves out all schedules that differ after this point. Here all schedules are searched, so this
/// does nothing.
pub fn skip_branch() {}
