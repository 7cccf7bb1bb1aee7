//! Violations as SARIF 2.1.0, which code scanning services read: one result a violated property and
//! place, with the trace as a code flow.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};
use strait_calculus::Span;
use strait_verify::{Property, Trace};

use crate::commands::verify_report::{Answer, Checked, Locate};

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
    pub fn write(mut self, checked: &[Checked]) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&document(checked))?;
        writeln!(self.file, "{text}")
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// The document.
fn document(checked: &[Checked]) -> Value {
    let mut names: Vec<&str> = Vec::new();
    let mut results = Vec::new();
    for entry in checked {
        for answer in entry.answers.iter().filter(|answer| answer.is_violation()) {
            if !names.contains(&answer.name.as_str()) {
                names.push(&answer.name);
            }
            results.push(result(entry, answer));
        }
    }
    let rules = names.iter().map(|name| {
        json!({
            "id": name,
            "shortDescription": { "text": meaning(name) },
        })
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "strait",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<Value>>(),
            } },
            "results": results,
        }],
    })
}

fn meaning(name: &str) -> &str {
    name.parse::<Property>().map_or("the formula holds", Property::meaning)
}

fn result(entry: &Checked, answer: &Answer) -> Value {
    let places = entry.places.as_ref();
    let verdict = &answer.verdict;
    let spans: Vec<Span> = if verdict.culprits.is_empty() {
        verdict.trace.iter().filter_map(last_span).collect()
    } else {
        verdict.culprits.iter().map(|culprit| culprit.span).collect()
    };
    // The first place is where the result is shown; the others are related, each once, as the
    // format demands.
    let mut located: Vec<Value> = Vec::new();
    for place in spans.iter().filter_map(|span| location(places, *span, None)) {
        if !located.contains(&place) {
            located.push(place);
        }
    }
    let related = located.split_off(located.len().min(1));
    let first = located;
    let fingerprint = format!("{}/{}/{}", entry.entry, answer.name, first_line(&first));
    let mut result = json!({
        "ruleId": answer.name,
        "level": "error",
        "message": { "text": format!("{}: {}", entry.entry, verdict.why) },
        "locations": first,
        "relatedLocations": related,
        "partialFingerprints": { "strait/v1": fingerprint },
    });
    if let (Some(confirmation), Some(object)) = (&answer.confirmation, result.as_object_mut()) {
        let confirmed = confirmation.confirmed();
        let (seen, runs) = (confirmation.seen, confirmation.runs);
        let properties = json!({ "confirmed": confirmed, "seen": seen, "runs": runs });
        object.insert("properties".into(), properties);
        if confirmed == Some(false) {
            object.insert("level".into(), json!("warning"));
        }
    }
    let flow = verdict.trace.as_ref().map(|trace| flow(places, trace));
    // A flow without a place is none.
    if let (Some(flow), Some(object)) =
        (flow.filter(|flow| !flow.is_empty()), result.as_object_mut())
    {
        let flow = json!([{ "threadFlows": [{ "locations": flow }] }]);
        object.insert("codeFlows".into(), flow);
    }
    result
}

fn first_line(locations: &[Value]) -> String {
    locations.first().map_or(String::new(), |one| {
        one["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap_or_default().to_owned()
    })
}

fn flow(places: &dyn Locate, trace: &Trace) -> Vec<Value> {
    let steps =
        trace.steps.iter().map(|step| (step.span, format!("{} {}", step.process, step.action)));
    let left = trace.left.iter().map(|one| (one.span, format!("{} {}", one.process, one.says)));
    let all = steps.chain(left).filter_map(|(span, text)| {
        location(places, span, Some(&text)).map(|location| json!({ "location": location }))
    });
    all.collect()
}

fn location(places: &dyn Locate, span: Span, text: Option<&str>) -> Option<Value> {
    let position = places.position(span)?;
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": { "uri": position.file },
        "region": { "startLine": position.line, "startColumn": position.column },
    } });
    if let (Some(text), Some(object)) = (text, location.as_object_mut()) {
        object.insert("message".into(), json!({ "text": text }));
    }
    Some(location)
}

/// One place for a whole trace.
fn last_span(trace: &Trace) -> Option<Span> {
    trace.left.first().map(|one| one.span).or(trace.steps.last().map(|step| step.span))
}
