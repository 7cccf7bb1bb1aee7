//! What is said about a property: whether it holds, why, and the way to where it breaks.

use strait_calculus::{Action, Span};

/// Where things stand in the source that people know.
pub trait Places {
    /// A position in words, such as `line 3` or `main.go:3`. `None` for what has no place in that
    /// source: a device of a translation, with which no property is concerned.
    fn place(&self, span: Span) -> Option<String>;

    /// Does somebody wait here on purpose, so that it is no fault if nothing ever comes? Such are
    /// goroutines that serve others from the start of a program on.
    fn idles(&self, _: Span) -> bool {
        false
    }

    /// What people call an object of the program.
    fn name(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// Places in a program that was read from a text of the language.
pub struct InText<'a>(
    /// The text.
    pub &'a str,
);

impl Places for InText<'_> {
    fn place(&self, span: Span) -> Option<String> {
        Some(format!("line {}", span.line_column(self.0).0))
    }
}

/// A program that was never text: everything is somewhere.
pub struct Nowhere;

impl Places for Nowhere {
    fn place(&self, _: Span) -> Option<String> {
        Some("somewhere".into())
    }
}

/// The answer to one question.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Does it hold? `None` if that is not known.
    pub holds: Option<bool>,
    /// Why it does not hold, or why that is not known; what is behind it otherwise.
    pub why: String,
    /// A way to where it breaks.
    pub trace: Option<Trace>,
    /// The places that are wrong, the one that the trace leads to first.
    pub culprits: Vec<Culprit>,
}

impl Verdict {
    /// It holds.
    pub(crate) fn holds(why: impl Into<String>) -> Verdict {
        Verdict { holds: Some(true), why: why.into(), trace: None, culprits: vec![] }
    }

    /// Nobody knows.
    pub fn unknown(why: impl Into<String>) -> Verdict {
        Verdict { holds: None, why: why.into(), trace: None, culprits: vec![] }
    }
}

/// A process at a place where something is wrong.
#[derive(Clone, Debug)]
pub struct Culprit {
    /// Its name.
    pub process: String,
    /// Where it stands.
    pub span: Span,
    /// What is wrong with it, as a sentence about the process: `waits to send on c`.
    pub says: String,
}

/// An execution, step by step.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The steps as the machine takes them.
    pub actions: Vec<Action>,
    /// The steps for people, spawns included.
    pub steps: Vec<Told>,
    /// From which step on it goes round for ever.
    pub cycle: Option<usize>,
    /// Who stands where at the end without having finished.
    pub left: Vec<Culprit>,
    /// How many choices it takes that the program's data would decide.
    pub choices: usize,
}

/// A step for people.
#[derive(Clone, Debug)]
pub struct Told {
    /// Who.
    pub process: String,
    /// What it does: `sends on c to main`.
    pub action: String,
    /// Where.
    pub span: Span,
    /// Who receives, and where.
    pub partner: Option<(String, Span)>,
    /// Is it a choice that the program's data would decide?
    pub choice: bool,
    /// The step of the machine that this is, as a position in the trace's actions.
    pub number: Option<usize>,
}
