#![doc = include_str!("../README.md")]

mod baseline;
mod clock;
mod directory;
mod error;
mod fault;
mod go_source;
mod group;
mod harvest;
mod index;
mod kind;
mod merge;
mod model;
mod ranges;
mod reconcile;
mod replay;
mod report;
mod store;
mod text;

pub use baseline::{Baseline, BaselineKey, BaselinePlace};
pub use directory::{FINDINGS, attach, read};
pub use error::Error;
pub use fault::{BrokenRule, SourceFault, SourcePlace, group_faults};
pub use go_source::{Directive, GoFunction, GoSource};
pub use group::{fault, normalise};
pub use harvest::{Harvest, Resumed};
pub use index::{CampaignId, INDEX, Known, Total};
pub use kind::Kind;
pub use merge::Merged;
pub use model::{Discovery, FORMAT, Finding};
pub use ranges::Ranges;
pub use reconcile::Recovery;
pub use replay::{REDUCED, Replay};
pub use report::report;
pub use store::{Batch, Occurrence, Recorded, Store};
pub use text::{file_name, html, visible};
