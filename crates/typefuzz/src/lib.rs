#![doc = include_str!("../README.md")]

mod begin;
mod campaign;
mod counters;
mod discover;
mod error;
mod exhibit;
mod job;
mod judge;
mod known;
mod oracle;
mod permitted;
mod recipe;
mod reduce;
mod rules;
mod shrink;
pub mod system_f;

pub use begin::{Begun, Request, begin};
pub use campaign::Campaign;
pub use counters::Counters;
pub use discover::{Details, PROGRAM, REWRITTEN, TERM, discovery, standalone};
pub use error::Error;
pub use exhibit::{Exhibit, REDUCED, REDUCED_REWRITTEN, is_exhibit};
pub use job::{Served, job, served};
pub use judge::{Fault, Judgement, RULES, Verdicts, judge};
pub use known::{Class, Known};
pub use oracle::{
    ORACLES, Oracle, Rejection, RunResult, Verdict, WALL, find, find_within, judge_all,
};
pub use permitted::{Chosen, Permitted};
pub use recipe::{BATCH, Case, Fuzzer, GENERATOR_VERSION, Mode, Other, Recipe, System};
pub use reduce::{Reduced, Reducer, keep};
pub use rules::{FEATURES, SYSTEM_F, file, rust};
