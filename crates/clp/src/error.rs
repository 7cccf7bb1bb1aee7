//! What can go wrong with rules and terms that come from outside.

use strait_calculus::Diagnostics;

/// A rule file: its name and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Source {
    /// How messages call it.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// A rule file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source { name: name.into(), text: text.into() }
    }
}

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A rule file cannot be used; the text shows the lines and says what to do.
    #[error("{0}")]
    Rules(String),
    /// A term cannot be read.
    #[error("{0}")]
    Term(String),
}

impl Error {
    pub(crate) fn rules(source: &Source, problems: &Diagnostics) -> Self {
        Error::Rules(problems.render(&source.name, &source.text))
    }
}
