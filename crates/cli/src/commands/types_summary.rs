//! What a campaign of `strait types` came to, for people and for scripts.

use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use strait_findings::{FINDINGS, Harvest, shell_word};
use strait_typefuzz::{Counters, Known, Mode, Oracle};

use crate::commands::fuzz::{how_often, tell_earlier};
use crate::commands::types::named;
use crate::progress::duration;
use crate::queue::Events;
use crate::ui::{Paint, Ui, grouped};

/// Findings that are listed.
const SHOWN: usize = 20;

/// Everything there is to say.
pub struct Summary<'a> {
    pub folder: &'a Path,
    pub seed: u64,
    pub mode: Mode,
    pub oracles: &'a [Box<dyn Oracle>],
    pub counters: &'a Counters,
    pub harvest: Harvest,
    /// Programs of earlier sessions.
    pub before: u64,
    pub seconds: f64,
    pub known: &'a Known,
    pub events: &'a Events,
}

impl Summary<'_> {
    /// For scripts.
    pub fn document(&self) -> Value {
        let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let findings: Vec<Value> = self
            .harvest
            .found
            .iter()
            .map(|finding| {
                let types = finding.details.get("types").unwrap_or(&Value::Null);
                json!({
                    "id": finding.id,
                    "kind": finding.kind,
                    "oracle_a": types["oracle_a"],
                    "oracle_b": types["oracle_b"],
                    "title": finding.title,
                    "seed": finding.seed,
                    "index": finding.index,
                    "count": finding.count,
                    "known": self.harvest.is_known(finding),
                    "dir": self.folder.join(FINDINGS).join(&finding.id),
                })
            })
            .collect();
        let mut document = json!({
            "programs": count(&self.counters.programs),
            "programs_before": self.before,
            "accepted": count(&self.counters.accepted),
            "skipped": count(&self.counters.skipped),
            "seconds": self.seconds,
            "seed": self.seed,
            "mode": self.mode.name(),
            "coverage": "sampled",
            "oracles": self.oracles.iter().map(|oracle| json!({ "name": oracle.name(), "version": oracle.version() })).collect::<Vec<_>>(),
            "known": *self.counters.known.lock().unwrap_or_else(PoisonError::into_inner),
            "findings": findings,
            "earlier": self.harvest.earlier,
        });
        self.events.add_to(&mut document);
        document
    }

    /// For people.
    pub fn show(&self, ui: &Ui, page: Option<&Path>) -> anyhow::Result<()> {
        let programs = self.counters.programs.load(Ordering::Relaxed);
        let accepted = self.counters.accepted.load(Ordering::Relaxed);
        let skipped = self.counters.skipped.load(Ordering::Relaxed);
        let time = duration(Duration::from_secs_f64(self.seconds));
        let rate = programs as f64 / self.seconds.max(1e-3);
        ui.line(format!(
            "{} programs sampled in {time} ({rate:.0} a second), mode {}, seed {}",
            grouped(programs),
            self.mode.name(),
            self.seed
        ))?;
        if self.before > 0 {
            ui.line(format!("{} more in earlier sessions", grouped(self.before)))?;
        }
        let names: Vec<String> = self
            .oracles
            .iter()
            .map(|oracle| format!("{} {}", oracle.name(), oracle.version()))
            .collect();
        let share = 100.0 * accepted as f64 / programs as f64;
        let first = self.oracles.first().map_or("", |oracle| oracle.name());
        let accepts = match programs {
            0 => String::new(),
            _ => format!("; {first} accepts {share:.2} %"),
        };
        ui.line(format!("judged by {}{accepts}", names.join(", ")))?;
        if skipped > 0 {
            ui.line(format!("{} indices gave no program", grouped(skipped)))?;
        }
        let classes = self.counters.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (class, count) in &classes {
            let reason = self.known.reason(class);
            ui.line(format!(
                "{} differences of a known class, {class}: {reason}",
                grouped(*count)
            ))?;
        }
        let found = &self.harvest.found;
        match found.len() {
            0 => ui.line(self.events.nothing_found(ui, "program"))?,
            1 => ui.line(ui.paint(Paint::Red, "1 fault was found:"))?,
            many => ui.line(ui.paint(Paint::Red, format!("{many} faults were found:")))?,
        }
        for finding in found.iter().take(SHOWN) {
            let often = how_often(finding, &self.harvest);
            let kind = ui.paint(Paint::Red, format!("{:<13}", finding.kind.as_str()));
            ui.line(format!("  {kind} {} ({often})", finding.title))?;
            let place = self.folder.join(FINDINGS).join(&finding.id);
            let types = finding.details.get("types").unwrap_or(&Value::Null);
            let oracles = ["oracle_a", "oracle_b"].iter().filter_map(|key| types[*key].as_str());
            let (place, named) = (shell_word(&place.display().to_string()), named(oracles));
            ui.line(format!("  {:13} strait replay {place}{named}", ""))?;
        }
        if found.len() > SHOWN {
            ui.line(format!("  and {} more, in the report", found.len() - SHOWN))?;
        }
        tell_earlier(ui, &self.harvest);
        self.events.show(ui);
        if let Some(page) = page {
            ui.line(format!("Report: {}", page.display()))?;
        }
        Ok(())
    }
}
