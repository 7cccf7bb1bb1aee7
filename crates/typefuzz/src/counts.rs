//! The names under which a campaign against typecheckers counts.

use std::collections::BTreeMap;

/// Programs that the first oracle accepted.
pub const ACCEPTED: &str = "accepted";
/// Indices without a program: the search gave up, or nothing could be rewritten.
pub const SKIPPED: &str = "skipped";
/// What stands before the name of a known class of differences.
const KNOWN: &str = "known ";

/// The name under which differences of a known class are counted.
pub(crate) fn known(class: &str) -> String {
    format!("{KNOWN}{class}")
}

/// The known classes among all counts.
pub fn known_classes(counts: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let class =
        |(name, count): (&String, &u64)| Some((name.strip_prefix(KNOWN)?.to_owned(), *count));
    counts.iter().filter_map(class).collect()
}
