//! `strait worker`: does the work of campaigns that others have begun at a queue.

pub mod sandbox;
pub mod trial;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use serde_json::json;
use strait_campaign::{Counters, Ending, Kind, KindInfo, Serving, Stop, Turn, Unit};
use strait_fuzz::{Fuzzing, TargetFinder};
use strait_queue::{Credentials, Item, Job, Link, Memory, Trial, WorkerSession, hand_over};
use strait_reorder::Reordering;
use strait_toolchain::{Launcher, Limits};
use strait_typefuzz::Typechecking;

use crate::campaign::cores;
use crate::commands::worker::sandbox::{Confined, Wish};
use crate::commands::worker::trial::OwnProcess;
use crate::duration;
use crate::interrupt;
use crate::metrics;
use crate::progress::{Progress, ProgressSource};
use crate::queue;
use crate::segments::Segment;
use crate::ui::{Status, Ui, grouped};

/// All kinds of campaigns. The first one is accepted if nothing else is said: it runs programs of Strait
/// only.
const KINDS: [KindInfo; 3] = [
    KindInfo::of::<Fuzzing<'static>>(),
    KindInfo::of::<Typechecking<'static>>(),
    KindInfo::of::<Reordering<'static>>(),
];
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
    memory: None,
    family: None,
};

/// Run as a worker for queued campaigns
#[derive(Args)]
#[command(after_help = "\
To start a campaign, run `strait fuzz`, `strait types` or `strait go fuzz` with --queue \
nats://HOST:4222/NAME. A queue can have any number of campaigns, and any number of workers on any \
machines. A worker sends its findings to the command that started the campaign. If a worker dies, \
another worker gets its work.
Credentials come from NATS' own files and variables: --creds or NATS_CREDS, NATS_NKEY, NATS_USER with \
NATS_PASSWORD, NATS_CA, NATS_CERT with NATS_KEY, NATS_CONTEXT.
Exit codes: 0 the worker was stopped or had no work for the time of --idle, 2 usage, input or environment error.")]
pub struct WorkerArgs {
    /// Queue from which to take work: nats://HOST:4222/NAME
    #[arg(long, value_name = "ADDRESS")]
    queue: String,
    /// NATS credentials file [default: from NATS_CREDS or NATS_CONTEXT]
    #[arg(long, value_name = "FILE")]
    creds: Option<PathBuf>,
    /// Number of work items to process at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Exit after this time without work [default: never]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    idle: Option<Duration>,
    /// Kinds of campaigns to take part in. fuzz: run generated programs on published channel libraries.
    /// types: run the compilers that a campaign names. go: compile and run the code of a campaign. Use
    /// types and go only if everyone who can write to the queue is allowed to run programs here
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = KINDS[0].name, value_parser = KINDS.map(|kind| kind.name))]
    accept: Vec<String>,
    /// Refuse to start if the code and the compilers of campaigns cannot be put into a sandbox here
    #[arg(long)]
    require_sandbox: bool,
    /// Run the code and the compilers of campaigns without a sandbox: with resource limits, but with all
    /// rights of the user
    #[arg(long, conflicts_with = "require_sandbox")]
    no_sandbox: bool,
    /// The flix.jar to use for the target flix
    #[arg(long, value_name = "FILE")]
    flix_jar: Option<PathBuf>,
    /// Serve metrics for Prometheus at this address, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<String>,
    /// Do this work alone: JOB:TARGET:START:END
    #[arg(long, hide = true, requires = "result")]
    trial: Option<String>,
    /// Where to write what came out of it
    #[arg(long, hide = true, value_name = "FILE")]
    result: Option<PathBuf>,
}

impl WorkerArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let address = queue::parse(&self.queue)?;
        let stop = interrupt::stop_for(ui)?;
        let credentials = Credentials::find(self.creds.as_deref())?;
        // A process that does some work alone says nothing about itself.
        let wanted = self.metrics.as_deref().filter(|_| self.trial.is_none());
        let listener = metrics::listen(wanted)?;
        let open = |patience| Link::open(&address, &credentials, patience, stop.flag());
        let link = match open(Duration::ZERO) {
            Err(error) if error.passes() && !stop.is_now() => {
                ui.note(format!("{error}; trying for a minute"));
                open(PATIENCE)?
            }
            opened => opened?,
        };
        let name = name();
        let accepts: Vec<&str> = self.accept.iter().map(String::as_str).collect();
        let accept = accepts.join(",");
        let mut presence = None;
        if self.trial.is_none() {
            metrics::serve(listener, metrics::Role::Worker, &link)?;
            presence = Some(link.be_present(&name, &accepts));
            ui.note(format!("working for {address} as {name}; accepts {accept}"));
        }
        let launcher = Launcher::this_program()?.limited(LIMITS).cancelled_by(stop.flag());
        let is_accepted = |name: &str| self.accept.iter().any(|kind| kind == name);
        let mut kinds = KINDS.iter();
        let needs_sandbox = kinds.any(|kind| kind.runs_foreign_code && is_accepted(kind.name));
        let confined = Confined::find(needs_sandbox, &launcher, self.wish())?;
        if let Some(notice) = confined.notice().filter(|_| self.trial.is_none()) {
            ui.note(notice);
        }
        let finder = TargetFinder::new(&launcher, Arc::clone(stop.flag()));
        let finder = finder.with_flix_jar(self.flix_jar.clone());
        let kinds: Vec<Box<dyn Kind>> = vec![
            Box::new(Serving::new(Fuzzing::new(&launcher, finder))),
            Box::new(Serving::new(Typechecking(confined.launcher()))),
            Box::new(Serving::new(Reordering(confined.launcher()))),
        ];
        let totals = Arc::new(Totals::of(&kinds));
        let shown = WorkerProgress { totals: Arc::clone(&totals), link: link.clone() };
        let progress = Progress::of(ui, Box::new(shown), stop.flag());
        let trial: Arc<dyn Trial> = Arc::new(OwnProcess {
            launcher: launcher.clone(),
            queue: self.queue.clone(),
            creds: self.creds.clone(),
            flix_jar: self.flix_jar.clone(),
            accept,
            wish: self.wish(),
            stop: Arc::clone(stop.flag()),
        });
        let mut worker = Worker {
            accept: &self.accept,
            kinds,
            trial: &trial,
            link: &link,
            name: &name,
            jobs: self.jobs.map_or_else(cores, usize::from),
            stop: &stop,
            totals: &totals,
            say: &|text| progress.say(text),
            is_away: false,
            foreign: HashSet::new(),
            kept: HashMap::new(),
        };
        if let (Some(work), Some(result)) = (&self.trial, &self.result) {
            let (job, work) = trial::parse(work)?;
            return worker.alone(&job, work, result);
        }
        let mut idle = Instant::now();
        while !stop.is_now() && self.idle.is_none_or(|most| idle.elapsed() < most) {
            if worker.round() {
                idle = Instant::now();
            } else {
                std::thread::sleep(LOOK);
            }
        }
        drop(worker);
        drop((progress, presence));
        let campaigns = totals.campaigns.load(Ordering::Relaxed);
        if ui.json {
            let (programs, runs) = totals.done();
            ui.document(&json!({
                "worker": name, "campaigns": campaigns, "programs": programs, "go_runs": runs,
                "sandbox": confined.sandbox(),
            }))?;
        } else {
            let of = if campaigns == 1 { "campaign" } else { "campaigns" };
            ui.line(format!("{} of {campaigns} {of}", totals.text()))?;
        }
        Ok(Status::Clean)
    }
}

impl WorkerArgs {
    fn wish(&self) -> Wish {
        match (self.require_sandbox, self.no_sandbox) {
            (true, _) => Wish::Always,
            (false, true) => Wish::Never,
            (false, false) => Wish::IfPossible,
        }
    }
}

/// What a worker has at hand.
struct Worker<'a> {
    accept: &'a [String],
    /// All kinds of campaigns that there are.
    kinds: Vec<Box<dyn Kind + 'a>>,
    trial: &'a Arc<dyn Trial>,
    link: &'a Link,
    name: &'a str,
    jobs: usize,
    stop: &'a Stop,
    totals: &'a Totals,
    say: &'a dyn Fn(String),
    /// The queue did not answer the last time.
    is_away: bool,
    /// Campaigns of other versions of Strait.
    foreign: HashSet<String>,
    kept: HashMap<String, Kept>,
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

impl Worker<'_> {
    /// Works for each campaign while it has work. `false` if there was nothing to do.
    fn round(&mut self) -> bool {
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
        let is_there = |id: &str| jobs.iter().any(|job| job.id == id);
        self.kinds.iter_mut().for_each(|kind| kind.retain(&is_there));
        self.kept.retain(|id, _| is_there(id));
        let mut is_busy = false;
        for job in jobs {
            let mut kept = self.kept.remove(&job.id).unwrap_or_default();
            let is_early = kept.not_before.is_some_and(|moment| Instant::now() < moment);
            if !is_early && !self.stop.is_now() {
                is_busy |= self.turn(&job, &mut kept);
            }
            self.kept.insert(job.id, kept);
        }
        is_busy
    }

    /// Works for a campaign, as long as it has work and others have none. `false` if it has none.
    fn turn(&mut self, job: &Job, kept: &mut Kept) -> bool {
        if let Err(why) = self.check(job) {
            if self.foreign.insert(job.id.clone()) {
                (self.say)(format!("campaign {} is left to others: {why:#}", job.id));
            }
            return false;
        }
        let session = WorkerSession::open(self.link, job, self.name, &kept.memory, self.trial);
        let Some(session) = session else { return false };
        let served = self.serve(job, &session, kept);
        let is_used = session.is_used();
        session.close();
        if is_used && !std::mem::replace(&mut kept.is_counted, true) {
            self.totals.campaigns.fetch_add(1, Ordering::Relaxed);
        }
        match served {
            Ok(()) => kept.failures = 0,
            Err(_) if self.stop.is_now() => {}
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

    fn serve(&mut self, job: &Job, session: &WorkerSession, kept: &mut Kept) -> anyhow::Result<()> {
        let kind = self.check(job)?;
        let turn =
            Turn { link: self.link, job, session, jobs: self.jobs, stop: self.stop, say: self.say };
        self.kinds[kind].serve(&turn, &mut kept.known).map_err(anyhow::Error::from_boxed)
    }

    /// May we take part in it? The number of its kind.
    fn check(&self, job: &Job) -> anyhow::Result<usize> {
        let kind = self.kinds.iter().position(|kind| kind.info().name == job.kind);
        let kind = kind.with_context(|| {
            format!("this version of Strait knows no campaigns of the kind `{}`", job.kind)
        })?;
        if !self.accept.contains(&job.kind) {
            anyhow::bail!(
                "it is of the kind `{0}`, which this worker does not accept; start it with --accept \
                 {0} if everyone who may write to the queue may run programs here",
                job.kind
            );
        }
        Ok(kind)
    }

    /// Does this work and nothing else; what came out goes into a file.
    fn alone(&mut self, job: &str, work: Item, result: &Path) -> anyhow::Result<Status> {
        let (jobs, _) = self.link.jobs()?;
        let job = jobs.into_iter().find(|one| one.id == *job).context("the campaign is over")?;
        let session = WorkerSession::alone(self.link, &job, work);
        let session = session.context("the campaign is over")?;
        self.serve(&job, &session, &mut Kept::default())?;
        hand_over(result, session.came_out().context("it was stopped")?)?;
        Ok(Status::Clean)
    }
}

/// What a worker has done, all campaigns together.
struct Totals {
    kinds: Vec<(Unit, Arc<Counters>)>,
    campaigns: AtomicU64,
}

impl Totals {
    fn of(kinds: &[Box<dyn Kind + '_>]) -> Totals {
        let kinds = kinds.iter().map(|kind| (kind.info().unit, Arc::clone(kind.counters())));
        Totals { kinds: kinds.collect(), campaigns: AtomicU64::default() }
    }

    /// Programs of Strait, and runs of the users' own tests.
    fn done(&self) -> (u64, u64) {
        self.kinds.iter().fold((0, 0), |(programs, runs), (unit, counters)| match unit {
            Unit::Programs => (programs + counters.programs(), runs),
            Unit::Runs => (programs, runs + counters.runs()),
        })
    }

    fn text(&self) -> String {
        match self.done() {
            (programs, 0) => format!("{} programs", grouped(programs)),
            (programs, runs) => {
                format!("{} programs and {} runs of Go tests", grouped(programs), grouped(runs))
            }
        }
    }
}

/// What the progress line says.
struct WorkerProgress {
    totals: Arc<Totals>,
    link: Link,
}

impl ProgressSource for WorkerProgress {
    fn place(&self) -> Option<(u64, u64)> {
        None
    }

    fn segments(&self, elapsed: Duration) -> Vec<Segment> {
        let (programs, runs) = self.totals.done();
        let rate = ((programs + runs) as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
        let mut segments = vec![
            Segment::new(1, self.totals.text()),
            Segment::new(2, format!("{} per second", grouped(rate))),
        ];
        if let Some(why) = self.link.trouble() {
            segments.push(Segment::new(0, "the queue takes no results"));
            segments.push(Segment::new(3, why));
        }
        segments
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
