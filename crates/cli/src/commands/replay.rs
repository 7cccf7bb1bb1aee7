//! `strait replay`: a finding run again.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use strait_fuzz::{Exhibit, Lanes};
use strait_toolchain::Launcher;

use crate::duration;
use crate::interrupt;
use crate::ui::{Paint, Status, Ui, grouped};

/// Run a finding again
#[derive(Args)]
#[command(after_help = "\
The program is run alone, more and more often, until the fault shows or time is up.
Exit codes: 0 it did not show, 1 it showed again, 2 it could not be run.")]
pub struct ReplayArgs {
    /// The finding's directory
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How long to try
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = duration::parse)]
    time: Duration,
}

impl ReplayArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let stop = interrupt::flag_for(ui)?;
        let launcher = Launcher::this_program()?;
        let mut lanes = Lanes::new(&launcher, Arc::clone(&stop));
        let exhibit = Exhibit::open(&self.folder, &mut lanes, &mut |text| ui.note(text))?;
        let finding = &exhibit.replay.finding;
        ui.note(format!("{} {}: {}", finding.kind, exhibit.lane.name(), finding.title));
        let rerun = exhibit.run(&launcher, self.time, &|| stop.load(Ordering::Relaxed))?;
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
}
