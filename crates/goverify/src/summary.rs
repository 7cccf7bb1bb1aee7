//! What all entries together amount to: how many are proved, violated and unknown, and whether that
//! is a failure.

use std::collections::BTreeMap;
use std::fmt;

use crate::answer::{Checked, Conclusion, Reason, ReasonKind};
use crate::error::Error;
use crate::findings::GoFinding;

/// What makes a build fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOn {
    /// Every violation.
    #[default]
    Violation,
    /// Only a violation that was seen in runs.
    Confirmed,
    /// A violation, or an answer that is not known.
    Unknown,
}

/// How many entries have which answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Entries of which everything that was asked holds.
    pub proved: usize,
    /// Entries with a violation.
    pub violated: usize,
    /// Entries without a violation of which something is not known.
    pub unknown: usize,
    /// The unknown entries by their first reason.
    pub reasons: BTreeMap<ReasonKind, usize>,
    /// Findings that count.
    pub new: usize,
    /// Findings that comments silence.
    pub suppressed: usize,
    /// Findings that are in the baseline.
    pub known: usize,
    /// Findings that count and were seen in runs.
    pub confirmed: usize,
    /// Is anything unknown, also in entries with a violation?
    any_unknown: bool,
}

impl Summary {
    /// Counts.
    pub fn of(checked: &[Checked], findings: &[GoFinding]) -> Summary {
        let mut summary = Summary::default();
        for entry in checked {
            let reasons: Vec<&Reason> =
                entry.answers.iter().filter_map(|answer| answer.unknown()).collect();
            summary.any_unknown |= !reasons.is_empty();
            if entry.answers.iter().any(|answer| answer.is_violation()) {
                summary.violated += 1;
            } else if let Some(reason) = reasons.first() {
                summary.unknown += 1;
                *summary.reasons.entry(reason.kind()).or_default() += 1;
            } else {
                summary.proved += 1;
            }
        }
        for finding in findings {
            match &finding.status {
                crate::FindingStatus::New => summary.new += 1,
                crate::FindingStatus::Suppressed { .. } => summary.suppressed += 1,
                crate::FindingStatus::Known => summary.known += 1,
            }
            if finding.is_new() && finding.confirmed() == Some(true) {
                summary.confirmed += 1;
            }
        }
        summary
    }

    /// Does the build fail?
    pub fn fails(&self, on: FailOn) -> bool {
        match on {
            FailOn::Violation => self.new > 0,
            FailOn::Confirmed => self.confirmed > 0,
            FailOn::Unknown => self.new > 0 || self.any_unknown,
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.proved + self.violated + self.unknown;
        let word = if entries == 1 { "entry" } else { "entries" };
        write!(
            formatter,
            "{entries} {word}: {} proved, {} violated, {} unknown",
            self.proved, self.violated, self.unknown
        )?;
        if !self.reasons.is_empty() {
            let reasons: Vec<String> =
                self.reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
            write!(formatter, " ({})", reasons.join(", "))?;
        }
        let all = self.new + self.suppressed + self.known;
        if all == 0 {
            return Ok(());
        }
        let word = if all == 1 { "finding" } else { "findings" };
        write!(formatter, "; {all} {word}")?;
        for (count, what) in [
            (self.confirmed, "confirmed"),
            (self.suppressed, "suppressed"),
            (self.known, "in the baseline"),
        ] {
            if count > 0 {
                write!(formatter, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

/// The first name in a formula that means one thing in no entry: it is misspelt, or ambiguous.
pub fn unusable_name(checked: &[Checked]) -> Result<(), Error> {
    let Some(first) = checked.first() else { return Ok(()) };
    for position in 0..first.answers.len() {
        let reason = |entry: &'_ Checked| match &entry.answers.get(position)?.conclusion {
            Conclusion::Unknown(
                reason @ (Reason::MissingName { name, .. } | Reason::AmbiguousName { name, .. }),
            ) => Some((name.clone(), entry.entry.clone(), reason.clone())),
            _ => None,
        };
        let Some(found) = checked.iter().map(reason).collect::<Option<Vec<_>>>() else { continue };
        let Some((name, ..)) = found.first().cloned() else { continue };
        if found.iter().any(|(other, ..)| *other != name) {
            continue;
        }
        let formula = first.answers[position].asked.name().to_owned();
        let ambiguous = found.iter().find_map(|(_, entry, reason)| match reason {
            Reason::AmbiguousName { candidates, .. } => Some((entry.clone(), candidates.clone())),
            _ => None,
        });
        if let Some((entry, candidates)) = ambiguous {
            return Err(Error::AmbiguousName { formula, name, entry, candidates });
        }
        if let Some((_, _, Reason::MissingName { nearest, .. })) = found.into_iter().next() {
            return Err(Error::MissingName { formula, name, nearest });
        }
    }
    Ok(())
}
