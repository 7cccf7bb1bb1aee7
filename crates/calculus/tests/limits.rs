//! Searches that are not allowed to finish say so: memory, states, interruption. And symmetry: fewer
//! states, the same verdict.

use std::sync::atomic::AtomicBool;

use strait_calculus::{Engine, Examination, ExamineOptions, Program, Verdict, examine, parse};
use strait_explore::{Bounds, Coverage};

fn read(source: &str) -> Program {
    parse(source).unwrap_or_else(|errors| panic!("{}", errors.render("row", source)))
}

/// So many processes that each send twice to a reader of their own, so that states multiply.
fn crowd(pairs: usize) -> Program {
    let pair = "{ chan c: int; spawn { put c 1; put c 2 }; spawn { x = get c; y = get c } }";
    read(&format!("main {{ {} }}", format!("if true {pair}; ").repeat(pairs)))
}

fn examined(program: &Program, options: &ExamineOptions<'_>) -> Examination {
    let examination = examine(program, options);
    let worst = examination.outcomes.iter().map(|found| found.outcome.verdict).max();
    assert!(worst <= Some(examination.verdict), "the verdict is milder than an outcome");
    examination
}

fn states(reduce: bool, symmetry: bool, threads: usize) -> ExamineOptions<'static> {
    let engine = Engine::States { reduce, symmetry };
    ExamineOptions { engine, threads, ..Default::default() }
}

#[test]
fn a_tiny_memory_budget_ends_the_search() {
    for threads in [1, 2] {
        let options = ExamineOptions { memory: 1 << 20, ..states(false, false, threads) };
        let examination = examined(&crowd(12), &options);
        assert_eq!(examination.coverage.to_string(), "bounded (memory of 1 MiB)");
        assert!(examination.bytes <= 8 << 20, "{} bytes", examination.bytes);
    }
}

#[test]
fn the_engines_that_follow_executions_have_a_memory_budget_too() {
    let shuffled = read(
        "main { chan c: int[8]; spawn { put c 1 }; spawn { put c 2 }; spawn { put c 3 };
                spawn { put c 4 }; spawn { put c 5 }; spawn { put c 6 }; spawn { put c 7 };
                x1 = get c; x2 = get c; x3 = get c; x4 = get c; x5 = get c; x6 = get c; x7 = get c }",
    );
    let bounds = Bounds { preemptions: Some(20), ..Bounds::default() };
    for engine in [Engine::Dpor, Engine::Bounded(bounds)] {
        let options = ExamineOptions { engine, memory: 1 << 20, ..Default::default() };
        let examination = examined(&shuffled, &options);
        assert_eq!(examination.coverage.to_string(), "bounded (memory of 1 MiB)");
    }
}

#[test]
fn a_growing_buffer_counts_as_memory() {
    let endless = read("main { chan c: int[unbounded]; while true { put c 1 } }");
    let options = ExamineOptions { memory: 16 << 20, ..states(true, false, 1) };
    let examination = examined(&endless, &options);
    assert_eq!(examination.coverage.to_string(), "bounded (memory of 16 MiB)");
}

#[test]
fn a_number_of_states_ends_the_search() {
    for threads in [1, 2] {
        let options = ExamineOptions { max_states: 1_000, ..states(false, false, threads) };
        let examination = examined(&crowd(12), &options);
        assert_eq!(examination.coverage.to_string(), "bounded (1000 states)");
        // Each thread may finish what it has begun.
        assert!((1_000..3_000).contains(&examination.states), "{} states", examination.states);
    }
}

#[test]
fn whoever_asks_to_stop_is_obeyed_at_once() {
    let stop = AtomicBool::new(true);
    for engine in [
        Engine::States { reduce: true, symmetry: false },
        Engine::States { reduce: false, symmetry: false },
        Engine::Dpor,
    ] {
        let options = ExamineOptions { engine, stop: Some(&stop), ..Default::default() };
        let examination = examined(&crowd(12), &options);
        let Coverage::Bounded(by) = &examination.coverage else {
            panic!("{:?}: {}", options.engine, examination.coverage);
        };
        assert_eq!(by, "interrupted", "{:?}", options.engine);
    }
    let engine = Engine::Random { seed: 1, runs: 1_000_000 };
    let options = ExamineOptions { engine, stop: Some(&stop), ..Default::default() };
    assert_eq!(examined(&crowd(12), &options).coverage, Coverage::Sampled(0));
}

#[test]
fn interchangeable_processes_are_counted_once() {
    let rows = [
        ("senders", "main { chan c: int; i = 0; while i < 5 { spawn { put c 1; put c 2 }; i = i + 1 }
            i = 0; while i < 10 { get c; i = i + 1 }; observe 0 }", Verdict::Terminates, true),
        ("lockers", "main { mutex m; i = 0; while i < 6 { spawn { lock m; unlock m }; i = i + 1 }
            observe 0 }", Verdict::Terminates, true),
        ("two locks", "main { mutex a; mutex b; i = 0
            while i < 3 { spawn { lock a; lock b; unlock b; unlock a }; spawn { lock b; lock a; unlock a; unlock b }; i = i + 1 }
            observe 0 }", Verdict::Leak, true),
        ("one panics", "main { chan c: int[3]; i = 0
            while i < 5 { spawn { select { put c 1 {} default { panic \"full\" } } }; i = i + 1 }
            observe 0 }", Verdict::Panic, true),
        ("waiters", "main { waitgroup w; add w 4; i = 0
            while i < 4 { spawn { done w; wait w }; i = i + 1 }
            wait w; observe 0 }", Verdict::Terminates, true),
        ("all different", "main { chan a: int; chan b: int; spawn { put a 1; put b 2 }; get a; get b }",
            Verdict::Terminates, false),
    ];
    for (name, source, verdict, saves) in rows {
        let program = read(source);
        for reduce in [false, true] {
            let plain = examined(&program, &states(reduce, false, 1));
            let symmetric = examined(&program, &states(reduce, true, 1));
            for examination in [&plain, &symmetric] {
                assert_eq!(examination.verdict, verdict, "{name}");
                assert_eq!(examination.coverage, Coverage::Exhaustive, "{name}");
            }
            assert!(symmetric.states <= plain.states, "{name}");
            if saves && !reduce {
                assert!(symmetric.states < plain.states, "{name}: {} states", plain.states);
            }
            assert_eq!(
                symmetric.outcomes.iter().map(|found| found.outcome.verdict).max(),
                plain.outcomes.iter().map(|found| found.outcome.verdict).max(),
                "{name}"
            );
        }
    }
}

#[test]
fn philosophers_sit_at_places_and_are_not_interchangeable() {
    let mut text = String::from("main { observe 0\n");
    for fork in 0..4 {
        text += &format!("mutex f{fork}\n");
    }
    for seat in 0..4 {
        let (left, right) = (seat, (seat + 1) % 4);
        text +=
            &format!("spawn {{ lock f{left}; lock f{right}; unlock f{right}; unlock f{left} }}\n");
    }
    let program = read(&(text + "}"));
    let plain = examined(&program, &states(false, false, 1));
    let symmetric = examined(&program, &states(false, true, 1));
    assert_eq!((plain.verdict, symmetric.verdict), (Verdict::Leak, Verdict::Leak));
    // Those who have left the table are alike, those who sit at it are not.
    assert!(symmetric.states <= plain.states);
    assert!(symmetric.states * 2 > plain.states, "{} of {}", symmetric.states, plain.states);
}
