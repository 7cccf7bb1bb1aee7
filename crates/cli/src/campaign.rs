//! What the commands that run campaigns have in common: their arguments, the folder, the queue, the clock, the
//! progress line, and what is said in the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use strait_campaign::{
    Begun, Campaign, CannotBegin, Counters, Ending, Request, Settings, Stop, TargetCounts, Timer,
    Workload, begin,
};
use strait_findings::{
    Discovery, Finding, Harvest, Recorded, Recovery, Resumed, Store, Written, record_session,
    shell_word,
};
use strait_queue::{Job, Link, QueueOptions, Shard};

use crate::duration;
use crate::live::{Live, LiveArgs, Source};
use crate::progress::{Progress, ProgressSource};
use crate::queue::{Events, QueueArgs};
use crate::segments::Segment;
use crate::session;
use crate::summary::{Outcome, Summary};
use crate::ui::{Paint, Status, Ui, grouped};

/// The time of a campaign that says nothing about its end.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// Seeds that we choose are short enough to be typed.
const SEEDS: u128 = 1_000_000_000;

/// What all campaigns are told on the command line.
#[derive(Args)]
pub struct CampaignArgs {
    /// Random seed [default: random, printed in the summary]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Time limit, such as 90s, 10m or 1h30m, including compilation [default: 1m after compilation,
    /// or no time limit if the number of programs or runs is limited]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub time: Option<Duration>,
    /// Number of programs, compilers or tests that run at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Run only share I of N, such as 0/4, 1/4, 2/4 or 3/4 on four machines, which need no connection.
    /// Programs are divided into blocks of 1,000, so with a small --count a share may be empty
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Folder for findings
    #[arg(long, value_name = "DIR", default_value = "strait-out")]
    pub out: PathBuf,
    /// Resume the campaign in the folder of --out
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub live: LiveArgs,
    #[command(flatten)]
    pub queue: QueueArgs,
}

impl CampaignArgs {
    /// Threads.
    pub fn jobs(&self) -> usize {
        self.jobs.map_or_else(cores, usize::from)
    }

    /// Says what is wrong before a folder is made: nothing to resume, or no terminal for --watch.
    pub fn check<S: Settings>(&self) -> anyhow::Result<()> {
        if self.resume && !self.out.exists() {
            return Err(CannotBegin::nothing::<S>(&self.out).into());
        }
        self.live.check()
    }
}

/// The clock of a command: it starts before anything else, since compiling counts.
pub struct Clock {
    stop: Stop,
    started: Instant,
    /// What the user allows the whole command, if that was said.
    limit: Option<Duration>,
    /// In force until the command ends.
    timer: Timer,
}

impl Clock {
    /// Starts it. The command gets so long, if the user says so.
    pub fn start(stop: &Stop, limit: Option<Duration>) -> Clock {
        Clock { stop: stop.clone(), started: Instant::now(), limit, timer: stop.after(limit) }
    }

    /// How long it has run.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The work begins. If the user has not limited the time of the whole command, the work's own limit
    /// counts from now. Gives the time that is left.
    pub fn start_work(&mut self, limit: Option<Duration>) -> Option<Duration> {
        if self.limit.is_none() {
            self.started = Instant::now();
            self.timer = self.stop.after(limit);
        }
        let limit = self.limit.or(limit)?;
        Some(limit.saturating_sub(self.started.elapsed()))
    }
}

/// What was made before the work begins: compilers, crates, tests. If that failed because the time was over,
/// this is what is said.
pub fn in_time<T, E: Into<anyhow::Error>>(stop: &Stop, made: Result<T, E>) -> anyhow::Result<T> {
    match made {
        Err(_) if stop.is_now() && !stop.was_interrupted() => Err(anyhow::anyhow!(
            "the time was over before everything was compiled; give --time more, or leave it out"
        )),
        made => made.map_err(Into::into),
    }
}

/// A command that runs a campaign, in its folder.
pub struct Session<'a> {
    pub ui: &'a Ui,
    pub args: &'a CampaignArgs,
    pub stop: &'a Stop,
    pub clock: Clock,
    pub link: Option<Link>,
    pub counters: Arc<Counters>,
    pub events: Events,
    pub live: Option<Live>,
    /// The command that begins such campaigns.
    command: &'static str,
}

/// How a kind of campaign is run and shown.
pub struct CampaignOptions<'a> {
    /// With a queue: programs in a piece of work, if the user wants to say.
    pub item: Option<u64>,
    /// Keeps in the queue what workers need.
    pub keep: &'a dyn Fn(&Link, &Job) -> Result<(), strait_queue::Error>,
    /// Findings of earlier sessions.
    pub known: u64,
    /// What the progress line says.
    pub line: Line,
    /// Says at once what was found.
    pub tell: &'a dyn Fn(&Ui, &Progress, &Recorded, &Discovery),
}

/// What the progress line and the live views say of a kind of campaign.
#[derive(Clone, Copy)]
pub struct Line {
    /// What was done so far: what matters more, and what is left out on a narrow terminal.
    pub texts: fn(&Counters) -> [String; 2],
    /// What is done per second, and its name.
    pub rate: fn(&Counters) -> u64,
    pub unit: &'static str,
    /// What was done for a target, and its name.
    pub of_target: fn(&TargetCounts) -> u64,
    pub target_unit: &'static str,
}

impl<'a> Session<'a> {
    /// Opens the queue and the folder, for a campaign with such settings.
    pub fn open<S: Settings>(
        ui: &'a Ui,
        args: &'a CampaignArgs,
        stop: &'a Stop,
        clock: Clock,
    ) -> anyhow::Result<(Self, Store)> {
        let live = args.live.open(ui)?;
        let link = args.queue.open(stop.flag())?;
        let store = Store::open(&args.out)?;
        tell_recovery(ui, store.recovery());
        let (counters, events) = (Arc::default(), Events::of(S::KIND));
        let command = S::COMMAND;
        Ok((Session { ui, args, stop, clock, link, counters, events, live, command }, store))
    }

    /// Begins or resumes the campaign. If nothing else limits it, it gets a minute.
    pub fn begin<S: Settings>(
        &self,
        store: &mut Store,
        settings: S,
        count: Option<u64>,
        is_limited: bool,
    ) -> anyhow::Result<Begun<S>> {
        let CampaignArgs { seed, time, shard, resume, .. } = *self.args;
        let time = time.or((!is_limited && !resume).then_some(DEFAULT_TIME));
        let request = Request { settings, seed, count, time, shard, resume };
        Ok(begin(store, &self.args.out, request, some_seed())?)
    }

    /// The progress line of a campaign that has done some of its work before.
    pub fn progress(&self, line: Line, place: Place) -> Progress {
        let (counters, started) = (Arc::clone(&self.counters), self.clock.started);
        let follow = |live: &Live| {
            live.follow(Source {
                command: self.command,
                folder: self.args.out.display().to_string(),
                counters: Arc::clone(&counters),
                line,
                place,
                started,
                stop: self.stop.clone(),
                link: self.link.clone(),
            })
        };
        let following = self.live.as_ref().map(follow);
        if let Some(live) = self.live.as_ref().filter(|_| self.args.live.watch) {
            return Progress::watched(self.ui, live, self.stop).with(following);
        }
        let told = CampaignProgress { counters, line, place, started };
        Progress::of(self.ui, Box::new(told), self.stop.flag()).with(following)
    }

    /// Runs a campaign whose work comes in pieces, in this process or by the workers of the queue.
    pub fn run<S, W: Workload>(
        &mut self,
        store: &mut Store,
        workload: &W,
        begun: &Begun<S>,
        options: &CampaignOptions<'_>,
    ) -> Result<(), W::Error> {
        self.clock.start_work(begun.time);
        let shard = begun.shard;
        let (counters, stop) = (Arc::clone(&self.counters), self.stop);
        let (jobs, count) = (self.args.jobs(), begun.count);
        let campaign = Campaign { workload, count, shard, jobs, stop, counters: &counters };
        let (done, all) = campaign.progress(store, begun.id)?;
        let time = self.args.time.or(begun.time);
        let progress = self.progress(options.line, Place { time, all, done, known: options.known });
        let ui = self.ui;
        let mut found = |recorded: &Recorded, discovery: &Discovery| {
            (options.tell)(ui, &progress, recorded, discovery);
        };
        let Some(link) = &self.link else {
            campaign.run(store, begun.id, &mut found)?;
            let (done, all) = campaign.progress(store, begun.id)?;
            self.events.shortfall = self.stop.shortfall(done, all, false);
            return Ok(());
        };
        let job = campaign.job(link, self.args.queue.lease())?;
        (options.keep)(link, &job).map_err(strait_campaign::Error::from)?;
        let events = &mut self.events;
        let queue = QueueOptions {
            link,
            job: &job,
            folder: &self.args.out,
            item: options.item,
            keep: &|| (options.keep)(link, &job),
            tell: &mut |told| {
                if let Some(text) = events.hear(link, told) {
                    progress.say(text);
                }
            },
        };
        campaign.submit(queue, store, begun.id, &mut found)?;
        let (done, all) = campaign.progress(store, begun.id)?;
        self.events.shortfall = self.stop.shortfall(done, all, true);
        Ok(())
    }

    /// What the campaign has found, its earlier sessions included, among those findings that matter.
    pub fn harvest<S>(
        &self,
        store: &Store,
        begun: &Begun<S>,
        could_find: &dyn Fn(&Finding) -> bool,
        matters: &dyn Fn(&Finding) -> bool,
    ) -> anyhow::Result<Harvest> {
        let resumed = self.args.resume.then_some(Resumed { id: begun.id, could_find });
        Ok(store.harvest(resumed, matters)?)
    }

    /// Everything there is to say about the campaign.
    pub fn outcome(&self, seed: u64, harvest: Harvest) -> Outcome<'_> {
        let Session { counters, events, clock, .. } = self;
        let (folder, seconds) = (self.args.out.as_path(), clock.seconds());
        Outcome { folder, seed, harvest, counters, seconds, events }
    }

    /// Closes the store, writes the report and says what the campaign came to. After a failure there is
    /// no document, but people see how far it came.
    pub fn conclude<E: Into<anyhow::Error>>(
        &self,
        store: Store,
        ended: Result<(), E>,
        summary: &dyn Summary,
    ) -> anyhow::Result<()> {
        store.close()?;
        record_session(&self.args.out, session::record(self.counters.counts()))?;
        let page =
            ended.is_ok().then(|| write_report(self.ui, &self.args.out, None)).transpose()?;
        let page = page.map(|written| written.path);
        match (self.ui.json, ended.is_ok()) {
            (true, true) => self.ui.document(&summary.document())?,
            (true, false) => {}
            (false, _) => summary.show(self.ui, page.as_deref())?,
        }
        ended.map_err(Into::into)
    }

    /// How the command ends. A campaign that is not complete never ends well; `rest` is what its
    /// resumption needs besides the folder.
    pub fn status<S: Settings>(&self, is_found: bool, rest: &str) -> anyhow::Result<Status> {
        if self.events.shortfall.is_none() {
            return Ok(if is_found { Status::Found } else { Status::Clean });
        }
        let folder = shell_word(&self.args.out.display().to_string());
        let queue = self.args.queue.queue.as_deref();
        let queue = queue.map(|queue| format!(" --queue {queue}")).unwrap_or_default();
        let why = match (self.stop.was_interrupted(), &self.link) {
            (true, _) => "the campaign was stopped before its end",
            (false, Some(_)) => "the campaign is not complete",
            (false, None) => anyhow::bail!(
                "the time was over before anything ran; give --time more, or leave it out"
            ),
        };
        let text =
            format!("{why}; `{} --resume --out {folder}{queue}{rest}` resumes it", S::COMMAND);
        match is_found {
            true => {
                self.ui.note(text);
                Ok(Status::Found)
            }
            false => Err(anyhow::Error::msg(text)),
        }
    }
}

/// Says at once what was found.
pub fn tell_finding(ui: &Ui, progress: &Progress, recorded: &Recorded, discovery: &Discovery) {
    let heading = ui.paint(Paint::Red, discovery.kind.as_str());
    let place = recorded.directory.display();
    progress.say(format!("{heading} {}\n     {place}", discovery.title));
}

/// How far a campaign was at its beginning, and where it ends.
#[derive(Clone, Copy, Default)]
pub struct Place {
    pub time: Option<Duration>,
    /// Programs, all targets together, if limited.
    pub all: Option<u64>,
    /// Programs of earlier sessions.
    pub done: u64,
    /// Findings of earlier sessions.
    pub known: u64,
}

/// What the progress line says.
struct CampaignProgress {
    counters: Arc<Counters>,
    line: Line,
    place: Place,
    started: Instant,
}

impl Place {
    /// How long the campaign will take, if that is known and it goes on with this rate.
    pub fn left(&self, counters: &Counters, elapsed: Duration, rate: f64) -> Option<Duration> {
        let Place { time, all, done, .. } = *self;
        if let Some(time) = time {
            return Some(time.saturating_sub(elapsed));
        }
        let missing = all?.saturating_sub(done + counters.programs());
        (rate >= 1.0).then(|| Duration::from_secs(missing / rate as u64))
    }

    /// How much of the campaign is over, and how much there is; `None` if that is not known.
    pub fn progress(&self, counters: &Counters, elapsed: Duration) -> Option<(u64, u64)> {
        let Place { time, all, done, .. } = *self;
        match (time, all) {
            (Some(time), _) => {
                let all = time.as_millis() as u64;
                Some(((elapsed.as_millis() as u64).min(all), all))
            }
            (None, Some(all)) => Some((done + counters.programs(), all)),
            (None, None) => None,
        }
    }
}

impl ProgressSource for CampaignProgress {
    fn place(&self) -> Option<(u64, u64)> {
        self.place.progress(&self.counters, self.started.elapsed())
    }

    fn segments(&self, elapsed: Duration) -> Vec<Segment> {
        let rate = (self.line.rate)(&self.counters) as f64 / elapsed.as_secs_f64().max(1e-3);
        let findings = self.place.known + self.counters.findings();
        let noun = if findings == 1 { "finding" } else { "findings" };
        let left = self.place.left(&self.counters, self.started.elapsed(), rate);
        let left = left.map(|left| format!("{} left", crate::progress::duration(left)));
        let [first, second] = (self.line.texts)(&self.counters);
        let mut segments = vec![
            Segment::new(0, format!("{findings} {noun}")),
            Segment::new(1, first),
            Segment::new(4, second),
            Segment::new(3, format!("{} per second", grouped(rate as u64))),
        ];
        segments.extend(left.map(|left| Segment::new(2, left)));
        segments
    }
}

/// Writes the page about a folder's campaigns, says what is missing on it.
pub fn write_report(ui: &Ui, folder: &Path, against: Option<&Path>) -> anyhow::Result<Written> {
    let written = strait_findings::write_report(folder, against)?;
    for problem in &written.missing {
        ui.note(format!("not in the report: {problem}"));
    }
    Ok(written)
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
