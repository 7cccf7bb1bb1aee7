//! The store's side: what threads or machines bring is put into the store about once a second, and at
//! once when something was found. What was executed and what it found go in together.

use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use strait_findings::{Batch, CampaignId, Discovery, Occurrence, Recorded, Store};

use crate::embedded::TargetPart;
use crate::error::Error;
use crate::job::TargetVersion;
use crate::source::Part;

/// Between two commits when nothing is found.
const INTERVAL: Duration = Duration::from_secs(1);
/// Between two calls of the function that looks meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// Puts results into the store.
pub struct Ledger<'a> {
    store: &'a mut Store,
    id: CampaignId,
    targets: &'a [TargetVersion],
    /// Hears of every fault that was not known before, with the number of the target that showed it.
    found: &'a mut dyn FnMut(usize, &Recorded, &Discovery),
    pending: BTreeMap<usize, (Part, Vec<Occurrence>)>,
    committed: Instant,
}

impl<'a> Ledger<'a> {
    /// For a campaign in a store.
    pub fn new(
        store: &'a mut Store,
        id: CampaignId,
        targets: &'a [TargetVersion],
        found: &'a mut dyn FnMut(usize, &Recorded, &Discovery),
    ) -> Self {
        Ledger { store, id, targets, found, pending: BTreeMap::new(), committed: Instant::now() }
    }

    /// The store, for questions.
    pub fn store(&self) -> &Store {
        self.store
    }

    /// Takes in what threads bring until the last of them is gone. `look` is called all the time.
    pub fn write(
        &mut self,
        receiver: &Receiver<TargetPart>,
        look: &mut dyn FnMut(),
    ) -> Result<(), Error> {
        loop {
            let wait = INTERVAL.saturating_sub(self.committed.elapsed());
            let brought = receiver.recv_timeout(wait.min(LOOK));
            look();
            match brought {
                Ok((target, part)) => self.add(target, part, Vec::new())?,
                Err(RecvTimeoutError::Timeout) => self.commit_if_due()?,
                Err(RecvTimeoutError::Disconnected) => return self.commit(),
            }
        }
    }

    /// Takes in what was done of a target, and which known faults it showed besides.
    pub fn add(
        &mut self,
        target: usize,
        part: Part,
        occurrences: Vec<Occurrence>,
    ) -> Result<(), Error> {
        let has_news = !part.discoveries.is_empty();
        let entry = self.pending.entry(target).or_default();
        entry.0.add(part);
        entry.1.extend(occurrences);
        if has_news { self.commit() } else { self.commit_if_due() }
    }

    /// Commits if the last time was long ago.
    pub fn commit_if_due(&mut self) -> Result<(), Error> {
        if self.committed.elapsed() >= INTERVAL { self.commit() } else { Ok(()) }
    }

    /// Commits all there is.
    pub fn commit(&mut self) -> Result<(), Error> {
        for (target, (part, occurrences)) in std::mem::take(&mut self.pending) {
            self.commit_target(target, part, occurrences)?;
        }
        self.committed = Instant::now();
        Ok(())
    }

    fn commit_target(
        &mut self,
        number: usize,
        part: Part,
        occurrences: Vec<Occurrence>,
    ) -> Result<(), Error> {
        let TargetVersion { target, version } = &self.targets[number];
        let mut batch = Batch::new(self.id, target, version, 0..0).runs(part.runs);
        batch.programs = part.programs;
        batch.executed = part.indices;
        batch.discoveries = part.discoveries;
        batch.occurrences = occurrences;
        let recorded = self.store.commit(&batch)?;
        let mut told = HashSet::new();
        for (recorded, discovery) in recorded.iter().zip(&batch.discoveries) {
            if recorded.new && told.insert(recorded.id.clone()) {
                (self.found)(number, recorded, discovery);
            }
        }
        Ok(())
    }
}
