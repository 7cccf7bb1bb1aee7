//! What happened in one execution, for people: kept only when it will be read.

use super::op::Place;

/// One step of the execution.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) thread: u32,
    /// In which way it was taken.
    pub(crate) choice: u32,
    pub(crate) label: &'static str,
    pub(crate) object: Option<u32>,
    /// Was the object made by the execution? Others go by their addresses.
    pub(crate) is_own: bool,
    pub(crate) place: Place,
    /// What came of it: the value read, the thread started.
    pub(crate) details: Vec<Detail>,
}

/// Something that came of a step.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    /// To whom: another thread may go on because of the step.
    pub(crate) thread: u32,
    pub(crate) text: String,
}

impl Line {
    /// Is it the same step as one of another execution, whatever came of it? Objects made outside of
    /// executions go by their addresses, which may differ.
    pub(crate) fn resembles(&self, other: &Line) -> bool {
        let step = |line: &Line| (line.thread, line.choice, line.label, line.place);
        let object = |line: &Line| line.object.filter(|_| line.is_own);
        step(self) == step(other) && object(self) == object(other)
    }
}

/// The text with `0x` in place of each hexadecimal number: pointers differ from run to run.
pub(crate) fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "0x" + part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit())
    })
}

/// The steps so far.
#[derive(Default, Debug)]
pub(crate) struct Log {
    pub(crate) lines: Vec<Line>,
}

impl Log {
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
    }
}
