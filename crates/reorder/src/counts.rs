//! The names under which a campaign over Go tests counts.

/// Runs by the virtual clock.
pub const VIRTUAL_RUNS: &str = "virtual runs";
