//! How heavy each rule is: the heuristics of Stiévenart and Madsen, OOPSLA 2020 (Table 2) and weights from a TOML file.
//!
//! ```toml
//! base = "F"          # optional: start from a heuristic; otherwise every other rule has weight 0
//! expansion = 0.5     # a whole family at once
//! G-SELECT = 20       # one rule
//! ```
//!
//! A weight is kept as a whole number of thousandths, so that it means the same on every machine.

use std::path::Path;

use strait_calculus::edit_distance;

use crate::error::Error;
use crate::rule::{Family, Rule};

/// The largest weight.
pub const MAX_WEIGHT: u32 = 10_000;

const THOUSAND: u32 = 1000;

/// A weight a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    thousandths: [u32; Rule::COUNT],
}

/// The weights that the paper compares (Table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heuristic {
    /// Every rule alike.
    A,
    /// No reordering.
    B,
    /// No expansion.
    C,
    /// No G-SELECT.
    D,
    /// G-SELECT only, expanded and reordered.
    E,
    /// The authors' own: selects above all.
    F,
}

impl Heuristic {
    /// All of them.
    pub const ALL: [Heuristic; 6] =
        [Heuristic::A, Heuristic::B, Heuristic::C, Heuristic::D, Heuristic::E, Heuristic::F];

    /// The letter.
    pub fn name(self) -> &'static str {
        match self {
            Heuristic::A => "A",
            Heuristic::B => "B",
            Heuristic::C => "C",
            Heuristic::D => "D",
            Heuristic::E => "E",
            Heuristic::F => "F",
        }
    }

    /// The heuristic with this letter.
    pub fn named(name: &str) -> Result<Heuristic, Error> {
        Heuristic::ALL
            .into_iter()
            .find(|heuristic| heuristic.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| Error::UnknownHeuristic { name: name.to_owned() })
    }

    /// The row of Table 2. G-FINAL and the extensions are not in the table: they have weight 1, and
    /// X-QUIT has 3.
    pub fn weights(self) -> Weights {
        // G-SEQ, G-CHOICE, G-SPAWN, G-PINGPONG, G-FANOUT, G-PIPELINE, G-SELECT, expansion,
        // reordering
        let row = match self {
            Heuristic::A => [1, 1, 1, 1, 1, 1, 1, 1, 1],
            Heuristic::B => [1, 1, 1, 1, 1, 1, 1, 1, 0],
            Heuristic::C => [1, 1, 1, 1, 1, 1, 1, 0, 1],
            Heuristic::D => [1, 1, 1, 1, 1, 1, 0, 1, 1],
            Heuristic::E => [0, 0, 0, 0, 0, 0, 1, 1, 1],
            Heuristic::F => [1, 1, 1, 2, 2, 2, 15, 1, 1],
        };
        let mut weights = Weights::none();
        let generation = [
            Rule::GSeq,
            Rule::GChoice,
            Rule::GSpawn,
            Rule::GPingPong,
            Rule::GFanOut,
            Rule::GPipeline,
            Rule::GSelect,
        ];
        for (rule, weight) in generation.into_iter().zip(row) {
            weights.set(rule, weight);
        }
        weights.set_family(Family::Expansion, row[7]);
        weights.set_family(Family::Reordering, row[8]);
        weights.set_family(Family::Extension, 1);
        // Where users report most faults.
        weights.set(Rule::XQuit, 3);
        weights.set(Rule::GFinal, 1);
        weights
    }
}

impl Weights {
    /// Every rule with weight 0.
    pub fn none() -> Self {
        Weights { thousandths: [0; Rule::COUNT] }
    }

    fn only_final() -> Self {
        let mut weights = Weights::none();
        weights.set(Rule::GFinal, 1);
        weights
    }

    /// The weight in thousandths.
    pub fn thousandths(&self, rule: Rule) -> u32 {
        self.thousandths[rule as usize]
    }

    /// Gives a rule a whole weight, at most [`MAX_WEIGHT`].
    pub fn set(&mut self, rule: Rule, weight: u32) {
        self.thousandths[rule as usize] = weight.min(MAX_WEIGHT) * THOUSAND;
    }

    /// Gives every rule of a family a whole weight.
    pub fn set_family(&mut self, family: Family, weight: u32) {
        for rule in Rule::ALL {
            if rule.family() == family {
                self.set(rule, weight);
            }
        }
    }

    /// The sum over a family, in thousandths.
    pub fn total(&self, family: Family) -> u32 {
        Rule::ALL
            .into_iter()
            .filter(|rule| rule.family() == family)
            .map(|rule| self.thousandths(rule))
            .sum()
    }

    /// Reads a weights file.
    pub fn from_file(path: &Path) -> Result<Weights, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::UnreadableFile { path: path.to_owned(), source })?;
        Weights::from_toml(&text)
    }

    /// Reads the text of a weights file. Families are set before single rules, wherever they stand.
    pub fn from_toml(text: &str) -> Result<Weights, Error> {
        let table: toml::Table = toml::from_str(text)
            .map_err(|error| Error::NotToml { message: error.to_string().trim().to_owned() })?;
        let mut weights = match table.get("base") {
            None => Weights::only_final(),
            Some(toml::Value::String(name)) => Heuristic::named(name)?.weights(),
            Some(other) => {
                return Err(Error::UnknownHeuristic { name: other.to_string() });
            }
        };
        let mut single_rules = Vec::new();
        for (name, value) in &table {
            if name == "base" {
                continue;
            }
            let thousandths = weight_of(name, value)?;
            let family = Family::ALL.into_iter().find(|family| family.name() == name);
            match (Rule::named(name), family) {
                (Some(rule), _) => single_rules.push((rule, thousandths)),
                (None, Some(family)) => {
                    for rule in Rule::ALL.into_iter().filter(|rule| rule.family() == family) {
                        weights.thousandths[rule as usize] = thousandths;
                    }
                }
                (None, None) => {
                    return Err(Error::UnknownRule {
                        name: name.clone(),
                        suggestion: similar_name(name),
                    });
                }
            }
        }
        for (rule, thousandths) in single_rules {
            weights.thousandths[rule as usize] = thousandths;
        }
        weights.validate()?;
        Ok(weights)
    }

    /// Can these weights make anything at all?
    pub fn validate(&self) -> Result<(), Error> {
        let communicating = [Rule::GPingPong, Rule::GFanOut, Rule::GPipeline, Rule::GSelect];
        if communicating.into_iter().all(|rule| self.thousandths(rule) == 0) {
            return Err(Error::NothingCommunicates { forbidden: false });
        }
        if self.thousandths(Rule::GFinal) == 0 {
            return Err(Error::NothingEnds);
        }
        Ok(())
    }
}

fn weight_of(name: &str, value: &toml::Value) -> Result<u32, Error> {
    let number = match value {
        toml::Value::Integer(number) => *number as f64,
        toml::Value::Float(number) => *number,
        other => {
            return Err(Error::NotANumber { name: name.to_owned(), found: other.to_string() });
        }
    };
    // A weight above zero stays above zero, however small.
    if !(0.0..=f64::from(MAX_WEIGHT)).contains(&number) {
        return Err(Error::WeightOutOfRange { name: name.to_owned(), value: number });
    }
    let thousandths = (number * f64::from(THOUSAND)).round() as u32;
    Ok(if number > 0.0 { thousandths.max(1) } else { 0 })
}

/// The rule or family whose name is nearest, if it is near.
fn similar_name(name: &str) -> Option<String> {
    let wanted = name.to_ascii_uppercase();
    let rules = Rule::ALL.into_iter().map(Rule::name);
    let families = Family::ALL.into_iter().map(Family::name);
    rules
        .chain(families)
        .map(|known| (edit_distance(&wanted, &known.to_ascii_uppercase()), known))
        .min()
        .filter(|(distance, known)| distance * 2 <= known.len())
        .map(|(_, known)| known.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heuristic_f_is_the_authors_own() {
        let weights = Heuristic::F.weights();
        assert_eq!(weights.thousandths(Rule::GSelect), 15_000);
        assert_eq!(weights.thousandths(Rule::GFanOut), 2000);
        assert_eq!(weights.thousandths(Rule::ESeq), 1000);
        assert_eq!(Heuristic::B.weights().total(Family::Reordering), 0);
        assert_eq!(Heuristic::C.weights().total(Family::Expansion), 0);
        assert_eq!(Heuristic::D.weights().thousandths(Rule::GSelect), 0);
        assert_eq!(Heuristic::E.weights().thousandths(Rule::GPingPong), 0);
        assert!(Heuristic::named("f").is_ok_and(|heuristic| heuristic == Heuristic::F));
    }

    #[test]
    fn a_file_starts_from_a_heuristic_and_changes_it() {
        let weights =
            Weights::from_toml("base = \"A\"\nG-SELECT = 2.5\nexpansion = 0\nE-SEQ = 0.0001\n")
                .expect("these weights are right");
        assert_eq!(weights.thousandths(Rule::GSelect), 2500);
        assert_eq!(weights.thousandths(Rule::GSeq), 1000);
        assert_eq!(weights.thousandths(Rule::EChoiceDup), 0);
        assert_eq!(weights.thousandths(Rule::ESeq), 1, "small is not absent");
    }

    #[test]
    fn without_a_base_the_rest_is_absent() {
        let weights = Weights::from_toml("G-FANOUT = 1").expect("these weights are right");
        assert_eq!(weights.thousandths(Rule::GFanOut), 1000);
        assert_eq!(weights.thousandths(Rule::GSelect), 0);
        assert_eq!(weights.thousandths(Rule::GFinal), 1000);
    }

    #[test]
    fn wrong_weights_are_explained() {
        let nothing = "no rule that communicates is left: give one of G-PINGPONG, G-FANOUT, \
                       G-PIPELINE and G-SELECT a weight above 0";
        let no_final =
            "the weight of G-FINAL is 0: it ends every derivation, so give it a weight above 0";
        for (text, message) in [
            ("G-SELCT = 1", "there is no rule `G-SELCT`; did you mean G-SELECT?"),
            ("expansions = 1", "there is no rule `expansions`; did you mean expansion?"),
            ("teapot = 1", "there is no rule `teapot`; `strait gen --stats` lists them all"),
            ("G-SELECT = -1", "the weight of G-SELECT is -1.0: weights go from 0 to 10000"),
            ("G-SELECT = nan", "the weight of G-SELECT is NaN: weights go from 0 to 10000"),
            ("G-SELECT = inf", "the weight of G-SELECT is inf: weights go from 0 to 10000"),
            ("G-SELECT = 1e300", "the weight of G-SELECT is 1e300: weights go from 0 to 10000"),
            (
                "G-SELECT = \"much\"",
                "the weight of G-SELECT is \"much\": it has to be a number, 0 or above",
            ),
            ("G-SELECT = [1]", "the weight of G-SELECT is [1]: it has to be a number, 0 or above"),
            ("base = \"G\"", "there is no heuristic `G`: the paper has A, B, C, D, E and F"),
            ("base = 3", "there is no heuristic `3`: the paper has A, B, C, D, E and F"),
            ("generation = 0", nothing),
            ("G-SPAWN = 1", nothing),
            ("", nothing),
            ("G-SELECT = 1\ng-final = 0", no_final),
        ] {
            let error = Weights::from_toml(text).expect_err("these weights are wrong");
            assert_eq!(error.to_string(), message);
        }
        let error = Weights::from_toml("G-SELECT 1").expect_err("this is not TOML");
        assert!(error.to_string().contains("line 1, column 10"), "{error}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Weights::from_file(Path::new("/nowhere/weights.toml"))
            .expect_err("the file does not exist");
        assert!(error.to_string().contains("/nowhere/weights.toml"), "{error}");
    }
}
