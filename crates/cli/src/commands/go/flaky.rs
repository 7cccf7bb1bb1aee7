//! `strait go flaky`: the smallest disturbance that makes one test fail.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};
use strait_campaign::Interruption;
use strait_findings::{Batch, Store};
use strait_reorder::{
    Explained, FlakyOutcome, FlakySearch, GENERATOR, Nudge, Prepared, Request, Subject, prepare,
};
use strait_toolchain::{Cache, Launcher};

use crate::campaign::{Clock, in_time, some_seed};
use crate::duration;
use crate::interrupt;
use crate::summary::place;
use crate::ui::{Paint, Status, Ui, grouped};

/// How long to search if nothing is said about it.
const DEFAULT_TIME: Duration = Duration::from_secs(120);

/// Find the smallest disturbance that makes a flaky test fail
#[derive(Args)]
#[command(after_help = "\
Strait runs the test with a pause at one place of the program, and tries one place after the other. Then \
it makes one select prefer one of its cases. Then it tries random disturbances and reduces them to the \
necessary ones. The result is printed and kept as a finding, which `strait go replay` runs again.
Exit codes: 0 no disturbance makes the test fail, 1 a disturbance makes it fail, or it fails in every \
undisturbed run, 2 usage, input or environment error.")]
pub struct GoFlakyArgs {
    /// The test: TestX or TestX/subtest
    #[arg(value_name = "TEST")]
    test: String,
    /// Package of the test, or packages in which Strait looks for the test
    #[arg(value_name = "PACKAGES", default_value = "./...")]
    packages: Vec<String>,
    /// Time limit of the search, including compilation [default: 2m after compilation]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Random seed [default: random, printed at the end]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Folder for the finding
    #[arg(long, value_name = "DIR", default_value = "strait-out")]
    out: PathBuf,
    /// Build tags, separated by commas
    #[arg(long, value_name = "TAGS")]
    tags: Option<String>,
    /// Never use the virtual clock
    #[arg(long)]
    real_time: bool,
}

impl GoFlakyArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let stop = interrupt::stop_for(ui)?;
        let mut clock = Clock::start(&stop, self.time);
        let top = self.test.split('/').next().unwrap_or(&self.test);
        let request = Request {
            directory: std::env::current_dir().context("cannot find the current folder")?,
            patterns: self.packages.clone(),
            run: Some(format!("^{top}$")),
            race: false,
            virtual_time: !self.real_time,
            tags: self.tags.clone(),
        };
        let mut tell = |package: String| ui.note(format!("compiling the tests of {package}"));
        let launcher = Launcher::this_program()?.cancelled_by(stop.flag());
        let cache = Cache::find()?;
        let prepared = prepare(&request, &launcher, &cache, stop.flag(), &mut tell);
        let prepared = in_time(&stop, prepared)?;
        let subject = self.subject(&prepared, top)?;
        let seed = self.seed.unwrap_or_else(some_seed);
        ui.note(format!("looking for what makes {} fail", subject.name()));
        let left = clock.start_work(Some(DEFAULT_TIME)).unwrap_or_default();
        let outcome = FlakySearch::new(&prepared, &subject, seed, left, stop.flag()).run()?;
        let directory = match &outcome.explained {
            Some(explained) => Some(self.keep(explained, seed)?),
            None => None,
        };
        let stopped = stop.interruption();
        if ui.json {
            ui.document(&self.document(
                &subject,
                seed,
                &outcome,
                directory.as_ref(),
                stopped.is_some(),
            ))?;
        } else {
            self.tell(ui, &outcome, directory.as_ref(), stopped)?;
        }
        let fails = outcome.explained.is_some() || always(&outcome);
        match (fails, stopped, outcome.undisturbed.runs) {
            (true, ..) => Ok(Status::Found),
            (false, Some(_), _) => anyhow::bail!("the search was stopped before its end"),
            (false, None, 0) => anyhow::bail!(
                "the time was over before the test ran; give --time more, or leave it out"
            ),
            (false, None, _) => Ok(Status::Clean),
        }
    }

    /// The one test of that name.
    fn subject(&self, prepared: &Prepared, top: &str) -> anyhow::Result<Subject> {
        let mut found = prepared.subjects.iter().filter(|subject| subject.test == top);
        let Some(first) = found.next() else {
            if let [problem, ..] = prepared.problems.as_slice() {
                anyhow::bail!("{} cannot be used: {}", problem.package, problem.said);
            }
            anyhow::bail!("there is no test {top} in {}", self.packages.join(" "));
        };
        if let Some(other) = found.next() {
            anyhow::bail!("there are {} and {}; name the package", first.name(), other.name());
        }
        Ok(Subject { test: self.test.clone(), ..first.clone() })
    }

    fn keep(&self, explained: &Explained, seed: u64) -> anyhow::Result<PathBuf> {
        let mut store = Store::open(&self.out)?;
        let id = store.campaign(seed, GENERATOR, "go flaky")?;
        let discovery = explained.discovery.clone();
        let (target, version) = (discovery.target.clone(), discovery.version.clone());
        let directory = place(&self.out, &discovery.id());
        store.commit(&Batch::new(id, target, version, 0..0).found(discovery))?;
        store.close()?;
        Ok(directory)
    }

    fn document(
        &self,
        subject: &Subject,
        seed: u64,
        outcome: &FlakyOutcome,
        directory: Option<&PathBuf>,
        stopped: bool,
    ) -> Value {
        let explained = outcome.explained.as_ref();
        let nudges =
            explained.map(|one| one.nudges.iter().map(nudge_document).collect::<Vec<Value>>());
        json!({
            "test": self.test,
            "package": subject.tests.package.path,
            "seed": seed,
            "all_runs": outcome.runs,
            "undisturbed": outcome.undisturbed,
            "nudges": nudges,
            "failed": explained.map(|one| one.failed),
            "runs": explained.map(|one| one.runs),
            "title": explained.map(|one| &one.title),
            "virtual_time": explained.map(|one| one.virtual_time),
            "dir": directory,
            "stopped": stopped,
        })
    }

    fn tell(
        &self,
        ui: &Ui,
        outcome: &FlakyOutcome,
        directory: Option<&PathBuf>,
        stopped: Option<Interruption>,
    ) -> anyhow::Result<()> {
        let (failed, runs) = (outcome.undisturbed.failed, outcome.undisturbed.runs);
        let test = &self.test;
        ui.line(format!("Without any disturbance {test} fails in {failed} of {runs} runs."))?;
        let Some((explained, directory)) = outcome.explained.as_ref().zip(directory) else {
            let all = grouped(outcome.runs);
            return match (stopped, always(outcome)) {
                (_, true) => ui.line("It always fails, so it is not flaky."),
                (Some(signal), _) => {
                    ui.line(format!("Stopped early by {signal}, after {all} runs."))
                }
                _ => ui.line(format!("Nothing was found that makes it fail, in {all} runs.")),
            };
        };
        let (failed, runs) = (explained.failed, explained.runs);
        ui.line(ui.paint(Paint::Red, format!("It fails in {failed} of {runs} runs if")))?;
        for nudge in &explained.nudges {
            ui.line(format!("  {nudge}"))?;
        }
        ui.line(format!("What fails: {}", explained.title))?;
        ui.line(format!("strait go replay {} repeats it", directory.display()))
    }
}

/// Does it fail whatever happens?
fn always(outcome: &FlakyOutcome) -> bool {
    outcome.undisturbed.runs > 0 && outcome.undisturbed.failed == outcome.undisturbed.runs
}

fn nudge_document(nudge: &Nudge) -> Value {
    match nudge {
        Nudge::Pause { place, function, length, once } => json!({
            "action": "pause",
            "position": place,
            "function": function,
            "microseconds": length.as_micros() as u64,
            "once": once,
        }),
        Nudge::Prefer { select } => json!({ "action": "prefer", "select": select }),
        Nudge::Yields { rate } => json!({ "action": "yield", "rate": rate }),
    }
}
