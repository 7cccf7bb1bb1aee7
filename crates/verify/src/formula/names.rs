//! The names that a formula uses, and those that a program has: a misspelt one would make many
//! formulas hold without a word.

use std::collections::BTreeSet;

use super::{Regular, StateFormula, Steps};
use crate::model::Model;
use crate::places::Places;

/// How many names are suggested.
const SUGGESTED: usize = 3;

/// The names in a formula, each once, in order.
pub(super) fn of(formula: &StateFormula) -> Vec<&str> {
    let mut names = Vec::new();
    in_state(formula, &mut names);
    names
}

fn in_state<'a>(formula: &'a StateFormula, names: &mut Vec<&'a str>) {
    match formula {
        StateFormula::Constant(_) | StateFormula::Variable(_) => {}
        StateFormula::Not(inner) => in_state(inner, names),
        StateFormula::And(left, right)
        | StateFormula::Or(left, right)
        | StateFormula::Implies(left, right) => {
            in_state(left, names);
            in_state(right, names);
        }
        StateFormula::Box(regular, inner) | StateFormula::Diamond(regular, inner) => {
            in_regular(regular, names);
            in_state(inner, names);
        }
        StateFormula::Fixpoint { body, .. } => in_state(body, names),
    }
}

fn in_regular<'a>(regular: &'a Regular, names: &mut Vec<&'a str>) {
    match regular {
        Regular::Step(steps) => in_steps(steps, names),
        Regular::Sequence(left, right) | Regular::Either(left, right) => {
            in_regular(left, names);
            in_regular(right, names);
        }
        Regular::Star(inner) | Regular::Plus(inner) => in_regular(inner, names),
    }
}

fn in_steps<'a>(steps: &'a Steps, names: &mut Vec<&'a str>) {
    match steps {
        Steps::All(_) => {}
        Steps::Pattern(pattern) => {
            for name in &pattern.arguments {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
        Steps::Not(inner) => in_steps(inner, names),
        Steps::And(left, right) | Steps::Or(left, right) => {
            in_steps(left, names);
            in_steps(right, names);
        }
    }
}

/// The names that formulas about this model may use: processes, and objects both as the program
/// and as people call them.
pub fn known_names(model: &Model<'_>, places: &dyn Places) -> BTreeSet<String> {
    let (processes, objects) = model.machine.names();
    let shown: Vec<String> = objects.iter().map(|name| places.name(name)).collect();
    processes.into_iter().chain(objects).chain(shown).collect()
}

/// The known names that are most like this one, the nearest first.
pub fn nearest_names<'a>(name: &str, known: &'a BTreeSet<String>) -> Vec<&'a str> {
    let mut near: Vec<(usize, &str)> =
        known.iter().map(|one| (distance(name, one), one.as_str())).collect();
    near.sort();
    near.into_iter().take(SUGGESTED).map(|(_, one)| one).collect()
}

/// How many letters have to be put in, left out or replaced (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (column, wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formula;

    #[test]
    fn nearest_names_come_first() {
        let known: BTreeSet<String> =
            ["jobs", "done", "results", "main", "main.1"].map(str::to_owned).into();
        for (name, expected) in [
            ("jbos", ["jobs", "done", "main"]),
            ("result", ["results", "done", "jobs"]),
            ("main.2", ["main.1", "main", "done"]),
        ] {
            assert_eq!(nearest_names(name, &known), expected, "{name}");
        }
    }

    #[test]
    fn names_of_a_formula_are_found_everywhere() {
        let text =
            "nu X. [send(a)*.(close(b) + recv(main.1, a))]X && (<!lock(m)>true => [put(c)]X)";
        let formula = Formula::parse(text).expect("a formula");
        assert_eq!(formula.names(), ["a", "b", "main.1", "m", "c"]);
    }
}
