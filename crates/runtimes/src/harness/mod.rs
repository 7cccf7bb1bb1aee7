//! Everything that executes: a plan, its interpreter, threads and tasks, repetition, the wire.
//!
//! These files use nothing but std, because they are also compiled, together with one file of
//! [`crate::targets`], into small programs for other versions of a crate
//! ([`crate::harness_source`]).

pub mod actor;
pub mod actor_pool;
pub mod actor_queue;
pub mod by_task;
pub mod by_thread;
pub mod cell;
pub mod executor;
pub mod instance;
pub mod parts;
pub mod payload;
pub mod plan;
pub mod process;
pub mod random;
pub mod record;
pub mod runner;
pub mod session;
pub mod std_names;
pub mod target;
pub mod text;
pub mod uses;
pub mod watch;
pub mod wire;
pub mod worker;
