//! What a check gives back: the set of outcomes, each with a way to it, and an honest word about how
//! much was seen.

use std::fmt;

use strait_explore::{Coverage, Interleavings, Pick, Report};

use crate::doubt::Doubt;
use crate::outcome::Outcome;
use crate::rt::memory::Model;
use crate::trace::Trace;

/// One outcome with one way to it.
#[derive(Clone, Debug)]
pub struct Found<T> {
    /// What the execution gave.
    pub outcome: Outcome<T>,
    pub(crate) picks: Vec<Pick>,
}

/// The outcomes of a program.
#[derive(Clone, Debug)]
pub struct Outcomes<T> {
    /// Each distinct outcome once, in the order of discovery.
    pub found: Vec<Found<T>>,
    /// How much the search speaks for.
    pub coverage: Coverage,
    /// The memory model under which it was done.
    pub model: Model,
    /// Executions, those that were cut included.
    pub executions: u64,
    /// Executions that were cut because they were as long as allowed.
    pub cut: u64,
    /// Steps performed, those performed again to get back to a branching point not counted.
    pub steps: u64,
    /// Executions that were begun in vain (0 when the reduction is optimal).
    pub redundant: u64,
    /// If schedules were drawn: how many ordered pairs of conflicting operations they have shown.
    pub interleavings: Option<Interleavings>,
    /// Why this does not speak for the program, if it does not. Then it is not exhaustive, and checks
    /// fail.
    pub doubt: Option<Doubt>,
}

impl<T> Outcomes<T> {
    /// What a search has found, which nothing speaks against yet.
    pub(crate) fn of(report: Report<Outcome<T>, Pick>, model: Model) -> Self {
        let found = report.found.into_iter();
        Outcomes {
            found: found
                .map(|found| Found { outcome: found.outcome, picks: found.trace })
                .collect(),
            coverage: report.coverage,
            model,
            executions: report.executions,
            cut: report.cut,
            steps: report.transitions,
            redundant: report.redundant,
            interleavings: report.interleavings,
            doubt: None,
        }
    }

    /// The values among the outcomes.
    pub fn values(&self) -> Vec<&T> {
        self.found.iter().filter_map(|found| found.outcome.value()).collect()
    }

    /// The failures among the outcomes.
    pub fn failures(&self) -> Vec<&Outcome<T>> {
        self.found
            .iter()
            .map(|found| &found.outcome)
            .filter(|outcome| outcome.is_failure())
            .collect()
    }

    /// Was every behaviour seen?
    pub fn is_exhaustive(&self) -> bool {
        self.coverage == Coverage::Exhaustive
    }
}

impl<T: fmt::Debug> fmt::Display for Outcomes<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.coverage, self.interleavings) {
            (Coverage::Sampled(_), Some(interleavings)) => {
                writeln!(formatter, "{} under {}, {interleavings}", self.coverage, self.model)?;
            }
            (Coverage::Sampled(_), None) => {
                writeln!(formatter, "{} under {}", self.coverage, self.model)?;
            }
            (coverage, _) => writeln!(formatter, "{coverage}, {} executions", self.executions)?,
        }
        for found in &self.found {
            writeln!(formatter, "  {}", found.outcome)?;
        }
        Ok(())
    }
}

/// A check that did not hold, with all that is needed to look into it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong.
    pub message: String,
    /// How it came about, made as simple as possible.
    pub trace: Trace,
    /// Executions performed until then.
    pub executions: u64,
    /// How the search was done.
    pub search: String,
    /// The test, as far as it has a name.
    pub test: Option<String>,
    pub(crate) origin: Origin,
}

/// How a failure came to light.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    Search,
    /// By performing a given schedule.
    Replay,
    /// A given schedule could not be performed.
    Misfit,
    /// Nothing wrong was found, but that proves nothing.
    Doubt(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { message, trace, executions, search, test, origin } = self;
        let test = test.as_deref().unwrap_or("");
        match origin {
            Origin::Search => {
                writeln!(formatter, "{message}")?;
                writeln!(formatter, "found in execution {executions} of a search for {search}")?;
                writeln!(formatter, "a simple way to it:")?;
            }
            Origin::Replay => {
                writeln!(formatter, "{message}")?;
                writeln!(formatter, "seen again under {search}:")?;
            }
            Origin::Doubt(remedy) => {
                writeln!(formatter, "not tested: {message}")?;
                writeln!(formatter, "{remedy}")?;
                let plural = if *executions == 1 { "" } else { "s" };
                return writeln!(formatter, "{executions} execution{plural} of {search}");
            }
            Origin::Misfit => {
                writeln!(formatter, "{search} does not fit this check: {message}")?;
                if !trace.lines.is_empty() {
                    write!(formatter, "what was performed until then:\n{trace}")?;
                }
                writeln!(
                    formatter,
                    "The program has changed since the schedule was printed, or another check has \
                     printed it."
                )?;
                return writeln!(
                    formatter,
                    "To search anew:  env -u STRAIT_REPLAY cargo test {test}"
                );
            }
        }
        write!(formatter, "{trace}")?;
        writeln!(formatter, "compact: {}", trace.compact)?;
        writeln!(formatter, "replay:  STRAIT_REPLAY='{}' cargo test {test}", trace.replay)
    }
}
