//! What all campaigns say at their end, in plain words and as JSON. What only one kind of campaign has to say
//! is with its command.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use strait_campaign::Counters;
use strait_findings::{FINDINGS, Finding, Harvest, shell_word};

use crate::progress::duration;
use crate::queue::Events;
use crate::ui::{Paint, Ui, grouped};

/// How many findings are shown one by one.
const SHOWN: usize = 20;

/// What a campaign has come to.
pub struct Outcome<'a> {
    pub folder: &'a Path,
    pub seed: u64,
    pub harvest: Harvest,
    pub counters: &'a Counters,
    pub seconds: f64,
    pub events: &'a Events,
}

/// What a kind of campaign says at its end.
pub trait Summary {
    /// The JSON document.
    fn document(&self) -> Value;

    /// For people. The report is on this page, if there is one.
    fn show(&self, ui: &Ui, page: Option<&Path>) -> anyhow::Result<()>;
}

/// How a finding is shown in the list.
pub struct Shown {
    /// What stands before how often it was shown.
    pub about: String,
    /// What its replay needs besides its directory.
    pub arguments: String,
}

impl Outcome<'_> {
    /// How long it took.
    pub fn time(&self) -> String {
        duration(Duration::from_secs_f64(self.seconds))
    }

    /// The directory of a finding.
    pub fn directory(&self, finding: &Finding) -> PathBuf {
        place(self.folder, &finding.id)
    }

    /// A finding in the JSON document.
    pub fn finding(&self, finding: &Finding) -> Value {
        json!({
            "id": finding.id,
            "kind": finding.kind.as_str(),
            "title": finding.title,
            "seed": finding.seed,
            "index": finding.index,
            "count": finding.count,
            "known": self.harvest.is_known(finding),
            "dir": self.directory(finding),
        })
    }

    /// The JSON document: what this kind of campaign says, and what all say.
    pub fn document(&self, mut own: Value) -> Value {
        own["seed"] = json!(self.seed);
        own["seconds"] = json!(self.seconds);
        own["coverage"] = json!("sampled");
        own["earlier"] = json!(self.harvest.earlier);
        self.events.add_to(&mut own);
        own
    }

    /// The faults that were found, for people; what is remarkable besides, and where the report is.
    pub fn show(
        &self,
        ui: &Ui,
        page: Option<&Path>,
        show: &dyn Fn(&Finding) -> Shown,
    ) -> anyhow::Result<()> {
        let found = &self.harvest.found;
        match found.len() {
            0 => ui.line(self.events.nothing_found(ui, "program"))?,
            1 => ui.line(ui.paint(Paint::Red, "1 fault was found:"))?,
            many => ui.line(ui.paint(Paint::Red, format!("{many} faults were found:")))?,
        }
        for finding in found.iter().take(SHOWN) {
            let Shown { about, arguments } = show(finding);
            let kind = ui.paint(Paint::Red, format!("{:<13}", finding.kind.as_str()));
            ui.line(format!("  {kind} {} ({about}{})", finding.title, self.how_often(finding)))?;
            let place = shell_word(&self.directory(finding).display().to_string());
            ui.line(format!("  {:13} strait replay {place}{arguments}", ""))?;
        }
        if found.len() > SHOWN {
            ui.line(format!("  and {} more, in the report", found.len() - SHOWN))?;
        }
        self.show_rest(ui);
        match page {
            Some(page) => ui.line(format!("Report: {}", page.display())),
            None => Ok(()),
        }
    }

    /// What the folder holds besides, and what happened in the queue.
    pub fn show_rest(&self, ui: &Ui) {
        match self.harvest.earlier {
            0 => {}
            1 => ui.note("1 fault known from before did not show this time"),
            earlier => {
                ui.note(format!("{earlier} faults known from before did not show this time"));
            }
        }
        self.events.show(ui);
    }

    /// How often a fault was shown, and whether it is news.
    fn how_often(&self, finding: &Finding) -> String {
        let known = if self.harvest.is_known(finding) { ", known from before" } else { "" };
        match finding.count {
            1 => format!("by 1 program{known}"),
            count => format!("by {} programs{known}", grouped(count)),
        }
    }
}

/// The path of a finding's directory as it is printed.
pub fn place(folder: &Path, id: &str) -> PathBuf {
    folder.join(FINDINGS).join(id)
}
