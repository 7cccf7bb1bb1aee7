//! Gates: short waits before statements of the user's code, which decide an order without Strait. In: the files of
//! a package. Out: its statements, those first that a finding is about, and the text of the files with gates in
//! front of some. A gate is put into the line of its statement, so that every line keeps its number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use strait_findings::{Finding, SourcePlace};
use strait_golang::Go;
use strait_toolchain::Scratch;

use crate::error::Error;

/// The helper that lists statements.
const HELPER: &str = include_str!("../../gates/main.go");
/// To compile and run the helper, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// The longest list of statements.
const LONGEST: usize = 64 << 20;

/// A statement of the user's code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Statement {
    /// Its file.
    pub(crate) file: PathBuf,
    /// Where it begins, in bytes.
    pub(crate) offset: usize,
    pub(crate) line: u32,
    /// The last line of its head, if it has blocks.
    pub(crate) last_line: u32,
    /// The declared function around it.
    pub(crate) function: String,
    /// May it wait for another goroutine, or make one go on?
    pub(crate) synchronises: bool,
}

impl Statement {
    fn is_at(&self, file: &Path, line: u32) -> bool {
        (self.line..=self.last_line).contains(&line) && self.file.ends_with(file)
    }
}

/// Who waits at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Every goroutine that comes by, each time.
    All,
    /// The first one, once.
    First,
}

/// A gate before a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    /// The number of the statement.
    pub(crate) statement: usize,
    pub(crate) who: Waits,
    pub(crate) wait: Duration,
}

/// Lists the statements of files.
pub(crate) fn statements(
    go: &Go,
    scratch: &Scratch,
    files: &[PathBuf],
) -> Result<Vec<Statement>, Error> {
    let helper = scratch.path().join("gates.go");
    std::fs::write(&helper, HELPER).map_err(Error::Folder)?;
    let spec = go
        .spec(["run"])
        .arguments([&helper])
        .arguments(["list"])
        .arguments(files)
        .directory(scratch.path())
        // The helper is a program of its own, whatever settings the user's module has.
        .variable("GOWORK", "off")
        .variable("GOFLAGS", "")
        .wall(PATIENCE)
        .keep(LONGEST);
    let finished = go.run(spec)?;
    match serde_json::from_str(&finished.stdout.text()) {
        Ok(statements) if finished.end.is_success() => Ok(statements),
        _ => Err(go.failure("run (of Strait's helper)", &finished).into()),
    }
}

/// The statements that may decide the order that a finding needs, the most likely ones first.
pub(crate) fn ranked(statements: &[Statement], finding: &Finding, test: &str) -> Vec<usize> {
    let locations = finding.details.get("locations").and_then(|value| value.as_array());
    let locations = locations.into_iter().flatten().filter_map(|one| place(one.as_str()?));
    let blamed: Vec<SourcePlace> = locations.collect();
    let told: Vec<SourcePlace> = finding.explanation.split_whitespace().filter_map(place).collect();
    let at = |statement: &Statement, places: &[SourcePlace]| {
        places.iter().any(|one| statement.is_at(Path::new(&one.file), one.line))
    };
    let functions: BTreeSet<(&Path, &str)> = statements
        .iter()
        .filter(|one| at(one, &blamed) || at(one, &told))
        .map(|one| (one.file.as_path(), one.function.as_str()))
        .collect();
    let rank = |one: &Statement| {
        let is_near = functions.contains(&(one.file.as_path(), one.function.as_str()));
        let is_test = one.function == test;
        if at(one, &blamed) {
            Some(0)
        } else if at(one, &told) {
            Some(1)
        } else if (is_near || is_test) && one.synchronises {
            Some(2)
        } else if is_near || is_test {
            Some(3)
        } else {
            one.synchronises.then_some(4)
        }
    };
    let mut ranked: Vec<(u8, usize)> = statements
        .iter()
        .enumerate()
        .filter_map(|(number, one)| Some((rank(one)?, number)))
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, number)| number).collect()
}

/// `bank.go:16`, perhaps with punctuation around it.
pub(crate) fn place(word: &str) -> Option<SourcePlace> {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let (file, line) = word.rsplit_once(':')?;
    let is_go = Path::new(file).extension().is_some_and(|extension| extension == "go");
    is_go.then_some(())?;
    Some(SourcePlace { file: file.to_owned(), line: line.parse().ok()?, column: 1 })
}

/// The files with a call in front of each of these statements.
pub(crate) fn with_calls(
    statements: &[Statement],
    calls: &BTreeMap<usize, String>,
) -> Result<BTreeMap<PathBuf, String>, Error> {
    let mut files: BTreeMap<PathBuf, Vec<(usize, &String)>> = BTreeMap::new();
    for (number, call) in calls {
        let statement = &statements[*number];
        files.entry(statement.file.clone()).or_default().push((statement.offset, call));
    }
    let mut texts = BTreeMap::new();
    for (file, mut inserted) in files {
        let mut text = std::fs::read_to_string(&file)
            .map_err(|source| Error::ReadSource { path: file.clone(), source })?;
        // From the end, so that earlier offsets stay right.
        inserted.sort_unstable_by(|one, other| other.cmp(one));
        for (offset, call) in inserted {
            if text.is_char_boundary(offset) {
                text.insert_str(offset, &format!("{call}; "));
            }
        }
        texts.insert(file, text);
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_with_punctuation_around_them() {
        for (word, expected) in [
            ("bank.go:16", Some(("bank.go", 16))),
            ("(sub/bank.go:16),", Some(("sub/bank.go", 16))),
            ("bank.rs:16", None),
            ("bank.go", None),
            ("12:30", None),
        ] {
            let found = place(word).map(|one| (one.file, one.line));
            let expected = expected.map(|(file, line): (&str, u32)| (file.to_owned(), line));
            assert_eq!(found, expected, "{word}");
        }
    }

    #[test]
    fn calls_stand_in_the_line_of_their_statement() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.go");
        std::fs::write(&file, "func f() {\n\ta()\n\tb()\n}\n").expect("written");
        let statement = |offset, line| Statement {
            file: file.clone(),
            offset,
            line,
            last_line: line,
            function: "f".to_owned(),
            synchronises: true,
        };
        let statements = [statement(12, 2), statement(17, 3)];
        let calls = [(0, "gate1()".to_owned()), (1, "gate2()".to_owned())].into();
        let texts = with_calls(&statements, &calls).expect("texts");
        assert_eq!(texts[&file], "func f() {\n\tgate1(); a()\n\tgate2(); b()\n}\n");
    }
}
