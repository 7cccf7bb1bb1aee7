//! One file a subcommand: its arguments, help and handler together.

pub mod completions;
pub mod explore;
mod explore_text;
pub mod r#gen;
mod gen_stats;
mod graphs;
