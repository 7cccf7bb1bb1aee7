//! Planted faults in a stack, a queue, a map and a counter are found, and nothing in their correct twins.

mod counter;
mod map;
mod queue;
mod stack;

use std::time::{Duration, Instant};

use strait_linearizability::{Failure, Linearizability, Model, Object, Report};

/// Checks an object, in less than ten seconds.
#[track_caller]
fn checked<O: Object, M: Model<O>>(
    what: &Linearizability<O::Operation>,
) -> Result<Report, Failure> {
    let begun = Instant::now();
    let checked = what.try_check::<O, M>();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(10), "the check took {took:?}");
    checked
}

/// The object has a history that no sequential order explains.
#[track_caller]
fn is_wrong<O: Object, M: Model<O>>(what: &Linearizability<O::Operation>) {
    let failure = checked::<O, M>(what).expect_err("there is a fault");
    assert!(failure.to_string().contains("no sequential order"), "{failure}");
}

/// Every history of the object is explained.
#[track_caller]
fn is_right<O: Object, M: Model<O>>(what: &Linearizability<O::Operation>) {
    let report = checked::<O, M>(what).expect("there is no fault");
    assert!(report.is_exhaustive && report.programs > 1, "{report:?}");
}
