//! Small programs whose outcomes are known: one row each, with the exact set under each model.
//!
//! The sets are argued from the documentation of `std` and the axioms of RC11. A row is here because the
//! program does something that a search can easily overlook: it looks at shared state without an
//! operation that is obviously one, waits in an unusual loop, or ends in an unusual way.

#![allow(clippy::unwrap_used, reason = "a test that gets nothing should fail there")]

use std::cell::Cell as Plain;
use std::future::poll_fn;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use std::task::Poll;
use std::time::Duration;

use strait::cell::UnsafeCell;
use strait::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use strait::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
use strait::{Builder, Model, Outcome, future, hint, thread};

mod looking;
mod loops;
mod orderings;
mod primitives;

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// What a program may do: give numbers, deadlock, panic, or fail because of a data race.
#[derive(Debug)]
struct Row {
    name: &'static str,
    program: fn() -> usize,
    values: &'static [usize],
    deadlocks: bool,
    panics: bool,
    races: bool,
}

const fn row(name: &'static str, values: &'static [usize], program: fn() -> usize) -> Row {
    Row { name, program, values, deadlocks: false, panics: false, races: false }
}

impl Row {
    const fn deadlocks(mut self) -> Self {
        self.deadlocks = true;
        self
    }

    const fn panics(mut self) -> Self {
        self.panics = true;
        self
    }

    const fn races(mut self) -> Self {
        self.races = true;
        self
    }

    /// What differs from the expected outcomes under a model, if anything does.
    fn wrong(&self, model: Model) -> Option<String> {
        let outcomes = Builder::new().model(model).outcomes(self.program);
        let mut values: Vec<usize> = outcomes.values().into_iter().copied().collect();
        values.sort_unstable();
        let any =
            |is: fn(&Outcome<usize>) -> bool| outcomes.found.iter().any(|found| is(&found.outcome));
        let seen = (
            any(Outcome::is_deadlock),
            any(Outcome::is_panic),
            any(|outcome| matches!(outcome, Outcome::Fault(..))),
        );
        let expected = (self.deadlocks, self.panics, self.races);
        // A race ends the search of a program as a whole: the other outcomes mean nothing then.
        let same = seen == expected && (self.races || values == self.values);
        (!same || !outcomes.is_exhaustive())
            .then(|| format!("{} under {model}: {outcomes}", self.name))
    }
}

fn check(rows: &[Row], models: &[Model]) {
    let wrong: Vec<String> =
        rows.iter().flat_map(|row| models.iter().filter_map(|model| row.wrong(*model))).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

const ALL: &[Model] = &[Model::Sc, Model::Tso, Model::Pso, Model::Rc11];

/// Runs the code in another thread and here, and gives what was returned here.
fn beside<T: Send + Sync + 'static, R>(shared: T, other: fn(&T), here: impl FnOnce(&T) -> R) -> R {
    let shared = Arc::new(shared);
    let theirs = shared.clone();
    let other = thread::spawn(move || other(&theirs));
    let result = here(&shared);
    other.join().unwrap();
    result
}

fn atomics<const N: usize>() -> [AtomicUsize; N] {
    std::array::from_fn(|_| AtomicUsize::new(0))
}
