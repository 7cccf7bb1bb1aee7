#![doc = include_str!("../README.md")]

mod activity;
mod begin;
mod campaign;
mod counters;
mod error;
mod kind;
mod stop;
mod workload;

pub use activity::{Activity, Confirmation, LastFinding, Suspicion, Thread, ThreadState};
pub use begin::{Begun, CannotBegin, Mismatch, Request, Settings, begin, last_settings};
pub use campaign::{Body, Campaign, Found, Threads};
pub use counters::{Counters, TargetCounts};
pub use error::Error;
pub use kind::{Kind, KindInfo, Servable, Serving, Turn, Unit};
pub use stop::{Ending, Interruption, Shortfall, Stop, Timer};
pub use workload::{Context, Delivery, Pieces, Workload};
