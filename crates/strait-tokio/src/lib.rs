#![doc = include_str!("../README.md")]
//!
//! Modules: what programs use (`sync`, `task`, `time`, `runtime`), and what is behind it. `point` makes an
//! operation of tokio's a step, `executor` and `local` perform tasks, `clock` and `zone` are time, and
//! `registry` is what belongs to one execution.

mod clock;
mod executor;
mod local;
mod main_task;
mod point;
mod registry;
pub mod runtime;
mod runtime_builder;
#[doc(hidden)]
pub mod support;
pub mod sync;
pub mod task;
pub mod time;
#[cfg(not(feature = "uncontrolled"))]
mod uncontrolled;
mod zone;

pub use main_task::{Search, check, outcomes, results};
pub use strait_macros::{tokio_select as select, tokio_test as test};
pub use task::spawn;
#[cfg(feature = "uncontrolled")]
pub use tokio::{fs, io, net, process, signal};
pub use tokio::{join, pin, try_join};
#[cfg(not(feature = "uncontrolled"))]
pub use uncontrolled::{fs, io, net, process, signal};
