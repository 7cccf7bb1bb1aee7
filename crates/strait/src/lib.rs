#![doc = include_str!("../README.md")]
//!
//! Modules: what programs use, how they are checked, and `rt`, the runtime under test.

pub mod alloc;
mod annotate;
pub mod cell;
pub mod channel;
mod check;
mod choice;
#[doc(hidden)]
pub mod compat;
mod crash;
pub mod cref;
#[cfg(test)]
mod crosscheck;
mod doubt;
mod erased;
pub mod exception;
#[doc(hidden)]
pub mod extend;
mod foreign;
pub mod future;
pub mod hint;
mod local;
pub mod mvar;
mod outcome;
mod predicate;
mod refinement;
mod replay;
mod report;
mod rt;
mod sampling;
mod scope;
mod script;
mod sides;
pub mod stm;
mod summary;
mod symmetric;
pub mod sync;
pub mod thread;
mod trace;
mod waker;
mod watchdog;

pub use annotate::{Shared, all_known, forgets, invariant, knows_about, label};
pub use check::{Builder, Value};
pub use choice::choose;
pub use doubt::Doubt;
pub use outcome::{Blocked, Outcome};
pub use predicate::{
    Predicate, Verdict, always_same, always_true, deadlocks_always, deadlocks_sometimes, gives,
    gives_only, never_deadlocks, never_panics, not_always_same, representative, somewhere_true,
};
pub use refinement::{Refinement, refinement};
pub use report::{Failure, Found, Outcomes};
pub use rt::memory::Model;
pub use script::ScriptError;
pub use strait_explore::{Coverage, Interleavings};
pub use strait_macros::test;
pub use trace::{Trace, TraceLine};

/// Checks that no execution of the program fails, under every schedule and the memory model RC11.
/// Panics with a report otherwise.
#[track_caller]
pub fn check<T: Value>(program: impl Fn() -> T + Send + Sync + 'static) -> Outcomes<T> {
    Builder::new().check(program)
}

/// All outcomes of the program under every schedule and the memory model RC11.
#[track_caller]
pub fn outcomes<T: Value>(program: impl Fn() -> T + Send + Sync + 'static) -> Outcomes<T> {
    Builder::new().outcomes(program)
}

/// The set of values that the program gives, sorted, each as `Ok`, and failures as text. If the set
/// cannot be trusted (see [`Doubt`]), the reason is one of them.
#[track_caller]
pub fn results<T: Value + Ord>(
    program: impl Fn() -> T + Send + Sync + 'static,
) -> Vec<Result<T, String>> {
    Builder::new().results(program)
}

/// Checks that the program never deadlocks, never panics, and always gives the same result. Panics
/// with a report otherwise.
#[track_caller]
pub fn autocheck<T: Value>(program: impl Fn() -> T + Send + Sync + 'static) {
    Builder::new().autocheck(program);
}
