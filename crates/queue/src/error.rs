//! What can go wrong between machines. What was stored before is kept.

/// The queue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A creds file, a certificate, a context.
    #[error("{what}; docs/many-machines.md says what --creds and the NATS_ variables mean")]
    Credentials {
        /// What is wrong with it.
        what: String,
    },
    /// The server does not answer, or not to us.
    #[error("cannot reach the queue {address}: {why}; {next}")]
    Unreachable {
        /// The queue.
        address: String,
        /// What the client says.
        why: String,
        /// What to do.
        next: &'static str,
        /// May it be there in a moment?
        passes: bool,
    },
    /// The server answers and does not do what it was asked.
    #[error("the queue {address} fails: cannot {action}: {why}; check the server, then go on")]
    Server {
        /// The queue.
        address: String,
        /// What was tried.
        action: &'static str,
        /// What the server says.
        why: String,
    },
    /// There is no room for what was to be stored.
    #[error(
        "the server of the queue {address} has no room: cannot {action}: {why}; give it more \
         (max_file_store in its configuration, or the limits of the account), then go on"
    )]
    Full {
        /// The queue.
        address: String,
        /// What was tried.
        action: &'static str,
        /// What the server says.
        why: String,
    },
    /// A campaign that this machine cannot take part in.
    #[error("it cannot take part in campaign {job}: {why}")]
    CannotServe {
        /// The campaign.
        job: String,
        /// Why.
        why: String,
    },
    /// The settings of a campaign cannot be written down: a bug of Strait.
    #[error("the settings of the campaign cannot be written: {0}; please report this as a bug")]
    Settings(serde_json::Error),
    /// Strait was built without the feature `nats`.
    #[error(
        "this build of Strait has no queue support; install it with its default features, or build \
         it with `--features nats`"
    )]
    NotBuilt,
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

impl Error {
    /// The server does not do what only JetStream does.
    pub(crate) fn without_jetstream(address: String, why: String) -> Error {
        Error::Unreachable {
            address,
            why: format!("JetStream does not do what it should ({why})"),
            next: "start the server with JetStream, `nats-server -js`, and allow it for this account",
            passes: false,
        }
    }

    /// May it be well in a moment?
    pub fn passes(&self) -> bool {
        matches!(self, Error::Unreachable { passes: true, .. } | Error::Server { .. })
    }
}
