//! Findings as SARIF 2.1.0, which code scanning services read: one result per finding, with the
//! trace as a code flow.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};
use strait_calculus::Span;
use strait_findings::SourcePlace;
use strait_goverify::{Checked, FindingStatus, GoFinding, Locate, SourceFiles};
use strait_verify::{Property, Trace};

/// Where the documentation of properties is.
const DOCUMENTATION: &str =
    concat!("https://docs.rs/strait-verify/", env!("CARGO_PKG_VERSION"), "/strait_verify/");

/// The file, open: a wrong path is found before the work begins.
pub struct Sarif {
    path: PathBuf,
    file: File,
}

/// Makes the file, empty.
pub fn create(path: &Path) -> anyhow::Result<Sarif> {
    let file =
        File::create(path).with_context(|| format!("cannot write {} (--sarif)", path.display()))?;
    Ok(Sarif { path: path.to_owned(), file })
}

impl Sarif {
    /// Writes what was found.
    pub fn write(
        mut self,
        checked: &[Checked],
        findings: &[GoFinding],
        files: &SourceFiles,
    ) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&document(checked, findings, files))?;
        writeln!(self.file, "{text}")
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// The document.
fn document(checked: &[Checked], findings: &[GoFinding], files: &SourceFiles) -> Value {
    let results = findings.iter().map(|finding| result(checked, finding, files));
    let mut names: Vec<&str> = findings.iter().map(rule_of).collect();
    names.sort_unstable();
    names.dedup();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "strait",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": names.into_iter().map(rule).collect::<Vec<Value>>(),
            } },
            "results": results.collect::<Vec<Value>>(),
        }],
    })
}

/// The rule that a finding is shown under: the property that describes it best.
fn rule_of(finding: &GoFinding) -> &str {
    finding.properties.first().map_or("", String::as_str)
}

fn rule(name: &str) -> Value {
    let property = name.parse::<Property>().ok();
    let meaning = property.map_or("The formula holds.", Property::meaning);
    let advice = property.map_or("The trace shows the steps after which it cannot hold.", advice);
    let page = match property {
        Some(property) => format!("{DOCUMENTATION}enum.Property.html#variant.{property:?}"),
        None => format!("{DOCUMENTATION}struct.Formula.html"),
    };
    json!({
        "id": name,
        "shortDescription": { "text": meaning },
        "fullDescription": { "text": format!("{meaning} {advice}") },
        "help": {
            "text": format!(
                "{meaning} {advice} To silence a finding, write `//strait:ignore {name} reason` \
                 on its line, on the line above, or above its function."
            ),
        },
        "helpUri": page,
        "defaultConfiguration": { "level": "error" },
    })
}

/// What to look for when a property is broken.
fn advice(property: Property) -> &'static str {
    match property {
        Property::NoDeadlock => {
            "Look for the send, receive, unlock or Done that each waiting goroutine misses."
        }
        Property::NoLeak => {
            "Give the goroutine a way to end: a buffered channel, a closed channel or a context."
        }
        Property::Live => "Look for the operation that would let the goroutine go on.",
        Property::ChannelSafe => "Close a channel once, and only after its last send.",
        Property::MutexSafe => {
            "Unlock only what is locked, and do not lock again what the caller holds already."
        }
        Property::WaitGroupSafe => "Call Add before the goroutine starts, and Done once for each.",
        Property::LocksReleased => "Unlock on every path, best with defer.",
        Property::EventualReception => "Receive every message, or close the channel and drain it.",
        Property::NoTerminal => "The trace shows how the program ends.",
        Property::NoCycle => "The trace shows the steps that repeat.",
    }
}

fn result(checked: &[Checked], finding: &GoFinding, files: &SourceFiles) -> Value {
    let (entry, answer) = (&checked[finding.shown.0], finding.shown.1);
    let places = entry.places.as_ref();
    // The first place is where the result is shown; the others are related.
    let mut located: Vec<Value> =
        finding.places.iter().map(|place| location(place, None, files)).collect();
    let related = located.split_off(located.len().min(1));
    let fingerprint: Vec<String> = finding
        .key
        .places
        .iter()
        .map(|place| format!("{}/{}/{}", place.file, place.function, place.text))
        .collect();
    let fingerprint = format!("{}/{}", finding.key.kind, fingerprint.join("/"));
    let confirmation = finding.confirmation.as_ref();
    let level = if finding.confirmed() == Some(false) { "warning" } else { "error" };
    let mut result = json!({
        "ruleId": rule_of(finding),
        "level": level,
        "message": { "text": format!("{}: {}", entry.entry, finding.message) },
        "locations": located,
        "relatedLocations": related,
        "partialFingerprints": { "strait/v2": fingerprint },
        "properties": {
            "kind": finding.kind.name(),
            "breaks": finding.properties,
            "confirmed": finding.confirmed(),
            "seen": confirmation.and_then(|one| one.seen()),
            "runs": confirmation.map(|one| one.runs()),
        },
    });
    let Some(object) = result.as_object_mut() else { return result };
    match &finding.status {
        FindingStatus::New => {}
        FindingStatus::Known => {
            object.insert("baselineState".into(), json!("unchanged"));
        }
        FindingStatus::Suppressed { reason, .. } => {
            let suppression = json!([{ "kind": "inSource", "justification": reason }]);
            object.insert("suppressions".into(), suppression);
        }
    }
    let trace = entry.answers[answer].verdict.trace.as_ref().filter(|_| finding.traced);
    let flow = trace.map(|trace| flow(places, trace, files)).unwrap_or_default();
    // A flow without a place is none.
    if !flow.is_empty() {
        object.insert("codeFlows".into(), json!([{ "threadFlows": [{ "locations": flow }] }]));
    }
    result
}

fn flow(places: &dyn Locate, trace: &Trace, files: &SourceFiles) -> Vec<Value> {
    let steps =
        trace.steps.iter().map(|step| (step.span, format!("{} {}", step.process, step.action)));
    let left = trace.left.iter().map(|one| (one.span, format!("{} {}", one.process, one.doing)));
    let all = steps.chain(left).filter_map(|(span, text): (Span, String)| {
        let place = places.position(span)?;
        Some(json!({ "location": location(&place, Some(&text), files) }))
    });
    all.collect()
}

/// A place with its line of the source.
fn location(place: &SourcePlace, text: Option<&str>, files: &SourceFiles) -> Value {
    let mut physical = json!({
        "artifactLocation": { "uri": place.file },
        "region": { "startLine": place.line, "startColumn": place.column },
    });
    if let Some(line) = files.line(place) {
        physical["contextRegion"] = json!({ "startLine": place.line, "snippet": { "text": line } });
    }
    let mut location = json!({ "physicalLocation": physical });
    if let Some(text) = text {
        location["message"] = json!({ "text": text });
    }
    location
}
