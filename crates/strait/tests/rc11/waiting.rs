//! Algorithms with loops that wait, written in Rust: what they give under RC11, and in loom.
//!
//! A row is a program, and what it may give: numbers, `race` for a data race, `deadlock`. What C++20 says
//! is the same in each row, since none has load buffering. The same code runs with the types of both
//! libraries. loom ends with `-` where it does not get to the end of a loop.

#[macro_use]
mod programs;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use strait::{Builder, Model, Outcome};

mod ours {
    use std::sync::Arc;
    use strait::cell::UnsafeCell;
    use strait::hint::spin_loop as pause;
    use strait::sync::atomic::{AtomicUsize, Ordering, fence};
    use strait::thread;
    programs!();
}

mod looms {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering, fence};
    use loom::thread::{self, yield_now as pause};
    programs!();
}

/// What is given, in one line.
fn line(given: BTreeSet<String>) -> String {
    Vec::from_iter(given).join(" ")
}

fn ours(program: fn() -> usize) -> String {
    let outcomes = Builder::new().model(Model::Rc11).outcomes(program);
    assert!(outcomes.is_exhaustive(), "{:?}", outcomes.coverage);
    let word = |outcome: &Outcome<usize>| match outcome {
        Outcome::Value(value) => value.to_string(),
        Outcome::Deadlock(_) => "deadlock".to_owned(),
        Outcome::Fault(fault) if fault.starts_with("data race on ") => "race".to_owned(),
        other => other.to_string(),
    };
    let given: BTreeSet<String> = outcomes.found.iter().map(|found| word(&found.outcome)).collect();
    // The values of a program with a race mean nothing.
    if given.contains("race") { "race".to_owned() } else { line(given) }
}

fn loom(program: fn() -> usize) -> String {
    let given = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = given.clone();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut builder = loom::model::Builder::new();
        builder.max_permutations = Some(10_000);
        builder.checkpoint_interval = 1_000;
        builder.check(move || {
            let value = program();
            theirs.lock().unwrap_or_else(PoisonError::into_inner).insert(value.to_string());
        });
    }));
    let Err(payload) = ended else {
        return line(given.lock().unwrap_or_else(PoisonError::into_inner).clone());
    };
    // loom says what it has found in the message of a panic only.
    let message = payload.downcast_ref::<String>().cloned().unwrap_or_default();
    let race = message.starts_with("Causality violation");
    if race { "race".to_owned() } else { "-".to_owned() }
}

/// A name, the program in both libraries, what it gives under RC11 and why, and what loom says.
type Row = (&'static str, [fn() -> usize; 2], &'static str, &'static str, &'static str);

macro_rules! both {
    ($name:ident) => {
        [ours::$name, looms::$name]
    };
}

const ROWS: &[Row] = &[
    ("spin lock", both!(spin_lock), "2", "2", "the next owner acquires what the last has released"),
    ("spin lock, Relaxed", both!(spin_lock_relaxed), "race", "race", "no sw from unlock to lock"),
    (
        "spin lock, weak exchange",
        both!(spin_lock_weak),
        "2",
        "2",
        "a failure without a reason is repeated",
    ),
    (
        "ticket lock",
        both!(ticket_lock),
        "2",
        "2",
        "each owner reads what the one before has released",
    ),
    (
        "ticket lock, Relaxed",
        both!(ticket_lock_relaxed),
        "race",
        "race",
        "no sw from one owner to the next",
    ),
    ("flag", both!(flag), "1", "1", "the loop ends with an acquire of the release"),
    (
        "flag, Relaxed loop and a fence",
        both!(flag_fence),
        "1",
        "1",
        "the fence behind the loop acquires",
    ),
    ("flag, Relaxed", both!(flag_relaxed), "race", "race", "the loop does not acquire"),
    ("flag that is never set", both!(flag_never), "deadlock", "-", "a loop that waits in vain"),
    (
        "Peterson, SeqCst",
        both!(peterson),
        "2",
        "race",
        "not both pass the loop, and its end acquires the other's exit",
    ),
    (
        "Peterson, release and acquire",
        both!(peterson_weak),
        "race",
        "race",
        "both may miss the other's flag",
    ),
    ("barrier of two", both!(barrier), "3", "3", "each reads the other's AcqRel count"),
    (
        "barrier of two, Relaxed",
        both!(barrier_relaxed),
        "race",
        "race",
        "counts do not synchronise",
    ),
    (
        "seqlock, no acquire fence",
        both!(seqlock_broken),
        "0 1 10 11",
        "0 1 10 11",
        "the data may be read late",
    ),
    ("lazy value", both!(lazy), "7", "7", "the loser waits for the release of the winner"),
    ("lazy value, Relaxed", both!(lazy_relaxed), "race", "race", "the winner does not release"),
    (
        "stack, push and pop",
        both!(stack),
        "1 2",
        "1 2",
        "the exchange of the head hands over the node",
    ),
    (
        "stack, Relaxed push",
        both!(stack_relaxed),
        "race",
        "race",
        "the exchange of the head hands over nothing",
    ),
    (
        "quiescence, SeqCst",
        both!(quiescence),
        "0 5",
        "race",
        "a reader that entered too late sees the new pointer",
    ),
    (
        "quiescence, release and acquire",
        both!(quiescence_weak),
        "race",
        "race",
        "as store buffering: the writer may miss the reader",
    ),
];

#[test]
fn algorithms_give_what_rc11_says() {
    let mut different = Vec::new();
    for (name, [program, _], rc11, _, why) in ROWS {
        let found = ours(*program);
        if found != *rc11 {
            different.push(format!("{name}: {found}, expected {rc11}: {why}"));
        }
    }
    assert!(different.is_empty(), "\n{}", different.join("\n"));
}

#[test]
fn algorithms_give_what_the_table_says_in_loom() {
    let mut different = Vec::new();
    for (name, [_, program], _, expected, _) in ROWS {
        let found = loom(*program);
        if found != *expected {
            different.push(format!("{name}: {found}, expected {expected}"));
        }
    }
    assert!(different.is_empty(), "\n{}", different.join("\n"));
}
