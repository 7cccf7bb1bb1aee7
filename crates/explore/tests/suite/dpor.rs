//! Optimal reduction against brute force: as many executions as traces, the same outcomes, nothing
//! redundant.

use std::collections::HashSet;

use crate::common::draw::{self, Flavour};
use crate::common::{Case, Op, Toy};
use strait_explore::{Coverage, Depth, Limits, System, brute, dpor, dpor_each};

/// Interleavings beyond which a random program is too large for brute force.
const BRUTE: u64 = 20_000;

fn check(toy: &Toy, depth: Depth) -> bool {
    let truth = brute(toy, &Limits { executions: Some(BRUTE), ..Limits::default() });
    if truth.report.coverage != Coverage::Exhaustive {
        return false;
    }
    let report = dpor_each(toy, &Limits::default(), depth, |_, _| true);
    let outcomes: HashSet<_> = report.found.iter().map(|found| &found.outcome).collect();
    let expected: HashSet<_> = truth.report.found.iter().map(|found| &found.outcome).collect();
    assert_eq!(report.redundant, 0, "redundant executions");
    assert_eq!(report.executions, truth.traces, "executions against traces");
    assert_eq!(outcomes, expected, "outcomes");
    assert_eq!(report.coverage, Coverage::Exhaustive);
    true
}

fn random(flavour: Flavour, depth: Depth, programs: u64) {
    let mut checked = 0;
    draw::each(flavour, programs, |toy| checked += u64::from(check(toy, depth)));
    assert!(checked * 2 > draw::count(programs), "only {checked} programs were small enough");
}

#[test]
fn random_memory() {
    random(Flavour::Memory, Depth::Pairs, 1500);
}

#[test]
fn random_channels() {
    random(Flavour::Channels, Depth::Pairs, 3000);
}

#[test]
fn random_everything() {
    random(Flavour::Everything, Depth::Pairs, 3000);
}

#[test]
fn random_everything_with_every_configuration() {
    random(Flavour::Everything, Depth::Every, 1500);
}

/// Beyond what brute force can check: trying every configuration finds nothing more.
#[test]
fn pairs_are_enough_in_large_programs() {
    for flavour in [Flavour::Memory, Flavour::Channels, Flavour::Everything] {
        draw::each_large(flavour, 150, |toy| {
            let limits = Limits { executions: Some(2000), ..Limits::default() };
            let run = |depth| dpor_each(toy, &limits, depth, |_, _| true);
            let (pairs, every) = (run(Depth::Pairs), run(Depth::Every));
            assert_eq!(pairs.executions, every.executions);
            assert_eq!((pairs.redundant, every.redundant), (0, 0));
        });
    }
}

/// Executions without end are cut, none is begun in vain, and the search ends.
#[test]
fn endless_executions_are_cut() {
    let spinner = vec![Op::Load(0), Op::JumpIf(0, 0)];
    let toy = Toy::new(vec![spinner.clone(), spinner, vec![Op::Store(0, 1)]]);
    let report = dpor(&toy, &Limits { length: Some(14), ..Limits::default() });
    assert_eq!(report.coverage, Coverage::Bounded("executions of at most 14 steps".to_owned()));
    assert_eq!(report.redundant, 0);
    assert!(report.found.iter().all(|found| found.outcome.locals[0].acc == 1));
}

#[test]
fn the_visitor_sees_each_execution_and_may_stop() {
    let toy = Toy::new(lost(2));
    let mut lengths = Vec::new();
    let report = dpor_each(&toy, &Limits::default(), Depth::Pairs, |trace, outcomes| {
        lengths.push((trace.len(), outcomes.len()));
        true
    });
    assert_eq!((lengths, report.executions), (vec![(4, 1); 4], 4));
    let report = dpor_each(&toy, &Limits::default(), Depth::Pairs, |_, _| false);
    assert_eq!(report.executions, 1);
    assert_eq!(report.coverage, Coverage::Bounded("stopped by the visitor".to_owned()));
}

#[test]
fn without_forks_the_same() {
    draw::each(Flavour::Everything, 300, |toy| {
        let limits = Limits { executions: Some(500), ..Limits::default() };
        let forking = dpor(toy, &limits);
        let replaying = dpor(&Toy { forks: false, ..toy.clone() }, &limits);
        let traces = |report: &strait_explore::Report<_, crate::common::Act>| {
            report.found.iter().map(|found| found.trace.clone()).collect::<Vec<_>>()
        };
        assert_eq!(traces(&forking), traces(&replaying));
        assert_eq!(forking.executions, replaying.executions);
        assert_eq!(forking.transitions, replaying.transitions);
    });
}

fn executions(threads: Vec<Vec<Op>>) -> u64 {
    let report = dpor(&Toy::new(threads), &Limits::default());
    assert_eq!(report.redundant, 0);
    assert_eq!(report.coverage, Coverage::Exhaustive);
    report.executions
}

fn lost(threads: usize) -> Vec<Vec<Op>> {
    vec![vec![Op::Load(0), Op::Add(0, 1)]; threads]
}

#[test]
fn independent_threads_need_one_execution() {
    for threads in 1..=8 {
        let program = (0..threads).map(|thread| vec![Op::Store(thread, 1), Op::Load(thread)]);
        let toy = Toy { variables: 8, ..Toy::new(program.collect()) };
        assert_eq!(dpor(&toy, &Limits::default()).executions, 1, "{threads} threads");
    }
}

#[test]
fn lost_updates() {
    assert_eq!([2, 3, 4].map(|threads| executions(lost(threads))), [4, 36, 576]);
}

#[test]
fn store_buffering_under_sequential_consistency() {
    let side = |own, other| vec![Op::Store(own, 1), Op::Load(other)];
    assert_eq!(executions(vec![side(0, 1), side(1, 0)]), 3);
}

/// The case that prefixes of the shadow run do not show: see `races.rs`. Thread 0 raises the flag
/// (e), thread 1 arrives and leaves elsewhere (u) before thread 3 arrives (t); the meeting of
/// both needs t but neither e nor u.
#[test]
fn a_meeting_destroyed_before_it_became_possible() {
    let program = vec![
        vec![Op::Store(0, 1)],
        vec![Op::Yield, Op::Select(vec![Case::Meet(0), Case::Put(0, 1)], false)],
        vec![Op::Select(vec![Case::Get(0)], false)],
        vec![Op::Yield, Op::Select(vec![Case::Meet(0)], false)],
    ];
    assert!(check(&Toy::new(program), Depth::Pairs));
}

/// The same with a select that has a default, which any arrival destroys.
#[test]
fn a_default_destroyed_before_it_became_possible() {
    let select = |cases| Op::Select(cases, false);
    let program = vec![
        vec![select(vec![Case::Get(2), Case::Put(0, 2), Case::Put(2, 0)]), Op::Yield],
        vec![Op::JumpIf(1, 2), Op::Close(1)],
        vec![Op::Choose(2), Op::Select(vec![Case::Get(1), Case::Put(0, 1)], true)],
        vec![Op::Close(0), Op::Choose(2)],
    ];
    assert!(check(&Toy::new(program), Depth::Pairs));
}

#[test]
fn limits_are_named() {
    let toy = Toy::new(lost(3));
    let coverage = |limits: Limits<'_>| dpor(&toy, &limits).coverage;
    assert_eq!(
        coverage(Limits { executions: Some(36), ..Limits::default() }),
        Coverage::Exhaustive
    );
    assert_eq!(
        coverage(Limits { executions: Some(35), ..Limits::default() }),
        Coverage::Bounded("35 executions".to_owned())
    );
    assert_eq!(coverage(Limits { length: Some(6), ..Limits::default() }), Coverage::Exhaustive);
    assert_eq!(
        coverage(Limits { length: Some(5), ..Limits::default() }),
        Coverage::Bounded("executions of at most 5 steps".to_owned())
    );
    let stop = std::sync::atomic::AtomicBool::new(true);
    assert_eq!(
        coverage(Limits { stop: Some(&stop), ..Limits::default() }),
        Coverage::Bounded("interrupted".to_owned())
    );
}

/// Independent actions of the toy really commute: otherwise the other tests prove nothing.
#[test]
fn the_toy_keeps_the_contract() {
    draw::each(Flavour::Everything, 200, |toy| {
        let mut seen = HashSet::new();
        let mut todo = vec![toy.start()];
        while let Some(mut state) = todo.pop() {
            let mut enabled = Vec::new();
            toy.enabled(&mut state, &mut enabled);
            for a in &enabled {
                let mut after = state.clone();
                toy.step(&mut after, a);
                let mut enabled_after = Vec::new();
                toy.enabled(&mut after, &mut enabled_after);
                for b in enabled.iter().chain(&enabled_after).filter(|b| !toy.dependent(a, b)) {
                    assert!(enabled.contains(b) && enabled_after.contains(b), "{a:?} {b:?}");
                    let (mut one, mut other) = (after.clone(), state.clone());
                    toy.step(&mut one, b);
                    toy.step(&mut other, b);
                    toy.step(&mut other, a);
                    assert_eq!(one, other, "{a:?} and {b:?} commute");
                }
                if !toy.may_disable(a) {
                    let lost = enabled.iter().find(|b| *b != a && !enabled_after.contains(b));
                    assert_eq!(lost, None, "{a:?} disables");
                }
                if seen.len() < 2000 && seen.insert(after.clone()) {
                    todo.push(after);
                }
            }
        }
    });
}
