//! Nothing that can be fed to the parser, the checker or the engines makes them panic or exhausts
//! the stack. `PROPTEST_RNG_SEED` and `PROPTEST_CASES` change what is drawn; a larger run is
//! `cargo run --release -p strait-calculus --example fuzz_parser 1000000 1`.

#[path = "common/fuzz.rs"]
mod fuzz;
#[path = "common/sources.rs"]
mod sources;

use std::thread;
use std::time::{Duration, Instant};

use fuzz::{Edit, STATEMENTS, TOKENS, edited, feed, frame};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use sources::sources;
use strait_calculus::{Engine, ExamineOptions, Machine, Program, examine, parse, print};
use strait_explore::{Limits, dpor};

/// Levels of nesting nobody writes.
const DEEP: usize = 100_000;

/// A quarter of what test threads have; the main thread has four times as much again.
const STACK: usize = 512 << 10;

/// What the parser says, on a thread with a small stack. A stack overflow would end the test run.
fn said(source: String) -> Result<(), String> {
    let read = move || parse(&source).map(drop).map_err(|errors| errors.0[0].message.clone());
    let thread = thread::Builder::new().stack_size(STACK).spawn(read).expect("a thread");
    thread.join().expect("no panic")
}

fn nested(
    before: &str,
    open: &str,
    middle: &str,
    close: &str,
    after: &str,
    levels: usize,
) -> String {
    format!("{before}{}{middle}{}{after}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn deep_nesting_is_an_error_and_no_stack_overflow() {
    let deep = "nested more than 200 levels deep";
    let long = "an expression with more than 200 operators";
    let rows = [
        ("if", "main {", "if true {", "", "}", "}", deep),
        ("else", "main {", "if true {} else {", "", "}", "}", deep),
        ("else if", "main { if true {}", " else if true {}", "", "", "}", deep),
        ("while", "main {", "while true {", "", "}", "}", deep),
        ("choose", "main {", "choose {", "", "}", "}", deep),
        ("or", "main {", "choose {} or {", "", "}", "}", deep),
        ("select", "main {", "select { timeout {", "", "}}", "}", deep),
        ("default", "main {", "select { default {", "", "}}", "}", deep),
        ("get case", "main { chan c: int;", "select { x = get c {", "", "}}", "}", deep),
        ("spawn", "main {", "spawn {", "", "}", "}", deep),
        ("named spawn", "main {", "spawn p {", "", "}", "}", deep),
        ("parentheses", "main { x = ", "(", "1", ")", "}", deep),
        ("parentheses of an operand", "main { put ", "(", "nil", ")", " 1 }", deep),
        ("not", "main { x = ", "!", "true", "", "}", deep),
        ("minus", "main { y = 1; x = ", "-", "y", "", "}", deep),
        ("minus and parentheses", "main { y = 1; x = ", "-(", "y", ")", "}", deep),
        ("type", "main { chan c: ", "chan ", "int", "", "}", deep),
        ("type of a parameter", "fn f(c: ", "chan ", "int", "", ") {}", deep),
        ("type of a result", "fn f(): ", "chan ", "int", "", " {}", deep),
        ("sum", "main { x = 1", "+ 1", "", "", "}", long),
        ("sum to the right", "main { x = ", "1 + (", "1", ")", "}", deep),
        ("disjunction", "main { x = true", "|| false", "", "", "}", long),
        ("climbing operators", "main { x = true", "|| 1 < 1 + 1 * 1", "", "", "}", long),
        ("unclosed blocks", "main {", "{", "", "", "", "expected a statement, found `{`"),
        ("unclosed ifs", "main {", "if true {", "", "", "", deep),
        ("unclosed parentheses", "main { x = ", "(", "", "", "", deep),
        ("closing braces", "main {", "}", "", "", "", "expected `fn` or `main`, found `}`"),
    ];
    for (name, before, open, middle, close, after, expected) in rows {
        let error = said(nested(before, open, middle, close, after, DEEP)).expect_err(name);
        assert!(error.contains(expected), "{name}: {error}");
        // What is deep but allowed goes through the checker, the printer and the compiler.
        let source = nested(before, open, middle, close, after, 40);
        if let Ok(program) = parse(&source) {
            assert_eq!(parse(&print(&program)).as_ref(), Ok(&program), "{name}");
            drop(Machine::for_outcomes(&program, false));
        }
    }
}

#[test]
fn the_deepest_program_that_is_read_can_be_printed_checked_and_run() {
    let rows = [
        ("if", "main {", "if true {", "", "}", "}"),
        ("else if", "main { if true {}", " else if true {}", "", "", "}"),
        ("spawn", "main {", "spawn {", "", "}", "}"),
        ("spawned call", "fn f() {}\nmain {", "if true {", "spawn f()", "}", "}"),
        ("not", "main { x = ", "!", "true", "", "}"),
        ("minus and parentheses", "main { y = 1; x = ", "-(", "y", ")", "}"),
        ("sum", "main { x = 1", "+ 1", "", "", "}"),
        ("sum to the right", "main { x = ", "1 + (", "1", ")", "}"),
        ("type", "main { chan c: ", "chan ", "int", "", "}"),
    ];
    for (name, before, open, middle, close, after) in rows {
        let at = |levels| parse(&nested(before, open, middle, close, after, levels));
        let deepest = (1..=201).rev().find_map(|levels| at(levels).ok().map(|read| (levels, read)));
        let (levels, program) = deepest.expect(name);
        assert!(levels >= 90, "{name}: only {levels} levels");
        let run = move || {
            assert_eq!(parse(&print(&program)).as_ref(), Ok(&program), "{name} {levels}");
            explore(&program);
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread");
        assert!(thread.join().is_ok(), "{name} at {levels} levels");
    }
}

#[test]
fn huge_inputs_are_read_in_reasonable_time() {
    let names = |count: usize, text: &dyn Fn(usize) -> String| -> String {
        (0..count).map(text).collect::<Vec<_>>().join("\n")
    };
    let rows = [
        ("statements", format!("main {{ {} }}", "observe 1\n".repeat(200_000)), true),
        ("blanks", format!("main {{ {} }}", " ".repeat(20_000_000)), true),
        ("a comment", format!("main {{}} // {}", "x".repeat(20_000_000)), true),
        ("a string", format!("main {{ panic \"{}\" }}", "x".repeat(5_000_000)), true),
        ("digits", format!("main {{ x = {} }}", "9".repeat(5_000_000)), false),
        ("a name", format!("main {{ {} = 1 }}", "x".repeat(5_000_000)), false),
        ("variables", format!("main {{ {} }}", names(10_000, &|n| format!("x{n} = 1"))), true),
        ("functions", names(10_000, &|n| format!("fn f{n}() {{}}")) + "\nmain {}", true),
        ("cases", format!("main {{ select {{ {} }} }}", "timeout {} ".repeat(70_000)), false),
        ("branches", format!("main {{ choose {{}} {} }}", "or {} ".repeat(70_000)), false),
        ("mistakes", format!("main {{ {} }}", "x = !1\n".repeat(50_000)), false),
        ("beyond the limit", " ".repeat((64 << 20) + 1), false),
    ];
    for (name, source, right) in rows {
        let start = Instant::now();
        assert_eq!(said(source).is_ok(), right, "{name}");
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
    }
}

/// Runs every engine for a moment.
fn explore(program: &Program) {
    for reduce in [false, true] {
        let engine = Engine::States { reduce, symmetry: reduce };
        let options =
            ExamineOptions { engine, max_states: 2_000, memory: 64 << 20, ..Default::default() };
        let examination = examine(program, &options);
        assert!(examination.states <= 2_100, "{} states", examination.states);
    }
    let machine = Machine::for_outcomes(program, false);
    let limits = Limits { executions: Some(50), length: Some(100), ..Limits::default() };
    assert!(dpor(&machine, &limits).executions <= 50);
}

fn config(cases: u32) -> ProptestConfig {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok());
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    let rng_seed = RngSeed::Fixed(seed.unwrap_or(20_261_115));
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..default }
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = any::<(u8, u32, u32)>().prop_map(|(what, at, other)| Edit { what, at, other });
    prop::collection::vec(edit, 1..6)
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        feed(&bytes);
    }

    #[test]
    fn tokens_do_no_harm(tokens in prop::collection::vec(select(&TOKENS[..]), 0..60)) {
        let body = tokens.join(" ");
        feed(body.as_bytes());
        feed(frame(&body).as_bytes());
    }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn statements_do_no_harm(statements in prop::collection::vec(select(&STATEMENTS[..]), 0..9)) {
        if let Some(program) = feed(frame(&statements.join("\n")).as_bytes()) {
            explore(&program);
        }
    }

    #[test]
    fn changed_programs_do_no_harm((_, source) in select(sources()), edits in edits()) {
        if let Some(program) = feed(edited(&source, &edits).as_bytes()) {
            explore(&program);
        }
    }
}
