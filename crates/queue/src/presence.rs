//! What a worker says about itself: a small record in the queue, written every few seconds and removed
//! when the worker ends. In: its name, the kinds of campaigns it accepts, and what its connection has
//! counted. Out: records for submitters and for `strait queue status`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::link::Link;
use crate::message::{Form, Poison, open, seal};
use crate::transport::{Bucket, Record};

/// Between two records of a worker.
pub const HEARTBEAT: Duration = Duration::from_secs(3);
/// A worker whose record is older than this is lost.
pub const LOST: Duration = Duration::from_secs(12);
/// The longest word of a record.
const LONGEST: usize = 100;
/// How long it may take to remove the record.
const FAREWELL: Duration = Duration::from_secs(1);
/// The rate is that of so many records.
const RATE: usize = 5;

/// What a worker says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerRecord {
    /// Its name.
    pub name: String,
    /// The kinds of campaigns that it accepts.
    pub accepts: Vec<String>,
    /// The campaign that it works for at the moment.
    pub campaign: Option<String>,
    /// Pieces of work that it has done.
    pub items: u64,
    /// Programs that ran in them.
    pub programs: u64,
    /// Programs per second, lately.
    pub per_second: f64,
    /// When it began, in seconds since 1970 by its own clock.
    pub since: u64,
}

impl WorkerRecord {
    /// What a record says. Its words are printed, so they are short and in one line.
    pub(crate) fn read(record: &Record) -> Result<WorkerRecord, Poison> {
        let worker: WorkerRecord = open(Form::Worker, &record.message)?;
        let words = [Some(&worker.name), worker.campaign.as_ref()];
        let mut words = words.into_iter().flatten().chain(&worker.accepts);
        let is_plain = words.all(|word| *word == plain(word));
        drop(words);
        if !is_plain {
            let why = "a name is too long, or has more than one line";
            return Err(Poison::Syntax(why.to_owned()));
        }
        Ok(worker)
    }
}

/// A word that can be printed in a line.
fn plain(word: &str) -> String {
    word.chars().filter(|char| !char.is_control()).take(LONGEST).collect()
}

/// Writes the records until it is dropped.
pub struct Presence {
    link: Link,
    key: String,
    is_over: Arc<AtomicBool>,
}

impl Link {
    /// Says that a worker of this name is here and accepts these kinds of campaigns.
    pub fn be_present(&self, name: &str, accepts: &[&str]) -> Presence {
        let (key, is_over) = (self.fresh_name(), Arc::new(AtomicBool::new(false)));
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut record = WorkerRecord {
            name: plain(name),
            accepts: accepts.iter().map(|kind| (*kind).to_owned()).collect(),
            campaign: None,
            items: 0,
            programs: 0,
            per_second: 0.0,
            since: since.as_secs(),
        };
        let (own, ended) = (key.clone(), Arc::clone(&is_over));
        self.beside("queue-presence", move |link| {
            let mut counted = VecDeque::from([(link.activity().begun(), 0)]);
            loop {
                let (totals, now) = (link.activity().totals(), link.clock().now());
                counted.push_back((now, totals.programs));
                if counted.len() > RATE {
                    counted.pop_front();
                }
                record.campaign = link.activity().campaign();
                (record.items, record.programs) = (totals.items, totals.programs);
                record.per_second = rate(&counted);
                let message = seal(Form::Worker, &record);
                let stop = || ended.load(Ordering::SeqCst);
                // The next one comes soon.
                let _ = link.transport().put(Bucket::Workers, &own, &message);
                if link.clock().wait(HEARTBEAT, &stop) {
                    return;
                }
            }
        });
        Presence { link: self.clone(), key, is_over }
    }
}

/// Programs per second between the first and the last count.
fn rate(counted: &VecDeque<(Duration, u64)>) -> f64 {
    let (Some((begun, before)), Some((now, after))) = (counted.front(), counted.back()) else {
        return 0.0;
    };
    let time = now.saturating_sub(*begun).as_secs_f64();
    if time > 0.0 { after.saturating_sub(*before) as f64 / time } else { 0.0 }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.link.clock().wake();
        let (key, is_gone) = (self.key.clone(), Arc::new(AtomicBool::new(false)));
        let done = Arc::clone(&is_gone);
        self.link.beside("queue-leave", move |link| {
            // A record that stays is old soon.
            let _ = link.transport().remove(Bucket::Workers, &key);
            done.store(true, Ordering::SeqCst);
            link.clock().wake();
        });
        // A server that is away does not keep us.
        self.link.clock().wait(FAREWELL, &|| is_gone.load(Ordering::SeqCst));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_record_fit_into_a_line() {
        let long = "x".repeat(LONGEST + 1);
        for (name, campaign, kind, is_read) in [
            ("alpha-7", "J1", "fuzz", true),
            ("größe 7", "", "", true),
            ("two\nlines", "J1", "fuzz", false),
            ("alpha-7", "\u{1b}[2J", "fuzz", false),
            ("alpha-7", "J1", "\r", false),
            (&long, "J1", "fuzz", false),
        ] {
            let worker = WorkerRecord {
                name: name.to_owned(),
                accepts: vec![kind.to_owned()],
                campaign: Some(campaign.to_owned()),
                items: 1,
                programs: 2,
                per_second: 0.5,
                since: 3,
            };
            let message = seal(Form::Worker, &worker);
            let record = Record { key: String::new(), revision: 1, age: Duration::ZERO, message };
            assert_eq!(WorkerRecord::read(&record).ok(), is_read.then_some(worker), "{name}");
        }
    }

    #[test]
    fn the_rate_is_that_of_the_last_records() {
        let counts = |all: &[(u64, u64)]| {
            all.iter().map(|(second, count)| (Duration::from_secs(*second), *count)).collect()
        };
        assert_eq!(rate(&counts(&[])), 0.0);
        assert_eq!(rate(&counts(&[(3, 7)])), 0.0);
        assert_eq!(rate(&counts(&[(3, 100), (6, 400), (8, 600)])), 100.0);
    }
}
