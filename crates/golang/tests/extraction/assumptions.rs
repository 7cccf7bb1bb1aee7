//! The names and sides of assumptions are written in three places: the helper, Strait and the table
//! in docs/verify-extraction.md. They say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use strait_golang::About;

/// For each name of an assumption, the sides on which it is said to err.
type Sides = BTreeMap<String, BTreeSet<String>>;

const SIDES: [&str; 3] = ["over", "under", "either"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The constants of `about.go` and their values.
fn constants() -> BTreeMap<String, String> {
    let text = read(&folder().join("extract/about.go"));
    let lines = text.lines().filter_map(|line| line.trim().split_once(" About = "));
    let constants = lines.filter(|(name, _)| name.trim().starts_with("about"));
    constants.map(|(name, value)| (name.trim().into(), value.trim_matches('"').into())).collect()
}

/// What the helper says: every line that names an assumption and a side.
fn in_helper() -> Sides {
    let constants = constants();
    let mut sides = Sides::new();
    for file in fs::read_dir(folder().join("extract")).expect("the helper") {
        let file = file.expect("a file").path();
        if file.extension().is_none_or(|extension| extension != "go") {
            continue;
        }
        for line in read(&file).lines() {
            let side = SIDES.iter().find(|side| line.contains(&format!("\"{side}\"")));
            let mut words = line.split(|letter: char| !letter.is_alphanumeric());
            let name = words.find_map(|word| constants.get(word));
            if let (Some(side), Some(name)) = (side, name) {
                sides.entry(name.clone()).or_default().insert((*side).to_owned());
            }
        }
    }
    sides
}

/// What the documentation says.
fn in_documentation() -> Sides {
    let text = read(&folder().join("../../docs/verify-extraction.md"));
    let mut sides = Sides::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [names, side, _] = cells[..] else { continue };
        if SIDES.contains(&side) {
            for name in names.split(", ") {
                let name = name.trim_matches('`').to_owned();
                sides.entry(name).or_default().insert(side.to_owned());
            }
        }
    }
    sides
}

#[test]
fn the_documentation_lists_every_assumption_with_its_side() {
    assert_eq!(in_documentation(), in_helper());
}

#[test]
fn strait_knows_every_assumption_of_the_helper() {
    let constants = constants();
    assert!(constants.len() > 40, "{constants:?}");
    for name in constants.values() {
        let about: About = serde_json::from_str(&format!("\"{name}\""))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(about.name(), name);
    }
}
