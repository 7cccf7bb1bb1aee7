//! Refinement: does one implementation have the same behaviours as another, or fewer?

use std::collections::HashSet;

use crate::check::{Builder, Value};
use crate::outcome::Outcome;

/// How the outcomes of an implementation relate to those of a specification.
#[derive(Clone, Debug)]
pub struct Refinement<T> {
    /// Outcomes of the implementation that the specification does not have.
    pub added: Vec<Outcome<T>>,
    /// Outcomes of the specification that the implementation does not have.
    pub missing: Vec<Outcome<T>>,
    /// Were both searched exhaustively?
    pub exhaustive: bool,
}

impl<T> Refinement<T> {
    /// Every behaviour of the implementation is one of the specification.
    pub fn refines(&self) -> bool {
        self.added.is_empty()
    }

    /// Both have the same behaviours.
    pub fn is_equivalent(&self) -> bool {
        self.added.is_empty() && self.missing.is_empty()
    }

    /// The implementation has fewer behaviours.
    pub fn refines_strictly(&self) -> bool {
        self.added.is_empty() && !self.missing.is_empty()
    }
}

/// Compares an implementation with a specification, under every schedule and total store order.
#[track_caller]
pub fn refinement<T: Value>(
    implementation: impl Fn() -> T + Send + Sync + 'static,
    specification: impl Fn() -> T + Send + Sync + 'static,
) -> Refinement<T> {
    Builder::new().refinement(implementation, specification)
}

impl Builder {
    /// Compares an implementation with a specification. Deadlocks count as one outcome, whichever thread is
    /// blocked.
    #[track_caller]
    pub fn refinement<T: Value>(
        &self,
        implementation: impl Fn() -> T + Send + Sync + 'static,
        specification: impl Fn() -> T + Send + Sync + 'static,
    ) -> Refinement<T> {
        let ours = self.outcomes(implementation);
        let theirs = self.outcomes(specification);
        let exhaustive = ours.is_exhaustive() && theirs.is_exhaustive();
        let set = |found: Vec<crate::report::Found<T>>| -> Vec<Outcome<T>> {
            let mut seen = HashSet::new();
            let outcomes = found.into_iter().map(|found| anonymous(found.outcome));
            outcomes.filter(|outcome| seen.insert(outcome.clone())).collect()
        };
        let (ours, theirs) = (set(ours.found), set(theirs.found));
        let without = |all: &[Outcome<T>], others: &[Outcome<T>]| {
            all.iter().filter(|outcome| !others.contains(outcome)).cloned().collect()
        };
        Refinement { added: without(&ours, &theirs), missing: without(&theirs, &ours), exhaustive }
    }
}

fn anonymous<T>(outcome: Outcome<T>) -> Outcome<T> {
    match outcome {
        Outcome::Deadlock(_) => Outcome::Deadlock(Vec::new()),
        Outcome::Panic { .. } => Outcome::Panic { thread: String::new(), message: String::new() },
        other => other,
    }
}
