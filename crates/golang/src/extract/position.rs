//! Positions in Go source, and the way from a program's spans back to them.

use std::fmt;

use serde::{Deserialize, Serialize};
use strait_calculus::Span;

/// A place in Go source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GoPosition {
    /// The file: relative to the folder where `go` ran if it is below it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in bytes, as Go does.
    pub column: u32,
    /// Is it reached by a goroutine that the initialisation of a package has started?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub daemon: bool,
    /// May a deferred function of the program recover a panic of this operation?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
    /// Is this a choice that stands for data which the extraction does not follow?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imprecise: bool,
}

impl fmt::Display for GoPosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Where each line of a program's text comes from.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    /// The first byte of each line of the text.
    starts: Vec<u32>,
    /// For each line its position, if it has one.
    lines: Vec<Option<GoPosition>>,
}

impl Positions {
    pub(super) fn new(text: &str, lines: Vec<Option<GoPosition>>) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let after = newlines.map(|(offset, _)| offset as u32 + 1);
        Positions { starts: std::iter::once(0).chain(after).collect(), lines }
    }

    /// The Go position of a statement, case or function of the program; `None` for a device of the
    /// extraction.
    pub fn of(&self, span: Span) -> Option<&GoPosition> {
        if span.is_none() {
            return None;
        }
        let line = self.starts.partition_point(|start| *start <= span.start).checked_sub(1)?;
        self.lines.get(line)?.as_ref()
    }
}
