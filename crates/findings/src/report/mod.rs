//! One self-contained page about a campaign: reads index and directories, writes HTML. The page needs
//! no network, no script to be read, and holds no text of a program or output that is not escaped.

mod highlight;
mod page;
mod plot;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use crate::directory::{self, FINDINGS, INCOMPLETE};
use crate::error::Error;
use crate::index::{INDEX, Index, Progress, Total};
use crate::model::Finding;
use crate::reconcile::directories;

/// How much of a file is shown.
const SHOWN: u64 = 24 * 1024;
/// How many findings are shown with their files.
const IN_FULL: usize = 300;

/// Everything the page shows.
#[derive(Debug, Default)]
struct Content {
    folder: String,
    findings: Vec<Shown>,
    totals: Vec<Total>,
    progress: Vec<Progress>,
    seeds: Vec<u64>,
    active: Duration,
    /// What the reader should know about what is missing.
    notes: Vec<String>,
}

/// A finding with what is shown of its files: names, texts, and whether the text was cut.
#[derive(Debug)]
struct Shown {
    finding: Finding,
    /// The path to replay, from where the user stands.
    place: String,
    files: Vec<(String, String, bool)>,
}

/// The page about the campaigns in a folder. It may be asked for while they run, and of a folder that
/// cannot be written to.
pub fn report(root: impl AsRef<Path>) -> Result<String, Error> {
    let root = root.as_ref();
    let (index, findings) = (root.join(INDEX), root.join(FINDINGS));
    if !index.exists() && !findings.is_dir() {
        return Err(Error::NoCampaign { path: root.to_owned() });
    }
    let mut content = Content { folder: root.display().to_string(), ..Content::default() };
    let mut counted = Vec::new();
    match read_index(&index, &mut content) {
        Ok(known) => counted = known,
        Err(error @ (Error::OtherVersion { .. } | Error::Locked { .. })) => return Err(error),
        Err(error) => {
            content.notes.push(format!("Only the finding directories could be read: {error}"))
        }
    }
    let counted = |id: &str| {
        counted
            .iter()
            .find(|finding: &&Finding| finding.id == id)
            .map_or(0, |finding| finding.count)
    };
    for path in directories(&findings)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(INCOMPLETE) {
            continue;
        }
        match directory::read(&path) {
            Ok(finding) => {
                // The index has the newer count.
                let finding = Finding { count: finding.count.max(counted(&finding.id)), ..finding };
                content.findings.push(Shown {
                    finding,
                    place: path.display().to_string(),
                    files: Vec::new(),
                });
            }
            Err(error) => content.notes.push(error.to_string()),
        }
    }
    content.findings.sort_by_key(|shown| {
        let Finding { kind, count, id, .. } = &shown.finding;
        (kind.rank(), kind.clone(), u64::MAX - count, id.clone())
    });
    for shown in content.findings.iter_mut().take(IN_FULL) {
        let place = findings.join(&shown.finding.id);
        shown.files = shown.finding.files.iter().filter_map(|name| excerpt(&place, name)).collect();
    }
    if content.findings.len() > IN_FULL {
        content.notes.push(format!(
            "The files of {} findings are not shown here; they are in their directories.",
            content.findings.len() - IN_FULL
        ));
    }
    Ok(page::render(&content))
}

/// Fills in what the index knows and returns its findings.
fn read_index(path: &Path, content: &mut Content) -> Result<Vec<Finding>, Error> {
    let index = Index::open_to_read(path)?;
    let findings = index.findings()?;
    content.totals = index.totals(None)?;
    content.progress = index.progress()?;
    for (_, seed, active) in index.campaigns()? {
        content.seeds.push(seed);
        content.active += active;
    }
    Ok(findings)
}

/// The beginning of a file. A name that leads out of the directory is not followed: `finding.json` may
/// come from somebody else.
fn excerpt(directory: &Path, name: &str) -> Option<(String, String, bool)> {
    let inside = name
        .split('/')
        .all(|part| !part.is_empty() && part != "." && part != ".." && !part.contains('\\'));
    let path = directory.join(name);
    let stays = path.canonicalize().ok()?.starts_with(directory.canonicalize().ok()?);
    if !inside || !stays {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(&path).ok()?.take(SHOWN + 1).read_to_end(&mut bytes).ok()?;
    let cut = bytes.len() as u64 > SHOWN;
    bytes.truncate(usize::try_from(SHOWN).unwrap_or(usize::MAX));
    Some((name.to_owned(), String::from_utf8_lossy(&bytes).into_owned(), cut))
}
