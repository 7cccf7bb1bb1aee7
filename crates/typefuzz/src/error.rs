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
    /// The queue, or what work comes from.
    #[error(transparent)]
    Queue(#[from] strait_queue::Error),
    /// A campaign in a queue that this machine cannot take part in.
    #[error("it cannot take part in campaign {job}: {why}")]
    CannotServe {
        /// The campaign.
        job: String,
        /// Why.
        why: String,
    },
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
    /// The folder holds this campaign already.
    #[error(
        "{} already holds a campaign with seed {seed}; continue it with --resume, or choose another --seed or --out",
        folder.display()
    )]
    AlreadyBegun {
        /// The folder.
        folder: PathBuf,
        /// The seed.
        seed: u64,
    },
    /// There is nothing to resume.
    #[error(
        "there is no campaign of `strait types` to resume in {}; leave out --resume to begin one",
        folder.display()
    )]
    NothingToResume {
        /// The folder.
        folder: PathBuf,
    },
    /// The campaign in the folder is another one.
    #[error(
        "the campaign in {} was begun with {there}, not with {here}; leave that out, or choose another --out",
        folder.display()
    )]
    OtherCampaign {
        /// The folder.
        folder: PathBuf,
        /// What it was begun with.
        there: String,
        /// What was given now.
        here: String,
    },
    /// The campaign in the folder was made by other rules: its indices mean something else.
    #[error(
        "the campaign in {} was begun by another version of Strait (rules {found}, now {ours}); finish it with that version, or choose another --out",
        folder.display()
    )]
    OtherGenerator {
        /// The folder.
        folder: PathBuf,
        /// Its rules.
        found: u32,
        /// Ours.
        ours: u32,
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
