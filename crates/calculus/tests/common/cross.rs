//! One program, every engine: they must agree, and the agreed result becomes a text.

use strait_calculus::{
    Engine, Examination, ExamineOptions, Machine, Outcome, Program, Recording, examine, explain,
    parse,
};
use strait_explore::{Coverage, Found, Limits, brute, dpor};

/// Programs with at most so many interleavings are also enumerated without any reduction.
const SMALL: u64 = 20_000;

/// Reads a program that must be right.
pub fn read(source: &str) -> Program {
    parse(source).unwrap_or_else(|errors| panic!("{}", errors.render("row", source)))
}

/// The outcomes as sorted lines.
pub fn lines<Action>(found: &[Found<Outcome, Action>]) -> Vec<String> {
    let mut lines: Vec<String> =
        found.iter().map(|found| found.outcome.to_string().trim_end().to_string()).collect();
    lines.sort();
    lines
}

/// Verdict, coverage, number of executions up to equivalence and outcomes, agreed on by the search
/// over states (reduced and not, by one and two threads), dpor and, where that is feasible, brute
/// force. Every outcome without a panic must be explained.
pub fn agreed(source: &str) -> String {
    let program = read(source);
    let first = by_states(&program, false, 1);
    for (reduce, threads) in [(false, 2), (true, 1), (true, 2)] {
        let other = by_states(&program, reduce, threads);
        let context = format!("reduce: {reduce}, threads: {threads}\n{source}");
        assert_eq!(other.verdict, first.verdict, "{context}");
        assert_eq!(other.coverage, first.coverage, "{context}");
        assert_eq!(lines(&other.outcomes), lines(&first.outcomes), "{context}");
    }
    let executions = match first.machine.code().always_ends {
        true => {
            format!(", {} executions", by_executions(&program, &lines(&first.outcomes), source))
        }
        false => String::new(),
    };
    explain_all(&program, source);
    let mut text = format!("{}, {}{executions}", first.verdict, first.coverage);
    for line in lines(&first.outcomes) {
        text += &format!("\n{line}");
    }
    text
}

fn by_states(program: &Program, reduce: bool, threads: usize) -> Examination {
    let engine = Engine::States { reduce, symmetry: false };
    let (memory, max_states) = (256 << 20, 100_000);
    examine(program, &ExamineOptions { engine, threads, memory, max_states, ..Default::default() })
}

/// The number of executions that dpor needs, after checking that nothing is missing or done twice.
fn by_executions(program: &Program, outcomes: &[String], source: &str) -> u64 {
    let machine = Machine::for_outcomes(program, false);
    let reduced = dpor(&machine, &Limits::default());
    assert_eq!(reduced.coverage, Coverage::Exhaustive, "dpor\n{source}");
    assert_eq!(lines(&reduced.found), outcomes, "dpor\n{source}");
    assert_eq!(reduced.redundant, 0, "dpor\n{source}");
    let all = brute(&machine, &Limits { executions: Some(SMALL), ..Limits::default() });
    if all.report.coverage == Coverage::Exhaustive {
        assert_eq!(lines(&all.report.found), outcomes, "brute force\n{source}");
        assert_eq!(reduced.executions, all.traces, "Mazurkiewicz traces\n{source}");
    }
    reduced.executions
}

/// Whatever was seen in an execution of bounded length must be explained.
fn explain_all(program: &Program, source: &str) {
    let machine = Machine::new(program, Recording::Everything);
    let limits = Limits { executions: Some(500), length: Some(60), ..Limits::default() };
    for found in dpor(&machine, &limits).found {
        let outcome = &found.outcome;
        if outcome.panic.is_none() && outcome.limit.is_none() {
            let explanation = explain(program, &outcome.observation());
            assert!(explanation.is_possible(), "not explained: {outcome}\n{source}");
        }
    }
}
