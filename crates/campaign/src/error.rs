//! What can go wrong in any campaign. What was stored before is kept.

use crate::begin::CannotBegin;

/// A campaign cannot begin, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A campaign in a folder.
    #[error(transparent)]
    CannotBegin(#[from] CannotBegin),
    /// The settings of a campaign cannot be written down: a bug of Strait.
    #[error("the settings of the campaign cannot be written: {0}; please report this as a bug")]
    Settings(serde_json::Error),
    /// A thread of our own panicked: a bug of Strait.
    #[error("a thread of the campaign failed; please report this as a bug, what was found is kept")]
    Thread,
    /// The queue, or work that comes from it.
    #[error(transparent)]
    Queue(#[from] strait_queue::Error),
    /// The store.
    #[error(transparent)]
    Findings(#[from] strait_findings::Error),
}
