//! Findings with one cause. What groups findings while a campaign runs is how a fault shows, and one cause may
//! show in several ways and places. Reduced programs say more: those that differ in names and numbers alone
//! are about one cause.

use std::collections::HashMap;
use std::path::Path;

use strait_calculus::{Program, parse, print};
use strait_findings::{REDUCED, Replay};

use crate::discover::run_from_json;
use crate::error::Error;
use crate::replay::Exhibit;

/// The names of findings beside this one that were reduced to the same program, up to names and numbers: of
/// the same target, kind and flavour, in any style and with any messages.
pub fn same_cause(
    folder: &Path,
    exhibit: &Exhibit,
    reduced: &Program,
) -> Result<Vec<String>, Error> {
    let own = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let Some(entries) = own.parent().and_then(|parent| parent.read_dir().ok()) else {
        return Ok(Vec::new());
    };
    let shape = shape(reduced);
    let mut names = Vec::new();
    for entry in entries.flatten() {
        let place = entry.path();
        if place == own || !place.join(REDUCED).is_file() {
            continue;
        }
        // Another folder may hold anything.
        let Ok(replay) = Replay::read(&place) else { continue };
        let (one, other) = (&exhibit.replay.finding, &replay.finding);
        let options = other.details.get("run").and_then(run_from_json);
        let is_alike = one.kind == other.kind
            && one.target == other.target
            && options.is_some_and(|options| options.flavour == exhibit.work.options.flavour);
        let program = replay.program.as_deref().and_then(|text| parse(text).ok());
        if is_alike && program.is_some_and(|program| self::shape(&program) == shape) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The text of a program with names and numbers in the order of their first use. Capacities stay.
fn shape(program: &Program) -> String {
    let text = print(program);
    let functions = program.functions.iter();
    let names = functions.flat_map(|function| {
        let variables = function.variables.iter().map(|variable| variable.name.as_str());
        variables.chain([function.name.as_str()])
    });
    let names: Vec<&str> = names.filter(|name| *name != "main").collect();
    let mut known: HashMap<String, usize> = HashMap::new();
    let (mut shape, mut is_capacity) = (String::new(), false);
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let length = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length.max(first.len_utf8()));
        let is_number = first.is_ascii_digit() && !is_capacity;
        if is_number || names.contains(&word) {
            let next = known.len();
            let number = known.entry(word.to_owned()).or_insert(next);
            shape += &format!("@{number}");
        } else {
            shape += word;
        }
        is_capacity = word == "[";
        rest = after;
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_do_not_matter_and_the_rest_does() {
        let of = |text: &str| shape(&parse(text).expect("it is right"));
        let first = of("main { chan c1: int[1]; spawn { put c1 7 }; x = get c1 }");
        assert_eq!(first, of("main { chan d: int[1]; spawn { put d 2 }; y = get d }"));
        assert_ne!(first, of("main { chan d: int[2]; spawn { put d 2 }; y = get d }"));
        assert_ne!(first, of("main { chan d: int[1]; spawn { put d 2 }; get d }"));
        let twice = of("main { chan c: int[2]; put c 1; put c 1; get c; get c }");
        assert_ne!(twice, of("main { chan c: int[2]; put c 1; put c 2; get c; get c }"));
    }
}
