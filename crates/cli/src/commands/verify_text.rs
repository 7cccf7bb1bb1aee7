//! Verification told to people: a table of entries and properties, and for each violation the way
//! there, line by line.

use strait_explore::Coverage;
use strait_verify::{Culprit, Trace};

use crate::commands::verify_report::{Answer, Checked, Confirmation};
use crate::ui::{Paint, Ui, grouped};

/// A longer trace is abbreviated in the middle,
const LONGEST: usize = 60;
/// to so many steps at its beginning
const FIRST: usize = 20;
/// and so many at its end.
const LAST: usize = 30;

/// Prints the table and what follows it.
pub fn print(ui: &Ui, checked: &[Checked]) -> anyhow::Result<()> {
    table(ui, checked)?;
    for entry in checked {
        let violations: Vec<&Answer> =
            entry.answers.iter().filter(|answer| answer.is_violation()).collect();
        for (position, answer) in violations.iter().enumerate() {
            violation(ui, entry, answer, &violations[..position])?;
        }
    }
    for entry in checked {
        unknowns(ui, entry)?;
    }
    Ok(())
}

/// Entries down, properties across.
fn table(ui: &Ui, checked: &[Checked]) -> anyhow::Result<()> {
    let Some(first) = checked.first() else { return Ok(()) };
    // Facts that were not asked for are in the JSON.
    let shown = |answer: &&Answer| answer.counts;
    let names: Vec<&str> =
        first.answers.iter().filter(shown).map(|answer| answer.name.as_str()).collect();
    let widths: Vec<usize> = names.iter().map(|name| width_of(name, checked)).collect();
    let columns = names.iter().zip(&widths).map(|(name, width)| format!("{name:<width$}"));
    let columns: Vec<String> = columns.collect();
    let longest = checked.iter().map(|entry| entry.entry.chars().count()).max().unwrap_or(0);
    let width = longest.max(5);
    let heading = format!("{:<width$}  {}  states", "entry", columns.join("  "));
    ui.line(ui.paint(Paint::Dim, heading))?;
    for entry in checked {
        let mut line = format!("{:<width$}", entry.entry);
        for (answer, width) in entry.answers.iter().filter(shown).zip(&widths) {
            line.push_str("  ");
            line.push_str(&cell(ui, answer, *width));
        }
        let bound = if entry.coverage == Coverage::Exhaustive { "" } else { ", bounded" };
        ui.line(format!("{line}  {}{bound}", grouped(entry.states)))?;
    }
    Ok(())
}

/// A column is as wide as what it holds.
fn width_of(name: &str, checked: &[Checked]) -> usize {
    let answers = checked.iter().flat_map(|entry| &entry.answers);
    let cells = answers.filter(|answer| answer.name == name).map(|answer| word(answer).0);
    cells.chain([name]).map(|text| text.chars().count()).max().unwrap_or(0)
}

fn cell(ui: &Ui, answer: &Answer, width: usize) -> String {
    let (word, paint) = word(answer);
    ui.paint(paint, format!("{word:<width$}"))
}

fn word(answer: &Answer) -> (&'static str, Paint) {
    let seen = answer.confirmation.as_ref().and_then(Confirmation::confirmed);
    match answer.verdict.holds {
        Some(true) => ("yes", Paint::Green),
        Some(false) if seen == Some(true) => ("NO, seen", Paint::Red),
        Some(false) => ("NO", Paint::Red),
        None => ("?", Paint::Yellow),
    }
}

fn violation(ui: &Ui, entry: &Checked, answer: &Answer, told: &[&Answer]) -> anyhow::Result<()> {
    ui.line("")?;
    let heading = format!("{}: {} does not hold", entry.entry, answer.name);
    ui.line(ui.paint(Paint::Bold, heading))?;
    ui.line(format!("  {}", answer.verdict.why))?;
    if let Some(confirmation) = &answer.confirmation {
        ui.line(format!("  {}", confirmation.tell()))?;
    }
    let Some(trace) = &answer.verdict.trace else { return Ok(()) };
    let same = |other: &&&Answer| {
        let other = other.verdict.trace.as_ref();
        other.is_some_and(|other| other.actions == trace.actions && other.cycle == trace.cycle)
    };
    match told.iter().find(same) {
        Some(other) => ui.line(format!("  by the same steps as for {}", other.name)),
        None => story(ui, entry, trace),
    }
}

/// One line of a trace.
struct Row {
    number: String,
    process: String,
    place: String,
    text: String,
}

fn story(ui: &Ui, entry: &Checked, trace: &Trace) -> anyhow::Result<()> {
    let places = entry.places.as_ref();
    let steps: Vec<Row> = trace
        .steps
        .iter()
        .enumerate()
        .map(|(position, step)| {
            let partner = step.partner.as_ref().and_then(|(_, span)| places.place(*span));
            let partner = partner.map_or(String::new(), |place| format!(" ({place})"));
            let round = if trace.cycle == Some(position) { "   ← again and again" } else { "" };
            Row {
                number: (position + 1).to_string(),
                process: step.process.clone(),
                place: places.place(step.span).unwrap_or_default(),
                text: format!("{}{partner}{round}", step.action),
            }
        })
        .collect();
    let left: Vec<Row> = trace.left.iter().map(|one| left_row(entry, one)).collect();
    let width = |cell: fn(&Row) -> &String| {
        steps.iter().chain(&left).map(|row| cell(row).chars().count()).max().unwrap_or(0)
    };
    let (process, place) = (width(|row| &row.process), width(|row| &row.place));
    let line = |row: &Row| {
        let number = ui.paint(Paint::Dim, format!("{:>5}", row.number));
        let place = ui.paint(Paint::Dim, format!("{:<place$}", row.place));
        ui.line(format!("{number}  {:<process$}  {place}  {}", row.process, row.text))
    };
    if steps.len() > LONGEST && ui.verbose == 0 {
        steps[..FIRST].iter().try_for_each(line)?;
        let gone = grouped((steps.len() - FIRST - LAST) as u64);
        ui.line(ui.paint(Paint::Dim, format!("      … {gone} steps left out, -v shows them")))?;
        steps[steps.len() - LAST..].iter().try_for_each(line)?;
    } else {
        steps.iter().try_for_each(line)?;
    }
    if trace.cycle.is_none() && !left.is_empty() {
        ui.line(ui.paint(Paint::Dim, "  then"))?;
        left.iter().try_for_each(line)?;
    }
    Ok(())
}

fn left_row(entry: &Checked, one: &Culprit) -> Row {
    Row {
        number: String::new(),
        process: one.process.clone(),
        place: entry.places.place(one.span).unwrap_or_default(),
        text: one.says.clone(),
    }
}

/// Why something is not known, once for each reason.
fn unknowns(ui: &Ui, entry: &Checked) -> anyhow::Result<()> {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for answer in entry.answers.iter().filter(|one| one.counts && one.verdict.holds.is_none()) {
        match told.iter_mut().find(|(why, _)| *why == answer.verdict.why) {
            Some((_, names)) => names.push(&answer.name),
            None => told.push((&answer.verdict.why, vec![&answer.name])),
        }
    }
    for (why, names) in told {
        ui.line("")?;
        let heading = format!("{}: {} not known", entry.entry, names.join(", "));
        ui.line(ui.paint(Paint::Bold, heading))?;
        ui.line(format!("  {why}"))?;
    }
    Ok(())
}
