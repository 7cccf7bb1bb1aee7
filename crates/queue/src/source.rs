//! Where work comes from and where its results go: the one trait between a campaign's threads and the
//! rest of the world. A thread takes a piece, does it, and delivers what it has seen; whether the piece
//! came from this process or from another machine is not for it to know.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde_json::Value;
use strait_findings::{Discovery, Ranges};

use crate::embedded::LateDelivery;
use crate::error::Error;

/// A piece of work: some indices of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which target.
    pub target: usize,
    /// Which indices.
    pub indices: Range<u64>,
    /// A worker had it before and was lost: each index is said before it begins, and none begins
    /// before the one before it has ended.
    pub is_watched: bool,
    /// Indices that processes have died at. They are not run but reported.
    pub deadly: Vec<u64>,
    /// Indices that are done. They are not run.
    pub done: Ranges,
}

impl Piece {
    /// Does this index have to be run?
    pub fn runs(&self, index: u64) -> bool {
        !self.deadly.contains(&index) && !self.done.contains(index)
    }
}

/// What came out of a part of a piece.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Which indices need not be executed again.
    pub indices: Ranges,
    /// How many programs ran.
    pub programs: u64,
    /// How many runs they had.
    pub runs: u64,
    /// What else was counted, by name.
    pub counts: BTreeMap<String, u64>,
    /// What else there is to say about it, for the kind of campaign that it belongs to.
    pub notes: Vec<Value>,
    /// What they showed.
    pub discoveries: Vec<Discovery>,
}

impl Part {
    /// Adds what came out later.
    pub fn add(&mut self, more: Part) {
        more.indices.intervals().iter().for_each(|range| self.indices.insert(range.clone()));
        self.programs = self.programs.saturating_add(more.programs);
        self.runs = self.runs.saturating_add(more.runs);
        for (name, count) in more.counts {
            let sum = self.counts.entry(name).or_default();
            *sum = sum.saturating_add(count);
        }
        self.notes.extend(more.notes);
        self.discoveries.extend(more.discoveries);
    }
}

/// One thread's side of it. A thread has at most one piece at a time.
pub trait Source: Send {
    /// The next piece; `None` when there is none left, none comes for a while, or `stop` says so.
    fn take(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<Piece>, Error>;

    /// Indices of a watched piece are about to begin.
    fn begin(&mut self, indices: Range<u64>) -> Result<(), Error>;

    /// Something was found in a piece that may take long, and may never be done. It is delivered again
    /// when the piece is done.
    fn show(&mut self, _discovery: &Discovery) -> Result<(), Error> {
        Ok(())
    }

    /// Part of the piece is done. `false` when it is no longer wanted.
    fn deliver(&mut self, part: Part) -> Result<bool, Error>;

    /// A way to deliver indices of the piece after it is over; `None` where a piece has to be whole.
    fn late(&self) -> Option<LateDelivery> {
        None
    }

    /// The piece is done after so long, or given back when it is not `whole`.
    fn finish(&mut self, spent: Duration, whole: bool) -> Result<(), Error>;
}
