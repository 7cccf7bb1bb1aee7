//! What can be wrong with what the user asked for.

use std::path::PathBuf;

use crate::generator::{MAX_SIZE, MIN_SIZE};

/// The generator cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The weights file cannot be read.
    #[error("cannot read the weights file {}", path.display())]
    UnreadableFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The weights file is not TOML.
    #[error("the weights file is not TOML: {message}")]
    NotToml {
        /// What the TOML parser says, with line and column.
        message: String,
    },
    /// A name that is neither a rule nor a family.
    #[error("there is no rule `{name}`{}", did_you_mean(suggestion.as_deref()))]
    UnknownRule {
        /// The name.
        name: String,
        /// A rule with a similar name.
        suggestion: Option<String>,
    },
    /// A weight that is not a number.
    #[error("the weight of {name} is {found}: it has to be a number, 0 or above")]
    NotANumber {
        /// The rule or family.
        name: String,
        /// What stands there.
        found: String,
    },
    /// A negative, infinite or huge weight.
    #[error("the weight of {name} is {value:?}: weights go from 0 to {MAX_WEIGHT}", MAX_WEIGHT = crate::weights::MAX_WEIGHT)]
    WeightOutOfRange {
        /// The rule or family.
        name: String,
        /// The weight.
        value: f64,
    },
    /// A heuristic other than A to F.
    #[error("there is no heuristic `{name}`: the paper has A, B, C, D, E and F")]
    UnknownHeuristic {
        /// The name.
        name: String,
    },
    /// G-FINAL cannot be absent: it ends every derivation.
    #[error("the weight of G-FINAL is 0: it ends every derivation, so give it a weight above 0")]
    NothingEnds,
    /// No rule that communicates is left.
    #[error(
        "no rule that communicates is left: give one of G-PINGPONG, G-FANOUT, G-PIPELINE and \
         G-SELECT a weight above 0{}",
        if *forbidden { " (the target's capabilities forbid those that have one)" } else { "" }
    )]
    NothingCommunicates {
        /// Did the capabilities take away the last one?
        forbidden: bool,
    },
    /// Two capabilities contradict each other, or one is missing that everything needs.
    #[error("no program fits these capabilities: {reason}")]
    ImpossibleCapabilities {
        /// Why.
        reason: &'static str,
    },
    /// A size that is too small or too large.
    #[error("the size is {size}: it goes from {MIN_SIZE} to {MAX_SIZE} channel operations")]
    SizeOutOfRange {
        /// The size.
        size: u32,
    },
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    match suggestion {
        Some(name) => format!("; did you mean {name}?"),
        None => "; `strait gen --stats` lists them all".to_owned(),
    }
}
