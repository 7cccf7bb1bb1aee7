//! What can go wrong when a program is written in another language.

use crate::language::Language;

/// Strait's own failures; what a compiler or a runtime does wrong is a result.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The program uses what the language, or our way of writing it, does not have.
    #[error(
        "{} has no {what}; ask the generator for programs within the capabilities of {}",
        language.title(),
        language.name()
    )]
    Beyond {
        /// The language.
        language: Language,
        /// What it lacks.
        what: &'static str,
    },
    /// The program does not pass the checker, so its types are not known.
    #[error("the program cannot be written in another language because it is wrong itself: {why}")]
    Unchecked {
        /// The first complaint of the checker.
        why: String,
    },
}
