//! What the live views show: one plain value, made from the counters of a campaign. The full-screen view and the
//! web page are made from the same snapshot. Texts from elsewhere are made harmless here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use strait_campaign::{Counters, Ending, Stop, Suspicion, TargetCounts, ThreadState};
use strait_findings::visible;
use strait_queue::{Link, WorkerState};
use strait_toolchain::family_memory;

use crate::campaign::{Line, Place};

/// The present rate is that of so long.
const WINDOW: Duration = Duration::from_secs(10);
/// Memory is measured this seldom.
const MEASURED: Duration = Duration::from_secs(2);
/// The most rows of a table, and characters of a text.
const ROWS: usize = 500;
const LONGEST: usize = 300;

/// A campaign at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// The version of Strait.
    pub strait: &'static str,
    /// The command: `strait fuzz`.
    pub command: &'static str,
    /// Where findings go.
    pub folder: String,
    pub state: CampaignState,
    /// Seconds since the work began.
    pub elapsed: f64,
    /// Seconds that are left, if that is known.
    pub left: Option<f64>,
    /// How much of the campaign is over, between 0 and 1, if that is known.
    pub progress: Option<f64>,
    /// What was done so far: `12 programs`, `24 runs`.
    pub done: Vec<String>,
    /// What is done per second: programs, runs.
    pub unit: &'static str,
    /// What is counted per target: programs, runs, tests.
    pub target_unit: &'static str,
    /// Per second since the beginning.
    pub rate: f64,
    /// Per second lately.
    pub rate_now: f64,
    /// Findings that were not known before.
    pub new_findings: u64,
    /// Findings of earlier sessions of this campaign.
    pub known_findings: u64,
    /// The last new findings, the newest first.
    pub findings: Vec<FindingRow>,
    pub targets: Vec<TargetRow>,
    pub workers: Vec<WorkerRow>,
    pub confirmations: Vec<ConfirmationRow>,
    /// Bytes of memory of this process and all that it started, if the system says so.
    pub memory: Option<u64>,
    /// What waits in a queue.
    pub queue: Option<QueueRow>,
}

/// Whether a campaign runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CampaignState {
    /// The work has not begun: something is compiled.
    #[default]
    Preparing,
    Running,
    /// Its time is over, or the user has stopped it; what is under way comes to its end.
    Stopping,
    Ended,
}

/// A new finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FindingRow {
    pub kind: String,
    pub target: String,
    pub title: String,
    pub directory: String,
    /// Seconds since it was found.
    pub ago: f64,
}

/// What was done for a target in this session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TargetRow {
    pub target: String,
    pub version: String,
    pub done: u64,
    /// Per second lately.
    pub rate_now: f64,
    pub findings: u64,
}

/// A thread of this process, or a worker of the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkerRow {
    pub name: String,
    /// `running`, `waiting`, `confirming`, `ended`; `lost` for workers of a queue.
    pub state: &'static str,
    pub what: String,
    /// Seconds in this state; for workers of a queue, since they were heard of.
    pub seconds: f64,
}

/// Something that looked wrong and is run again before it counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConfirmationRow {
    pub target: String,
    pub what: String,
    /// Seconds since it began; nothing while it waits.
    pub seconds: Option<f64>,
}

/// The queue of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueRow {
    pub given_out: u64,
    pub given_again: u64,
    pub under_way: u64,
    pub dead_letters: u64,
    pub workers_lost: u64,
}

/// What a snapshot is made from.
pub struct Source {
    pub command: &'static str,
    pub folder: String,
    pub counters: Arc<Counters>,
    pub line: Line,
    pub place: Place,
    pub started: Instant,
    pub stop: Stop,
    pub link: Option<Link>,
}

/// Makes snapshots, and remembers what rates are made from.
pub struct Sampler {
    source: Source,
    samples: VecDeque<Sample>,
    memory: Option<(Instant, Option<u64>)>,
}

/// Counts at a moment.
struct Sample {
    at: Instant,
    all: u64,
    targets: Vec<u64>,
}

impl Sampler {
    pub fn new(source: Source) -> Sampler {
        Sampler { source, samples: VecDeque::new(), memory: None }
    }

    /// The campaign now.
    pub fn snapshot(&mut self, now: Instant) -> Snapshot {
        let counts = self.source.counters.targets();
        let (rate_now, target_rates) = self.rates(&counts, now);
        let Source { command, folder, counters, line, place, started, stop, link } = &self.source;
        let elapsed = now.saturating_duration_since(*started);
        let rate = (line.rate)(counters) as f64 / elapsed.as_secs_f64().max(1e-3);
        let is_stopping = stop.is_due();
        let progress = place.progress(counters, elapsed);
        let row = |(target, rate_now): (&TargetCounts, f64)| TargetRow {
            target: plain(&target.target.target),
            version: plain(&target.target.version),
            done: (line.of_target)(target),
            rate_now,
            findings: target.findings,
        };
        let rates = target_rates.into_iter().chain(std::iter::repeat(0.0));
        let targets = counts.iter().zip(rates).map(row).take(ROWS).collect();
        let mut snapshot = Snapshot {
            strait: env!("CARGO_PKG_VERSION"),
            command,
            folder: plain(folder),
            state: if is_stopping { CampaignState::Stopping } else { CampaignState::Running },
            elapsed: elapsed.as_secs_f64(),
            left: place.left(counters, elapsed, rate).map(|left| left.as_secs_f64()),
            progress: progress.map(|(done, all)| done as f64 / (all as f64).max(1.0)),
            done: (line.texts)(counters).to_vec(),
            unit: line.unit,
            target_unit: line.target_unit,
            rate,
            rate_now,
            new_findings: counters.findings(),
            known_findings: place.known,
            findings: findings(counters, now),
            targets,
            workers: Vec::new(),
            confirmations: confirmations(counters, &counts, now),
            memory: None,
            queue: None,
        };
        match link {
            None => snapshot.workers = threads(counters, &counts, now),
            Some(link) => {
                snapshot.workers = workers(link, line.target_unit);
                snapshot.queue = Some(queue(link));
            }
        }
        snapshot.memory = self.memory(now);
        snapshot
    }

    /// What is done per second lately: by all, and for each target.
    fn rates(&mut self, counts: &[TargetCounts], now: Instant) -> (f64, Vec<f64>) {
        let Source { counters, line, .. } = &self.source;
        let targets = counts.iter().map(line.of_target).collect();
        self.samples.push_back(Sample { at: now, all: (line.rate)(counters), targets });
        let is_old = |sample: &Sample| now.saturating_duration_since(sample.at) >= WINDOW;
        // One sample that is old enough stays, so that the window is covered.
        while self.samples.get(1).is_some_and(is_old) {
            self.samples.pop_front();
        }
        let (Some(first), Some(last)) = (self.samples.front(), self.samples.back()) else {
            return (0.0, Vec::new());
        };
        let seconds = last.at.saturating_duration_since(first.at).as_secs_f64();
        let rate = |before: u64, after: u64| match seconds > 0.0 {
            true => after.saturating_sub(before) as f64 / seconds,
            false => 0.0,
        };
        let before = first.targets.iter().copied().chain(std::iter::repeat(0));
        let targets = last.targets.iter().zip(before);
        let targets = targets.map(|(after, before)| rate(before, *after)).collect();
        (rate(first.all, last.all), targets)
    }

    fn memory(&mut self, now: Instant) -> Option<u64> {
        match self.memory {
            Some((at, memory)) if now.saturating_duration_since(at) < MEASURED => memory,
            _ => {
                let memory = family_memory();
                self.memory = Some((now, memory));
                memory
            }
        }
    }
}

/// A text in one line, of bounded length, that acts on no terminal.
fn plain(text: &str) -> String {
    let text: String =
        text.chars().map(|char| if char.is_whitespace() { ' ' } else { char }).collect();
    let text = visible(&text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn findings(counters: &Counters, now: Instant) -> Vec<FindingRow> {
    let findings = counters.activity().findings().into_iter();
    let row = |finding: strait_campaign::LastFinding| FindingRow {
        kind: plain(&finding.kind),
        target: plain(&finding.target),
        title: plain(&finding.title),
        directory: plain(&finding.directory.display().to_string()),
        ago: seconds(finding.at, now),
    };
    findings.map(row).collect()
}

fn seconds(since: Instant, now: Instant) -> f64 {
    now.saturating_duration_since(since).as_secs_f64()
}

/// The name of a target, with its version if there are several.
fn named(counts: &[TargetCounts], number: usize) -> String {
    let Some(TargetCounts { target: own, .. }) = counts.get(number) else { return String::new() };
    match counts.iter().filter(|one| one.target.target == own.target).count() {
        1 => plain(&own.target),
        _ => plain(&format!("{} {}", own.target, own.version)),
    }
}

fn threads(counters: &Counters, counts: &[TargetCounts], now: Instant) -> Vec<WorkerRow> {
    let threads = counters.activity().threads().into_iter().enumerate();
    let row = |(number, thread): (usize, strait_campaign::Thread)| {
        let target = thread.target.map(|target| named(counts, target));
        let words = [target.unwrap_or_default(), plain(&thread.what)];
        let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
        WorkerRow {
            name: format!("{}", number + 1),
            state: match thread.state {
                ThreadState::Waiting => "waiting",
                ThreadState::Running => "running",
                ThreadState::Confirming => "confirming",
                ThreadState::Ended => "ended",
            },
            what: words.join(" "),
            seconds: seconds(thread.since, now),
        }
    };
    threads.map(row).take(ROWS).collect()
}

/// Threads that confirm by themselves come first.
fn confirmations(
    counters: &Counters,
    counts: &[TargetCounts],
    now: Instant,
) -> Vec<ConfirmationRow> {
    let activity = counters.activity();
    let threads = activity.threads().into_iter();
    let confirming = threads.filter(|thread| thread.state == ThreadState::Confirming);
    let by_threads = confirming.map(|thread| {
        let target = thread.target.unwrap_or_default();
        Suspicion { target, what: thread.what, begun: Some(thread.since) }
    });
    let row = |suspicion: Suspicion| ConfirmationRow {
        target: named(counts, suspicion.target),
        what: plain(&suspicion.what),
        seconds: suspicion.begun.map(|begun| seconds(begun, now)),
    };
    by_threads.chain(activity.suspicions()).map(row).take(ROWS).collect()
}

/// The workers of a queue. Their records are a few seconds old.
fn workers(link: &Link, unit: &str) -> Vec<WorkerRow> {
    let workers = link.activity().workers_seen().into_iter();
    let row = |worker: strait_queue::WorkerStatus| WorkerRow {
        name: plain(&worker.record.name),
        state: match worker.state {
            WorkerState::Working => "running",
            WorkerState::Idle => "waiting",
            WorkerState::Lost => "lost",
        },
        what: format!(
            "{} {unit}, {:.0} per second",
            worker.record.programs, worker.record.per_second
        ),
        seconds: worker.age.as_secs_f64(),
    };
    workers.map(row).take(ROWS).collect()
}

fn queue(link: &Link) -> QueueRow {
    let totals = link.activity().totals();
    QueueRow {
        given_out: totals.given_out,
        given_again: totals.given_again,
        under_way: totals.under_way,
        dead_letters: totals.dead_letters,
        workers_lost: totals.workers_lost,
    }
}

#[cfg(test)]
mod tests {
    use strait_findings::{Discovery, Kind, Ranges, Recorded};
    use strait_queue::{Part, TargetVersion};

    use super::*;

    const LINE: Line = Line {
        texts: |counters| [format!("{} programs", counters.programs()), "0 runs".to_owned()],
        rate: |counters| counters.programs(),
        unit: "programs",
        of_target: |target| target.programs,
        target_unit: "programs",
    };

    fn sampler(counters: &Arc<Counters>, place: Place) -> (Sampler, Instant) {
        let started = Instant::now();
        let source = Source {
            command: "strait fuzz",
            folder: "strait-out".to_owned(),
            counters: Arc::clone(counters),
            line: LINE,
            place,
            started,
            stop: Stop::default(),
            link: None,
        };
        (Sampler::new(source), started)
    }

    fn part(programs: u64) -> Part {
        let mut part = Part { programs, ..Part::default() };
        part.indices = Ranges::default();
        part
    }

    #[test]
    fn rates_are_those_of_the_last_seconds() {
        let counters = Arc::new(Counters::default());
        let target =
            |name: &str| TargetVersion { target: name.to_owned(), version: "1".to_owned() };
        counters.set_targets(&[target("x"), target("y")]);
        let (mut sampler, begun) =
            sampler(&counters, Place { all: Some(4000), ..Place::default() });
        let mut seen = Vec::new();
        for (second, programs, stalls) in [(0, 0, 0), (10, 1000, 50), (20, 0, 0), (30, 200, 0)] {
            counters.add(0, &part(programs));
            counters.add(1, &part(stalls));
            let now = sampler.snapshot(begun + Duration::from_secs(second));
            let rates: Vec<f64> = now.targets.iter().map(|target| target.rate_now).collect();
            seen.push((now.rate_now, rates, now.progress));
        }
        assert_eq!(
            seen,
            [
                (0.0, vec![0.0, 0.0], Some(0.0)),
                (105.0, vec![100.0, 5.0], Some(0.2625)),
                (0.0, vec![0.0, 0.0], Some(0.2625)),
                (20.0, vec![20.0, 0.0], Some(0.3125)),
            ]
        );
    }

    #[test]
    fn texts_from_elsewhere_are_harmless_and_short() {
        let counters = Arc::new(Counters::default());
        counters.set_targets(&[TargetVersion {
            target: "x\x1b[2J".to_owned(),
            version: "\u{202e}1\n2".to_owned(),
        }]);
        let kind = Kind::WORKER_DEATH;
        let mut discovery = Discovery::new(kind, "x", "1", 1, 1).title("<b>\x07</b>\n");
        discovery.title += &"long ".repeat(1000);
        let directory = "strait-out/findings/x".into();
        let recorded = Recorded { id: "x".to_owned(), directory, new: true, count: 1 };
        counters.add_finding(0, &recorded, &discovery);
        counters.activity().set_thread(0, ThreadState::Running, Some(0), "tab\tbell\x07");
        let (mut sampler, begun) = sampler(&counters, Place::default());
        let now = sampler.snapshot(begun + Duration::from_secs(1));
        assert_eq!(now.targets[0].target, "x\\u{1b}[2J");
        assert_eq!(now.targets[0].version, "\\u{202e}1 2");
        assert_eq!(now.targets[0].findings, 1);
        assert_eq!(now.workers[0].what, "x\\u{1b}[2J tab bell\\u{7}");
        assert!(now.findings[0].title.starts_with("<b>\\u{7}</b> long "), "{:?}", now.findings);
        assert!(now.findings[0].title.chars().count() <= LONGEST + 1);
        assert_eq!((now.new_findings, now.state), (1, CampaignState::Running));
    }

    #[test]
    fn suspicions_and_threads_that_confirm_are_shown() {
        let counters = Arc::new(Counters::default());
        counters.set_targets(&[TargetVersion { target: "x".to_owned(), version: "1".to_owned() }]);
        let activity = counters.activity();
        activity.set_thread(0, ThreadState::Confirming, Some(0), "TestA, run 3");
        let _waits = activity.suspect(0, "program 1");
        let _begun = activity.suspect(0, "program 2").begin();
        let (mut sampler, begun) = sampler(&counters, Place::default());
        let now = sampler.snapshot(begun);
        let shown: Vec<(&str, bool)> = now
            .confirmations
            .iter()
            .map(|one| (one.what.as_str(), one.seconds.is_some()))
            .collect();
        assert_eq!(shown, [("TestA, run 3", true), ("program 1", false), ("program 2", true)]);
    }
}
