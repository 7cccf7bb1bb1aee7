//! Threads, as in `std::thread`. What they capture need not be `Send`, as in loom.

use std::fmt;
use std::io;
use std::panic::resume_unwind;

pub use strait::thread::{
    AccessError, LocalKey, Thread, ThreadId, current, panicking, park, yield_now,
};

use strait::compat::spawn_local;

/// A started thread, to be joined.
pub struct JoinHandle<T>(strait::thread::JoinHandle<T>);

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(code: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    JoinHandle(spawn_local(code, None))
}

impl<T> JoinHandle<T> {
    /// Waits for the thread to end. As in loom this is never an error: the panic of a thread fails the
    /// model.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match self.0.join() {
            Ok(value) => Ok(value),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Starts threads with names.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// A builder for an ordinary thread.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the thread; traces show the name.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// How large the stack shall be. All stacks have the same size here.
    pub fn stack_size(self, _size: usize) -> Self {
        self
    }

    /// Starts the thread.
    #[track_caller]
    pub fn spawn<F, T>(self, code: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(JoinHandle(spawn_local(code, self.name)))
    }
}
