//! Random programs that use each primitive twice: that of the library, and one that is built of atomic
//! variables and waiting loops. Both must show the same.
//!
//! The two have little in common: a lock of the library is a step that waits for a gate and orders by
//! clocks, while a built one is a compare-exchange in a loop, whose order comes from RC11's axioms. So a
//! schedule that is missed in either, or an order that a primitive should not give, shows as a difference.
//!
//! `STRAIT_TEST_COUNT` says how many programs are drawn, `STRAIT_TEST_SEED` from which seed.

#![allow(clippy::unwrap_used, reason = "a test that gets nothing should fail there")]

use std::collections::BTreeSet;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use strait::{Builder, Doubt, Model, Outcome, Outcomes};

mod kits;
mod program;

use kits::{Built, Kit, Library};
use program::{Draw, Family, Op, perform_all};

fn from_environment(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

type Seen = Vec<Vec<u8>>;

/// What a program shows: values as text, `deadlock`, `race`.
fn shown(outcomes: &Outcomes<Seen>) -> BTreeSet<String> {
    let text = |outcome: &Outcome<Seen>| match outcome {
        Outcome::Value(value) => format!("{value:?}"),
        Outcome::Deadlock(_) => "deadlock".to_owned(),
        Outcome::Fault(fault) if fault.starts_with("data race") => "race".to_owned(),
        other => format!("{other}"),
    };
    outcomes.found.iter().map(|found| text(&found.outcome)).collect()
}

/// So many executions are waited for.
const MOST: u64 = 20_000;

fn outcomes<K: Kit>(ops: &Arc<Vec<Vec<Op>>>, model: Model) -> Option<BTreeSet<String>> {
    let code = ops.clone();
    let builder = Builder::new().model(model).executions(MOST).allow_uncontrolled();
    let outcomes = builder.outcomes(move || perform_all(Arc::new(K::new()), &code));
    if outcomes.executions >= MOST {
        return None;
    }
    if matches!(outcomes.doubt, Some(Doubt::Cut { .. })) && matches!(model, Model::Tso | Model::Pso)
    {
        // A thread that reads what it has stored itself is not known to wait.
        return None;
    }
    assert!(
        outcomes.doubt.is_none(),
        "{:?} {ops:?} {}",
        outcomes.doubt,
        std::any::type_name::<K>()
    );
    assert!(outcomes.is_exhaustive(), "{:?}", outcomes.coverage);
    Some(shown(&outcomes))
}

/// A race makes the rest meaningless.
fn differ(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    match (one.contains("race"), other.contains("race")) {
        (true, true) => false,
        (false, false) => one != other,
        _ => true,
    }
}

/// What the program lacks under RC11 that it shows under a stronger model.
fn lost(ops: &Arc<Vec<Vec<Op>>>, library: &BTreeSet<String>) -> Option<String> {
    let stronger = [Model::Sc, Model::Tso, Model::Pso];
    stronger.into_iter().filter(|_| !library.contains("race")).find_map(|model| {
        let strong = outcomes::<Library>(ops, model)?;
        let lost: Vec<_> = strong.difference(library).collect();
        (!lost.is_empty()).then(|| format!("RC11 lacks {lost:?} of {model}"))
    })
}

/// How the two differ, or whether the program shows a deadlock or a race; nothing if it is too large.
fn compare_one(ops: &Arc<Vec<Vec<Op>>>) -> Option<Result<BTreeSet<String>, String>> {
    let library = outcomes::<Library>(ops, Model::Rc11)?;
    if let Some(lost) = lost(ops, &library) {
        return Some(Err(lost));
    }
    let built = outcomes::<Built>(ops, Model::Rc11)?;
    if differ(&library, &built) {
        let missing: Vec<_> = built.difference(&library).collect();
        let more: Vec<_> = library.difference(&built).collect();
        return Some(Err(format!("the library lacks {missing:?}, the built ones {more:?}")));
    }
    Some(Ok(library))
}

fn compare(family: &Family, usual: u64) {
    let seed = from_environment("STRAIT_TEST_SEED", 20_261_119);
    let count = from_environment("STRAIT_TEST_COUNT", usual);
    let (mut compared, mut deadlocks, mut races, mut values) = (0, 0, 0, 0);
    for index in 0..count {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(index);
        let ops = Arc::new(Draw(rng).program(family));
        match compare_one(&ops) {
            None => {}
            Some(Ok(shown)) => {
                compared += 1;
                deadlocks += u64::from(shown.contains("deadlock"));
                races += u64::from(shown.contains("race"));
                values += shown.len() as u64;
            }
            Some(Err(how)) => {
                panic!("{} program {index} of seed {seed}: {ops:?}\n{how}", family.name)
            }
        }
    }
    assert!(compared * 10 > count * 9, "most programs are small enough: {compared} of {count}");
    assert!(deadlocks > 0 && races > 0, "{deadlocks} deadlocks, {races} races");
    assert!(values > count, "the programs have choices: {values} outcomes");
}

#[test]
fn locks_are_like_built_ones() {
    compare(&Family { name: "locks", kinds: &[(4, 0), (3, 1), (2, 2)], longest: [7, 5] }, 150);
}

#[test]
fn tokens_and_messages_are_like_built_ones() {
    compare(
        &Family { name: "messages", kinds: &[(4, 0), (1, 1), (4, 3), (4, 4)], longest: [7, 5] },
        150,
    );
}

#[test]
fn meetings_are_like_built_ones() {
    compare(
        &Family {
            name: "meetings",
            kinds: &[(4, 0), (2, 5), (3, 6), (1, 4), (1, 1)],
            longest: [7, 5],
        },
        150,
    );
}

#[test]
fn all_are_like_built_ones() {
    let kinds = &[(6, 0), (2, 1), (2, 2), (2, 3), (2, 4), (1, 5), (2, 6)];
    compare(&Family { name: "all", kinds, longest: [7, 5] }, 150);
}
