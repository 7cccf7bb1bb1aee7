//! Small random programs: the optimal search must give the outcomes of brute force, with exactly as
//! many executions as there are Mazurkiewicz traces, and the bounded search within wide bounds the
//! same outcomes. A failing program is named by its seed and number.
//!
//! Each file below has one family of programs; what they share is here.

mod messages;
mod others;
mod primitives;
mod queues;
mod transactions;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::panic::Location;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use strait_explore::{
    Bounds, Coverage, Limits, Workers, bounded, brute, optimal, optimal_parallel, relaxed,
};

use crate::check::Value;
use crate::exception::{self, ThreadKilled};
use crate::outcome::Outcome;
use crate::rt::execution::{Execution, Program};
use crate::rt::features::Features;
use crate::rt::memory::Model;
use crate::rt::system::ProgramUnderTest;
use crate::rt::thread::install_hook;
use crate::thread;

/// How many programs are drawn: `STRAIT_TEST_COUNT`, or what the test says.
fn count(usual: u64) -> u64 {
    std::env::var("STRAIT_TEST_COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn seed() -> u64 {
    std::env::var("STRAIT_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_115)
}

/// Where a program is drawn from.
struct Draw(ChaCha8Rng);

impl Draw {
    fn below(&mut self, bound: u32) -> usize {
        (self.0.next_u32() % bound) as usize
    }
}

/// A program: the instructions of each of its threads.
type Threads<Op> = Vec<Vec<Op>>;

/// Draws a program. `longest` says for two threads, for three and so on how long they may be.
fn program<Op>(
    seed: u64,
    index: u64,
    longest: &[u32],
    mut draw: impl FnMut(&mut Draw) -> Op,
) -> Threads<Op> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    let mut source = Draw(rng);
    let more = source.below(longest.len() as u32);
    let mut thread = || {
        let length = 1 + source.below(longest[more]);
        (0..length).map(|_| draw(&mut source)).collect()
    };
    (0..more + 2).map(|_| thread()).collect()
}

/// What a thread saw; nothing if it was killed or has panicked.
type Seen = Option<Vec<u8>>;

/// Performs each thread of a program, which is given its number, its instructions and those that
/// were started before it. Gives what they saw.
fn perform_all<Op: Clone + Send + 'static>(
    ops: &[Vec<Op>],
    perform: impl Fn(usize, &[Op], &[thread::Thread]) -> Vec<u8> + Send + Sync + 'static,
) -> Vec<Seen> {
    let perform = Arc::new(perform);
    let mut handles: Vec<thread::JoinHandle<Seen>> = Vec::new();
    for (number, ops) in ops.iter().enumerate() {
        let (perform, ops) = (perform.clone(), ops.clone());
        let threads: Vec<_> = handles.iter().map(|handle| handle.thread().clone()).collect();
        handles.push(thread::spawn(move || {
            exception::catch::<ThreadKilled, _>(|| perform(number, &ops, &threads)).ok()
        }));
    }
    handles.into_iter().map(|handle| handle.join().ok().flatten()).collect()
}

/// How a family of programs is compared.
struct Family<'f> {
    name: &'f str,
    model: Model,
    /// How many programs are drawn, unless `STRAIT_TEST_COUNT` says otherwise.
    usual: u64,
    /// Is the bounded search compared too?
    bounded: bool,
}

/// Compares the searches on many programs.
fn compare_all<Op, T>(
    family: &Family<'_>,
    draw: impl Fn(u64, u64) -> Threads<Op>,
    run: impl Fn(&[Vec<Op>]) -> T + Copy + Send + Sync + 'static,
) where
    Op: Clone + Debug + Send + Sync + 'static,
    T: Value,
{
    let (seed, model) = (seed(), family.model);
    let (mut compared, drawn) = (0, count(family.usual));
    for index in 0..drawn {
        let ops = draw(seed, index);
        let name =
            format!("{} program {index} of seed {seed} under {model:?}: {ops:?}", family.name);
        let code: Program<T> = Arc::new(move || run(&ops));
        if compare(&name, code.clone(), model).is_some() {
            compared += 1;
            if family.bounded {
                compare_bounded(&name, code, model);
            }
        }
    }
    assert!(compared * 2 > drawn, "most programs are small enough to compare: {compared}");
}

/// How a fault is shown: which of two racing accesses came first says nothing.
const FAULT: &str = "a fault";

/// Outcomes as text.
fn set<'o, T: Value>(outcomes: impl Iterator<Item = &'o Outcome<T>>) -> BTreeSet<String> {
    let text = |outcome: &Outcome<T>| match outcome {
        Outcome::Fault(_) => FAULT.to_owned(),
        other => format!("{other:?}"),
    };
    outcomes.map(text).collect()
}

/// The program with all that it wants.
fn tested<T: Value>(program: &Program<T>, model: Model) -> ProgramUnderTest<T> {
    let mut tested =
        ProgramUnderTest::new(program.clone(), model, Features::default(), Location::caller());
    loop {
        let mut execution = tested.execution();
        let limits = Limits { executions: Some(20_000), ..Limits::default() };
        let visit = |execution: &Execution<T>, _: &Outcome<T>| !execution.world().lacks();
        match tested.leaves_atomics() {
            true => relaxed(&mut execution, &limits, visit),
            false => optimal(&mut execution, &limits, visit),
        };
        tested.take_up(execution.world());
        drop(execution);
        match tested.satisfied() {
            Some(more) => tested = more,
            None => return tested,
        }
    }
}

/// Compares the searches on one program. Gives the number of traces, or `None` if it is too large.
pub(crate) fn compare<T: Value>(name: &str, program: Program<T>, model: Model) -> Option<u64> {
    install_hook();
    let tested = tested(&program, model);
    let limits = Limits { executions: Some(20_000), ..Limits::default() };
    let truth = brute(&tested, &limits);
    if truth.report.coverage != Coverage::Exhaustive {
        return None;
    }
    let expected = set(truth.report.found.iter().map(|found| &found.outcome));
    let mut execution = tested.execution();
    if tested.leaves_atomics() {
        let report = relaxed(&mut execution, &Limits::default(), |_, _| true);
        let got = set(report.found.iter().map(|found| &found.outcome));
        if expected.contains(FAULT) {
            assert!(got.contains(FAULT), "a fault of {name}: {got:?}");
        } else {
            assert_eq!(got, expected, "outcomes of {name}");
        }
        assert_eq!(report.coverage, Coverage::Exhaustive, "{name}");
        assert!(tested.satisfied().is_none(), "nothing new was wanted by {name}");
        return Some(report.executions);
    }
    let report = optimal(&mut execution, &Limits::default(), |_, _| true);
    let got = set(report.found.iter().map(|found| &found.outcome));
    if expected.contains(FAULT) {
        // Which of two threads that race is ended by that depends on who comes second, which is no
        // matter of steps: what can be said is that the race is found.
        assert!(got.contains(FAULT), "a fault of {name}: {got:?}");
        return Some(truth.traces);
    }
    assert_eq!(got, expected, "outcomes of {name}");
    assert_eq!(report.redundant, 0, "executions in vain of {name}");
    assert_eq!(report.executions, truth.traces, "executions of {name}");
    compare_divided(name, &tested, &expected, truth.traces);
    assert!(tested.satisfied().is_none(), "nothing new was wanted by {name}");
    Some(truth.traces)
}

/// However the search is divided among workers, it explores each trace exactly once.
fn compare_divided<T: Value>(
    name: &str,
    tested: &ProgramUnderTest<T>,
    expected: &BTreeSet<String>,
    traces: u64,
) {
    let divisions = [(1, true), (2, true), (3, false)];
    for workers in divisions.map(|(count, eager)| Workers { count, eager }) {
        let report =
            optimal_parallel(|| tested.execution(), workers, &Limits::default(), |_, _| true);
        let got = set(report.found.iter().map(|found| &found.outcome));
        assert_eq!(&got, expected, "outcomes of {name} by {workers:?}");
        assert_eq!(report.executions, traces, "executions of {name} by {workers:?}");
        assert_eq!(report.redundant, 0, "executions in vain of {name} by {workers:?}");
        assert_eq!(report.coverage, Coverage::Exhaustive);
    }
}

/// Within bounds that leave nothing out the bounded search gives the same outcomes.
fn compare_bounded<T: Value>(name: &str, program: Program<T>, model: Model) {
    let tested = tested(&program, model);
    let bounds = Bounds { preemptions: Some(30), ..Bounds::default() };
    let report = bounded(&tested, &bounds, &Limits::default());
    let mut execution = tested.execution();
    let expected = optimal(&mut execution, &Limits::default(), |_, _| true);
    assert_eq!(
        set(report.found.iter().map(|found| &found.outcome)),
        set(expected.found.iter().map(|found| &found.outcome)),
        "outcomes within bounds of {name}"
    );
}

/// The outcomes that are no deadlocks, as text.
fn values<T: Value, Step>(found: &[strait_explore::Found<Outcome<T>, Step>]) -> BTreeSet<String> {
    set(found.iter().map(|found| &found.outcome).filter(|outcome| !outcome.is_deadlock()))
}

/// Compares a search in which loops wait with one in which they go round. Gives how many values there
/// are.
fn compare_with_rounds<T: Value>(name: &str, program: Program<T>, model: Model) -> usize {
    install_hook();
    let tested = tested(&program, model);
    let bounds = Bounds { fair: Some(3), ..Bounds::default() };
    // Under RC11 there are many more ways to go round: not all of them are tried.
    let most = (model == Model::Rc11).then_some(20_000);
    let limits = Limits { length: Some(40), executions: most, ..Limits::default() };
    let mut plain = tested.anew();
    plain.recognises_loops = false;
    let going_round = values(&bounded(&plain, &bounds, &limits).found);
    let waiting = if tested.leaves_atomics() {
        let report = relaxed(&mut tested.execution(), &Limits::default(), |_, _| true);
        assert_eq!(report.coverage, Coverage::Exhaustive, "{name}");
        values(&report.found)
    } else {
        values(&bounded(&tested, &bounds, &limits).found)
    };
    if model == Model::Rc11 {
        assert!(
            waiting.is_superset(&going_round),
            "{waiting:?} lacks some of {going_round:?}: {name}"
        );
    } else {
        assert_eq!(waiting, going_round, "values of {name}");
    }
    going_round.len()
}
