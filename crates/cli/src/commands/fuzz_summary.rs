//! What a campaign has done and found, in plain words and as JSON.

use std::path::Path;

use serde_json::{Value, json};
use strait_findings::{FINDINGS, Finding, Harvest, Kind, Total};
use strait_fuzz::{Counters, Lane};

use crate::commands::fuzz::{how_often, tell_earlier};
use crate::progress::duration;
use crate::queue::Events;
use crate::ui::{Paint, Ui, grouped};

/// How many findings are shown one by one.
const SHOWN: usize = 20;

/// Everything there is to say at the end.
pub struct Summary<'a> {
    pub folder: &'a Path,
    pub seed: u64,
    pub lanes: &'a [Lane],
    pub unbuilt: &'a [(String, String)],
    pub totals: Vec<Total>,
    pub harvest: Harvest,
    pub counters: &'a Counters,
    pub seconds: f64,
    pub events: &'a Events,
}

impl Summary<'_> {
    /// The JSON document. Counts are those of the whole campaign, resumed sessions included.
    pub fn document(&self) -> Value {
        let findings = self.harvest.found.iter().map(|finding| {
            json!({
                "id": finding.id,
                "kind": finding.kind.as_str(),
                "target": finding.target,
                "version": finding.version,
                "seed": finding.seed,
                "index": finding.index,
                "title": finding.title,
                "count": finding.count,
                "known": self.harvest.is_known(finding),
                "dir": self.folder.join(FINDINGS).join(&finding.id),
            })
        });
        let targets = self.totals.iter().map(|total| {
            json!({
                "target": total.target,
                "version": total.version,
                "programs": total.programs,
                "runs": total.runs,
            })
        });
        let mut document = json!({
            "seed": self.seed,
            "programs": self.programs(),
            "runs": self.runs(),
            "seconds": self.seconds,
            "undecided": self.counters.undecided(),
            "astray": self.counters.astray(),
            "unconfirmed": self.counters.dropped(),
            "share": self.shares(),
            "targets": targets.collect::<Vec<Value>>(),
            "coverage": "sampled",
            "unbuilt": self.unbuilt.iter().map(|(name, why)| json!({ "version": name, "why": why })).collect::<Vec<Value>>(),
            "findings": findings.collect::<Vec<Value>>(),
            "earlier": self.harvest.earlier,
        });
        self.events.add_to(&mut document);
        document
    }

    /// What part of the time the targets had was spent on making and on judging programs.
    fn shares(&self) -> Value {
        let running = self.counters.running().max(1) as f64;
        json!({
            "running_seconds": running / 1e9,
            "generating": self.counters.generating() as f64 / running,
            "judging": self.counters.judging() as f64 / running,
        })
    }

    fn programs(&self) -> u64 {
        self.totals.iter().map(|total| total.programs).sum()
    }

    fn runs(&self) -> u64 {
        self.totals.iter().map(|total| total.runs).sum()
    }

    /// For people.
    pub fn show(&self, ui: &Ui, page: Option<&Path>) -> anyhow::Result<()> {
        let time = duration(std::time::Duration::from_secs_f64(self.seconds));
        ui.line(format!(
            "{} programs with {} runs in {time}, seed {}",
            grouped(self.programs()),
            grouped(self.runs()),
            self.seed
        ))?;
        ui.line("")?;
        self.table(ui)?;
        ui.line("")?;
        match self.harvest.found.len() {
            0 => ui.line(self.events.nothing_found(ui, "program"))?,
            1 => ui.line(ui.paint(Paint::Red, "1 fault was found:"))?,
            many => ui.line(ui.paint(Paint::Red, format!("{many} faults were found:")))?,
        }
        for finding in self.harvest.found.iter().take(SHOWN) {
            self.finding(ui, finding)?;
        }
        if self.harvest.found.len() > SHOWN {
            ui.line(format!("  and {} more, in the report", self.harvest.found.len() - SHOWN))?;
        }
        tell_earlier(ui, &self.harvest);
        self.events.show(ui);
        self.remarks(ui);
        if let Some(page) = page {
            ui.line(format!("Report: {}", page.display()))?;
        }
        Ok(())
    }

    fn finding(&self, ui: &Ui, finding: &Finding) -> anyhow::Result<()> {
        let often = how_often(finding, &self.harvest);
        let kind = ui.paint(Paint::Red, format!("{:<13}", finding.kind.as_str()));
        ui.line(format!("  {kind} {} ({} {often})", finding.title, finding.version))?;
        let place = self.folder.join(FINDINGS).join(&finding.id);
        ui.line(format!("  {:13} strait replay {}", "", place.display()))
    }

    /// One row a version, one column a kind that was found.
    fn table(&self, ui: &Ui) -> anyhow::Result<()> {
        let mut kinds: Vec<&Kind> =
            self.harvest.found.iter().map(|finding| &finding.kind).collect();
        kinds.sort();
        kinds.dedup();
        let names: Vec<String> = self.lanes.iter().map(Lane::name).collect();
        let left_out = self.unbuilt.iter().map(|(name, _)| name.len());
        let width = names.iter().map(String::len).chain(left_out).max().unwrap_or(0);
        let heads: String = kinds.iter().map(|kind| format!("  {:>13}", kind.as_str())).collect();
        ui.line(ui.paint(
            Paint::Bold,
            format!("{:width$}  {:>10}  {:>12}{heads}", "", "programs", "runs"),
        ))?;
        for (lane, name) in self.lanes.iter().zip(&names) {
            let of_lane =
                |total: &&Total| total.target == lane.target && total.version == lane.version;
            let (programs, runs) = self
                .totals
                .iter()
                .find(of_lane)
                .map_or((0, 0), |total| (total.programs, total.runs));
            let cells: String = kinds.iter().map(|kind| self.cell(ui, lane, kind)).collect();
            ui.line(format!(
                "{name:width$}  {:>10}  {:>12}{cells}",
                grouped(programs),
                grouped(runs)
            ))?;
        }
        for (name, _) in self.unbuilt {
            ui.line(format!("{name:width$}  {:>10}", ui.paint(Paint::Dim, "not built")))?;
        }
        Ok(())
    }

    fn cell(&self, ui: &Ui, lane: &Lane, kind: &Kind) -> String {
        let alike = self.harvest.found.iter().filter(|finding| {
            finding.target == lane.target
                && finding.version == lane.version
                && finding.kind == *kind
        });
        match alike.count() {
            0 => format!("  {:>13}", "-"),
            count => format!("  {}", ui.paint(Paint::Red, format!("{count:>13}"))),
        }
    }

    /// What the numbers above do not say.
    fn remarks(&self, ui: &Ui) {
        if self.counters.undecided() > 0 {
            ui.note(format!(
                "{} observations were too large to be explained or refuted",
                grouped(self.counters.undecided())
            ));
        }
        if self.counters.dropped() > 0 {
            ui.note(format!(
                "{} suspected hangs did not show again and were left out",
                grouped(self.counters.dropped())
            ));
        }
        if self.counters.astray() > 0 {
            ui.note(format!(
                "{} programs were none for their target: please report this as a bug",
                grouped(self.counters.astray())
            ));
        }
    }
}
