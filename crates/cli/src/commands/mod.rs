//! One file a subcommand: its arguments, help and handler together.

pub mod completions;
mod excerpt;
pub mod explore;
mod explore_json;
mod explore_story;
mod explore_text;
mod explore_verify;
pub mod fuzz;
mod fuzz_summary;
pub mod r#gen;
mod gen_stats;
pub mod go;
pub mod go_fuzz;
mod go_sarif;
mod go_summary;
mod go_verify;
mod graphs;
pub mod man;
pub mod merge;
pub mod reduce;
pub mod replay;
pub mod report;
pub mod targets;
mod verify_report;
mod verify_sarif;
mod verify_text;
