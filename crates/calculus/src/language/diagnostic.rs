//! Errors about a program's text: what is wrong, where, and what to do about it.

use crate::language::span::{Span, floor_boundary};

/// One thing that is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without a hint.
    pub fn new(message: impl Into<String>, span: Span) -> Self {
        Diagnostic { message: message.into(), span, hint: None }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Message, line with caret, hint:
    ///
    /// ```text
    /// error: nothing is called `d` here
    ///   --> ring.strait:3:9
    ///    |
    ///  3 |     put d 1
    ///    |         ^
    ///    = hint: did you mean `c`?
    /// ```
    pub fn render(&self, file: &str, source: &str) -> String {
        let mut text = format!("error: {}\n", self.message);
        let (line, column) = self.span.line_column(source);
        let start = floor_boundary(source, self.span.start as usize);
        let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |length| start + length);
        let end = floor_boundary(source, (self.span.end as usize).max(start)).min(line_end);
        let line_text = &source[line_start..line_end];
        let line_text = line_text.strip_suffix('\r').unwrap_or(line_text);
        let (shown, skipped) = excerpt(line_text, column - 1);
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        let carets = source[start..end.max(start)].chars().map(width).sum::<usize>().clamp(1, 60);
        let before = column - 1 - skipped + usize::from(skipped > 0);
        let indent = " ".repeat(shown.chars().take(before).map(width).sum());
        text += &format!(" {gutter}--> {file}:{line}:{column}\n {gutter} |\n");
        text += &format!(" {number} | {shown}\n {gutter} | {indent}{}\n", "^".repeat(carets));
        if let Some(hint) = &self.hint {
            text += &format!(" {gutter} = hint: {hint}\n");
        }
        text
    }
}

/// How many columns of a terminal a character takes, as far as that is usual (Unicode Annex 11).
fn width(character: char) -> usize {
    match character as u32 {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0xfeff => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// At most about 120 characters of a line around a column, tabs and control characters shown as
/// one blank each, and how many characters were left out before it.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    let printable = |character: char| {
        if character.is_control() { ' ' } else { character }
    };
    let length = line.chars().count();
    if length <= 120 {
        return (line.chars().map(printable).collect(), 0);
    }
    let skipped = column.saturating_sub(60);
    let body: String = line.chars().skip(skipped).take(118).map(printable).collect();
    let before = if skipped > 0 { "…" } else { "" };
    let after = if skipped + 118 < length { "…" } else { "" };
    (format!("{before}{body}{after}"), skipped)
}

/// All that is wrong with a program, in the order of the text. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// All of them, rendered one after another.
    pub fn render(&self, file: &str, source: &str) -> String {
        let rendered: Vec<String> =
            self.0.iter().map(|diagnostic| diagnostic.render(file, source)).collect();
        rendered.join("\n")
    }
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (position, diagnostic) in self.0.iter().enumerate() {
            if position > 0 {
                writeln!(formatter)?;
            }
            write!(formatter, "{}", diagnostic.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics(vec![diagnostic])
    }
}
