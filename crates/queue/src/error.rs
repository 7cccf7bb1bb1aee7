//! What can go wrong between machines. What was stored before is kept.

/// The queue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A creds file, a context.
    #[error("{what}; see NATS_CREDS, NATS_CONTEXT and --creds in docs/many-machines.md")]
    Credentials {
        /// What is wrong with it.
        what: String,
    },
    /// Nobody answers, or not us.
    #[error("cannot reach the queue {address}: {why}; {next}")]
    Unreachable {
        /// The queue.
        address: String,
        /// What the client says.
        why: String,
        /// What to do.
        next: &'static str,
    },
    /// The server answers and does not do what it was asked.
    #[error("the queue {address} fails: cannot {action}: {why}; check the server, then resume")]
    Server {
        /// The queue.
        address: String,
        /// What was tried.
        action: &'static str,
        /// What the server says.
        why: String,
    },
    /// Another Strait speaks there.
    #[error(
        "the queue {address} holds {what} that this version of Strait does not understand: {why}"
    )]
    Foreign {
        /// The queue.
        address: String,
        /// What it is.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// Threads for the network cannot be started.
    #[error("cannot start what talks to the queue: {0}")]
    Runtime(std::io::Error),
    /// A file beside the store.
    #[error("cannot write {path}: {why}", path = path.display())]
    File {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// The store.
    #[error(transparent)]
    Findings(#[from] strait_findings::Error),
}
