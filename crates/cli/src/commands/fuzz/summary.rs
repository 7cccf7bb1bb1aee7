//! What a campaign has done and found, in plain words and as JSON.

use std::path::Path;

use serde_json::{Value, json};
use strait_findings::{Finding, Kind, Total};
use strait_fuzz::{Astray, FuzzTarget, counts};

use crate::summary::{Outcome, Shown, Summary};
use crate::ui::{Paint, Ui, grouped};

/// How many programs that could not be run are named.
const SHOWN_ASTRAY: usize = 5;

/// Everything there is to say at the end.
pub struct FuzzSummary<'a> {
    pub outcome: Outcome<'a>,
    pub targets: &'a [FuzzTarget],
    pub unbuilt: &'a [(String, String)],
    pub totals: Vec<Total>,
}

impl Summary for FuzzSummary<'_> {
    /// Counts are those of the whole campaign, resumed sessions included.
    fn document(&self) -> Value {
        let findings = self.outcome.harvest.found.iter().map(|finding| {
            let mut document = self.outcome.finding(finding);
            document["target"] = json!(finding.target);
            document["version"] = json!(finding.version);
            document
        });
        let targets = self.totals.iter().map(|total| {
            json!({
                "target": total.target,
                "version": total.version,
                "programs": total.programs,
                "runs": total.runs,
            })
        });
        let unbuilt = self.unbuilt.iter().map(|(name, why)| json!({ "version": name, "why": why }));
        self.outcome.document(json!({
            "programs": self.programs(),
            "runs": self.runs(),
            "undecided": self.count(counts::UNDECIDED),
            "astray": self.count(counts::ASTRAY),
            "astray_programs": self.astray(),
            "unconfirmed": self.count(counts::DROPPED),
            "share": self.shares(),
            "targets": targets.collect::<Vec<Value>>(),
            "unbuilt": unbuilt.collect::<Vec<Value>>(),
            "findings": findings.collect::<Vec<Value>>(),
        }))
    }

    fn show(&self, ui: &Ui, page: Option<&Path>) -> anyhow::Result<()> {
        ui.line(format!(
            "{} programs with {} runs in {}, seed {}",
            grouped(self.programs()),
            grouped(self.runs()),
            self.outcome.time(),
            self.outcome.seed
        ))?;
        ui.line("")?;
        self.table(ui)?;
        ui.line("")?;
        let show = |finding: &Finding| Shown {
            about: format!("{} ", finding.version),
            arguments: String::new(),
        };
        self.outcome.show(ui, page, &show)?;
        self.remarks(ui);
        Ok(())
    }
}

impl FuzzSummary<'_> {
    fn astray(&self) -> Vec<Astray> {
        self.outcome.counters.notes()
    }

    fn count(&self, name: &str) -> u64 {
        self.outcome.counters.count(name)
    }

    /// What part of the time the targets had was spent on making and on judging programs.
    fn shares(&self) -> Value {
        let running = self.count(counts::RUNNING).max(1) as f64;
        json!({
            "running_seconds": running / 1e9,
            "generating": self.count(counts::GENERATING) as f64 / running,
            "judging": self.count(counts::JUDGING) as f64 / running,
        })
    }

    fn programs(&self) -> u64 {
        self.totals.iter().map(|total| total.programs).sum()
    }

    fn runs(&self) -> u64 {
        self.totals.iter().map(|total| total.runs).sum()
    }

    /// One row per version, one column per kind that was found; or one line of words per version if the
    /// terminal is too narrow for that.
    fn table(&self, ui: &Ui) -> anyhow::Result<()> {
        let mut kinds: Vec<&Kind> =
            self.outcome.harvest.found.iter().map(|finding| &finding.kind).collect();
        kinds.sort();
        kinds.dedup();
        let names: Vec<String> = self.targets.iter().map(FuzzTarget::name).collect();
        let left_out = self.unbuilt.iter().map(|(name, _)| name.len());
        let width = names.iter().map(String::len).chain(left_out).max().unwrap_or(0);
        let heads: String = kinds.iter().map(|kind| format!("  {:>13}", kind.as_str())).collect();
        let heads = format!("{:width$}  {:>10}  {:>12}{heads}", "", "programs", "runs");
        if ui.line_width().is_some_and(|columns| heads.len() > columns) {
            return self.list(ui, &kinds);
        }
        ui.line(ui.paint(Paint::Bold, heads))?;
        for (target, name) in self.targets.iter().zip(&names) {
            let (programs, runs) = self.totals_of(target);
            let cells: String = kinds.iter().map(|kind| self.cell(ui, target, kind)).collect();
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

    /// The same as the table, for narrow terminals.
    fn list(&self, ui: &Ui, kinds: &[&Kind]) -> anyhow::Result<()> {
        for target in self.targets {
            let (programs, runs) = self.totals_of(target);
            ui.line(ui.paint(Paint::Bold, target.name()))?;
            ui.line(format!("  {} programs, {} runs", grouped(programs), grouped(runs)))?;
            for kind in kinds {
                match self.found(target, kind) {
                    0 => {}
                    count => {
                        let found = format!("{}: {count}", kind.as_str());
                        ui.line(format!("  {}", ui.paint(Paint::Red, found)))?;
                    }
                }
            }
        }
        for (name, _) in self.unbuilt {
            ui.line(ui.paint(Paint::Bold, name.clone()))?;
            ui.line(format!("  {}", ui.paint(Paint::Dim, "not built")))?;
        }
        Ok(())
    }

    /// How many programs and runs a version had.
    fn totals_of(&self, target: &FuzzTarget) -> (u64, u64) {
        let is_its =
            |total: &&Total| total.target == target.target && total.version == target.version;
        let total = self.totals.iter().find(is_its);
        total.map_or((0, 0), |total| (total.programs, total.runs))
    }

    /// How many findings of a kind a version has.
    fn found(&self, target: &FuzzTarget, kind: &Kind) -> usize {
        let alike = self.outcome.harvest.found.iter().filter(|finding| {
            finding.target == target.target
                && finding.version == target.version
                && finding.kind == *kind
        });
        alike.count()
    }

    fn cell(&self, ui: &Ui, target: &FuzzTarget, kind: &Kind) -> String {
        match self.found(target, kind) {
            0 => format!("  {:>13}", "-"),
            count => format!("  {}", ui.paint(Paint::Red, format!("{count:>13}"))),
        }
    }

    /// What the numbers above do not say.
    fn remarks(&self, ui: &Ui) {
        for (name, text) in [
            (counts::UNDECIDED, "observations were too large to be explained or refuted"),
            (counts::DROPPED, "suspected hangs did not show again and were left out"),
        ] {
            match self.count(name) {
                0 => {}
                count => ui.note(format!("{} {text}", grouped(count))),
            }
        }
        let astray = self.count(counts::ASTRAY);
        if astray > 0 {
            ui.note(format!(
                "{} generated programs could not be run by their target. This is a fault of Strait: please report it with the lines below and seed {}",
                grouped(astray),
                self.outcome.seed
            ));
        }
        for Astray { target, index, reason } in self.astray().iter().take(SHOWN_ASTRAY) {
            ui.note(format!("  {target}, program {index}: {reason}"));
        }
    }
}
