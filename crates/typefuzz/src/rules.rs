//! The rule files: those that are built in, those of the user, and how they are put together.

use std::collections::BTreeSet;
use std::path::Path;

use strait_calculus::suggestion;
use strait_clp::{Program, Source, compile, needs};

use crate::error::Error;

macro_rules! built_in {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../rules/", $name, ".rules"))),)*]
    };
}

/// The rules for Rust, one file per feature set, each after those it needs.
pub const FEATURES: [(&str, &str); 26] = built_in![
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
    "fn_pointers",
    "drops",
    "dyn_associated",
    "opaque",
    "auto_traits",
    "conditional_borrows",
    "coherence",
];

/// The paper's System F.
pub const SYSTEM_F: &str = include_str!("../rules/system_f.rules");

/// Rule files: built-in ones, and those of the user with their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RuleSet {
    /// Names of built-in files.
    pub features: Vec<&'static str>,
    /// Files of the user, each behind those that it needs.
    pub files: Vec<Source>,
}

impl RuleSet {
    /// Built-in files by name, with all that they need.
    pub fn built_in(names: &[&str]) -> Result<Self, Error> {
        Ok(RuleSet { features: closure(names)?, files: Vec::new() })
    }

    /// Built-in files by name and the user's by their paths, with all that they need.
    pub fn named(names: &[&str]) -> Result<Self, Error> {
        let mut files = Vec::new();
        for path in names.iter().filter(|name| is_path(name)) {
            gather(Path::new(path), &mut files)?;
        }
        RuleSet::with_files(names, files)
    }

    /// The same with the user's files, which were read before; paths among the names say nothing more.
    pub fn with_files(names: &[&str], files: Vec<Source>) -> Result<Self, Error> {
        let is_among =
            |name: &String| files.iter().any(|file| stem(&file.name) == Some(name.as_str()));
        let mut needed: Vec<String> = Vec::new();
        for file in &files {
            needed.extend(needs(file)?.into_iter().filter(|name| !is_among(name)));
        }
        let built_in = names.iter().filter(|name| !is_path(name));
        needed.extend(built_in.map(|name| (*name).to_owned()));
        let needed: Vec<&str> = needed.iter().map(String::as_str).collect();
        // A system of the user's own needs nothing that is built in.
        let features = match (needed.as_slice(), files.as_slice()) {
            ([], [_, ..]) => Vec::new(),
            (needed, _) => closure(needed)?,
        };
        Ok(RuleSet { features, files })
    }

    /// Are these rules about Rust?
    pub fn is_rust(&self) -> bool {
        self.features.contains(&"core")
    }

    /// Names of all files.
    pub fn names(&self) -> Vec<String> {
        let built_in = self.features.iter().map(|name| (*name).to_owned());
        built_in.chain(self.files.iter().map(|file| file.name.clone())).collect()
    }

    /// The rules, ready to be searched.
    pub fn compile(&self) -> Result<Program, Error> {
        let sources = self.features.iter().map(|name| built_in(name));
        let sources: Vec<Source> = sources.chain(self.files.iter().cloned()).collect();
        Ok(compile(&sources)?)
    }
}

/// Is this the path of a rule file, and not the name of a built-in one?
pub fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".rules")
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
    let known = FEATURES.iter().map(|(name, _)| *name);
    let next = suggestion(name, std::iter::once("swarm").chain(known));
    Error::NoFuzzer { name: name.to_owned(), next }
}

fn built_in(name: &str) -> Source {
    let text = FEATURES.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    Source::new(format!("{name}.rules"), text)
}

/// A user's rule file with what it needs: files beside it, or built-in ones.
pub fn file(path: &Path) -> Result<Program, Error> {
    let mut files = Vec::new();
    gather(path, &mut files)?;
    RuleSet::with_files(&[], files)?.compile()
}

fn stem(path: &str) -> Option<&str> {
    Path::new(path).file_stem()?.to_str()
}

/// Reads a file of the user, and before it those beside it that it needs.
fn gather(path: &Path, files: &mut Vec<Source>) -> Result<(), Error> {
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let source = Source::new(path.display().to_string(), text);
    if files.iter().any(|known| known.name == source.name) {
        return Ok(());
    }
    for name in needs(&source)? {
        let beside = path.with_file_name(format!("{name}.rules"));
        let is_built_in = FEATURES.iter().any(|(known, text)| {
            *known == name && std::fs::read_to_string(&beside).is_ok_and(|other| other == *text)
        });
        if beside.exists() && !is_built_in {
            gather(&beside, files)?;
        }
    }
    files.push(source);
    Ok(())
}
