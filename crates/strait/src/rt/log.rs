//! What happened in one execution, for people: kept only when somebody will read it.

use super::op::Place;

/// One step of the execution.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) thread: u32,
    pub(crate) label: &'static str,
    pub(crate) object: Option<u32>,
    pub(crate) place: Place,
    /// What came of it: the value read, the thread started.
    pub(crate) details: Vec<String>,
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
