//! The protocol over a server in memory, by a clock that the tests move: whatever happens, each campaign ends
//! with exactly what a campaign in one process executes, counts and finds.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was tested is said aloud")]

#[path = "../support/disk.rs"]
mod disk;
#[path = "../support/forged.rs"]
mod forged;
#[path = "../support/memory.rs"]
mod memory;
mod poison;
mod schedules;
#[path = "../support/simulation.rs"]
mod simulation;
#[path = "../support/virtual_clock.rs"]
mod virtual_clock;
