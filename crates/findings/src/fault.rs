//! One bug is one fault, however many rules it breaks. Comes in: observations, each of one broken
//! rule at some places of the source. Goes out: faults, each with all rules that it breaks.
//!
//! Within one scope (a test, an entry) observations that share a place are one fault; faults of
//! several scopes are one if they have the same places.

use std::collections::BTreeSet;
use std::fmt;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePlace {
    /// The file.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1.
    pub column: u32,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// One broken rule at some places.
#[derive(Clone, Debug)]
pub struct BrokenRule<Kind, Detail> {
    /// Where it was observed: a number for each test or entry.
    pub scope: usize,
    /// What kind of fault it suggests. The smallest kind of a fault's observations is its own.
    pub kind: Kind,
    /// The broken rule.
    pub rule: String,
    /// The places that are wrong, the most important one first.
    pub places: Vec<SourcePlace>,
    /// Whatever the caller has to say about it.
    pub detail: Detail,
}

/// A fault with everything that was observed of it.
#[derive(Clone, Debug)]
pub struct SourceFault<Kind, Detail> {
    /// What kind it is.
    pub kind: Kind,
    /// The places that are wrong, the most important one first.
    pub places: Vec<SourcePlace>,
    /// The rules that it breaks, each once, that of its kind first.
    pub rules: Vec<String>,
    /// The observations, those of its kind first.
    pub observations: Vec<BrokenRule<Kind, Detail>>,
}

/// Groups observations to faults, in the order in which the faults were first observed.
pub fn group_faults<Kind: Copy + Ord, Detail>(
    observations: Vec<BrokenRule<Kind, Detail>>,
) -> Vec<SourceFault<Kind, Detail>> {
    let mut groups: Vec<Group<Kind, Detail>> = Vec::new();
    for observation in observations {
        let lines = lines(&observation.places);
        let scope = observation.scope;
        let mut joined = Group { scope, lines, observations: vec![] };
        // What this one connects becomes one group, at the place of the first.
        let mut place = groups.len();
        let mut at = 0;
        while at < groups.len() {
            if groups[at].scope == scope && !groups[at].lines.is_disjoint(&joined.lines) {
                let mut other = groups.remove(at);
                place = place.min(at);
                joined.observations.append(&mut other.observations);
                joined.lines.extend(other.lines);
            } else {
                at += 1;
            }
        }
        joined.observations.push(observation);
        groups.insert(place.min(groups.len()), joined);
    }
    let mut merged: Vec<Group<Kind, Detail>> = Vec::new();
    for mut group in groups {
        let same = |other: &&mut Group<Kind, Detail>| {
            other.lines == group.lines && !group.lines.is_empty()
        };
        match merged.iter_mut().find(same) {
            Some(other) => other.observations.append(&mut group.observations),
            None => merged.push(group),
        }
    }
    merged.into_iter().filter_map(Group::fault).collect()
}

fn lines(places: &[SourcePlace]) -> BTreeSet<(String, u32)> {
    places.iter().map(|place| (place.file.clone(), place.line)).collect()
}

struct Group<Kind, Detail> {
    scope: usize,
    lines: BTreeSet<(String, u32)>,
    observations: Vec<BrokenRule<Kind, Detail>>,
}

impl<Kind: Copy + Ord, Detail> Group<Kind, Detail> {
    fn fault(mut self) -> Option<SourceFault<Kind, Detail>> {
        self.observations.sort_by_key(|observation| observation.kind);
        let kind = self.observations.first()?.kind;
        let mut places: Vec<SourcePlace> = Vec::new();
        let mut rules: Vec<String> = Vec::new();
        for observation in &self.observations {
            for place in &observation.places {
                if !places.iter().any(|one| (&one.file, one.line) == (&place.file, place.line)) {
                    places.push(place.clone());
                }
            }
            if !rules.contains(&observation.rule) {
                rules.push(observation.rule.clone());
            }
        }
        Some(SourceFault { kind, places, rules, observations: self.observations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scope rule line,line` for each observation; the faults as `rules at lines`.
    fn check(observed: &[(usize, &str, &[u32])], expected: &[&str]) {
        let observations = observed.iter().map(|(scope, rule, lines)| BrokenRule {
            scope: *scope,
            kind: rule.len(),
            rule: (*rule).to_owned(),
            places: lines
                .iter()
                .map(|line| SourcePlace { file: "a.go".into(), line: *line, column: 1 })
                .collect(),
            detail: (),
        });
        let faults = group_faults(observations.collect());
        let told: Vec<String> = faults
            .iter()
            .map(|fault| {
                let lines: Vec<String> =
                    fault.places.iter().map(|place| place.line.to_string()).collect();
                format!("{} at {}", fault.rules.join(","), lines.join(","))
            })
            .collect();
        assert_eq!(told, expected, "{observed:?}");
    }

    #[test]
    fn one_bug_is_one_fault() {
        check(&[], &[]);
        check(&[(0, "lock", &[3]), (0, "dead", &[3, 9])], &["lock,dead at 3,9"]);
        check(&[(0, "longer", &[9]), (0, "dead", &[3, 9])], &["dead,longer at 3,9"]);
        check(&[(0, "dead", &[3]), (0, "live", &[4])], &["dead at 3", "live at 4"]);
        // A third observation connects two.
        check(&[(0, "a", &[1]), (0, "b", &[2]), (0, "cc", &[1, 2])], &["a,b,cc at 1,2"]);
        // Entries that come to the same place by the same bug.
        check(&[(0, "dead", &[3, 9]), (1, "dead", &[9, 3])], &["dead at 3,9"]);
        check(&[(0, "dead", &[3, 9]), (1, "dead", &[3])], &["dead at 3,9", "dead at 3"]);
        // Nothing is known of where: nothing is shared.
        check(&[(0, "a", &[]), (1, "b", &[])], &["a at ", "b at "]);
    }
}
