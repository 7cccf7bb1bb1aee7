//! Findings as SARIF 2.1.0, which code scanning services read.

use std::path::Path;

use serde_json::{Value, json};
use strait_findings::{Finding, Kind};

use crate::commands::go_fuzz::place;

/// The document.
pub fn document(findings: &[Finding], folder: &Path) -> Value {
    let mut kinds: Vec<&Kind> = findings.iter().map(|finding| &finding.kind).collect();
    kinds.sort();
    kinds.dedup();
    let rules = kinds
        .iter()
        .map(|kind| json!({ "id": kind.as_str(), "shortDescription": { "text": kind.meaning() } }));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "strait",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<Value>>(),
            } },
            "results": findings.iter().map(|finding| result(finding, folder)).collect::<Vec<Value>>(),
        }],
    })
}

fn result(finding: &Finding, folder: &Path) -> Value {
    let locations = finding.details.get("locations").and_then(Value::as_array);
    let locations = locations.into_iter().flatten().filter_map(|location| {
        let (file, line) = location.as_str()?.rsplit_once(':')?;
        let line: u32 = line.parse().ok()?;
        Some(json!({ "physicalLocation": {
            "artifactLocation": { "uri": file },
            "region": { "startLine": line },
        } }))
    });
    let replay = place(folder, &finding.id);
    let text = format!(
        "{}\n\n{}\nReplay: strait go replay {}",
        finding.title,
        finding.explanation,
        replay.display()
    );
    json!({
        "ruleId": finding.kind.as_str(),
        "level": "error",
        "message": { "text": text },
        "locations": locations.collect::<Vec<Value>>(),
        "partialFingerprints": { "strait": finding.group },
    })
}
