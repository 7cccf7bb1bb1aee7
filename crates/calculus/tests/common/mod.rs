//! The corpus for tests: every file, its program and what its header promises.

use std::path::{Path, PathBuf};

use strait_calculus::{Program, parse};

/// One file of the corpus.
pub struct Entry {
    pub path: PathBuf,
    pub source: String,
    pub program: Program,
    pub verdict: String,
    /// Sorted, blanks squeezed.
    pub outcomes: Vec<String>,
}

/// All files of the corpus, in order.
pub fn corpus() -> Vec<Entry> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the corpus folder")
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "strait"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 40, "the corpus has shrunk to {} programs", paths.len());
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Entry {
    let source = std::fs::read_to_string(&path).expect("a readable file");
    let program = match parse(&source) {
        Ok(program) => program,
        Err(errors) => panic!("{}", errors.render(&path.display().to_string(), &source)),
    };
    let header: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//")).collect();
    let verdict = header.iter().find_map(|line| line.trim().strip_prefix("verdict:"));
    let verdict = verdict.unwrap_or_else(|| panic!("{}: no verdict", path.display()));
    let after = header.iter().skip_while(|line| line.trim() != "outcomes:").skip(1);
    let mut outcomes: Vec<String> =
        after.filter(|line| !line.trim().is_empty()).map(|line| squeeze(line)).collect();
    outcomes.sort();
    Entry { path, program, verdict: verdict.trim().to_string(), outcomes, source: source.clone() }
}

/// A line with single blanks.
pub fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
