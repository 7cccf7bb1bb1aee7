//! What was executed, a second time: a text file to which one line is added before each commit to
//! the index. When the index is damaged, the journal says what had been executed, so that a campaign
//! resumes where it was.
//!
//! Each line is one [`Record`] as JSON. The journal is read when the index is lost, and only then; as
//! long as the index is sound, it is written anew from the index whenever a store is opened or
//! closed, so that it stays short. A line that cannot be read (the last one, after a kill) is left
//! out: what it says is executed again, and counts once.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::directory;
use crate::error::Error;
use crate::index::{CampaignId, Exported, Known, Total};
use crate::ranges::Ranges;
use crate::store::Batch;
use crate::untrusted;

/// The file's name.
pub const JOURNAL: &str = "journal.jsonl";

/// The longest journal that is read: about 100 bytes for each commit of a long campaign.
const LONGEST: u64 = 1 << 30;
/// The longest line that is read.
const LINE: u64 = 16 << 20;

/// The most occurrences in a line.
const SHOWN: usize = 10_000;

/// A program that showed a finding: the finding, the seed and the program's index.
pub(crate) type Shown = (String, u64, u64);

/// A line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Record {
    /// A campaign was begun.
    Campaign {
        /// How the following lines call it.
        id: i64,
        seed: u64,
        generator_version: u32,
        settings: String,
        started: String,
    },
    /// Programs were executed.
    Executed(Executed),
    /// Programs showed findings, whatever the campaign.
    Shown(Vec<Shown>),
}

/// Programs that were executed, and what they showed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Executed {
    campaign: i64,
    target: String,
    version: String,
    /// Intervals of indices.
    indices: Vec<Range<u64>>,
    programs: u64,
    runs: u64,
    /// How long the campaign had run by then.
    active_ms: u64,
    shown: Vec<Shown>,
}

/// What a journal says.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    /// The campaigns in the order in which they were begun.
    pub(crate) campaigns: Vec<Exported>,
    /// Which programs showed which findings.
    pub(crate) occurrences: Vec<Shown>,
}

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Writes the journal anew from what the index says, and opens it for what follows.
    pub(crate) fn renew(root: &Path, known: &Remembered) -> Result<Self, Error> {
        directory::replace(root, JOURNAL, &text(known))?;
        let path = root.join(JOURNAL);
        let file = untrusted::open_to_write(&path, OpenOptions::new().append(true))?;
        Ok(Journal { file, path })
    }

    /// Adds that a campaign was begun.
    pub(crate) fn begun(&mut self, id: CampaignId, known: &Known, now: &str) -> Result<(), Error> {
        self.add(&campaign(id.0, known, now))
    }

    /// Adds what was executed.
    pub(crate) fn executed(&mut self, batch: &Batch, active: Duration) -> Result<(), Error> {
        let discovered = batch.discoveries.iter();
        let discovered = discovered.map(|found| (found.id(), found.seed, found.index));
        let again = batch.occurrences.iter();
        let again = again.map(|shown| (shown.finding.clone(), shown.seed, shown.index));
        self.add(&Record::Executed(Executed {
            campaign: batch.campaign.0,
            target: batch.target.clone(),
            version: batch.version.clone(),
            indices: batch.executed.intervals().to_vec(),
            programs: batch.programs,
            runs: batch.runs,
            active_ms: milliseconds(active),
            shown: discovered.chain(again).collect(),
        }))
    }

    /// One write for a line, so that it is there as a whole or, at a full disk, in part.
    fn add(&mut self, record: &Record) -> Result<(), Error> {
        let mut line = line(record);
        // If the last line was cut short, this one is not glued to it.
        line.insert(0, b'\n');
        self.file.write_all(&line).map_err(Error::file("write", &self.path))
    }
}

fn campaign(id: i64, known: &Known, started: &str) -> Record {
    Record::Campaign {
        id,
        seed: known.seed,
        generator_version: known.generator_version,
        settings: known.settings.clone(),
        started: started.to_owned(),
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn line(record: &Record) -> Vec<u8> {
    // A record has only text keys and numbers, so this cannot fail.
    let mut line = serde_json::to_vec(record).unwrap_or_default();
    line.push(b'\n');
    line
}

fn text(known: &Remembered) -> Vec<u8> {
    let mut text = Vec::new();
    for exported in &known.campaigns {
        let id = exported.id;
        text.extend(line(&campaign(id, &exported.known, &exported.started)));
        let mut intervals: BTreeMap<(&str, &str), Vec<Range<u64>>> = BTreeMap::new();
        for (target, version, range) in &exported.executed {
            intervals.entry((target, version)).or_default().push(range.clone());
        }
        for ((target, version), indices) in intervals {
            text.extend(line(&Record::Executed(Executed {
                campaign: id,
                target: target.to_owned(),
                version: version.to_owned(),
                indices,
                active_ms: milliseconds(exported.active),
                ..Executed::default()
            })));
        }
        for (total, second) in &exported.progress {
            text.extend(line(&Record::Executed(Executed {
                campaign: id,
                target: total.target.clone(),
                version: total.version.clone(),
                programs: total.programs,
                runs: total.runs,
                active_ms: second.saturating_mul(1000),
                ..Executed::default()
            })));
        }
    }
    for shown in known.occurrences.chunks(SHOWN) {
        text.extend(line(&Record::Shown(shown.to_vec())));
    }
    text
}

/// Reads what the journal says; `None` if there is none.
pub(crate) fn read(root: &Path) -> Result<Option<Remembered>, Error> {
    let Some(file) = untrusted::open_below(root, Path::new(JOURNAL))? else { return Ok(None) };
    let failed = Error::file("read", &root.join(JOURNAL));
    let mut lines = BufReader::new(file.take(LONGEST));
    let mut reader = Reader::default();
    loop {
        let mut line = Vec::new();
        let length = (&mut lines).take(LINE).read_until(b'\n', &mut line).map_err(&failed)?;
        if length == 0 {
            break;
        }
        if let Ok(record) = serde_json::from_slice(&line) {
            reader.take(record);
        }
    }
    Ok(Some(reader.finish()))
}

/// What was read of a campaign.
struct Campaign {
    exported: Exported,
    executed: BTreeMap<(String, String), Ranges>,
}

#[derive(Default)]
struct Reader {
    campaigns: BTreeMap<i64, Campaign>,
    occurrences: Vec<Shown>,
}

impl Reader {
    fn take(&mut self, record: Record) {
        match record {
            Record::Shown(shown) => self.occurrences.extend(shown),
            Record::Campaign { id, seed, generator_version, settings, started } => {
                let exported = Exported {
                    id,
                    known: Known { seed, generator_version, settings },
                    started,
                    active: Duration::ZERO,
                    executed: Vec::new(),
                    progress: Vec::new(),
                };
                let campaign = Campaign { exported, executed: BTreeMap::new() };
                self.campaigns.entry(id).or_insert(campaign);
            }
            Record::Executed(executed) => self.take_executed(executed),
        }
    }

    fn take_executed(&mut self, read: Executed) {
        let Executed { campaign, target, version, indices, programs, runs, active_ms, shown } =
            read;
        self.occurrences.extend(shown);
        let Some(Campaign { exported, executed }) = self.campaigns.get_mut(&campaign) else {
            return;
        };
        exported.active = exported.active.max(Duration::from_millis(active_ms));
        let known = executed.entry((target.clone(), version.clone())).or_default();
        // A batch that failed and was put in again is in the journal twice.
        let is_known = !indices.is_empty()
            && indices.iter().all(|range| known.missing(range.clone()).is_empty());
        indices.into_iter().for_each(|range| known.insert(range));
        if !is_known && (programs > 0 || runs > 0) {
            let total = Total { target, version, programs, runs };
            exported.progress.push((total, active_ms / 1000));
        }
    }

    fn finish(self) -> Remembered {
        let finished = self.campaigns.into_values().map(|campaign| {
            let Campaign { mut exported, executed } = campaign;
            for ((target, version), ranges) in executed {
                let ranges = ranges.intervals().iter().cloned();
                let named = ranges.map(|range| (target.clone(), version.clone(), range));
                exported.executed.extend(named);
            }
            exported
        });
        Remembered { campaigns: finished.collect(), occurrences: self.occurrences }
    }
}
