//! Verification told to people: a table of entries, and for each finding the way there, line by
//! line, with the source.

use strait_explore::Coverage;
use strait_goverify::{Checked, GoFinding, SourceFiles, Summary};
use strait_verify::{Culprit, Trace, TraceStep};

use crate::commands::verify::table;
use crate::ui::{Paint, Ui, grouped};

/// A longer trace is abbreviated in the middle,
const LONGEST: usize = 60;
/// to so many steps at its beginning
const FIRST: usize = 20;
/// and so many at its end.
const LAST: usize = 30;

/// What is printed.
pub struct VerifyReport<'a> {
    pub checked: &'a [Checked],
    pub findings: &'a [GoFinding],
    /// The sources that traces quote, if they do.
    pub files: Option<&'a SourceFiles>,
}

/// Prints the table and what follows it; if only the summary is wanted, what each new finding is.
pub fn print(ui: &Ui, report: &VerifyReport<'_>) -> anyhow::Result<()> {
    if ui.quiet {
        let new = report.findings.iter().filter(|one| one.is_new());
        return new.into_iter().try_for_each(|finding| print_heading(ui, report, finding));
    }
    table::print(ui, report.checked, report.findings)?;
    for finding in report.findings.iter().filter(|one| one.is_new() || ui.verbose > 0) {
        print_finding(ui, report, finding)?;
    }
    for entry in report.checked {
        unknowns(ui, entry)?;
    }
    Ok(())
}

/// The last line.
pub fn print_summary(ui: &Ui, summary: &Summary) -> anyhow::Result<()> {
    if !ui.quiet {
        ui.line("")?;
    }
    wrapped(ui, "", &summary.to_string())
}

/// Which entry breaks what, and how.
fn print_heading(ui: &Ui, report: &VerifyReport<'_>, finding: &GoFinding) -> anyhow::Result<()> {
    let entry = &report.checked[finding.shown.0];
    let breaks = finding.properties.join(", ");
    let heading = format!("{}: {} (breaks {breaks})", entry.entry, finding.kind);
    bold(ui, &heading)?;
    wrapped(ui, "  ", &finding.message)
}

fn print_finding(ui: &Ui, report: &VerifyReport<'_>, finding: &GoFinding) -> anyhow::Result<()> {
    let (number, answer) = finding.shown;
    let entry = &report.checked[number];
    ui.line("")?;
    print_heading(ui, report, finding)?;
    let others: Vec<&str> = finding
        .entries
        .iter()
        .filter(|other| **other != number)
        .map(|other| report.checked[*other].entry.as_str())
        .collect();
    if !others.is_empty() {
        wrapped(ui, "  ", &format!("also from {}", others.join(", ")))?;
    }
    if let Some(confirmation) = &finding.confirmation {
        ui.line(format!("  {confirmation}"))?;
    }
    match &finding.status {
        strait_goverify::FindingStatus::New => {}
        strait_goverify::FindingStatus::Known => ui.line("  in the baseline")?,
        strait_goverify::FindingStatus::Suppressed { place, reason } => {
            wrapped(ui, "  ", &format!("suppressed at {place}: {reason}"))?;
        }
    }
    let trace = entry.answers[answer].verdict.trace.as_ref();
    match trace.filter(|_| finding.traced) {
        Some(trace) => story(ui, entry, trace, report.files),
        None => Ok(()),
    }
}

/// One line of a trace.
struct Row {
    number: String,
    process: String,
    place: String,
    text: String,
    /// The line of the source that it stands at.
    source: Option<String>,
}

fn story(
    ui: &Ui,
    entry: &Checked,
    trace: &Trace,
    files: Option<&SourceFiles>,
) -> anyhow::Result<()> {
    let steps: Vec<Row> = trace
        .steps
        .iter()
        .enumerate()
        .map(|(position, step)| step_row(entry, trace, position, step, files))
        .collect();
    let left: Vec<Row> = trace.left.iter().map(|one| left_row(entry, one, files)).collect();
    let width = |cell: fn(&Row) -> &String| {
        steps.iter().chain(&left).map(|row| cell(row).chars().count()).max().unwrap_or(0)
    };
    let widths = (width(|row| &row.process), width(|row| &row.place));
    if steps.len() > LONGEST && ui.verbose == 0 {
        rows(ui, &steps[..FIRST], widths)?;
        let gone = grouped((steps.len() - FIRST - LAST) as u64);
        ui.line(ui.paint(Paint::Dim, format!("      … {gone} steps left out, -v shows them")))?;
        rows(ui, &steps[steps.len() - LAST..], widths)?;
    } else {
        rows(ui, &steps, widths)?;
    }
    if trace.cycle.is_none() && !left.is_empty() {
        ui.line(ui.paint(Paint::Dim, "  then"))?;
        rows(ui, &left, widths)?;
    }
    Ok(())
}

/// Prints rows; a text that does not fit beside its place stands below it, and a line of the source is
/// quoted where it is another one than before.
fn rows(ui: &Ui, rows: &[Row], (process, place): (usize, usize)) -> anyhow::Result<()> {
    let column = 5 + 2 + process + 2;
    // Long names of goroutines must not take the room of the texts.
    let indent = " ".repeat(if column > ui.width() / 3 { 5 + 2 + 2 } else { column });
    let mut quoted: Option<&Row> = None;
    for row in rows {
        let number = ui.paint(Paint::Dim, format!("{:>5}", row.number));
        let beside = column + place + 2 + row.text.chars().count() <= ui.width();
        let width = if beside { place } else { 0 };
        let padded = ui.paint(Paint::Dim, format!("{:<width$}", row.place));
        let text = if beside { format!("  {}", row.text) } else { String::new() };
        ui.line(format!("{number}  {:<process$}  {padded}{text}", row.process))?;
        if !beside {
            wrapped(ui, &indent, &row.text)?;
        }
        let Some(source) = row.source.as_ref() else { continue };
        if quoted.is_none_or(|other| other.place != row.place) {
            let room = ui.width().saturating_sub(indent.len() + 2);
            ui.line(ui.paint(Paint::Dim, format!("{indent}| {}", cut(source, room))))?;
            quoted = Some(row);
        }
    }
    Ok(())
}

fn step_row(
    entry: &Checked,
    trace: &Trace,
    position: usize,
    step: &TraceStep,
    files: Option<&SourceFiles>,
) -> Row {
    let places = entry.places.as_ref();
    let partner = step.partner.as_ref().and_then(|(_, span)| places.place(*span));
    let partner = partner.map_or(String::new(), |place| format!(" ({place})"));
    let round = if trace.cycle == Some(position) { "   ← repeats from here" } else { "" };
    Row {
        number: (position + 1).to_string(),
        process: step.process.clone(),
        place: step.place.clone().unwrap_or_default(),
        text: format!("{}{partner}{round}", step.action),
        source: places.position(step.span).and_then(|place| files?.line(&place)),
    }
}

fn left_row(entry: &Checked, one: &Culprit, files: Option<&SourceFiles>) -> Row {
    Row {
        number: String::new(),
        process: one.process.clone(),
        place: one.place.clone().unwrap_or_default(),
        text: one.doing.to_string(),
        source: entry.places.position(one.span).and_then(|place| files?.line(&place)),
    }
}

/// Why something is not known, once for each reason.
fn unknowns(ui: &Ui, entry: &Checked) -> anyhow::Result<()> {
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for answer in entry.answers.iter().filter(|answer| answer.unknown().is_some()) {
        let why = answer.to_string();
        match told.iter_mut().find(|(other, _)| *other == why) {
            Some((_, names)) => names.push(answer.asked.name()),
            None => told.push((why, vec![answer.asked.name()])),
        }
    }
    for (why, names) in told {
        ui.line("")?;
        let heading = format!("{}: unknown: {}", entry.entry, names.join(", "));
        bold(ui, &heading)?;
        wrapped(ui, "  ", &why)?;
    }
    Ok(())
}

/// How many states there are, and whether these are all.
pub fn states(entry: &Checked) -> String {
    let bound = if entry.coverage == Coverage::Exhaustive { "" } else { " bounded" };
    format!("{}{bound}", grouped(entry.states))
}

/// Prints a heading within the width.
fn bold(ui: &Ui, text: &str) -> anyhow::Result<()> {
    wrap(text, ui.width()).into_iter().try_for_each(|line| ui.line(ui.paint(Paint::Bold, line)))
}

/// Prints a text within the width, each line with this indentation.
pub fn wrapped(ui: &Ui, indent: &str, text: &str) -> anyhow::Result<()> {
    let room = ui.width().saturating_sub(indent.len());
    wrap(text, room).into_iter().try_for_each(|line| ui.line(format!("{indent}{line}")))
}

/// A text as lines of at most this width, as far as its words allow.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// A text that is cut at its end if it is longer than this.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_the_width() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable words", 5), ["unbreakable", "words"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(cut("go work(jobs, results)", 10), "go work(j…");
        assert_eq!(cut("go work()", 10), "go work()");
    }
}
