//! What a verdict about a model says about the Go program, given what the model leaves out.

use std::fmt;

use strait_golang::{Approximation, Assumption, Entry};
use strait_verify::{Formula, Property, Verdict};

use crate::answer::{Conclusion, Reason};

/// The assumptions that an answer rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rests {
    /// One of them.
    pub first: Assumption,
    /// How many others there are.
    pub more: usize,
}

impl fmt::Display for Rests {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&told(&self.first))?;
        match self.more {
            0 => Ok(()),
            1 => formatter.write_str(" and 1 more assumption"),
            more => write!(formatter, " and {more} more assumptions"),
        }
    }
}

/// An assumption in a line.
pub fn told(assumption: &Assumption) -> String {
    match &assumption.position {
        Some(position) => format!("{}:{}: {}", position.file, position.line, assumption.message),
        None => assumption.message.clone(),
    }
}

/// How an answer depends on the side on which a model errs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sensitivity {
    /// May a proof be wrong if the model can do more than the program?
    proof_to_more: bool,
    /// May a violation be wrong if the model can do less?
    violation_to_less: bool,
    /// May a violation disappear if an operation was left out?
    violation_to_left_out: bool,
}

impl Sensitivity {
    /// Properties forbid executions: more of them do not make a proof wrong.
    pub(crate) fn of_property(property: Property, verdict: &Verdict) -> Sensitivity {
        let waits = property == Property::EventualReception || verdict.is_about_waiting();
        Sensitivity { proof_to_more: false, violation_to_less: false, violation_to_left_out: waits }
    }

    /// A formula may ask that something is possible.
    pub(crate) fn of_formula(formula: &Formula) -> Sensitivity {
        let asks_for_more = !formula.is_universal();
        Sensitivity {
            proof_to_more: asks_for_more,
            violation_to_less: asks_for_more,
            violation_to_left_out: true,
        }
    }
}

/// What is concluded from a verdict. What is proved of a model that leaves something out is not
/// proved of the program; a violation says what it rests on.
pub(crate) fn conclude(verdict: &Verdict, sensitivity: Sensitivity, entry: &Entry) -> Conclusion {
    let violated = match &verdict.why {
        strait_verify::Why::Unknown(unknown) => {
            return Conclusion::Unknown(Reason::Model(unknown.clone()));
        }
        strait_verify::Why::Proved => false,
        strait_verify::Why::Violated(_) => true,
    };
    if entry.truncated {
        return Conclusion::Unknown(Reason::TooLarge { violated });
    }
    let rests = |matters: &dyn Fn(Approximation) -> bool| {
        let mut matter = entry.assumptions.iter().filter(|one| matters(one.approximation));
        let first = matter.next()?.clone();
        Some(Rests { first, more: matter.count() })
    };
    if !violated {
        let matters =
            |side: Approximation| side != Approximation::Over || sensitivity.proof_to_more;
        return match rests(&matters) {
            Some(rests) => Conclusion::Unknown(Reason::LeavesOut(rests)),
            None => Conclusion::Holds,
        };
    }
    if let Some(place) = &verdict.untracked {
        return Conclusion::Unknown(Reason::Untracked { place: place.clone() });
    }
    let doubted = |side: Approximation| match side {
        Approximation::Over => false,
        Approximation::Under => sensitivity.violation_to_less,
        Approximation::Either => sensitivity.violation_to_left_out,
    };
    match rests(&doubted) {
        Some(rests) => Conclusion::Unknown(Reason::MayBePrevented(rests)),
        None => Conclusion::Violated(rests(&|side| side != Approximation::Under)),
    }
}
