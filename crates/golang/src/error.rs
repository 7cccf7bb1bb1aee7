//! What can go wrong between Strait and the user's `go`. Each message ends with the next step.

use std::io;
use std::path::PathBuf;

/// Why something cannot be done with Go here.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no `go`.
    #[error("go is not found; install Go from https://go.dev/dl, or put its folder into PATH")]
    NotInstalled,
    /// It is there, but does not answer.
    #[error(
        "`go {command}` fails in {}: {said}; run it there by hand to see why",
        directory.display()
    )]
    Fails {
        /// The arguments.
        command: String,
        /// Where it ran.
        directory: PathBuf,
        /// Its last lines.
        said: String,
    },
    /// Too old for the overlay.
    #[error(
        "Go {version} is too old, Strait needs 1.24 or newer; install it from https://go.dev/dl, or set GOTOOLCHAIN=go1.26.8"
    )]
    TooOld {
        /// The version that serves the folder.
        version: String,
    },
    /// The sources of this version are not as expected.
    #[error(
        "Go {version}: {said}; use a version that Strait knows, for example with GOTOOLCHAIN=go1.26.8"
    )]
    DoesNotFit {
        /// The version.
        version: String,
        /// What the helper said.
        said: String,
    },
    /// A file of Strait's own could not be written or read.
    #[error("cannot {action} {}: {source}; is there room, and may Strait write there?", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The packages could not be loaded.
    #[error("the packages in {} cannot be read: {said}", directory.display())]
    Packages {
        /// Where `go` ran.
        directory: PathBuf,
        /// What is wrong with them, and what to do.
        said: String,
    },
    /// The helper that reads Go packages could not be built.
    #[error(
        "the helper that reads Go packages cannot be built in {}: {said}; it needs Go 1.26 or later \
         and, once, golang.org/x/tools from the module proxy",
        folder.display()
    )]
    HelperBuild {
        /// Where its sources are.
        folder: PathBuf,
        /// The last lines of `go build`.
        said: String,
    },
    /// The helper failed, which is a fault of Strait.
    #[error("the helper that reads Go packages fails: {what}; please report this")]
    Helper {
        /// What happened.
        what: String,
    },
    /// The helper was not done in time.
    #[error(
        "reading the packages takes longer than {wall:?}; name fewer packages, or give it more time \
         with --extraction-time (the first run also builds the helper that reads them)"
    )]
    Slow {
        /// What it was given.
        wall: std::time::Duration,
    },
    /// The user has asked to stop while the packages were read.
    #[error("interrupted while the packages were read; nothing was checked")]
    Interrupted,
    /// A file of the cache could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Cache {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A process could not be started, limited or ended.
    #[error(transparent)]
    Toolchain(#[from] strait_toolchain::Error),
}

impl Error {
    /// For `map_err` on file operations.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { action, path, source }
    }
}
