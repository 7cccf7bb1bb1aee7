//! How `strait explore` tells people what it found.

use strait_calculus::{Outcome, Verdict};
use strait_explore::Coverage;

use crate::commands::explore::story;
use crate::commands::explore::{Findings, Replayed, Subject};
use crate::ui::{Paint, Ui, grouped};

/// Prints everything.
pub fn print(
    ui: &Ui,
    subject: &Subject<'_>,
    found: &Findings,
    outcomes: bool,
) -> anyhow::Result<()> {
    let examination = &found.examination;
    let verdict = ui.paint(colour(examination.verdict), examination.verdict.word());
    let file = subject.file.display();
    ui.line(format!("{file}: {verdict}, {}", examination.coverage))?;
    ui.line(ui.paint(Paint::Dim, format!("{} in {:.3} s", counts(found), found.seconds)))?;
    if let Some(interleavings) = examination.interleavings {
        ui.line(ui.paint(Paint::Dim, interleavings.to_string()))?;
    }
    if outcomes {
        ui.line("")?;
        print_outcomes(ui, found)?;
    }
    if let Some(way) = found.story.as_ref().filter(|_| !ui.quiet) {
        ui.line("")?;
        ui.line(ui.paint(Paint::Bold, meaning(examination.verdict)))?;
        story::tell(ui, subject, way, Some(examination.verdict))?;
    }
    if let Some(limitation) = limitation(examination.verdict, &examination.coverage) {
        if !ui.quiet {
            ui.line("")?;
        }
        ui.line(limitation)?;
    }
    Ok(())
}

/// What the verdict does not say, if it does not speak for all executions.
fn limitation(verdict: Verdict, coverage: &Coverage) -> Option<&'static str> {
    match (verdict, coverage) {
        (_, Coverage::Exhaustive) => None,
        (Verdict::Unknown, _) => {
            Some("Nothing wrong was found, but the search has not seen every execution.")
        }
        (Verdict::Terminates, _) => {
            Some("The verdict is certain, but the list of outcomes is not complete.")
        }
        (_, _) => Some("The search has not seen every execution: there may be more to find."),
    }
}

fn counts(found: &Findings) -> String {
    let examination = &found.examination;
    if examination.states > 0 {
        format!(
            "{}, {}, {}",
            plural(examination.states, "state"),
            plural(examination.transitions, "transition"),
            plural(examination.executions, "final state")
        )
    } else {
        format!(
            "{}, {}",
            plural(examination.executions, "execution"),
            plural(examination.transitions, "step")
        )
    }
}

/// `1 state`, `1,024 states`.
fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number))
}

/// One outcome a line, with the compact form of a way to it.
fn print_outcomes(ui: &Ui, found: &Findings) -> anyhow::Result<()> {
    const WIDEST: usize = 60;
    let told: Vec<String> =
        found.examination.outcomes.iter().map(|one| one.outcome.to_string()).collect();
    let lengths = told.iter().map(|text| text.trim_end().chars().count());
    let width = lengths.filter(|length| *length <= WIDEST).max().unwrap_or(0);
    for (text, compact) in told.iter().zip(&found.compacts) {
        let compact = story::shortened(ui, compact);
        let text = text.trim_end();
        ui.line(format!("{text:<width$}  {}", ui.paint(Paint::Dim, compact)).trim_end())?;
    }
    Ok(())
}

/// Prints one schedule.
pub fn print_replay(ui: &Ui, subject: &Subject<'_>, replayed: &Replayed) -> anyhow::Result<()> {
    let verdict = replayed.outcomes.iter().map(|outcome| outcome.verdict).max();
    for outcome in &replayed.outcomes {
        ui.line(outcome_line(ui, outcome))?;
    }
    if verdict.is_none() {
        let more = plural(replayed.enabled as u64, "action");
        ui.line(format!("The schedule ends before the execution does: {more} could follow."))?;
    }
    story::tell(ui, subject, &replayed.story, verdict)
}

fn outcome_line(ui: &Ui, outcome: &Outcome) -> String {
    let text = outcome.to_string();
    let word = outcome.verdict.word();
    let rest = text.strip_prefix(word).unwrap_or_default().trim_end();
    format!("{}{rest}", ui.paint(colour(outcome.verdict), word))
}

fn colour(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Terminates => Paint::Green,
        Verdict::Unknown | Verdict::Diverges => Paint::Yellow,
        Verdict::Leak | Verdict::Deadlock | Verdict::Panic => Paint::Red,
    }
}

fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Terminates => "Everything finishes:",
        Verdict::Unknown => "Nothing was found:",
        Verdict::Diverges => "It can go on forever, after:",
        Verdict::Leak => "A process can stay blocked forever:",
        Verdict::Deadlock => "It can come to a standstill:",
        Verdict::Panic => "It can panic:",
    }
}
