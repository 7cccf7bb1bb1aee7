//! Bounded search against brute force within the same bounds.

use std::collections::HashSet;

use crate::common::draw::{self, Flavour};
use crate::common::{Case, Op, Toy};
use strait_explore::{Bounds, Coverage, Limits, bounded, brute, brute_within, dpor};

const BRUTE: u64 = 5_000;

fn all_bounds() -> Vec<Bounds> {
    let preemptions = |count| Bounds { preemptions: Some(count), ..Bounds::default() };
    let delays = |count| Bounds { delays: Some(count), ..Bounds::default() };
    vec![
        Bounds::default(),
        preemptions(0),
        preemptions(1),
        preemptions(2),
        delays(0),
        delays(1),
        delays(2),
        Bounds { fair: Some(0), ..Bounds::default() },
        Bounds { fair: Some(1), ..preemptions(1) },
        Bounds { length: Some(4), ..Bounds::default() },
        Bounds { delays: Some(2), length: Some(6), ..preemptions(1) },
    ]
}

fn check(toy: &Toy, bounds: &Bounds) -> bool {
    let limits = Limits { executions: Some(BRUTE), ..Limits::default() };
    let truth = brute_within(toy, bounds, &limits);
    if matches!(&truth.report.coverage, Coverage::Bounded(by) if by.contains("executions")) {
        return false;
    }
    let report = bounded(toy, bounds, &Limits::default());
    let outcomes: HashSet<_> = report.found.iter().map(|found| &found.outcome).collect();
    let expected: HashSet<_> = truth.report.found.iter().map(|found| &found.outcome).collect();
    assert_eq!(outcomes, expected, "outcomes within {bounds}");
    // Brute force may have been cut where the bounded search knew a cheaper equivalent schedule.
    if truth.report.coverage == Coverage::Exhaustive {
        assert_eq!(report.coverage, Coverage::Exhaustive);
    }
    if report.coverage == Coverage::Exhaustive {
        let all = dpor(toy, &Limits::default());
        let all: HashSet<_> = all.found.into_iter().map(|found| found.outcome).collect();
        assert_eq!(outcomes, all.iter().collect(), "said to be exhaustive within {bounds}");
    }
    assert!(report.executions <= truth.report.executions);
    true
}

fn random(flavour: Flavour, programs: u64) {
    let mut checked = 0;
    draw::each(flavour, programs, |toy| {
        for bounds in all_bounds() {
            checked += u64::from(check(toy, &bounds));
        }
    });
    assert!(checked > 5 * draw::count(programs), "only {checked} cases were small enough");
}

#[test]
fn random_memory() {
    random(Flavour::Memory, 400);
}

#[test]
fn random_channels() {
    random(Flavour::Channels, 600);
}

#[test]
fn random_everything() {
    random(Flavour::Everything, 600);
}

fn final_values(toy: &Toy, bounds: &Bounds) -> Vec<i8> {
    let report = bounded(toy, bounds, &Limits::default());
    let mut values: Vec<i8> = report.found.iter().map(|found| found.outcome.variables[0]).collect();
    values.sort_unstable();
    values.dedup();
    values
}

#[test]
fn a_lost_update_needs_a_preemption() {
    let toy = Toy::new(vec![vec![Op::Load(0), Op::Add(0, 1)]; 3]);
    let within = |count| Bounds { preemptions: Some(count), ..Bounds::default() };
    assert_eq!(final_values(&toy, &within(0)), [3]);
    assert_eq!(final_values(&toy, &within(1)), [1, 2, 3]);
}

/// The second order of two independent steps leads to where the first one has: its last step is not made.
#[test]
fn steps_to_known_states_are_not_made() {
    let toy = Toy::new(vec![vec![Op::Load(0)], vec![Op::Load(1)]]);
    let report = bounded(&toy, &Bounds::default(), &Limits::default());
    assert_eq!((report.executions, report.transitions, report.redundant), (1, 3, 1));
}

/// The spinning thread yields forever unless the bound makes it wait for the other.
#[test]
fn fairness_ends_a_spinning_thread() {
    let spinner = vec![Op::Load(0), Op::JumpIf(1, 3), Op::JumpIf(0, 0)];
    let toy = Toy::new(vec![spinner, vec![Op::Load(1), Op::Load(1), Op::Store(0, 1)]]);
    let bounds = Bounds { fair: Some(4), ..Bounds::default() };
    let report = bounded(&toy, &bounds, &Limits::default());
    assert_eq!(
        report.coverage,
        Coverage::Bounded("at most 4 yields ahead of another thread".to_owned())
    );
    assert!(report.found.iter().all(|found| found.outcome.locals[0].pc == 3));
}

#[test]
fn bounds_that_cut_nothing_are_exhaustive() {
    let toy = Toy::new(vec![
        vec![Op::Select(vec![Case::Put(0, 1)], false)],
        vec![Op::Select(vec![Case::Get(0)], false)],
    ]);
    let bounds = Bounds { preemptions: Some(0), delays: Some(0), ..Bounds::default() };
    assert_eq!(bounded(&toy, &bounds, &Limits::default()).coverage, Coverage::Exhaustive);
    let lost = Toy::new(vec![vec![Op::Load(0), Op::Add(0, 1)]; 2]);
    let within = |count| Bounds { preemptions: Some(count), ..Bounds::default() };
    let coverage = |count| bounded(&lost, &within(count), &Limits::default()).coverage;
    assert_eq!(coverage(0), Coverage::Bounded("at most 0 pre-emptions".to_owned()));
    assert_eq!(coverage(1), Coverage::Bounded("at most 1 pre-emption".to_owned()));
    assert_eq!(coverage(2), Coverage::Exhaustive);
    assert_eq!(brute(&lost, &Limits::default()).report.executions, 6);
}
