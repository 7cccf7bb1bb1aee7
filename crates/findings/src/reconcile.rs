//! Directories and index made to agree when a store is opened. The directories are the truth: what
//! the index does not know is adopted, what has no directory any more is forgotten.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::directory::{self, FINDINGS, INCOMPLETE};
use crate::error::Error;
use crate::index::{INDEX, Index};
use crate::model::Finding;

/// No SQLite file is shorter than its header.
const HEADER: u64 = 100;

/// What had to be repaired when the store was opened. Empty after a clean end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Where the damaged index went. What had been executed is not known any more: it is repeated.
    pub damaged_index: Option<PathBuf>,
    /// Findings that had a directory and no place in the index.
    pub adopted: Vec<String>,
    /// Findings whose directory somebody has removed.
    pub forgotten: Vec<String>,
    /// Directories that were never completed and are gone now.
    pub cleaned: Vec<String>,
    /// Directories that hold no readable finding, with the reason. They stay as they are.
    pub unreadable: Vec<String>,
}

/// Opens the index; a damaged one is moved aside first.
pub(crate) fn open_index(root: &Path, recovery: &mut Recovery) -> Result<Index, Error> {
    let path = root.join(INDEX);
    let has_findings = !directories(&root.join(FINDINGS))?.is_empty();
    // SQLite takes an empty file, and one of a single byte, for a new one.
    let emptied = has_findings && fs::metadata(&path).is_ok_and(|file| file.len() < HEADER);
    if !emptied {
        match Index::open(&path) {
            Err(Error::Damaged { .. }) => {}
            // Beside our findings it was ours once.
            Err(Error::NotAStore { .. }) if has_findings => {}
            other => return other,
        }
    }
    recovery.damaged_index = Some(move_aside(root)?);
    Index::open(&path)
}

fn move_aside(root: &Path) -> Result<PathBuf, Error> {
    let free = (1..)
        .map(|number| format!("index.damaged-{number}.sqlite"))
        .find(|name| !root.join(name).exists());
    let aside = root.join(free.unwrap_or_default());
    for suffix in ["", "-wal", "-shm"] {
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
    recovery: &mut Recovery,
) -> Result<BTreeMap<String, Finding>, Error> {
    let present = look(findings, recovery)?;
    let known: BTreeMap<String, Finding> =
        index.findings()?.into_iter().map(|finding| (finding.id.clone(), finding)).collect();
    let mut agreed = BTreeMap::new();
    for (id, finding) in &present {
        // The count in the directory is written now and then only.
        let count = known.get(id).map_or(0, |known| known.count).max(finding.count);
        agreed.insert(id.clone(), Finding { count, ..finding.clone() });
        if count > finding.count {
            directory::update(findings, id, count)?;
        }
    }
    let mut gone = Vec::new();
    for (id, finding) in &known {
        if findings.join(id).exists() {
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
        if name.starts_with(INCOMPLETE) {
            fs::remove_dir_all(&path).map_err(Error::file("remove", &path))?;
            recovery.cleaned.push(name);
            continue;
        }
        match directory::read(&path) {
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

/// The directories in the folder, sorted.
pub(crate) fn directories(findings: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(findings) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::file("read", findings)(error)),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths =
        paths.collect::<Result<Vec<PathBuf>, _>>().map_err(Error::file("read", findings))?;
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}
