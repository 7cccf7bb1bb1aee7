//! `strait go fuzz`: the tests of a Go module under many orders of their messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use serde_json::json;
use strait_findings::{CampaignId, Discovery, Recorded, Resumed, Store};
use strait_queue::{Link, Outsourced, Shard};
use strait_reorder::{
    Bounds, Campaign, Counters, Ended, Error, GENERATOR, Packed, Prepared, Request, Switches, job,
    prepare,
};
use strait_toolchain::{Cache, Launcher};

use crate::commands::fuzz::{cores, some_seed, tell_recovery, write_report};
use crate::commands::go_sarif;
use crate::commands::go_summary::{Summary, show_facts};
use crate::duration;
use crate::interrupt;
use crate::progress::{Progress, Telling};
use crate::queue::{Events, QueueArgs};
use crate::ui::{Paint, Status, Ui, grouped};

/// The time of a campaign that says nothing about its end.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// The runs of a test in a queue, if nothing is said about them.
const DEFAULT_RUNS: u64 = 100;

/// Run the tests of a Go module under many orders of messages
#[derive(Args)]
#[command(after_help = "\
Nothing is changed in the module: tests are compiled with your own go (1.24 or newer) and an overlay \
of its runtime. Each test is run again and again, with selects that prefer other cases and with \
goroutines that give way at other moments; goroutines that are blocked for ever, panics, tests that do \
not end and, with --race, data races are reported, each once, with what repeats it.
With --queue the module is sent to `strait worker`s with the same version of Go; each takes a test, \
gives it its runs, and sends back what it found.
Exit codes: 0 nothing found, 1 something found, 2 the command line, the module or the machine is in \
the way.")]
pub struct GoFuzzArgs {
    /// Packages, as for `go test`
    #[arg(value_name = "PACKAGES", default_value = "./...")]
    packages: Vec<String>,
    /// Only tests that match, as for `go test -run`
    #[arg(long, value_name = "RE")]
    run: Option<String>,
    /// How long, such as 90s, 10m, 1h30m [default: 1m unless --runs or --queue is given]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Runs a test [default: 100 with --queue]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// Tests at once [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Only share I of N of the tests, for N machines that know nothing of each other: 0/4 to 3/4
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Which random orders [default: others each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Folder for what is found
    #[arg(long, value_name = "DIR", default_value = "strait-out")]
    out: PathBuf,
    /// Also look for data races; slower, and by the real clock only
    #[arg(long)]
    race: bool,
    /// Build tags, separated by commas
    #[arg(long, value_name = "TAGS")]
    tags: Option<String>,
    /// Write the findings as SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Never use the virtual clock
    #[arg(long)]
    real_time: bool,
    /// Mutate the first order only, whatever it shows
    #[arg(long)]
    no_feedback: bool,
    /// Let every select choose freely
    #[arg(long)]
    no_mutation: bool,
    /// Do not judge goroutines that are left: only crashes and hangs are seen
    #[arg(long)]
    no_sanitizer: bool,
    /// Never make a goroutine give way
    #[arg(long)]
    no_yields: bool,
    #[command(flatten)]
    queue: QueueArgs,
}

/// A campaign for others.
struct Sent {
    link: Link,
    module: Packed,
}

impl GoFuzzArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let stop = interrupt::flag_for(ui)?;
        let link = self.queue.open()?;
        let mut prepared = self.prepare(ui, &stop)?;
        let shard = self.shard.unwrap_or_default();
        let tests = prepared.subjects.len();
        deal(&mut prepared, shard);
        if tests > 0 && prepared.subjects.is_empty() {
            ui.note(format!("there are {tests} tests, none of them in share {shard}"));
        }
        for problem in &prepared.problems {
            let heading = ui.paint(Paint::Yellow, format!("{} is left out:", problem.package));
            ui.note(format!("{heading}\n{}", indent(&problem.said)));
        }
        if tests == 0 && !stop.load(Ordering::SeqCst) {
            return Err(self.nothing(&prepared));
        }
        let pack =
            |link| Ok::<_, Error>(Sent { link, module: Packed::of(&prepared.go, &self.out)? });
        let sent = link.map(pack).transpose()?;
        let mut store = Store::open(&self.out)?;
        tell_recovery(ui, store.recovery());
        let bounds = self.bounds(self.seed.unwrap_or_else(some_seed));
        let seed = bounds.seed;
        let settings = self.settings(&bounds, shard, sent.as_ref());
        let id = store.campaign(seed, GENERATOR, &settings)?;
        let counters = Arc::new(Counters::default());
        let started = Instant::now();
        let mut events = Events::of("go");
        let ended = self.campaign(
            ui,
            &stop,
            &prepared,
            bounds,
            &counters,
            &mut store,
            id,
            sent,
            &mut events,
        )?;
        if self.queue.queue.is_some() && !stop.load(Ordering::SeqCst) {
            let all = prepared.subjects.len() as u64;
            events.compare(all.saturating_sub(ended.undone.len() as u64), Some(all));
        }
        let package = |finding: &strait_findings::Finding| {
            prepared.subjects.iter().any(|one| one.bench.package.path == finding.target)
        };
        // In a queue it goes on where an earlier session has ended.
        let resumed = self.queue.queue.as_ref().map(|_| Resumed { id, could_find: &package });
        let harvest = store.harvest(resumed, &package)?;
        let summary = Summary {
            folder: &self.out,
            seed,
            harvest,
            counters: &counters,
            ended: &ended,
            problems: &prepared.problems,
            seconds: started.elapsed().as_secs_f64(),
            go: prepared.go.version(),
            events: &events,
        };
        store.close()?;
        write_report(ui, &self.out)?;
        if let Some(path) = &self.sarif {
            let document = go_sarif::document(&summary.harvest.found, &self.out);
            let text = serde_json::to_string_pretty(&document)?;
            std::fs::write(path, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if ui.json {
            ui.document(&summary.document())?;
        } else {
            summary.show(ui)?;
        }
        match (summary.harvest.found.is_empty(), ended.internal_errors.len()) {
            (false, _) => Ok(Status::Found),
            (true, 0) if events.is_short() => {
                anyhow::bail!("the campaign is not complete; the same command goes on")
            }
            (true, 0) => Ok(Status::Clean),
            (true, _) => Err(anyhow::anyhow!(
                "Strait's own hooks failed in some runs, see above; please report it with the \
                 output of `strait go fuzz -v`"
            )),
        }
    }

    fn prepare(&self, ui: &Ui, stop: &Arc<AtomicBool>) -> anyhow::Result<Prepared> {
        let launcher = Launcher::this_program()?;
        let cache = Cache::find()?;
        let request = Request {
            directory: std::env::current_dir().context("cannot find the current folder")?,
            patterns: self.packages.clone(),
            run: self.run.clone(),
            race: self.race,
            virtual_time: !self.real_time,
            tags: self.tags.clone(),
        };
        let compiling = Compiling::default();
        let progress = Progress::of(ui, Box::new(compiling.clone()), stop);
        let mut tell = |package: String| compiling.set(package);
        let prepared = prepare(&request, &launcher, &cache, stop, &mut tell);
        drop(progress);
        Ok(prepared?)
    }

    /// Why there is no test.
    fn nothing(&self, prepared: &Prepared) -> anyhow::Error {
        if let [first, ..] = prepared.problems.as_slice() {
            let more = match prepared.problems.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let package = &first.package;
            return anyhow::anyhow!(
                "nothing can be tested: {package}{more} cannot be used, see above"
            );
        }
        let run = self.run.as_ref().map(|run| format!(" that matches {run}")).unwrap_or_default();
        Error::NoTests(run).into()
    }

    fn bounds(&self, seed: u64) -> Bounds {
        let default = self.queue.queue.as_ref().map(|_| DEFAULT_RUNS);
        let runs = self.runs.or(default);
        Bounds {
            seed,
            runs,
            time: self.time.or_else(|| runs.is_none().then_some(DEFAULT_TIME)),
            jobs: self.jobs.map_or_else(cores, usize::from),
            switches: Switches {
                feedback: !self.no_feedback,
                mutation: !self.no_mutation,
                sanitizer: !self.no_sanitizer,
                yields: !self.no_yields,
            },
        }
    }

    /// What the store tells campaigns apart by. One in a queue goes on if it is the same in all respects.
    fn settings(&self, bounds: &Bounds, shard: Shard, sent: Option<&Sent>) -> String {
        let share = if shard.is_whole() { String::new() } else { format!(" {shard}") };
        let Some(Sent { module, .. }) = sent else { return format!("go fuzz{share}") };
        let rest = json!({
            "packages": self.packages,
            "run": self.run,
            "runs": bounds.runs,
            "switches": bounds.switches,
            "race": self.race,
            "real_time": self.real_time,
            "tags": self.tags,
            "module": module.digest,
        });
        format!("go fuzz{share} {rest}")
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a campaign meet here and only here")]
    fn campaign(
        &self,
        ui: &Ui,
        stop: &Arc<AtomicBool>,
        prepared: &Prepared,
        bounds: Bounds,
        counters: &Arc<Counters>,
        store: &mut Store,
        id: CampaignId,
        sent: Option<Sent>,
        events: &mut Events,
    ) -> anyhow::Result<Ended> {
        let time = bounds.time;
        let telling = Told { counters: Arc::clone(counters), time, started: Instant::now() };
        let progress = Progress::of(ui, Box::new(telling), stop);
        let mut found = |recorded: &Recorded, discovery: &Discovery| {
            if ui.json {
                return;
            }
            let heading = ui.paint(Paint::Red, discovery.kind.as_str());
            let facts = show_facts(&discovery.explanation);
            let place = recorded.directory.display();
            progress.say(format!("{heading} {}\n{facts}\n     {place}\n", discovery.title));
        };
        let campaign = Campaign { prepared, bounds, stop, counters };
        let Some(Sent { link, module }) = sent else {
            return Ok(campaign.run(store, id, &mut found)?);
        };
        let job = job(&link, self.queue.lease(), prepared, &campaign.bounds, &module)?;
        let keep = &|| module.keep(&link, &job);
        let tell = &mut |told| {
            if let Some(text) = events.hear(&link, told) {
                progress.say(text);
            }
        };
        let (folder, item) = (&self.out, None);
        let outsourced = Outsourced { link: &link, job: &job, folder, item, keep, tell };
        Ok(campaign.submit(outsourced, store, id, &mut found)?)
    }
}

/// Keeps the tests of a share. Tests are dealt in the order of their names, so that all machines agree.
fn deal(prepared: &mut Prepared, shard: Shard) {
    prepared.subjects.sort_by_key(strait_reorder::Subject::name);
    let mut place = 0..;
    prepared.subjects.retain(|_| place.next().is_some_and(|place| shard.deals(place)));
}

fn indent(text: &str) -> String {
    const SHOWN: usize = 12;
    let lines: Vec<String> = text.lines().take(SHOWN).map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// What is being compiled.
#[derive(Clone, Default)]
struct Compiling(Arc<std::sync::Mutex<String>>);

impl Compiling {
    fn set(&self, package: String) {
        if let Ok(mut current) = self.0.lock() {
            *current = package;
        }
    }
}

impl Telling for Compiling {
    fn place(&self) -> Option<(u64, u64)> {
        None
    }

    fn line(&self, _: Duration) -> String {
        let package = self.0.lock().map(|package| package.clone()).unwrap_or_default();
        if package.is_empty() {
            "preparing; the first time the standard library is compiled, which takes a minute"
                .into()
        } else {
            format!("compiling the tests of {package}")
        }
    }
}

/// What the progress line says.
struct Told {
    counters: Arc<Counters>,
    time: Option<Duration>,
    started: Instant,
}

impl Telling for Told {
    fn place(&self) -> Option<(u64, u64)> {
        let all = self.time?.as_millis() as u64;
        Some(((self.started.elapsed().as_millis() as u64).min(all), all))
    }

    fn line(&self, elapsed: Duration) -> String {
        let runs = self.counters.runs();
        let rate = (runs as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
        let findings = self.counters.findings();
        format!(
            "{} tests, {} runs, {} a second, {findings} {}",
            grouped(self.counters.tests()),
            grouped(runs),
            grouped(rate),
            if findings == 1 { "finding" } else { "findings" },
        )
    }
}

/// The path of a finding's directory as it is printed.
pub fn place(folder: &Path, id: &str) -> PathBuf {
    folder.join(strait_findings::FINDINGS).join(id)
}
