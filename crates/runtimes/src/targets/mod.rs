//! One channel crate a file. A file uses std, [`crate::harness`] and its own crate, nothing else.

pub mod async_channel;
pub mod async_lock;
pub mod broken;
pub mod concurrent_queue;
pub mod crossbeam_channel;
pub mod crossbeam_queue;
pub mod crossfire;
pub mod event_listener;
pub mod flume;
pub mod futures_channel;
pub mod kanal;
pub mod loole;
pub mod oneshot_crate;
pub mod parking_lot_condvar;
pub mod planted;
pub mod postage;
pub mod rtrb_crate;
pub mod std_mpsc;
pub mod thingbuf;
pub mod tokio_mpsc;
pub mod tokio_sync;
