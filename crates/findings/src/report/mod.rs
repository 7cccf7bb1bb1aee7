//! One self-contained page about a campaign: reads index and directories, writes HTML. The page needs
//! no network, no script to be read, and holds no text of a program or output that is not escaped.

mod highlight;
mod page;
mod plot;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::directory::{self, FINDINGS, INCOMPLETE};
use crate::error::Error;
use crate::index::{INDEX, Index, Progress, Total};
use crate::model::Finding;
use crate::reconcile::directories;
use crate::untrusted;

/// How much of a file is shown.
const SHOWN: u64 = 24 * 1024;
/// How many findings are shown with their files.
const IN_FULL: usize = 300;
/// How many files of a finding are shown.
const FILES: usize = 50;

/// Everything the page shows.
#[derive(Debug, Default)]
struct Content {
    folder: String,
    findings: Vec<Shown>,
    totals: Vec<Total>,
    progress: Vec<Progress>,
    seeds: Vec<u64>,
    active: Duration,
    unit: Unit,
    /// What the reader should know about what is missing.
    notes: Vec<String>,
}

/// What a campaign runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unit {
    #[default]
    Programs,
    /// Tests of Go packages.
    Tests,
}

impl Unit {
    /// What the campaigns of a folder run, by their settings: programs, unless all of them run tests.
    fn of(settings: &[String]) -> Self {
        let is_go = |settings: &String| {
            let settings: Option<Value> = serde_json::from_str(settings).ok();
            settings.is_some_and(|settings| settings["kind"] == "go")
        };
        match settings {
            [] => Unit::Programs,
            settings if settings.iter().all(is_go) => Unit::Tests,
            _ => Unit::Programs,
        }
    }

    fn one(self) -> &'static str {
        match self {
            Unit::Programs => "program",
            Unit::Tests => "test",
        }
    }

    /// What they belong to.
    fn targets(self) -> &'static str {
        match self {
            Unit::Programs => "Targets",
            Unit::Tests => "Packages",
        }
    }

    fn many(self) -> &'static str {
        match self {
            Unit::Programs => "programs",
            Unit::Tests => "tests",
        }
    }
}

/// A finding with what is shown of its files: names, texts, and whether the text was cut.
#[derive(Debug)]
struct Shown {
    finding: Finding,
    /// The path to replay, from where the user stands.
    place: PathBuf,
    files: Vec<(String, String, bool)>,
}

/// The file's name.
pub const REPORT: &str = "report.html";

/// A page that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// What could not be read and is missing on the page, each with the reason.
    pub missing: Vec<String>,
}

/// Writes the page about the campaigns in a folder into that folder.
pub fn write_report(root: &Path) -> Result<Written, Error> {
    let content = content(root)?;
    directory::replace(root, REPORT, page::render(&content).as_bytes())?;
    Ok(Written { path: root.join(REPORT), missing: content.notes })
}

/// The page about the campaigns in a folder. It may be asked for while they run, and of a folder that
/// cannot be written to.
pub fn report(root: impl AsRef<Path>) -> Result<String, Error> {
    content(root.as_ref()).map(|content| page::render(&content))
}

fn content(root: &Path) -> Result<Content, Error> {
    let (index, findings) = (root.join(INDEX), root.join(FINDINGS));
    if !index.exists() && !findings.is_dir() {
        return Err(Error::NoCampaign { path: root.to_owned() });
    }
    untrusted::check_folder(&findings)?;
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
        let read = untrusted::check_folder(&path).and_then(|()| directory::read(&path));
        match read {
            Ok(finding) => {
                // The index has the newer count.
                let finding = Finding { count: finding.count.max(counted(&finding.id)), ..finding };
                let place = path.clone();
                content.findings.push(Shown { finding, place, files: Vec::new() });
            }
            Err(error) => content.notes.push(error.to_string()),
        }
    }
    content.findings.sort_by_key(|shown| {
        let Finding { kind, count, id, .. } = &shown.finding;
        (weight(&shown.finding), kind.rank(), kind.clone(), u64::MAX - count, id.clone())
    });
    for shown in content.findings.iter_mut().take(IN_FULL) {
        for name in shown.finding.files.iter().take(FILES) {
            match excerpt(&shown.place, name) {
                Ok(file) => shown.files.extend(file),
                Err(error) => content.notes.push(error.to_string()),
            }
        }
    }
    if content.findings.len() > IN_FULL {
        content.notes.push(format!(
            "The files of {} findings are not shown here; they are in their directories.",
            content.findings.len() - IN_FULL
        ));
    }
    Ok(content)
}

/// How early a finding is shown, if the campaign says so: the smaller, the earlier.
fn weight(finding: &Finding) -> u64 {
    finding.details.get("weight").and_then(Value::as_u64).unwrap_or_default()
}

/// Fills in what the index knows and returns its findings.
fn read_index(path: &Path, content: &mut Content) -> Result<Vec<Finding>, Error> {
    let index = Index::open_to_read(path)?;
    let findings = index.findings()?;
    content.totals = index.totals(None)?;
    content.progress = index.progress()?;
    let mut all_settings = Vec::new();
    for (seed, active, settings) in index.campaigns()? {
        content.seeds.push(seed);
        content.active = content.active.saturating_add(active);
        all_settings.push(settings);
    }
    content.unit = Unit::of(&all_settings);
    Ok(findings)
}

/// The beginning of a file; `None` if there is none.
fn excerpt(directory: &Path, name: &str) -> Result<Option<(String, String, bool)>, Error> {
    let read = untrusted::read_beginning(directory, Path::new(name), SHOWN)?;
    let excerpt = |(bytes, cut): (Vec<u8>, bool)| {
        (name.to_owned(), String::from_utf8_lossy(&bytes).into_owned(), cut)
    };
    Ok(read.map(excerpt))
}
