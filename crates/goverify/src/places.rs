//! Where the statements of an entry's model stand in Go source, and what people call things there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use strait_calculus::Span;
use strait_findings::SourcePlace;
use strait_golang::{Entry, GoPosition, Positions};
use strait_verify::Places;

/// Where spans of a program stand in files.
pub trait Locate: Places {
    /// The place of a span, if it has one.
    fn position(&self, span: Span) -> Option<SourcePlace>;
}

/// Places of an entry in Go source.
pub struct GoPlaces {
    positions: Positions,
    names: BTreeMap<String, String>,
    is_test: bool,
}

impl GoPlaces {
    /// The places of an entry.
    pub fn of(entry: &Entry) -> GoPlaces {
        GoPlaces {
            positions: entry.positions.clone(),
            names: entry.names.clone(),
            is_test: entry.test,
        }
    }

    /// The Go position of a span.
    pub fn go_position(&self, span: Span) -> Option<&GoPosition> {
        self.positions.of(span)
    }
}

impl Places for GoPlaces {
    fn place(&self, span: Span) -> Option<String> {
        self.positions.of(span).map(|position| format!("{}:{}", position.file, position.line))
    }

    fn idles(&self, span: Span) -> bool {
        self.positions.of(span).is_some_and(|position| position.daemon)
    }

    fn is_same_place(&self, one: Span, other: Span) -> bool {
        let place = |span| {
            let position = self.positions.of(span)?;
            Some((&position.file, position.line, position.column))
        };
        place(one).is_some_and(|known| place(other) == Some(known))
    }

    fn recovers(&self, span: Span) -> bool {
        self.positions.of(span).is_some_and(|position| position.recovered)
    }

    fn untracked(&self, span: Span) -> bool {
        self.positions.of(span).is_some_and(|position| position.imprecise)
    }

    fn may_serve(&self) -> bool {
        !self.is_test
    }

    fn name(&self, name: &str) -> String {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        // The machine numbers the objects that one variable has held.
        match name.split_once('#') {
            Some((base, number)) => format!("{}#{number}", self.name(base)),
            None => plain_name(name),
        }
    }

    fn function(&self, name: &str) -> Option<String> {
        self.names.get(name).cloned()
    }
}

/// The extraction makes names unique: `done_` for a word of the language, `c_2` for another
/// variable of that name, `c_n2` and `c_v2` for another object in the same variable.
fn plain_name(name: &str) -> String {
    let trimmed = name.trim_end_matches('_');
    let Some((base, number)) = trimmed.rsplit_once('_') else { return trimmed.to_owned() };
    let digits = number.trim_start_matches(['n', 'v']);
    let numbered = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
    match (numbered, number.len() - digits.len()) {
        (true, 0) => plain_name(base),
        (true, 1) => format!("{}#{digits}", plain_name(base)),
        _ => trimmed.to_owned(),
    }
}

impl Locate for GoPlaces {
    fn position(&self, span: Span) -> Option<SourcePlace> {
        let position = self.positions.of(span)?;
        let (file, line, column) = (position.file.clone(), position.line, position.column);
        Some(SourcePlace { file, line, column })
    }
}

/// A file relative to the folder of its module, which is the nearest one above with a `go.mod`; as
/// it is if there is none.
pub fn module_relative(directory: &Path, file: &str) -> String {
    let path: PathBuf = directory.join(file);
    let path = path.canonicalize().unwrap_or(path);
    let module = path.ancestors().skip(1).find(|folder| folder.join("go.mod").is_file());
    let relative = module.and_then(|module| path.strip_prefix(module).ok());
    let relative = relative.map(|path| path.to_string_lossy().replace('\\', "/"));
    relative.unwrap_or_else(|| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let names = [("worker_3", "worker"), ("o_S_mu", "S.mu")];
        let names = names.map(|(one, other)| (one.to_owned(), other.to_owned())).into();
        let places = GoPlaces { positions: Positions::default(), names, is_test: false };
        for (name, expected) in [
            ("o_S_mu", "S.mu"),
            ("o_S_mu#4", "S.mu#4"),
            ("done_", "done"),
            ("c_2", "c"),
            ("c_n2", "c#2"),
            ("c_v3", "c#3"),
            ("ping_pong", "ping_pong"),
        ] {
            assert_eq!(places.name(name), expected);
        }
        assert_eq!(places.function("worker_3").as_deref(), Some("worker"));
        assert_eq!(places.function("main"), None);
    }
}
