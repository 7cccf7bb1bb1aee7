//! What can go wrong on our side.

use thiserror::Error;

/// Strait's own failures; what a target does wrong is a result.
#[derive(Debug, Error)]
pub enum Error {
    /// The program uses what cannot be run on channels alone.
    #[error("the program uses {what}, which channel crates do not have")]
    NotInPlan {
        /// What.
        what: &'static str,
    },
    /// There are more functions or variables than a plan can number.
    #[error("the program has more than 65,535 functions or variables in one function")]
    TooLarge,
    /// The target does not promise what the program needs.
    #[error(
        "{target} does not offer {what}; ask the generator for programs within its capabilities"
    )]
    Beyond {
        /// The target.
        target: String,
        /// What it lacks.
        what: &'static str,
    },
    /// There is no target of that name.
    #[error("there is no target `{name}`; known are {}, and the languages that `strait targets` lists", known.join(", "))]
    NoSuchTarget {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<&'static str>,
    },
    /// A thread could not be started.
    #[error("a thread could not be started")]
    NoThread {
        /// Why.
        #[from]
        source: std::io::Error,
    },
}
