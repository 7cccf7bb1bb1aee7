//! Random walks and PCT: reproducible on any number of threads, and no outcome that brute force
//! does not know.

use std::collections::HashSet;

use crate::common::draw::{self, Flavour};
use crate::common::{Act, Op, State, Toy};
use strait_explore::{Coverage, Limits, Report, brute, pct, pct_parallel, random, random_parallel};

fn same(one: &Report<State, Act>, other: &Report<State, Act>) {
    let traces = |report: &Report<State, Act>| {
        report.found.iter().map(|found| found.trace.clone()).collect::<Vec<_>>()
    };
    assert_eq!(traces(one), traces(other));
    assert_eq!(one.executions, other.executions);
    assert_eq!(one.transitions, other.transitions);
    assert_eq!(one.coverage, other.coverage);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let limits = Limits::default();
    draw::each(Flavour::Everything, 40, |toy| {
        for jobs in [1, 2, 3] {
            same(&random(toy, 7, 100, &limits), &random_parallel(toy, 7, 100, jobs, &limits));
            same(&pct(toy, 7, 100, 3, &limits), &pct_parallel(toy, 7, 100, 3, jobs, &limits));
        }
    });
}

#[test]
fn samples_are_among_the_outcomes() {
    draw::each(Flavour::Everything, 200, |toy| {
        let limits = Limits { executions: Some(5000), ..Limits::default() };
        let truth = brute(toy, &limits);
        if truth.report.coverage != Coverage::Exhaustive {
            return;
        }
        let known: HashSet<_> = truth.report.found.iter().map(|found| &found.outcome).collect();
        let walks = random(toy, 1, 50, &limits);
        let schedules = pct(toy, 1, 50, 3, &limits);
        for found in walks.found.iter().chain(&schedules.found) {
            assert!(known.contains(&found.outcome));
        }
        assert_eq!(walks.coverage, Coverage::Sampled(50));
    });
}

/// Two independent choices of order, each taken: with so few steps the guarantee of PCT
/// (1/(n·k) for depth 2) makes missing it in 200 schedules as good as impossible.
#[test]
fn pct_finds_a_lost_update() {
    let toy = Toy::new(vec![vec![Op::Load(0), Op::Add(0, 1)]; 2]);
    let lost = |report: Report<State, Act>| {
        report.found.iter().any(|found| found.outcome.variables[0] == 1)
    };
    assert!(lost(pct(&toy, 3, 200, 2, &Limits::default())));
    assert!(!lost(pct(&toy, 3, 200, 1, &Limits::default())), "depth 1 never pre-empts");
}

#[test]
fn walks_that_were_cut_do_not_count() {
    let toy = Toy::new(vec![vec![Op::Load(0), Op::Add(0, 1)]; 2]);
    let limits = Limits { length: Some(3), ..Limits::default() };
    let report = random(&toy, 0, 10, &limits);
    assert_eq!((report.executions, report.coverage), (0, Coverage::Sampled(0)));
}
