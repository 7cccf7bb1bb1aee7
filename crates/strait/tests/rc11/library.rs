//! Programs of the notation in the library under test, and in loom.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use strait::{Builder, Model, Outcomes};

use crate::interpreter::{looms, ours};
use crate::program::{Program, Shown};

/// Every outcome under a memory model.
pub fn outcomes(program: &Arc<Program>, model: Model) -> Outcomes<Shown> {
    let program = program.clone();
    let builder = Builder::new().model(model).allow_uncontrolled();
    let outcomes = builder.outcomes(move || ours::perform(&program));
    assert!(outcomes.is_exhaustive(), "{:?}", outcomes.coverage);
    outcomes
}

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
        builder.max_duration = Some(std::time::Duration::from_secs(60));
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
