//! Predicates over the set of outcomes (Déjà Fu, Haskell 2015, section 7.2, "autocheck" and its tests).

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::check::{Builder, Value};
use crate::erased::erased;
use crate::outcome::Outcome;
use crate::report::{Failure, Outcomes};

type Refutes<T> = Arc<dyn Fn(&[&Outcome<T>], &Outcome<T>) -> bool + Send + Sync>;
type Misses<T> = Arc<dyn Fn(&[&Outcome<T>]) -> Option<String> + Send + Sync>;

/// A property of the outcomes of a program.
pub struct Predicate<T> {
    name: String,
    /// Is the outcome a counterexample, given those before it? For properties of all outcomes.
    refutes: Refutes<T>,
    /// Is something missing? For properties that some outcome must have.
    misses: Misses<T>,
    /// Are all counterexamples to be shown, and not only the first?
    every: bool,
}

impl<T> Clone for Predicate<T> {
    fn clone(&self) -> Self {
        let Predicate { name, refutes, misses, every } = self;
        let (refutes, misses) = (refutes.clone(), misses.clone());
        Predicate { name: name.clone(), refutes, misses, every: *every }
    }
}

impl<T> fmt::Debug for Predicate<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Predicate").field(&self.name).finish()
    }
}

fn all<T>(
    name: &str,
    refutes: impl Fn(&[&Outcome<T>], &Outcome<T>) -> bool + Send + Sync + 'static,
) -> Predicate<T> {
    Predicate {
        name: name.to_owned(),
        refutes: Arc::new(refutes),
        misses: Arc::new(|_| None),
        every: false,
    }
}

fn some<T>(
    name: &str,
    misses: impl Fn(&[&Outcome<T>]) -> Option<String> + Send + Sync + 'static,
) -> Predicate<T> {
    Predicate {
        name: name.to_owned(),
        refutes: Arc::new(|_, _| false),
        misses: Arc::new(misses),
        every: false,
    }
}

/// No execution deadlocks.
pub fn never_deadlocks<T>() -> Predicate<T> {
    all("never deadlocks", |_, outcome| outcome.is_deadlock())
}

/// No execution ends by a panic.
pub fn never_panics<T>() -> Predicate<T> {
    all("no panics", |_, outcome| outcome.is_panic())
}

/// Every execution deadlocks.
pub fn deadlocks_always<T>() -> Predicate<T> {
    all("always deadlocks", |_, outcome| !outcome.is_deadlock())
}

/// Some execution deadlocks.
pub fn deadlocks_sometimes<T>() -> Predicate<T> {
    some("sometimes deadlocks", |outcomes| {
        let found = outcomes.iter().any(|outcome| outcome.is_deadlock());
        (!found).then(|| "no execution deadlocks".to_owned())
    })
}

/// All executions give the same.
pub fn always_same<T: Value>() -> Predicate<T> {
    all("consistent result", |before, outcome| before.iter().any(|other| *other != outcome))
}

/// Not all executions give the same.
pub fn not_always_same<T: Value>() -> Predicate<T> {
    some("inconsistent result", |outcomes| {
        (outcomes.len() < 2).then(|| "all executions give the same".to_owned())
    })
}

/// The condition holds for every value, and nothing but values comes out.
pub fn always_true<T: Value>(
    condition: impl Fn(&T) -> bool + Send + Sync + 'static,
) -> Predicate<T> {
    all("always true", move |_, outcome| !outcome.value().is_some_and(&condition))
}

/// The condition holds for some value.
pub fn somewhere_true<T: Value>(
    condition: impl Fn(&T) -> bool + Send + Sync + 'static,
) -> Predicate<T> {
    some("somewhere true", move |outcomes| {
        let found = outcomes.iter().any(|outcome| outcome.value().is_some_and(&condition));
        (!found).then(|| "no execution gives such a value".to_owned())
    })
}

/// Exactly these values come out, and nothing else.
pub fn gives<T: Value + Sync>(values: impl IntoIterator<Item = T>) -> Predicate<T> {
    let values: Vec<T> = values.into_iter().collect();
    let expected = values.clone();
    Predicate {
        name: format!("gives exactly {values:?}"),
        refutes: Arc::new(move |_, outcome| {
            !outcome.value().is_some_and(|value| expected.contains(value))
        }),
        misses: Arc::new(move |outcomes| {
            let given = |value: &&T| outcomes.iter().any(|outcome| outcome.value() == Some(*value));
            let missing: Vec<&T> = values.iter().filter(|value| !given(value)).collect();
            (!missing.is_empty()).then(|| format!("no execution gives {missing:?}"))
        }),
        every: false,
    }
}

/// Only these values come out, perhaps not all of them, and nothing else.
pub fn gives_only<T: Value + Sync>(values: impl IntoIterator<Item = T>) -> Predicate<T> {
    let values: Vec<T> = values.into_iter().collect();
    all("gives only expected values", move |_, outcome| {
        !outcome.value().is_some_and(|value| values.contains(value))
    })
}

/// The same predicate, whose verdict has one representative failure for each outcome that refutes
/// it, and not only the first.
pub fn representative<T>(mut predicate: Predicate<T>) -> Predicate<T> {
    predicate.every = true;
    predicate
}

/// Whether a predicate holds for a program.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The predicate.
    pub name: String,
    /// Why it does not hold, if it does not.
    pub failure: Option<Box<Failure>>,
    /// Further failures, one for each other outcome that refutes it, if [`representative`] was
    /// asked for.
    pub others: Vec<Failure>,
    /// How much of the program's behaviour this speaks for.
    pub coverage: strait_explore::Coverage,
}

impl Verdict {
    /// Does the predicate hold, as far as was searched?
    pub fn holds(&self) -> bool {
        self.failure.is_none()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            None => write!(formatter, "[pass] {} ({})", self.name, self.coverage),
            Some(failure) => {
                write!(formatter, "[fail] {}\n{failure}", self.name)?;
                self.others.iter().try_for_each(|failure| write!(formatter, "\n{failure}"))
            }
        }
    }
}

impl Builder {
    /// Tests predicates on the outcomes of a program, one verdict each. The program is searched
    /// once.
    #[track_caller]
    pub fn test<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
        predicates: &[Predicate<T>],
    ) -> Vec<Verdict> {
        self.judged(program, predicates).0
    }

    #[track_caller]
    fn judged<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
        predicates: &[Predicate<T>],
    ) -> (Vec<Verdict>, Outcomes<T>) {
        let (outcomes, explain) = self.outcomes_and_explanations(program);
        let judge = |predicate: &Predicate<T>| {
            let mut failures = failures(predicate, &outcomes, &explain).into_iter();
            let failure = failures.next().or_else(|| self.doubtful(&outcomes)).map(Box::new);
            let (name, coverage) = (predicate.name.clone(), outcomes.coverage.clone());
            Verdict { name, failure, others: failures.collect(), coverage }
        };
        let verdicts = predicates.iter().map(judge).collect();
        (verdicts, outcomes)
    }

    /// Checks that the program never deadlocks, never panics, and always gives the same result.
    /// Panics with a report otherwise. With `STRAIT_REPLAY` set, only that schedule is performed, and
    /// whatever comes of it is reported.
    #[track_caller]
    pub fn autocheck<T: Value>(&self, program: impl Fn() -> T + Send + Sync + 'static) {
        let program = Arc::new(program);
        let again = program.clone();
        if let Some(failure) = self.shown_again(erased(move || again()), Location::caller()) {
            panic!("{failure}");
        }
        let program = move || program();
        let place = Location::caller();
        let predicates = [never_deadlocks(), never_panics(), always_same()];
        let (verdicts, outcomes) = self.judged(program, &predicates);
        if verdicts.iter().all(Verdict::holds) {
            self.summarise(&outcomes, place);
        } else {
            self.summarise_failure(outcomes.executions, place);
            let lines: Vec<String> = verdicts.iter().map(Verdict::to_string).collect();
            panic!("{}", lines.join("\n"));
        }
    }
}

/// Judges one predicate; `explain` makes the report for the outcome with a number.
fn failures<T: Value>(
    predicate: &Predicate<T>,
    outcomes: &Outcomes<T>,
    explain: &impl Fn(Option<usize>, String) -> Failure,
) -> Vec<Failure> {
    let all: Vec<&Outcome<T>> = outcomes.found.iter().map(|found| &found.outcome).collect();
    let refuting = all
        .iter()
        .enumerate()
        .filter(|(index, outcome)| (predicate.refutes)(&all[..*index], outcome));
    let explained = refuting.map(|(index, outcome)| {
        let others: Vec<String> =
            all[..index].iter().map(|other| other.to_string()).take(3).collect();
        let message = if others.is_empty() {
            outcome.to_string()
        } else {
            format!("{outcome}\nother executions give: {}", others.join(" | "))
        };
        explain(Some(index), message)
    });
    let shown: Vec<Failure> =
        explained.take(if predicate.every { usize::MAX } else { 1 }).collect();
    if !shown.is_empty() {
        return shown;
    }
    (predicate.misses)(&all).map(|missing| explain(None, missing)).into_iter().collect()
}
