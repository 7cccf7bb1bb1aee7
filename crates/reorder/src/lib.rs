#![doc = include_str!("../README.md")]

mod blocked;
mod campaign;
mod chance;
mod confirm;
mod counters;
mod crash;
mod discover;
mod error;
mod feedback;
mod judge;
mod order;
mod plan;
mod prepare;
mod queue;
mod replay;
mod selects;
mod state;
mod story;
mod subject;

pub use blocked::{Reference, unblockable};
pub use campaign::{Bounds, Campaign, Ended, Sensitive};
pub use confirm::{Line, Place, Prediction, Sightings, Witness};
pub use counters::Counters;
pub use crash::{Crash, crashes};
pub use error::Error;
pub use feedback::{Coverage, Feedback};
pub use judge::{Certainty, Suspicion, judge};
pub use order::Order;
pub use plan::{Plan, Switches};
pub use prepare::{Prepared, Problem, Request, prepare};
pub use queue::{Entry, Queue, energy};
pub use replay::{Again, Exhibit, is_go};
pub use selects::Selects;
pub use subject::{Clock, Subject};
