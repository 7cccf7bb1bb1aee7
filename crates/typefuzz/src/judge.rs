//! Verdicts to faults: what the rules say and what the oracles say, compared.

use std::collections::BTreeMap;

use strait_findings::Kind;

use crate::known::Known;
use crate::oracle::{Rejection, Verdict};

/// The oracle that a rule file is.
pub const RULES: &str = "rules";

/// What was said about the programs of a case, in the order of the oracles.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// About the program.
    pub first: Vec<Verdict>,
    /// About the one that it is compared with; empty if there is none.
    pub second: Vec<Verdict>,
}

/// Something that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind.
    pub kind: Kind,
    /// Who accepts.
    pub accepts: String,
    /// Who rejects, or crashes.
    pub rejects: String,
    /// Is it about the second program alone?
    pub second: bool,
    /// The reasons that were given.
    pub why: Rejection,
}

/// Faults, and how often each known class of difference was seen.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// What is to be reported.
    pub faults: Vec<Fault>,
    /// Names of known classes.
    pub known: BTreeMap<String, u64>,
}

/// Compares what was said about a case whose programs violate these premises; if there are none, they
/// are well typed.
pub fn judge(names: &[&str], violations: &[&str], verdicts: &Verdicts, known: &Known) -> Judgement {
    let mut judgement = Judgement::default();
    let unknown = |verdict: &Verdict| *verdict == Verdict::Unknown;
    if verdicts.first.iter().chain(&verdicts.second).any(unknown) {
        return judgement;
    }
    judgement.program(names, violations, &verdicts.first, false, known);
    if !verdicts.second.is_empty() {
        judgement.program(names, violations, &verdicts.second, true, known);
        judgement.pair(names, verdicts);
    }
    judgement
}

impl Judgement {
    /// One program under all oracles.
    fn program(
        &mut self,
        names: &[&str],
        violations: &[&str],
        verdicts: &[Verdict],
        second: bool,
        known: &Known,
    ) {
        let mut accepting = Vec::new();
        let mut rejecting = Vec::new();
        for (name, verdict) in names.iter().zip(verdicts) {
            match verdict {
                Verdict::Accepted => accepting.push(*name),
                Verdict::Rejected(why) => rejecting.push((*name, why)),
                Verdict::Crashed { how, output } => {
                    let why = Rejection {
                        codes: Vec::new(),
                        message: how.clone(),
                        rendered: output.clone(),
                    };
                    self.push(Kind::CRASH, RULES, name, second, &why);
                }
                Verdict::Unknown => {}
            }
        }
        if let Some((name, why)) = rejecting.iter().find(|(_, why)| is_syntax(why)) {
            let accepts = accepting.first().copied().unwrap_or(RULES);
            self.push(Kind::PARSER, accepts, name, second, why);
            return;
        }
        for (rejects, why) in &rejecting {
            // One oracle that accepts is enough to disagree with; a known difference with one of
            // them explains nothing about the others.
            for accepts in &accepting {
                match known.class(accepts, rejects, why, violations) {
                    Some(class) => *self.known.entry(class.name.clone()).or_default() += 1,
                    None => self.push(Kind::DISAGREEMENT, accepts, rejects, second, why),
                }
            }
        }
        match (accepting.first(), rejecting.first(), !violations.is_empty()) {
            (None, Some((rejects, why)), false) if !second => {
                self.push(Kind::PRECISION, RULES, rejects, second, why);
            }
            (Some(accepts), None, true) if !second => {
                self.push(Kind::SOUNDNESS, accepts, RULES, second, &Rejection::default());
            }
            _ => {}
        }
    }

    /// Two programs that mean the same, under each oracle.
    fn pair(&mut self, names: &[&str], verdicts: &Verdicts) {
        for ((name, first), second) in names.iter().zip(&verdicts.first).zip(&verdicts.second) {
            let why = match (first, second) {
                (Verdict::Accepted, Verdict::Rejected(why))
                | (Verdict::Rejected(why), Verdict::Accepted) => why,
                _ => continue,
            };
            // The same rejection is also a disagreement with whoever accepts; this says more.
            self.faults.retain(|fault| fault.kind != Kind::DISAGREEMENT || fault.rejects != *name);
            self.push(Kind::CONSISTENCY, name, name, false, why);
        }
    }

    fn push(&mut self, kind: Kind, accepts: &str, rejects: &str, second: bool, why: &Rejection) {
        let alike = |fault: &Fault| fault.kind == kind && fault.rejects == rejects;
        if !self.faults.iter().any(alike) {
            let (accepts, rejects) = (accepts.to_owned(), rejects.to_owned());
            self.faults.push(Fault { kind, accepts, rejects, second, why: why.clone() });
        }
    }
}

/// Does the parser reject it?
fn is_syntax(why: &Rejection) -> bool {
    let beginnings =
        ["expected ", "unexpected ", "unknown start of token", "this file contains an unclosed"];
    why.codes.is_empty() && beginnings.iter().any(|beginning| why.message.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(code: &str) -> Verdict {
        Verdict::Rejected(Rejection {
            codes: vec![code.to_owned()],
            message: "no".to_owned(),
            rendered: String::new(),
        })
    }

    fn kinds(ill_typed: bool, first: &[Verdict], second: &[Verdict]) -> Vec<String> {
        let verdicts = Verdicts { first: first.to_vec(), second: second.to_vec() };
        let known = Known::built_in().expect("known.toml is read");
        let violations: &[&str] = if ill_typed { &["bound"] } else { &[] };
        let judgement = judge(&["rustc", "next-solver"], violations, &verdicts, &known);
        let told = |fault: &Fault| format!("{} {}-{}", fault.kind, fault.accepts, fault.rejects);
        judgement.faults.iter().map(told).collect()
    }

    #[test]
    fn every_combination_has_its_kind() {
        let (yes, no) = (Verdict::Accepted, rejected("E0277"));
        let crash = Verdict::Crashed { how: "SIGSEGV".to_owned(), output: String::new() };
        let both = |one: &Verdict, other: &Verdict| [one.clone(), other.clone()];
        type Row = (bool, [Verdict; 2], Vec<Verdict>, &'static [&'static str]);
        let table: [Row; 8] = [
            (false, both(&yes, &yes), vec![], &[]),
            (false, both(&no, &no), vec![], &["precision rules-rustc"]),
            (false, both(&no, &yes), vec![], &["disagreement next-solver-rustc"]),
            (true, both(&no, &no), vec![], &[]),
            (true, both(&yes, &yes), vec![], &["soundness rustc-rules"]),
            (false, both(&yes, &crash), vec![], &["crash rules-next-solver"]),
            (false, both(&yes, &yes), both(&no, &yes).to_vec(), &["consistency rustc-rustc"]),
            (true, both(&no, &no), both(&no, &no).to_vec(), &[]),
        ];
        for (ill_typed, first, second, expected) in table {
            assert_eq!(kinds(ill_typed, &first, &second), expected, "{first:?} {second:?}");
        }
    }
}
