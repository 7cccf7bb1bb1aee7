//! `strait go fuzz`: the tests of a Go module under many orders of their messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use strait_campaign::{Begun, Ending, Stop, Threads, last_settings};
use strait_findings::{Baseline, Discovery, Finding, Recorded, Store};
use strait_goverify::SourceFiles;
use strait_queue::{Job, Link, Shard};
use strait_reorder::{
    Assessment, Ended, Error, FindingLevel, LocalTests, Packed, Prepared, QueuedTests, Request,
    Rules, RunIndices, Settings, Switches, Terms, prepare,
};
use strait_toolchain::{Cache, Launcher};

use crate::campaign::{CampaignArgs, CampaignOptions, Clock, Line, Place, Session, in_time};
use crate::commands::go::findings::{FailOn, JudgedFinding, judged};
use crate::commands::go::sarif;
use crate::commands::go::summary::{GoSummary, Stopped, painted_heading, show_facts};
use crate::interrupt;
use crate::progress::{Progress, ProgressSource};
use crate::segments::Segment;
use crate::ui::{Paint, Status, Ui, grouped};

/// The runs of a test in a queue, if nothing is said about them.
const DEFAULT_RUNS: u64 = 100;

/// Run the tests of a Go module under many message orders, to find deadlocks, leaks and panics
#[derive(Args)]
#[command(after_help = "\
The module is not changed: Strait compiles the tests with your own go (1.24 or newer) and an overlay \
of the Go runtime. It runs each test many times; each run makes selects prefer other cases and makes \
goroutines yield at other moments. It reports goroutines that are blocked forever, panics, tests that \
do not end and, with --race, data races. Each fault is reported once, with a command that runs it again.

Classes:
  deadlock                goroutines wait for each other, or the test can never finish
  panic, data race        as the runtime or the race detector reports them
  leak in every run       a goroutine stays blocked forever, even in undisturbed runs
  leak in rare orders     a goroutine stays blocked forever in some orders of messages
  test does not end       the test does not end in time, although an undisturbed run did; always a warning
  left running            with --lifecycle: a goroutine is left at the end of its test

A finding is an error if it was proved or seen in an undisturbed run. It is a warning if it is only \
likely, or if it was seen only in runs in which Strait made a select prefer a timeout.
A finding is silenced by a comment `//strait:ignore CLASS reason` on its line, on the line above or \
above its function.
With --queue, the module is sent to `strait worker` processes that have the same version of Go. Each \
worker takes one test at a time, runs it as often as --runs says, and sends its findings back.
Exit codes: 0 nothing that fails the build, 1 a finding (see --fail-on), 2 usage, input or \
environment error.")]
pub struct GoFuzzArgs {
    /// Packages, as for `go test` [default: ./...]
    #[arg(value_name = "PACKAGES")]
    packages: Vec<String>,
    /// Only tests that match, as for `go test -run`
    #[arg(long, value_name = "RE")]
    run: Option<String>,
    /// Number of runs per test [default: 100 with --queue]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    #[command(flatten)]
    campaign: CampaignArgs,
    /// Also look for data races; this is slower and uses the real clock only
    #[arg(long)]
    race: bool,
    /// Build tags, separated by commas
    #[arg(long, value_name = "TAGS")]
    tags: Option<String>,
    /// Write the findings as SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// File of known findings, which do not fail the build
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings into the file of --baseline
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Which findings fail the build (exit code 1)
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// Stop at the first finding that fails the build
    #[arg(long)]
    first: bool,
    /// Also report goroutines that a test or subtest has started and that still exist when it has ended
    #[arg(long)]
    lifecycle: bool,
    /// Do not report goroutines of this function or package as left over; may be given several times
    #[arg(long, value_name = "FUNC")]
    allow: Vec<String>,
    /// Never use the virtual clock
    #[arg(long)]
    real_time: bool,
    /// Derive all message orders from the first run, without feedback from later runs
    #[arg(long)]
    no_feedback: bool,
    /// Never make a select prefer a case
    #[arg(long)]
    no_mutation: bool,
    /// Do not check goroutines that are left at the end of a run; report only crashes and hangs
    #[arg(long, conflicts_with = "lifecycle")]
    no_sanitizer: bool,
    /// Never make a goroutine yield or pause
    #[arg(long)]
    no_yields: bool,
}

impl GoFuzzArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let mut baseline = self.read_baseline()?;
        let stop = interrupt::stop_for(ui)?;
        let clock = Clock::start(&stop, self.campaign.time);
        let open = |clock| Session::open::<Settings>(ui, &self.campaign, &stop, clock);
        self.campaign.check::<Settings>()?;
        // What is wrong with the module is said before a folder is made for it.
        let (mut settings, opened) = match self.campaign.resume {
            false => (self.settings(), Err(clock)),
            true => {
                let opened = open(clock)?;
                let settings = last_settings(&opened.1, &self.campaign.out, &self.settings())?;
                (settings, Ok(opened))
            }
        };
        let mut prepared = self.prepare(ui, &stop, &settings)?;
        for problem in &prepared.problems {
            let heading = ui.paint(Paint::Yellow, format!("{} is left out:", problem.package));
            ui.note(format!("{heading}\n{}", indent(&problem.said)));
        }
        let tests = prepared.subjects.len();
        if tests == 0 && !stop.was_interrupted() {
            return Err(self.nothing(&prepared, &stop));
        }
        let module = match settings.queue {
            true => Some(Packed::of(&prepared.go, &self.campaign.out)?),
            false => None,
        };
        settings.code = Some(match &module {
            Some(module) => module.digest.clone(),
            None => prepared.digest()?,
        });
        let (mut session, mut store) = match opened {
            Ok(opened) => opened,
            Err(clock) => open(clock)?,
        };
        let is_limited = self.runs.or(settings.runs).is_some();
        let begun = session.begin(&mut store, settings, self.runs, is_limited)?;
        deal(&mut prepared, begun.shard);
        if tests > 0 && prepared.subjects.is_empty() {
            ui.note(format!("there are {tests} tests, none of them in share {}", begun.shard));
        }
        let prepared = Arc::new(prepared);
        let ended = match &module {
            None => self.run_here(&mut session, &mut store, &prepared, &begun)?,
            Some(module) => self.run_queued(&mut session, &mut store, &prepared, &begun, module)?,
        };
        let is_first = self.first
            && stop.is_now()
            && !stop.was_interrupted()
            && session.counters.findings() > 0;
        let stopped = Stopped::of(is_first, stop.interruption());
        // A finding names the package of the place to blame, and in its details that of the test.
        let package = |finding: &Finding| {
            let tested = finding.details.get("package").and_then(|package| package.as_str());
            prepared.subjects.iter().any(|one| Some(one.tests.package.path.as_str()) == tested)
        };
        let mut harvest = session.harvest(&store, &begun, &package, &package)?;
        let found = std::mem::take(&mut harvest.found);
        let mut findings = judged(found.clone(), &prepared.base, baseline.as_mut());
        if let Some(path) = self.baseline.as_deref().filter(|_| self.write_baseline) {
            if matches!(stopped, Some(Stopped::Interrupted(_))) {
                anyhow::bail!("{} is not written: the run was interrupted", path.display());
            }
            let mut written = Baseline::of(findings.iter().map(|one| one.key.clone()));
            written.write(path)?;
            findings = judged(found, &prepared.base, Some(&mut written));
        }
        warn_of_comments(ui, &prepared.base, &findings);
        let fails = findings.iter().any(|one| one.fails(self.fail_on));
        let summary = GoSummary {
            outcome: session.outcome(begun.seed, harvest),
            findings: &findings,
            stopped,
            ended: &ended,
            problems: &prepared.problems,
            go: prepared.go.version(),
        };
        self.write_sarif(&findings)?;
        session.conclude(store, Ok::<(), anyhow::Error>(()), &summary)?;
        if !fails && !ended.internal_errors.is_empty() {
            anyhow::bail!(
                "Strait's own hooks failed in some runs, see above; please report it with the \
                 output of `strait go fuzz -v`"
            );
        }
        match (session.status::<Settings>(fails, "")?, left_out(&prepared)) {
            (Status::Clean, Some(packages)) => {
                anyhow::bail!("{packages} could not be tested, see above")
            }
            (status, _) => Ok(status),
        }
    }

    fn write_sarif(&self, findings: &[JudgedFinding]) -> anyhow::Result<()> {
        let Some(path) = &self.sarif else { return Ok(()) };
        let document = sarif::document(findings, &self.campaign.out);
        let text = serde_json::to_string_pretty(&document)?;
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// What the user asks for. A campaign in a queue needs a number of runs.
    fn settings(&self) -> Settings {
        let queue = self.campaign.queue.queue.is_some();
        let default = (!self.campaign.resume).then_some(DEFAULT_RUNS);
        Settings {
            packages: self.packages.clone(),
            run: self.run.clone(),
            runs: self.runs.or(default).filter(|_| queue),
            race: self.race,
            real_time: self.real_time,
            tags: self.tags.clone(),
            switches: Switches {
                feedback: !self.no_feedback,
                mutation: !self.no_mutation,
                sanitizer: !self.no_sanitizer,
                yields: !self.no_yields,
            },
            rules: Rules { lifecycle: self.lifecycle, allowed: self.allow.clone() },
            queue,
            code: None,
        }
    }

    fn prepare(&self, ui: &Ui, stop: &Stop, settings: &Settings) -> anyhow::Result<Prepared> {
        let launcher = Launcher::this_program()?.cancelled_by(stop.flag());
        let cache = Cache::find()?;
        let request = Request {
            directory: std::env::current_dir().context("cannot find the current folder")?,
            patterns: settings.patterns(),
            run: settings.run.clone(),
            race: settings.race,
            virtual_time: !settings.real_time,
            tags: settings.tags.clone(),
        };
        let compiling = Compiling::default();
        let progress = Progress::of(ui, Box::new(compiling.clone()), stop.flag());
        let mut tell = |package: String| compiling.set(package);
        let prepared = prepare(&request, &launcher, &cache, stop.flag(), &mut tell);
        drop(progress);
        in_time(stop, prepared)
    }

    /// Why there is no test.
    fn nothing(&self, prepared: &Prepared, stop: &Stop) -> anyhow::Error {
        if stop.is_due() {
            return anyhow::anyhow!(
                "the time was over before a test was compiled; give --time more, or leave it out"
            );
        }
        if let Some(packages) = left_out(prepared) {
            return anyhow::anyhow!("nothing can be tested: {packages} cannot be used, see above");
        }
        let run = self.run.as_ref().map(|run| format!(" that matches {run}")).unwrap_or_default();
        Error::NoTests(run).into()
    }

    /// Runs all tests in this process.
    fn run_here(
        &self,
        session: &mut Session<'_>,
        store: &mut Store,
        prepared: &Prepared,
        begun: &Begun<Settings>,
    ) -> anyhow::Result<Ended> {
        session.clock.start_work(begun.time);
        let settings = &begun.settings;
        let terms = Terms {
            prepared,
            seed: begun.seed,
            runs: begun.count,
            switches: settings.switches,
            rules: &settings.rules,
            ending: session.stop,
            indices: None,
        };
        let indices = RunIndices::new(prepared, store, begun.id, session.args.resume)?;
        let counters = strait_reorder::Counters::default();
        let tests = LocalTests::new(terms, &indices, &counters, store);
        let time = session.args.time.or(begun.time);
        let progress = session.progress(LINE, Place { time, ..Place::default() });
        let ui = session.ui;
        let mut found = |recorded: &Recorded, discovery: &Discovery| {
            self.tell_finding(ui, session.stop, &progress, recorded, discovery);
        };
        let threads =
            Threads { jobs: session.args.jobs(), stop: session.stop, counters: &session.counters };
        let ended = tests.run(&threads, store, begun.id, &mut found)?;
        drop(progress);
        let done = ended.tests - ended.not_run.len() as u64;
        let all = ended.complete.then_some(done);
        session.events.shortfall = session.stop.shortfall(done, all, false);
        Ok(ended)
    }

    /// Has the workers of a queue run the tests.
    fn run_queued(
        &self,
        session: &mut Session<'_>,
        store: &mut Store,
        prepared: &Arc<Prepared>,
        begun: &Begun<Settings>,
        module: &Packed,
    ) -> anyhow::Result<Ended> {
        let workload = QueuedTests::new(prepared, begun.seed, &begun.settings, module, store);
        let keep = |link: &Link, job: &Job| module.keep(link, job);
        let stop = session.stop.clone();
        let tell = |ui: &Ui, progress: &Progress, recorded: &Recorded, discovery: &Discovery| {
            self.tell_finding(ui, &stop, progress, recorded, discovery);
        };
        let options =
            CampaignOptions { item: None, keep: &keep, known: 0, line: QUEUE_LINE, tell: &tell };
        // Tests were dealt already.
        let whole = Begun { shard: Shard::default(), ..begun.clone() };
        let earlier = workload.done(store, begun.id)?;
        session.run(store, &workload, &whole, &options)?;
        Ok(workload.ended(&session.counters, store, begun.id, earlier)?)
    }

    /// Says at once what was found, with the facts. With --first it ends the campaign.
    fn tell_finding(
        &self,
        ui: &Ui,
        stop: &Stop,
        progress: &Progress,
        recorded: &Recorded,
        discovery: &Discovery,
    ) {
        let assessment = Assessment::of(&discovery.details);
        let level = assessment.map_or(FindingLevel::Error, |one| one.level());
        if self.first && self.fail_on.fails(level) {
            stop.end();
        }
        if ui.json {
            return;
        }
        let class =
            assessment.map_or_else(|| discovery.kind.to_string(), |one| one.class.to_string());
        let paint = if level == FindingLevel::Error { Paint::Red } else { Paint::Yellow };
        let heading = painted_heading(ui, paint, &format!("{level}: {class}:"), &discovery.title);
        let facts = show_facts(&discovery.explanation, ui.line_width());
        let place = recorded.directory.display();
        progress.say(format!("{heading}\n{facts}\n     {place}\n"));
    }

    /// The known findings; none if they are about to be written.
    fn read_baseline(&self) -> anyhow::Result<Option<Baseline>> {
        let known = self.baseline.as_deref().filter(|_| !self.write_baseline);
        Ok(known.map(Baseline::read).transpose()?)
    }
}

/// What the progress line says.
const LINE: Line = Line {
    texts: |counters| {
        let (tests, runs) = (grouped(counters.programs()), grouped(counters.runs()));
        [format!("{tests} tests"), format!("{runs} runs")]
    },
    rate: |counters| counters.runs(),
    unit: "runs",
    of_target: |target| target.indices,
    target_unit: "runs",
};
/// The same in a queue, where workers do whole tests.
const QUEUE_LINE: Line = Line { target_unit: "tests", ..LINE };

/// The packages that could not be compiled, if there are any.
fn left_out(prepared: &Prepared) -> Option<String> {
    let (first, more) = prepared.problems.split_first()?;
    let package = &first.package;
    Some(match more.len() {
        0 => package.clone(),
        more => format!("{package} and {more} more"),
    })
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

impl ProgressSource for Compiling {
    fn place(&self) -> Option<(u64, u64)> {
        None
    }

    fn segments(&self, _: Duration) -> Vec<Segment> {
        let package = self.0.lock().map(|package| package.clone()).unwrap_or_default();
        if !package.is_empty() {
            return vec![Segment::new(0, format!("compiling the tests of {package}"))];
        }
        vec![
            Segment::new(0, "preparing"),
            Segment::new(0, "the first time for about a minute"),
            Segment::new(1, "to compile the standard library"),
        ]
    }
}

/// Names the comments at findings that say nothing to Strait although they seem to.
fn warn_of_comments(ui: &Ui, base: &Path, findings: &[JudgedFinding]) {
    let files = SourceFiles::below(base);
    let named: Vec<_> = findings.iter().flat_map(|one| one.places()).collect();
    for warning in files.warnings(named.iter().map(|place| place.file.as_str())) {
        ui.note(format!("{} {warning}", ui.paint(Paint::Yellow, "warning:")));
    }
}
