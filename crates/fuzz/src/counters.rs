//! What a campaign has done so far, to be looked at while it runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident by $add:ident,)*) => {
        /// Counts that only grow.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($name: AtomicU64,)*
        }

        impl Counters {
            $($(#[$doc])* pub fn $name(&self) -> u64 { self.$name.load(Ordering::Relaxed) })*
        }

        impl Counters {
            /// All counts by name; they are zero again.
            pub(crate) fn take(&self) -> BTreeMap<String, u64> {
                let all = [$((stringify!($name), self.$name.swap(0, Ordering::Relaxed))),*];
                let counted = all.into_iter().filter(|(_, count)| *count > 0);
                counted.map(|(name, count)| (name.to_owned(), count)).collect()
            }

            /// Adds counts of another machine. What it counts and we do not is left out.
            pub(crate) fn absorb(&self, counts: &BTreeMap<String, u64>) {
                $(let more = counts.get(stringify!($name)).copied().unwrap_or(0);
                self.$name.fetch_add(more, Ordering::Relaxed);)*
            }
        }

        impl Tick for Counters {
            $(fn $add(&self, more: u64) { self.$name.fetch_add(more, Ordering::Relaxed); })*
        }

        impl Tick for Both<'_> {
            $(fn $add(&self, more: u64) {
                self.0.$add(more);
                self.1.$add(more);
            })*
        }

        /// The campaign's side: adds.
        pub(crate) trait Tick {
            $(fn $add(&self, more: u64);)*
        }
    };
}

counters! {
    /// Programs that ran.
    programs by programs_ran,
    /// Runs that they had.
    runs by runs_had,
    /// Distinct faults.
    findings by findings_found,
    /// Programs that showed a fault.
    faults by faults_shown,
    /// Records that could be neither explained nor refuted.
    undecided by left_undecided,
    /// Programs that were none for their target: faults of Strait.
    astray by went_astray,
    /// Suspected hangs that did not show again.
    dropped by hangs_dropped,
    /// Nanoseconds spent on making programs.
    generating by time_generating,
    /// Nanoseconds spent on judging what was seen.
    judging by time_judging,
    /// Nanoseconds that workers spent on running programs.
    running by time_running,
}

/// Counters that move together.
pub(crate) struct Both<'a>(pub(crate) &'a Counters, pub(crate) &'a Counters);

/// Time as the counters hold it.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
