//! Violated properties of small models as findings: one for each bug, silenced or known if it is.

use std::path::Path;

use strait_calculus::{Span, parse, print};
use strait_diagram::{EndState, overlapping_texts, svg};
use strait_findings::{Baseline, SourcePlace};
use strait_generate::{Capabilities, Config, Generator, Heuristic, mutant};
use strait_goverify::{
    Checked, EntryBudget, FailOn, FindingStatus, Locate, Question, SourceFiles, Summary,
    check_model, diagram, findings,
};
use strait_verify::{Places, Property, Reduction};

/// Each line of a program is a line of `a.go`.
struct Lines(String);

impl Places for Lines {
    fn place(&self, span: Span) -> Option<String> {
        self.position(span).map(|place| place.to_string())
    }
}

impl Locate for Lines {
    fn position(&self, span: Span) -> Option<SourcePlace> {
        let (line, column) = span.line_column(&self.0);
        Some(SourcePlace { file: "a.go".into(), line: line as u32, column: column as u32 })
    }
}

fn checked(source: &str) -> Checked {
    let program = parse(source).expect("a program");
    let question = Question { properties: Property::ALL.to_vec(), ..Question::default() };
    let budget = EntryBudget {
        states: 10_000,
        memory: 1 << 28,
        reduction: Reduction::Never,
        time: None,
        stop: None,
        progress: None,
    };
    check_model(&program, &question, &budget, Box::new(Lines(source.to_owned())))
}

const OPPOSITE_ORDER: &str = "main { mutex a; mutex b
    spawn { lock a
    lock b; unlock b; unlock a }
    lock b
    lock a; unlock a; unlock b }";
const OWN_LOCK: &str = "main { mutex a\n lock a\n lock a }";
const TWO_PANICS: &str = "main { chan c: int; close c; choose {\n close c } or {\n put c 1 } }";
const TWO_LEAKS: &str =
    "main { chan c: int; choose {\n spawn { put c 1 }\n } or {\n spawn { get c } } }";
const FINE: &str = "main { }";

#[test]
fn one_bug_is_one_finding() {
    let files = SourceFiles::below(Path::new("nowhere"));
    for (source, expected) in [
        (FINE, &[][..]),
        (OWN_LOCK, &["double-lock: mutex-safe, no-deadlock, live at 3"]),
        (OPPOSITE_ORDER, &["deadlock: no-deadlock, live at 5, 3"]),
        (TWO_PANICS, &["panic: channel-safe at 2", "panic: channel-safe at 3"]),
        (TWO_LEAKS, &["leak: no-leak, live at 2", "leak: no-leak, live at 4"]),
    ] {
        let found = findings(&[checked(source)], &files, None);
        let told: Vec<String> = found
            .iter()
            .map(|finding| {
                let lines: Vec<String> =
                    finding.places.iter().map(|place| place.line.to_string()).collect();
                let rules = finding.properties.join(", ");
                format!("{}: {rules} at {}", finding.kind.name(), lines.join(", "))
            })
            .collect();
        assert_eq!(told, expected, "{source}");
    }
}

#[test]
fn a_bug_of_several_entries_is_one_finding() {
    let files = SourceFiles::below(Path::new("nowhere"));
    let entries = [checked(OWN_LOCK), checked(FINE), checked(OWN_LOCK)];
    let found = findings(&entries, &files, None);
    assert_eq!(found.iter().map(|one| one.entries.clone()).collect::<Vec<_>>(), [vec![0, 2]]);
}

#[test]
fn comments_and_baselines_make_a_build_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |text: &str| std::fs::write(folder.path().join("a.go"), text).expect("written");
    let entries = [checked(OWN_LOCK)];
    let judged = |baseline: Option<&mut Baseline>| {
        let files = SourceFiles::below(folder.path());
        let found = findings(&entries, &files, baseline);
        let fails = Summary::of(&entries, &found).fails(FailOn::Violation);
        (found, fails)
    };
    for (text, silenced) in [
        ("func f() {\n\ta.Lock()\n\ta.Lock()\n}\n", false),
        ("func f() {\n\ta.Lock()\n\ta.Lock() //strait:ignore mutex-safe a demo\n}\n", true),
        ("func f() {\n\t//strait:ignore live a demo\n\ta.Lock()\n}\n", true),
        ("//strait:ignore no-deadlock a demo\nfunc f() {\n\ta.Lock()\n}\n", true),
        ("func f() { //strait:ignore all a demo\n\n\ta.Lock()\n}\n", true),
        // It breaks no such property, or there is no reason, or it stands elsewhere.
        ("func f() {\n\n\ta.Lock() //strait:ignore channel-safe a demo\n}\n", false),
        ("func f() {\n\n\ta.Lock() //strait:ignore mutex-safe\n}\n", false),
        ("func f() { }//strait:ignore mutex-safe a demo\n\n\n", false),
    ] {
        write(text);
        let (found, fails) = judged(None);
        let suppressed = matches!(found[0].status, FindingStatus::Suppressed { .. });
        assert_eq!((suppressed, fails), (silenced, !silenced), "{text}");
    }
    write("func f() {\n\ta.Lock()\n\ta.Lock() // again\n}\n");
    let mut known = Baseline::of(judged(None).0.into_iter().map(|finding| finding.key));
    assert!(!judged(Some(&mut known.clone())).1, "the baseline knows it");
    write("func g() {\n\ta.Lock()\n\ta.Lock() // again\n}\n");
    assert!(judged(Some(&mut known)).1, "in another function it is another one");
}

#[test]
fn wrong_comments_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "//strait:ignore alive never\n\n//strait:ignore live\n\n//strait:ignore f.mcf why\n";
    std::fs::write(folder.path().join("a.go"), text).expect("written");
    let files = SourceFiles::below(folder.path());
    let warnings: Vec<String> = files.warnings(["b.go"]).iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("a.go:1: ") && warnings[0].contains("`alive`"));
    assert!(warnings[1].starts_with("a.go:3: ") && warnings[1].contains("no reason"));
}

#[test]
fn entries_are_counted() {
    let files = SourceFiles::below(Path::new("nowhere"));
    let entries = [checked(FINE), checked(OWN_LOCK), checked(TWO_LEAKS)];
    let found = findings(&entries, &files, None);
    let summary = Summary::of(&entries, &found);
    assert_eq!(summary.to_string(), "3 entries: 1 proved, 2 violated, 0 unknown; 3 findings");
    assert!(!summary.fails(FailOn::Confirmed));
}

#[test]
fn findings_are_drawn_without_overlapping_texts() {
    let files = SourceFiles::below(Path::new("nowhere"));
    let config =
        || Config { weights: Heuristic::A.weights(), capabilities: Capabilities::all(), size: 12 };
    let generator = Generator::new(26, config()).expect("the setting is right");
    let mut drawn = 0;
    for index in 0..400 {
        let Some(mutant) = mutant(&generator.generate(index).program, 26, index, 0) else {
            continue;
        };
        let source = print(&mutant.program);
        let checked = [checked(&source)];
        for finding in findings(&checked, &files, None) {
            let Some(diagram) = diagram(&finding, &checked, &files) else { continue };
            assert_eq!(diagram.check(), Ok(()), "{source}");
            assert_eq!(overlapping_texts(&svg(&diagram)), Vec::<String>::new(), "{source}");
            drawn += 1;
        }
        if drawn >= 100 {
            break;
        }
    }
    assert!(drawn >= 100, "{drawn}");
}

#[test]
fn a_diagram_marks_who_waits_for_whom() {
    let files = SourceFiles::below(Path::new("nowhere"));
    let checked = [checked(OPPOSITE_ORDER)];
    let found = findings(&checked, &files, None);
    let diagram = diagram(&found[0], &checked, &files).expect("a diagram");
    let states: Vec<EndState> = diagram.lanes.iter().map(|lane| lane.end.state).collect();
    assert_eq!(states, [EndState::Waiting, EndState::Waiting]);
    assert_eq!((diagram.locks.len(), diagram.waits.len()), (2, 2));
}
