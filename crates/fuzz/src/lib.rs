#![doc = include_str!("../README.md")]

mod allot;
mod begin;
mod campaign;
mod confirm;
mod counters;
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
mod shrink;
mod work;

pub use begin::{Begun, Request, begin};
pub use campaign::{Bounds, Campaign};
pub use confirm::Confirmation;
pub use counters::Counters;
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
pub use work::{Maker, Work};
