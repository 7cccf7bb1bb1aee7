//! What is known about one entry after verification: for each property an answer with its reason.

use std::fmt;

use strait_explore::{Coverage, Limit};
use strait_golang::{Assumption, GoPosition};
use strait_verify::{Bound, Property, Unknown, Verdict};

use crate::assumptions::Rests;
use crate::loops::LoopReason;
use crate::places::Locate;

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A property with a name.
    Property(Property),
    /// A formula, by the name of its file.
    Formula(String),
}

impl Asked {
    /// The name for scripts.
    pub fn name(&self) -> &str {
        match self {
            Asked::Property(property) => property.name(),
            Asked::Formula(name) => name,
        }
    }
}

/// What is concluded about the program from a verdict about its model.
#[derive(Clone, Debug)]
pub enum Conclusion {
    /// The property holds.
    Holds,
    /// It does not hold, if what this rests on is so.
    Violated(Option<Rests>),
    /// It is not known whether it holds.
    Unknown(Reason),
}

/// Why an answer is not known.
#[derive(Clone, Debug)]
pub enum Reason {
    /// A part of the entry is missing in the model.
    TooLarge {
        /// Was a violation seen in the part that is there?
        violated: bool,
    },
    /// Nothing is wrong in the model, but the program can do more.
    LeavesOut(Rests),
    /// Something is wrong in the model, but what the model leaves out may prevent it.
    MayBePrevented(Rests),
    /// Something is wrong in the model if data decides so that was not followed.
    Untracked {
        /// Where it decides.
        place: String,
    },
    /// It depends on a loop that may not end.
    Loop(LoopReason),
    /// The model was not searched to the end, or a question was not answered.
    Model(Unknown),
    /// A formula names something that the entry does not have.
    MissingName {
        /// The name.
        name: String,
        /// Names that are like it.
        nearest: Vec<String>,
    },
    /// A formula names something by a name that several of the entry have.
    AmbiguousName {
        /// The name.
        name: String,
        /// Names that tell them apart.
        candidates: Vec<String>,
    },
}

/// Reasons as they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonKind {
    /// The entry is too large to be extracted as a whole.
    TooLarge,
    /// Something is not modelled exactly.
    Assumption,
    /// Data that was not followed.
    Data,
    /// The number of states, or the memory for them.
    StateLimit,
    /// The time.
    Time,
    /// A loop that may not end.
    Loop,
    /// A panic that is recovered.
    RecoveredPanic,
    /// The user has stopped it.
    Interrupted,
    /// A formula that says nothing about this entry, or is too large for it.
    Formula,
}

impl ReasonKind {
    /// The name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            ReasonKind::TooLarge => "too-large",
            ReasonKind::Assumption => "assumption",
            ReasonKind::Data => "data",
            ReasonKind::StateLimit => "state-limit",
            ReasonKind::Time => "time",
            ReasonKind::Loop => "loop",
            ReasonKind::RecoveredPanic => "recovered-panic",
            ReasonKind::Interrupted => "interrupted",
            ReasonKind::Formula => "formula",
        }
    }
}

impl fmt::Display for ReasonKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ReasonKind::TooLarge => "too large",
            ReasonKind::Assumption => "assumption",
            ReasonKind::Data => "data that was not followed",
            ReasonKind::StateLimit => "state limit",
            ReasonKind::Time => "time",
            ReasonKind::Loop => "loop that may not end",
            ReasonKind::RecoveredPanic => "recovered panic",
            ReasonKind::Interrupted => "interrupted",
            ReasonKind::Formula => "formula does not apply",
        })
    }
}

impl Reason {
    /// Under which heading it is counted.
    pub fn kind(&self) -> ReasonKind {
        match self {
            Reason::TooLarge { .. } => ReasonKind::TooLarge,
            Reason::LeavesOut(_) | Reason::MayBePrevented(_) => ReasonKind::Assumption,
            Reason::Untracked { .. } => ReasonKind::Data,
            Reason::Loop(LoopReason::NotKnown { limit, .. }) => limited(*limit),
            Reason::Loop(_) => ReasonKind::Loop,
            Reason::MissingName { .. } | Reason::AmbiguousName { .. } => ReasonKind::Formula,
            Reason::Model(unknown) => match unknown {
                Unknown::StatesLeft { bound, .. } | Unknown::FormulaStatesLeft(bound) => {
                    match bound {
                        Bound::Limit(limit) => limited(*limit),
                        Bound::TooMany(_) => ReasonKind::StateLimit,
                    }
                }
                Unknown::FormulaTooLarge => ReasonKind::Formula,
                Unknown::CheckEnded(limit) => limited(*limit),
                Unknown::RecoveredPanic { .. } => ReasonKind::RecoveredPanic,
            },
        }
    }
}

fn limited(limit: Limit) -> ReasonKind {
    match limit {
        Limit::States(_) | Limit::Memory(_) | Limit::Numbers => ReasonKind::StateLimit,
        Limit::Time => ReasonKind::Time,
        Limit::Interrupted => ReasonKind::Interrupted,
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::TooLarge { violated } => {
                formatter
                    .write_str("the entry is too large, so the model holds only a part of it; ")?;
                let seen = if *violated { "a violation" } else { "no violation" };
                write!(formatter, "{seen} was found there")
            }
            Reason::LeavesOut(rests) => {
                write!(formatter, "nothing can be proved, because the model is not exact: {rests}")
            }
            // The verdict of the model comes before this.
            Reason::MayBePrevented(rests) => {
                write!(formatter, "the model is not exact, and this may prevent it: {rests}")
            }
            // The verdict of the model comes before this.
            Reason::Untracked { place } => write!(
                formatter,
                "the condition at {place} depends on data that was not followed, so the program \
                 may never take this path"
            ),
            Reason::Loop(reason) => write!(formatter, "{reason}"),
            Reason::Model(unknown) => write!(formatter, "{unknown}"),
            Reason::MissingName { name, nearest } => write!(
                formatter,
                "the formula names `{name}`, which this entry does not have; the nearest names \
                 are {}",
                nearest.join(", ")
            ),
            Reason::AmbiguousName { name, candidates } => write!(
                formatter,
                "the formula names `{name}`, which is ambiguous in this entry: it may be {}",
                candidates.join(", ")
            ),
        }
    }
}

/// One property of one entry.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked.
    pub asked: Asked,
    /// Does its failure count as something found?
    pub counts: bool,
    /// What is said about the program.
    pub conclusion: Conclusion,
    /// What was seen in the model.
    pub verdict: Verdict,
    /// Whether runs of the program showed it, if that was asked for.
    pub confirmation: Option<Confirmation>,
}

impl Answer {
    /// Does the property hold for the program? `None` if that is not known.
    pub fn holds(&self) -> Option<bool> {
        match self.conclusion {
            Conclusion::Holds => Some(true),
            Conclusion::Violated(_) => Some(false),
            Conclusion::Unknown(_) => None,
        }
    }

    /// Is it something that was found?
    pub fn is_violation(&self) -> bool {
        self.counts && self.holds() == Some(false)
    }

    /// Is there something to look for in runs: a violation, or one that only the inexactness of
    /// the model puts in doubt?
    pub fn is_suspected(&self) -> bool {
        let doubted = matches!(
            &self.conclusion,
            Conclusion::Unknown(Reason::MayBePrevented(_) | Reason::Untracked { .. })
        );
        self.counts && (self.holds() == Some(false) || doubted)
    }

    /// Why the answer is not known, if it counts.
    pub fn unknown(&self) -> Option<&Reason> {
        match &self.conclusion {
            Conclusion::Unknown(reason) if self.counts => Some(reason),
            _ => None,
        }
    }
}

impl fmt::Display for Answer {
    /// Why it does not hold, or why that is not known; nothing if it holds.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.conclusion {
            Conclusion::Holds => Ok(()),
            Conclusion::Violated(None) => write!(formatter, "{}", self.verdict),
            Conclusion::Violated(Some(rests)) => {
                write!(formatter, "{}; assumed: {rests}", self.verdict)
            }
            Conclusion::Unknown(
                reason @ (Reason::MayBePrevented(_) | Reason::Untracked { .. }),
            ) => {
                write!(formatter, "in the model, {}; but {reason}", self.verdict)
            }
            Conclusion::Unknown(reason) => write!(formatter, "{reason}"),
        }
    }
}

/// What runs of the program have shown of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// It was seen so often, of so many runs.
    Looked {
        /// How often it was seen.
        seen: u64,
        /// Of how many runs.
        runs: u64,
    },
    /// It could not be looked for.
    NotRun(NotRun),
}

/// Why a violation could not be looked for in runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// The entry is neither `main` nor a test.
    NotRunnable,
    /// It cannot be seen from outside.
    NotVisible,
    /// The package could not be made ready; the text says why.
    NotBuilt(String),
}

impl Confirmation {
    /// Was it seen? `None` if it could not be looked for.
    pub fn confirmed(&self) -> Option<bool> {
        self.seen().map(|seen| seen > 0)
    }

    /// How often it was seen.
    pub fn seen(&self) -> Option<u64> {
        match self {
            Confirmation::Looked { seen, .. } => Some(*seen),
            Confirmation::NotRun(_) => None,
        }
    }

    /// How many runs there were.
    pub fn runs(&self) -> u64 {
        match self {
            Confirmation::Looked { runs, .. } => *runs,
            Confirmation::NotRun(_) => 0,
        }
    }
}

impl fmt::Display for Confirmation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Confirmation::Looked { seen: 0, runs } => {
                write!(formatter, "not confirmed: not seen in {runs} runs")
            }
            Confirmation::Looked { seen, runs } => {
                write!(formatter, "confirmed: seen in {seen} of {runs} runs")
            }
            Confirmation::NotRun(why) => write!(formatter, "not confirmed: {why}"),
        }
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotRun::NotRunnable => formatter.write_str("only main and tests can be run"),
            NotRun::NotVisible => formatter.write_str("a run does not show it"),
            NotRun::NotBuilt(said) => formatter.write_str(said),
        }
    }
}

/// One entry with all its answers.
pub struct Checked {
    /// Its name, such as `example.com/m.TestX`.
    pub entry: String,
    /// Where its function stands, if it is in a file.
    pub position: Option<GoPosition>,
    /// How many states its model has, as far as they were seen.
    pub states: u64,
    /// How many steps there are between them.
    pub transitions: u64,
    /// Is that all?
    pub coverage: Coverage,
    /// Were equivalent orders left out?
    pub reduced: bool,
    /// How long it took.
    pub seconds: f64,
    /// The answers, in the order of the question.
    pub answers: Vec<Answer>,
    /// What was abstracted on the way to the model, each with its place.
    pub assumptions: Vec<Assumption>,
    /// The behavioural types, if they were asked for.
    pub types: Option<String>,
    /// Where the spans of this entry's traces are.
    pub places: Box<dyn Locate>,
}
