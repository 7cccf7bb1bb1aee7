#![doc = include_str!("../README.md")]

mod error;
mod fate;
pub mod harness;
mod lower;
mod observe;
mod registry;
mod source;
pub mod targets;

pub use error::Error;
pub use harness::actor_pool::{RunOptions, Style};
pub use harness::payload::{Imbalance, Payload};
pub use harness::plan::Plan;
pub use harness::random::Perturbation;
pub use harness::record::Record;
pub use harness::runner::Runner;
pub use harness::session::{Anomaly, Ended, Summary, Tally};
pub use harness::target::{Contract, Flavour, Promise};
pub use harness::watch::Watch;
pub use harness::wire::{JobLine, Report};
pub use harness::worker::{Finished, serve};
pub use lower::{lower, lower_with_places};
pub use observe::observation;
pub use registry::{TARGETS, TEST_TARGETS, TargetInfo, capabilities, target};
pub use source::{HarnessSource, harness_source, older_harness_sources};
