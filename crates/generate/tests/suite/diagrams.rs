//! Diagrams of failures: of generated mutants and of the corpus. No two texts overlap, every lane and message is
//! there, and the log for ShiViz has clocks that agree with the arrows.

use std::collections::BTreeMap;

use strait_calculus::{Engine, ExamineOptions, Execution, Verdict, draw, examine, parse, print};
use strait_diagram::{Diagram, EndState, files, overlapping_texts, shiviz, svg};
use strait_generate::{Capabilities, Config, Generator, Heuristic, mutant};

const SEED: u64 = 26;
/// How many failures of each verdict are drawn.
const EACH: usize = 100;

/// The diagram of the failure of a program, if it has one that is found quickly.
fn failure(source: &str) -> Option<(Verdict, Diagram)> {
    let program = parse(source).expect("a program");
    let options = ExamineOptions {
        engine: Engine::States { reduce: true, symmetry: false },
        max_states: 3_000,
        ..ExamineOptions::default()
    };
    let examined = examine(&program, &options);
    let trace = examined.trace.as_deref()?;
    let execution = Execution { machine: &examined.machine, trace, source };
    Some((examined.verdict, draw(&execution, examined.verdict.word())))
}

fn check(source: &str, diagram: &Diagram) {
    let picture = svg(diagram);
    assert_eq!(overlapping_texts(&picture), Vec::<String>::new(), "{source}\n{picture}");
    assert_eq!(diagram.check(), Ok(()));
    let [_, (_, json), _] = files(diagram);
    assert_eq!(Diagram::from_json(json.as_bytes()).as_ref(), Ok(diagram));
    check_clocks(&shiviz(diagram));
}

/// The clock of each lane grows by one with each of its events and never runs back.
fn check_clocks(log: &str) {
    let mut known: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for line in log.lines().skip(2).step_by(2) {
        let (host, clock) = line.split_once(' ').expect("host and clock");
        let clock: BTreeMap<String, u64> = read_clock(clock);
        let before = known.entry(host).or_default();
        assert_eq!(clock.get(host), Some(&(before.get(host).unwrap_or(&0) + 1)), "{log}");
        assert!(before.iter().all(|(other, time)| clock.get(other) >= Some(time)), "{log}");
        *before = clock;
    }
}

/// `{"main":3,"main.1":1}`
fn read_clock(text: &str) -> BTreeMap<String, u64> {
    let inside = text.trim_matches(['{', '}']);
    let entry = |entry: &str| {
        let (host, time) = entry.rsplit_once(':').expect("host and time");
        (host.trim_matches('"').to_owned(), time.parse().expect("a time"))
    };
    inside.split(',').map(entry).collect()
}

#[test]
fn failures_of_generated_programs_are_drawn_without_overlapping_texts() {
    let mut drawn: BTreeMap<&str, usize> = BTreeMap::new();
    for number in 0..9_000 {
        // Panics are rare, and several mutants of one program are made faster than several programs.
        let (index, number) = (u64::from(number / 3), number % 3);
        let size = [8, 16, 30][index as usize % 3];
        let capabilities = Capabilities::all();
        let config = Config { weights: Heuristic::A.weights(), capabilities, size };
        let generator = Generator::new(SEED, config).expect("the setting is right");
        let program = generator.generate(index).program;
        let Some(mutant) = mutant(&program, SEED, index, number) else { continue };
        let source = print(&mutant.program);
        let Some((verdict, diagram)) = failure(&source) else { continue };
        let count = drawn.entry(verdict.word()).or_default();
        *count += 1;
        if *count > EACH {
            continue;
        }
        check(&source, &diagram);
        if verdict == Verdict::Deadlock {
            let waits = diagram.lanes.iter().any(|lane| lane.end.state == EndState::Waiting);
            assert!(waits, "no lane waits forever:\n{source}");
            assert!(!diagram.bad_lines().is_empty(), "{source}");
        }
        if ["deadlock", "leak", "panic"].iter().all(|kind| drawn.get(kind) >= Some(&EACH)) {
            break;
        }
    }
    for kind in ["deadlock", "leak", "panic"] {
        assert!(drawn.get(kind) >= Some(&EACH), "{drawn:?}");
    }
}

#[test]
fn failures_of_the_corpus_are_drawn_without_overlapping_texts() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus");
    let mut drawn = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|ending| ending != "strait") {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a program");
        if let Some((_, diagram)) = failure(&source) {
            check(&source, &diagram);
            drawn += 1;
        }
    }
    assert!(drawn > 40, "only {drawn} programs of the corpus fail");
}
