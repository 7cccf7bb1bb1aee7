//! The runs of all tests as indices of a store, so that a campaign is resumed at the runs that are missing. A
//! lane is a package; an index is a test of it, a subtest and a run.

use std::collections::BTreeMap;

use strait_findings::{CampaignId, Ranges, Store};
use strait_queue::TargetVersion;

use crate::discover::version_of;
use crate::error::Error;
use crate::prepare::Prepared;
use crate::subject::{Subject, by_package};

/// Runs of a test that can be told apart.
const RUNS: u64 = 1 << 32;
/// Subtests of a test that can be told apart, and the test itself.
const SUBTESTS: u64 = 1 << 6;

/// Where the runs of each test are.
#[derive(Debug)]
pub struct RunIndices {
    lanes: Vec<TargetVersion>,
    /// Lane and number of each top-level test, by package and name.
    tests: BTreeMap<(String, String), (usize, u64)>,
    /// What earlier sessions have done of each lane.
    executed: Vec<Ranges>,
}

impl RunIndices {
    /// All tests that are prepared. If the campaign is resumed, what the store has is done.
    pub fn new(
        prepared: &Prepared,
        store: &Store,
        id: CampaignId,
        is_resumed: bool,
    ) -> Result<Self, Error> {
        let version = version_of(&prepared.go);
        let (mut lanes, mut tests, mut executed) = (Vec::new(), BTreeMap::new(), Vec::new());
        for (lane, (package, subjects)) in by_package(&prepared.subjects).into_iter().enumerate() {
            let done = match is_resumed {
                true => store.executed(id, &package, &version)?,
                false => Ranges::default(),
            };
            executed.push(done);
            for (number, subject) in (0..).zip(subjects) {
                tests.insert((package.clone(), subject.test), (lane, number));
            }
            lanes.push(TargetVersion { target: package, version: version.clone() });
        }
        Ok(RunIndices { lanes, tests, executed })
    }

    /// The packages.
    pub(crate) fn lanes(&self) -> &[TargetVersion] {
        &self.lanes
    }

    /// The lane of a test.
    pub(crate) fn lane(&self, subject: &Subject) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.target == subject.tests.package.path)
    }

    /// The lane and the first index of a test.
    fn first(&self, subject: &Subject) -> Option<(usize, u64)> {
        let test = subject.test.split('/').next().unwrap_or_default();
        let key = (subject.tests.package.path.clone(), test.to_owned());
        let (lane, number) = *self.tests.get(&key)?;
        Some((lane, (number * SUBTESTS + u64::from(subject.subtest)) * RUNS))
    }

    /// The lane and the index of a run.
    pub(crate) fn index(&self, subject: &Subject, run: u64) -> Option<(usize, u64)> {
        let (lane, first) = self.first(subject)?;
        Some((lane, first + run.min(RUNS - 1)))
    }

    /// The runs of a test that earlier sessions have made.
    pub(crate) fn done(&self, subject: &Subject) -> Ranges {
        let Some((lane, first)) = self.first(subject) else { return Ranges::default() };
        let of_test = self.executed[lane].intervals().iter().filter_map(|range| {
            let (start, end) = (range.start.max(first), range.end.min(first + RUNS));
            (start < end).then(|| start - first..end - first)
        });
        of_test.collect()
    }
}
