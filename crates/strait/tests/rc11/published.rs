//! How many executions programs of GenMC's test suite have, beside the counts published with that suite
//! (`tests/correct`, RC11 and SC with modification orders tracked). The programs are written anew in the
//! notation of `program.rs`, from their definitions there.
//!
//! GenMC does not count executions in which an `assume` fails. Here a failed assumption skips the rest of
//! its thread, and executions are counted whose registers fit the assumption. Variables that are not
//! atomic there are not atomic here.
//!
//! RC11 as published lets later stores of the same thread continue a release sequence. The counts follow
//! C++20, as Rust and this library do: `relseq` and the programs with `rels` in their names tell one from
//! the other.

use std::sync::Arc;

use strait::Model;

use crate::axioms::{Axioms, executions};
use crate::library;
use crate::program::{Program, Shown};

/// A program with its published counts.
struct Row {
    name: &'static str,
    text: &'static str,
    /// Under RC11 and under SC.
    published: [u64; 2],
    /// What RC11 says, where the published count is another.
    rc11: Option<u64>,
    /// Which executions fit the assumptions of the program.
    assumption: fn(&Shown) -> bool,
}

const fn row(name: &'static str, published: [u64; 2], text: &'static str) -> Row {
    Row { name, text, published, rc11: None, assumption: |_| true }
}

/// Every program whose count is published, in alphabetical order.
const ROWS: &[Row] = &[
    row("2+2W+2sc+scf", [3, 3], "W x 1 sc; W y 2 sc | W y 1 rlx; F sc; W x 2 rlx"),
    // The store that is not SeqCst is in no SC order: mo; sb alone is no step of psc.
    row("2+2W+3sc+rel2", [4, 3], "W x 1 sc; W y 2 sc | W y 1 sc; W x 2 rel"),
    row("2+2W+scfs", [3, 3], "W x 1 rlx; F sc; W y 2 rlx | W y 1 rlx; F sc; W x 2 rlx"),
    row(
        "IRIWish",
        [28, 27],
        "W x 1 rlx | R x rlx; W y r0 rel | R x rlx; F acqrel; R y rlx | R y rlx; F acqrel; R x rlx",
    ),
    row(
        "LB+addr",
        [3, 3],
        "R x rlx; [r0=0] R y rlx; [r0=1] R z rlx; W y 1 rlx | R y rlx; W x r0 rel",
    ),
    // The same program, where a function makes the second half of the first thread.
    row(
        "LB+addr-fun",
        [3, 3],
        "R x rlx; [r0=0] R y rlx; [r0=1] R z rlx; W y 1 rlx | R y rlx; W x r0 rel",
    ),
    row(
        "LB+ctrl",
        [3, 3],
        "R x rlx; [r0=0] W y 1 rlx; [r0!0] W y 2 rlx | R y rlx; [r0=0] W x 1 rlx; [r0!0] W x 2 rlx",
    ),
    row(
        "LB+incMPs",
        [15, 15],
        "R x acq; U z 1 acqrel | U z 1 acqrel; W y 1 rel | R y acq; U w 1 acqrel | U w 1 acqrel; W x 1 rel",
    ),
    row("LB2", [3, 3], "R x rlx; W y 1 rlx | R y rlx; W x 1 rlx"),
    row("MP+incMP", [7, 7], "R y acq; U z 1 acqrel | U z 1 acqrel; R x acq | W x 1 rel; W y 1 rel"),
    row("MP+relf+acq", [2, 2], "N x 1; F rel; W y 1 rlx | R y acq; [r0=1] O x"),
    row(
        "MP+rels+acqf",
        [4, 3],
        "W x 1 rlx; W y 0 rel; W y 1 rlx | R y rlx; [r0=1] F acq; [r0=1] R x rlx",
    ),
    row("MPU+rel+acq", [6, 6], "N x 1; W y 1 rel | U y 1 rlx | R y acq; [r0=2] N x 2"),
    row("MPU+relf+acq", [6, 6], "N x 1; F rel; W y 1 rlx | U y 1 rlx | R y acq; [r0=2] N x 2"),
    row(
        "MPU+rels+acq",
        [13, 12],
        "W x 1 rlx; W y 0 rel; W y 1 rlx | U y 1 rlx | R y acq; [r0=2] W x 2 rlx",
    ),
    row(
        "MPU2+rel+acq",
        [14, 14],
        "N x 1; W y 1 rel | C y 2 3 rlx rlx | C y 1 2 rlx rlx | R y acq; [r0=3] N x 2",
    ),
    row(
        "MPU2+relf+acq",
        [14, 14],
        "N x 1; F rel; W y 1 rlx | C y 2 3 rlx rlx | C y 1 2 rlx rlx | R y acq; [r0=3] N x 2",
    ),
    row(
        "MPU2+rels+acq",
        [36, 35],
        "W x 1 rlx; W y 0 rel; W y 1 rlx | C y 2 3 rlx rlx | C y 1 2 rlx rlx | R y acq; [r0=3] W x 2 rlx",
    ),
    row("RMWFix", [4, 4], "R y sc; [r0=42] U x 1 sc; [r0=42] U x 1 sc | U x 1 sc | W y 42 sc"),
    row("S+rel+acqf", [2, 2], "N x 1; W y 1 rel | R y rlx; [r0=1] F acq; [r0=1] N x 2"),
    row("S+relf+acqf", [2, 2], "N x 1; F rel; W y 1 rlx | R y rlx; [r0=1] F acq; [r0=1] N x 2"),
    row("SB+2sc+scf", [3, 3], "W x 1 sc; R y sc | W y 1 rlx; F sc; R x rlx"),
    row("SB+3sc+rel", [4, 3], "W x 1 sc; R y sc | W y 1 rel; R x sc"),
    row("SB+rfis", [4, 3], "W x 1 rel; R x sc; R y sc | W y 1 rel; R y sc; R x sc"),
    row("TC1", [3, 3], "R x rlx; W y 1 rlx | R y rlx; W x r0 rlx"),
    row("W+RRR+W", [20, 20], "W x 1 rlx | R x rlx; R x rlx; R x rlx | W x 2 rlx"),
    row("WRC+dep", [8, 7], "W x 1 rlx | R x rlx; W y r0 rlx | R y rlx; F acqrel; R x rlx"),
    Row {
        // The first thread reads x = 2 and y = 0, the third x = 0. A cycle would have to go from W x 1 to
        // R y: sb to W x 2, then hb, then sb. The first sb is on one location, so RC11 has no such step.
        // C++20 has (strongly happens before), and so has the published count.
        rc11: Some(18),
        ..row("WWmerge1", [17, 15], "R x acq; R y sc | W x 1 sc; W x 2 sc | W y 1 sc; R x sc")
    },
    Row {
        // The second thread reads y = 1, the third x = 0 with y = 3 last: a cycle would have to go from
        // W x 1 to the write of U y: sb, hb, then sb inside of the read-modify-write, which is on one
        // location. RC11 allows it, and so does C++20, where U y is one step (P0668).
        rc11: Some(24),
        ..row("Z6.U", [22, 18], "W x 1 sc; W y 1 rel | U y 1 sc; R y rlx | W y 3 sc; R x sc")
    },
    row("atomicpo", [4, 3], "W y 1 rlx; F acqrel; W x 1 rlx | S x 1 rlx; S y 1 rlx"),
    row("ccr", [2, 2], "C x 0 42 rlx rlx | C x 0 17 rlx rlx; R x rlx"),
    row(
        "cumul-release",
        [8, 7],
        "W x 1 rlx; W y 1 rel | R y rlx; W z r0 rlx | R z rlx; F acqrel; R x rlx",
    ),
    row(
        "fr+w+w+w+reads",
        [210, 210],
        "W x 1 rlx | W x 2 rlx | W x 3 rlx | R x rlx; R x rlx; R x rlx; R x rlx",
    ),
    row("inc2w", [6, 6], "U x 1 rlx | W x 4 rel | U x 2 rlx"),
    // Each thread allocates, counts, and writes to what it has allocated.
    row("malloc-dep", [2, 2], "N p 1; U x 1 rlx; N q 1 | N r 1; U x 1 rlx; N s 1"),
    row(
        "peterZ",
        [7, 7],
        "W x 1 rlx; F sc; R y rlx | W y 1 rlx; W z 1 rel | R z acq; F sc; R x rlx",
    ),
    Row {
        // The only execution is the weak one: relaxed accesses do not carry the order of the fences
        // through the third thread.
        assumption: |shown| shown[0] == [1, 0] && shown[2] == [1],
        ..row(
            "psc-ar",
            [1, 0],
            "R y rlx; [r0=1] F sc; [r0=1] R z rlx | W z 1 rlx; F sc; W x 1 rlx | R x rlx; [r0=1] W y 1 rlx",
        )
    },
    Row {
        assumption: |shown| shown[1] == [1, 0],
        ..row("psc-sbhbsb", [1, 1], "W x 1 sc; W y 1 sc | R x acq; [r0=1] R y sc")
    },
    row("rel-pporf", [3, 3], "R x rlx; S z 1 rel; W y 1 rel | R y rlx; W x 1 rlx"),
    row(
        "relseq",
        [20, 16],
        "W x 1 rlx; W y 1 rel; W y 2 rlx | S y 3 rlx | R y rlx; F acqrel; R x rlx",
    ),
    row("rii", [3, 3], "R x rlx; U x 1 rlx | U x 1 rlx"),
    row("riwi", [3, 3], "R y rlx; U x 1 rlx | U x 1 rlx; W y 1 rel"),
    row("wcii", [24, 24], "W x 5 rel | C x 1 2 acq acq | U x 1 rlx | U x 1 rlx"),
];

/// How many executions the library needs for the outcomes that fit the assumption.
fn measured(row: &Row, model: Model) -> u64 {
    let program = Arc::new(Program::parse(row.text));
    let outcomes = library::outcomes(&program, model);
    assert_eq!(outcomes.redundant, 0, "{}", row.name);
    let fitting = outcomes.values().into_iter().filter(|shown| (row.assumption)(shown)).count();
    if fitting == outcomes.found.len() {
        return outcomes.executions;
    }
    // An assumption cannot be held against a number of executions, but here each has its own outcome.
    assert_eq!(outcomes.found.len() as u64, outcomes.executions, "{}", row.name);
    fitting as u64
}

/// How many executions the axioms allow that fit the assumption.
fn counted(row: &Row, axioms: Axioms) -> u64 {
    let allowed = executions(&Program::parse(row.text), axioms);
    assert_eq!(allowed.races, 0, "{}", row.name);
    let fitting = allowed.shown.iter().filter(|shown| (row.assumption)(shown)).count();
    if fitting == allowed.shown.len() { allowed.graphs } else { fitting as u64 }
}

fn expected(row: &Row) -> [u64; 2] {
    [row.rc11.unwrap_or(row.published[0]), row.published[1]]
}

#[test]
fn counts_are_the_published_ones() {
    assert!(ROWS.iter().filter(|row| row.rc11.is_none()).count() >= 40);
    for row in ROWS {
        let measured = [Model::Rc11, Model::Sc].map(|model| measured(row, model));
        assert_eq!(measured, expected(row), "{}: {}", row.name, row.text);
    }
}

#[test]
fn the_axioms_give_the_same_counts() {
    for row in ROWS {
        let counted = [Axioms::Rc11, Axioms::Sc].map(|axioms| counted(row, axioms));
        assert_eq!(counted, expected(row), "{}: {}", row.name, row.text);
    }
}

/// The release sequences of RC11 as published, which later stores of the same thread continue.
#[test]
fn older_release_sequences_have_fewer_executions() {
    let rows = [("MP+rels+acqf", 3), ("MPU+rels+acq", 12), ("MPU2+rels+acq", 35), ("relseq", 16)];
    for (name, expected) in rows {
        let row = ROWS.iter().find(|row| row.name == name).expect("a row of this name");
        let allowed = executions(&Program::parse(row.text), Axioms::Published);
        assert_eq!(allowed.graphs, expected, "{name}");
    }
}

/// The two programs in which this library follows RC11 and the published counts do not: they let accesses
/// to one location stand around hb in scb. With that rule the axioms give every published count.
#[test]
fn the_rule_of_the_published_counts_is_known() {
    for row in ROWS {
        let counted = counted(row, Axioms::AnyLocation);
        assert_eq!(counted, row.published[0], "{}", row.name);
    }
}

/// A program of `count` threads.
fn family(count: u32, thread: impl Fn(u32) -> String) -> Arc<Program> {
    let threads: Vec<String> = (0..count).map(thread).collect();
    Arc::new(Program::parse(&threads.join(" | ")))
}

/// Compare-exchanges: a failed one is a read, so that the executions in which only failed ones change
/// places are the same.
fn exchanges() -> [(&'static str, Arc<Program>, u64); 11] {
    let same = |count| family(count, |thread| format!("C x 0 {} rlx rlx", thread + 1));
    let chain = |count| family(count, |thread| format!("C x {thread} {} rlx rlx", thread + 1));
    let stores = |count| family(count, |thread| format!("C x 0 1 rlx rlx; W x {} rel", thread + 3));
    let writer = |count: u32| {
        family(count + 1, |thread| match thread {
            0 => "W x 2 rel".to_owned(),
            _ => "C x 2 3 rlx rlx".to_owned(),
        })
    };
    [
        ("cas(5)", same(5), 5),
        ("casrot(5)", chain(5), 43),
        ("casrot(6)", chain(6), 144),
        ("casrot(7)", chain(7), 523),
        ("casrot(8)", chain(8), 2_048),
        ("casw(2)", stores(2), 6),
        ("casw(3)", stores(3), 66),
        ("casw(4)", stores(4), 1_200),
        ("wcas(3)", writer(3), 13),
        ("wcas(6)", writer(6), 193),
        ("wcas(8)", writer(8), 1_025),
    ]
}

#[test]
fn failed_exchanges_are_reads() {
    for (name, program, published) in exchanges() {
        for model in [Model::Rc11, Model::Sc] {
            let outcomes = library::outcomes(&program, model);
            assert_eq!(outcomes.redundant, 0, "{name}");
            assert_eq!(outcomes.executions, published, "{name} under {model:?}");
        }
    }
}

/// The table in the guide has exactly these rows.
#[test]
fn the_guide_shows_the_counts() {
    let line = |name: &str, published: [u64; 2], here: [u64; 2]| {
        let cell = |index: usize| match here[index] == published[index] {
            true => format!("{} | {}", published[index], here[index]),
            false => format!("{} | **{}**", published[index], here[index]),
        };
        format!("| {name} | {} | {} |", cell(0), cell(1))
    };
    let mut lines: Vec<String> =
        ROWS.iter().map(|row| line(row.name, row.published, expected(row))).collect();
    lines.extend(exchanges().iter().map(|(name, _, count)| line(name, [*count; 2], [*count; 2])));
    let guide = include_str!("../../../../docs/memory-models.md");
    assert!(
        guide.contains(&lines.join("\n")),
        "docs/memory-models.md lacks:\n{}",
        lines.join("\n")
    );
}
