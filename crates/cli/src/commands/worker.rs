//! `strait worker`: does the work of campaigns that others have begun at a queue.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::json;
use strait_fuzz::{Bounds, Campaign, Counters, Lanes, lanes_of};
use strait_queue::{Bench, Credentials, Item, Job, Link, Memory, Shard, Trial, hand_over};
use strait_toolchain::{Cache, Launcher, Limits};

use crate::commands::fuzz::cores;
use crate::commands::worker_trial::{self, OwnProcess};
use crate::duration;
use crate::interrupt;
use crate::progress::{Progress, Telling};
use crate::queue;
use crate::ui::{Status, Ui, grouped};

/// How long a server that does not answer is asked again.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks for campaigns.
const LOOK: Duration = Duration::from_millis(500);
/// A campaign that fails here is tried again after so long, then after twice as long, and so on.
const AGAIN: Duration = Duration::from_secs(30);
/// It is not doubled more often.
const DOUBLED: u32 = 5;

/// What programs may use that a worker starts for a campaign, where there is no stricter limit: compilers,
/// builds of crates, Go modules and their tests.
const LIMITS: Limits = Limits {
    cpu: None,
    address_space: None,
    file_size: Some(4 << 30),
    open_files: Some(4096),
    processes: Some(8192),
};

/// Do the work of campaigns that others have begun
#[derive(Args)]
#[command(after_help = "\
A campaign is begun with `strait fuzz`, `strait types` or `strait go fuzz` and --queue \
nats://HOST:4222/NAME; any number of workers on any \
machines take its work, and any number of campaigns. What a worker finds goes to whoever began the \
campaign. Work of a worker that dies is given to another.
Credentials come from NATS' own files and variables: --creds or NATS_CREDS, NATS_NKEY, NATS_USER with \
NATS_PASSWORD, NATS_CA, NATS_CERT with NATS_KEY, NATS_CONTEXT.
Exit codes: 0 it was stopped or had nothing to do for --idle, 2 the command line or the queue is in the \
way.")]
pub struct WorkerArgs {
    /// Where work comes from: nats://HOST:4222/NAME
    #[arg(long, value_name = "ADDRESS")]
    queue: String,
    /// A NATS creds file [default: NATS_CREDS, or what NATS_CONTEXT says]
    #[arg(long, value_name = "FILE")]
    creds: Option<PathBuf>,
    /// Pieces of work at once [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Leave when there was nothing to do for so long [default: never]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    idle: Option<Duration>,
    /// Which kinds of campaigns to work for: fuzz runs programs of Strait on published channel
    /// libraries, types runs compilers that a campaign names, go compiles and runs the code of the
    /// campaign. Name types and go only if everyone who may write to the queue may run programs here
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "fuzz")]
    accept: Vec<Accepted>,
    /// The flix.jar to use for the target flix
    #[arg(long, value_name = "FILE")]
    flix_jar: Option<PathBuf>,
    /// Do this work alone: JOB:LANE:START:END
    #[arg(long, hide = true, requires = "result")]
    trial: Option<String>,
    /// Where to write what came out of it
    #[arg(long, hide = true, value_name = "FILE")]
    result: Option<PathBuf>,
}

/// A kind of campaign that a worker may take part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Accepted {
    /// `strait fuzz`.
    Fuzz,
    /// `strait types`.
    Types,
    /// `strait go fuzz`.
    Go,
}

impl Accepted {
    /// The word in a campaign that means this kind.
    fn name(self) -> &'static str {
        match self {
            Accepted::Fuzz => "fuzz",
            Accepted::Types => "types",
            Accepted::Go => "go",
        }
    }

    fn of(job: &Job) -> Option<Accepted> {
        Accepted::value_variants().iter().copied().find(|kind| kind.name() == job.kind)
    }
}

impl WorkerArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let address = queue::parse(&self.queue)?;
        let stop = interrupt::flag_for(ui)?;
        let credentials = Credentials::find(self.creds.as_deref())?;
        let link = match Link::open(&address, &credentials, Duration::ZERO) {
            Err(error) if error.passes() => {
                ui.note(format!("{error}; trying for a minute"));
                Link::open(&address, &credentials, PATIENCE)?
            }
            opened => opened?,
        };
        let name = name();
        let accept: Vec<&str> = self.accept.iter().map(|kind| kind.name()).collect();
        let accept = accept.join(",");
        if self.trial.is_none() {
            ui.note(format!("working for {address} as {name}; accepts {accept}"));
        }
        let launcher = Launcher::this_program()?.limited(LIMITS);
        let mut lanes =
            Lanes::new(&launcher, Arc::clone(&stop)).with_flix_jar(self.flix_jar.clone());
        let counted = Arc::new(Counted::default());
        let told = Told { counted: Arc::clone(&counted), link: link.clone() };
        let progress = Progress::of(ui, Box::new(told), &stop);
        let trial: Arc<dyn Trial> = Arc::new(OwnProcess {
            launcher: launcher.clone(),
            queue: self.queue.clone(),
            creds: self.creds.clone(),
            flix_jar: self.flix_jar.clone(),
            accept,
            stop: Arc::clone(&stop),
        });
        let mut shift = Shift {
            accept: &self.accept,
            trial: &trial,
            link: &link,
            name: &name,
            jobs: self.jobs.map_or_else(cores, usize::from),
            launcher: &launcher,
            stop: &stop,
            counted: &counted,
            say: &|text| progress.say(text),
            is_away: false,
            foreign: HashSet::new(),
            kept: HashMap::new(),
            fuzzed: HashMap::new(),
            reordered: HashMap::new(),
        };
        if let (Some(work), Some(result)) = (&self.trial, &self.result) {
            let (job, work) = worker_trial::parse(work)?;
            return shift.alone(&job, work, result, &mut lanes);
        }
        let mut idle = Instant::now();
        while !stop.load(Ordering::SeqCst) && self.idle.is_none_or(|most| idle.elapsed() < most) {
            if shift.round(&mut lanes) {
                idle = Instant::now();
            } else {
                std::thread::sleep(LOOK);
            }
        }
        drop(progress);
        let programs = counted.programs();
        let campaigns = counted.campaigns.load(Ordering::Relaxed);
        if ui.json {
            let runs = counted.go.runs();
            ui.document(&json!({
                "worker": name, "campaigns": campaigns, "programs": programs, "go_runs": runs,
            }))?;
        } else {
            let of = if campaigns == 1 { "campaign" } else { "campaigns" };
            ui.line(format!("{} of {campaigns} {of}", counted.told()))?;
        }
        Ok(Status::Clean)
    }
}

/// What a worker has at hand.
struct Shift<'a> {
    accept: &'a [Accepted],
    trial: &'a Arc<dyn Trial>,
    link: &'a Link,
    name: &'a str,
    jobs: usize,
    launcher: &'a Launcher,
    stop: &'a Arc<AtomicBool>,
    counted: &'a Counted,
    say: &'a dyn Fn(String),
    /// The queue did not answer the last time.
    is_away: bool,
    /// Campaigns of other versions of Strait.
    foreign: HashSet<String>,
    kept: HashMap<String, Kept>,
    /// What campaigns need that were served before; seeking it may take long.
    fuzzed: HashMap<String, strait_fuzz::Served>,
    /// Modules that were compiled.
    reordered: HashMap<String, strait_reorder::Served>,
}

/// What is kept of a campaign from one turn to the next.
#[derive(Default)]
struct Kept {
    memory: Memory,
    /// Faults that were confirmed.
    known: HashSet<String>,
    is_counted: bool,
    failures: u32,
    not_before: Option<Instant>,
    /// Why it failed the last time.
    why: String,
}

impl Shift<'_> {
    /// Works for each campaign while it has work. `false` if there was nothing to do.
    fn round(&mut self, lanes: &mut Lanes<'_>) -> bool {
        let Ok((jobs, others)) = self.link.jobs() else {
            if !std::mem::replace(&mut self.is_away, true) {
                (self.say)("the queue does not answer; trying again".to_owned());
            }
            return false;
        };
        self.is_away = false;
        for (id, why) in others {
            if self.foreign.insert(id.clone()) {
                (self.say)(format!("campaign {id} is left to others: {why}"));
            }
        }
        let is_there = |id: &String| jobs.iter().any(|job| job.id == *id);
        // Their folders are removed.
        self.reordered.retain(|id, _| is_there(id));
        self.fuzzed.retain(|id, _| is_there(id));
        self.kept.retain(|id, _| is_there(id));
        let mut is_busy = false;
        for job in jobs {
            let mut kept = self.kept.remove(&job.id).unwrap_or_default();
            let is_early = kept.not_before.is_some_and(|moment| Instant::now() < moment);
            if !is_early && !self.stop.load(Ordering::SeqCst) {
                is_busy |= self.turn(&job, &mut kept, lanes);
            }
            self.kept.insert(job.id, kept);
        }
        is_busy
    }

    /// Works for a campaign, as long as it has work and others have none. `false` if it has none.
    fn turn(&mut self, job: &Job, kept: &mut Kept, lanes: &mut Lanes<'_>) -> bool {
        if let Err(why) = self.check(job) {
            if self.foreign.insert(job.id.clone()) {
                (self.say)(format!("campaign {} is left to others: {why:#}", job.id));
            }
            return false;
        }
        let bench = Bench::open(self.link, job, self.name, &kept.memory, self.stop, self.trial);
        let Some(bench) = bench else { return false };
        let served = self.serve(job, &bench, kept, lanes);
        let is_used = bench.is_used();
        bench.close();
        if is_used && !std::mem::replace(&mut kept.is_counted, true) {
            self.counted.campaigns.fetch_add(1, Ordering::Relaxed);
        }
        match served {
            Ok(()) => kept.failures = 0,
            Err(_) if self.stop.load(Ordering::SeqCst) => {}
            Err(error) => {
                // What is wrong here may be well later: a server that was away, a full disk.
                let pause = AGAIN * 2_u32.pow(kept.failures.min(DOUBLED));
                (kept.failures, kept.not_before) =
                    (kept.failures + 1, Some(Instant::now() + pause));
                let why = format!("{error:#}");
                if kept.why != why {
                    (self.say)(format!("campaign {} is left to others for now: {why}", job.id));
                    kept.why = why;
                }
            }
        }
        is_used
    }

    fn serve(
        &mut self,
        job: &Job,
        bench: &Bench,
        kept: &mut Kept,
        lanes: &mut Lanes<'_>,
    ) -> anyhow::Result<()> {
        match self.check(job)? {
            Accepted::Fuzz => self.fuzz(job, bench, kept, lanes),
            Accepted::Types => self.types(job, bench, kept),
            Accepted::Go => self.go(job, bench),
        }
    }

    /// May we take part in it?
    fn check(&self, job: &Job) -> anyhow::Result<Accepted> {
        let kind = Accepted::of(job);
        let kind = kind.with_context(|| {
            format!("this version of Strait knows no campaigns of the kind `{}`", job.kind)
        })?;
        if !self.accept.contains(&kind) {
            anyhow::bail!(
                "it is of the kind `{0}`, which this worker does not accept; start it with --accept \
                 {0} if everyone who may write to the queue may run programs here",
                kind.name()
            );
        }
        Ok(kind)
    }

    /// Does this work and nothing else; what came out goes into a file.
    fn alone(
        &mut self,
        job: &str,
        work: Item,
        result: &Path,
        lanes: &mut Lanes<'_>,
    ) -> anyhow::Result<Status> {
        let (jobs, _) = self.link.jobs()?;
        let job = jobs.into_iter().find(|one| one.id == *job).context("the campaign is over")?;
        let bench = Bench::alone(self.link, &job, work, self.stop);
        let bench = bench.context("the campaign is over")?;
        self.serve(&job, &bench, &mut Kept::default(), lanes)?;
        hand_over(result, bench.came_out().context("it was stopped")?)?;
        Ok(Status::Clean)
    }

    fn fuzz(
        &mut self,
        job: &Job,
        bench: &Bench,
        kept: &mut Kept,
        lanes: &mut Lanes<'_>,
    ) -> anyhow::Result<()> {
        if !self.fuzzed.contains_key(&job.id) {
            let served = lanes_of(job, lanes, &mut |text| (self.say)(text.to_owned()))?;
            self.fuzzed.extend(served.map(|served| (job.id.clone(), served)));
        }
        let Some(served) = self.fuzzed.get(&job.id) else { return Ok(()) };
        let bounds = Bounds {
            seed: served.seed,
            count: None,
            time: None,
            jobs: self.jobs,
            shard: Shard::default(),
        };
        let campaign = Campaign {
            launcher: self.launcher,
            lanes: &served.lanes,
            bounds,
            stop: self.stop,
            counters: &self.counted.fuzz,
        };
        Ok(campaign.serve(bench, &mut kept.known)?)
    }

    fn types(&self, job: &Job, bench: &Bench, kept: &mut Kept) -> anyhow::Result<()> {
        let served = strait_typefuzz::served(job, self.launcher, self.stop)?;
        let Some(served) = served else { return Ok(()) };
        let campaign = strait_typefuzz::Campaign {
            recipe: &served.recipe,
            oracles: &served.oracles,
            count: None,
            deadline: None,
            jobs: self.jobs,
            shard: Shard::default(),
            stop: self.stop,
            counters: &self.counted.types,
        };
        Ok(campaign.serve(bench, &mut kept.known)?)
    }

    fn go(&mut self, job: &Job, bench: &Bench) -> anyhow::Result<()> {
        if !self.reordered.contains_key(&job.id) {
            let mut tell = |package| (self.say)(format!("compiling the tests of {package}"));
            let (link, cache) = (self.link, Cache::find()?);
            let served =
                strait_reorder::served(job, link, self.launcher, &cache, self.stop, &mut tell)?;
            self.reordered.extend(served.map(|served| (job.id.clone(), served)));
        }
        let Some(served) = self.reordered.get(&job.id) else { return Ok(()) };
        Ok(served.serve(bench, self.jobs, self.stop, &self.counted.go)?)
    }
}

/// What a worker has done, all campaigns together.
#[derive(Default)]
struct Counted {
    fuzz: Counters,
    types: strait_typefuzz::Counters,
    go: strait_reorder::Counters,
    campaigns: AtomicU64,
}

impl Counted {
    fn programs(&self) -> u64 {
        self.fuzz.programs() + self.types.programs.load(Ordering::Relaxed)
    }

    /// Go tests are no programs of ours, and are told apart.
    fn told(&self) -> String {
        let programs = format!("{} programs", grouped(self.programs()));
        match self.go.runs() {
            0 => programs,
            runs => format!("{programs} and {} runs of Go tests", grouped(runs)),
        }
    }
}

/// What the progress line says.
struct Told {
    counted: Arc<Counted>,
    link: Link,
}

impl Telling for Told {
    fn place(&self) -> Option<(u64, u64)> {
        None
    }

    fn line(&self, elapsed: Duration) -> String {
        let all = self.counted.programs() + self.counted.go.runs();
        let rate = (all as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
        let trouble = self.link.trouble().map(|why| format!("; the queue takes no results: {why}"));
        let trouble = trouble.unwrap_or_default();
        format!("{}, {} a second{trouble}", self.counted.told(), grouped(rate))
    }
}

/// A name that people recognise in what `nats` shows.
fn name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "worker",
        host => host,
    };
    format!("{host}-{}", std::process::id())
}
