//! `strait fuzz`: a campaign against channel runtimes.

pub mod summary;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use strait_findings::Finding;
use strait_fuzz::{FuzzTarget, Programs, Settings, TargetFinder, check_targets};
use strait_toolchain::Launcher;

use crate::campaign::{CampaignArgs, CampaignOptions, Clock, Line, Session, in_time, tell_finding};
use crate::commands::fuzz::summary::FuzzSummary;
use crate::interrupt;
use crate::ui::{Status, Ui, grouped};

/// Find crashes, hangs and impossible results in channel runtimes
#[derive(Args)]
#[command(after_help = "\
Without TARGET, Strait fuzzes all built-in channel crates; `strait targets` lists them.
To fuzz other languages, Strait uses the tools that you have installed: go@1.21.0, kotlin@1.3.2 (the version of \
kotlinx.coroutines), core-async.
Other versions of a crate are built with your cargo: crossbeam-channel@0.5.14, kanal@0.1.0-pre1. A \
range such as flume@0.10.0..0.12.0 ends with a table of the versions and the findings in each version.
With --path, Strait fuzzes a working tree: strait fuzz flume --path ../flume
Exit codes: 0 nothing found, 1 something found, 2 usage, input or environment error.")]
pub struct FuzzArgs {
    /// Target: NAME, NAME@VERSION or NAME@FROM..TO [default: all built-in channel crates]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Number of programs per target
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    campaign: CampaignArgs,
    /// The flix.jar to use for the target flix
    #[arg(long, value_name = "FILE")]
    flix_jar: Option<PathBuf>,
    /// Fuzz the working tree in this folder instead of a published version; TARGET names the crate
    #[arg(long, value_name = "DIR", requires = "targets", conflicts_with = "queue")]
    path: Option<PathBuf>,
    /// With --queue: number of programs per work item [default: 256, fewer if --count is small]
    #[arg(long, value_name = "K", requires = "queue", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    item: Option<u64>,
}

impl FuzzArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let stop = interrupt::stop_for(ui)?;
        let clock = Clock::start(&stop, self.campaign.time);
        let launcher = Launcher::this_program()?.cancelled_by(stop.flag());
        // What is wrong with the command line is said before a folder is made for it.
        check_targets(&self.targets)?;
        self.campaign.check::<Settings>()?;
        let (mut session, mut store) = Session::open::<Settings>(ui, &self.campaign, &stop, clock)?;
        let tree = self.path.as_deref().map(working_tree).transpose()?;
        let settings = Settings::new(self.targets.clone()).in_tree(tree);
        let begun = session.begin(&mut store, settings, self.count, self.count.is_some())?;
        let mut finder = TargetFinder::new(&launcher, Arc::clone(stop.flag()))
            .with_flix_jar(self.flix_jar.clone())
            .with_tree(begun.settings.tree.clone());
        let fuzzed = match begun.settings.targets.as_slice() {
            [] => TargetFinder::all(),
            targets => in_time(&stop, finder.resolve(targets, &mut |text| ui.note(text)))?,
        };
        for (target, why) in &finder.missing {
            ui.note(format!("{target} is left out: {why}"));
        }
        let workload = Programs::new(&launcher, fuzzed.clone(), begun.seed)?;
        let could_find = |finding: &Finding| fuzzed.iter().any(|target| is_of(target, finding));
        let found = session.harvest(&store, &begun, &could_find, &|_| true)?.found;
        let line = Line {
            texts: |counters| {
                let (programs, runs) = (grouped(counters.programs()), grouped(counters.runs()));
                [format!("{programs} programs"), format!("{runs} runs")]
            },
            rate: |counters| counters.programs(),
            unit: "programs",
            of_target: |target| target.programs,
            target_unit: "programs",
        };
        let options = CampaignOptions {
            item: self.item,
            keep: &|_, _| Ok(()),
            known: found.len() as u64,
            line,
            tell: &tell_finding,
        };
        let ended = session.run(&mut store, &workload, &begun, &options);
        let harvest = session.harvest(&store, &begun, &could_find, &|_| true)?;
        let is_found = !harvest.found.is_empty();
        let summary = FuzzSummary {
            outcome: session.outcome(begun.seed, harvest),
            targets: &fuzzed,
            unbuilt: &finder.unbuilt,
            totals: store.totals(begun.id)?,
        };
        session.conclude(store, ended, &summary)?;
        match (session.status::<Settings>(is_found, "")?, finder.missing.first()) {
            (Status::Clean, Some((target, _))) => bail!("{target} could not be fuzzed, see above"),
            (status, _) => Ok(status),
        }
    }
}

/// The folder of a working tree, as it can be found from anywhere.
pub fn working_tree(folder: &Path) -> anyhow::Result<PathBuf> {
    let place = folder.canonicalize();
    place.with_context(|| format!("cannot find the working tree {}", folder.display()))
}

/// Is this finding about this target, in this version?
fn is_of(target: &FuzzTarget, finding: &Finding) -> bool {
    (&target.target, &target.version) == (&finding.target, &finding.version)
}
