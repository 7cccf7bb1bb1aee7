//! The runtime under test: mirrors what the façade offers, one file a concern.

pub(crate) mod atomic;
pub(crate) mod channel;
pub(crate) mod condvar;
pub(crate) mod coroutine;
pub(crate) mod current;
pub(crate) mod describe;
pub(crate) mod exception;
pub(crate) mod execution;
pub(crate) mod features;
pub(crate) mod few;
pub(crate) mod footprint;
pub(crate) mod invariant;
pub(crate) mod knowledge;
pub(crate) mod lock;
pub(crate) mod log;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod op;
pub(crate) mod race;
pub(crate) mod room;
pub(crate) mod schedule;
pub(crate) mod slot;
pub(crate) mod system;
pub(crate) mod thread;
pub(crate) mod world;
