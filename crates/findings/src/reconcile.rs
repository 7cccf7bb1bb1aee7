//! Directories and index made to agree when a store is opened. The directories are the truth: what
//! the index does not know is adopted, what has no directory any more is forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::directory::{self, FINDINGS, INCOMPLETE};
use crate::error::Error;
use crate::index::{INDEX, Index};
use crate::journal::{self, JOURNAL, Shown};
use crate::model::Finding;
use crate::untrusted;

/// No SQLite file is shorter than its header.
const HEADER: u64 = 100;

/// What had to be repaired when the store was opened. Empty after a clean end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Where the damaged index went.
    pub damaged_index: Option<PathBuf>,
    /// Whether the journal said what had been executed. If not, it is executed again.
    pub journal: bool,
    /// Findings that had a directory and no place in the index.
    pub adopted: Vec<String>,
    /// Findings whose directory somebody has removed.
    pub forgotten: Vec<String>,
    /// Directories that were never completed and are gone now.
    pub cleaned: Vec<String>,
    /// Directories that hold no readable finding, with the reason. They stay as they are.
    pub unreadable: Vec<String>,
}

/// Opens the index; a damaged one is moved aside first, and what had been executed is taken from the
/// journal. Returns which programs showed which findings, as far as the journal was needed.
pub(crate) fn open_index(
    root: &Path,
    recovery: &mut Recovery,
) -> Result<(Index, Vec<Shown>), Error> {
    let path = root.join(INDEX);
    let has_findings = !directories(&root.join(FINDINGS))?.is_empty();
    let has_journal = fs::symlink_metadata(root.join(JOURNAL)).is_ok();
    let is_known = has_findings || has_journal;
    let length = fs::symlink_metadata(&path).map(|file| file.len());
    // SQLite takes an empty file, and one of a single byte, for a new one.
    let is_emptied = is_known && length.as_ref().is_ok_and(|length| *length < HEADER);
    let is_lost = has_journal && length.is_err();
    if !is_emptied && !is_lost {
        match Index::open(&path).and_then(|index| index.findings().map(|_| index)) {
            Err(Error::Damaged { .. }) => {}
            // Beside our findings it was ours once.
            Err(Error::NotAStore { .. }) if is_known => {}
            other => return other.map(|index| (index, Vec::new())),
        }
    }
    if !is_lost {
        recovery.damaged_index = Some(move_aside(root)?);
    }
    let mut index = Index::open(&path)?;
    let Some(remembered) = journal::read(root)? else { return Ok((index, Vec::new())) };
    index.write(|write| {
        remembered.campaigns.iter().try_for_each(|campaign| write.import(campaign).map(drop))
    })?;
    recovery.journal = true;
    Ok((index, remembered.occurrences))
}

fn move_aside(root: &Path) -> Result<PathBuf, Error> {
    let free = (1..)
        .map(|number| format!("index.damaged-{number}.sqlite"))
        .find(|name| !root.join(name).exists());
    let aside = root.join(free.unwrap_or_default());
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let from = root.join(format!("{INDEX}{suffix}"));
        let to = PathBuf::from(format!("{}{suffix}", aside.display()));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::file("move", &from)(error));
            }
            _ => {}
        }
    }
    Ok(aside)
}

/// Makes the two agree and returns the findings.
pub(crate) fn reconcile(
    findings: &Path,
    index: &mut Index,
    shown: &[Shown],
    recovery: &mut Recovery,
) -> Result<BTreeMap<String, Finding>, Error> {
    let present = look(findings, recovery)?;
    let mut programs: BTreeMap<&str, BTreeSet<(u64, u64)>> = BTreeMap::new();
    for (finding, seed, program) in shown {
        programs.entry(finding).or_default().insert((*seed, *program));
    }
    let known: BTreeMap<String, Finding> =
        index.findings()?.into_iter().map(|finding| (finding.id.clone(), finding)).collect();
    let mut agreed = BTreeMap::new();
    for (id, finding) in &present {
        // The count in the directory is written now and then only.
        let shown = programs.get(id.as_str()).map_or(0, |programs| programs.len() as u64);
        let count = known.get(id).map_or(0, |known| known.count).max(finding.count).max(shown);
        agreed.insert(id.clone(), Finding { count, ..finding.clone() });
        if count > finding.count {
            directory::update(findings, id, count)?;
        }
    }
    let mut gone = Vec::new();
    for (id, finding) in &known {
        let directory = findings.join(id).symlink_metadata();
        if directory.is_ok_and(|directory| directory.is_dir()) {
            // It may be one that cannot be read now.
            agreed.entry(id.clone()).or_insert_with(|| finding.clone());
        } else {
            gone.push(id.clone());
        }
    }
    let changed: Vec<&Finding> =
        agreed.values().filter(|finding| known.get(&finding.id) != Some(*finding)).collect();
    if !changed.is_empty() || !gone.is_empty() {
        index.write(|write| {
            for finding in &changed {
                write.finding(finding)?;
                write.occurrence(&finding.id, finding.seed, finding.index)?;
                for (seed, program) in programs.get(finding.id.as_str()).into_iter().flatten() {
                    write.occurrence(&finding.id, *seed, *program)?;
                }
            }
            gone.iter().try_for_each(|id| write.forget(id))
        })?;
    }
    recovery.adopted.extend(present.into_keys().filter(|id| !known.contains_key(id)));
    recovery.forgotten.extend(gone);
    Ok(agreed)
}

/// The findings in the directories. Cleans what was never completed.
fn look(findings: &Path, recovery: &mut Recovery) -> Result<BTreeMap<String, Finding>, Error> {
    let mut present = BTreeMap::new();
    for path in directories(findings)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(INCOMPLETE) && untrusted::check_folder(&path).is_ok() {
            fs::remove_dir_all(&path).map_err(Error::file("remove", &path))?;
            recovery.cleaned.push(name);
            continue;
        }
        let read = untrusted::check_folder(&path).and_then(|()| directory::read(&path));
        match read {
            Ok(finding) if finding.id == name => drop(present.insert(name, finding)),
            Ok(finding) => {
                recovery.unreadable.push(format!("{name}: it calls itself {}", finding.id))
            }
            Err(error @ Error::OtherVersion { .. }) => return Err(error),
            Err(error) => recovery.unreadable.push(format!("{name}: {error}")),
        }
    }
    Ok(present)
}

/// The directories in the folder, sorted. Links are among them, so that they can be refused by name.
pub(crate) fn directories(findings: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(findings) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::file("read", findings)(error)),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths =
        paths.collect::<Result<Vec<PathBuf>, _>>().map_err(Error::file("read", findings))?;
    paths.retain(|path| {
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir() || metadata.is_symlink())
    });
    paths.sort();
    Ok(paths)
}
