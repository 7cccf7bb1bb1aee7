//! What `strait explore --json` prints.

use serde_json::{Map, Value, json};
use strait_calculus::{ActionKind, Blocked, Outcome, Place, excerpt};
use strait_explore::Coverage;

use crate::commands::explore::{Findings, Replayed, Story, Subject};

/// Everything as one document.
pub fn document(subject: &Subject<'_>, found: &Findings) -> Value {
    let examination = &found.examination;
    let outcomes: Vec<Value> = examination
        .outcomes
        .iter()
        .zip(&found.compacts)
        .map(|(one, compact)| outcome_value(&one.outcome, Some(compact)))
        .collect();
    let by = match &examination.coverage {
        Coverage::Bounded(by) => Some(by.clone()),
        _ => None,
    };
    let interleavings = examination.interleavings;
    let interleavings = interleavings.map(|all| json!({ "seen": all.seen, "known": all.known }));
    json!({
        "file": subject.file.display().to_string(),
        "verdict": examination.verdict.word(),
        "coverage": examination.coverage.word(),
        "bounded_by": by,
        "states": examination.states,
        "transitions": examination.transitions,
        "executions": examination.executions,
        "interleavings": interleavings,
        "seconds": found.seconds,
        "bytes": examination.bytes,
        "outcomes": outcomes,
        "trace": found.story.as_ref().map(|story| story_value(subject, story)),
    })
}

/// One schedule as a document. There is no verdict if the schedule ends before the execution.
pub fn replay_document(subject: &Subject<'_>, replayed: &Replayed) -> Value {
    let verdict = replayed.outcomes.iter().map(|outcome| outcome.verdict).max();
    let outcomes = replayed.outcomes.iter().map(|outcome| outcome_value(outcome, None));
    json!({
        "file": subject.file.display().to_string(),
        "verdict": verdict.map(|verdict| verdict.word()),
        "coverage": Coverage::Sampled(1).word(),
        "executions": 1,
        "outcomes": outcomes.collect::<Vec<_>>(),
        "trace": story_value(subject, &replayed.story),
    })
}

fn outcome_value(outcome: &Outcome, compact: Option<&String>) -> Value {
    let processes: Map<String, Value> = outcome
        .accounts
        .iter()
        .map(|account| {
            let seen = account.sightings.iter().map(ToString::to_string).collect::<Vec<_>>();
            (account.name.clone(), json!(seen))
        })
        .collect();
    let panic = outcome
        .panic
        .as_ref()
        .map(|(process, message)| json!({ "process": process, "message": message }));
    json!({
        "verdict": outcome.verdict.word(),
        "panic": panic,
        "processes": processes,
        "compact": compact,
    })
}

fn story_value(subject: &Subject<'_>, story: &Story) -> Value {
    let (steps, blocked) = story.machine.narrate(&story.trace);
    let steps: Vec<Value> = steps
        .iter()
        .map(|step| {
            let mut value = place_value(subject, &step.actor);
            value["action"] = json!(step.kind.map_or("local", ActionKind::word));
            value["message"] = json!(step.message);
            value["partner"] = json!(step.partner.as_ref().map(|at| place_value(subject, at)));
            value["starts"] = json!(step.starts);
            value
        })
        .collect();
    json!({
        "steps": steps,
        "blocked": blocked.iter().map(|one| blocked_value(subject, one)).collect::<Vec<_>>(),
        "compact": story.compact,
        "schedule": story.schedule.to_string(),
    })
}

fn blocked_value(subject: &Subject<'_>, blocked: &Blocked) -> Value {
    let mut value = place_value(subject, &blocked.at);
    let cases = blocked.cases.iter().map(|span| excerpt(subject.source, *span));
    value["cases"] = json!(cases.collect::<Vec<_>>());
    value["panic"] = json!(blocked.panic.as_ref().map(ToString::to_string));
    value
}

fn place_value(subject: &Subject<'_>, place: &Place) -> Value {
    let (line, column) = place.span.line_column(subject.source);
    let text = excerpt(subject.source, place.span);
    json!({ "process": place.process, "line": line, "column": column, "text": text })
}
