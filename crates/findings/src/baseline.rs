//! The findings that are known and accepted, as a file: only others fail a build. A finding is
//! recognised by what it is and by the text around it, not by line numbers, so that it is the same
//! after lines have moved.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The version of the file's format.
const VERSION: u32 = 1;

/// What a finding is recognised by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BaselineKey {
    /// What kind of fault it is.
    pub kind: String,
    /// The places that are wrong, in order.
    pub places: Vec<BaselinePlace>,
}

/// A place that is recognised after lines have moved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BaselinePlace {
    /// The file, relative to the folder of its module.
    pub file: String,
    /// The function around the place, if there is one.
    pub function: String,
    /// The text of the line, with single spaces.
    pub text: String,
}

impl BaselinePlace {
    /// A place with its line's text as it stands in the file.
    pub fn new(file: &str, function: &str, line: &str) -> BaselinePlace {
        let text = line.split_whitespace().collect::<Vec<_>>().join(" ");
        BaselinePlace { file: file.to_owned(), function: function.to_owned(), text }
    }
}

impl BaselineKey {
    /// A key; the order of the places does not matter.
    pub fn new(kind: &str, mut places: Vec<BaselinePlace>) -> BaselineKey {
        places.sort();
        places.dedup();
        BaselineKey { kind: kind.to_owned(), places }
    }
}

/// Known findings, each with how often it may occur.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    known: BTreeMap<BaselineKey, u32>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    findings: Vec<Record>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    key: BaselineKey,
    #[serde(default = "once", skip_serializing_if = "is_once")]
    count: u32,
}

fn once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_once(count: &u32) -> bool {
    *count == 1
}

impl Baseline {
    /// A baseline that knows exactly these.
    pub fn of(keys: impl IntoIterator<Item = BaselineKey>) -> Baseline {
        let mut known = BTreeMap::new();
        for key in keys {
            *known.entry(key).or_insert(0) += 1;
        }
        Baseline { known }
    }

    /// Adds what another baseline knows.
    pub fn add(&mut self, other: &Baseline) {
        for (key, count) in &other.known {
            *self.known.entry(key.clone()).or_insert(0) += count;
        }
    }

    /// Takes a finding out: is it known, and not more often than it was?
    pub fn take(&mut self, key: &BaselineKey) -> bool {
        match self.known.get_mut(key) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Baseline, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::ReadBaseline { path: path.to_owned(), source })?;
        Baseline::parse(&text).map_err(|what| Error::WrongBaseline { path: path.to_owned(), what })
    }

    fn parse(text: &str) -> Result<Baseline, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if document.version != VERSION {
            return Err(format!("it has version {}, not {VERSION}", document.version));
        }
        let records = document.findings.into_iter();
        Ok(Baseline { known: records.map(|record| (record.key, record.count)).collect() })
    }

    /// Writes a file, in an order that depends on nothing but its content.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        std::fs::write(path, self.text())
            .map_err(|source| Error::WriteBaseline { path: path.to_owned(), source })
    }

    fn text(&self) -> String {
        let findings = self
            .known
            .iter()
            .map(|(key, count)| Record { key: key.clone(), count: *count })
            .collect();
        let document = Document { version: VERSION, findings };
        // Strings and numbers can always be written.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: &str, text: &str) -> BaselineKey {
        BaselineKey::new(kind, vec![BaselinePlace::new("a/b.go", "Server.Run", text)])
    }

    #[test]
    fn a_finding_is_known_as_often_as_it_was_written() {
        let twice = [key("leak", "c <- 1"), key("leak", "\tc  <- 1"), key("deadlock", "<-c")];
        let mut baseline = Baseline::parse(&Baseline::of(twice).text()).expect("a baseline");
        for (wanted, known) in [
            (key("leak", "  c <- 1"), true),
            (key("leak", "c <- 1"), true),
            (key("leak", "c <- 1"), false),
            (key("deadlock", "<-c"), true),
            (key("leak", "<-c"), false),
        ] {
            assert_eq!(baseline.take(&wanted), known, "{wanted:?}");
        }
    }

    #[test]
    fn two_baselines_know_what_each_knows() {
        let mut both = Baseline::of([key("leak", "x")]);
        both.add(&Baseline::of([key("leak", "x"), key("deadlock", "y")]));
        let known = ["leak", "leak", "leak"].map(|kind| both.take(&key(kind, "x")));
        assert_eq!(known, [true, true, false]);
        assert!(both.take(&key("deadlock", "y")));
    }

    #[test]
    fn the_text_does_not_depend_on_the_order() {
        let (one, other) = (key("leak", "x"), key("deadlock", "y"));
        let forward = Baseline::of([one.clone(), other.clone()]).text();
        assert_eq!(forward, Baseline::of([other, one]).text());
        let places = ["b.go", "a.go"].map(|file| BaselinePlace::new(file, "f", "x"));
        let reversed = [places[1].clone(), places[0].clone()];
        let key = BaselineKey::new("leak", places.to_vec());
        assert_eq!(key, BaselineKey::new("leak", reversed.to_vec()));
    }

    #[test]
    fn what_is_no_baseline_is_refused() {
        for (text, complaint) in [
            ("", "EOF"),
            ("{}", "missing field"),
            ("{\"version\": 9, \"findings\": []}", "it has version 9, not 1"),
        ] {
            let said = Baseline::parse(text).expect_err("no baseline");
            assert!(said.contains(complaint), "{text}: {said}");
        }
    }
}
