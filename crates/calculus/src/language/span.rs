//! Source positions: byte ranges of the text a program was read from.

use serde::{Deserialize, Serialize};

/// A byte range. Programs that were built and not read have [`Span::NONE`] everywhere; two
/// programs that differ only in positions are equal, so spans compare equal always.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The position of what was never text.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// The range from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start: start as u32, end: end as u32 }
    }

    /// The smallest range that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Was this never text?
    pub fn is_none(&self) -> bool {
        self.start == 0 && self.end == 0
    }

    /// Line and column, both counted from 1, the column in characters.
    pub fn line_column(self, source: &str) -> (usize, usize) {
        let start = floor_boundary(source, self.start as usize);
        let before = &source[..start];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, source[line_start..start].chars().count() + 1)
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

impl std::hash::Hash for Span {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// The last character boundary at or before `offset`.
pub(crate) fn floor_boundary(source: &str, offset: usize) -> usize {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
