//! Findings as SARIF 2.1.0, which code scanning services read. The rule is the class of a finding, and
//! the level follows from it and from the evidence.

use std::path::Path;

use serde_json::{Value, json};
use strait_goverify::FindingStatus;
use strait_reorder::FindingClass;

use crate::commands::go::findings::JudgedFinding;
use crate::summary::place;

/// The document.
pub fn document(findings: &[JudgedFinding], folder: &Path) -> Value {
    let used = |class: &&FindingClass| {
        findings.iter().any(|one| one.assessment.is_some_and(|known| known.class == **class))
    };
    let rules = FindingClass::ALL.iter().filter(used).map(|class| {
        let (name, meaning) = (class.name(), class.meaning());
        let help = format!(
            "{meaning} To silence a finding, write `//strait:ignore {name} reason` on its line, on \
             the line above, or above its function."
        );
        json!({ "id": name, "shortDescription": { "text": meaning }, "help": { "text": help } })
    });
    let others = findings.iter().filter(|one| one.assessment.is_none());
    let others = others.map(|one| {
        let kind = &one.finding.kind;
        json!({ "id": kind.as_str(), "shortDescription": { "text": kind.meaning() } })
    });
    let mut rules: Vec<Value> = rules.chain(others).collect();
    rules.dedup();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "strait",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": findings.iter().map(|one| result(one, folder)).collect::<Vec<Value>>(),
        }],
    })
}

fn result(judged: &JudgedFinding, folder: &Path) -> Value {
    let finding = &judged.finding;
    let locations = judged.places().into_iter().map(|place| {
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": place.file },
            "region": { "startLine": place.line },
        } })
    });
    let replay = place(folder, &finding.id);
    let text = format!(
        "{}\n\n{}\nReplay: strait go replay {}",
        finding.title,
        finding.explanation,
        replay.display()
    );
    let mut result = json!({
        "ruleId": judged.class_name(),
        "level": judged.level,
        "message": { "text": text },
        "locations": locations.collect::<Vec<Value>>(),
        "partialFingerprints": { "strait": finding.group },
    });
    match &judged.status {
        FindingStatus::New => {}
        FindingStatus::Known => result["baselineState"] = json!("unchanged"),
        FindingStatus::Suppressed { reason, .. } => {
            result["suppressions"] = json!([{ "kind": "inSource", "justification": reason }]);
        }
    }
    result
}
