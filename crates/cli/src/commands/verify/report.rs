//! The JSON of verification: entries with their properties, findings, and the summary. The text for
//! people is in `verify_text`, the format for code hosts in `verify_sarif`.

use serde_json::{Map, Value, json};
use strait_calculus::Span;
use strait_explore::Coverage;
use strait_golang::{Approximation, Assumption};
use strait_goverify::{
    Answer, Checked, FindingStatus, GoFinding, Locate, Reason, SourceFiles, Summary,
};
use strait_verify::{Culprit, TraceStep};

/// An entry.
pub fn entry_document(entry: &Checked, files: Option<&SourceFiles>) -> Value {
    let answers = entry.answers.iter().map(|answer| {
        let mut document = answer_document(answer, entry.places.as_ref(), files);
        if let (Some(confirmation), Some(object)) = (&answer.confirmation, document.as_object_mut())
        {
            object.insert("confirmed".into(), json!(confirmation.confirmed()));
            object.insert("seen".into(), json!(confirmation.seen()));
            object.insert("runs".into(), json!(confirmation.runs()));
        }
        (answer.asked.name().to_owned(), document)
    });
    let bounded_by = match &entry.coverage {
        Coverage::Bounded(by) => Some(by),
        _ => None,
    };
    let assumptions = entry.assumptions.iter().map(assumption_document);
    let mut document = json!({
        "entry": entry.entry,
        "states": entry.states,
        "transitions": entry.transitions,
        "coverage": entry.coverage.word(),
        "bounded_by": bounded_by,
        "reduced": entry.reduced,
        "seconds": entry.seconds,
        "properties": answers.collect::<Map<String, Value>>(),
        "assumptions": assumptions.collect::<Vec<_>>(),
    });
    if let (Some(types), Some(object)) = (&entry.types, document.as_object_mut()) {
        object.insert("types".into(), json!(types));
    }
    document
}

fn answer_document(answer: &Answer, places: &dyn Locate, files: Option<&SourceFiles>) -> Value {
    let verdict = &answer.verdict;
    let trace = verdict.trace.as_ref();
    let steps =
        trace.map(|trace| trace.steps.iter().map(|step| step_document(step, places, files)));
    let culprits = verdict.culprits.iter().map(|one| culprit_document(one, places));
    let left = trace.map(|trace| trace.left.iter().map(|one| culprit_document(one, places)));
    let reason = match &answer.conclusion {
        strait_goverify::Conclusion::Unknown(reason) => Some(reason),
        _ => None,
    };
    json!({
        "holds": answer.holds(),
        "why": answer.to_string(),
        "reason": reason.map(Reason::kind).map(|kind| kind.name()),
        "trace": steps.map_or(Value::Null, |steps| json!(steps.collect::<Vec<_>>())),
        "cycle": trace.and_then(|trace| trace.cycle),
        "at_the_end": left.map_or(Value::Null, |left| json!(left.collect::<Vec<_>>())),
        "places": culprits.collect::<Vec<_>>(),
        "choices": trace.map(|trace| trace.choices()),
    })
}

fn step_document(step: &TraceStep, places: &dyn Locate, files: Option<&SourceFiles>) -> Value {
    let partner = step.partner.as_ref();
    let position = places.position(step.span);
    let source = position.as_ref().and_then(|place| files?.line(place));
    json!({
        "action": format!("{} {}", step.process, step.action),
        "position": position.map(|position| position.to_string()),
        "source": source,
        "process": step.process,
        "partner": partner.map(|(process, _)| process),
        "partner_position": partner.and_then(|(_, span)| place(places, *span)),
        "choice": step.action.is_choice(),
    })
}

fn culprit_document(culprit: &Culprit, places: &dyn Locate) -> Value {
    json!({
        "process": culprit.process,
        "says": culprit.doing.to_string(),
        "position": place(places, culprit.span),
    })
}

/// The place of a span for people.
fn place(places: &dyn Locate, span: Span) -> Option<String> {
    places.position(span).map(|position| position.to_string())
}

/// An assumption.
pub fn assumption_document(one: &Assumption) -> Value {
    let position = one.position.as_ref();
    json!({
        "position": position.map(|position| format!("{}:{}", position.file, position.line)),
        "about": one.about.name(),
        "message": one.text(),
        "approximation": match one.approximation {
            Approximation::Over => "over",
            Approximation::Under => "under",
            Approximation::Either => "either",
        },
    })
}

/// A finding.
pub fn finding_document(finding: &GoFinding, checked: &[Checked]) -> Value {
    let locations: Vec<String> = finding.places.iter().map(ToString::to_string).collect();
    let entries: Vec<&str> =
        finding.entries.iter().map(|entry| checked[*entry].entry.as_str()).collect();
    let (status, suppression) = match &finding.status {
        FindingStatus::New => ("new", None),
        FindingStatus::Known => ("known", None),
        FindingStatus::Suppressed { place, reason } => {
            let place = place.to_string();
            ("suppressed", Some(json!({ "position": place, "reason": reason })))
        }
    };
    let confirmation = finding.confirmation.as_ref();
    json!({
        "kind": finding.kind.name(),
        "properties": finding.properties,
        "entries": entries,
        "locations": locations,
        "message": finding.message,
        "confirmed": finding.confirmed(),
        "seen": confirmation.and_then(|one| one.seen()),
        "runs": confirmation.map(|one| one.runs()),
        "status": status,
        "suppression": suppression,
    })
}

/// The counts.
pub fn summary_document(summary: &Summary) -> Value {
    let reasons = summary.reasons.iter();
    let reasons = reasons.map(|(reason, count)| (reason.name().to_owned(), json!(count)));
    json!({
        "proved": summary.proved,
        "violated": summary.violated,
        "unknown": summary.unknown,
        "reasons": reasons.collect::<Map<String, Value>>(),
        "new": summary.new,
        "suppressed": summary.suppressed,
        "known": summary.known,
        "confirmed": summary.confirmed,
    })
}
