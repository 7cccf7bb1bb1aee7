//! A finding's directory: written beside its place, made durable, then renamed into it, so that it
//! is there complete or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strait_diagram::Diagram;

use crate::error::Error;
use crate::model::{Discovery, FORMAT, Finding};
use crate::readme::readme;
use crate::replay::REDUCED;
use crate::text;
use crate::untrusted;

/// The folder of the finding directories, inside that of the campaign.
pub const FINDINGS: &str = "findings";

/// What the name of a directory starts with as long as it is incomplete.
pub(crate) const INCOMPLETE: &str = ".incomplete-";

const JSON: &str = "finding.json";
const README: &str = "README.md";
/// The program as it was found.
pub(crate) const PROGRAM: &str = "program.strait";
/// The files with the diagram.
const DIAGRAMS: [&str; 3] =
    [strait_diagram::SVG_FILE, strait_diagram::PERFETTO_FILE, strait_diagram::SHIVIZ_FILE];
/// The most that is kept of an output.
const OUTPUT: usize = 512 * 1024;

/// The command that shows a finding again, from inside its directory.
pub(crate) fn reproduce(arguments: &[String]) -> String {
    let words = arguments.iter().map(|word| format!(" {}", text::shell_word(word)));
    format!("strait replay .{}", words.collect::<String>())
}

/// The files of a discovery, besides `finding.json` and `README.md`: paths and contents.
pub(crate) fn files(discovery: &Discovery) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    if let Some(program) = &discovery.program {
        files.push((PROGRAM.to_owned(), program.clone().into_bytes()));
    }
    for (name, source) in &discovery.sources {
        let mut path = format!("source/{}", text::file_name(name));
        // Two names may have become one.
        while files.iter().any(|(taken, _)| *taken == path) {
            path.push('_');
        }
        files.push((path, source.clone().into_bytes()));
    }
    if !discovery.output.is_empty() {
        files.push(("output.txt".to_owned(), text::bounded(&discovery.output, OUTPUT)));
    }
    let values =
        [("schedule.json", &discovery.schedule), ("observation.json", &discovery.observation)];
    for (name, value) in values {
        files.extend(value.as_ref().map(|value| (name.to_owned(), pretty(value))));
    }
    // A discovery may come through a queue: what is malformed is not drawn.
    if let Some(diagram) = discovery.diagram.as_ref().filter(|one| one.check().is_ok()) {
        let drawn = strait_diagram::files(diagram);
        files.extend(drawn.map(|(name, text)| (name.to_owned(), text.into_bytes())));
    }
    files
}

fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Writes a directory and returns its path. If it is there already, it stays as it is.
pub(crate) fn write(
    findings: &Path,
    finding: &Finding,
    files: &[(String, Vec<u8>)],
) -> Result<PathBuf, Error> {
    let place = findings.join(&finding.id);
    if place.join(JSON).is_file() {
        return Ok(place);
    }
    let incomplete = findings.join(format!("{INCOMPLETE}{}", finding.id));
    let written = fill(&incomplete, finding, files).and_then(|()| {
        fs::rename(&incomplete, &place).map_err(Error::file("write", &place))?;
        sync_folder(findings)
    });
    if written.is_err() {
        // What is left of it takes room that others need; if that fails too, the next start does it.
        let _ = fs::remove_dir_all(&incomplete);
    }
    written.map(|()| place)
}

fn fill(directory: &Path, finding: &Finding, files: &[(String, Vec<u8>)]) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(Error::file("remove", directory)(error));
        }
        _ => {}
    }
    fs::create_dir_all(directory).map_err(Error::file("make", directory))?;
    for (path, content) in files {
        let path = directory.join(path);
        if let Some(parent) = path.parent().filter(|parent| *parent != directory) {
            fs::create_dir_all(parent).map_err(Error::file("make", parent))?;
        }
        untrusted::create(&path, content)?;
    }
    let program = files.iter().find(|(path, _)| path == PROGRAM);
    let program = program.map(|(_, text)| String::from_utf8_lossy(text));
    let page = readme(finding, program.as_deref(), None);
    untrusted::create(&directory.join(README), page.as_bytes())?;
    untrusted::create(&directory.join(JSON), &json(finding))?;
    let source = directory.join("source");
    if source.is_dir() {
        sync_folder(&source)?;
    }
    sync_folder(directory)
}

/// Copies a finding's directory from another store. If it is there already, it stays as it is.
pub(crate) fn copy(from: &Path, findings: &Path, id: &str) -> Result<(), Error> {
    let place = findings.join(id);
    if place.join(JSON).is_file() {
        return Ok(());
    }
    let incomplete = findings.join(format!("{INCOMPLETE}{id}"));
    let copied = copy_files(from, &incomplete).and_then(|()| {
        fs::rename(&incomplete, &place).map_err(Error::file("write", &place))?;
        sync_folder(findings)
    });
    if copied.is_err() {
        let _ = fs::remove_dir_all(&incomplete);
    }
    copied
}

/// Every file is looked at before the first one is copied.
fn copy_files(from: &Path, to: &Path) -> Result<(), Error> {
    let names = untrusted::files_below(from)?;
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(Error::file("remove", to)(error));
        }
        _ => fs::create_dir_all(to).map_err(Error::file("make", to))?,
    }
    let mut folders = BTreeSet::from([to.to_owned()]);
    for name in names {
        // It may have been removed since.
        let Some(content) = untrusted::read_below(from, &name)? else { continue };
        let target = to.join(&name);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(Error::file("make", parent))?;
            folders.insert(parent.to_owned());
        }
        untrusted::create(&target, &content)?;
    }
    folders.iter().try_for_each(|folder| sync_folder(folder))
}

/// Writes a new count into `finding.json`. The rest stays as it is there: somebody may have added to
/// it.
pub(crate) fn update(findings: &Path, id: &str, count: u64) -> Result<(), Error> {
    let directory = findings.join(id);
    let finding = read(&directory)?;
    replace(&directory, JSON, &json(&Finding { count, ..finding }))
}

/// Adds a file to a finding, such as a reduced program, or replaces it. The name is made safe; its
/// final form is returned.
pub fn attach(directory: &Path, name: &str, content: &[u8]) -> Result<String, Error> {
    let mut finding = read(directory)?;
    let name = text::file_name(name);
    if [JSON, README].contains(&name.as_str()) {
        let reason = format!("{name} cannot be replaced by an attachment");
        return Err(Error::NotAFinding { path: directory.join(&name), reason });
    }
    replace(directory, &name, content)?;
    if !finding.files.contains(&name) {
        finding.files.push(name.clone());
        replace(directory, JSON, &json(&finding))?;
    }
    Ok(name)
}

/// Adds a folder with files to a finding, or replaces the files in it. Paths are those below the folder.
pub fn attach_files(
    directory: &Path,
    folder: &str,
    files: &[(String, String)],
) -> Result<(), Error> {
    let mut finding = read(directory)?;
    for (path, content) in files {
        let parts: Vec<String> =
            [folder].into_iter().chain(path.split('/')).map(text::file_name).collect();
        let name = parts.join("/");
        // No folder on the way may lead elsewhere.
        let mut parent = directory.to_owned();
        for part in &parts[..parts.len() - 1] {
            parent.push(part);
            untrusted::check_folder(&parent)?;
            if !parent.is_dir() {
                fs::create_dir(&parent).map_err(Error::file("make", &parent))?;
            }
        }
        untrusted::create(&directory.join(&name), content.as_bytes())?;
        if !finding.files.contains(&name) {
            finding.files.push(name);
        }
    }
    replace(directory, JSON, &json(&finding))
}

/// What is said of a finding whose program has become smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewording {
    /// The smaller program.
    pub program: String,
    /// One line for people.
    pub title: String,
    /// Why this is a fault, with lines of the smaller program.
    pub explanation: String,
    /// In how many runs of the smaller program the fault showed.
    pub failed: u64,
    /// Of how many.
    pub runs: u64,
    /// The execution of the smaller program that shows it.
    pub diagram: Option<Diagram>,
}

/// Attaches the smaller program to a finding and lets title, explanation and `README.md` speak of it.
/// What the finding is grouped by stays.
pub fn reword(directory: &Path, rewording: &Rewording) -> Result<(), Error> {
    attach(directory, REDUCED, rewording.program.as_bytes())?;
    replace_diagram(directory, rewording.diagram.as_ref())?;
    let finding = Finding {
        title: rewording.title.clone(),
        explanation: rewording.explanation.clone(),
        failed: rewording.failed,
        runs: rewording.runs,
        ..read(directory)?
    };
    let program = untrusted::read_text(directory, PROGRAM)?;
    let page = readme(&finding, program.as_deref(), Some(&rewording.program));
    replace(directory, README, page.as_bytes())?;
    replace(directory, JSON, &json(&finding))
}

/// Replaces the diagram of a finding; one that speaks of another program is removed.
fn replace_diagram(directory: &Path, diagram: Option<&Diagram>) -> Result<(), Error> {
    if let Some(diagram) = diagram {
        for (name, text) in strait_diagram::files(diagram) {
            attach(directory, name, text.as_bytes())?;
        }
        return Ok(());
    }
    let mut finding = read(directory)?;
    let known = finding.files.len();
    finding.files.retain(|name| !DIAGRAMS.contains(&name.as_str()));
    if finding.files.len() < known {
        replace(directory, JSON, &json(&finding))?;
        for name in DIAGRAMS {
            // One that cannot be removed is not shown any more.
            let _ = fs::remove_file(directory.join(name));
        }
    }
    Ok(())
}

/// Puts a file in the place of another, so that readers see the one or the other.
pub(crate) fn replace(directory: &Path, name: &str, content: &[u8]) -> Result<(), Error> {
    let incomplete = directory.join(format!("{INCOMPLETE}{name}"));
    let place = directory.join(name);
    let written = untrusted::create(&incomplete, content);
    let written = written
        .and_then(|()| fs::rename(&incomplete, &place).map_err(Error::file("write", &place)));
    if written.is_err() {
        let _ = fs::remove_file(&incomplete);
    }
    written.and_then(|()| sync_folder(directory))
}

/// Reads the finding in a directory.
pub fn read(directory: &Path) -> Result<Finding, Error> {
    let path = directory.join(JSON);
    let not_a_finding = |reason: String| Error::NotAFinding { path: path.clone(), reason };
    let Some(bytes) = untrusted::read_below(directory, JSON)? else {
        return Err(Error::NoFinding { path: directory.to_owned() });
    };
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|error| not_a_finding(error.to_string()))?;
    match value["format"].as_i64() {
        Some(found) if found > FORMAT => {
            return Err(Error::OtherVersion { path, found, known: FORMAT });
        }
        Some(_) => {}
        None => return Err(not_a_finding("it has no format".into())),
    }
    let finding: Finding =
        serde_json::from_value(value).map_err(|error| not_a_finding(error.to_string()))?;
    if !untrusted::is_directory_name(&finding.id) {
        return Err(not_a_finding("its id cannot be the name of a directory".into()));
    }
    Ok(finding)
}

fn json(finding: &Finding) -> Vec<u8> {
    // A finding has only text keys and finite numbers, so this cannot fail; an empty file would be
    // noticed as damaged.
    let mut bytes = serde_json::to_vec_pretty(finding).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Error> {
    let synced = File::open(folder).and_then(|file| file.sync_all());
    match synced {
        // Some file systems have nothing to sync there.
        Err(error) if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Err(Error::file("write", folder)(error))
        }
        _ => Ok(()),
    }
}
