//! What a campaign over Go tests has done and found, in plain words and as JSON.

use std::path::Path;

use serde_json::{Value, json};
use strait_findings::{Finding, Harvest};
use strait_reorder::{Counters, Ended, Problem};

use crate::commands::fuzz::tell_earlier;
use crate::commands::go_fuzz::place;
use crate::progress::duration;
use crate::queue::Events;
use crate::ui::{Paint, Ui, grouped};

/// How many findings are shown one by one.
const SHOWN: usize = 50;

/// Everything there is to say at the end.
pub struct Summary<'a> {
    pub folder: &'a Path,
    pub seed: u64,
    pub harvest: Harvest,
    pub counters: &'a Counters,
    pub ended: &'a Ended,
    pub problems: &'a [Problem],
    pub seconds: f64,
    pub go: &'a str,
    pub events: &'a Events,
}

impl Summary<'_> {
    /// The JSON document.
    pub fn document(&self) -> Value {
        let detail = |finding: &Finding, name: &str| finding.details.get(name).cloned();
        let findings = self.harvest.found.iter().map(|finding| {
            json!({
                "id": finding.id,
                "kind": finding.kind.as_str(),
                "test": detail(finding, "test"),
                "package": finding.target,
                "title": finding.title,
                "locations": detail(finding, "locations").unwrap_or_else(|| json!([])),
                "certain": detail(finding, "certain"),
                "failed": finding.failed,
                "runs": finding.runs,
                "known": self.harvest.is_known(finding),
                "dir": place(self.folder, &finding.id),
            })
        });
        let sensitive = self.ended.sensitive.iter().map(|one| {
            json!({ "test": one.test, "package": one.package, "said": one.said, "plan": one.plan })
        });
        let suspects = self.ended.suspects.iter().map(
            |(test, one)| json!({ "test": test, "title": one.title, "locations": one.locations }),
        );
        let problems = self
            .problems
            .iter()
            .map(|problem| json!({ "package": problem.package, "said": problem.said }));
        let internal = self.ended.internal_errors.iter().map(|one| {
            json!({
                "test": one.test,
                "package": one.package,
                "what": one.what,
                "run": one.run,
                "plan": one.plan,
                "output": one.output,
            })
        });
        let mut document = json!({
            "seed": self.seed,
            "go": self.go,
            "tests": self.ended.tests,
            "runs": self.counters.runs(),
            "virtual_runs": self.counters.virtual_runs(),
            "seconds": self.seconds,
            "coverage": "sampled",
            "findings": findings.collect::<Vec<Value>>(),
            "earlier": self.harvest.earlier,
            "sensitive": sensitive.collect::<Vec<Value>>(),
            "suspects": suspects.collect::<Vec<Value>>(),
            "internal_errors": internal.collect::<Vec<Value>>(),
            "failing": self.ended.failing,
            "exiting": self.ended.exiting,
            "real_time": self.ended.real_time,
            "left_out": problems.collect::<Vec<Value>>(),
            "undone": self.ended.undone,
        });
        self.events.add_to(&mut document);
        document
    }

    /// For people.
    pub fn show(&self, ui: &Ui) -> anyhow::Result<()> {
        let time = duration(std::time::Duration::from_secs_f64(self.seconds));
        let runs = self.counters.runs();
        let rate = runs as f64 / self.seconds.max(1e-3);
        let tests = grouped(self.ended.tests);
        let noun = if self.ended.tests == 1 { "test" } else { "tests" };
        ui.line(format!(
            "{tests} {noun} with {} sampled runs in {time}, {rate:.0} a second; Go {}, seed {}",
            grouped(runs),
            self.go,
            self.seed
        ))?;
        self.remarks(ui);
        self.events.show(ui);
        match self.harvest.found.len() {
            0 => ui.line(self.events.nothing_found(ui, "test"))?,
            1 => ui.line(ui.paint(Paint::Red, "1 bug was found:"))?,
            many => ui.line(ui.paint(Paint::Red, format!("{many} bugs were found:")))?,
        }
        for finding in self.harvest.found.iter().take(SHOWN) {
            let kind = ui.paint(Paint::Red, format!("{:<9}", finding.kind.as_str()));
            let (failed, of) = (finding.failed, finding.runs);
            let known = if self.harvest.is_known(finding) { " (known from before)" } else { "" };
            ui.line(format!("  {kind} {}{known}", finding.title))?;
            let place = place(self.folder, &finding.id);
            ui.line(format!(
                "  {:9} {failed} of {of} runs; strait go replay {}",
                "",
                place.display()
            ))?;
        }
        if self.harvest.found.len() > SHOWN {
            ui.line(format!("  and {} more, in the report", self.harvest.found.len() - SHOWN))?;
        }
        tell_earlier(ui, &self.harvest);
        Ok(())
    }

    /// What the numbers do not say.
    fn remarks(&self, ui: &Ui) {
        let ended = self.ended;
        if ended.earlier > 0 {
            let earlier = grouped(ended.earlier);
            ui.note(format!("{earlier} of them had their runs in an earlier session"));
        }
        match ended.undone.as_slice() {
            [] => {}
            [test] => ui.note(format!("{test} was not done before the end")),
            [test, more @ ..] => {
                let more = more.len();
                ui.note(format!("{test} and {more} more were not done before the end"));
            }
        }
        for error in &ended.internal_errors {
            ui.note(ui.paint(Paint::Red, error.to_string()));
            if ui.verbose > 0 {
                ui.note(&error.output);
            }
        }
        for test in &ended.failing {
            ui.note(format!("{test} fails without any disturbance"));
        }
        for test in &ended.exiting {
            ui.note(format!(
                "{test} ends the process by os.Exit: what it leaves behind cannot be judged"
            ));
        }
        if !ended.real_time.is_empty() && ui.verbose == 0 {
            let count = ended.real_time.len();
            ui.note(format!("{count} of them by the real clock, the virtual one does not suit them (-v names them)"));
        } else {
            for test in &ended.real_time {
                ui.note(format!("{test} runs by the real clock"));
            }
        }
        for one in &ended.sensitive {
            ui.note(format!(
                "{} {} depends on time: it fails with {}: {}",
                one.package, one.test, one.plan, one.said
            ));
        }
        if ui.verbose > 0 {
            for (test, suspect) in &ended.suspects {
                ui.note(format!("{test}: perhaps {}, perhaps idle by design", suspect.title));
            }
        } else if !ended.suspects.is_empty() {
            let count = ended.suspects.len();
            ui.note(format!(
                "{count} places where goroutines wait for something global at the end, which may be by design (-v names them)"
            ));
        }
    }
}

/// The facts of a finding, a little to the right.
pub fn show_facts(explanation: &str) -> String {
    let facts = explanation.lines().take_while(|line| !line.starts_with("Found with"));
    let lines: Vec<String> = facts.map(|line| format!("     {line}")).collect();
    lines.join("\n").trim_end().to_owned()
}
