#![doc = include_str!("../README.md")]
#![allow(
    clippy::disallowed_methods,
    reason = "the one room that starts processes: it limits and ends what it starts"
)]

#[cfg(not(unix))]
compile_error!("strait-toolchain needs Unix process groups: on Windows, build inside WSL");

mod cache;
mod capture;
mod cargo;
mod child;
mod error;
mod harness;
mod launch;
mod limits;
mod parent;
mod process;
mod protocol;
mod scratch;
mod signal;
mod supervisor;
mod versions;
mod worker;

pub use cache::{CACHE_VARIABLE, Cache, Lock};
pub use capture::Captured;
pub use cargo::Cargo;
pub use child::{Finished, Spec, run};
pub use error::Error;
pub use harness::{Built, Dependency, Harness};
pub use launch::{EXECUTE, Entry, Launcher, SUPERVISE, WORKER, entry};
pub use limits::{Limits, limit_self};
pub use parent::{PARENT_VARIABLE, die_with_parent};
pub use process::End;
pub use scratch::Scratch;
pub use semver::Version;
pub use supervisor::supervise_main;
pub use versions::{Published, within};
pub use worker::{Deadlines, Ended, Received, Worker, WorkerSpec, alive, announce};
