//! Verdicts to faults: what the rules say and what the oracles say, compared. One program shows one
//! fault of a kind, whichever oracle is on which side.

use std::collections::BTreeMap;

use strait_findings::Kind;

use crate::known::Known;
use crate::oracle::{Oracle, Profile, Rejection, Verdict};

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

/// Who was asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is.
    pub profile: &'a Profile,
}

impl<'a> From<&'a dyn Oracle> for Asked<'a> {
    fn from(oracle: &'a dyn Oracle) -> Self {
        Asked { name: oracle.name(), profile: oracle.profile() }
    }
}

/// Something that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind.
    pub kind: Kind,
    /// The oracles that accept, [`RULES`] if there is none.
    pub accepts: Vec<String>,
    /// The oracles that reject or crash, [`RULES`] if there is none.
    pub rejects: Vec<String>,
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
pub fn judge(
    asked: &[Asked<'_>],
    violations: &[&str],
    verdicts: &Verdicts,
    known: &Known,
) -> Judgement {
    let mut judgement = Judgement::default();
    let unknown = |verdict: &Verdict| *verdict == Verdict::Unknown;
    if verdicts.first.iter().chain(&verdicts.second).any(unknown) {
        return judgement;
    }
    judgement.program(asked, violations, &verdicts.first, false, known);
    if !verdicts.second.is_empty() {
        judgement.program(asked, violations, &verdicts.second, true, known);
        judgement.pair(asked, verdicts);
    }
    judgement
}

impl Judgement {
    /// One program under all oracles.
    fn program(
        &mut self,
        asked: &[Asked<'_>],
        violations: &[&str],
        verdicts: &[Verdict],
        second: bool,
        known: &Known,
    ) {
        let mut accepting = Vec::new();
        let mut rejecting = Vec::new();
        for (one, verdict) in asked.iter().zip(verdicts) {
            match verdict {
                Verdict::Accepted => accepting.push(one),
                Verdict::Rejected(why) => rejecting.push((one, why)),
                Verdict::Crashed { how, output } => self.crash(one.name, how, output, second),
                Verdict::Unknown => {}
            }
        }
        if let Some((one, why)) = rejecting.iter().find(|(_, why)| why.is_syntax) {
            let accepts = accepting.first().map_or(RULES, |one| one.name);
            self.push(Kind::PARSER, &[accepts], &[one.name], second, why);
            return;
        }
        self.disagreement(&accepting, &rejecting, violations, second, known);
        let names = |all: &[&Asked<'_>]| all.iter().map(|one| one.name.to_owned()).collect();
        match (rejecting.first(), accepting.is_empty(), violations.is_empty()) {
            (Some((_, why)), true, true) if !second => {
                let rejects: Vec<&Asked<'_>> = rejecting.iter().map(|(one, _)| *one).collect();
                self.add(Kind::PRECISION, vec![RULES.to_owned()], names(&rejects), second, why);
            }
            (None, false, false) if !second => {
                let class = |one: &&&Asked<'_>| match known.accepted(one.profile, violations) {
                    Some(class) => {
                        *self.known.entry(class.name.clone()).or_default() += 1;
                        false
                    }
                    None => true,
                };
                let unsound: Vec<&Asked<'_>> = accepting.iter().filter(class).copied().collect();
                if !unsound.is_empty() {
                    let why = Rejection::default();
                    let rules = vec![RULES.to_owned()];
                    self.add(Kind::SOUNDNESS, names(&unsound), rules, second, &why);
                }
            }
            _ => {}
        }
    }

    /// One oracle that accepts is enough to disagree with; a known difference with one of them explains
    /// nothing about the others.
    fn disagreement(
        &mut self,
        accepting: &[&Asked<'_>],
        rejecting: &[(&Asked<'_>, &Rejection)],
        violations: &[&str],
        second: bool,
        known: &Known,
    ) {
        let (mut accepts, mut rejects) = (Vec::new(), Vec::new());
        for (rejecting, why) in rejecting {
            for accepting in accepting {
                let class = known.class(accepting.profile, rejecting.profile, why, violations);
                if let Some(class) = class {
                    *self.known.entry(class.name.clone()).or_default() += 1;
                    continue;
                }
                for (side, name) in [(&mut accepts, accepting.name), (&mut rejects, rejecting.name)]
                {
                    if !side.contains(&name) {
                        side.push(name);
                    }
                }
            }
        }
        let first = rejecting.iter().find(|(one, _)| rejects.contains(&one.name));
        if let Some((_, why)) = first {
            self.push(Kind::DISAGREEMENT, &accepts, &rejects, second, why);
        }
    }

    /// Two programs that mean the same, under each oracle.
    fn pair(&mut self, asked: &[Asked<'_>], verdicts: &Verdicts) {
        let pairs = asked.iter().zip(verdicts.first.iter().zip(&verdicts.second));
        let changed: Vec<(&str, &Rejection)> = pairs
            .filter_map(|(one, verdicts)| match verdicts {
                (Verdict::Accepted, Verdict::Rejected(why))
                | (Verdict::Rejected(why), Verdict::Accepted) => Some((one.name, why)),
                _ => None,
            })
            .collect();
        // The same rejection is also a disagreement with those who accept; this says more.
        let is_changed = |name: &String| changed.iter().any(|(other, _)| other == name);
        self.faults.retain(|fault| {
            fault.kind != Kind::DISAGREEMENT || !fault.rejects.iter().all(is_changed)
        });
        for (position, (_, why)) in changed.iter().enumerate() {
            if changed[..position].iter().any(|(_, other)| other.codes == why.codes) {
                continue;
            }
            let alike = changed.iter().filter(|(_, other)| other.codes == why.codes);
            let names: Vec<&str> = alike.map(|(name, _)| *name).collect();
            self.push(Kind::CONSISTENCY, &names, &names, false, why);
        }
    }

    fn crash(&mut self, name: &str, how: &str, output: &str, second: bool) {
        let alike = |fault: &&mut Fault| fault.kind == Kind::CRASH && fault.why.message == how;
        if let Some(fault) = self.faults.iter_mut().find(alike) {
            if !fault.rejects.iter().any(|other| other == name) {
                fault.rejects.push(name.to_owned());
            }
            return;
        }
        let why = Rejection {
            message: how.to_owned(),
            rendered: output.to_owned(),
            ..Rejection::default()
        };
        self.push(Kind::CRASH, &[RULES], &[name], second, &why);
    }

    fn push(
        &mut self,
        kind: Kind,
        accepts: &[&str],
        rejects: &[&str],
        second: bool,
        why: &Rejection,
    ) {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        self.add(kind, owned(accepts), owned(rejects), second, why);
    }

    fn add(
        &mut self,
        kind: Kind,
        accepts: Vec<String>,
        rejects: Vec<String>,
        second: bool,
        why: &Rejection,
    ) {
        let alike = |fault: &Fault| fault.kind == kind && fault.rejects == rejects;
        if !self.faults.iter().any(alike) {
            self.faults.push(Fault { kind, accepts, rejects, second, why: why.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(code: &str) -> Verdict {
        Verdict::Rejected(Rejection {
            codes: vec![code.to_owned()],
            message: "no".to_owned(),
            ..Rejection::default()
        })
    }

    fn kinds(ill_typed: bool, first: &[Verdict], second: &[Verdict]) -> Vec<String> {
        let verdicts = Verdicts { first: first.to_vec(), second: second.to_vec() };
        let known = Known::built_in().expect("known.toml is read");
        let violations: &[&str] = if ill_typed { &["bound"] } else { &[] };
        let next = ["-Znext-solver=globally".to_owned()];
        let profiles = [Profile::rustc(&[]), Profile::rustc(&next), Profile::rustc(&next)];
        let names = ["rustc", "next", "nightly"].into_iter().zip(&profiles);
        let asked: Vec<Asked<'_>> = names.map(|(name, profile)| Asked { name, profile }).collect();
        let judgement = judge(&asked[..first.len()], violations, &verdicts, &known);
        let description = |fault: &Fault| {
            format!("{} {}-{}", fault.kind, fault.accepts.join(","), fault.rejects.join(","))
        };
        judgement.faults.iter().map(description).collect()
    }

    #[test]
    fn every_combination_has_its_kind() {
        let (yes, no, other) = (Verdict::Accepted, rejected("E0277"), rejected("E0308"));
        let crash = Verdict::Crashed { how: "SIGSEGV".to_owned(), output: String::new() };
        let all = |verdicts: &[&Verdict]| -> Vec<Verdict> {
            verdicts.iter().map(|verdict| (*verdict).clone()).collect()
        };
        type Row = (bool, Vec<Verdict>, Vec<Verdict>, &'static [&'static str]);
        let table: [Row; 12] = [
            (false, all(&[&yes, &yes]), vec![], &[]),
            (false, all(&[&no, &no]), vec![], &["precision rules-rustc,next"]),
            (false, all(&[&no, &yes]), vec![], &["disagreement next-rustc"]),
            // One cause is one fault, however many oracles are on a side.
            (false, all(&[&no, &yes, &yes]), vec![], &["disagreement next,nightly-rustc"]),
            (false, all(&[&no, &yes, &other]), vec![], &["disagreement next-rustc,nightly"]),
            (true, all(&[&no, &no]), vec![], &[]),
            (true, all(&[&yes, &yes]), vec![], &["soundness rustc,next-rules"]),
            (false, all(&[&yes, &crash]), vec![], &["crash rules-next"]),
            (false, all(&[&crash, &crash]), vec![], &["crash rules-rustc,next"]),
            (false, all(&[&yes, &yes]), all(&[&no, &yes]), &["consistency rustc-rustc"]),
            (
                false,
                all(&[&yes, &yes, &yes]),
                all(&[&no, &no, &other]),
                &["consistency rustc,next-rustc,next", "consistency nightly-nightly"],
            ),
            (true, all(&[&no, &no]), all(&[&no, &no]), &[]),
        ];
        for (ill_typed, first, second, expected) in table {
            assert_eq!(kinds(ill_typed, &first, &second), expected, "{first:?} {second:?}");
        }
    }
}
