//! What can go wrong in a campaign over Go tests. Each message ends with the next step.

use std::io;
use std::path::PathBuf;

use strait_toolchain::Error as ToolError;

use crate::class::FindingClass;

/// Strait's own failure, or that of its input.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Go cannot be used here.
    #[error(transparent)]
    Go(#[from] strait_golang::Error),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] strait_findings::Error),
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(ToolError),
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
    /// It is not clear that the user wants the module of a finding to be compiled.
    #[error(
        "the finding {} can only be run again in its Go module, and strait compiles only a module that you choose; go to the folder of the module and add `--module .`, or name it with `--module FOLDER`; `--trust` takes the folder that the finding names",
        folder.display()
    )]
    Untrusted {
        /// The finding.
        folder: PathBuf,
    },
    /// What the user named is no folder.
    #[error("there is no folder {}; name the folder of the Go module with --module", .0.display())]
    NoSuchFolder(PathBuf),
    /// There is no way to make a standalone test for such a finding.
    #[error(
        "no standalone test can be made for a finding of the class `{}`: nothing but Strait's runtime can tell that it has happened; `strait replay` shows it",
        class.name()
    )]
    NoStandaloneTest {
        /// Its class.
        class: FindingClass,
    },
    /// No gates make the test fail.
    #[error(
        "no standalone test was found: {tried} ways to run the test without Strait were tried, and the fault showed in none of them reliably; give --time more, or use `strait replay`"
    )]
    NotShownWithoutStrait {
        /// How many combinations of gates were tried.
        tried: u64,
    },
    /// A source file of the module cannot be read.
    #[error("cannot read {}: {source}; is it UTF-8, and may you read it?", path.display())]
    ReadSource {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
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
    /// The queue.
    #[error(transparent)]
    Queue(#[from] strait_queue::Error),
    /// What all campaigns have in common.
    #[error(transparent)]
    Campaign(#[from] strait_campaign::Error),
    /// A workspace is more than a module, and only modules travel.
    #[error(
        "workers get this module and not what else {} names; set GOWORK=off if the module can do without",
        .0.display()
    )]
    Workspace(PathBuf),
    /// A part of the module lies elsewhere.
    #[error(
        "workers get this module and not {}, which its go.mod puts in place of {module}; copy it into the module, or use --shard",
        path.display()
    )]
    Elsewhere {
        /// What is replaced.
        module: String,
        /// By what.
        path: PathBuf,
    },
    /// The module does not travel well.
    #[error(
        "{} holds more than {most} MB, too much to send to workers; move what tests do not need out of the module, or use --shard",
        folder.display()
    )]
    TooLarge {
        /// The module.
        folder: PathBuf,
        /// The most there may be.
        most: u64,
    },
    /// A file of the module.
    #[error("cannot use {}: {why}; workers need all files of the module", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// What came from a queue is no module.
    #[error("what the queue holds of the module is damaged: {0}")]
    Damaged(&'static str),
    /// A worker thread broke down.
    #[error("a worker broke down; this is a fault of Strait, please report it")]
    Worker,
}

impl Error {
    /// What stood between Strait and a test was killed, and the test with it.
    pub(crate) fn is_lost_supervisor(&self) -> bool {
        let lost = |error: &ToolError| matches!(error, ToolError::SupervisorLost { .. });
        matches!(self, Error::Go(strait_golang::Error::Toolchain(error)) if lost(error))
    }
}
