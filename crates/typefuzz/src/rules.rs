//! The rule files: those that are built in, those of the user, and how they are put together.

use std::collections::BTreeSet;
use std::path::Path;

use strait_calculus::suggestion;
use strait_clp::{Program, Source, compile, needs};

use crate::error::Error;
use crate::language::Language;

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

    /// The language of the programs, unless it is one of the user's own.
    pub fn language(&self) -> Option<Language> {
        self.features.first().and_then(|name| Language::of_feature(name))
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

/// These features and all that they need, in the order of [`Language::features`]; the first one of Rust if
/// there are none.
pub fn closure(features: &[&str]) -> Result<Vec<&'static str>, Error> {
    let mut language = None;
    for name in features {
        let of_name = Language::of_feature(name).ok_or_else(|| unknown(name))?;
        match language {
            Some((first, other)) if other != of_name => {
                let (one, two) = (format!("{first} ({other})"), format!("{name} ({of_name})"));
                return Err(Error::TwoLanguages { one, two });
            }
            _ => language = Some((*name, of_name)),
        }
    }
    let language = language.map_or(Language::Rust, |(_, language)| language);
    let all = language.features();
    let mut wanted: Vec<String> = features.iter().map(|name| (*name).to_owned()).collect();
    wanted.push(language.root().to_owned());
    let mut found = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        let Some(position) = all.iter().position(|(known, _)| *known == name) else {
            return Err(unknown(&name));
        };
        if found.insert(position) {
            wanted.extend(needs(&built_in(all[position].0))?);
        }
    }
    Ok(found.into_iter().map(|position| all[position].0).collect())
}

fn unknown(name: &str) -> Error {
    let known = Language::ALL.into_iter().flat_map(|language| {
        let features = language.features().iter().map(|(name, _)| *name);
        std::iter::once(language.name()).chain(features)
    });
    Error::NoFuzzer { name: name.to_owned(), next: suggestion(name, known) }
}

/// The text of a built-in rule file.
fn built_in_text(name: &str) -> Option<&'static str> {
    let mut all = Language::ALL.into_iter().flat_map(Language::features);
    all.find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn built_in(name: &str) -> Source {
    Source::new(format!("{name}.rules"), built_in_text(name).unwrap_or_default())
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
        let is_built_in = built_in_text(&name)
            .is_some_and(|text| std::fs::read_to_string(&beside).is_ok_and(|other| other == text));
        if beside.exists() && !is_built_in {
            gather(&beside, files)?;
        }
    }
    files.push(source);
    Ok(())
}
