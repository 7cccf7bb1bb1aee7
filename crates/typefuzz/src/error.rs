//! What can go wrong besides what compilers do.

use std::io;
use std::path::{Path, PathBuf};

use crate::language::Language;

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
    /// What all campaigns have in common.
    #[error(transparent)]
    Campaign(#[from] strait_campaign::Error),
    /// There is no such set of rules.
    #[error("there is no fuzzer `{name}`; {next}")]
    NoFuzzer {
        /// What was asked for.
        name: String,
        /// What was meant, or what there is.
        next: String,
    },
    /// There is no such oracle.
    #[error("there is no oracle `{name}`; {next}")]
    NoOracle {
        /// What was asked for.
        name: String,
        /// What was meant, or what there is.
        next: String,
    },
    /// Rules of two languages make no program.
    #[error("{one} and {two} are rules of two languages; name rules of one of them")]
    TwoLanguages {
        /// A rule file or an oracle, with its language.
        one: String,
        /// Another one.
        two: String,
    },
    /// An oracle is for another language than the programs.
    #[error("the oracle {oracle} is for {judges}, and the programs are {made}; {next}")]
    OtherLanguage {
        /// The oracle.
        oracle: String,
        /// Its language.
        judges: Language,
        /// The language of the programs.
        made: Language,
        /// What to do.
        next: String,
    },
    /// An oracle does not run here.
    #[error("the oracle {name} does not run here: {why}")]
    Unusable {
        /// Which one.
        name: String,
        /// Why.
        why: String,
    },
    /// A finding or a campaign names a compiler that the user has not named.
    #[error(
        "{} asks for the compiler `{compiler}`, and strait does not run programs that a finding or a campaign names; if you know this compiler, name it with `--oracle PATH`, or name another one in its place; `--trust` runs everything that is named there",
        folder.display()
    )]
    Untrusted {
        /// The finding, or the folder of the campaign.
        folder: PathBuf,
        /// What it names.
        compiler: String,
    },
    /// It is not clear which oracle a compiler stands in for.
    #[error(
        "the finding is judged by {asked}; say which of them each compiler stands in for, as in `--oracle NAME=PATH`"
    )]
    WhichOracle {
        /// The oracles of the finding.
        asked: String,
    },
    /// A temporary folder cannot be made.
    #[error("cannot make a temporary folder: {0}; is there room, and is TMPDIR right?")]
    TemporaryFolder(io::Error),
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
