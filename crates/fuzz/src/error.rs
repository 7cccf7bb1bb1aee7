//! What can go wrong on our side. What a target does wrong is a finding.

use std::path::PathBuf;

/// The campaign cannot go on, or not begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A target's name, version or range that says nothing.
    #[error(
        "`{given}` is no target: {problem}; write NAME, NAME@VERSION or NAME@FROM..TO, and see `strait targets`"
    )]
    BadTarget {
        /// What was given.
        given: String,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no target of that name.
    #[error("there is no target `{name}`; {next}")]
    NoTarget {
        /// The name.
        name: String,
        /// What was meant, or what there is.
        next: String,
    },
    /// The target is part of the compiler or of the tests.
    #[error("{name} has no versions to choose from: {why}; write `{name}` alone")]
    NoVersions {
        /// The target.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// No version was published within the range.
    #[error("{name} has no version from {from} to {to}; published are {}", known.join(", "))]
    EmptyRange {
        /// The crate.
        name: String,
        /// First.
        from: String,
        /// Last.
        to: String,
        /// Some of those there are.
        known: Vec<String>,
    },
    /// The folder that was named holds another package.
    #[error("{} is no working tree of {name}: there is no package `{package}` in it", folder.display())]
    NotInTree {
        /// The target.
        name: String,
        /// The package that it needs.
        package: String,
        /// The folder.
        folder: PathBuf,
    },
    /// A version was named beside a working tree.
    #[error("a working tree has one version: write `{name}` alone, without a version")]
    VersionOfTree {
        /// The target.
        name: String,
    },
    /// A finding in a working tree, which has to be named.
    #[error(
        "this is about a working tree of {name}: name its folder with --path, and see that it is at the right commit"
    )]
    TreeNotNamed {
        /// The target.
        name: String,
    },
    /// A finding that another part of Strait has made, or that lost its program.
    #[error("{} cannot be run again here: {why}", folder.display())]
    NotReplayable {
        /// The finding.
        folder: PathBuf,
        /// Why.
        why: String,
    },
    /// A worker ends before it can do anything.
    #[error("a worker for {target} does not start: it {end}; it said: {said}")]
    WorkerFails {
        /// The target.
        target: String,
        /// How it ended.
        end: String,
        /// The last lines of its stderr.
        said: String,
    },
    /// A thread of our own panicked: a bug of Strait.
    #[error("a part of Strait failed: {what}; please report this as a bug, what was found is kept")]
    Bug {
        /// What it said.
        what: String,
    },
    /// The generator does not accept what a target can do.
    #[error("no programs can be made for {target}: {source}")]
    NoPrograms {
        /// The target.
        target: String,
        /// Why.
        source: strait_generate::Error,
    },
    /// The store.
    #[error(transparent)]
    Findings(#[from] strait_findings::Error),
    /// The queue, the folder of a campaign, or what else work comes from.
    #[error(transparent)]
    Queue(#[from] strait_queue::Error),
    /// What all campaigns have in common.
    #[error(transparent)]
    Campaign(#[from] strait_campaign::Error),
    /// Processes and cargo.
    #[error(transparent)]
    Toolchain(#[from] strait_toolchain::Error),
    /// Other languages.
    #[error(transparent)]
    Missing(#[from] strait_emit::Missing),
    /// Targets and plans.
    #[error(transparent)]
    Runtimes(#[from] strait_runtimes::Error),
}
