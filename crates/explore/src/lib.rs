#![doc = include_str!("../README.md")]
//!
//! Modules: the trait ([`system`]), one file a strategy, and what they share.

mod bounded;
mod bounds;
mod brute;
mod collect;
mod compact;
mod coverage;
mod crew;
mod cursor;
mod cycles;
mod dpor;
mod draw;
mod forest;
mod graph;
mod history;
mod limits;
mod optimal;
mod order;
mod pct;
mod races;
mod random;
mod relinearise;
mod replay;
mod report;
mod sample;
mod simplify;
mod space;
mod states;
mod store;
mod system;
mod threaded;
mod wakeup;

pub use bounded::bounded;
pub use bounds::Bounds;
pub use brute::{Brute, brute, brute_within};
pub use compact::compact;
pub use coverage::Coverage;
pub use crew::{Workers, optimal_parallel};
pub use cycles::{CycleReport, cycles};
pub use dpor::{dpor, dpor_each};
pub use graph::{Graph, graph};
pub use limits::Limits;
pub use optimal::optimal;
pub use pct::{pct, pct_parallel};
pub use races::Depth;
pub use random::{random, random_parallel};
pub use replay::{Replay, Schedule, ScheduleError, replay, schedule_of};
pub use report::{Found, Report};
pub use simplify::{Complexity, Effort, complexity, simplify};
pub use space::{Limit, Nature, Space, Visit, space};
pub use states::{StateOptions, StateReport, states, states_until};
pub use system::{Stateful, System, ThreadId};
pub use threaded::{Access, EventId, Next, Pick, Threaded};
