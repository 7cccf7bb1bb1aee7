//! How much of the behaviour a result speaks for. Every result carries one of these words.

use std::fmt;

/// The honest word about a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every behaviour was seen, up to equivalence.
    Exhaustive,
    /// The search stopped at a limit; the text says which.
    Bounded(String),
    /// So many executions were drawn.
    Sampled(u64),
}

impl Coverage {
    /// The single word for scripts: `exhaustive`, `bounded` or `sampled`.
    pub fn word(&self) -> &'static str {
        match self {
            Coverage::Exhaustive => "exhaustive",
            Coverage::Bounded(_) => "bounded",
            Coverage::Sampled(_) => "sampled",
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coverage::Exhaustive => write!(formatter, "exhaustive"),
            Coverage::Bounded(by) => write!(formatter, "bounded ({by})"),
            Coverage::Sampled(runs) => write!(formatter, "sampled ({runs} executions)"),
        }
    }
}
