//! How `strait explore` tells what it found: for people and as JSON.

use serde_json::{Value, json};
use strait_calculus::{ActionKind, Blocked, Outcome, Place, Step, Verdict};
use strait_explore::Coverage;

use crate::commands::explore::{Findings, Story, Subject};
use crate::ui::{Paint, Ui};

/// Prints everything for people.
pub fn print(ui: &Ui, subject: &Subject<'_>, found: &Findings, outcomes: bool) -> anyhow::Result<()> {
    let examination = &found.examination;
    let verdict = ui.paint(colour(examination.verdict), examination.verdict.word());
    let file = subject.file.display();
    ui.line(format!("{file}: {verdict}, {}", examination.coverage))?;
    let counts = if examination.states > 0 {
        format!(
            "{} states, {} transitions, {} final states",
            examination.states, examination.transitions, examination.executions
        )
    } else {
        format!("{} executions, {} steps", examination.executions, examination.transitions)
    };
    ui.line(ui.paint(Paint::Dim, format!("{counts} in {:.3} s", found.seconds)))?;
    if outcomes {
        ui.line("")?;
        for (outcome, compact) in examination.outcomes.iter().zip(&found.compacts) {
            let told = format!("{}", outcome.outcome);
            ui.line(format!("{told:<50}  {}", ui.paint(Paint::Dim, compact)))?;
        }
    }
    if let Some(story) = &found.story {
        ui.line("")?;
        ui.line(ui.paint(Paint::Bold, meaning(examination.verdict)))?;
        tell(ui, subject, story)?;
    }
    if let Coverage::Bounded(_) = examination.coverage {
        ui.line("")?;
        ui.line("Not everything was seen: the verdict speaks only for what was.")?;
    }
    Ok(())
}

/// Prints one schedule for people.
pub fn print_replay(
    ui: &Ui,
    subject: &Subject<'_>,
    outcomes: &[Outcome],
    story: &Story,
) -> anyhow::Result<()> {
    for outcome in outcomes {
        ui.line(format!("{}", outcome))?;
    }
    tell(ui, subject, story)
}

fn colour(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Terminates => Paint::Green,
        Verdict::Diverges => Paint::Yellow,
        Verdict::Leak | Verdict::Deadlock | Verdict::Panic => Paint::Red,
    }
}

fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Terminates => "Everything finishes:",
        Verdict::Diverges => "It can go on for ever, after:",
        Verdict::Leak => "A process can stay blocked for ever, after:",
        Verdict::Deadlock => "It can come to a standstill, after:",
        Verdict::Panic => "It can panic, after:",
    }
}

/// A trace step by step, who is left behind, and how to see it again.
fn tell(ui: &Ui, subject: &Subject<'_>, story: &Story) -> anyhow::Result<()> {
    let (steps, blocked) = story.machine.narrate(&story.trace);
    let names = steps.iter().map(|step| step.actor.process.chars().count());
    let width = names.chain(blocked.iter().map(|one| one.at.process.chars().count())).max();
    let width = width.unwrap_or(0);
    for (position, step) in steps.iter().enumerate() {
        let told = step_text(subject, step, width);
        ui.line(format!("{:>4}  {told}", position + 1))?;
    }
    if !blocked.is_empty() {
        ui.line(ui.paint(Paint::Bold, "Left behind:"))?;
    }
    for one in &blocked {
        let at = place_text(subject, &one.at, width);
        let why = one.panic.as_ref().map_or(String::new(), |panic| format!("   panics: {panic}"));
        ui.line(format!("      {at}{}", ui.paint(Paint::Red, why)))?;
    }
    ui.line(format!("compact: {}", story.compact))?;
    let file = subject.file.display();
    ui.line(format!("replay:  strait explore {file} --replay {}", story.schedule))
}

fn step_text(subject: &Subject<'_>, step: &Step, width: usize) -> String {
    let actor = place_text(subject, &step.actor, width);
    let message = step.message.as_deref().unwrap_or("()");
    match (&step.partner, step.kind) {
        (Some(partner), _) => {
            let (line, text) = line_text(subject, partner);
            format!("{actor}   → {} line {line}: {text}   [{message}]", partner.process)
        }
        (None, Some(ActionKind::Get | ActionKind::Put)) => format!("{actor}   [{message}]"),
        (None, Some(ActionKind::GetClosed)) => format!("{actor}   [closed]"),
        (None, Some(ActionKind::PutLost)) => format!("{actor}   [lost]"),
        (None, Some(ActionKind::Default)) => format!("{actor}   [default]"),
        (None, Some(ActionKind::Announce)) => format!("{actor}   [announces itself]"),
        (None, Some(ActionKind::Fault(fault))) => format!("{actor}   [panics: {}]", fault.message()),
        _ => actor,
    }
}

fn place_text(subject: &Subject<'_>, place: &Place, width: usize) -> String {
    let (line, text) = line_text(subject, place);
    format!("{:<width$}  line {line:>3}: {text}", place.process)
}

/// The line of a place and the first line of its text, without the body of a block.
fn line_text(subject: &Subject<'_>, place: &Place) -> (usize, String) {
    let (line, _) = place.span.line_column(subject.source);
    let range = place.span.start as usize..place.span.end as usize;
    let text = subject.source.get(range).unwrap_or_default();
    // A case's position is its first word: show the line up to its block.
    let text = if text.contains(char::is_whitespace) {
        text
    } else {
        subject.source[place.span.start as usize..].lines().next().unwrap_or_default()
    };
    let first = text.lines().next().unwrap_or_default();
    let shown = match first.find('{') {
        Some(brace) if brace > 0 => &first[..brace],
        _ => first,
    };
    let shown = shown.trim().trim_end_matches('}').trim_end();
    (line, shown.to_string())
}

/// Everything as one JSON document.
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
    json!({
        "file": subject.file.display().to_string(),
        "verdict": examination.verdict.word(),
        "coverage": examination.coverage.word(),
        "bounded_by": by,
        "states": examination.states,
        "transitions": examination.transitions,
        "executions": examination.executions,
        "seconds": found.seconds,
        "bytes": examination.bytes,
        "outcomes": outcomes,
        "trace": found.story.as_ref().map(|story| story_value(subject, story)),
    })
}

/// One schedule as a JSON document.
pub fn replay_document(subject: &Subject<'_>, outcomes: &[Outcome], story: &Story) -> Value {
    json!({
        "file": subject.file.display().to_string(),
        "outcomes": outcomes.iter().map(|outcome| outcome_value(outcome, None)).collect::<Vec<_>>(),
        "trace": story_value(subject, story),
    })
}

fn outcome_value(outcome: &Outcome, compact: Option<&String>) -> Value {
    let processes: serde_json::Map<String, Value> = outcome
        .accounts
        .iter()
        .map(|account| {
            let seen = account.sightings.iter().map(ToString::to_string).collect::<Vec<_>>();
            (account.name.clone(), json!(seen))
        })
        .collect();
    json!({
        "verdict": outcome.verdict.word(),
        "panic": outcome.panic.as_ref().map(|(process, message)| json!({ "process": process, "message": message })),
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
    value["panic"] = json!(blocked.panic);
    value
}

fn place_value(subject: &Subject<'_>, place: &Place) -> Value {
    let (line, column) = place.span.line_column(subject.source);
    let (_, text) = line_text(subject, place);
    json!({ "process": place.process, "line": line, "column": column, "text": text })
}
