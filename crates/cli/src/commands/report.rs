//! `strait report`: one self-contained page about what was found.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use strait_findings::{Changes, Written};

use crate::campaign::write_report;
use crate::ui::{Status, Ui};

/// Write one self-contained HTML page about what was found
#[derive(Args)]
pub struct ReportArgs {
    /// The folder of the campaign
    #[arg(value_name = "DIR", default_value = "strait-out")]
    folder: PathBuf,
    /// Compare with the campaign in this folder: findings that are new, gone or still there
    #[arg(long, value_name = "DIR")]
    against: Option<PathBuf>,
}

impl ReportArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let Written { path, changes, .. } =
            write_report(ui, &self.folder, self.against.as_deref())?;
        if ui.json {
            let changes = changes.map(|Changes { new, gone, still_there }| {
                json!({ "new": new, "gone": gone, "still_there": still_there })
            });
            ui.document(&json!({ "file": path, "changes": changes }))?;
            return Ok(Status::Clean);
        }
        ui.line(path.display())?;
        if let Some(Changes { new, gone, still_there }) = changes {
            ui.line(format!("{new} new, {gone} gone, {still_there} still there"))?;
        }
        Ok(Status::Clean)
    }
}
