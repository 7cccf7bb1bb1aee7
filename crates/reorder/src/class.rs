//! What a team does about a finding: its class, how strong the evidence is, and what follows from both
//! for the exit code, for code scanning and for the order in which findings are shown.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strait_findings::Finding;

/// What kind of fault it is, as far as it matters for what to do about it. The order is that of
/// reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingClass {
    /// The test cannot finish, or goroutines wait for each other in a circle.
    Deadlock,
    /// A panic or a fatal error.
    Panic,
    /// Two goroutines use the same memory without an order between them.
    DataRace,
    /// Goroutines stay blocked forever in every undisturbed run.
    LeakInEveryRun,
    /// Goroutines stay blocked forever in some orders only.
    LeakInRareOrders,
    /// A test does not end, and it is not known that it is blocked.
    EndlessTest,
    /// Goroutines are left at the end of a test that can still go on, if only because their own timers
    /// wake them.
    LeftRunning,
    /// A test fails under some orders.
    DependsOnTime,
    /// Goroutines that wait on purpose.
    Intentional,
}

impl FindingClass {
    /// All of them.
    pub const ALL: [FindingClass; 9] = [
        FindingClass::Deadlock,
        FindingClass::Panic,
        FindingClass::DataRace,
        FindingClass::LeakInEveryRun,
        FindingClass::LeakInRareOrders,
        FindingClass::EndlessTest,
        FindingClass::LeftRunning,
        FindingClass::DependsOnTime,
        FindingClass::Intentional,
    ];

    /// The name for scripts, and the one that comments silence it by.
    pub fn name(self) -> &'static str {
        match self {
            FindingClass::Deadlock => "deadlock",
            FindingClass::Panic => "panic",
            FindingClass::DataRace => "data-race",
            FindingClass::LeakInEveryRun => "leak-in-every-run",
            FindingClass::LeakInRareOrders => "leak-in-rare-orders",
            FindingClass::EndlessTest => "endless-test",
            FindingClass::LeftRunning => "left-running",
            FindingClass::DependsOnTime => "depends-on-time",
            FindingClass::Intentional => "intentional",
        }
    }

    /// What it means, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            FindingClass::Deadlock => {
                "Goroutines wait for each other, or the test waits for what never comes."
            }
            FindingClass::Panic => "The program under test panicked or died of a fatal error.",
            FindingClass::DataRace => {
                "Two goroutines use the same memory without an order between them."
            }
            FindingClass::LeakInEveryRun => "A goroutine stays blocked forever in every run.",
            FindingClass::LeakInRareOrders => {
                "A goroutine stays blocked forever in some orders of messages only."
            }
            FindingClass::EndlessTest => "A test does not end.",
            FindingClass::LeftRunning => "A goroutine is left at the end of a test.",
            FindingClass::DependsOnTime => {
                "A test fails under some orders and passes under others."
            }
            FindingClass::Intentional => "A goroutine waits on purpose.",
        }
    }

    /// What a comment `//strait:ignore RULE reason` may call it: its name, a short name, and the
    /// property of `go verify` that the same fault breaks.
    pub fn rules(self) -> &'static [&'static str] {
        match self {
            FindingClass::Deadlock => &["deadlock", "blocking", "no-deadlock"],
            FindingClass::Panic => &["panic", "channel-safe", "mutex-safe", "waitgroup-safe"],
            FindingClass::DataRace => &["data-race"],
            FindingClass::LeakInEveryRun => &["leak-in-every-run", "leak", "blocking", "no-leak"],
            FindingClass::LeakInRareOrders => {
                &["leak-in-rare-orders", "leak", "blocking", "no-leak"]
            }
            FindingClass::EndlessTest => &["endless-test", "timeout"],
            FindingClass::LeftRunning => &["left-running"],
            FindingClass::DependsOnTime => &["depends-on-time"],
            FindingClass::Intentional => &["intentional"],
        }
    }
}

impl fmt::Display for FindingClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            FindingClass::Deadlock => "deadlock",
            FindingClass::Panic => "panic",
            FindingClass::DataRace => "data race",
            FindingClass::LeakInEveryRun => "leak in every run",
            FindingClass::LeakInRareOrders => "leak in rare orders only",
            FindingClass::EndlessTest => "test does not end",
            FindingClass::LeftRunning => "left running at the end of the test",
            FindingClass::DependsOnTime => "depends on time",
            FindingClass::Intentional => "intentional",
        })
    }
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// A fault that was shown: it fails the build.
    Error,
    /// Something that is likely a fault, or a fault that no undisturbed run can be shown to have.
    Warning,
    /// Nothing to act on.
    Note,
}

impl fmt::Display for FindingLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            FindingLevel::Error => "error",
            FindingLevel::Warning => "warning",
            FindingLevel::Note => "note",
        })
    }
}

/// In how many of how many undisturbed runs a finding showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndisturbedRuns {
    /// Runs that showed it.
    pub failed: u64,
    /// All of them.
    pub runs: u64,
}

/// All that is known about how much a finding matters. It is kept among the details of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// Its class.
    pub class: FindingClass,
    /// Was it proved by the collector, or did the runtime itself report it?
    pub certain: bool,
    /// Was it seen only where a select took a timeout although another case could go on?
    #[serde(default)]
    pub needs_timeout: bool,
    /// How often it showed in runs that nothing disturbs.
    #[serde(default)]
    pub undisturbed: UndisturbedRuns,
    /// Is the place to blame outside of test files?
    #[serde(default)]
    pub library: bool,
    /// Does a goroutine wait to send?
    #[serde(default)]
    pub sending: bool,
    /// Do goroutines of a library wait for their next message, as if it had not been closed?
    #[serde(default)]
    pub idle: bool,
    /// Was it asked for that nothing is left at the end of a test?
    #[serde(default)]
    pub lifecycle: bool,
}

impl Assessment {
    /// What the details of a finding say; `None` if they do not, such as those of a test that kills its
    /// supervisor.
    pub fn of(details: &BTreeMap<String, Value>) -> Option<Assessment> {
        let details = details.clone().into_iter().collect();
        serde_json::from_value(Value::Object(details)).ok()
    }

    /// How serious it is. What is likely counts as an error if an undisturbed run has shown it.
    pub fn level(&self) -> FindingLevel {
        match self.class {
            FindingClass::DependsOnTime | FindingClass::Intentional => FindingLevel::Note,
            // If it was asked for, a second run has shown it.
            FindingClass::LeftRunning if self.lifecycle => FindingLevel::Error,
            FindingClass::LeftRunning => FindingLevel::Warning,
            FindingClass::EndlessTest => FindingLevel::Warning,
            _ if self.needs_timeout => FindingLevel::Warning,
            _ if self.certain || self.undisturbed.failed > 0 => FindingLevel::Error,
            _ => FindingLevel::Warning,
        }
    }

    /// The order of reports: library code before tests, then by class (every run before rare orders),
    /// what is certain before what is likely, and goroutines that wait to send before others. What
    /// looks as if a test forgot to close something comes last.
    ///
    /// The smaller the number, the more it matters; it is kept among the details of a finding for pages
    /// that know nothing of classes.
    pub fn weight(&self) -> u64 {
        let note = self.level() == FindingLevel::Note;
        let class = FindingClass::ALL.iter().position(|class| *class == self.class);
        let parts = [
            (u64::from(note), 1),
            (u64::from(self.idle), 1),
            (u64::from(!self.library), 1),
            (class.unwrap_or_default() as u64, 4),
            (u64::from(self.needs_timeout), 1),
            (u64::from(!self.certain), 1),
            (u64::from(!self.sending), 1),
        ];
        parts.into_iter().fold(0, |weight, (part, bits)| weight << bits | part)
    }
}

/// Sorts findings by how much they matter. Those without an assessment come first.
pub fn sort_by_weight(findings: &mut [Finding]) {
    findings.sort_by_cached_key(|finding| Assessment::of(&finding.details).map(|one| one.weight()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use FindingClass::*;
    use FindingLevel::*;

    fn assessment(class: FindingClass) -> Assessment {
        Assessment {
            class,
            certain: true,
            needs_timeout: false,
            undisturbed: UndisturbedRuns::default(),
            library: false,
            sending: false,
            idle: false,
            lifecycle: false,
        }
    }

    #[test]
    fn the_level_follows_class_and_evidence() {
        let seen = UndisturbedRuns { failed: 1, runs: 4 };
        // Class, certain, needs a timeout, undisturbed runs that showed it.
        let table = [
            (Deadlock, true, false, 0, Error),
            (LeakInEveryRun, true, false, 4, Error),
            (LeakInRareOrders, true, false, 0, Error),
            (LeakInRareOrders, false, false, 0, Warning),
            (LeakInRareOrders, false, false, 1, Error),
            (LeakInRareOrders, true, true, 0, Warning),
            (Panic, true, false, 0, Error),
            (Panic, true, true, 0, Warning),
            (DataRace, true, false, 0, Error),
            (EndlessTest, false, false, 0, Warning),
            (EndlessTest, false, false, 1, Warning),
            (LeftRunning, true, false, 4, Warning),
            (DependsOnTime, false, false, 0, Note),
            (Intentional, true, false, 4, Note),
        ];
        for row @ (class, certain, needs_timeout, failed, level) in table {
            let undisturbed = UndisturbedRuns { failed, ..seen };
            let one = Assessment { certain, needs_timeout, undisturbed, ..assessment(class) };
            assert_eq!(one.level(), level, "{row:?}");
        }
        let asked = Assessment { lifecycle: true, certain: false, ..assessment(LeftRunning) };
        assert_eq!(asked.level(), Error);
    }

    #[test]
    fn library_code_and_every_run_come_first() {
        let order = [
            Assessment { library: true, ..assessment(Deadlock) },
            Assessment { library: true, sending: true, ..assessment(LeakInEveryRun) },
            Assessment { library: true, ..assessment(LeakInEveryRun) },
            Assessment { library: true, ..assessment(LeakInRareOrders) },
            Assessment { library: true, certain: false, ..assessment(LeakInRareOrders) },
            assessment(Deadlock),
            assessment(LeakInEveryRun),
            assessment(LeakInRareOrders),
            assessment(LeftRunning),
            Assessment { library: true, idle: true, ..assessment(LeakInEveryRun) },
            Assessment { library: true, ..assessment(Intentional) },
        ];
        assert!(order.iter().map(Assessment::weight).is_sorted());
    }

    #[test]
    fn names_are_those_of_the_details() {
        for class in FindingClass::ALL {
            assert_eq!(serde_json::json!(class), class.name(), "{class}");
            assert_eq!(class.rules()[0], class.name());
        }
    }
}
