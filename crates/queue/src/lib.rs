#![doc = include_str!("../README.md")]

mod activity;
mod address;
mod allot;
mod clock;
mod credentials;
mod embedded;
mod error;
mod flow;
mod hand_in;
mod intake;
mod job;
mod ledger;
mod letter;
mod link;
mod message;
mod note;
mod objects;
mod presence;
mod queue_source;
mod roster;
mod shard;
mod shutdown;
mod source;
mod status;
mod submit;
mod transport;
mod trial;
mod watch;
mod worker;

pub use activity::{Activity, Totals};
pub use address::Address;
pub use allot::{Allotment, Block};
pub use clock::{Clock, SystemClock};
pub use credentials::Credentials;
pub use embedded::{Embedded, LateDelivery, TargetPart};
pub use error::Error;
pub use job::{Item, Job, PROTOCOL, TargetVersion};
pub use ledger::Ledger;
pub use letter::DeadLetter;
pub use link::{Foreign, Link};
pub use message::{Form, MAX_INDEX, MAX_ITEM, Poison};
pub use presence::{HEARTBEAT, LOST, Presence, WorkerRecord};
pub use queue_source::QueueSource;
pub use shard::Shard;
pub use source::{Part, Piece, Source};
pub use status::{CampaignStatus, QueueStatus, WorkerState, WorkerStatus};
pub use submit::{QueueEvent, QueueOptions, Submission};
pub use transport::{
    Backlog, Bucket, Delivery, Object, Outgoing, Receipt, Record, Settlement, Stream, Transport,
    TransportError,
};
pub use trial::{Alone, Trial, hand_over, handed_over};
pub use worker::{Memory, WorkerSession};
