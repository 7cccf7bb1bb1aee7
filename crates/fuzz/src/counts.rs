//! The names under which a campaign against channel runtimes counts.

/// Programs that showed a fault.
pub const FAULTS: &str = "faults";
/// Records that could be neither explained nor refuted.
pub const UNDECIDED: &str = "undecided";
/// Programs that were not valid for their target: faults of Strait.
pub const ASTRAY: &str = "astray";
/// Suspected hangs that did not show again.
pub const DROPPED: &str = "dropped";
/// Nanoseconds spent on making programs.
pub const GENERATING: &str = "generating";
/// Nanoseconds spent on judging what was seen.
pub const JUDGING: &str = "judging";
/// Nanoseconds that worker processes spent on running programs.
pub const RUNNING: &str = "running";
/// Applications of a rule of the generator; the rule's name follows.
pub const RULE: &str = "rule ";
