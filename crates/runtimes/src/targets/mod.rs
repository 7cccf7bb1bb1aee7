//! One channel crate a file. A file uses std, [`crate::harness`] and its own crate, nothing else.

pub mod async_channel;
pub mod broken;
pub mod crossbeam_channel;
pub mod crossfire;
pub mod flume;
pub mod futures_channel;
pub mod kanal;
pub mod loole;
pub mod planted;
pub mod postage;
pub mod std_mpsc;
pub mod thingbuf;
pub mod tokio_mpsc;
