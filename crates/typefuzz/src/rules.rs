//! The rule files: those that are built in, those of the user, and how they are put together.

use std::collections::BTreeSet;
use std::path::Path;

use strait_clp::{Program, Source, compile, needs};

use crate::error::Error;

macro_rules! built_in {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../rules/", $name, ".rules"))),)*]
    };
}

/// The rules for Rust, one file a feature set, each after those it needs.
pub const FEATURES: [(&str, &str); 19] = built_in![
    "core",
    "primitives",
    "tuples",
    "records",
    "enums",
    "closures",
    "generics",
    "containers",
    "traits",
    "associated",
    "gats",
    "higher_ranked",
    "where_clauses",
    "objects",
    "borrows",
    "lifetimes",
    "threads",
    "const_generics",
    "iterators",
];

/// The paper's System F.
pub const SYSTEM_F: &str = include_str!("../rules/system_f.rules");

/// The rules for Rust with these features and all that they need, which come first.
pub fn rust(features: &[&str]) -> Result<Program, Error> {
    let names = closure(features)?;
    let sources: Vec<Source> = names.iter().map(|name| built_in(name)).collect();
    Ok(compile(&sources)?)
}

/// These features and all that they need, in the order of [`FEATURES`].
pub fn closure(features: &[&str]) -> Result<Vec<&'static str>, Error> {
    let mut wanted: Vec<String> = features.iter().map(|name| (*name).to_owned()).collect();
    wanted.push("core".to_owned());
    let mut found = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        let Some(position) = FEATURES.iter().position(|(known, _)| *known == name) else {
            return Err(unknown(&name));
        };
        if found.insert(position) {
            wanted.extend(needs(&built_in(FEATURES[position].0))?);
        }
    }
    Ok(found.into_iter().map(|position| FEATURES[position].0).collect())
}

fn unknown(name: &str) -> Error {
    let known: Vec<&str> = FEATURES.iter().map(|(name, _)| *name).collect();
    Error::NoFuzzer { name: name.to_owned(), known: format!("swarm, {}", known.join(", ")) }
}

fn built_in(name: &str) -> Source {
    let text = FEATURES.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    Source::new(format!("{name}.rules"), text)
}

/// A user's rule file with what it needs: files beside it, or built-in ones.
pub fn file(path: &Path) -> Result<Program, Error> {
    let mut sources = Vec::new();
    gather(path, &mut sources)?;
    Ok(compile(&sources)?)
}

fn gather(path: &Path, sources: &mut Vec<Source>) -> Result<(), Error> {
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let source = Source::new(path.display().to_string(), text);
    if sources.iter().any(|known| known.name == source.name) {
        return Ok(());
    }
    for name in needs(&source)? {
        let beside = path.with_file_name(format!("{name}.rules"));
        if beside.exists() {
            gather(&beside, sources)?;
        } else {
            for name in closure(&[&name])? {
                let source = built_in(name);
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
    }
    sources.push(source);
    Ok(())
}
