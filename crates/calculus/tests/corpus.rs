//! Every program of the corpus keeps the promises of its header, by every engine, and every one of
//! its outcomes can be explained. Dropping a file into `corpus/` adds it here.

mod common;

use common::{Entry, corpus, squeeze};
use strait_calculus::{
    Engine, Examination, ExamineOptions, Machine, Outcome, Recording, Verdict, examine, explain,
    parse, print,
};
use strait_explore::{Bounds, Coverage, Found, Limits, brute, dpor};

/// Programs with at most so many interleavings are also enumerated without any reduction.
const SMALL: u64 = 200_000;

fn texts<Action>(found: &[Found<Outcome, Action>]) -> Vec<String> {
    let mut texts: Vec<String> =
        found.iter().map(|found| squeeze(&found.outcome.to_string())).collect();
    texts.sort();
    texts
}

fn examined(entry: &Entry, engine: Engine, threads: usize) -> Examination {
    examine(&entry.program, &ExamineOptions { engine, threads, ..Default::default() })
}

fn check(entry: &Entry, engine: Engine, threads: usize) {
    let name = entry.path.display();
    let examination = examined(entry, engine.clone(), threads);
    let context = format!("{name} by {engine:?} with {threads} threads");
    assert_eq!(examination.coverage, Coverage::Exhaustive, "{context}");
    assert_eq!(examination.verdict.word(), entry.verdict, "{context}");
    assert_eq!(texts(&examination.outcomes), entry.outcomes, "{context}");
}

#[test]
fn the_search_over_states_keeps_the_promises() {
    for entry in corpus() {
        for reduce in [false, true] {
            for threads in [1, 2] {
                check(&entry, Engine::States { reduce, symmetry: false }, threads);
            }
        }
    }
}

#[test]
fn dpor_is_optimal_and_agrees_with_brute_force() {
    let mut enumerated = 0;
    for entry in corpus() {
        let name = entry.path.display();
        let machine = Machine::for_outcomes(&entry.program, false);
        if !machine.code().always_ends {
            continue;
        }
        let reduced = dpor(&machine, &Limits::default());
        assert_eq!(reduced.coverage, Coverage::Exhaustive, "{name}");
        assert_eq!(texts(&reduced.found), entry.outcomes, "{name}");
        assert_eq!(reduced.redundant, 0, "{name}");
        let all = brute(&machine, &Limits { executions: Some(SMALL), ..Limits::default() });
        if all.report.coverage == Coverage::Exhaustive {
            enumerated += 1;
            assert_eq!(texts(&all.report.found), entry.outcomes, "{name}");
            assert_eq!(reduced.executions, all.traces, "{name}");
        }
    }
    assert!(enumerated >= 40, "only {enumerated} programs were small enough to enumerate");
}

/// What an engine says of the program itself; the number is the bytes that it may take.
fn verdict_by(entry: &Entry, engine: Engine) -> Examination {
    let options = ExamineOptions { engine, memory: 64 << 20, ..Default::default() };
    examine(&entry.program, &options)
}

/// An engine that cannot see everything may say `unknown`, or something that is wrong with the
/// program; it may not say `terminates` without having seen everything, nor what is not so.
#[test]
fn no_engine_claims_more_than_it_has_seen() {
    let endless = |entry: &Entry| !Machine::for_outcomes(&entry.program, false).code().always_ends;
    let preemptions = |bound| Bounds { preemptions: Some(bound), ..Bounds::default() };
    let engines = [
        Engine::States { reduce: true, symmetry: false },
        Engine::States { reduce: true, symmetry: true },
        Engine::Dpor,
        Engine::Bounded(preemptions(0)),
        Engine::Bounded(Bounds { fair: Some(5), ..preemptions(2) }),
        Engine::Random { seed: 1, runs: 20 },
        Engine::Pct { seed: 1, runs: 20, depth: 3 },
        Engine::Pos { seed: 1, runs: 20 },
        Engine::Surw { seed: 1, runs: 20 },
    ];
    let (mut unknown, mut endless_programs) = (0, 0);
    for entry in corpus() {
        endless_programs += u32::from(endless(&entry));
        let truth = verdict_by(&entry, engines[0].clone()).verdict;
        assert_eq!(truth.word(), entry.verdict, "{}", entry.path.display());
        for engine in &engines {
            let context = format!("{} by {engine:?}", entry.path.display());
            let examination = verdict_by(&entry, engine.clone());
            let (verdict, coverage) = (examination.verdict, examination.coverage);
            match verdict {
                Verdict::Unknown => {
                    assert_ne!(coverage, Coverage::Exhaustive, "{context}");
                    unknown += 1;
                }
                _ if coverage == Coverage::Exhaustive => assert_eq!(verdict, truth, "{context}"),
                // Only the states themselves can be complete when the outcomes are not.
                Verdict::Terminates => {
                    assert!(matches!(engine, Engine::States { .. }), "{context}: {coverage}");
                    assert_eq!(verdict, truth, "{context}");
                }
                _ => assert!(verdict <= truth, "{context}: {verdict} instead of {truth}"),
            }
        }
    }
    assert!(endless_programs >= 10, "only {endless_programs} programs have endless executions");
    assert!(unknown >= endless_programs, "only {unknown} answers are unknown");
}

#[test]
fn every_outcome_is_explained_and_no_other() {
    for entry in corpus() {
        let machine = Machine::new(&entry.program, Recording::Everything);
        if !machine.code().always_ends {
            continue;
        }
        let reduced = dpor(&machine, &Limits::default());
        for found in &reduced.found {
            if found.outcome.panic.is_some() {
                continue;
            }
            let observation = found.outcome.observation();
            let explanation = explain(&entry.program, &observation);
            assert!(explanation.is_possible(), "{}: {}", entry.path.display(), found.outcome);
        }
    }
}

#[test]
fn printing_and_reading_gives_the_same_program() {
    for entry in corpus() {
        let printed = print(&entry.program);
        let again = parse(&printed).unwrap_or_else(|errors| {
            panic!("{}", errors.render(&entry.path.display().to_string(), &printed))
        });
        assert_eq!(again, entry.program, "{}\n{printed}", entry.path.display());
        assert_eq!(print(&again), printed, "{}", entry.path.display());
        assert_ne!(entry.source, "", "{}", entry.path.display());
    }
}
