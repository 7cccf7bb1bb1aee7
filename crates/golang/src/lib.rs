#![doc = include_str!("../README.md")]

mod error;
mod go;
mod overlay;
mod tests;

pub use error::Error;
pub use go::Go;
pub use overlay::{
    CASE_DEFAULT, Case, Channel, Direction, Goroutine, Held, Made, Object, Overlay, Select, Site,
    State, Status, Step, Trace, Wishes,
};
pub use tests::{Build, Built, Package, Request, Run, TestBinary, compile, packages};
