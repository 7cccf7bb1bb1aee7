//! A trace told to people: a table of who does what at which line, what comes of it, and where
//! those who have not finished stand at the end.

use std::collections::HashMap;

use strait_calculus::{Action, ActionKind, Blocked, Place, Step, Verdict, excerpt, line_number};
use strait_explore::System;

use crate::commands::explore::{Story, Subject};
use crate::ui::{Paint, Ui, grouped};

/// A longer trace is abbreviated in the middle,
const LONGEST: usize = 60;
/// to so many steps at its beginning
const FIRST: usize = 20;
/// and so many at its end.
const LAST: usize = 30;
/// Longer lines without a break are abbreviated.
const WIDEST: usize = 240;
/// Statements up to this width make the column of statements wider.
const STATEMENT: usize = 44;

/// One line of the table.
struct Row {
    number: String,
    process: String,
    line: String,
    statement: String,
    /// What comes of it.
    effect: String,
    bad: bool,
}

/// Prints a trace step by step, who has not finished, and how to see it again.
pub fn tell(
    ui: &Ui,
    subject: &Subject<'_>,
    story: &Story,
    verdict: Option<Verdict>,
) -> anyhow::Result<()> {
    let (steps, blocked) = story.machine.narrate(&story.trace);
    let rows = step_rows(subject, &steps, &story.trace);
    let able = able(story);
    // A process that panics in the last step is told there.
    let told = steps.last().filter(|step| matches!(step.kind, Some(ActionKind::Fault(_))));
    let told = told.map(|step| &step.actor.process);
    let ends = blocked.iter().filter(|one| told != Some(&one.at.process));
    let ends: Vec<Row> = ends.map(|one| end_row(subject, one, &able)).collect();
    let table = Table::of(&rows, &ends);
    table.print_header(ui)?;
    if rows.len() > LONGEST && ui.verbose == 0 {
        let left_out = grouped((rows.len() - FIRST - LAST) as u64);
        table.print(ui, &rows[..FIRST])?;
        ui.line(ui.paint(Paint::Dim, format!("      … {left_out} steps left out, -v shows them")))?;
        table.print(ui, &rows[rows.len() - LAST..])?;
    } else {
        table.print(ui, &rows)?;
    }
    if !ends.is_empty() {
        ui.line(ui.paint(Paint::Bold, farewell(verdict)))?;
        table.print(ui, &ends)?;
    }
    ui.line("")?;
    if !story.compact.is_empty() {
        ui.line(format!("compact: {}", shortened(ui, &story.compact)))?;
    }
    ui.line(format!("replay:  {}", replay_command(ui, subject, story)))
}

fn farewell(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Deadlock | Verdict::Leak) => "Left behind:",
        Some(Verdict::Panic) => "At that moment:",
        Some(Verdict::Terminates | Verdict::Unknown | Verdict::Diverges) | None => "From here on:",
    }
}

/// The names of the processes that can move after the trace.
fn able(story: &Story) -> Vec<String> {
    let machine = &story.machine;
    let mut state = machine.start();
    for action in &story.trace {
        machine.step(&mut state, action);
    }
    let mut enabled = Vec::new();
    machine.enabled(&mut state, &mut enabled);
    let involved = enabled.iter().flat_map(|action| {
        std::iter::once(action.actor).chain(action.partner.map(|(partner, _)| partner))
    });
    involved.map(|process| machine.process_name(process)).collect()
}

fn step_rows(subject: &Subject<'_>, steps: &[Step], trace: &[Action]) -> Vec<Row> {
    // Steps that a process makes by itself have no action.
    let mut actions = trace.iter();
    let rows = steps.iter().enumerate().map(|(position, step)| {
        let action = if step.kind.is_some() { actions.next() } else { None };
        let (line, statement) = place(subject, &step.actor);
        Row {
            number: (position + 1).to_string(),
            process: step.actor.process.clone(),
            line,
            statement,
            effect: effect(subject, step, action),
            bad: matches!(step.kind, Some(ActionKind::Fault(_))),
        }
    });
    rows.collect()
}

/// What comes of a step.
fn effect(subject: &Subject<'_>, step: &Step, action: Option<&Action>) -> String {
    let message = step.message.as_deref().unwrap_or("()");
    if let Some(partner) = &step.partner {
        let (line, statement) = place(subject, partner);
        return format!("{message} → {}, line {line}: {statement}", partner.process);
    }
    if let Some(child) = &step.starts {
        return format!("starts {child}");
    }
    match step.kind {
        Some(ActionKind::Put) => format!("{message} into the buffer"),
        Some(ActionKind::Get) => format!("{message} from the buffer"),
        Some(ActionKind::GetClosed) => "finds it closed".into(),
        Some(ActionKind::PutLost) => "lost, no process can receive it any more".into(),
        Some(ActionKind::Timeout) => "takes the timeout".into(),
        Some(ActionKind::Default) => "takes the default".into(),
        Some(ActionKind::Branch) => {
            format!("takes branch {}", action.map_or(0, |action| action.case) + 1)
        }
        Some(ActionKind::Announce) => "announces itself, new readers wait".into(),
        Some(ActionKind::Fault(fault)) => format!("panics: {}", fault.message()),
        _ => String::new(),
    }
}

fn end_row(subject: &Subject<'_>, blocked: &Blocked, able: &[String]) -> Row {
    let (line, statement) = place(subject, &blocked.at);
    let effect = match &blocked.panic {
        Some(message) => format!("panicked: {message}"),
        None if blocked.spins => "goes round forever".into(),
        None if able.contains(&blocked.at.process) => "can go on".into(),
        None => waits_for(subject, blocked, &statement),
    };
    let bad = blocked.panic.is_some();
    Row { number: String::new(), process: blocked.at.process.clone(), line, statement, effect, bad }
}

fn waits_for(subject: &Subject<'_>, blocked: &Blocked, statement: &str) -> String {
    if !blocked.cases.is_empty() {
        let cases = blocked.cases.iter().map(|span| excerpt(subject.source, *span));
        return format!("waits for one of: {}", cases.collect::<Vec<_>>().join(" | "));
    }
    let what = match statement.split(' ').next().unwrap_or_default() {
        "put" => "waits to send",
        "lock" | "rlock" => "waits for the lock",
        "wait" => "waits for the counter to reach zero",
        "select" => "waits, with no case to wait for",
        _ => "waits to receive",
    };
    what.into()
}

fn place(subject: &Subject<'_>, place: &Place) -> (String, String) {
    let line = line_number(subject.source, place.span).to_string();
    (line, excerpt(subject.source, place.span))
}

/// How wide the columns are, and a colour for each process.
struct Table {
    process: usize,
    line: usize,
    statement: usize,
    hues: HashMap<String, usize>,
}

impl Table {
    fn of(rows: &[Row], ends: &[Row]) -> Table {
        let widest = |cell: fn(&Row) -> &String, heading: &str, limit: usize| {
            let lengths = rows.iter().chain(ends).map(|row| cell(row).chars().count());
            let fitting = lengths.filter(|length| *length <= limit).max();
            fitting.unwrap_or(0).max(heading.len())
        };
        let mut hues = HashMap::new();
        for row in rows.iter().chain(ends) {
            let next = hues.len();
            hues.entry(row.process.clone()).or_insert(next);
        }
        Table {
            process: widest(|row| &row.process, "process", 24),
            line: widest(|row| &row.line, "line", 10),
            statement: widest(|row| &row.statement, "statement", STATEMENT),
            hues,
        }
    }

    fn print_header(&self, ui: &Ui) -> anyhow::Result<()> {
        let (process, line) = (self.process, self.line);
        let header = format!("   #  {:<process$}  {:>line$}  statement", "process", "line");
        ui.line(ui.paint(Paint::Dim, header))
    }

    fn print(&self, ui: &Ui, rows: &[Row]) -> anyhow::Result<()> {
        for row in rows {
            let number = ui.paint(Paint::Dim, format!("{:>4}", row.number));
            let hue = self.hues.get(&row.process).copied().unwrap_or(0);
            let process = format!("{:<width$}", row.process, width = self.process);
            let process = ui.paint(Paint::Hue(hue), process);
            let line = ui.paint(Paint::Dim, format!("{:>width$}", row.line, width = self.line));
            let before = format!("{number}  {process}  {line}  ");
            let effect = match (row.effect.is_empty(), row.bad) {
                (true, _) => String::new(),
                (false, true) => ui.paint(Paint::Red, &row.effect),
                (false, false) => row.effect.clone(),
            };
            let width = if effect.is_empty() { 0 } else { self.statement };
            let statement = format!("{:<width$}", row.statement);
            ui.line(format!("{before}{statement}   {effect}").trim_end())?;
        }
        Ok(())
    }
}

/// A text without blanks, abbreviated in the middle unless everything is wanted.
pub fn shortened(ui: &Ui, text: &str) -> String {
    let length = text.chars().count();
    if ui.verbose > 0 || length <= WIDEST {
        return text.to_string();
    }
    let half = WIDEST / 2 - 1;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(length - half).collect();
    format!("{start}…{end}")
}

fn replay_command(ui: &Ui, subject: &Subject<'_>, story: &Story) -> String {
    let file = quoted(&subject.file.display().to_string());
    let schedule = story.schedule.to_string();
    if ui.verbose == 0 && schedule.len() > 10 * WIDEST {
        return format!("a schedule of {} characters, -v shows it", grouped(schedule.len() as u64));
    }
    format!("strait explore {file} --replay {}", quoted(&schedule))
}

/// A word as a shell takes it literally.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "_-./+:@%,".contains(character);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('-') {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_when_a_shell_would_read_more_into_them() {
        for (word, expected) in [
            ("corpus/a.strait", "corpus/a.strait"),
            ("0x5.1", "0x5.1"),
            ("", "''"),
            ("my file", "'my file'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
