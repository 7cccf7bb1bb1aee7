//! What is known about an item whose worker was lost: which index had just begun, and how often workers
//! were lost at which. An index that took three of them, and that nobody survived meanwhile, is taken for
//! the one that kills them; whoever kills workers at random does not hit the same index each time.

use std::collections::BTreeMap;

use async_nats::jetstream::kv;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::link::text;

/// What a worker that is lost while it runs an index counts, and one that is lost while it confirms
/// what the index has shown: that takes seconds, in which whoever kills at random is likely to strike.
const RUNNING: u32 = 4;
const CONFIRMING: u32 = 1;
/// Three workers that were lost while they ran an index.
const TOO_MANY: u32 = 3 * RUNNING;

/// A note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// The index that began last.
    index: Option<u64>,
    /// Has it been run, so that only what it has shown is looked at?
    #[serde(default)]
    confirms: bool,
    /// What the workers count that were lost at an index.
    lost: BTreeMap<u64, u32>,
    /// Indices that are not run any more.
    pub(crate) deadly: Vec<u64>,
}

impl Note {
    /// An index begins: the one before it is survived, so it is innocent.
    pub(crate) fn begin(&mut self, index: u64) {
        self.confirms = false;
        if let Some(survived) = self.index.replace(index) {
            self.lost.remove(&survived);
        }
    }

    /// The index that began last was run; what it has shown is confirmed now.
    pub(crate) fn confirm(&mut self) {
        self.confirms = true;
    }

    /// The item goes to another worker, and nobody was lost.
    pub(crate) fn calm(&mut self) {
        self.index = None;
    }

    /// The item came back: whoever had it was lost at the index that began last.
    pub(crate) fn blame(&mut self) {
        let Some(index) = self.index.take() else { return };
        let lost = self.lost.entry(index).or_default();
        *lost += if self.confirms { CONFIRMING } else { RUNNING };
        self.confirms = false;
        if *lost >= TOO_MANY {
            self.deadly.push(index);
        }
    }

    pub(crate) async fn read(store: &kv::Store, item: &str) -> Result<Note, String> {
        let value = store.get(item).await.map_err(text)?;
        // What cannot be read tells nothing about anybody.
        Ok(value.and_then(|value| serde_json::from_slice(&value).ok()).unwrap_or_default())
    }

    pub(crate) async fn write(&self, store: &kv::Store, item: &str) -> Result<(), String> {
        let value = serde_json::to_vec(self).map_err(text)?;
        store.put(item, Bytes::from(value)).await.map(drop).map_err(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is blamed after these indices began, a `|` where the worker was lost.
    fn check(story: &str, deadly: &[u64]) {
        let mut note = Note::default();
        for lost in story.split('|') {
            note.blame();
            lost.split_whitespace()
                .filter_map(|index| index.parse().ok())
                .for_each(|index| note.begin(index));
        }
        assert_eq!(note.deadly, deadly, "{story}");
    }

    #[test]
    fn three_deaths_at_one_index_are_its_fault() {
        check("", &[]);
        check("1 2 3", &[]);
        check("1 2 | 1 2 | 1 2", &[]);
        check("1 2 | 1 2 | 1 2 | 1", &[2]);
        check("2 | 2 | 2 | 3", &[2]);
        check("1 2 | 1 2 3 | 1 2 3 4 | 1 | 1 2", &[]);
        check("1 2 | 1 2 3 | 1 2 | 1 2 | 1", &[]);
        check("1 2 | 1 2 3 | 1 2 | 1 2 | 1 2 | 1", &[2]);
        check("2 | 2 | 2 | 1 7 | 1 7 | 1 7 |", &[2, 7]);
    }

    #[test]
    fn deaths_while_confirming_weigh_less() {
        let mut note = Note::default();
        for death in 1..=12 {
            note.begin(4);
            note.confirm();
            note.blame();
            assert_eq!(note.deadly.is_empty(), death < 12, "after {death} deaths");
        }
    }

    #[test]
    fn who_gives_back_is_not_lost() {
        let mut note = Note::default();
        for _ in 0..5 {
            note.blame();
            note.begin(4);
            note.calm();
        }
        assert_eq!(note.deadly, Vec::<u64>::new());
    }
}
