//! Where the work of a submitted campaign is: still to be given out, given out, done. All moments are those
//! of the link's clock.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use strait_findings::Ranges;

use crate::allot::Allotment;
use crate::job::{Item, Job};
use crate::roster::Roster;

/// What is where.
pub(crate) struct Flow {
    /// The campaign that messages belong to: an earlier run's when its results are collected.
    pub(crate) job: Job,
    pub(crate) allotment: Allotment,
    /// Given out and not done: the end of each, by target and first index.
    pub(crate) out: BTreeMap<(usize, u64), u64>,
    /// How often work was given out again.
    pub(crate) again: u32,
    /// Names of messages that were set aside.
    pub(crate) set_aside: HashSet<String>,
    /// Faults that are not wanted in the store.
    pub(crate) unwanted: HashSet<String>,
    /// Done, a target each.
    pub(crate) executed: Vec<Ranges>,
    pub(crate) heard: Duration,
    pub(crate) looked: Duration,
    pub(crate) announced: Duration,
    pub(crate) counted: Duration,
    pub(crate) roster: Roster,
    /// The last sign of life of a worker: its number, and when it was seen first.
    pub(crate) alive: (Option<u64>, Duration),
    pub(crate) told: bool,
    /// We are about to end: what is there is taken in, whether or not a stop is wanted.
    pub(crate) is_leaving: bool,
    /// What comes was given out by an earlier run.
    pub(crate) is_collecting: bool,
}

impl Flow {
    pub(crate) fn new(
        job: &Job,
        allotment: Allotment,
        executed: Vec<Ranges>,
        now: Duration,
    ) -> Self {
        Flow {
            job: job.clone(),
            allotment,
            out: BTreeMap::new(),
            again: 0,
            set_aside: HashSet::new(),
            unwanted: HashSet::new(),
            executed,
            heard: now,
            looked: now,
            announced: now,
            counted: now,
            roster: Roster::default(),
            alive: (None, now),
            told: false,
            is_leaving: false,
            is_collecting: false,
        }
    }

    /// Is this work that a worker can have done? It was given out, is done already, or was given out by
    /// an earlier run and is still to be done.
    pub(crate) fn expects(&self, item: &Item) -> bool {
        let is_out = self.out.get(&(item.target, item.start)) == Some(&item.end);
        let executed = &self.executed[item.target];
        is_out
            || executed.missing(item.indices()).is_empty()
            || (self.is_collecting
                && self.allotment.covers(item.target, &item.indices())
                && executed.missing(item.indices()) == [item.indices()])
    }

    /// What is not done.
    pub(crate) fn items(&self) -> Vec<Item> {
        let item = |((target, start), end): (&(usize, u64), &u64)| Item {
            target: *target,
            start: *start,
            end: *end,
        };
        self.out.iter().map(item).collect()
    }
}
