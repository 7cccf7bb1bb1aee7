#![doc = include_str!("../README.md")]

mod clock;
mod directory;
mod error;
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

pub use directory::{FINDINGS, attach, read};
pub use error::Error;
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
