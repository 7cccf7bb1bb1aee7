//! Every package of `corpus/go` is a program whose header says what the explorer must say of it:
//! `// verdict: deadlock`, or `// verdict: NAME deadlock` for one of several entries, and
//! `// assumes: WORDS` for what must be among the assumptions; none are allowed otherwise. Where the
//! program alone does not tell, such as that a goroutine may wait forever, `// model: leak` or
//! `// model: NAME leak` says what the explorer finds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use strait_golang::{Entry, ExtractOptions};

use crate::support::{extracted, go, verdict};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/go")
}

/// What headers say: by package, the verdicts and assumptions of its entries.
struct Expected {
    verdicts: BTreeMap<String, String>,
    assumes: Vec<String>,
}

fn expected(file: &Path) -> Expected {
    let text = fs::read_to_string(file).expect("a file of the corpus");
    let mut expected = Expected { verdicts: BTreeMap::new(), assumes: Vec::new() };
    for line in text.lines().filter_map(|line| line.strip_prefix("// ")) {
        if let Some(verdict) = line.strip_prefix("verdict: ") {
            let (entry, verdict) = verdict.split_once(' ').unwrap_or(("main", verdict));
            expected.verdicts.insert(entry.to_owned(), verdict.to_owned());
        }
        if let Some(verdict) = line.strip_prefix("model: ") {
            let (entry, verdict) = verdict.split_once(' ').unwrap_or(("main", verdict));
            expected.verdicts.insert(entry.to_owned(), verdict.to_owned());
        }
        if let Some(words) = line.strip_prefix("assumes: ") {
            expected.assumes.push(words.to_owned());
        }
    }
    assert!(!expected.verdicts.is_empty(), "{} has no `// verdict:` line", file.display());
    expected
}

#[test]
fn the_corpus_has_the_verdicts_its_headers_say() {
    let Some(go) = go(&corpus()) else { return };
    let extraction = extracted(&go, ExtractOptions::default()).expect("the corpus is extracted");
    let mut entries: BTreeMap<PathBuf, Vec<&Entry>> = BTreeMap::new();
    for entry in &extraction.entries {
        let folder = Path::new(&entry.position.file).parent().expect("a folder").to_owned();
        entries.entry(folder).or_default().push(entry);
    }
    let mut failures = Vec::new();
    let mut folders = 0;
    for folder in fs::read_dir(corpus()).expect("the corpus") {
        let folder = folder.expect("a folder").path();
        if !folder.is_dir() {
            continue;
        }
        folders += 1;
        let name = PathBuf::from(folder.file_name().expect("a name"));
        let file = ["main.go", "main_test.go"].map(|file| folder.join(file));
        let file = file.iter().find(|file| file.is_file()).expect("main.go or main_test.go");
        let found = entries.remove(&name).unwrap_or_default();
        compare(&name, &expected(file), &found, &mut failures);
    }
    assert!(folders > 20, "only {folders} programs found");
    assert!(failures.is_empty(), "{} of {folders}:\n{}", failures.len(), failures.join("\n"));
}

fn compare(name: &Path, expected: &Expected, found: &[&Entry], failures: &mut Vec<String>) {
    let name = name.display();
    for (function, wanted) in &expected.verdicts {
        let suffix = format!(".{function}");
        let Some(entry) = found.iter().find(|entry| entry.name.ends_with(&suffix)) else {
            failures.push(format!("{name}: there is no entry {function}"));
            continue;
        };
        let verdict = verdict(&entry.program).map_or("unknown".to_owned(), |it| it.to_string());
        if verdict != *wanted {
            failures.push(format!("{name} {function}: {verdict}, not {wanted}\n{}", entry.text));
        }
        let messages: Vec<String> =
            entry.assumptions.iter().map(strait_golang::Assumption::text).collect();
        for words in &expected.assumes {
            if !messages.iter().any(|message| message.contains(words.as_str())) {
                failures.push(format!("{name} {function}: does not assume “{words}”"));
            }
        }
        for message in &messages {
            if !expected.assumes.iter().any(|words| message.contains(words.as_str())) {
                failures.push(format!("{name} {function}: assumes {message}"));
            }
        }
    }
}

#[test]
fn every_statement_that_go_performs_has_its_line() {
    let Some(go) = go(&corpus()) else { return };
    let extraction = extracted(&go, ExtractOptions::default()).expect("the corpus is extracted");
    let entry = extraction
        .entries
        .iter()
        .find(|entry| entry.name.ends_with("double-close.main"))
        .expect("corpus/go/double-close");
    let main = &entry.program.functions[entry.program.main];
    let closes =
        main.body.statements.iter().filter(|statement| {
            matches!(statement.kind, strait_calculus::ast::StmtKind::Close { .. })
        });
    let source = fs::read_to_string(corpus().join("double-close/main.go")).expect("the source");
    let mut seen = 0;
    for close in closes {
        let position = entry.positions.of(close.span).expect("a close has a position");
        let line = source.lines().nth(position.line as usize - 1).expect("the line is there");
        assert!(line.contains("close("), "{position}: {line}");
        seen += 1;
    }
    assert!(seen > 0, "no close in\n{}", entry.text);
}
