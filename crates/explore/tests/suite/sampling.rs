//! Random walks, PCT, POS and SURW: reproducible on any number of threads, no outcome that brute force
//! does not know, and the distributions that the papers promise.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

use crate::common::draw::{self, Flavour};
use crate::common::{Act, Op, State, Toy};
use strait_explore::{
    Coverage, GoOn, Interleavings, Limits, Report, brute, pct, pct_parallel, pos, pos_parallel,
    random, random_parallel, surw, surw_parallel,
};

type Drawn = Report<State, Act>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strategy {
    Random,
    Pct,
    Pos,
    Surw,
}

const ALL: [Strategy; 4] = [Strategy::Random, Strategy::Pct, Strategy::Pos, Strategy::Surw];

impl Strategy {
    fn draw(self, toy: &Toy, seed: u64, executions: u64, limits: &Limits<'_>) -> Drawn {
        match self {
            Strategy::Random => random(toy, seed, executions, limits),
            Strategy::Pct => pct(toy, seed, executions, 3, limits),
            Strategy::Pos => pos(toy, seed, executions, limits),
            Strategy::Surw => surw(toy, seed, executions, limits),
        }
    }

    fn draw_on(self, jobs: usize, toy: &Toy, executions: u64, go_on: GoOn<'_, State>) -> Drawn {
        self.draw_with(7, jobs, toy, executions, go_on)
    }

    fn draw_with(
        self,
        seed: u64,
        jobs: usize,
        toy: &Toy,
        executions: u64,
        go_on: GoOn<'_, State>,
    ) -> Drawn {
        let limits = &Limits::default();
        match self {
            Strategy::Random => random_parallel(toy, seed, executions, jobs, limits, go_on),
            Strategy::Pct => pct_parallel(toy, seed, executions, 3, jobs, limits, go_on),
            Strategy::Pos => pos_parallel(toy, seed, executions, jobs, limits, go_on),
            Strategy::Surw => surw_parallel(toy, seed, executions, jobs, limits, go_on),
        }
    }
}

fn same(one: &Drawn, other: &Drawn) {
    let traces =
        |report: &Drawn| report.found.iter().map(|found| found.trace.clone()).collect::<Vec<_>>();
    assert_eq!(traces(one), traces(other));
    assert_eq!(one.executions, other.executions);
    assert_eq!(one.coverage, other.coverage);
    assert_eq!(one.interleavings, other.interleavings);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let limits = Limits::default();
    draw::each(Flavour::Everything, 40, |toy| {
        for strategy in ALL {
            let alone = strategy.draw(toy, 7, 100, &limits);
            for jobs in [1, 2, 3] {
                let together = strategy.draw_on(jobs, toy, 100, &|_| true);
                same(&alone, &together);
                assert_eq!(alone.transitions, together.transitions);
            }
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
        for strategy in ALL {
            let drawn = strategy.draw(toy, 1, 50, &limits);
            assert!(drawn.found.iter().all(|found| known.contains(&found.outcome)));
            assert_eq!(drawn.coverage, Coverage::Sampled(50));
        }
    });
}

/// Each interleaving of such a small program has a probability of several per cent at least, so that all
/// of them come up.
#[test]
fn samples_of_small_programs_are_all_outcomes() {
    let mut programs = 0;
    draw::each(Flavour::Everything, 200, |toy| {
        let limits = Limits { executions: Some(24), ..Limits::default() };
        let truth = brute(toy, &limits);
        if truth.report.coverage != Coverage::Exhaustive {
            return;
        }
        programs += 1;
        for strategy in [Strategy::Random, Strategy::Pos, Strategy::Surw] {
            let drawn = strategy.draw(toy, 3, 2000, &Limits::default());
            assert_eq!(drawn.found.len(), truth.report.found.len(), "{strategy:?} of {toy:?}");
        }
    });
    assert!(programs >= 20, "only {programs} programs are small");
}

/// Two independent choices of order, each taken: with so few steps the guarantee of PCT
/// (1/(n·k) for depth 2) makes missing it in 200 schedules as good as impossible.
#[test]
fn pct_finds_a_lost_update() {
    let toy = Toy::new(vec![vec![Op::Load(0), Op::Add(0, 1)]; 2]);
    let lost = |report: Drawn| report.found.iter().any(|found| found.outcome.variables[0] == 1);
    assert!(lost(pct(&toy, 3, 200, 2, &Limits::default())));
    assert!(!lost(pct(&toy, 3, 200, 1, &Limits::default())), "depth 1 never pre-empts");
}

#[test]
fn walks_that_were_cut_do_not_count() {
    let toy = Toy::new(vec![vec![Op::Load(0), Op::Add(0, 1)]; 2]);
    let limits = Limits { length: Some(3), ..Limits::default() };
    for strategy in ALL {
        let report = strategy.draw(&toy, 0, 10, &limits);
        let counts = (report.executions, report.cut, report.coverage);
        assert_eq!(counts, (0, 10, Coverage::Sampled(0)));
    }
}

#[test]
fn a_search_ends_with_the_first_execution_that_it_is_not_to_go_on_after() {
    let toy = late_store(6);
    for strategy in [Strategy::Random, Strategy::Pos, Strategy::Surw] {
        let found = strategy.draw_on(1, &toy, 10_000, &|outcome| !too_late(outcome));
        let first = found.executions;
        assert!(first < 10_000);
        assert!(found.found.iter().any(|found| too_late(&found.outcome)));
        let before = strategy.draw_on(1, &toy, first - 1, &|_| true);
        assert!(!before.found.iter().any(|found| too_late(&found.outcome)));
        for jobs in [2, 3] {
            same(&found, &strategy.draw_on(jobs, &toy, 10_000, &|outcome| !too_late(outcome)));
        }
    }
}

/// A thread that stores once, and another one that reads what was stored after so many other steps.
fn late_store(steps: usize) -> Toy {
    let mut reader = vec![Op::Load(1); steps];
    reader.push(Op::Load(0));
    Toy::new(vec![vec![Op::Store(0, 1)], reader])
}

/// Came the store after all of them?
fn too_late(outcome: &State) -> bool {
    outcome.locals[1].acc == 0
}

/// The store waits for nine steps with a probability of 1 in 512 by a random walk, 1 in 10 by POS, and 1
/// in 2 if the two accesses are selected.
#[test]
fn pos_and_surw_find_a_late_store_sooner_than_random_walks() {
    let toy = late_store(8);
    let average = |strategy: Strategy| {
        let schedules = |seed| {
            strategy.draw_with(seed, 1, &toy, 100_000, &|outcome| !too_late(outcome)).executions
        };
        (0..40).map(schedules).sum::<u64>() / 40
    };
    let averages = [Strategy::Random, Strategy::Pos, Strategy::Surw].map(average);
    let [random, pos, surw] = averages;
    assert!(random > 250, "{averages:?}");
    assert!((5..=20).contains(&pos), "{averages:?}");
    assert!(surw <= 5, "{averages:?}");
}

/// How often each value was read, of 2,000 executions.
fn reads(strategy: Strategy, toy: &Toy) -> BTreeMap<i8, u64> {
    let counts = Mutex::new(BTreeMap::new());
    strategy.draw_on(1, toy, 2000, &|outcome| {
        let mut counts = counts.lock().expect("nothing panics while it is held");
        *counts.entry(outcome.locals[0].acc).or_insert(0) += 1;
        true
    });
    counts.into_inner().expect("nothing panics while it is held")
}

/// One load among nine stores: ten interleavings, each of which ought to come up 200 times in 2,000. The
/// standard deviation is 13.
#[test]
fn surw_is_uniform_where_random_walks_are_not() {
    let stores: Vec<Op> = (1..=9).map(|value| Op::Store(0, value)).collect();
    let toy = Toy::new(vec![vec![Op::Load(0)], stores]);
    let uniform = reads(Strategy::Surw, &toy);
    assert_eq!(uniform.len(), 10);
    assert!(uniform.values().all(|count| (140..=260).contains(count)), "{uniform:?}");
    let walks = reads(Strategy::Random, &toy);
    assert!(walks[&0] > 900, "half of the walks read first: {walks:?}");
    assert!(walks.get(&9).copied().unwrap_or(0) < 20, "one of 512 walks reads last: {walks:?}");
}

/// The same with as many steps at other objects before: those are not selected when the variable is, so
/// that they do not matter in one of two executions.
#[test]
fn steps_that_are_not_selected_do_not_matter() {
    let mut stores = vec![Op::Load(1); 30];
    stores.extend((1..=4).map(|value| Op::Store(0, value)));
    let toy = Toy::new(vec![vec![Op::Load(0)], stores]);
    let uniform = reads(Strategy::Surw, &toy);
    assert_eq!(uniform.len(), 5);
    assert!(uniform.values().all(|count| (320..=480).contains(count)), "{uniform:?}");
}

#[test]
fn the_interleaving_coverage_counts_ordered_pairs() {
    // Of the operations of two threads, load and add conflict in two pairs, add and add in one.
    let toy = Toy::new(vec![vec![Op::Load(0), Op::Add(0, 1)]; 2]);
    for strategy in ALL {
        let one = strategy.draw(&toy, 1, 1, &Limits::default()).interleavings;
        assert_eq!(one, Some(Interleavings { seen: 3, known: 6 }));
        let many = strategy.draw(&toy, 1, 200, &Limits::default()).interleavings;
        assert_eq!(many, Some(Interleavings { seen: 6, known: 6 }));
    }
    assert_eq!(brute(&toy, &Limits::default()).report.interleavings, None);
}
