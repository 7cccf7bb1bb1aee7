//! `strait merge`: what several machines have found, in one folder.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use strait_findings::{Error, INDEX, Store};

use crate::campaign::write_report;
use crate::ui::{Status, Ui, grouped};

/// Merge the campaign folders of several machines into one folder
#[derive(Args)]
#[command(after_help = "\
Each machine fuzzes its share (`strait fuzz --seed 1 --count 1000000 --shard 0/4 --out DIR`). Then this \
command merges their folders into one folder with one report. Merging a folder again adds what is new in it.
Exit codes: 0 nothing was found, 1 something was found, 2 a folder cannot be read or written.")]
pub struct MergeArgs {
    /// Folders of campaigns
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Folder for the merged campaign
    #[arg(long, value_name = "DIR", default_value = "strait-out")]
    out: PathBuf,
}

impl MergeArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        // What is wrong with the command line is said before a folder is made for it.
        if let Some(none) = self.folders.iter().find(|folder| !folder.join(INDEX).exists()) {
            return Err(Error::NoCampaign { path: none.clone() }.into());
        }
        let mut store = Store::open(&self.out)?;
        let (mut campaigns, mut fresh) = (0, 0);
        for folder in &self.folders {
            let merged = store.merge(folder)?;
            campaigns += merged.campaigns;
            fresh += merged.findings;
        }
        let findings = store.findings().count();
        store.close()?;
        let page = write_report(ui, &self.out, None)?.path;
        if ui.json {
            let (new, report) = (fresh, page);
            ui.document(&json!({ "campaigns": campaigns, "new": new, "findings": findings, "report": report }))?;
        } else {
            let folders = self.folders.len();
            ui.line(format!(
                "{} {} merged: {} new, {} in all",
                grouped(folders as u64),
                if folders == 1 { "folder" } else { "folders" },
                findings_in_words(fresh),
                findings_in_words(findings)
            ))?;
            ui.line(format!("Report: {}", page.display()))?;
        }
        Ok(if findings == 0 { Status::Clean } else { Status::Found })
    }
}

fn findings_in_words(count: usize) -> String {
    format!("{} {}", grouped(count as u64), if count == 1 { "finding" } else { "findings" })
}
