//! The engines against each other on generated programs and their mutants: the search over states
//! with and without reduction, on one and two threads, optimal dpor and plain enumeration agree on
//! every outcome, and `explain` finds a schedule for each of them.
//!
//! `STRAIT_TEST_SEED` changes the programs, `STRAIT_TEST_COUNT` how many are tried.

use strait_calculus::{
    Engine, ExamineOptions, Machine, Program, Recording, examine, explain, print,
};
use strait_explore::{Coverage, Limits, brute, dpor};
use strait_generate::{Capabilities, Config, Generator, Heuristic, mutant};

/// Programs with more executions than this are not enumerated.
const SMALL: u64 = 3_000;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    programs: u64,
    enumerated: u64,
    explained: u64,
}

/// The outcomes of one engine, sorted, or nothing if it did not see everything.
fn outcomes(program: &Program, engine: Engine, threads: usize) -> Option<Vec<String>> {
    let options = ExamineOptions { engine, threads, max_states: 20_000, ..Default::default() };
    let examination = examine(program, &options);
    let mut texts: Vec<String> =
        examination.outcomes.iter().map(|found| found.outcome.to_string()).collect();
    texts.sort();
    texts.push(format!("verdict {}", examination.verdict));
    (examination.coverage == Coverage::Exhaustive).then_some(texts)
}

fn compare(program: &Program, name: &str, tally: &mut Tally) {
    let context = || format!("{name}\n{}", print(program));
    let states =
        |reduce, threads| outcomes(program, Engine::States { reduce, symmetry: false }, threads);
    let Some(reduced) = states(true, 1) else { return };
    tally.programs += 1;
    assert_eq!(states(true, 2).as_ref(), Some(&reduced), "two threads: {}", context());
    if let Some(full) = states(false, 1) {
        assert_eq!(full, reduced, "without reduction: {}", context());
    }
    let machine = Machine::new(program, Recording::Everything);
    if !machine.code().always_ends {
        return;
    }
    let limits = Limits { executions: Some(SMALL), ..Limits::default() };
    let optimal = dpor(&machine, &limits);
    if optimal.coverage != Coverage::Exhaustive {
        return;
    }
    assert_eq!(optimal.redundant, 0, "{}", context());
    let mut texts: Vec<String> =
        optimal.found.iter().map(|found| found.outcome.to_string()).collect();
    texts.sort();
    if !machine.code().observes {
        assert_eq!(texts, reduced[..reduced.len() - 1], "dpor: {}", context());
    }
    for found in optimal.found.iter().filter(|found| found.outcome.panic.is_none()).take(20) {
        let explanation = explain(program, &found.outcome.observation());
        assert!(explanation.is_possible(), "explain {}: {}", found.outcome, context());
        tally.explained += 1;
    }
    let all = brute(&machine, &limits);
    if all.report.coverage == Coverage::Exhaustive {
        assert_eq!(optimal.executions, all.traces, "optimal: {}", context());
        tally.enumerated += 1;
    }
}

#[test]
fn all_engines_agree() {
    let seed = number("STRAIT_TEST_SEED", 11);
    let count = number("STRAIT_TEST_COUNT", 120);
    let mut tally = Tally::default();
    for (capabilities, size) in [
        (Capabilities::default(), 6),
        (Capabilities::default(), 12),
        (Capabilities::all(), 6),
        (Capabilities::all(), 12),
    ] {
        let config = Config { weights: Heuristic::A.weights(), capabilities, size };
        let generator = Generator::new(seed, config).expect("a correct setting");
        for index in 0..count {
            let program = generator.generate(index).program;
            let name = format!("seed {seed} index {index} size {size}");
            compare(&program, &name, &mut tally);
            for number in 0..2 {
                if let Some(mutant) = mutant(&program, seed, index, number) {
                    let name = format!("{name} mutant {number} ({})", mutant.mutation);
                    compare(&mutant.program, &name, &mut tally);
                }
            }
        }
    }
    assert!(tally.programs > 4 * count, "{tally:?}");
    assert!(tally.enumerated > count, "{tally:?}");
    assert!(tally.explained > count, "{tally:?}");
}
