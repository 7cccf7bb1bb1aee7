//! What a campaign over Go tests has done and found, in plain words and as JSON.

use std::path::Path;

use serde_json::{Value, json};
use strait_campaign::Interruption;
use strait_findings::Finding;
use strait_goverify::FindingStatus;
use strait_reorder::{Ended, FindingLevel, Problem, counts};

use crate::commands::go::findings::JudgedFinding;
use crate::summary::{Outcome, Summary};
use crate::ui::{Paint, Ui, grouped};

/// How many findings are shown one by one.
const SHOWN: usize = 50;

/// Why a campaign ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// By a signal.
    Interrupted(Interruption),
    /// At the first finding, as --first asks for.
    FirstFinding,
}

impl Stopped {
    /// Was it the first finding that ended it, or the user, or neither?
    pub fn of(first: bool, interruption: Option<Interruption>) -> Option<Stopped> {
        match first {
            true => Some(Stopped::FirstFinding),
            false => interruption.map(Stopped::Interrupted),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Stopped::Interrupted(_) => "interrupted",
            Stopped::FirstFinding => "first-finding",
        }
    }
}

/// Everything there is to say at the end.
pub struct GoSummary<'a> {
    /// The findings of this campaign are not in there, but below.
    pub outcome: Outcome<'a>,
    /// Those that matter most come first.
    pub findings: &'a [JudgedFinding],
    pub stopped: Option<Stopped>,
    pub ended: &'a Ended,
    pub problems: &'a [Problem],
    pub go: &'a str,
}

impl Summary for GoSummary<'_> {
    fn document(&self) -> Value {
        let detail = |finding: &Finding, name: &str| finding.details.get(name).cloned();
        let findings = self.findings.iter().map(|one| {
            let finding = &one.finding;
            let status = match one.status {
                FindingStatus::New => "new",
                FindingStatus::Known => "known",
                FindingStatus::Suppressed { .. } => "suppressed",
            };
            json!({
                "id": finding.id,
                "kind": finding.kind.as_str(),
                "class": one.class_name(),
                "level": one.level,
                "status": status,
                "test": detail(finding, "test"),
                "package": detail(finding, "package"),
                "blamed_package": finding.target,
                "title": finding.title,
                "locations": detail(finding, "locations").unwrap_or_else(|| json!([])),
                "certain": detail(finding, "certain"),
                "needs_timeout": detail(finding, "needs_timeout"),
                "library": detail(finding, "library"),
                "idle": detail(finding, "idle"),
                "undisturbed": detail(finding, "undisturbed"),
                "failed": finding.failed,
                "runs": finding.runs,
                "known": self.outcome.harvest.is_known(finding),
                "dir": self.outcome.directory(finding),
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
        let over_limit = self.ended.over_limit.iter();
        let over_limit = over_limit.map(|(test, of)| json!({ "test": test, "resource": of }));
        let predicted = self
            .ended
            .predicted
            .iter()
            .map(|(test, story)| json!({ "test": test, "story": story }));
        let counters = self.outcome.counters;
        self.outcome.document(json!({
            "go": self.go,
            "tests": self.ended.tests,
            "runs": counters.runs(),
            "virtual_runs": counters.count(counts::VIRTUAL_RUNS),
            "stopped": self.stopped.map(Stopped::name),
            "findings": findings.collect::<Vec<Value>>(),
            "sensitive": sensitive.collect::<Vec<Value>>(),
            "suspects": suspects.collect::<Vec<Value>>(),
            "internal_errors": internal.collect::<Vec<Value>>(),
            "over_limit": over_limit.collect::<Vec<Value>>(),
            "failing": self.ended.failing,
            "exiting": self.ended.exiting,
            "real_time": self.ended.real_time,
            "left_out": problems.collect::<Vec<Value>>(),
            "undone": self.ended.undone,
            "not_run": self.ended.not_run,
            "predicted": predicted.collect::<Vec<Value>>(),
        }))
    }

    fn show(&self, ui: &Ui, _page: Option<&Path>) -> anyhow::Result<()> {
        let (time, runs) = (self.outcome.time(), self.outcome.counters.runs());
        let rate = runs as f64 / self.outcome.seconds.max(1e-3);
        let tests = grouped(self.ended.tests);
        let noun = if self.ended.tests == 1 { "test" } else { "tests" };
        ui.line(format!(
            "{tests} {noun} with {} sampled runs in {time}, {rate:.0} per second; Go {}, seed {}",
            grouped(runs),
            self.go,
            self.outcome.seed
        ))?;
        self.remarks(ui);
        self.headline(ui)?;
        for one in self.findings.iter().take(SHOWN) {
            let finding = &one.finding;
            let paint = if one.level == FindingLevel::Error { Paint::Red } else { Paint::Yellow };
            let is_known = self.outcome.harvest.is_known(finding);
            let known = if is_known { " (known from before)" } else { "" };
            let status = match &one.status {
                FindingStatus::New => String::new(),
                FindingStatus::Known => " (in the baseline)".to_owned(),
                FindingStatus::Suppressed { reason, .. } => format!(" (silenced: {reason})"),
            };
            let heading = format!("  {}: {}:", one.level, one.class());
            let title = format!("{}{known}{status}", finding.title);
            ui.line(painted_heading(ui, paint, &heading, &title))?;
            let place = self.outcome.directory(finding);
            let command = format!("strait go replay {}", place.display());
            let often = how_often(one);
            let length = often.chars().count() + command.chars().count() + 6;
            // A command that can be copied stands in a line of its own.
            let between = match ui.line_width() {
                Some(width) if length > width => ":\n    ",
                _ => "; ",
            };
            ui.line(format!("    {often}{between}{command}"))?;
        }
        if self.findings.len() > SHOWN {
            ui.line(format!("  and {} more, in the report", self.findings.len() - SHOWN))?;
        }
        self.outcome.show_rest(ui);
        Ok(())
    }
}

impl GoSummary<'_> {
    /// How many findings there are, and whether the campaign was stopped.
    fn headline(&self, ui: &Ui) -> anyhow::Result<()> {
        if let Some(Stopped::Interrupted(signal)) = self.stopped {
            ui.line(ui.paint(Paint::Yellow, format!("Stopped early by {signal}.")))?;
        }
        if self.stopped == Some(Stopped::FirstFinding) {
            ui.line("Stopped at the first finding (--first).")?;
        }
        let new = |level| {
            let counts =
                |one: &&JudgedFinding| one.level == level && one.status == FindingStatus::New;
            self.findings.iter().filter(counts).count()
        };
        let (errors, warnings) = (new(FindingLevel::Error), new(FindingLevel::Warning));
        let silenced = self.findings.len() - errors - warnings - new(FindingLevel::Note);
        let counted = [
            (errors, "error", "errors"),
            (warnings, "warning", "warnings"),
            (silenced, "silenced finding", "silenced findings"),
        ];
        let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
        let counted: Vec<String> = counted
            .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
            .collect();
        if counted.is_empty() {
            return ui.line(self.outcome.events.nothing_found(ui, "test"));
        }
        let paint = if errors > 0 { Paint::Red } else { Paint::Yellow };
        ui.line(ui.paint(paint, format!("{}:", counted.join(", "))))
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
        match ended.not_run.as_slice() {
            [] => {}
            [test] => ui.note(format!("{test} had no run before the end; give more --time")),
            tests if ui.verbose > 0 => {
                for test in tests {
                    ui.note(format!("{test} had no run before the end"));
                }
            }
            tests => ui.note(format!(
                "{} tests had no run before the end (-v names them); give more --time",
                grouped(tests.len() as u64)
            )),
        }
        for error in &ended.internal_errors {
            ui.note(ui.paint(Paint::Red, error.to_string()));
            if ui.verbose > 0 {
                ui.note(&error.output);
            }
        }
        for (test, resource) in &ended.over_limit {
            ui.note(format!("{test} was ended: it used too {resource}"));
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
            for (test, story) in &ended.predicted {
                ui.note(format!(
                    "{test}: locks are taken in opposite orders, but no run deadlocked: {}",
                    story.join("; ")
                ));
            }
            for (test, suspect) in &ended.suspects {
                ui.note(format!(
                    "{test}: possible leak: {} (it may be an intentional background goroutine)",
                    suspect.title
                ));
            }
        } else if !ended.suspects.is_empty() {
            let count = ended.suspects.len();
            ui.note(format!(
                "at {count} places goroutines wait at the end for something that a global variable keeps; \
                 they may be intentional background goroutines (-v names them, --lifecycle reports them)"
            ));
        }
    }
}

/// In how many runs a finding showed.
fn how_often(one: &JudgedFinding) -> String {
    let (failed, of) = (one.finding.failed, one.finding.runs);
    let undisturbed = one.assessment.map(|assessment| assessment.undisturbed);
    match undisturbed.filter(|undisturbed| undisturbed.runs > 0) {
        Some(undisturbed) => format!(
            "{failed} of {of} runs, {} of {} undisturbed runs",
            undisturbed.failed, undisturbed.runs
        ),
        None => format!("{failed} of {of} runs"),
    }
}

/// A heading in a colour and what follows it, within the width of the terminal.
pub fn painted_heading(ui: &Ui, paint: Paint, heading: &str, text: &str) -> String {
    let whole = wrapped(&format!("{heading} {text}"), ui.line_width());
    match whole.strip_prefix(heading) {
        Some(rest) => format!("{}{rest}", ui.paint(paint, heading)),
        None => whole,
    }
}

/// A line broken at spaces, if there is a width; what follows the first part stands further to the
/// right. Words that are too long stay whole, so that they can be copied.
pub fn wrapped(line: &str, width: Option<usize>) -> String {
    const FURTHER: usize = 4;
    let Some(width) = width.filter(|width| line.chars().count() > *width) else {
        return line.to_owned();
    };
    let indent = line.chars().take_while(|char| *char == ' ').count();
    let mut broken = " ".repeat(indent);
    let (mut column, mut is_first) = (indent, true);
    for word in line.split_whitespace() {
        let length = word.chars().count();
        if is_first {
            column += length;
        } else if column + 1 + length > width {
            broken.push('\n');
            broken.push_str(&" ".repeat(indent + FURTHER));
            column = indent + FURTHER + length;
        } else {
            broken.push(' ');
            column += 1 + length;
        }
        broken.push_str(word);
        is_first = false;
    }
    broken
}

/// The facts of a finding, a little to the right.
pub fn show_facts(explanation: &str, width: Option<usize>) -> String {
    let facts = explanation.lines().take_while(|line| !line.starts_with("Found with"));
    let lines: Vec<String> = facts.map(|line| wrapped(&format!("     {line}"), width)).collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        for (line, width, expected) in [
            ("  short", Some(20), "  short"),
            ("  one two three four", None, "  one two three four"),
            ("  one two three four", Some(12), "  one two\n      three\n      four"),
            ("  a/very/long/path/that/stays b", Some(10), "  a/very/long/path/that/stays\n      b"),
        ] {
            assert_eq!(wrapped(line, width), expected);
        }
    }
}
