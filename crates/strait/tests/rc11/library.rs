//! Programs of the notation in the library under test, and in loom.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use strait::{Builder, Model, Outcome, Outcomes};

use crate::interpreter::{looms, ours};
use crate::program::{Program, Shown};

/// Every outcome under a memory model.
pub fn outcomes(program: &Arc<Program>, model: Model) -> Outcomes<Shown> {
    let code = program.clone();
    let outcomes = Builder::new().model(model).outcomes(move || ours::perform(&code));
    assert!(outcomes.is_exhaustive(), "{:?}: {program}", outcomes.coverage);
    outcomes
}

/// Is the outcome a data race?
pub fn is_race(outcome: &Outcome<Shown>) -> bool {
    matches!(outcome, Outcome::Fault(fault) if fault.starts_with("data race on "))
}

/// How many executions of loom are waited for. The programs with four threads have more.
const LIMIT: u64 = 10_000;

/// What loom shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loom {
    pub shown: BTreeSet<Shown>,
    pub executions: u64,
    /// It has found a data race, and stopped there.
    pub race: bool,
}

/// Every outcome that loom finds. It has no more than four threads beside the main one.
pub fn loom(program: &Arc<Program>) -> Loom {
    let found = Arc::new(Mutex::new(Loom::default()));
    let check = AssertUnwindSafe(|| {
        let (program, found) = (program.clone(), found.clone());
        let mut builder = loom::model::Builder::new();
        builder.max_permutations = Some(LIMIT as usize);
        builder.checkpoint_interval = 1_000;
        builder.check(move || {
            let shown = looms::perform(&program);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.shown.insert(shown);
            found.executions += 1;
        });
    });
    // loom reports a race by a panic, whose message says so.
    let ended = catch_unwind(check);
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner).clone();
    found.race = ended.is_err();
    found
}
