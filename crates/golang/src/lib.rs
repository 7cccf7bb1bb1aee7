#![doc = include_str!("../README.md")]

mod error;
mod extract;
mod go;
mod overlay;
mod tests;

pub use error::Error;
pub use extract::{
    About, Approximation, Assumption, Entry, ExtractOptions, Extraction, GoPosition, LoopInfo,
    Operations, Positions, extract,
};
pub use go::Go;
pub use overlay::{
    CASE_DEFAULT, Case, Channel, ClosedChannel, Direction, Failure, Goroutine, Held, LockOrder,
    Made, Object, Overlay, Pause, Select, Site, State, Status, Step, Trace, Wishes,
};
pub use tests::{Build, Built, Package, Request, Run, TestBinary, compile, packages};
