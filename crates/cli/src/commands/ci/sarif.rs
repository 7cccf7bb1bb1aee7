//! One SARIF file for all commands of `strait ci`. In: the files that commands wrote, and findings of commands
//! that write none. Out: one document in which each command is a run of its own, with places as seen from the
//! folder that is checked.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use crate::commands::ci::step::{CiFinding, CiStatus, Step};

/// The runs of a file that a command wrote.
pub fn runs(path: &Path, step: &Step) -> anyhow::Result<Vec<Value>> {
    let cannot = || format!("cannot read {}", path.display());
    let text = match std::fs::read_to_string(path) {
        Ok(text) if !text.trim().is_empty() => text,
        // It ended before it had something to write.
        _ => return Ok(Vec::new()),
    };
    let mut document: Value = serde_json::from_str(&text).with_context(cannot)?;
    let mut runs = match document["runs"].take() {
        Value::Array(runs) => runs,
        _ => Vec::new(),
    };
    for run in &mut runs {
        relocate(run, &step.prefix);
        identify(run, step);
    }
    Ok(runs)
}

/// A run with findings of a command that writes no SARIF.
pub fn run_of(step: &Step, findings: &[CiFinding]) -> Value {
    let mut rules: Vec<&str> = findings.iter().map(|one| one.kind.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let rules: Vec<Value> = rules.into_iter().map(|rule| json!({ "id": rule })).collect();
    let mut run = json!({
        "tool": { "driver": {
            "name": "strait",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        } },
        "results": findings.iter().map(result).collect::<Vec<Value>>(),
    });
    identify(&mut run, step);
    run
}

/// The whole document.
pub fn document(runs: Vec<Value>) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    })
}

/// Code hosts tell runs of one tool apart by this name.
fn identify(run: &mut Value, step: &Step) {
    let id = format!("strait/{}/{}", step.kind.name(), step.prefix);
    run["automationDetails"] = json!({ "id": id });
}

/// Puts the step's folder before every file that is named relative to it.
fn relocate(value: &mut Value, prefix: &str) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::Object(location) if name == "artifactLocation" => {
                        let uri = location.get("uri").and_then(Value::as_str).unwrap_or_default();
                        if !uri.starts_with('/') && !uri.contains("://") {
                            let uri = json!(format!("{prefix}{uri}"));
                            location.insert("uri".to_owned(), uri);
                        }
                    }
                    member => relocate(member, prefix),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| relocate(item, prefix)),
        _ => {}
    }
}

fn result(finding: &CiFinding) -> Value {
    let locations = finding.places.iter().filter_map(|place| {
        let (file, line) = place.rsplit_once(':')?;
        let line: u32 = line.parse().ok()?;
        Some(json!({ "physicalLocation": {
            "artifactLocation": { "uri": file },
            "region": { "startLine": line },
        } }))
    });
    let replay = finding.replay.as_ref().map(|command| format!("\n\nReplay: {command}"));
    let mut result = json!({
        "ruleId": finding.kind,
        "level": if finding.is_error { "error" } else { "warning" },
        "message": { "text": format!("{}{}", finding.title, replay.unwrap_or_default()) },
        "locations": locations.collect::<Vec<Value>>(),
        "partialFingerprints": { "strait": format!("{}/{}", finding.kind, finding.title) },
    });
    match finding.status {
        CiStatus::New => {}
        CiStatus::Known => result["baselineState"] = json!("unchanged"),
        CiStatus::Silenced => result["suppressions"] = json!([{ "kind": "inSource" }]),
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_seen_from_the_folder_that_is_checked() {
        let place = |uri: &str| json!({ "artifactLocation": { "uri": uri } });
        let mut run = json!({
            "results": [{ "locations": [{ "physicalLocation": place("bank.go") }] }],
            "related": [place("/usr/lib/go/x.go"), place("file:///x.go")],
        });
        relocate(&mut run, "services/api/");
        let expected = json!({
            "results": [{ "locations": [{ "physicalLocation": place("services/api/bank.go") }] }],
            "related": [place("/usr/lib/go/x.go"), place("file:///x.go")],
        });
        assert_eq!(run, expected);
    }
}
