//! What is known about an item whose worker was lost: which index had just begun, and how often workers
//! were lost at which. An index that took three of them, and that nobody survived meanwhile, is taken for
//! the one that kills them; whoever kills workers at random does not hit the same index each time.
//!
//! Where machines come and go, that is not enough: of hundreds of losses three may fall on one index by
//! chance. So the losses at indices that somebody survived later, which nobody is to blame for, are counted
//! for the whole campaign ([`Strays`]), and the more there are the more it takes to blame an index.

use std::collections::BTreeMap;
use std::ops::Range;

use async_nats::jetstream::kv;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::link::text;
use crate::message::{Form, open, seal};

/// What a worker that is lost while it runs an index counts, and one that is lost while it confirms
/// what the index has shown: that takes seconds, in which whoever kills at random is likely to strike.
const RUNNING: u32 = 4;
const CONFIRMING: u32 = 1;
/// Three workers that were lost while they ran an index.
const TOO_MANY: u32 = 3 * RUNNING;
/// So many losses that nobody is to blame for, and it takes one more; three times as many, two more.
const STRAYS: u32 = 4 * RUNNING;

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
    /// An index begins; what [`Note::survive`] gives.
    pub(crate) fn begin(&mut self, index: u64) -> Strays {
        let strays = self.survive();
        self.index = Some(index);
        strays
    }

    /// The index that began last is survived, so it is innocent: what counted against it.
    pub(crate) fn survive(&mut self) -> Strays {
        self.confirms = false;
        let lost = self.index.take().and_then(|survived| self.lost.remove(&survived));
        Strays(lost.unwrap_or_default())
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
    pub(crate) fn blame(&mut self, strays: Strays) {
        let Some(index) = self.index.take() else { return };
        let lost = self.lost.entry(index).or_default();
        *lost += if self.confirms { CONFIRMING } else { RUNNING };
        self.confirms = false;
        if *lost >= strays.bearable() {
            self.deadly.push(index);
        }
    }

    /// What it says about other indices than these cannot be true.
    pub(crate) fn keep_within(&mut self, indices: &Range<u64>) {
        self.deadly.retain(|index| indices.contains(index));
    }

    pub(crate) async fn read(store: &kv::Store, item: &str) -> Result<Note, String> {
        let value = store.get(item).await.map_err(text)?;
        // What cannot be read tells nothing about anybody.
        Ok(value.and_then(|value| open(Form::Note, &value).ok()).unwrap_or_default())
    }

    pub(crate) async fn write(&self, store: &kv::Store, item: &str) -> Result<(), String> {
        store.put(item, Bytes::from(seal(Form::Note, self))).await.map(drop).map_err(text)
    }
}

/// What the losses of a campaign count that nobody is to blame for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Strays(u32);

impl Strays {
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// What an index may count before it is blamed.
    fn bearable(self) -> u32 {
        TOO_MANY + RUNNING * (self.0 / STRAYS + 1).ilog2()
    }

    fn key(job: &str) -> String {
        format!("{job}.strays")
    }

    /// What is known of a campaign; nothing if it cannot be read.
    pub(crate) async fn read(store: &kv::Store, job: &str) -> Strays {
        let value = store.get(Strays::key(job)).await.ok().flatten();
        value.and_then(|value| open(Form::Note, &value).ok()).unwrap_or_default()
    }

    /// Adds these. Whoever does so at the same time may be forgotten: only the magnitude matters.
    pub(crate) async fn add(self, store: &kv::Store, job: &str) -> Result<(), String> {
        let Strays(known) = Strays::read(store, job).await;
        let value = seal(Form::Note, &Strays(known.saturating_add(self.0)));
        store.put(Strays::key(job), Bytes::from(value)).await.map(drop).map_err(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is blamed after these indices began, a `|` where the worker was lost.
    fn check(story: &str, deadly: &[u64]) {
        let mut note = Note::default();
        for lost in story.split('|') {
            note.blame(Strays::default());
            for index in lost.split_whitespace().filter_map(|index| index.parse().ok()) {
                note.begin(index);
            }
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
            note.blame(Strays::default());
            assert_eq!(note.deadly.is_empty(), death < 12, "after {death} deaths");
        }
    }

    #[test]
    fn who_gives_back_is_not_lost() {
        let mut note = Note::default();
        for _ in 0..5 {
            note.blame(Strays::default());
            note.begin(4);
            note.calm();
        }
        assert_eq!(note.deadly, Vec::<u64>::new());
    }

    #[test]
    fn losses_that_nobody_is_to_blame_for_make_blame_dearer() {
        let needed = |strays: u32| {
            let mut note = Note::default();
            let deaths = 1..100;
            deaths
                .take_while(|_| {
                    note.begin(4);
                    note.blame(Strays(strays * RUNNING));
                    note.deadly.is_empty()
                })
                .count()
                + 1
        };
        assert_eq!([0, 3, 4, 11, 12, 28, 1000].map(needed), [3, 3, 4, 4, 5, 6, 10]);
    }

    #[test]
    fn what_counted_against_an_innocent_is_a_stray() {
        let mut note = Note::default();
        for _ in 0..2 {
            note.begin(4);
            note.blame(Strays::default());
        }
        assert!(note.begin(4).is_none(), "it began only");
        assert_eq!(note.begin(5), Strays(2 * RUNNING));
        assert!(note.survive().is_none(), "nobody was lost at 5");
    }
}
