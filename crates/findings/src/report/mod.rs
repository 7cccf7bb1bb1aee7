//! One self-contained page about a campaign: reads index and directories, writes HTML. The page needs
//! no network, no script to be read, and holds no text of a program or output that is not escaped.

mod about;
mod compare;
mod diff;
mod finding;
mod highlight;
mod page;
mod plot;
mod source;
mod tables;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use strait_diagram::{Diagram, PERFETTO_FILE};

use crate::directory::{self, FINDINGS, INCOMPLETE};
use crate::error::Error;
use crate::index::{INDEX, Index, Progress, Total};
use crate::model::Finding;
use crate::reconcile::directories;
use crate::session::{SessionRecord, sessions};
use crate::untrusted;

pub use compare::Changes;

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
    sessions: Vec<SessionRecord>,
    /// What this is compared with.
    earlier: Option<compare::Earlier>,
    /// What the reader should know about what is missing.
    notes: Vec<String>,
}

/// What a campaign runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unit {
    #[default]
    Programs,
    /// Programs for typecheckers.
    Types,
    /// Tests of Go packages.
    Tests,
}

impl Unit {
    /// What the campaigns of a folder run, by their settings: programs, unless all are of one other kind.
    fn of(settings: &[String]) -> Self {
        let kind = |settings: &String| {
            let settings: Option<Value> = serde_json::from_str(settings).ok();
            settings.and_then(|settings| Some(settings["kind"].as_str()?.to_owned()))
        };
        let is_all = |name: &str| {
            !settings.is_empty() && settings.iter().all(|one| kind(one).as_deref() == Some(name))
        };
        match (is_all("go"), is_all("types")) {
            (true, _) => Unit::Tests,
            (_, true) => Unit::Types,
            _ => Unit::Programs,
        }
    }

    fn one(self) -> &'static str {
        match self {
            Unit::Programs | Unit::Types => "program",
            Unit::Tests => "test",
        }
    }

    /// What they belong to.
    fn targets(self) -> &'static str {
        match self {
            Unit::Programs => "Targets",
            Unit::Types => "Typecheckers",
            Unit::Tests => "Packages",
        }
    }

    fn many(self) -> &'static str {
        match self {
            Unit::Programs | Unit::Types => "programs",
            Unit::Tests => "tests",
        }
    }
}

/// The beginning of a file.
#[derive(Debug)]
struct FileText {
    name: String,
    text: String,
    is_cut: bool,
}

/// A finding with what is shown of its files.
#[derive(Debug)]
struct Shown {
    finding: Finding,
    /// The path to replay, from where the user stands.
    place: PathBuf,
    files: Vec<FileText>,
    diagram: Option<Diagram>,
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
    /// What has changed since the earlier campaign, if there is one.
    pub changes: Option<Changes>,
}

/// Writes the page about the campaigns in a folder into that folder, compared with an earlier one if that is named.
pub fn write_report(root: &Path, against: Option<&Path>) -> Result<Written, Error> {
    let content = content(root, against)?;
    directory::replace(root, REPORT, page::render(&content).as_bytes())?;
    let changes = content.earlier.as_ref().map(|earlier| earlier.changes(&content));
    Ok(Written { path: root.join(REPORT), missing: content.notes, changes })
}

/// The page about the campaigns in a folder. It may be asked for while they run, and of a folder that
/// cannot be written to.
pub fn report(root: impl AsRef<Path>) -> Result<String, Error> {
    content(root.as_ref(), None).map(|content| page::render(&content))
}

fn content(root: &Path, against: Option<&Path>) -> Result<Content, Error> {
    let (index, findings) = (root.join(INDEX), root.join(FINDINGS));
    if !index.exists() && !findings.is_dir() {
        return Err(Error::NoCampaign { path: root.to_owned() });
    }
    untrusted::check_folder(&findings)?;
    let mut content = Content { folder: root.display().to_string(), ..Content::default() };
    content.earlier = against.map(compare::Earlier::read).transpose()?;
    match sessions(root) {
        Ok(sessions) => content.sessions = sessions,
        Err(error) => content.notes.push(error.to_string()),
    }
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
                let (files, diagram) = (Vec::new(), None);
                content.findings.push(Shown { finding, place, files, diagram });
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
        // The picture is drawn again from what it says: a picture from elsewhere could do anything.
        let has_diagram = shown.finding.files.iter().any(|name| name == PERFETTO_FILE);
        if has_diagram && let Ok(Some(text)) = untrusted::read_below(&shown.place, PERFETTO_FILE) {
            shown.diagram = Diagram::from_json(&text).ok();
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
fn excerpt(directory: &Path, name: &str) -> Result<Option<FileText>, Error> {
    let read = untrusted::read_beginning(directory, Path::new(name), SHOWN)?;
    let excerpt = |(bytes, is_cut): (Vec<u8>, bool)| FileText {
        name: name.to_owned(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        is_cut,
    };
    Ok(read.map(excerpt))
}
