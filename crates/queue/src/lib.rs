#![doc = include_str!("../README.md")]

mod address;
mod allot;
mod begin;
mod credentials;
mod embedded;
mod error;
mod job;
mod ledger;
mod letter;
mod link;
mod message;
mod note;
mod objects;
mod remote;
mod shard;
mod source;
mod submit;
mod trial;
mod worker;

pub use address::Address;
pub use allot::{Allotment, Block};
pub use begin::{CannotBegin, Extent, Folder};
pub use credentials::Credentials;
pub use embedded::{Brought, Embedded};
pub use error::Error;
pub use job::{Item, Job, LaneName, PROTOCOL};
pub use ledger::Ledger;
pub use letter::DeadLetter;
pub use link::{Foreign, Link};
pub use message::{Form, MAX_INDEX, MAX_ITEM, Poison};
pub use shard::Shard;
pub use source::{Part, Piece, Source};
pub use submit::{Outsourced, Submission, Told};
pub use trial::{Alone, Trial, hand_over, handed_over};
pub use worker::{Bench, Memory, Taker};
