//! The verifier against real Go: a small run with a fixed seed, and every program of the corpus.
//! The verifier is the one that `STRAIT_BIN` names, or the one that cargo built beside the fuzzer.

#![expect(
    clippy::print_stderr,
    reason = "says what is skipped, and which programs are answered now"
)]

use std::path::{Path, PathBuf};

use strait_extractfuzz::{Campaign, Category, Expected, Family, Options, Summary, Tools};
use strait_extractfuzz::{check_corpus, read_corpus};
use strait_toolchain::Launcher;

/// The small run. Raise these when the verifier gets better.
const SEED: u64 = 1;
const COUNT: u64 = 150;
const SIZE: u32 = 2;
const DEPTH: u32 = 1;
/// Gadgets that the verifier cannot read yet, one per line. Delete a line when it can.
const OPEN: &str = include_str!("open-gadgets.txt");

/// The tools, or nothing where there is no Go or no verifier.
fn tools() -> Option<Tools> {
    let own = Path::new(env!("CARGO_BIN_EXE_strait-extractfuzz"));
    let strait = match std::env::var_os("STRAIT_BIN") {
        Some(named) => PathBuf::from(named),
        None => own.with_file_name("strait"),
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let go = std::env::split_paths(&path).any(|folder| folder.join("go").is_file());
    if !go || !strait.is_file() {
        eprintln!("skipped: this test needs `go` in PATH and {}", strait.display());
        return None;
    }
    Some(Tools::new(Launcher::of(own), strait))
}

fn families() -> Vec<Family> {
    Family::without(Family::all().expect("the gadget files are well formed"), OPEN)
}

#[test]
fn a_small_run_has_no_wrong_answer() {
    let Some(tools) = tools() else { return };
    let options = Options { seed: SEED, families: families(), size: SIZE, depth: DEPTH };
    let campaign =
        Campaign { options, from: 0, count: COUNT, jobs: 1, keep_going: true, time: None };
    let finished = campaign.run(&tools, &|_| {}).expect("the tools work");
    let count = |category| finished.judged.iter().filter(|one| one.category == category).count();
    let summary = Summary { finished: &finished, seed: SEED, gadgets: false };
    let message = format!("STRAIT_BIN names another verifier; seed {SEED}\n{summary}");
    assert_eq!(count(Category::WrongProof), 0, "wrong proofs: {message}");
    assert_eq!(count(Category::FalseAlarm), 0, "false alarms without an assumption: {message}");
    assert_eq!(finished.judged.len() as u64, COUNT);
}

#[test]
fn every_program_of_the_corpus_gets_a_right_answer() {
    let Some(tools) = tools() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/go-differential");
    let files = read_corpus(&folder).expect("the corpus can be read");
    assert!(!files.is_empty(), "{} holds no programs", folder.display());
    let mut wrong = Vec::new();
    for (file, answer) in files.iter().zip(check_corpus(&tools, &files).expect("the tools work")) {
        wrong.extend(answer.wrong);
        match file.expected() {
            Expected::Exact => wrong.extend(answer.unknown),
            Expected::NotWrong if answer.unknown.is_empty() => {
                eprintln!("{}: the verifier answers now; delete its `// Unknown:` line", file.name);
            }
            Expected::NotWrong => {}
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "the verifier is not right about these");
}

#[test]
fn programs_depend_on_seed_and_index_only() {
    let options = |seed| Options { seed, families: families(), size: 3, depth: 2 };
    let program = |seed, index| strait_extractfuzz::program(&options(seed), index);
    assert_eq!(program(7, 3), program(7, 3));
    assert_ne!(program(7, 3), program(8, 3));
    assert_ne!(program(7, 3), program(7, 3 + families().len() as u64));
}
