//! What is left to say about a campaign over Go tests at its end, besides findings; and the same as notes, as
//! they travel with the results of a test.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strait_findings::Kind;
use strait_toolchain::Resource;

use crate::class::FindingClass;
use crate::judge::{Certainty, Suspicion};

/// A test that fails under disturbance, without evidence of a concurrency bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensitive {
    /// The test.
    pub test: String,
    /// Its package.
    pub package: String,
    /// What it said.
    pub said: String,
    /// Under what.
    pub plan: String,
}

/// A run in which the overlay crashed or blocked: a fault of Strait, not of the test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InternalError {
    /// The test.
    pub test: String,
    /// Its package.
    pub package: String,
    /// What happened.
    pub what: String,
    /// The number of the run within the test.
    pub run: u64,
    /// Its plan and its clock.
    pub plan: String,
    /// The beginning of what it wrote to stderr.
    pub output: String,
}

impl fmt::Display for InternalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InternalError { test, package, what, run, plan, .. } = self;
        write!(
            formatter,
            "internal error in run {run} of {package} {test} ({plan}): {what}; this is a fault of \
             Strait and not of the test, please report it"
        )
    }
}

/// What was done for a package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackageRuns {
    /// Tests, subtests included.
    pub tests: u64,
    /// Runs, confirmations left out.
    pub runs: u64,
}

/// What is left to say at the end, besides findings.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Tests that took part, subtests included.
    pub tests: u64,
    /// Tests that fail without any disturbance.
    pub failing: Vec<String>,
    /// Tests that end the process.
    pub exiting: Vec<String>,
    /// Tests that do not go with the virtual clock.
    pub real_time: Vec<String>,
    /// Tests that depend on time.
    pub sensitive: Vec<Sensitive>,
    /// Goroutines that may be blocked forever, or idle by design.
    pub suspects: Vec<(String, Suspicion)>,
    /// Runs in which the overlay failed, one per test.
    pub internal_errors: Vec<InternalError>,
    /// Tests that were ended because they used too much of something, and were not run again.
    pub over_limit: Vec<(String, Resource)>,
    /// Every test has had its runs.
    pub complete: bool,
    /// Tests of a campaign in a queue that were done in an earlier session.
    pub earlier: u64,
    /// Tests that no worker of the queue did before the end.
    pub undone: Vec<String>,
    /// Tests that had no run before the end.
    pub not_run: Vec<String>,
    /// Circles of locks that no run has closed, with the test that showed them.
    pub predicted: Vec<(String, Vec<String>)>,
    /// What was done for each package.
    pub by_package: BTreeMap<String, PackageRuns>,
}

/// What a worker has to say about a test besides findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Note {
    /// It fails without any disturbance.
    Failing(String),
    /// It ends the process.
    Exiting(String),
    /// It does not go with the virtual clock.
    RealTime(String),
    /// It depends on time.
    Sensitive(Sensitive),
    /// A goroutine may be blocked forever, or idle by design.
    Suspect { test: String, title: String, locations: Vec<String> },
    /// The overlay failed.
    InternalError(InternalError),
    /// It used too much of something.
    OverLimit(String, Resource),
    /// It takes locks in a circle that no run has closed.
    Predicted(String, Vec<String>),
}

impl Ended {
    /// What there is to say, as notes.
    pub(crate) fn notes(&self) -> Vec<Value> {
        let tests = |tests: &[String], note: fn(String) -> Note| -> Vec<Note> {
            tests.iter().cloned().map(note).collect()
        };
        let suspect = |(test, suspect): &(String, Suspicion)| Note::Suspect {
            test: test.clone(),
            title: suspect.title.clone(),
            locations: suspect.locations.clone(),
        };
        let notes = [
            tests(&self.failing, Note::Failing),
            tests(&self.exiting, Note::Exiting),
            tests(&self.real_time, Note::RealTime),
            self.sensitive.iter().cloned().map(Note::Sensitive).collect(),
            self.suspects.iter().map(suspect).collect(),
            self.internal_errors.iter().cloned().map(Note::InternalError).collect(),
            self.predicted.iter().cloned().map(|(test, of)| Note::Predicted(test, of)).collect(),
            self.over_limit.iter().cloned().map(|(test, of)| Note::OverLimit(test, of)).collect(),
        ];
        notes.into_iter().flatten().map(|note| json!(note)).collect()
    }

    /// Adds what came of a test elsewhere. What another version of Strait might say is left out.
    pub(crate) fn add_notes(&mut self, notes: &[Value]) {
        for note in notes.iter().filter_map(|note| Note::deserialize(note).ok()) {
            match note {
                Note::Failing(test) => self.failing.push(test),
                Note::Exiting(test) => self.exiting.push(test),
                Note::RealTime(test) => self.real_time.push(test),
                Note::Sensitive(one) => self.sensitive.push(one),
                Note::InternalError(one) => self.internal_errors.push(one),
                Note::Predicted(test, story) => self.predicted.push((test, story)),
                Note::OverLimit(test, resource) => self.over_limit.push((test, resource)),
                Note::Suspect { test, title, locations } => {
                    if !self.suspects.iter().any(|(_, one)| one.locations == locations) {
                        self.suspects.push((test, suspicion(title, locations)));
                    }
                }
            }
        }
    }
}

fn suspicion(title: String, locations: Vec<String>) -> Suspicion {
    let class = FindingClass::LeftRunning;
    let mut suspicion = Suspicion::new(Kind::BLOCKING, class, Certainty::Suspect, title);
    suspicion.locations = locations;
    suspicion
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_elsewhere_is_said_here() {
        let test = |name: &str| (name.to_owned(), "m/p".to_owned());
        let (sensitive, failed) = (test("TestC"), test("TestD"));
        let ended = Ended {
            internal_errors: vec![InternalError {
                test: failed.0,
                package: failed.1,
                what: "the Go runtime crashed".to_owned(),
                run: 4,
                plan: "seed 3".to_owned(),
                output: "fatal error".to_owned(),
            }],
            predicted: vec![("m/p TestF".to_owned(), vec!["a waits for b".to_owned()])],
            over_limit: vec![("m/p TestE".to_owned(), Resource::Memory)],
            failing: vec!["m/p TestA".to_owned()],
            exiting: vec!["m/p TestB".to_owned()],
            real_time: vec!["m/p TestB".to_owned(), "m/p TestC/x".to_owned()],
            sensitive: vec![Sensitive {
                test: sensitive.0,
                package: sensitive.1,
                said: "c_test.go:7: \"too late\"".to_owned(),
                plan: "seed 3".to_owned(),
            }],
            suspects: vec![(
                "m/p TestA".to_owned(),
                suspicion("a goroutine".to_owned(), vec!["a.go:3".to_owned()]),
            )],
            ..Ended::default()
        };
        let notes = ended.notes();
        let mut merged = Ended::default();
        merged.add_notes(&notes);
        merged.add_notes(&[json!({ "of another version": 1 })]);
        assert_eq!(format!("{merged:?}"), format!("{ended:?}"));
        // The same places again are one suspect.
        merged.add_notes(&notes);
        assert_eq!((merged.suspects.len(), merged.failing.len()), (1, 2));
    }
}
