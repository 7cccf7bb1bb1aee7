//! Values whose type is forgotten: the searches are compiled once, not once for each type that a
//! program under test gives.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::check::Value;
use crate::outcome::Outcome;
use crate::report::{Found, Outcomes};
use crate::rt::execution::Program;

/// What is still known of a value.
trait AnyValue: Send {
    fn same(&self, other: &dyn AnyValue) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
    fn show(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn copy(&self) -> Box<dyn AnyValue>;
    fn as_any(&self) -> &dyn Any;
}

impl<T: Value> AnyValue for T {
    fn same(&self, other: &dyn AnyValue) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }

    fn show(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt(formatter)
    }

    fn copy(&self) -> Box<dyn AnyValue> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A value of some type.
pub(crate) struct Erased(Box<dyn AnyValue>);

impl Erased {
    pub(crate) fn new<T: Value>(value: T) -> Self {
        Erased(Box::new(value))
    }

    /// The value, if it has this type.
    pub(crate) fn get<T: Value>(&self) -> Option<&T> {
        (*self.0).as_any().downcast_ref()
    }
}

impl Clone for Erased {
    fn clone(&self) -> Self {
        Erased((*self.0).copy())
    }
}

impl PartialEq for Erased {
    fn eq(&self, other: &Self) -> bool {
        (*self.0).same(&*other.0)
    }
}

impl Eq for Erased {}

impl Hash for Erased {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (*self.0).hash_into(hasher);
    }
}

impl fmt::Debug for Erased {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self.0).show(formatter)
    }
}

/// The program without the type of what it gives.
pub(crate) fn erased<T: Value>(program: impl Fn() -> T + Send + Sync + 'static) -> Program<Erased> {
    Arc::new(move || Erased::new(program()))
}

/// The outcomes with the type of their values.
pub(crate) fn revived<T: Value>(outcomes: Outcomes<Erased>) -> Outcomes<T> {
    let revive = |found: Found<Erased>| Found {
        outcome: revived_outcome(found.outcome),
        picks: found.picks,
    };
    Outcomes {
        found: outcomes.found.into_iter().map(revive).collect(),
        coverage: outcomes.coverage,
        model: outcomes.model,
        executions: outcomes.executions,
        cut: outcomes.cut,
        steps: outcomes.steps,
        redundant: outcomes.redundant,
        interleavings: outcomes.interleavings,
        doubt: outcomes.doubt,
    }
}

pub(crate) fn revived_outcome<T: Value>(outcome: Outcome<Erased>) -> Outcome<T> {
    match outcome {
        Outcome::Value(value) => match value.get::<T>() {
            Some(value) => Outcome::Value(value.clone()),
            None => unreachable!("the program gives values of this type"),
        },
        Outcome::Panic { thread, message } => Outcome::Panic { thread, message },
        Outcome::Deadlock(blocked) => Outcome::Deadlock(blocked),
        Outcome::Fault(fault) => Outcome::Fault(fault),
        Outcome::Leak(count) => Outcome::Leak(count),
    }
}
