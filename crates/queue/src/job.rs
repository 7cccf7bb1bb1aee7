//! What travels through a queue: a campaign ([`Job`]), a piece of its work ([`Item`]) and what came out
//! of that ([`Report`]). [`crate::message`] says how each is written and read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strait_findings::{Discovery, Occurrence};

use crate::error::Error;

/// The version of everything here. Grows when an older Strait could not take part any more.
pub const PROTOCOL: u32 = 5;

/// A target and its version, as the store knows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetVersion {
    /// The target.
    pub target: String,
    /// Its version.
    pub version: String,
}

/// A campaign, as workers see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// A name that no other campaign has.
    pub id: String,
    /// Which part of Strait does the work: `fuzz`, `types`, `go`.
    pub kind: String,
    /// How long a worker may be silent before its work goes to another.
    pub lease_ms: u64,
    /// What the targets of items are.
    pub targets: Vec<TargetVersion>,
    /// How many indices each target has.
    pub counts: Vec<u64>,
    /// What the indices mean; for the part that does the work.
    pub settings: Value,
}

impl Job {
    /// A new campaign; `id` is a name that no other has.
    pub fn new(
        id: String,
        kind: &str,
        lease: Duration,
        targets: Vec<TargetVersion>,
        counts: Vec<u64>,
        settings: &impl Serialize,
    ) -> Result<Self, Error> {
        Ok(Job {
            id,
            kind: kind.to_owned(),
            lease_ms: u64::try_from(lease.as_millis()).unwrap_or(u64::MAX),
            targets,
            counts,
            settings: serde_json::to_value(settings).map_err(Error::Settings)?,
        })
    }

    /// Its settings, for the kind of campaign that it is.
    pub fn settings<S: DeserializeOwned>(&self) -> Result<S, Error> {
        let settings = serde_json::from_value(self.settings.clone());
        settings.map_err(|error| self.not_here(format!("its settings are not ours ({error})")))
    }

    /// This machine cannot take part in it.
    pub fn not_here(&self, why: String) -> Error {
        Error::CannotServe { job: self.id.clone(), why }
    }

    /// How long a worker may be silent.
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms.max(1))
    }
}

/// A piece of work: some indices of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Which target.
    pub target: usize,
    /// The first index.
    pub start: u64,
    /// The first index that does not belong to it.
    pub end: u64,
}

impl Item {
    /// Its indices.
    pub fn indices(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Its name, also that of the message: the same work has the same name.
    pub fn name(&self, job: &str) -> String {
        format!("{job}.{}.{}.{}", self.target, self.start, self.end)
    }
}

/// What came out of an item, or was found in it before it is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) item: Item,
    /// Is the item done?
    pub(crate) whole: bool,
    pub(crate) programs: u64,
    pub(crate) runs: u64,
    pub(crate) spent_ms: u64,
    pub(crate) counts: BTreeMap<String, u64>,
    #[serde(default)]
    pub(crate) notes: Vec<Value>,
    /// Faults that were shown: which, and by which programs.
    pub(crate) shown: Vec<Shown>,
    /// Faults of which the reader may not know yet, and the object that describes each.
    pub(crate) parcels: Vec<(String, String)>,
    /// Who did it, for people.
    pub(crate) worker: String,
}

/// A fault that programs showed. A message has to hold all that an item shows, so it is told shortly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shown {
    pub(crate) finding: String,
    pub(crate) seed: u64,
    pub(crate) indices: Vec<u64>,
}

impl Shown {
    /// What these show, each fault once.
    pub(crate) fn all(discoveries: &[Discovery]) -> Vec<Shown> {
        let mut all: BTreeMap<(String, u64), Vec<u64>> = BTreeMap::new();
        for discovery in discoveries {
            all.entry((discovery.id(), discovery.seed)).or_default().push(discovery.index);
        }
        all.into_iter().map(|((finding, seed), indices)| Shown { finding, seed, indices }).collect()
    }

    /// The same as the store takes it.
    pub(crate) fn occurrences(&self) -> impl Iterator<Item = Occurrence> {
        let Shown { finding, seed, indices } = self;
        let occurrence = |index| Occurrence { finding: finding.clone(), seed: *seed, index };
        indices.iter().copied().map(occurrence)
    }
}
