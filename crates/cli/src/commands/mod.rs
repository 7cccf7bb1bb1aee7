//! One file or one folder per subcommand: its arguments, help and handler together.

pub mod ci;
pub mod completions;
mod diagrams;
pub mod emit;
pub mod explore;
pub mod fixed;
pub mod fuzz;
pub mod r#gen;
pub mod go;
mod graphs;
pub mod man;
pub mod merge;
pub mod queue;
pub mod reduce;
pub mod replay;
pub mod report;
pub mod targets;
mod trust;
pub mod types;
mod verify;
pub mod worker;
