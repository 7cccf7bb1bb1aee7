//! The store of a campaign: the one way in. What was executed and what it found go in together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::clock;
use crate::directory::{self, FINDINGS};
use crate::error::Error;
use crate::group;
use crate::index::{CampaignId, Exported, Index, Known, Total};
use crate::journal::{Journal, Remembered};
use crate::model::{Discovery, FORMAT, Finding};
use crate::ranges::Ranges;
use crate::reconcile::{self, Recovery};
use crate::untrusted;

const LOCK: &str = "lock";
/// Keeps a folder that Strait has made out of version control.
const IGNORE: &str = ".gitignore";

/// A piece of work that is done: which programs ran, and what they showed.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The campaign.
    pub campaign: CampaignId,
    /// The target.
    pub target: String,
    /// Its version.
    pub version: String,
    /// The indices that are finished and need not be executed again.
    pub executed: Ranges,
    /// How many programs ran.
    pub programs: u64,
    /// How many runs they had.
    pub runs: u64,
    /// What they showed.
    pub discoveries: Vec<Discovery>,
    /// What else they showed, of findings that are known by then.
    pub occurrences: Vec<Occurrence>,
}

/// A program that showed a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The finding's name.
    pub finding: String,
    /// The program's seed.
    pub seed: u64,
    /// Its index.
    pub index: u64,
}

impl Batch {
    /// Each index ran once.
    pub fn new(
        campaign: CampaignId,
        target: impl Into<String>,
        version: impl Into<String>,
        executed: Range<u64>,
    ) -> Self {
        let programs = executed.end.saturating_sub(executed.start);
        let (target, version) = (target.into(), version.into());
        Batch {
            campaign,
            target,
            version,
            executed: Ranges::from_iter([executed]),
            programs,
            runs: programs,
            discoveries: Vec::new(),
            occurrences: Vec::new(),
        }
    }

    /// Sets the number of runs.
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = runs;
        self
    }

    /// Adds what was found.
    pub fn found(mut self, discovery: Discovery) -> Self {
        self.discoveries.push(discovery);
        self
    }
}

/// A discovery that is in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The finding it belongs to.
    pub id: String,
    /// Its directory.
    pub directory: PathBuf,
    /// Whether this fault was not known before.
    pub new: bool,
    /// How many programs have shown it by now.
    pub count: u64,
}

/// An open store. There is one at a time for a folder; readers need none.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    index: Index,
    journal: Journal,
    findings: BTreeMap<String, Finding>,
    /// Those that were there when it was opened.
    known_before: BTreeSet<String>,
    /// Those that were shown since, new or not.
    shown: BTreeSet<String>,
    /// When each campaign was taken up, and how long it had run before.
    taken_up: BTreeMap<CampaignId, (Instant, Duration)>,
    recovery: Recovery,
    /// Dropped last, when nothing is written any more.
    _lock: Lock,
}

impl Store {
    /// Opens the store in a folder, or makes one. Whatever an earlier run left unfinished is put in
    /// order; [`Store::recovery`] says what that was.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, Error> {
        let root = root.as_ref();
        let findings = root.join(FINDINGS);
        untrusted::check_folder(&findings)?;
        let is_new_folder = !root.exists();
        fs::create_dir_all(&findings).map_err(Error::file("make", &findings))?;
        if is_new_folder {
            // A folder that the user made may hold other things, which version control has to see.
            let path = root.join(IGNORE);
            fs::write(&path, "*\n").map_err(Error::file("write", &path))?;
        }
        let lock = lock(root)?;
        let mut recovery = Recovery::default();
        let (mut index, shown) = reconcile::open_index(root, &mut recovery)?;
        let findings = reconcile::reconcile(&findings, &mut index, &shown, &mut recovery)?;
        let journal = Journal::renew(root, &remembered(&index)?)?;
        Ok(Store {
            root: root.to_owned(),
            index,
            journal,
            known_before: findings.keys().cloned().collect(),
            shown: BTreeSet::new(),
            findings,
            taken_up: BTreeMap::new(),
            recovery,
            _lock: lock,
        })
    }

    /// What had to be repaired.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Begins a campaign, or takes up the one with the same seed, generator and settings (any text
    /// that decides what an index means, such as the weights).
    pub fn campaign(
        &mut self,
        seed: u64,
        generator_version: u32,
        settings: &str,
    ) -> Result<CampaignId, Error> {
        let now = clock::now();
        let id =
            self.index.write(|write| write.campaign(seed, generator_version, settings, &now))?;
        let known = Known { seed, generator_version, settings: settings.to_owned() };
        self.journal.begun(id, &known, &now)?;
        let before = self.index.active(id)?;
        self.taken_up.entry(id).or_insert((Instant::now(), before));
        Ok(id)
    }

    /// What the campaign that was begun last in this folder was begun with.
    pub fn last_campaign(&self) -> Result<Option<Known>, Error> {
        self.index.last_campaign()
    }

    /// How long a campaign has run, all its sessions together.
    pub fn active(&self, campaign: CampaignId) -> Duration {
        self.taken_up
            .get(&campaign)
            .map_or(Duration::ZERO, |(since, before)| *before + since.elapsed())
    }

    /// Which indices are finished.
    pub fn executed(
        &self,
        campaign: CampaignId,
        target: &str,
        version: &str,
    ) -> Result<Ranges, Error> {
        self.index.executed(campaign, target, version)
    }

    /// What a campaign has done so far, all its sessions together.
    pub fn totals(&self, campaign: CampaignId) -> Result<Vec<Total>, Error> {
        self.index.totals(Some(campaign))
    }

    /// All findings, by name.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.values()
    }

    /// Findings that were there when the store was opened.
    pub(crate) fn known_before(&self) -> &BTreeSet<String> {
        &self.known_before
    }

    /// Findings that were shown since the store was opened, new or not.
    pub(crate) fn shown(&self) -> &BTreeSet<String> {
        &self.shown
    }

    /// Findings that programs of a campaign's seed have shown, whenever that was.
    pub(crate) fn shown_by(&self, campaign: CampaignId) -> Result<BTreeSet<String>, Error> {
        self.index.shown_by(campaign)
    }

    /// The directory of a finding.
    pub fn directory(&self, id: &str) -> PathBuf {
        self.root.join(FINDINGS).join(id)
    }

    /// Puts in what was executed and what it found, all or nothing: after an error, or when killed in
    /// the middle, the same batch can be put in again and counts once.
    pub fn commit(&mut self, batch: &Batch) -> Result<Vec<Recorded>, Error> {
        let active = self.active(batch.campaign);
        let folder = self.root.join(FINDINGS);
        let mut fresh = Vec::new();
        for discovery in &batch.discoveries {
            let id = discovery.id();
            if !self.findings.contains_key(&id)
                && !fresh.iter().any(|finding: &Finding| finding.id == id)
            {
                let files = directory::files(discovery);
                let finding = finding(discovery, &files, active);
                directory::write(&folder, &finding, &files)?;
                fresh.push(finding);
            }
        }
        self.journal.executed(batch, active)?;
        let touched = self.write_index(batch, &fresh, active)?;
        let mut recorded = Vec::new();
        for discovery in &batch.discoveries {
            let id = discovery.id();
            let count = touched.get(&id).map_or(0, |finding| finding.count);
            let new = fresh.iter().any(|finding| finding.id == id);
            recorded.push(Recorded { directory: self.directory(&id), id, new, count });
        }
        self.shown.extend(touched.keys().cloned());
        for (id, finding) in touched {
            // Every time would be slow for a fault that shows all the time. If it fails, the index has
            // the count, and the directory gets it when the store is closed or opened again.
            if finding.count > 1 && finding.count.is_power_of_two() {
                let _ = directory::update(&folder, &id, finding.count);
            }
            self.findings.insert(id, finding);
        }
        Ok(recorded)
    }

    /// Returns the findings that the batch has touched, with their new counts.
    fn write_index(
        &mut self,
        batch: &Batch,
        fresh: &[Finding],
        active: Duration,
    ) -> Result<BTreeMap<String, Finding>, Error> {
        let known = &self.findings;
        self.index.write(|write| {
            let mut touched = BTreeMap::new();
            for finding in fresh {
                write.finding(finding)?;
                touched.insert(finding.id.clone(), Finding { count: 0, ..finding.clone() });
            }
            for discovery in &batch.discoveries {
                let id = discovery.id();
                let first = write.occurrence(&id, discovery.seed, discovery.index)?;
                let finding = touched.entry(id).or_insert_with_key(|id| known[id].clone());
                finding.count = finding.count.saturating_add(u64::from(first));
            }
            for Occurrence { finding: id, seed, index } in &batch.occurrences {
                let here = touched.get(id).or_else(|| known.get(id)).cloned();
                let Some(mut finding) = here else { continue };
                let is_first = write.occurrence(id, *seed, *index)?;
                finding.count = finding.count.saturating_add(u64::from(is_first));
                touched.insert(id.clone(), finding);
            }
            touched.values().try_for_each(|finding| write.finding(finding))?;
            for range in batch.executed.intervals() {
                write.executed(batch.campaign, &batch.target, &batch.version, range.clone())?;
            }
            let (target, version) = (batch.target.clone(), batch.version.clone());
            let total = Total { target, version, programs: batch.programs, runs: batch.runs };
            write.progress(batch.campaign, &total, active)?;
            Ok(touched)
        })
    }

    /// Puts in what another store knows; how many campaigns that brought forward.
    pub(crate) fn import(
        &mut self,
        campaigns: &[Exported],
        fresh: &[Finding],
        occurrences: &[(String, u64, u64)],
    ) -> Result<usize, Error> {
        let known = &self.findings;
        let (brought, touched) = self.index.write(|write| {
            let mut touched: BTreeMap<String, Finding> = BTreeMap::new();
            for finding in fresh {
                let finding = Finding { count: 0, ..finding.clone() };
                write.finding(&finding)?;
                touched.insert(finding.id.clone(), finding);
            }
            let is_here = |id: &String| {
                known.contains_key(id) || fresh.iter().any(|finding| finding.id == *id)
            };
            for (id, seed, program) in occurrences.iter().filter(|(id, ..)| is_here(id)) {
                let is_first = write.occurrence(id, *seed, *program)?;
                let here = touched.get(id).or_else(|| known.get(id)).filter(|_| is_first);
                if let Some(finding) = here.cloned() {
                    let count = finding.count.saturating_add(1);
                    touched.insert(id.clone(), Finding { count, ..finding });
                }
            }
            touched.values().try_for_each(|finding| write.finding(finding))?;
            let mut brought = 0;
            for campaign in campaigns {
                brought += usize::from(write.import(campaign)?);
            }
            Ok((brought, touched))
        })?;
        self.findings.extend(touched);
        self.journal = Journal::renew(&self.root, &remembered(&self.index)?)?;
        Ok(brought)
    }

    /// Ends well: every directory has its count, and the index is one file.
    pub fn close(self) -> Result<(), Error> {
        let folder = self.root.join(FINDINGS);
        for finding in self.findings.values().filter(|finding| finding.count > 1) {
            directory::update(&folder, &finding.id, finding.count)?;
        }
        Journal::renew(&self.root, &remembered(&self.index)?)?;
        self.index.close()
    }
}

/// What the index knows, for the journal.
fn remembered(index: &Index) -> Result<Remembered, Error> {
    Ok(Remembered { campaigns: index.export()?, occurrences: index.occurrences()? })
}

fn finding(discovery: &Discovery, files: &[(String, Vec<u8>)], active: Duration) -> Finding {
    Finding {
        format: FORMAT,
        id: discovery.id(),
        kind: discovery.kind.clone(),
        target: discovery.target.clone(),
        version: discovery.version.clone(),
        title: discovery.title.clone(),
        seed: discovery.seed,
        index: discovery.index,
        generator_version: discovery.generator_version,
        count: 1,
        failed: discovery.failed,
        runs: discovery.runs,
        first_seen: clock::now(),
        found_after: active.as_secs(),
        group: discovery.group(),
        fingerprint: group::normalise(&discovery.fingerprint),
        explanation: discovery.explanation.clone(),
        reproduce: directory::reproduce(&discovery.replay_arguments),
        files: files.iter().map(|(path, _)| path.clone()).collect(),
        details: discovery.details.clone(),
    }
}

/// A lock that is released when dropped. To close the file is not enough: a child that another thread
/// is just starting has the file as well, until it becomes its program.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // If it fails, closing the file does it a moment later.
        let _ = self.0.unlock();
    }
}

/// How often the lock is tried again: a process that was killed while it started a child holds the lock until
/// the child has become its program.
const TRIES: u32 = 30;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Keeps every other Strait from writing here. The system releases it however this process ends.
fn lock(root: &Path) -> Result<Lock, Error> {
    let path = root.join(LOCK);
    let failed = Error::file("lock", &path);
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    let mut file = untrusted::open_to_write(&path, &mut options)?;
    let mut locked = file.try_lock();
    for _ in 0..TRIES {
        if !matches!(locked, Err(TryLockError::WouldBlock)) {
            break;
        }
        std::thread::sleep(BETWEEN_TRIES);
        locked = file.try_lock();
    }
    match locked {
        Ok(()) => {
            // Only for the message that others get.
            let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            Ok(Lock(file))
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.take(20).read_to_string(&mut holder);
            let holder = Some(holder).filter(|holder| holder.parse::<u32>().is_ok());
            Err(Error::InUse { path: root.to_owned(), holder })
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}
