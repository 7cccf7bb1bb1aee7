#![doc = include_str!("../README.md")]

mod batch_compiler;
mod cause;
mod confirm;
pub mod counts;
mod crate_build;
mod diagram;
mod dialect;
mod discover;
mod done;
mod error;
mod evidence;
mod fuzz_target;
mod judge;
mod loose;
mod recipe;
mod reduce;
mod replay;
mod reproduction;
mod sent;
mod settings;
mod shrink;
mod suspects;
mod work;
mod worker_process;
mod workload;

pub use cause::same_cause;
pub use confirm::Confirmation;
pub use dialect::Dialect;
pub use done::{Death, Done, run_alone};
pub use error::Error;
pub use evidence::{Evidence, Mischief, evidence};
pub use fuzz_target::{
    Backend, FuzzTarget, TargetFinder, built_in_version, check_targets, worker_main,
};
pub use judge::{Fault, Judgement, Suspicion, judge};
pub use recipe::{REPETITIONS, Recipe};
pub use reduce::{Reduced, Reducer, keep};
pub use replay::{Exhibit, Rerun};
pub use reproduction::{
    REPRODUCE, Reproduced, Reproducer, checked_program, processes, reproduction,
};
pub use settings::{Fuzzing, Settings};
pub use work::{Maker, Work};
pub use worker_process::{Next, WorkerProcess};
pub use workload::{Astray, Programs};
