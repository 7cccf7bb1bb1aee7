//! The Go files around findings: their lines, their functions, and the comments in them that
//! silence findings.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use strait_findings::{BaselinePlace, Directive, GoSource, SourcePlace};
use strait_reorder::FindingClass;
use strait_verify::Property;

use crate::places::module_relative;

/// The word of a comment that silences every rule.
const ALL: &str = "all";

/// Files that are read when they are asked for.
pub struct SourceFiles {
    directory: PathBuf,
    read: RefCell<BTreeMap<String, Option<Rc<GoSource>>>>,
}

impl SourceFiles {
    /// Files whose names are relative to a folder.
    pub fn below(directory: &Path) -> SourceFiles {
        SourceFiles { directory: directory.to_owned(), read: RefCell::default() }
    }

    /// A file; `None` if it cannot be read.
    pub fn get(&self, file: &str) -> Option<Rc<GoSource>> {
        let mut read = self.read.borrow_mut();
        let source = read.entry(file.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(self.directory.join(file)).ok()?;
            Some(Rc::new(GoSource::parse(&text)))
        });
        source.clone()
    }

    /// The text of a line, without the space around it.
    pub fn line(&self, place: &SourcePlace) -> Option<String> {
        self.get(&place.file)?.line(place.line).map(str::to_owned)
    }

    /// The comment that silences one of these rules at a place, if there is one with a reason.
    pub fn silenced(&self, place: &SourcePlace, rules: &[String]) -> Option<Directive> {
        let source = self.get(&place.file)?;
        let mut directives = source.directives().iter();
        let found = directives.find(|one| {
            let about = one.rule == ALL || rules.contains(&one.rule);
            about && !one.reason.is_empty() && (one.from..=one.to).contains(&place.line)
        });
        found.cloned()
    }

    /// What a place is recognised by after lines have moved.
    pub fn baseline_place(&self, place: &SourcePlace) -> BaselinePlace {
        let file = module_relative(&self.directory, &place.file);
        let source = self.get(&place.file);
        let source = source.as_deref();
        let function = source.and_then(|source| source.function_at(place.line));
        let function = function.map_or("", |function| function.name.as_str());
        let line = source.and_then(|source| source.line(place.line)).unwrap_or_default();
        BaselinePlace::new(&file, function, line)
    }

    /// What is wrong with the comments of all Go files beside these.
    pub fn warnings<'a>(&self, files: impl IntoIterator<Item = &'a str>) -> Vec<Warning> {
        let folders: BTreeSet<PathBuf> = files
            .into_iter()
            .filter_map(|file| Path::new(file).parent().map(Path::to_owned))
            .collect();
        let mut warnings = Vec::new();
        for folder in folders {
            let Ok(entries) = std::fs::read_dir(self.directory.join(&folder)) else { continue };
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let names: BTreeSet<String> = names.filter(|name| name.ends_with(".go")).collect();
            for name in names {
                let file = folder.join(name).to_string_lossy().into_owned();
                for directive in self.get(&file).iter().flat_map(|source| source.directives()) {
                    warnings.extend(wrong(&file, directive));
                }
            }
        }
        warnings
    }
}

/// What is wrong with a comment that is meant to silence a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// It gives no reason, so it silences nothing.
    NoReason {
        /// Where it stands.
        place: SourcePlace,
    },
    /// There is no such property, and no such class of `go fuzz`.
    UnknownRule {
        /// Where it stands.
        place: SourcePlace,
        /// What it names.
        rule: String,
    },
}

fn wrong(file: &str, directive: &Directive) -> Option<Warning> {
    let place = SourcePlace { file: file.to_owned(), line: directive.line, column: 1 };
    let class =
        || FindingClass::ALL.iter().any(|class| class.rules().contains(&directive.rule.as_str()));
    let known = directive.rule == ALL || directive.rule.parse::<Property>().is_ok() || class();
    if !known {
        // Formulas are named like their files.
        let formula = Path::new(&directive.rule).extension().is_some();
        return (!formula).then(|| Warning::UnknownRule { place, rule: directive.rule.clone() });
    }
    directive.reason.is_empty().then_some(Warning::NoReason { place })
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NoReason { place } => write!(
                formatter,
                "{place}: this comment silences nothing, because it gives no reason; write \
                 //strait:ignore PROPERTY reason"
            ),
            Warning::UnknownRule { place, rule } => {
                let names = Property::ALL.map(Property::name).join(", ");
                write!(
                    formatter,
                    "{place}: this comment silences nothing, because there is no property \
                     `{rule}`; there are {names}, the classes of `strait go fuzz`, and `all`"
                )
            }
        }
    }
}
