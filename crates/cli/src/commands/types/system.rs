//! `strait types --system FILE`: terms of a type system of one's own, printed or given to a command.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::{Value, json};
use strait_campaign::{Ending, Stop};
use strait_clp::{Program, Sample, Searcher, Wish};
use strait_toolchain::{End, Launcher, Limits, Spec, run};
use strait_typefuzz::{Mode, file};

use crate::ui::{Paint, Status, Ui, grouped};

/// Steps of an exhaustive search; the result says so if they are not enough.
const STEPS: u64 = 2_000_000_000;
/// How long the user's command may take for a term.
const PATIENCE: Duration = Duration::from_secs(60);

/// Terms of a system that are printed if nothing is said about their number.
const DEFAULT_TERMS: u64 = 20;

/// What is to be done.
pub struct SystemRun<'a> {
    pub file: &'a Path,
    pub mode: Mode,
    pub seed: u64,
    /// How many terms at most.
    pub count: Option<u64>,
    pub size: Option<u32>,
    pub depth: Option<u32>,
    pub exhaustive: Option<u32>,
    pub check: Option<&'a str>,
    pub as_terms: bool,
    /// Set by the user, or when the time is over.
    pub stop: &'a Stop,
}

/// What became of the terms.
#[derive(Default)]
struct Tally {
    terms: u64,
    gave_up: u64,
    rejected: u64,
    accepted: u64,
    documents: Vec<Value>,
    wrong: Vec<Value>,
}

impl SystemRun<'_> {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let program = file(self.file)?;
        let violations = match self.mode {
            Mode::Precision => 0,
            Mode::Soundness => 1,
            Mode::Consistency => bail!(
                "--mode consistency compares programs under an oracle of Rust; a rule file of your own has none yet"
            ),
        };
        if violations > 0 && program.labels().is_empty() {
            bail!(
                "no premise in {} has a label, so none can be violated; write `@name` before a premise",
                self.file.display()
            );
        }
        // A size as wish: a depth bound alone makes nearly all terms tiny.
        let size = self.size.or_else(|| self.depth.is_none().then_some(20));
        let wish = Wish { size, depth: self.depth, violations, ..Wish::default() };
        let mut searcher = Searcher::new(&program, wish);
        let started = Instant::now();
        let mut tally = Tally::default();
        let coverage = match self.exhaustive {
            Some(largest) => self.enumerate(ui, &program, &mut searcher, largest, &mut tally)?,
            None => self.sample(ui, &program, &mut searcher, &mut tally)?,
        };
        if self.check.is_some() && tally.terms == 0 && self.stop.is_due() {
            bail!("stopped before the command had judged a term");
        }
        self.tell(ui, &tally, &coverage, started.elapsed().as_secs_f64())?;
        Ok(if tally.wrong.is_empty() { Status::Clean } else { Status::Found })
    }

    fn sample(
        &self,
        ui: &Ui,
        program: &Program,
        searcher: &mut Searcher<'_>,
        tally: &mut Tally,
    ) -> anyhow::Result<String> {
        for index in 0..self.count.unwrap_or(DEFAULT_TERMS) {
            if self.stop.is_due() {
                break;
            }
            match searcher.sample(self.seed, index) {
                Some(sample) => self.term(ui, program, &sample, Some(index), tally)?,
                None => tally.gave_up += 1,
            }
        }
        Ok("sampled".to_owned())
    }

    fn enumerate(
        &self,
        ui: &Ui,
        program: &Program,
        searcher: &mut Searcher<'_>,
        largest: u32,
        tally: &mut Tally,
    ) -> anyhow::Result<String> {
        for size in 1..=largest {
            let mut failed = None;
            let complete = searcher.enumerate(size, STEPS, &mut |sample| {
                let told = self.term(ui, program, sample, None, tally);
                failed = told.err();
                // Where the rules count no types, there is no end of terms of one size.
                let enough = self.count.is_some_and(|count| tally.terms >= count);
                failed.is_none() && !enough && !self.stop.is_due()
            });
            if let Some(error) = failed {
                return Err(error);
            }
            if !complete {
                return Ok(format!("bounded (complete up to size {})", size - 1));
            }
        }
        Ok(format!("exhaustive up to size {largest}"))
    }

    fn term(
        &self,
        ui: &Ui,
        program: &Program,
        sample: &Sample,
        index: Option<u64>,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let printed = program.print(&sample.tree);
        let text = if self.as_terms { program.term_text(&sample.tree) } else { printed.clone() };
        let labels: Vec<&str> =
            sample.violations.iter().map(|violation| violation.label.as_str()).collect();
        let mut document =
            json!({ "term": text, "size": sample.size, "index": index, "violates": labels });
        if let Some(command) = self.check {
            let Some(accepted) = self.ask(command, &printed)? else { return Ok(()) };
            let expected = labels.is_empty();
            *(if accepted { &mut tally.accepted } else { &mut tally.rejected }) += 1;
            document["accepted"] = json!(accepted);
            if accepted != expected {
                tally.wrong.push(document.clone());
                if !ui.json {
                    let what = if expected {
                        "rejected although well typed"
                    } else {
                        "accepted although ill typed"
                    };
                    ui.line(format!("{} {text}", ui.paint(Paint::Red, format!("{what}:"))))?;
                }
            }
        } else if !ui.json {
            let suffix = if labels.is_empty() {
                String::new()
            } else {
                format!("   % violates {}", labels.join(", "))
            };
            ui.line(format!("{text}{suffix}"))?;
        }
        tally.terms += 1;
        if ui.json {
            tally.documents.push(document);
        }
        Ok(())
    }

    /// Gives a term to the user's command; `None` if it was stopped before it judged.
    fn ask(&self, command: &str, term: &str) -> anyhow::Result<Option<bool>> {
        let launcher = Launcher::this_program()?;
        let spec = Spec::new("sh")
            .arguments(["-c", command])
            .input(format!("{term}\n"))
            .wall(PATIENCE)
            .limits(Limits { cpu: Some(PATIENCE), ..Limits::default() })
            .cancel(Arc::clone(self.stop.flag()));
        match run(&launcher, &spec)?.end {
            End::Stopped => Ok(None),
            end => Ok(Some(end.is_success())),
        }
    }

    fn tell(&self, ui: &Ui, tally: &Tally, coverage: &str, seconds: f64) -> anyhow::Result<()> {
        if ui.json {
            return ui.document(&json!({
                "programs": tally.terms,
                "gave_up": tally.gave_up,
                "seconds": seconds,
                "seed": self.seed,
                "coverage": coverage,
                "terms": tally.documents,
                "findings": tally.wrong,
            }));
        }
        let terms = if tally.terms == 1 { "term" } else { "terms" };
        let mut text = format!("{} {terms}, {coverage}", grouped(tally.terms));
        if self.exhaustive.is_none() {
            text += &format!(", seed {}", self.seed);
        }
        if tally.gave_up > 0 {
            text += &format!(", {} searches gave up", grouped(tally.gave_up));
        }
        if self.check.is_some() {
            text += &format!(
                ", {} accepted, {} rejected, {} of them wrongly judged",
                grouped(tally.accepted),
                grouped(tally.rejected),
                tally.wrong.len()
            );
        }
        ui.note(text);
        Ok(())
    }
}
