//! What is known about an item whose worker was lost: which index had just begun, and how often workers
//! were lost at which. An index that took three of them, and that nobody survived meanwhile, is taken for
//! the one that kills them; whoever kills workers at random does not hit the same index each time.

use std::collections::BTreeMap;

use async_nats::jetstream::kv;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::link::text;

/// So many workers may be lost at an index.
const DEATHS: u32 = 3;

/// A note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// The index that began last.
    index: Option<u64>,
    /// How many workers were lost at an index.
    lost: BTreeMap<u64, u32>,
    /// Indices that are not run any more.
    pub(crate) deadly: Vec<u64>,
}

impl Note {
    /// An index begins: the one before it is survived, so it is innocent.
    pub(crate) fn begin(&mut self, index: u64) {
        if let Some(survived) = self.index.replace(index) {
            self.lost.remove(&survived);
        }
    }

    /// The item goes to another worker, and nobody was lost.
    pub(crate) fn calm(&mut self) {
        self.index = None;
    }

    /// The item came back: whoever had it was lost at the index that began last.
    pub(crate) fn blame(&mut self) {
        let Some(index) = self.index.take() else { return };
        let lost = self.lost.entry(index).or_default();
        *lost += 1;
        if *lost >= DEATHS {
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
