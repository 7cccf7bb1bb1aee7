//! What can go wrong between Strait and the user's `go`. Each message ends with the next step.

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
    /// A process could not be started, limited or ended.
    #[error(transparent)]
    Toolchain(#[from] strait_toolchain::Error),
}
