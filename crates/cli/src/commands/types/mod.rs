//! `strait types`: a campaign against typecheckers, or terms of a type system of one's own.

pub mod replay;
pub mod summary;
pub mod system;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde_json::json;
use strait_campaign::Stop;
use strait_findings::{Finding, shell_word};
use strait_toolchain::Launcher;
use strait_typefuzz::{
    Language, Mode, Oracle, Permitted, Programs, RULES, Recipe, Settings, WALL, counts,
    find_within, is_built_in, is_command, is_types,
};

use crate::campaign::{
    CampaignArgs, CampaignOptions, Clock, Line, Session, in_time, some_seed, tell_finding,
};
use crate::commands::types::summary::TypesSummary;
use crate::commands::types::system::SystemRun;
use crate::duration;
use crate::interrupt;
use crate::ui::{Status, Ui, grouped};

/// What is asked of the typechecker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Asked {
    /// Find well-typed programs that are rejected
    Precision,
    /// Find programs that violate one premise of a rule and are accepted
    Soundness,
    /// Find pairs of equivalent programs of which only one is accepted
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

/// Find programs that typecheckers wrongly reject, wrongly accept or treat differently
#[derive(Args)]
#[command(after_help = "\
Oracles: for Rust rustc (the installed one), next-solver, polonius-next, polonius-legacy (the same with \
that flag) and rust-analyzer, for TypeScript tsc and tsgo (its native port), for Python mypy, pyright, \
pyrefly and ty, or a path to any of them, each with flags after a colon: \
/opt/rust/bin/rustc:-Znext-solver=globally, rustc:--edition=2024, node_modules/.bin/tsc. `cargo xtask \
compilers` in a checkout of Strait unpacks some for Rust. A command with {} in the place of a file is an oracle too: it is given one \
program at a time and accepts it by exit code 0; {.ts} asks for a file with that extension.
The results of two or more oracles are also compared with each other. Differences with a known cause \
are counted and not reported.
With --system, Strait prints terms of that rule file. With --check, it gives each term to that command \
on stdin instead; exit code 0 means that the command accepts the term.
Exit codes: 0 nothing found, 1 something found, 2 usage, input or environment error.")]
pub struct TypesArgs {
    /// A rule file of your own; see docs/types.md
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fuzzer", "oracle", "out", "shard", "resume", "watch", "serve"])]
    system: Option<PathBuf>,
    /// What the programs are made of: `swarm`, `typescript` or `python` (other features of Rust, TypeScript
    /// or Python all the time), some of those that `strait types --list` shows, or rule files of your own
    /// (FILE.rules) [default: `swarm`, or the language of the oracles]
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    fuzzer: Vec<String>,
    /// Kind of fault to search for [default: precision]
    #[arg(long, value_name = "MODE")]
    mode: Option<Asked>,
    /// Typecheckers to test; see Oracles below [default: rustc, tsc or mypy]
    #[arg(long, value_name = "NAME", num_args = 1..)]
    oracle: Vec<String>,
    /// Number of programs; of pairs of programs with --mode consistency, of terms with --system
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    campaign: CampaignArgs,
    /// With --resume: run the compilers that the campaign in the folder names by their paths, without
    /// naming them again with --oracle
    #[arg(long, requires = "resume")]
    trust: bool,
    /// Time limit of a compiler for 100 programs; a slower compiler counts as hanging [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, conflicts_with = "system")]
    timeout: Option<Duration>,
    /// Print the names of all features and exit
    #[arg(long)]
    list: bool,
    /// With --system: target size of terms
    #[arg(long, value_name = "N", requires = "system", value_parser = clap::value_parser!(u32).range(1..=5000))]
    size: Option<u32>,
    /// With --system: maximum depth of derivations
    #[arg(long, value_name = "N", requires = "system", value_parser = clap::value_parser!(u32).range(1..=1000))]
    depth: Option<u32>,
    /// With --system: generate all terms up to this size instead of random terms
    #[arg(long, value_name = "SIZE", requires = "system", conflicts_with_all = ["size", "depth"], value_parser = clap::value_parser!(u32).range(1..=60))]
    exhaustive: Option<u32>,
    /// With --system: command that reads a term from stdin and exits with 0 if it accepts the term
    #[arg(long, value_name = "CMD", requires = "system")]
    check: Option<String>,
    /// With --system: print terms in the notation of rule files
    #[arg(long, requires = "system")]
    terms: bool,
}

impl TypesArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        if self.list {
            return list(ui);
        }
        let stop = interrupt::stop_for(ui)?;
        if let Some(file) = &self.system {
            let _clock = Clock::start(&stop, self.campaign.time);
            let run = SystemRun {
                file,
                mode: self.mode().unwrap_or(Mode::Precision),
                seed: self.campaign.seed.unwrap_or_else(some_seed),
                count: self.count,
                size: self.size,
                depth: self.depth,
                exhaustive: self.exhaustive,
                check: self.check.as_deref(),
                as_terms: self.terms,
                stop: &stop,
            };
            return run.run(ui);
        }
        self.campaign(ui, &stop)
    }

    fn mode(&self) -> Option<Mode> {
        self.mode.map(Asked::mode)
    }

    /// The oracles: names are separated by commas, a command is one whatever it has in it.
    fn oracles(&self) -> Vec<String> {
        let split = |value: &String| match is_command(value) {
            true => vec![value.clone()],
            false => value.split(',').map(str::to_owned).collect(),
        };
        self.oracle.iter().flat_map(split).collect()
    }

    fn campaign(&self, ui: &Ui, stop: &Stop) -> anyhow::Result<Status> {
        let clock = Clock::start(stop, self.campaign.time);
        let launcher = Launcher::this_program()?.cancelled_by(stop.flag());
        // What is wrong with the command line is said before a folder is made for it.
        let settings = Settings::new(self.mode(), self.fuzzer.clone(), self.oracles())?;
        if let (Some(what), true) = (settings.only_here(), self.campaign.queue.queue.is_some()) {
            bail!("workers of a queue do not have {what}; run this campaign without --queue");
        }
        self.campaign.check::<Settings>()?;
        let found = match self.campaign.resume {
            false => Some(self.find(&settings.oracles(), &launcher, stop)?),
            true => None,
        };
        let (mut session, mut store) = Session::open::<Settings>(ui, &self.campaign, stop, clock)?;
        let begun = session.begin(&mut store, settings, self.count, self.count.is_some())?;
        let (seed, settings) = (begun.seed, &begun.settings);
        let oracles = match found {
            Some(oracles) => oracles,
            None => {
                // The folder may come from another person.
                let permitted = Permitted { named: self.oracles(), trust: self.trust };
                let oracles = settings.oracles();
                let asked: Vec<&str> = oracles.iter().map(String::as_str).collect();
                permitted.choose(&self.campaign.out, &asked)?;
                self.find(&oracles, &launcher, stop)?
            }
        };
        let recipe = Recipe::new(seed, settings.mode(), settings.fuzzer()?);
        let workload = Programs::new(recipe, oracles)?;
        let before = store.totals(begun.id)?.iter().map(|total| total.programs).sum();
        let line = Line {
            texts: |counters| {
                let accepted = grouped(counters.count(counts::ACCEPTED));
                let programs = grouped(counters.programs());
                [format!("{programs} programs"), format!("{accepted} accepted")]
            },
            rate: |counters| counters.programs(),
            unit: "programs",
            of_target: |target| target.programs,
            target_unit: "programs",
        };
        let options = CampaignOptions {
            item: None,
            keep: &|_, _| Ok(()),
            known: 0,
            line,
            tell: &tell_finding,
        };
        let ended = session.run(&mut store, &workload, &begun, &options);
        let oracles = workload.oracles();
        let asked: Vec<&str> = oracles.iter().map(|oracle| oracle.name()).collect();
        let mode = settings.mode();
        let could_find = |finding: &Finding| {
            let types = finding.details.get("types");
            types.is_some_and(|types| {
                types["mode"] == mode.name() && types["oracles"] == json!(asked)
            })
        };
        // A folder may hold what other commands have found.
        let harvest = session.harvest(&store, &begun, &could_find, &is_types)?;
        let is_found = !harvest.found.is_empty();
        let outcome = session.outcome(seed, harvest);
        let summary = TypesSummary { outcome, mode, oracles, before, known: workload.known() };
        session.conclude(store, ended, &summary)?;
        session.status::<Settings>(is_found, &named(asked.iter().copied()))
    }

    fn find(
        &self,
        names: &[String],
        launcher: &Launcher,
        stop: &Stop,
    ) -> anyhow::Result<Vec<Box<dyn Oracle>>> {
        let wall = self.timeout.unwrap_or(WALL);
        let found = names.iter().map(|name| find_within(name, launcher, stop.flag(), wall));
        in_time(stop, found.collect::<Result<_, _>>())
    }
}

/// The arguments that name these oracles, as far as they have to be named.
pub fn named<'a>(oracles: impl Iterator<Item = &'a str>) -> String {
    let unknown = oracles.filter(|name| *name != RULES && !is_built_in(name));
    unknown.map(|name| format!(" --oracle {}", shell_word(name))).collect()
}

fn list(ui: &Ui) -> anyhow::Result<Status> {
    let about = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("about \""));
        line.and_then(|line| line.strip_suffix("\".")).unwrap_or_default().to_owned()
    };
    let all = Language::ALL.into_iter().flat_map(|language| {
        let features = language.features().iter();
        features.map(move |(name, text)| (language, *name, about(text)))
    });
    if ui.json {
        let all: Vec<_> = all
            .map(|(language, name, about)| {
                json!({ "name": name, "about": about, "language": language.to_string() })
            })
            .collect();
        ui.document(&json!({ "fuzzers": all }))?;
        return Ok(Status::Clean);
    }
    let mut last = None;
    for (language, name, about) in all {
        if last != Some(language) {
            let all = format!("{language}: up to five of the following, others for each batch");
            ui.line(format!("{:15} {all}", language.name()))?;
            last = Some(language);
        }
        ui.line(format!("{name:15} {about}"))?;
    }
    Ok(Status::Clean)
}
