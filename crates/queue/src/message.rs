//! The form of everything that travels through a queue, and what is wrong with a message that cannot be
//! used. A message is one line, `strait/VERSION KIND CHECKSUM`, and JSON after it, so that `nats` shows it
//! to people. In: bytes from anyone who may write to the queue. Out: a value within its bounds, or a [`Poison`].
//!
//! The checksum finds damage. It is no protection against a person who forges messages on purpose: who may
//! write to a queue is decided by its server.

use std::fmt;
use std::hash::Hasher;

use fnv::FnvHasher;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::job::{Item, Job, PROTOCOL, Report};

/// The first word of every message.
const NAME: &str = "strait/";
/// The first line is shorter than this.
const LONGEST_LINE: usize = 100;
/// The largest index that a store can hold, plus one.
pub const MAX_INDEX: u64 = i64::MAX as u64;
/// The most indices in an item.
pub const MAX_ITEM: u64 = 10_000;
/// The most programs, or runs, that one item can have.
const MAX_RUNS: u64 = 1 << 40;
/// The most that one item can count under any other name: times are counted in nanoseconds.
const MAX_COUNT: u64 = 1 << 53;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A piece of work.
    Work,
    /// What came out of it.
    Result,
    /// The description of a finding.
    Finding,
    /// A campaign.
    Campaign,
    /// What is known about work that came back.
    Note,
    /// A message that could not be used.
    Letter,
    /// What a process hands over that ran work alone.
    Trial,
    /// What a worker says about itself.
    Worker,
}

impl Form {
    /// The most bytes that such a message has.
    fn longest(self) -> usize {
        match self {
            Form::Work => 1 << 12,
            Form::Worker => 1 << 16,
            Form::Note => 1 << 20,
            Form::Result | Form::Campaign | Form::Letter => 8 << 20,
            Form::Finding => 64 << 20,
            Form::Trial => 256 << 20,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Work => "work",
            Form::Result => "result",
            Form::Finding => "finding",
            Form::Campaign => "campaign",
            Form::Note => "note",
            Form::Letter => "letter",
            Form::Trial => "trial",
            Form::Worker => "worker",
        })
    }
}

/// Why a message cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Poison {
    /// The first line is not ours.
    #[error("it is not a message of Strait")]
    NotOurs,
    /// Another version of Strait wrote it.
    #[error("it has version {0} of the protocol; this version of Strait has {PROTOCOL}")]
    Version(u32),
    /// It belongs elsewhere.
    #[error("it is a message of the kind `{found}` in a place for `{expected}`")]
    Form {
        /// What belongs there.
        expected: Form,
        /// What it says it is.
        found: String,
    },
    /// Its bytes have changed.
    #[error("it is damaged: its checksum does not fit")]
    Checksum,
    /// It is too long.
    #[error("it has {length} bytes; the limit is {limit}")]
    TooLong {
        /// Its length.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// It is not the JSON that it should be.
    #[error("it cannot be read: {0}")]
    Syntax(String),
    /// The indices are impossible.
    #[error("its indices, {start} to {end}, are impossible")]
    Bounds {
        /// The first index.
        start: u64,
        /// The first index after it.
        end: u64,
    },
    /// There is no such target.
    #[error("it names target {target}; the campaign has {targets}")]
    NoTarget {
        /// The number.
        target: usize,
        /// How many there are.
        targets: usize,
    },
    /// There are fewer programs.
    #[error("it names program {last}; the campaign has {count} of this target")]
    NoIndex {
        /// The last index that it names.
        last: u64,
        /// How many there are.
        count: u64,
    },
    /// This work was not given out.
    #[error("programs {start} to {end} of target {target} were not given out as a piece of work", target = .0.target, start = .0.start, end = .0.end)]
    NotGivenOut(Item),
    /// A number in it is impossible.
    #[error("it counts {count} of `{what}` in one piece of work")]
    Count {
        /// What is counted.
        what: String,
        /// How many.
        count: u64,
    },
    /// A finding is mentioned that is described nowhere.
    #[error("the description of finding {0} is missing or incomplete in the queue")]
    Lost(String),
    /// What should describe a finding does not.
    #[error("the description of finding {finding} cannot be used: {why}")]
    BadFinding {
        /// The finding.
        finding: String,
        /// What is wrong with it.
        why: Box<Poison>,
    },
    /// It is in order, and not what was put there.
    #[error("it is not what was announced")]
    Replaced,
    /// It says that it is about something else than its place.
    #[error("it is about `{found}` in a place for `{expected}`")]
    OtherName {
        /// What it should be about.
        expected: String,
        /// What it is about.
        found: String,
    },
}

/// A value as a message.
pub(crate) fn seal(form: Form, value: &impl Serialize) -> Vec<u8> {
    // Our own types have no maps with keys that are not strings, so that this cannot fail.
    let body = serde_json::to_vec(value).unwrap_or_default();
    let mut message = format!("{NAME}{PROTOCOL} {form} {:016x}\n", checksum(&body)).into_bytes();
    message.extend(body);
    message
}

/// The value of a message of this form.
pub(crate) fn open<T: DeserializeOwned>(form: Form, message: &[u8]) -> Result<T, Poison> {
    let (length, limit) = (message.len(), form.longest());
    if length > limit {
        return Err(Poison::TooLong { length, limit });
    }
    let end = message.iter().take(LONGEST_LINE).position(|byte| *byte == b'\n');
    let (line, body) = message.split_at(end.ok_or(Poison::NotOurs)?);
    let (line, body) = (std::str::from_utf8(line).map_err(|_| Poison::NotOurs)?, &body[1..]);
    let words: Vec<&str> = line.split(' ').collect();
    let [name, found, sum] = words[..] else { return Err(Poison::NotOurs) };
    let version = name.strip_prefix(NAME).ok_or(Poison::NotOurs)?;
    let version: u32 = version.parse().map_err(|_| Poison::NotOurs)?;
    if version != PROTOCOL {
        return Err(Poison::Version(version));
    }
    if found != form.to_string() {
        return Err(Poison::Form { expected: form, found: found.to_owned() });
    }
    if sum != format!("{:016x}", checksum(body)) {
        return Err(Poison::Checksum);
    }
    serde_json::from_slice(body).map_err(|error| Poison::Syntax(error.to_string()))
}

/// FNV-1a in 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = FnvHasher::default();
    hash.write(bytes);
    hash.finish()
}

impl Item {
    /// A piece of work of this campaign.
    pub(crate) fn read(message: &[u8], job: &Job) -> Result<Item, Poison> {
        let item: Item = open(Form::Work, message)?;
        item.check(job)?;
        Ok(item)
    }

    fn check(&self, job: &Job) -> Result<(), Poison> {
        let Item { target, start, end } = *self;
        if start >= end || end > MAX_INDEX || end - start > MAX_ITEM {
            return Err(Poison::Bounds { start, end });
        }
        let count = *job
            .counts
            .get(target)
            .ok_or(Poison::NoTarget { target, targets: job.targets.len() })?;
        if end > count {
            return Err(Poison::NoIndex { last: end - 1, count });
        }
        Ok(())
    }
}

impl Report {
    /// A result of this campaign. Whether its work was given out is for the reader to know.
    pub(crate) fn read(message: &[u8], job: &Job) -> Result<Report, Poison> {
        let report: Report = open(Form::Result, message)?;
        report.item.check(job)?;
        let runs = [("programs", report.programs), ("runs", report.runs)];
        let others = report.counts.iter().map(|(what, count)| (what.as_str(), *count, MAX_COUNT));
        let counts = runs.map(|(what, count)| (what, count, MAX_RUNS));
        let time = ("milliseconds", report.spent_ms, MAX_RUNS);
        let too_many =
            counts.into_iter().chain([time]).chain(others).find(|(_, count, most)| count > most);
        if let Some((what, count, _)) = too_many {
            return Err(Poison::Count { what: what.to_owned(), count });
        }
        for (finding, object) in &report.parcels {
            let expected = format!("{}.{finding}.", job.id);
            if !object.starts_with(&expected) {
                return Err(Poison::OtherName { expected, found: object.clone() });
            }
        }
        Ok(report)
    }
}

impl Job {
    /// A campaign that is announced under this name.
    pub(crate) fn read(message: &[u8], key: &str) -> Result<Job, Poison> {
        let job: Job = open(Form::Campaign, message)?;
        let Job { id, targets, counts, .. } = &job;
        if id != key {
            return Err(Poison::OtherName { expected: key.to_owned(), found: id.clone() });
        }
        if targets.len() != counts.len() {
            return Err(Poison::NoTarget { target: counts.len(), targets: targets.len() });
        }
        if let Some(count) = counts.iter().copied().find(|count| *count > MAX_INDEX) {
            return Err(Poison::Bounds { start: 0, end: count });
        }
        Ok(job)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::job::{Shown, TargetVersion};

    fn job() -> Job {
        let target =
            |target: &str| TargetVersion { target: target.to_owned(), version: "1".to_owned() };
        let targets = vec![target("naps"), target("dreams")];
        let lease = Duration::from_secs(30);
        Job::new("j".to_owned(), "fuzz", lease, targets, vec![700, MAX_INDEX], &json!({}))
            .expect("a job")
    }

    fn work(target: usize, start: u64, end: u64) -> Vec<u8> {
        seal(Form::Work, &Item { target, start, end })
    }

    fn report() -> Report {
        Report {
            item: Item { target: 0, start: 16, end: 32 },
            whole: true,
            programs: 16,
            runs: 160,
            spent_ms: 12,
            counts: BTreeMap::from([("hangs".to_owned(), 1)]),
            notes: vec![json!({ "slow": "naps" })],
            shown: vec![Shown { finding: "hang-1".to_owned(), seed: 3, indices: vec![17, 20] }],
            parcels: vec![("hang-1".to_owned(), "j.hang-1.x".to_owned())],
            worker: "w".to_owned(),
        }
    }

    /// One row for each kind of poison: where it is, and the sentence that is shown.
    #[test]
    fn every_kind_of_poison_has_a_sentence() {
        let job = job();
        let sealed = |form, value: Value| seal(form, &value);
        let of_work = |message: Vec<u8>| Item::read(&message, &job).map(drop);
        let of_result = |change: &dyn Fn(&mut Report)| {
            let mut report = report();
            change(&mut report);
            Report::read(&seal(Form::Result, &report), &job).map(drop)
        };
        let mut damaged = work(0, 16, 32);
        let last = damaged.len() - 3;
        damaged[last] ^= 1;
        let table = [
            (of_work(work(0, 16, 32)), "used"),
            (of_work(work(1, MAX_INDEX - 9, MAX_INDEX)), "used"),
            (of_work(b"garbage".to_vec()), "it is not a message of Strait"),
            (of_work(Vec::new()), "it is not a message of Strait"),
            (of_work(vec![0xff; 50]), "it is not a message of Strait"),
            (
                of_work(br#"{"target":0,"start":0,"end":16}"#.to_vec()),
                "it is not a message of Strait",
            ),
            (
                of_work(b"strait/3 work 0000000000000000\n{}".to_vec()),
                "it has version 3 of the protocol; this version of Strait has 5",
            ),
            (
                of_work(sealed(Form::Result, json!({}))),
                "it is a message of the kind `result` in a place for `work`",
            ),
            (of_work(damaged), "it is damaged: its checksum does not fit"),
            (of_work(vec![b' '; 5000]), "it has 5000 bytes; the limit is 4096"),
            (
                of_work(sealed(Form::Work, json!({"target": 0, "start": 1}))),
                "it cannot be read: missing field `end` at line 1 column 22",
            ),
            (
                of_work(sealed(Form::Work, json!({"target": -1, "start": 1, "end": 2}))),
                "it cannot be read: invalid value: integer `-1`, expected usize at line 1 column 30",
            ),
            (of_work(work(0, 32, 16)), "its indices, 32 to 16, are impossible"),
            (of_work(work(0, 16, 16)), "its indices, 16 to 16, are impossible"),
            (
                of_work(work(1, 1 << 63, (1 << 63) + 16)),
                "its indices, 9223372036854775808 to 9223372036854775824, are impossible",
            ),
            (of_work(work(1, 0, 1 << 40)), "its indices, 0 to 1099511627776, are impossible"),
            (of_work(work(999, 0, 16)), "it names target 999; the campaign has 2"),
            (
                of_work(work(0, 690, 701)),
                "it names program 700; the campaign has 700 of this target",
            ),
            (of_result(&|_| {}), "used"),
            (of_result(&|report| report.item.start = 99), "its indices, 99 to 32, are impossible"),
            (of_result(&|report| report.item.target = 2), "it names target 2; the campaign has 2"),
            (
                of_result(&|report| report.programs = u64::MAX),
                "it counts 18446744073709551615 of `programs` in one piece of work",
            ),
            (
                of_result(&|report| {
                    report.counts = BTreeMap::from([("hangs".to_owned(), 1 << 54)])
                }),
                "it counts 18014398509481984 of `hangs` in one piece of work",
            ),
            (
                of_result(&|report| report.parcels[0].1 = "other.hang-1.x".to_owned()),
                "it is about `other.hang-1.x` in a place for `j.hang-1.`",
            ),
            (
                Job::read(&seal(Form::Campaign, &job), "k").map(drop),
                "it is about `j` in a place for `k`",
            ),
            (Job::read(&seal(Form::Campaign, &job), "j").map(drop), "used"),
            (Job::read(b"{}", "j").map(drop), "it is not a message of Strait"),
        ];
        for (read, sentence) in table {
            let said = read.map_or_else(|poison| poison.to_string(), |()| "used".to_owned());
            assert_eq!(said, sentence);
        }
    }

    /// Any change of a byte, at any place, is seen.
    #[test]
    fn a_changed_byte_never_gives_another_value() {
        let (job, message) = (job(), seal(Form::Result, &report()));
        for place in 0..message.len() {
            for bit in 0..8 {
                let mut changed = message.clone();
                changed[place] ^= 1 << bit;
                assert!(Report::read(&changed, &job).is_err(), "byte {place}, bit {bit}");
            }
        }
        for length in 0..message.len() {
            assert!(Report::read(&message[..length], &job).is_err(), "{length} bytes");
        }
    }
}
