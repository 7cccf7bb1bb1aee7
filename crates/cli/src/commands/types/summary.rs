//! What a campaign of `strait types` came to, for people and for scripts.

use std::path::Path;

use serde_json::{Value, json};
use strait_findings::Finding;
use strait_typefuzz::{Known, Mode, Oracle, counts};

use crate::commands::types::named;
use crate::summary::{Outcome, Shown, Summary};
use crate::ui::{Ui, grouped};

/// Everything there is to say.
pub struct TypesSummary<'a> {
    pub outcome: Outcome<'a>,
    pub mode: Mode,
    pub oracles: &'a [Box<dyn Oracle>],
    /// Programs of earlier sessions.
    pub before: u64,
    pub known: &'a Known,
}

/// A detail of a finding.
fn detail<'f>(finding: &'f Finding, name: &str) -> &'f Value {
    finding.details.get("types").map_or(&Value::Null, |types| &types[name])
}

impl Summary for TypesSummary<'_> {
    fn document(&self) -> Value {
        let findings = self.outcome.harvest.found.iter().map(|finding| {
            let mut document = self.outcome.finding(finding);
            document["oracle_a"] = detail(finding, "oracle_a").clone();
            document["oracle_b"] = detail(finding, "oracle_b").clone();
            document["table"] = detail(finding, "table").clone();
            document
        });
        let oracles = self.oracles.iter();
        let oracles =
            oracles.map(|oracle| json!({ "name": oracle.name(), "version": oracle.version() }));
        let counters = self.outcome.counters;
        self.outcome.document(json!({
            "programs": counters.programs(),
            "programs_before": self.before,
            "accepted": counters.count(counts::ACCEPTED),
            "skipped": counters.count(counts::SKIPPED),
            "mode": self.mode.name(),
            "oracles": oracles.collect::<Vec<Value>>(),
            "known": counts::known_classes(&counters.counts()),
            "findings": findings.collect::<Vec<Value>>(),
        }))
    }

    fn show(&self, ui: &Ui, page: Option<&Path>) -> anyhow::Result<()> {
        let counters = self.outcome.counters;
        let programs = counters.programs();
        let accepted = counters.count(counts::ACCEPTED);
        let skipped = counters.count(counts::SKIPPED);
        let rate = programs as f64 / self.outcome.seconds.max(1e-3);
        ui.line(format!(
            "{} programs sampled in {} ({rate:.0} per second), mode {}, seed {}",
            grouped(programs),
            self.outcome.time(),
            self.mode.name(),
            self.outcome.seed
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
        let classes = counts::known_classes(&counters.counts());
        for (class, count) in &classes {
            let reason = self.known.reason(class);
            ui.line(format!(
                "{} differences of a known class, {class}: {reason}",
                grouped(*count)
            ))?;
        }
        self.outcome.show(ui, page, &|finding| {
            let oracles = ["oracle_a", "oracle_b"].map(|name| detail(finding, name).as_str());
            let arguments = named(oracles.into_iter().flatten());
            Shown { about: String::new(), arguments }
        })
    }
}
