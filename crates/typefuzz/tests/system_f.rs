//! Every System F term that the rules generate has a type, by a checker that shares nothing with the
//! rules; every term with a violated premise has none.

use strait_clp::{Acceptance, Program, Searcher, Source, Wish, compile};
use strait_typefuzz::SYSTEM_F;
use strait_typefuzz::system_f::Checker;

fn system() -> Program {
    compile(&[Source::new("system_f.rules", SYSTEM_F)]).expect("the rules are read")
}

/// Samples terms; how many there were, and those with a type.
fn check(wish: Wish, count: u64) -> (u64, Vec<String>, Vec<String>) {
    let program = system();
    let mut searcher = Searcher::new(&program, wish);
    let (mut found, mut typed, mut untyped) = (0, Vec::new(), Vec::new());
    for index in 0..count {
        let Some(sample) = searcher.sample(7, index) else { continue };
        found += 1;
        let checked = Checker::new(program.functors()).check(&sample.tree);
        let told = format!("seed 7, index {index}: {} {checked:?}", program.print(&sample.tree));
        if checked.is_ok() { typed.push(told) } else { untyped.push(told) }
    }
    (found, typed, untyped)
}

#[test]
fn what_is_derived_is_well_typed() {
    for depth in 2..=6 {
        let wish = Wish { depth: Some(depth), ..Wish::default() };
        let (found, _, untyped) = check(wish, 1_000);
        assert!(untyped.is_empty(), "{untyped:#?}");
        assert!(found > 900, "depth {depth}: {found}");
    }
    for size in [5, 10, 20, 30] {
        let wish = Wish { size: Some(size), ..Wish::default() };
        let (found, _, untyped) = check(wish, 300);
        assert!(untyped.is_empty(), "{untyped:#?}");
        assert!(found > 250, "size {size}: {found}");
    }
}

#[test]
fn what_violates_a_premise_is_ill_typed() {
    let wish = Wish { size: Some(12), violations: 1, ..Wish::default() };
    let (found, typed, _) = check(wish, 300);
    assert!(found > 200, "{found}");
    // The rules tell types apart by the names of their variables: what differs in these alone is
    // the same type to the checker.
    assert!(typed.len() as u64 * 50 <= found, "{typed:#?}");
}

#[test]
fn terms_are_enumerated_by_size() {
    let program = system();
    let mut searcher = Searcher::new(&program, Wish::default());
    let mut counts = Vec::new();
    for size in 1..=4 {
        let mut count = 0;
        let complete = searcher.enumerate(size, 10_000_000, &mut |sample| {
            let checked = Checker::new(program.functors()).check(&sample.tree);
            assert!(checked.is_ok(), "{}: {checked:?}", program.print(&sample.tree));
            count += 1;
            count < 500
        });
        counts.push((count, complete));
    }
    // \x. x is the only term of size 2; of size 1 there is none.
    assert_eq!(counts[0], (0, true));
    assert_eq!(counts[1], (1, true));
    assert!(counts[2].0 > 2, "{counts:?}");
}

#[test]
fn what_was_derived_is_accepted_again() {
    let program = system();
    let wish = Wish { depth: Some(4), ..Wish::default() };
    let mut searcher = Searcher::new(&program, wish);
    for index in 0..100 {
        let Some(sample) = searcher.sample(3, index) else { continue };
        let accepted = searcher.accepts(&sample.tree, 100_000);
        assert_eq!(accepted, Acceptance::Accepted(Vec::new()), "{}", program.print(&sample.tree));
    }
}
