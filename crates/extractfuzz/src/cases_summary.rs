//! The summary of the cases with known truth as text: a line for each case that is not right, then
//! counts and rates, and whether the rates are good enough.

use std::fmt;

use crate::cases::{CaseResult, JudgedCase, Truth};

/// The highest rate of false alarms, in percent of the cases without a bug.
const MOST_FALSE_ALARMS: f64 = 3.0;
/// The highest rate of unknown cases, in percent of all cases.
const MOST_UNKNOWN: f64 = 10.0;

/// Displays judged cases.
#[derive(Clone, Copy, Debug)]
pub struct CasesSummary<'a> {
    /// The cases.
    pub judged: &'a [JudgedCase],
}

impl CasesSummary<'_> {
    /// No wrong proof, and few enough false alarms and unknown cases.
    pub fn is_good(&self) -> bool {
        self.count(CaseResult::WrongProof) == 0
            && percent(self.count(CaseResult::FalseAlarm), self.with(Truth::Fine))
                <= MOST_FALSE_ALARMS
            && percent(self.count(CaseResult::Unknown), self.judged.len()) <= MOST_UNKNOWN
    }

    fn count(&self, result: CaseResult) -> usize {
        self.judged.iter().filter(|one| one.result == result).count()
    }

    fn with(&self, truth: Truth) -> usize {
        self.judged.iter().filter(|one| one.case.truth == truth).count()
    }
}

impl fmt::Display for CasesSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for JudgedCase { case, result, why } in self.judged {
            if *result != CaseResult::Right {
                writeln!(f, "{result}: {}: {why}", case.name)?;
            }
        }
        let (all, fine, bug) = (self.judged.len(), self.with(Truth::Fine), self.with(Truth::Bug));
        let rows = [
            ("right", CaseResult::Right, all, "cases"),
            ("wrong proofs", CaseResult::WrongProof, bug, "cases with a bug"),
            ("false alarms", CaseResult::FalseAlarm, fine, "cases without a bug"),
            ("unknown", CaseResult::Unknown, all, "cases"),
        ];
        for (title, result, total, of) in rows {
            let count = self.count(result);
            let rate = percent(count, total);
            writeln!(f, "{title:14} {count:5}  {rate:5.1} % of {total} {of}")?;
        }
        if !self.is_good() {
            writeln!(
                f,
                "failed: allowed are no wrong proofs, {MOST_FALSE_ALARMS} % false alarms and \
                 {MOST_UNKNOWN} % unknown"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for CaseResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CaseResult::Right => "right",
            CaseResult::WrongProof => "wrong proof",
            CaseResult::FalseAlarm => "false alarm",
            CaseResult::Unknown => "unknown",
        })
    }
}

fn percent(count: usize, total: usize) -> f64 {
    100.0 * count as f64 / total.max(1) as f64
}
