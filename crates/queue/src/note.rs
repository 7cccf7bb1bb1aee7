//! What is known about an item whose worker was lost: which indices had just begun. That is no evidence
//! against them: the worker may have been killed, paused or cut off. It says what to try next
//! ([`crate::Trial`]).

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::message::{Form, open, seal};
use crate::transport::{Bucket, Transport, TransportError};

/// A note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// The indices that began last.
    begun: Option<Range<u64>>,
    /// Indices that are not run any more.
    pub(crate) deadly: Vec<u64>,
}

impl Note {
    /// These indices begin.
    pub(crate) fn begin(&mut self, indices: Range<u64>) {
        self.begun = Some(indices);
    }

    /// The item goes to another worker, and no worker was lost; or what began has ended.
    pub(crate) fn calm(&mut self) {
        self.begun = None;
    }

    /// The item came back: the indices at which its worker was lost, if that is known.
    pub(crate) fn suspects(&self) -> Option<Range<u64>> {
        self.begun.clone()
    }

    /// Processes of a worker died at these indices, which it has seen.
    pub(crate) fn condemn(&mut self, indices: Range<u64>) {
        self.begun = None;
        self.deadly.extend(indices);
        self.deadly.sort_unstable();
        self.deadly.dedup();
    }

    /// What it says about other indices than these cannot be true.
    pub(crate) fn keep_within(&mut self, indices: &Range<u64>) {
        self.deadly.retain(|index| indices.contains(index));
        let is_within = |begun: &Range<u64>| {
            begun.start < begun.end && indices.start <= begun.start && begun.end <= indices.end
        };
        self.begun = self.begun.take().filter(is_within);
    }

    pub(crate) fn read(transport: &dyn Transport, item: &str) -> Result<Note, TransportError> {
        let record = transport.get(Bucket::Notes, item)?;
        // A note that cannot be read says nothing about a worker.
        let note = record.and_then(|record| open(Form::Note, &record.message).ok());
        Ok(note.unwrap_or_default())
    }

    pub(crate) fn write(
        &self,
        transport: &dyn Transport,
        item: &str,
    ) -> Result<(), TransportError> {
        transport.put(Bucket::Notes, item, &seal(Form::Note, self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_last_is_suspected() {
        let mut note = Note::default();
        assert_eq!(note.suspects(), None);
        note.begin(4..5);
        note.begin(5..6);
        assert_eq!(note.suspects(), Some(5..6));
        note.calm();
        assert_eq!(note.suspects(), None, "who gives work back is not lost");
        note.begin(6..7);
        note.condemn(6..7);
        assert_eq!((note.suspects(), note.deadly), (None, vec![6]));
    }

    #[test]
    fn a_note_speaks_of_its_item_only() {
        for (begun, suspects) in
            [(16..17, Some(16..17)), (16..32, Some(16..32)), (15..17, None), (20..20, None)]
        {
            let mut note = Note { begun: Some(begun), deadly: vec![3, 17, 99] };
            note.keep_within(&(16..32));
            assert_eq!((note.suspects(), note.deadly), (suspects, vec![17]));
        }
    }
}
