//! `strait report`: one self-contained page about what was found.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::campaign::write_report;
use crate::ui::{Status, Ui};

/// Write one self-contained HTML page about what was found
#[derive(Args)]
pub struct ReportArgs {
    /// The folder of the campaign
    #[arg(value_name = "DIR", default_value = "strait-out")]
    folder: PathBuf,
}

impl ReportArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let path = write_report(ui, &self.folder)?;
        if ui.json {
            ui.document(&json!({ "file": path }))?;
        } else {
            ui.line(path.display())?;
        }
        Ok(Status::Clean)
    }
}
