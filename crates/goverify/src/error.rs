//! What can be wrong with the surroundings. A property that does not hold is no error.

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store of known findings.
    #[error(transparent)]
    Findings(#[from] strait_findings::Error),
    /// Runs of the program.
    #[error(transparent)]
    Runs(#[from] strait_reorder::Error),
    /// The cache or the launcher.
    #[error(transparent)]
    Toolchain(#[from] strait_toolchain::Error),
    /// A formula names something that no entry has.
    #[error(
        "the formula {formula} names `{name}`, which is not a channel, lock, wait group or \
         goroutine of the program; the nearest names are {}", nearest.join(", ")
    )]
    MissingName {
        /// The formula's file.
        formula: String,
        /// The name.
        name: String,
        /// Names that are like it.
        nearest: Vec<String>,
    },
    /// A formula uses a name that is ambiguous wherever it is there.
    #[error(
        "the formula {formula} names `{name}`, which is ambiguous in {entry}: it may be {}",
        candidates.join(", ")
    )]
    AmbiguousName {
        /// The formula's file.
        formula: String,
        /// The name.
        name: String,
        /// The first entry that has it.
        entry: String,
        /// Names that tell them apart.
        candidates: Vec<String>,
    },
}
