//! What can go wrong in a campaign over Go tests. Each message ends with the next step.

use std::io;
use std::path::PathBuf;

/// Strait's own failure, or that of its input.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Go cannot be used here.
    #[error(transparent)]
    Go(#[from] strait_golang::Error),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] strait_findings::Error),
    /// A folder for binaries and shared files cannot be made.
    #[error("cannot make a temporary folder: {0}; is there room, and is TMPDIR right?")]
    Folder(io::Error),
    /// There is no module.
    #[error(
        "{} belongs to no Go module; go to the folder with go.mod, or make one with `go mod init`",
        .0.display()
    )]
    NoModule(PathBuf),
    /// Nothing matches.
    #[error("no package matches {0}; `go list {0}` should print some")]
    NoPackages(String),
    /// No test can be run.
    #[error("there is no test to run{0}; `go test -list . ./...` should print some")]
    NoTests(String),
    /// A finding cannot be replayed.
    #[error("{} is not a finding of `strait go fuzz`: {reason}", path.display())]
    NotAGoFinding {
        /// The folder.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The sources of a finding are not here.
    #[error(
        "the module of this finding is not here: {0} is in no package of this folder; go to the folder of the module and try again"
    )]
    NoSources(String),
    /// The tests of a finding do not compile any more.
    #[error("{package} does not compile any more:\n{said}")]
    DoesNotCompile {
        /// The package.
        package: String,
        /// What the compiler says.
        said: String,
    },
    /// A worker thread broke down.
    #[error("a worker broke down; this is a fault of Strait, please report it")]
    Worker,
}
