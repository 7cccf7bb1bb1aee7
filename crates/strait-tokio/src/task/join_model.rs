//! What a task under test leaves for those who wait for it.

use strait::extend;

use super::{Id, JoinError};
use crate::executor::End;

/// How a task has ended, with its number.
pub(crate) struct Outcome<T> {
    pub(crate) id: Id,
    end: End<T>,
}

impl<T> Outcome<T> {
    pub(crate) fn new(id: Id, end: End<T>) -> Self {
        Outcome { id, end }
    }

    /// What the one who waits for the task gets. A panic is seen by this.
    pub(crate) fn result(self) -> Result<T, JoinError> {
        match self.end {
            End::Value(value) => Ok(value),
            End::Aborted => Err(JoinError::aborted(self.id)),
            End::Panic(panic, thread) => {
                extend::seen_panic(thread);
                Err(JoinError::panicked(self.id, panic))
            }
        }
    }
}
