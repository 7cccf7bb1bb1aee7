//! Test packages: found by `go list`, compiled once each with the overlay, run many times.

mod compile;
mod packages;
mod run;

pub use compile::{Build, Built, compile};
pub use packages::{Package, packages};
pub use run::{Request, Run, TestBinary};
