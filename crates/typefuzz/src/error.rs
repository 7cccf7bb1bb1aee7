//! What can go wrong besides what compilers do.

use std::io;
use std::path::{Path, PathBuf};

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A rule file or a term cannot be used.
    #[error(transparent)]
    Rules(#[from] strait_clp::Error),
    /// A process could not be run.
    #[error(transparent)]
    Toolchain(#[from] strait_toolchain::Error),
    /// The store of findings failed.
    #[error(transparent)]
    Findings(#[from] strait_findings::Error),
    /// The queue, the folder of a campaign, or what else work comes from.
    #[error(transparent)]
    Queue(#[from] strait_queue::Error),
    /// There is no such set of rules.
    #[error("there is no fuzzer `{name}`; known are {known}")]
    NoFuzzer {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// There is no such oracle.
    #[error(
        "there is no oracle `{name}`; known are {known}, and a path to a rustc, followed by flags after a `:` if wanted"
    )]
    NoOracle {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// An oracle does not run here.
    #[error("the oracle {name} does not run here: {why}")]
    Unusable {
        /// Which one.
        name: String,
        /// Why.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("cannot use {path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A finding cannot be run again.
    #[error("{folder}: {why}")]
    NotReplayable {
        /// Its directory.
        folder: PathBuf,
        /// Why.
        why: String,
    },
    /// Strait itself is wrong.
    #[error("{what} failed: please report this as a bug")]
    Bug {
        /// What failed.
        what: String,
    },
}

impl Error {
    /// An error about a file.
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
        |source| Error::File { path: path.to_owned(), source }
    }
}
