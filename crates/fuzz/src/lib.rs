#![doc = include_str!("../README.md")]

mod allot;
mod begin;
mod campaign;
mod confirm;
mod counters;
mod discover;
mod error;
mod evidence;
mod judge;
mod lane;
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
pub use error::Error;
pub use evidence::{Evidence, Mischief, evidence};
pub use judge::{Fault, Judgement, Suspicion, judge};
pub use lane::{Lane, Lanes, built_in_version, check_targets, worker_main};
pub use recipe::{REPETITIONS, Recipe};
pub use reduce::{Reduced, Reducer, keep};
pub use replay::{Exhibit, Rerun};
pub use seat::{Death, Done, Seat, run_alone};
pub use work::{Maker, Work};
