//! `strait replay`: a finding run again.

use crate::commands::types;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::json;
use strait_campaign::{Ending, Stop};
use strait_fuzz::{Exhibit, TargetFinder};
use strait_toolchain::{Cache, Launcher};

use crate::campaign::{Clock, in_time};
use crate::commands::fuzz::working_tree;
use crate::commands::trust::{ModuleArgs, TrustArgs};
use crate::duration;
use crate::interrupt;
use crate::ui::{Paint, Status, Ui, grouped};

/// How long to try if nothing is said about it.
const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// What is said if nothing can be.
const NOT_RUN: &str = "stopped before the program had run once; give --time more, or leave it out";

/// Run a finding again
#[derive(Args)]
#[command(after_help = "\
Strait runs the program alone, with more and more repetitions, until the fault shows or the time is over.
A finding may come from another person. If a finding names a program or a folder, Strait runs or compiles \
it only if you name it too, with --oracle or --module, or if you pass --trust. See docs/security.md.
Exit codes: 0 the fault did not show, 1 the fault showed again, 2 the finding could not be run.")]
pub struct ReplayArgs {
    /// The finding's directory
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Time limit, including compilation [default: 1m after compilation]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// For a finding of `strait go fuzz`: number of runs of its test
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u64).range(1..))]
    tries: u64,
    /// For a finding of `strait fuzz`: run it on the working tree in this folder, whatever version it
    /// was found in
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    module: ModuleArgs,
}

impl ReplayArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let stop = interrupt::stop_for(ui)?;
        let mut clock = Clock::start(&stop, self.time);
        let launcher = self.trust.launcher(&stop)?;
        let finding = strait_findings::read(&self.folder)?;
        if strait_reorder::is_go(&finding) {
            return self.run_go(ui, &stop, clock, &launcher);
        }
        if strait_typefuzz::is_types(&finding) {
            let permitted = self.trust.compilers();
            return types::replay::replay(ui, &self.folder, &permitted, &launcher, &stop);
        }
        let tree = self.path.as_deref().map(working_tree).transpose()?;
        let mut finder = TargetFinder::new(&launcher, Arc::clone(stop.flag())).with_tree(tree);
        let exhibit = Exhibit::open(&self.folder, &mut finder, &mut |text| ui.note(text));
        let exhibit = in_time(&stop, exhibit)?;
        let finding = &exhibit.replay.finding;
        ui.note(format!("{} {}: {}", finding.kind, exhibit.target.name(), finding.title));
        let left = clock.start_work(Some(DEFAULT_TIME)).unwrap_or_default();
        let rerun = exhibit.run(&launcher, left, &|| stop.is_due())?;
        if rerun.runs == 0 {
            bail!(NOT_RUN);
        }
        let again = rerun.failed > 0;
        if ui.json {
            ui.document(&json!({
                "id": finding.id,
                "again": again,
                "failed": rerun.failed,
                "runs": rerun.runs,
            }))?;
        } else if again {
            let (failed, runs) = (grouped(rerun.failed), grouped(rerun.runs));
            ui.line(
                ui.paint(Paint::Red, format!("It happened again: in {failed} of {runs} runs.")),
            )?;
        } else {
            let runs = grouped(rerun.runs);
            ui.line(ui.paint(Paint::Green, format!("It did not happen in {runs} runs.")))?;
            ui.note("A race may need longer: try --time 10m, on a machine with little else to do.");
        }
        Ok(if again { Status::Found } else { Status::Clean })
    }

    /// A test of a Go module, with the recorded order and seed.
    fn run_go(
        &self,
        ui: &Ui,
        stop: &Stop,
        mut clock: Clock,
        launcher: &Launcher,
    ) -> anyhow::Result<Status> {
        let here = std::env::current_dir().context("cannot find the current folder")?;
        let permitted = self.trust.modules(&self.module, &here);
        let cache = Cache::find()?;
        let mut tell = |package: String| ui.note(format!("compiling the tests of {package}"));
        let exhibit = strait_reorder::Exhibit::open(
            &self.folder,
            &permitted,
            launcher,
            &cache,
            stop.flag(),
            &mut tell,
        );
        let exhibit = in_time(stop, exhibit)?;
        let finding = &exhibit.finding;
        ui.note(format!("{} {}", finding.kind, finding.title));
        let left = clock.start_work(Some(DEFAULT_TIME)).unwrap_or_default();
        let again = exhibit.run(self.tries, left, stop.flag())?;
        let (failed, runs) = (again.failed, again.runs);
        if runs == 0 {
            bail!(NOT_RUN);
        }
        if ui.json {
            ui.document(&json!({
                "id": finding.id,
                "again": failed > 0,
                "failed": failed,
                "runs": runs,
            }))?;
        } else if let Some(suspicion) = &again.suspicion {
            for fact in &suspicion.facts {
                ui.line(format!("  {fact}"))?;
            }
            ui.line(
                ui.paint(Paint::Red, format!("It happened again: in {failed} of {runs} runs.")),
            )?;
        } else {
            ui.line(ui.paint(Paint::Green, format!("It did not happen in {runs} runs.")))?;
            ui.note(
                "Schedules depend on the machine's load: try --tries 200, with little else to do.",
            );
        }
        Ok(if failed > 0 { Status::Found } else { Status::Clean })
    }
}
