#![doc = include_str!("../README.md")]

mod confirm;
pub mod counts;
mod dialect;
mod discover;
mod done;
mod error;
mod evidence;
mod judge;
mod lane;
mod press;
mod recipe;
mod reduce;
mod replay;
mod seat;
mod sent;
mod settings;
mod shrink;
mod work;
mod workload;

pub use confirm::Confirmation;
pub use dialect::Dialect;
pub use done::{Death, Done, run_alone};
pub use error::Error;
pub use evidence::{Evidence, Mischief, evidence};
pub use judge::{Fault, Judgement, Suspicion, judge};
pub use lane::{Lane, Lanes, Way, built_in_version, check_targets, worker_main};
pub use recipe::{REPETITIONS, Recipe};
pub use reduce::{Reduced, Reducer, keep};
pub use replay::{Exhibit, Rerun};
pub use seat::Seat;
pub use settings::{Fuzzing, Settings};
pub use work::{Maker, Work};
pub use workload::Programs;
