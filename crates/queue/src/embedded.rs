//! Work from this process: blocks of the allotment go to its own threads, and what they deliver goes to
//! the thread that owns the store, at once.

use std::ops::Range;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strait_findings::Ranges;

use crate::allot::{Allotment, Block};
use crate::error::Error;
use crate::source::{Part, Piece, Source};

/// What a thread brings: a target and what was done of it.
pub type TargetPart = (usize, Part);

/// The way to the store for what is found out about a piece after the piece is over.
#[derive(Clone, Debug)]
pub struct LateDelivery {
    sender: Sender<TargetPart>,
    target: usize,
}

impl LateDelivery {
    /// Delivers a part. `false` when it is no longer taken.
    pub fn deliver(&self, part: Part) -> bool {
        self.sender.send((self.target, part)).is_ok()
    }
}

/// One thread's way to the allotment and to the store.
#[derive(Debug)]
pub struct Embedded<'a> {
    allotment: &'a Mutex<Allotment>,
    sender: Sender<TargetPart>,
    target: usize,
}

impl<'a> Embedded<'a> {
    /// The receiver's end of the channel is for the [`crate::Ledger`]; it is over when all threads'
    /// sources are gone.
    pub fn new(allotment: &'a Mutex<Allotment>, sender: Sender<TargetPart>) -> Self {
        Embedded { allotment, sender, target: 0 }
    }

    fn allotment(&self) -> MutexGuard<'a, Allotment> {
        self.allotment.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Embedded<'_> {
    fn take(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<Piece>, Error> {
        if stop() {
            return Ok(None);
        }
        let Some(Block { target, indices }) = self.allotment().claim() else { return Ok(None) };
        self.target = target;
        Ok(Some(Piece {
            target,
            indices,
            is_watched: false,
            deadly: Vec::new(),
            done: Ranges::default(),
        }))
    }

    fn begin(&mut self, _indices: Range<u64>) -> Result<(), Error> {
        Ok(())
    }

    fn deliver(&mut self, part: Part) -> Result<bool, Error> {
        Ok(self.sender.send((self.target, part)).is_ok())
    }

    fn late(&self) -> Option<LateDelivery> {
        Some(LateDelivery { sender: self.sender.clone(), target: self.target })
    }

    fn finish(&mut self, spent: Duration, _whole: bool) -> Result<(), Error> {
        // What is left of a piece is missing in the store, and resumed from there.
        self.allotment().finish(self.target, spent);
        Ok(())
    }
}
