//! The table of entries: one row per entry with its states and one word, and the names of the
//! properties that are violated or unknown beside it, or below where the width does not allow that.

use strait_goverify::{Checked, GoFinding};

use crate::commands::verify::text::{states, wrapped};
use crate::ui::{Paint, Ui};

/// What is said about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Proved,
    Violated,
    /// Violated, and seen in runs.
    Confirmed,
    /// Violated, but every finding is suppressed or in the baseline.
    Accepted,
    Unknown,
}

impl Word {
    fn text(self) -> &'static str {
        match self {
            Word::Proved => "proved",
            Word::Violated => "VIOLATED",
            Word::Confirmed => "CONFIRMED",
            Word::Accepted => "accepted",
            Word::Unknown => "unknown",
        }
    }

    fn paint(self) -> Paint {
        match self {
            Word::Proved => Paint::Green,
            Word::Violated | Word::Confirmed => Paint::Red,
            Word::Accepted | Word::Unknown => Paint::Yellow,
        }
    }
}

/// One row.
struct Row {
    entry: String,
    states: String,
    word: Word,
    names: String,
}

/// Prints the table.
pub fn print(ui: &Ui, checked: &[Checked], findings: &[GoFinding]) -> anyhow::Result<()> {
    let rows: Vec<Row> =
        checked.iter().enumerate().map(|(number, entry)| row(number, entry, findings)).collect();
    let layout = Layout::new(&rows, ui.width());
    ui.line(ui.paint(Paint::Dim, layout.heading()))?;
    for row in &rows {
        let entry = shortened(&row.entry, layout.entry);
        let padding = layout.entry - entry.chars().count();
        let word = ui.paint(row.word.paint(), row.word.text());
        let beside = if layout.beside && !row.names.is_empty() {
            let width = layout.word.saturating_sub(row.word.text().len());
            format!("{}  {}", " ".repeat(width), row.names)
        } else {
            String::new()
        };
        let states = format!("{:>width$}", row.states, width = layout.states);
        ui.line(format!("{entry}{}  {states}  {word}{beside}", " ".repeat(padding)))?;
        if !layout.beside && !row.names.is_empty() {
            wrapped(ui, "    ", &row.names)?;
        }
    }
    Ok(())
}

fn row(number: usize, entry: &Checked, findings: &[GoFinding]) -> Row {
    let mut own = findings.iter().filter(|finding| finding.entries.contains(&number)).peekable();
    let violated = own.peek().is_some();
    let (mut is_new, mut seen) = (false, false);
    for finding in own {
        is_new |= finding.is_new();
        seen |= finding.is_new() && finding.confirmed() == Some(true);
    }
    let names = |wanted: fn(&strait_goverify::Answer) -> bool| {
        let answers = entry.answers.iter().filter(|answer| wanted(answer));
        answers.map(|answer| answer.asked.name()).collect::<Vec<_>>().join(", ")
    };
    let broken = names(|answer| answer.is_violation());
    let unknown = names(|answer| answer.unknown().is_some());
    let word = match (violated, is_new, seen, unknown.is_empty()) {
        (_, _, true, _) => Word::Confirmed,
        (_, true, _, _) => Word::Violated,
        (true, false, _, true) => Word::Accepted,
        (_, _, _, false) => Word::Unknown,
        (false, false, false, true) => Word::Proved,
    };
    let names = match (broken.is_empty(), unknown.is_empty()) {
        (true, _) => unknown,
        (false, true) => broken,
        (false, false) => format!("{broken}; unknown: {unknown}"),
    };
    Row { entry: entry.entry.clone(), states: states(entry), word, names }
}

/// How wide the columns are.
struct Layout {
    entry: usize,
    states: usize,
    word: usize,
    /// Do the names stand beside the word?
    beside: bool,
}

impl Layout {
    fn new(rows: &[Row], width: usize) -> Layout {
        let widest = |cell: &dyn Fn(&Row) -> usize, least: usize| {
            rows.iter().map(cell).max().unwrap_or(0).max(least)
        };
        let entry = widest(&|row| row.entry.chars().count(), "entry".len());
        let states = widest(&|row| row.states.chars().count(), "states".len());
        let word = widest(&|row| row.word.text().len(), "verdict".len());
        let names = widest(&|row| row.names.chars().count(), 0);
        let fixed = 2 + states + 2 + word;
        let beside = entry + fixed + 2 + names <= width || names == 0;
        let entry = entry.min(width.saturating_sub(fixed).max("entry".len()));
        Layout { entry, states, word, beside }
    }

    fn heading(&self) -> String {
        let (entry, states) = (self.entry, self.states);
        format!("{:<entry$}  {:>states$}  verdict", "entry", "states")
    }
}

/// A text that is shortened in its middle if it is longer than this.
fn shortened(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let first: String = text.chars().take(kept / 3).collect();
    let last: String = text.chars().skip(length - (kept - kept / 3)).collect();
    format!("{first}…{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        let text = "example.com/module/package.TestSomething";
        for (width, expected) in
            [(40, text), (20, "exampl…TestSomething"), (13, "exam…omething"), (5, "e…ing")]
        {
            assert_eq!(shortened(text, width), expected);
        }
    }

    #[test]
    fn the_table_fits_any_width() {
        let row = |entry: &str, names: &str| Row {
            entry: entry.into(),
            states: "12,345 bounded".into(),
            word: Word::Violated,
            names: names.into(),
        };
        let rows = [
            row("example.com/some/long/module/path.TestThatHasALongName", "no-deadlock, live"),
            row("m.main", ""),
        ];
        for width in [60, 80] {
            let layout = Layout::new(&rows, width);
            assert!(layout.entry + layout.states + layout.word + 4 <= width, "{width}");
            assert!(!layout.beside);
        }
        assert!(Layout::new(&rows, 120).beside);
    }
}
