//! Which workers a submitter knows, from the records that they write. In: the records, again and again.
//! Out: who joined, left or was lost since the last time.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::presence::{LOST, WorkerRecord};
use crate::transport::Record;

/// A worker comes or goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Joined(String),
    Left(String),
    Lost(String),
}

/// The workers of a campaign.
#[derive(Default)]
pub(crate) struct Roster {
    /// By the keys of their records: the name, and when the record was seen last.
    workers: BTreeMap<String, (String, Duration)>,
    /// Until then no worker is taken for lost.
    excused: Duration,
}

impl Roster {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Is the worker with a record of this key at the campaign?
    pub(crate) fn has(&self, key: &str) -> bool {
        self.workers.contains_key(key)
    }

    /// The server did not answer, so that workers cannot say that they are there.
    pub(crate) fn excuse(&mut self, now: Duration) {
        self.excused = now + LOST;
    }

    /// What has changed. Records that cannot be read, and those of workers at other campaigns that never
    /// were at this one, say nothing.
    pub(crate) fn compare(&mut self, job: &str, records: &[Record], now: Duration) -> Vec<Change> {
        let mut changes = Vec::new();
        for record in records {
            let Ok(worker) = WorkerRecord::read(record) else { continue };
            if record.age > LOST {
                continue;
            }
            let is_ours = worker.campaign.as_deref() == Some(job);
            if let Some((_, seen)) = self.workers.get_mut(&record.key) {
                *seen = now;
            } else if is_ours {
                self.workers.insert(record.key.clone(), (worker.name.clone(), now));
                changes.push(Change::Joined(worker.name));
            }
        }
        if now < self.excused {
            return changes;
        }
        self.workers.retain(|key, (name, seen)| {
            let there = records.iter().find(|record| record.key == *key);
            let is_gone = now.saturating_sub(*seen) > LOST;
            match there {
                // It is old, and was seen to grow old.
                Some(record) if record.age > LOST => changes.push(Change::Lost(name.clone())),
                // A server that lost its files has no records until workers write again.
                None if is_gone => changes.push(Change::Left(name.clone())),
                _ => return true,
            }
            false
        });
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Form, seal};

    fn record(key: &str, campaign: Option<&str>, age: u64) -> Record {
        let worker = WorkerRecord {
            name: format!("worker {key}"),
            accepts: vec!["fuzz".to_owned()],
            campaign: campaign.map(ToOwned::to_owned),
            items: 0,
            programs: 0,
            per_second: 0.0,
            since: 0,
        };
        let message = seal(Form::Worker, &worker);
        Record { key: key.to_owned(), revision: 1, age: Duration::from_secs(age), message }
    }

    /// What is in the bucket at some moment, and what has changed then.
    #[test]
    fn workers_come_and_go() {
        let mut roster = Roster::default();
        let joined = |name: &str| Change::Joined(format!("worker {name}"));
        let left = |name: &str| Change::Left(format!("worker {name}"));
        let lost = |name: &str| Change::Lost(format!("worker {name}"));
        let table: Vec<(u64, Vec<Record>, Vec<Change>)> = vec![
            (0, vec![], vec![]),
            (5, vec![record("a", Some("j"), 1), record("b", Some("k"), 1)], vec![joined("a")]),
            // A worker takes turns; it does not leave by that.
            (10, vec![record("a", Some("k"), 1), record("b", Some("j"), 1)], vec![joined("b")]),
            // One that was lost long ago never joined.
            (
                15,
                vec![record("a", None, 9), record("b", Some("j"), 1), record("c", Some("j"), 99)],
                vec![],
            ),
            (20, vec![record("a", None, 14), record("b", Some("j"), 1)], vec![lost("a")]),
            // The server lost its files.
            (25, vec![], vec![]),
            (30, vec![record("b", Some("j"), 1)], vec![]),
            (35, vec![], vec![]),
            (45, vec![], vec![left("b")]),
            (50, vec![record("b", Some("j"), 1)], vec![joined("b")]),
        ];
        for (second, records, changes) in table {
            let now = Duration::from_secs(second);
            assert_eq!(roster.compare("j", &records, now), changes, "second {second}");
        }
        assert_eq!(roster.len(), 1);
        roster.excuse(Duration::from_secs(60));
        let old = [record("b", Some("j"), 40)];
        assert_eq!(roster.compare("j", &old, Duration::from_secs(61)), []);
        assert_eq!(roster.compare("j", &old, Duration::from_secs(73)), [lost("b")]);
    }
}
