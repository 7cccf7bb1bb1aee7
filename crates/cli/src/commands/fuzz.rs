//! `strait fuzz`: a campaign against channel runtimes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::bail;
use clap::Args;
use strait_findings::{Discovery, Finding, Harvest, Recorded, Recovery, Resumed, Store};
use strait_fuzz::{
    Begun, Bounds, Campaign, Counters, Lane, Lanes, Request, begin, check_targets, job,
};
use strait_queue::{CannotBegin, Link, Outsourced, Shard};
use strait_toolchain::Launcher;

use crate::commands::fuzz_summary::Summary;
use crate::duration;
use crate::interrupt;
use crate::progress::{Progress, Telling};
use crate::queue::{Events, QueueArgs};
use crate::ui::{Paint, Status, Ui, grouped};

/// The time of a campaign that says nothing about its end.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// Seeds that we choose are short enough to be typed.
const SEEDS: u128 = 1_000_000_000;

/// Catch channel runtimes lying, hanging or crashing
#[derive(Args)]
#[command(after_help = "\
Without TARGET every channel crate that is built in is fuzzed; `strait targets` lists them.
Other languages are fuzzed with your own tools: go@1.21.0, kotlin@1.3.2 (the version of \
kotlinx.coroutines), core-async.
Other versions of a crate are built with your cargo: crossbeam-channel@0.5.14, kanal@0.1.0-pre1, or a range \
flume@0.10.0..0.12.0, which ends with a table of versions and what was found in them.
Exit codes: 0 nothing found, 1 something found, 2 the command line, the folder or the machine is \
in the way.")]
pub struct FuzzArgs {
    /// What to fuzz: NAME, NAME@VERSION or NAME@FROM..TO [default: all that is built in]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Which family of programs [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Programs a target
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// How long, such as 90s, 10m, 1h30m [default: 1m unless --count is given]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Worker processes at once [default: one a core]
    #[arg(long, value_name = "N", conflicts_with = "queue", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Only share I of N, for N machines that know nothing of each other: 0/4, 1/4, 2/4, 3/4.
    /// Indices are dealt in runs of a thousand, so a share of a small count may be empty
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Folder for what is found
    #[arg(long, value_name = "DIR", default_value = "strait-out")]
    out: PathBuf,
    /// Go on with the campaign in that folder
    #[arg(long)]
    resume: bool,
    /// The flix.jar to use for the target flix
    #[arg(long, value_name = "FILE")]
    flix_jar: Option<PathBuf>,
    #[command(flatten)]
    queue: QueueArgs,
    /// With --queue: programs in a piece of work [default: 256, fewer if --count is small]
    #[arg(long, value_name = "K", requires = "queue", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    item: Option<u64>,
}

impl FuzzArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let stop = interrupt::flag_for(ui)?;
        let launcher = Launcher::this_program()?;
        // What is wrong with the command line is said before a folder is made for it.
        check_targets(&self.targets)?;
        if self.resume && !self.out.exists() {
            let folder = self.out.clone();
            return Err(CannotBegin::NothingToResume { folder, command: "strait fuzz" }.into());
        }
        let link = self.queue.open()?;
        let mut store = Store::open(&self.out)?;
        tell_recovery(ui, store.recovery());
        let begun = begin(&mut store, &self.out, &self.request(), some_seed())?;
        let mut lanes =
            Lanes::new(&launcher, Arc::clone(&stop)).with_flix_jar(self.flix_jar.clone());
        let fuzzed = match begun.targets.as_slice() {
            [] => Lanes::all(),
            targets => lanes.resolve(targets, &mut |text| ui.note(text))?,
        };
        for (target, why) in &lanes.missing {
            ui.note(format!("{target} is left out: {why}"));
        }
        let counters = Arc::new(Counters::default());
        let started = Instant::now();
        let mut events = Events::of("fuzz");
        let queue = link.as_ref().map(|link| (link, &mut events));
        let ended =
            self.campaign(ui, &stop, &launcher, &fuzzed, &begun, &counters, &mut store, queue);
        let seconds = started.elapsed().as_secs_f64();
        if link.is_some() && !stop.load(Ordering::SeqCst) {
            let done = fuzzed
                .iter()
                .map(|lane| Ok(store.executed(begun.id, &lane.target, &lane.version)?.len()));
            let done = done.sum::<anyhow::Result<u64>>()?;
            let all = begun.count.map(|count| begun.shard.size(count) * fuzzed.len() as u64);
            events.compare(done, all);
        }
        let harvest = self.harvest(&store, &begun, &fuzzed)?;
        let summary = Summary {
            folder: &self.out,
            seed: begun.seed,
            lanes: &fuzzed,
            unbuilt: &lanes.unbuilt,
            totals: store.totals(begun.id)?,
            harvest,
            counters: &counters,
            seconds,
            events: &events,
        };
        store.close()?;
        let page = ended.is_ok().then(|| write_report(ui, &self.out)).transpose()?;
        if ui.json && ended.is_ok() {
            ui.document(&summary.document())?;
        } else if !ui.json {
            summary.show(ui, page.as_deref())?;
        }
        ended?;
        if stop.load(Ordering::SeqCst) {
            let folder = self.out.display();
            ui.note(format!(
                "stopped before the end; `strait fuzz --resume --out {folder}` goes on"
            ));
        }
        match (summary.harvest.found.is_empty(), lanes.missing.first()) {
            (false, _) => Ok(Status::Found),
            (true, None) if events.is_short() => bail!(
                "the campaign is not complete; `strait fuzz --resume --queue {}` with the same --out \
                 goes on",
                self.queue.queue.as_deref().unwrap_or("ADDRESS")
            ),
            (true, None) => Ok(Status::Clean),
            (true, Some((target, _))) => bail!("{target} could not be fuzzed, see above"),
        }
    }

    /// What this campaign has found, its earlier sessions included.
    fn harvest(&self, store: &Store, begun: &Begun, lanes: &[Lane]) -> anyhow::Result<Harvest> {
        let could_find = |finding: &Finding| {
            let is_of = |lane: &Lane| {
                (&*lane.target, &*lane.version)
                    == (finding.target.as_str(), finding.version.as_str())
            };
            lanes.iter().any(is_of)
        };
        let resumed = self.resume.then_some(Resumed { id: begun.id, could_find: &could_find });
        Ok(store.harvest(resumed, &|_| true)?)
    }

    fn request(&self) -> Request {
        let default = (self.count.is_none() && !self.resume).then_some(DEFAULT_TIME);
        Request {
            targets: self.targets.clone(),
            seed: self.seed,
            count: self.count,
            time: self.time.or(default),
            shard: self.shard,
            resume: self.resume,
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a campaign meet here and only here")]
    fn campaign(
        &self,
        ui: &Ui,
        stop: &Arc<AtomicBool>,
        launcher: &Launcher,
        lanes: &[Lane],
        begun: &Begun,
        counters: &Arc<Counters>,
        store: &mut Store,
        queue: Option<(&Link, &mut Events)>,
    ) -> anyhow::Result<()> {
        let bounds = Bounds {
            seed: begun.seed,
            count: begun.count,
            time: begun.time,
            jobs: self.jobs.map_or_else(cores, usize::from),
            shard: begun.shard,
        };
        let done: u64 = store.totals(begun.id)?.iter().map(|total| total.programs).sum();
        let telling = Told {
            counters: Arc::clone(counters),
            time: begun.time,
            all: begun
                .count
                .map(|count| begun.shard.size(count).saturating_mul(lanes.len() as u64)),
            done,
            known: self.harvest(store, begun, lanes)?.found.len() as u64,
            started: Instant::now(),
        };
        let progress = Progress::of(ui, Box::new(telling), stop);
        let mut found = |recorded: &Recorded, discovery: &Discovery| {
            let heading = ui.paint(Paint::Red, discovery.kind.as_str());
            let place = recorded.directory.display();
            progress.say(format!("{heading} {}\n     {place}", discovery.title));
        };
        let campaign = Campaign { launcher, lanes, bounds, stop, counters };
        let Some((link, events)) = queue else {
            return Ok(campaign.run(store, begun.id, &mut found)?);
        };
        let job = job(link, self.queue.lease(), begun.seed, lanes, begun.count)?;
        let tell = &mut |told| {
            if let Some(text) = events.hear(link, told) {
                progress.say(text);
            }
        };
        let item = self.item;
        let keep = &|| Ok(());
        let outsourced = Outsourced { link, job: &job, folder: &self.out, item, keep, tell };
        Ok(campaign.submit(outsourced, store, begun.id, &mut found)?)
    }
}

/// What the progress line says.
struct Told {
    counters: Arc<Counters>,
    time: Option<Duration>,
    all: Option<u64>,
    /// Programs of earlier sessions.
    done: u64,
    /// Findings of earlier sessions.
    known: u64,
    started: Instant,
}

impl Telling for Told {
    fn place(&self) -> Option<(u64, u64)> {
        match (self.time, self.all) {
            (Some(time), _) => {
                let all = time.as_millis() as u64;
                Some(((self.started.elapsed().as_millis() as u64).min(all), all))
            }
            (None, Some(all)) => Some((self.done + self.counters.programs(), all)),
            (None, None) => None,
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let programs = self.counters.programs();
        let rate = (programs as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
        let findings = self.known + self.counters.findings();
        let left = self
            .left(programs, rate)
            .map(|left| format!(", {} left", crate::progress::duration(left)));
        format!(
            "{} programs, {} a second, {} runs, {findings} {}{}",
            grouped(programs),
            grouped(rate),
            grouped(self.counters.runs()),
            if findings == 1 { "finding" } else { "findings" },
            left.unwrap_or_default(),
        )
    }
}

impl Told {
    fn left(&self, programs: u64, rate: u64) -> Option<Duration> {
        if let Some(time) = self.time {
            return Some(time.saturating_sub(self.started.elapsed()));
        }
        let missing = self.all?.saturating_sub(self.done + programs);
        (rate > 0).then(|| Duration::from_secs(missing / rate))
    }
}

/// Writes the page about a folder's campaigns, says what is missing on it, and returns its path.
pub fn write_report(ui: &Ui, folder: &Path) -> anyhow::Result<PathBuf> {
    let written = strait_findings::write_report(folder)?;
    for problem in &written.missing {
        ui.note(format!("not in the report: {problem}"));
    }
    Ok(written.path)
}

/// What the folder holds besides, in words.
pub fn tell_earlier(ui: &Ui, harvest: &Harvest) {
    match harvest.earlier {
        0 => {}
        1 => ui.note("1 fault known from before did not show this time"),
        earlier => {
            ui.note(format!("{earlier} faults known from before did not show this time"));
        }
    }
}

/// How often a fault was shown, and whether it is news.
pub fn how_often(finding: &Finding, harvest: &Harvest) -> String {
    let known = if harvest.is_known(finding) { ", known from before" } else { "" };
    match finding.count {
        1 => format!("by 1 program{known}"),
        count => format!("by {} programs{known}", grouped(count)),
    }
}

/// What an earlier run had left in disorder.
pub fn tell_recovery(ui: &Ui, recovery: &Recovery) {
    let Recovery { damaged_index, journal, adopted, forgotten, cleaned: _, unreadable } = recovery;
    let moved = damaged_index.as_ref().map(|path| format!(" and was moved to {}", path.display()));
    match (moved, journal) {
        (Some(moved), true) => ui.note(format!(
            "the index was damaged{moved}; all findings are kept, and the journal says what was executed"
        )),
        (Some(moved), false) => ui.note(format!(
            "the index was damaged{moved}; all findings are kept, and finished programs will run again"
        )),
        (None, true) => {
            ui.note("the index was missing; the journal says what was executed");
        }
        (None, false) => {}
    }
    if !adopted.is_empty() {
        ui.note(format!("{} findings were taken back into the index", adopted.len()));
    }
    if !forgotten.is_empty() {
        ui.note(format!(
            "{} findings have no directory any more and are forgotten",
            forgotten.len()
        ));
    }
    for problem in unreadable {
        ui.note(problem);
    }
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A seed that differs from time to time.
pub fn some_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    ((now.as_nanos() / 1_000) % SEEDS) as u64
}
