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
#[cfg(target_os = "linux")]
mod confine;
#[cfg(not(target_os = "linux"))]
#[path = "confine_elsewhere.rs"]
mod confine;
mod error;
mod harness;
mod launch;
mod limits;
#[cfg(target_os = "linux")]
mod loopback;
#[cfg(target_os = "linux")]
mod mounts;
mod parent;
mod process;
mod protocol;
mod sandbox;
mod scratch;
mod signal;
mod spawn_server;
mod spawner;
mod supervisor;
mod versions;
mod watch;
mod worker;

pub use cache::{CACHE_VARIABLE, Cache, Lock, source_key};
pub use capture::Captured;
pub use cargo::Cargo;
pub use child::{Finished, Spec, run};
pub use error::Error;
pub use harness::{Built, Dependency, Harness};
pub use launch::{EXECUTE, Entry, INIT, Launcher, PROBE, SERVE, SUPERVISE, WORKER, entry};
pub use limits::{Limits, limit_self};
pub use parent::{PARENT_VARIABLE, die_with_parent};
pub use process::End;
pub use sandbox::Sandbox;
pub use scratch::Scratch;
pub use semver::{BuildMetadata, Version};
pub use supervisor::supervise_main;
pub use versions::{Published, within};
pub use watch::{Resource, family_memory, machine_memory};
pub use worker::{Deadlines, Ended, Received, Worker, WorkerSpec, alive, announce};
