//! The lines that a worker process reads and writes.
//!
//! A job is announced (`begin`) before it runs and followed by signs of life (`beat`), so whoever
//! reads can tell which job a crash or a hang belongs to.

use std::str::FromStr;
use std::time::Duration;

use super::actor_pool::{RunOptions, Style};
use super::payload::{Imbalance, Payload};
use super::plan::At;
use super::random::Perturbation;
use super::record::{Record, path_name, path_of};
use super::session::{Anomaly, Ended, Summary, Tally};
use super::target::{Flavour, Promise};

/// The version of the protocol; part of `ready`.
pub const VERSION: u32 = 1;

/// The head of a job; its plan follows in so many lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// A number that comes back with every report.
    pub id: u64,
    /// The target's name.
    pub target: String,
    /// How to run it.
    pub options: RunOptions,
    /// How many lines the plan has.
    pub lines: usize,
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// It is up, and speaks this version.
    Ready(u32),
    /// A job begins.
    Begin(u64),
    /// A job is under way: instances and processes that have ended since the worker began.
    Beat(u64, u64, u64),
    /// Something was seen.
    Seen(u64, Tally<Record>),
    /// Something was wrong.
    Wrong(u64, Tally<Anomaly>),
    /// A job has ended: runs, microseconds, how.
    End(u64, u64, u64, Ended),
}

const FLAVOURS: [(&str, Flavour); 3] =
    [("threads", Flavour::Threads), ("tasks", Flavour::Tasks), ("mixed", Flavour::Mixed)];
const PROMISES: [(&str, Promise); 2] = [("full", Promise::Full), ("loose", Promise::Loose)];
const STYLES: [(&str, Style); 3] =
    [("plain", Style::Plain), ("batched", Style::Batched), ("barrier", Style::Barrier)];
const PAYLOADS: [(&str, Payload); 3] =
    [("plain", Payload::Plain), ("boxed", Payload::Boxed), ("counted", Payload::Counted)];
const PERTURBATIONS: [(&str, Perturbation); 3] =
    [("none", Perturbation::None), ("light", Perturbation::Light), ("heavy", Perturbation::Heavy)];

/// Gives a type of choices its words.
macro_rules! words {
    ($type:ty, $table:ident) => {
        impl $type {
            /// The word for it.
            pub fn word(self) -> &'static str {
                $table.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
            }

            /// All of them, by their words.
            pub fn all() -> impl Iterator<Item = (&'static str, $type)> {
                $table.into_iter()
            }
        }

        impl FromStr for $type {
            type Err = ();

            fn from_str(word: &str) -> Result<Self, ()> {
                $table.iter().find(|(known, _)| *known == word).map(|(_, value)| *value).ok_or(())
            }
        }
    };
}

words!(Flavour, FLAVOURS);
words!(Promise, PROMISES);
words!(Style, STYLES);
words!(Payload, PAYLOADS);
words!(Perturbation, PERTURBATIONS);

impl JobLine {
    /// The line.
    pub fn to_line(&self) -> String {
        let options = &self.options;
        // Workers of other languages know nothing else than the full contract.
        let promise = match options.promise {
            Promise::Full => "",
            Promise::Loose => " loose",
        };
        format!(
            "job {} {} {} {} {} {} {} {} {} {}{promise}",
            self.id,
            self.target,
            options.flavour.word(),
            options.style.word(),
            options.payload.word(),
            options.perturbation.word(),
            options.seed,
            options.repetitions,
            options.patience.as_millis(),
            self.lines,
        )
    }

    /// Reads the line.
    pub fn from_line(line: &str) -> Option<JobLine> {
        let mut words = line.strip_prefix("job ")?.split_ascii_whitespace();
        let mut word = || words.next();
        let (id, target) = (word()?.parse().ok()?, word()?.to_owned());
        let mut options = RunOptions {
            promise: Promise::Full,
            flavour: word()?.parse().ok()?,
            style: word()?.parse().ok()?,
            payload: word()?.parse().ok()?,
            perturbation: word()?.parse().ok()?,
            seed: word()?.parse().ok()?,
            repetitions: word()?.parse().ok()?,
            patience: Duration::from_millis(word()?.parse().ok()?),
        };
        let lines = word()?.parse().ok()?;
        match words.next() {
            None => {}
            Some("loose") => options.promise = Promise::Loose,
            Some(_) => return None,
        }
        words.next().is_none().then_some(JobLine { id, target, options, lines })
    }
}

impl Anomaly {
    /// One or two words for it.
    pub fn to_text(self) -> String {
        match self {
            Anomaly::Payload(Imbalance::Leaked(count)) => format!("leaked {count}"),
            Anomaly::Payload(Imbalance::DoubleDropped(count)) => format!("double-dropped {count}"),
            Anomaly::Payload(Imbalance::Confused) => "confused 0".to_owned(),
            Anomaly::Refused => "refused 0".to_owned(),
        }
    }

    fn from_text(text: &str) -> Option<Anomaly> {
        let (word, count) = text.split_once(' ')?;
        let count = count.parse().ok()?;
        Some(match word {
            "leaked" => Anomaly::Payload(Imbalance::Leaked(count)),
            "double-dropped" => Anomaly::Payload(Imbalance::DoubleDropped(count)),
            "confused" => Anomaly::Payload(Imbalance::Confused),
            "refused" => Anomaly::Refused,
            _ => return None,
        })
    }
}

impl Ended {
    fn to_text(&self) -> String {
        match self {
            Ended::Finished => "finished".to_owned(),
            Ended::Panicked(message) => format!("panicked {}", message.replace('\n', "\\n")),
            Ended::Astray(why) => format!("astray {}", why.replace('\n', "\\n")),
            Ended::Hung { instance, stuck, record } => {
                let places = stuck.iter().map(|(path, at)| format!("{}@{}", path_name(path), at.0));
                let places: Vec<String> = places.collect();
                format!("hung {instance} {} : {}", places.join(" "), record.to_text())
            }
        }
    }

    fn from_text(text: &str) -> Option<Ended> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        Some(match word {
            "finished" => Ended::Finished,
            "panicked" => Ended::Panicked(rest.replace("\\n", "\n")),
            "astray" => Ended::Astray(rest.replace("\\n", "\n")),
            "hung" => {
                let (places, record) = rest.split_once(" : ")?;
                let mut words = places.split_ascii_whitespace();
                let instance = words.next()?.parse().ok()?;
                let stuck = words.map(|word| {
                    let (path, at) = word.split_once('@')?;
                    Some((path_of(path)?, At(at.parse().ok()?)))
                });
                let stuck = stuck.collect::<Option<_>>()?;
                Ended::Hung { instance, stuck, record: Record::from_text(record)? }
            }
            _ => return None,
        })
    }
}

impl Report {
    /// The line.
    pub fn to_line(&self) -> String {
        match self {
            Report::Ready(version) => format!("ready {version}"),
            Report::Begin(id) => format!("begin {id}"),
            Report::Beat(id, instances, processes) => format!("beat {id} {instances} {processes}"),
            Report::Seen(id, tally) => {
                format!("seen {id} {} {} {}", tally.count, tally.first, tally.what.to_text())
            }
            Report::Wrong(id, tally) => {
                format!("wrong {id} {} {} {}", tally.count, tally.first, tally.what.to_text())
            }
            Report::End(id, runs, microseconds, ended) => {
                format!("end {id} {runs} {microseconds} {}", ended.to_text())
            }
        }
    }

    /// Reads the line.
    pub fn from_line(line: &str) -> Option<Report> {
        let (word, rest) = line.split_once(' ')?;
        let mut parts = rest.splitn(4, ' ');
        let mut number = || parts.next()?.parse::<u64>().ok();
        let first = number()?;
        Some(match word {
            "ready" => Report::Ready(u32::try_from(first).ok()?),
            "begin" => Report::Begin(first),
            "beat" => Report::Beat(first, number()?, number()?),
            "seen" => {
                let (count, instance) = (number()?, number()?);
                let what = Record::from_text(parts.next()?)?;
                Report::Seen(first, Tally { what, count, first: instance })
            }
            "wrong" => {
                let (count, instance) = (number()?, number()?);
                let what = Anomaly::from_text(parts.next()?)?;
                Report::Wrong(first, Tally { what, count, first: instance })
            }
            "end" => {
                let (runs, microseconds) = (number()?, number()?);
                Report::End(first, runs, microseconds, Ended::from_text(parts.next()?)?)
            }
            _ => return None,
        })
    }
}

/// The reports that a summary makes.
pub fn reports(id: u64, summary: Summary, spent: Duration) -> Vec<Report> {
    let Summary { runs, records, anomalies, ended } = summary;
    let seen = records.into_iter().map(|tally| Report::Seen(id, tally));
    let wrong = anomalies.into_iter().map(|tally| Report::Wrong(id, tally));
    let end = Report::End(id, runs, spent.as_micros() as u64, ended);
    seen.chain(wrong).chain([end]).collect()
}
