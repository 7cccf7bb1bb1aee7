//! What is said about a property: whether it holds, why, and the way to where it breaks.

use std::fmt;

use strait_calculus::{Action, Span};
use strait_explore::Limit;

use crate::doing::{Doing, StepAction};

/// The answer to one question.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What is the answer, and why?
    pub why: Why,
    /// A way to where it breaks.
    pub trace: Option<Trace>,
    /// The places that are wrong, the one that the trace leads to first.
    pub culprits: Vec<Culprit>,
    /// The place of a choice that a violation depends on and that stands for data which was not
    /// followed: the program may never make it.
    pub untracked: Option<String>,
    /// The name of the first process, where it is another one than `main`.
    pub main: Option<String>,
}

/// Whether a property holds, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It holds: every state was seen, and none breaks it.
    Proved,
    /// It does not hold.
    Violated(Violation),
    /// It is not known.
    Unknown(Unknown),
}

/// How a property is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// `main` has not finished, processes wait, and nothing can move.
    Deadlock,
    /// `main` has finished, and processes stay blocked.
    Leak,
    /// A process stays blocked.
    Blocked,
    /// An operation panics.
    Panic,
    /// A process waits for a lock that it holds itself.
    OwnLock,
    /// An add races with a wait.
    AddRace,
    /// A lock is never released.
    LockKept,
    /// A message is never received.
    MessageLost,
    /// The program can end.
    Ends,
    /// The program can go on forever.
    Cycle,
    /// A process can run by itself forever.
    Spins,
    /// The formula is wrong in the first state.
    Formula,
    /// The formula is wrong after the steps of the trace.
    FormulaAfter,
}

/// Why an answer is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Nothing is wrong in the states that were seen, which are not all.
    StatesLeft {
        /// What ended the search.
        bound: Bound,
        /// What may make the states infinitely many, with its place.
        infinite: Option<String>,
    },
    /// A formula needs all states.
    FormulaStatesLeft(Bound),
    /// States times parts of the formula are too many.
    FormulaTooLarge,
    /// The states were there, but the question was not answered in time.
    CheckEnded(Limit),
    /// A panic is recovered, and what follows it was not followed.
    RecoveredPanic {
        /// Where it happens.
        place: String,
    },
}

/// What kept a search from seeing all states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A limit of the search.
    Limit(Limit),
    /// A limit of the machine: too many of something.
    TooMany(&'static str),
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Limit(Limit::States(states)) => write!(formatter, "after {states} states"),
            Bound::Limit(Limit::Memory(bytes)) => {
                write!(formatter, "at a memory use of {} MiB", bytes >> 20)
            }
            Bound::Limit(Limit::Numbers) => formatter.write_str("at the largest number of states"),
            Bound::Limit(Limit::Time) => formatter.write_str("when its time was up"),
            Bound::Limit(Limit::Interrupted) => formatter.write_str("when it was interrupted"),
            Bound::TooMany(what) => write!(formatter, "at too many {what}"),
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::StatesLeft { bound, infinite } => {
                write!(formatter, "no violation was found, but the search ended {bound}")?;
                match infinite {
                    Some(what) => {
                        write!(formatter, "; there may be infinitely many states: {what}")
                    }
                    None => Ok(()),
                }
            }
            Unknown::FormulaStatesLeft(bound) => {
                write!(formatter, "a formula needs all states, but the search ended {bound}")
            }
            Unknown::FormulaTooLarge => {
                formatter.write_str("the states times the parts of the formula are too many")
            }
            Unknown::CheckEnded(Limit::Interrupted) => formatter.write_str("it was interrupted"),
            Unknown::CheckEnded(_) => {
                formatter.write_str("the time was up before this was answered")
            }
            Unknown::RecoveredPanic { place } => write!(
                formatter,
                "a panic at {place} is recovered, and what follows it was not followed"
            ),
        }
    }
}

impl Verdict {
    /// It holds.
    pub(crate) fn proved() -> Verdict {
        Verdict::because(Why::Proved)
    }

    /// It is not known.
    pub fn unknown(reason: Unknown) -> Verdict {
        Verdict::because(Why::Unknown(reason))
    }

    /// An answer without evidence.
    pub(crate) fn because(why: Why) -> Verdict {
        Verdict { why, trace: None, culprits: vec![], untracked: None, main: None }
    }

    /// Does it hold? `None` if that is not known.
    pub fn holds(&self) -> Option<bool> {
        match self.why {
            Why::Proved => Some(true),
            Why::Violated(_) => Some(false),
            Why::Unknown(_) => None,
        }
    }

    /// Does it say that a process, or a message, waits forever?
    pub fn is_about_waiting(&self) -> bool {
        match self.why {
            Why::Violated(violation) => matches!(
                violation,
                Violation::Deadlock
                    | Violation::Leak
                    | Violation::Blocked
                    | Violation::OwnLock
                    | Violation::LockKept
                    | Violation::MessageLost
            ),
            Why::Proved | Why::Unknown(_) => false,
        }
    }
}

impl fmt::Display for Verdict {
    /// Why it does not hold, or why that is not known; nothing if it holds.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Why::Proved => Ok(()),
            Why::Unknown(reason) => write!(formatter, "{reason}"),
            Why::Violated(violation) => {
                self.tell(*violation, formatter)?;
                match &self.trace {
                    Some(trace) => formatter.write_str(&trace.taken_choices()),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Verdict {
    fn tell(&self, violation: Violation, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Listed(&self.culprits);
        let (first, others) = self.culprits.split_at(self.culprits.len().min(1));
        match violation {
            Violation::Deadlock => write!(formatter, "deadlock: {all}"),
            Violation::Leak => {
                let main = self.main.as_deref().unwrap_or("main");
                write!(formatter, "after {main} has returned, {all} forever")
            }
            Violation::Blocked => {
                write!(formatter, "{} forever", Listed(first))?;
                if others.is_empty() {
                    return Ok(());
                }
                write!(formatter, "; in this or other executions also {}", Listed(others))
            }
            Violation::AddRace => write!(formatter, "an add races with a wait: {all}"),
            Violation::Panic | Violation::OwnLock | Violation::LockKept => {
                write!(formatter, "{all}")
            }
            Violation::MessageLost => {
                let Some(first) = first.first() else { return Ok(()) };
                let place = first.parenthesis();
                write!(formatter, "a message in the buffer of {}{place}", first.process)?;
                formatter.write_str(" is never received")?;
                if others.is_empty() {
                    return Ok(());
                }
                let names: Vec<&str> = others.iter().map(|one| one.process.as_str()).collect();
                write!(formatter, "; likewise {}", names.join(", "))
            }
            Violation::Ends => formatter.write_str("the program can come to an end"),
            Violation::Cycle => formatter.write_str("the program can go on forever"),
            Violation::Spins => formatter.write_str("a process can run by itself forever"),
            Violation::Formula => {
                formatter.write_str("the formula does not hold in the first state")
            }
            Violation::FormulaAfter => {
                formatter.write_str("after these steps the formula cannot hold")
            }
        }
    }
}

/// A process at a place where something is wrong.
#[derive(Clone, Debug)]
pub struct Culprit {
    /// Its name.
    pub process: String,
    /// Where it stands.
    pub span: Span,
    /// The same for people, if the place is in their source.
    pub place: Option<String>,
    /// What it does there, or what it waits for.
    pub doing: Doing,
}

impl Culprit {
    fn parenthesis(&self) -> String {
        self.place.as_ref().map_or(String::new(), |place| format!(" ({place})"))
    }
}

impl fmt::Display for Culprit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}{}", self.process, self.doing, self.parenthesis())
    }
}

/// A few of several, in words.
struct Listed<'a>(&'a [Culprit]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 4;
        let mut texts: Vec<String> = self.0.iter().take(SHOWN).map(ToString::to_string).collect();
        if self.0.len() > SHOWN {
            texts.push(format!("and {} more", self.0.len() - SHOWN));
        }
        formatter.write_str(&texts.join("; "))
    }
}

/// An execution, step by step.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The steps as the machine takes them.
    pub actions: Vec<Action>,
    /// The steps for people, spawns included.
    pub steps: Vec<TraceStep>,
    /// From which step on it goes round forever.
    pub cycle: Option<usize>,
    /// The processes that have not finished at the end.
    pub left: Vec<Culprit>,
}

impl Trace {
    /// How many choices it takes that the program's data would decide.
    pub fn choices(&self) -> usize {
        self.steps.iter().filter(|step| step.action.is_choice()).count()
    }

    /// Which of these choices, in words.
    fn taken_choices(&self) -> String {
        const SHOWN: usize = 3;
        let mut taken: Vec<String> = Vec::new();
        for step in self.steps.iter().filter(|step| step.action.is_choice()) {
            let text = format!("{} {}", step.place.as_deref().unwrap_or_default(), step.action);
            if !taken.contains(&text) {
                taken.push(text);
            }
        }
        if taken.is_empty() {
            return String::new();
        }
        let more = taken.len().saturating_sub(SHOWN);
        taken.truncate(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(", if the data allows these choices: {}{more}", taken.join(", "))
    }
}

/// A step for people.
#[derive(Clone, Debug)]
pub struct TraceStep {
    /// The process that acts.
    pub process: String,
    /// What it does.
    pub action: StepAction,
    /// Where.
    pub span: Span,
    /// The same for people, if the place is in their source.
    pub place: Option<String>,
    /// The receiver, and where it stands.
    pub partner: Option<(String, Span)>,
    /// The step of the machine that this is, as a position in the trace's actions.
    pub number: Option<usize>,
}
