//! `strait types`: a campaign against typecheckers, or terms of a type system of one's own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::json;
use strait_findings::{Discovery, Finding, Recorded, Resumed, Store, shell_word};
use strait_queue::{CannotBegin, Outsourced, Shard};
use strait_toolchain::Launcher;
use strait_typefuzz::{
    Begun, Campaign, Counters, FEATURES, Fuzzer, Known, Mode, ORACLES, Oracle, Permitted, RULES,
    Recipe, Request, WALL, begin, find_within, job,
};

use crate::commands::fuzz::{cores, some_seed, tell_recovery, write_report};
use crate::commands::types_summary::Summary;
use crate::commands::types_system::SystemRun;
use crate::duration;
use crate::interrupt;
use crate::progress::{Progress, Telling};
use crate::queue::{Events, QueueArgs};
use crate::ui::{Paint, Status, Ui, grouped};

/// The time of a campaign that says nothing about its end.
const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// What is asked of the typechecker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Asked {
    /// Well-typed programs have to be accepted
    Precision,
    /// Programs that violate one premise of a rule have to be rejected
    Soundness,
    /// Programs that differ in nothing that matters have to be treated alike
    Consistency,
}

impl Asked {
    fn mode(self) -> Mode {
        match self {
            Asked::Precision => Mode::Precision,
            Asked::Soundness => Mode::Soundness,
            Asked::Consistency => Mode::Consistency,
        }
    }
}

/// Catch typecheckers rejecting, accepting or confusing what they should not
#[derive(Args)]
#[command(after_help = "\
Oracles: rustc (the installed one), next-solver, polonius-next, polonius-legacy (the same with that \
flag), rust-analyzer, or a path to any rustc, with flags after a colon: \
/opt/rust/bin/rustc:-Znext-solver=globally.
Two oracles or more are also compared with each other. Differences that are understood are counted \
and not reported.
With --system, terms of that rule file are printed, or each is given to the command of --check on \
stdin, which accepts it by exit code 0.
Exit codes: 0 nothing found, 1 something found, 2 the command line, a file or the machine is in the \
way.")]
pub struct TypesArgs {
    /// A rule file of your own; see docs/types.md
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fuzzer", "oracle", "out"])]
    system: Option<PathBuf>,
    /// Which features the programs use: `swarm` (others all the time) or some of those that `strait
    /// types --list` shows
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    fuzzer: Vec<String>,
    /// What is asked [default: precision]
    #[arg(long, value_name = "MODE")]
    mode: Option<Asked>,
    /// Who is asked [default: rustc]
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    oracle: Vec<String>,
    /// Indices, each of which is a program, or two that are compared
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Which family of programs [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long, such as 90s, 10m, 1h30m [default: 1m unless --count is given]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Compilers at once [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Only share I of N, for N machines that know nothing of each other: 0/4, 1/4, 2/4, 3/4
    #[arg(long, value_name = "I/N", conflicts_with = "system")]
    shard: Option<Shard>,
    /// Folder for what is found
    #[arg(long, value_name = "DIR", default_value = "strait-out")]
    out: PathBuf,
    /// Go on with the campaign in that folder
    #[arg(long, conflicts_with = "system")]
    resume: bool,
    /// With --resume: run the compilers that the campaign in the folder names by their paths, without
    /// naming them again with --oracle
    #[arg(long, requires = "resume")]
    trust: bool,
    /// How long a compiler may take for a hundred programs; if it takes longer, it hangs [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, conflicts_with = "system")]
    timeout: Option<Duration>,
    /// Print the features and leave
    #[arg(long)]
    list: bool,
    /// With --system: the size that terms should have
    #[arg(long, value_name = "N", requires = "system", value_parser = clap::value_parser!(u32).range(1..=5000))]
    size: Option<u32>,
    /// With --system: how deep derivations may be at most
    #[arg(long, value_name = "N", requires = "system", value_parser = clap::value_parser!(u32).range(1..=1000))]
    depth: Option<u32>,
    /// With --system: all terms up to this size instead of some at random
    #[arg(long, value_name = "SIZE", requires = "system", conflicts_with_all = ["size", "depth"], value_parser = clap::value_parser!(u32).range(1..=60))]
    exhaustive: Option<u32>,
    /// With --system: a command that reads a term from stdin and accepts it by exit code 0
    #[arg(long, value_name = "CMD", requires = "system")]
    check: Option<String>,
    /// With --system: print terms in the notation of rule files
    #[arg(long, requires = "system")]
    terms: bool,
    #[command(flatten)]
    queue: QueueArgs,
}

impl TypesArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        if self.list {
            return list(ui);
        }
        let stop = interrupt::flag_for(ui)?;
        if let Some(file) = &self.system {
            let run = SystemRun {
                file,
                mode: self.mode().unwrap_or(Mode::Precision),
                seed: self.seed.unwrap_or_else(some_seed),
                count: self.count,
                size: self.size,
                depth: self.depth,
                exhaustive: self.exhaustive,
                check: self.check.as_deref(),
                as_terms: self.terms,
                time: self.time,
                stop: &stop,
            };
            return run.run(ui);
        }
        self.campaign(ui, &stop)
    }

    fn mode(&self) -> Option<Mode> {
        self.mode.map(Asked::mode)
    }

    fn request(&self) -> Request {
        let default = (self.count.is_none() && !self.resume).then_some(DEFAULT_TIME);
        Request {
            mode: self.mode(),
            fuzzer: self.fuzzer.clone(),
            oracles: self.oracle.clone(),
            seed: self.seed,
            count: self.count,
            time: self.time.or(default),
            shard: self.shard,
            resume: self.resume,
        }
    }

    fn campaign(&self, ui: &Ui, stop: &Arc<AtomicBool>) -> anyhow::Result<Status> {
        let launcher = Launcher::this_program()?;
        let request = self.request();
        // What is wrong with the command line is said before a folder is made for it.
        Fuzzer::named(&self.fuzzer)?;
        let found = match self.resume {
            false => Some(self.find(&request.asked(), &launcher, stop)?),
            true if !self.out.exists() => {
                let folder = self.out.clone();
                return Err(CannotBegin::NothingToResume { folder, command: "strait types" }.into());
            }
            true => None,
        };
        let link = self.queue.open()?;
        let mut store = Store::open(&self.out)?;
        tell_recovery(ui, store.recovery());
        let begun = begin(&mut store, &self.out, &request, some_seed())?;
        let oracles = match found {
            Some(oracles) => oracles,
            None => {
                // The folder may come from another person.
                let permitted = Permitted { named: self.oracle.clone(), trust: self.trust };
                let asked: Vec<&str> = begun.oracles.iter().map(String::as_str).collect();
                permitted.choose(&self.out, &asked)?;
                self.find(&begun.oracles, &launcher, stop)?
            }
        };
        let recipe = Recipe::new(begun.seed, begun.mode, Fuzzer::named(&begun.fuzzer)?);
        let Begun { id, seed, count, time, shard, .. } = begun;
        let before: u64 = store.totals(id)?.iter().map(|total| total.programs).sum();
        let counters = Arc::new(Counters::default());
        let started = Instant::now();
        let all = count.map(|count| shard.size(count));
        let telling = Told { counters: Arc::clone(&counters), time, all, done: before, started };
        let progress = Progress::of(ui, Box::new(telling), stop);
        let campaign = Campaign {
            recipe: &recipe,
            oracles: &oracles,
            count,
            deadline: time.map(|time| started + time),
            jobs: self.jobs.map_or_else(cores, usize::from),
            shard,
            stop,
            counters: &counters,
        };
        let mut found = |recorded: &Recorded, found: &Discovery| {
            let heading = ui.paint(Paint::Red, found.kind.as_str());
            let place = recorded.directory.display();
            progress.say(format!("{heading} {}\n     {place}", found.title));
        };
        let mut events = Events::of("types");
        let ended = match &link {
            None => campaign.run(&mut store, id, &mut found),
            Some(link) => {
                let job = job(link, self.queue.lease(), &recipe, &oracles, campaign.lane(), count)?;
                let tell = &mut |told| {
                    if let Some(text) = events.hear(link, told) {
                        progress.say(text);
                    }
                };
                let (item, keep) = (None, &|| Ok(()));
                let outsourced =
                    Outsourced { link, job: &job, folder: &self.out, item, keep, tell };
                campaign.submit(outsourced, &mut store, id, &mut found)
            }
        };
        drop(progress);
        if link.is_some() && !stop.load(Ordering::SeqCst) {
            let lane = campaign.lane();
            let done = store.executed(id, &lane.target, &lane.version)?.len();
            events.compare(done, count.map(|count| shard.size(count)));
        }
        let known = Known::built_in()?;
        let asked: Vec<&str> = oracles.iter().map(|oracle| oracle.name()).collect();
        let could_find = |finding: &Finding| {
            let types = finding.details.get("types");
            types.is_some_and(|types| {
                types["mode"] == recipe.mode.name() && types["oracles"] == json!(asked)
            })
        };
        let resumed = self.resume.then_some(Resumed { id, could_find: &could_find });
        let summary = Summary {
            folder: &self.out,
            seed,
            mode: recipe.mode,
            oracles: &oracles,
            counters: &counters,
            harvest: store.harvest(resumed, &is_ours)?,
            before,
            seconds: started.elapsed().as_secs_f64(),
            known: &known,
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
            let folder = shell_word(&self.out.display().to_string());
            let named = named(asked.iter().copied());
            ui.note(format!(
                "stopped before the end; `strait types --resume --out {folder}{named}` goes on"
            ));
        }
        match summary.harvest.found.is_empty() {
            false => Ok(Status::Found),
            true if events.is_short() => anyhow::bail!(
                "the campaign is not complete; `strait types --resume --queue {}` with the same \
                 --out goes on",
                self.queue.queue.as_deref().unwrap_or("ADDRESS")
            ),
            true => Ok(Status::Clean),
        }
    }

    fn find(
        &self,
        names: &[String],
        launcher: &Launcher,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Vec<Box<dyn Oracle>>> {
        let wall = self.timeout.unwrap_or(WALL);
        let found = names.iter().map(|name| find_within(name, launcher, stop, wall));
        Ok(found.collect::<Result<_, _>>()?)
    }
}

/// The arguments that name these oracles, as far as they have to be named.
pub fn named<'a>(oracles: impl Iterator<Item = &'a str>) -> String {
    let unknown = oracles.filter(|name| *name != RULES && !ORACLES.contains(name));
    unknown.map(|name| format!(" --oracle {}", shell_word(name))).collect()
}

/// A folder may hold what other commands have found.
fn is_ours(finding: &Finding) -> bool {
    finding.details.contains_key("types") || finding.target.starts_with("types ")
}

fn list(ui: &Ui) -> anyhow::Result<Status> {
    let about = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("about \""));
        line.and_then(|line| line.strip_suffix("\".")).unwrap_or_default().to_owned()
    };
    if ui.json {
        let all: Vec<_> = FEATURES
            .iter()
            .map(|(name, text)| json!({ "name": name, "about": about(text) }))
            .collect();
        ui.document(&json!({ "fuzzers": all }))?;
        return Ok(Status::Clean);
    }
    ui.line(format!("{:15} {}", "swarm", "up to five of the following, others for each batch"))?;
    for (name, text) in FEATURES {
        ui.line(format!("{name:15} {}", about(text)))?;
    }
    Ok(Status::Clean)
}

/// What the progress line says.
struct Told {
    counters: Arc<Counters>,
    time: Option<Duration>,
    all: Option<u64>,
    /// Programs of earlier sessions.
    done: u64,
    started: Instant,
}

impl Telling for Told {
    fn place(&self) -> Option<(u64, u64)> {
        match (self.time, self.all) {
            (Some(time), _) => {
                let all = time.as_millis() as u64;
                Some(((self.started.elapsed().as_millis() as u64).min(all), all))
            }
            (None, Some(all)) => {
                Some((self.done + self.counters.programs.load(Ordering::Relaxed), all))
            }
            (None, None) => None,
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let programs = self.counters.programs.load(Ordering::Relaxed);
        let accepted = self.counters.accepted.load(Ordering::Relaxed);
        let findings = self.counters.findings.load(Ordering::Relaxed);
        let rate = (programs as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
        format!(
            "{} programs, {} accepted, {} a second, {findings} {}",
            grouped(programs),
            grouped(accepted),
            grouped(rate),
            if findings == 1 { "finding" } else { "findings" },
        )
    }
}
