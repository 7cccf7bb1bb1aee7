//! `strait fixed`: after a patch, is the fault of a finding gone, has it moved, or is it still there?

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use strait_campaign::{Ending, Stop};
use strait_findings::Finding;
use strait_fuzz::TargetFinder;
use strait_toolchain::{Cache, End, Launcher, Scratch, Spec, run};

use crate::campaign::in_time;
use crate::commands::fuzz::working_tree;
use crate::commands::trust::{ModuleArgs, TrustArgs};
use crate::duration;
use crate::interrupt;
use crate::ui::{Paint, Status, Ui, grouped};

/// Runs with the recorded order.
const REPLAYS: u64 = 20;
/// Left over for compiling and for the confirmation of what was found.
const AFTERWARDS: Duration = Duration::from_secs(300);
/// The most bytes of the document of the search, twice.
const KEPT: usize = 64 << 20;

/// Say whether a patch has removed the fault of a finding
#[derive(Args)]
#[command(after_help = "\
Strait first runs the finding again, as `strait replay` does. Then it searches for the fault: for a finding of \
`strait go fuzz`, in other orders of messages, locks and timeouts of the same test; for a finding of `strait \
fuzz`, in other runs of the same program on the working tree of --path; for a finding of `strait types`, with \
the same compilers.
Two faults are the same if their kind, test, operation and file are the same; line numbers may differ.
\"gone\" means that the fault did not show in any order that was tried. This is not a proof.
Exit codes: 0 gone, 1 still there or moved, 2 usage, input or environment error, or no answer is possible.")]
pub struct FixedArgs {
    /// The finding's directory
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// For a finding of `strait go fuzz`: number of other orders to try
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Time limit for the search
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "2m")]
    time: Duration,
    /// For a finding of `strait fuzz`: the working tree with the patch
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    #[command(flatten)]
    module: ModuleArgs,
    #[command(flatten)]
    trust: TrustArgs,
}

/// What became of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing was seen in so many runs.
    Gone { tried: u64 },
    /// Another fault showed in the same test.
    Moved { to: Vec<String> },
    /// It shows as before.
    StillThere { failed: u64, runs: u64 },
}

impl Fate {
    fn name(&self) -> &'static str {
        match self {
            Fate::Gone { .. } => "gone",
            Fate::Moved { .. } => "moved",
            Fate::StillThere { .. } => "still-there",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Gone { tried } => {
                write!(formatter, "gone, {} orders around it tried", grouped(*tried))
            }
            Fate::Moved { to } => write!(formatter, "moved to {}", to.join("; ")),
            Fate::StillThere { failed, runs } => {
                write!(formatter, "still there, in {} of {} runs", grouped(*failed), grouped(*runs))
            }
        }
    }
}

impl FixedArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let finding = strait_findings::read(&self.folder)?;
        let stop = interrupt::stop_for(ui)?;
        let launcher = self.trust.launcher(&stop)?;
        let fate = if strait_reorder::is_go(&finding) {
            self.go(ui, &finding, &launcher, &stop)?
        } else if strait_typefuzz::is_types(&finding) {
            self.types(&launcher, &stop)?
        } else {
            self.program(ui, &launcher, &stop)?
        };
        if ui.json {
            let (tried, moved) = match &fate {
                Fate::Gone { tried } => (json!(tried), json!([])),
                Fate::Moved { to } => (Value::Null, json!(to)),
                Fate::StillThere { runs, .. } => (json!(runs), json!([])),
            };
            let name = fate.name();
            ui.document(
                &json!({ "id": finding.id, "fate": name, "tried": tried, "moved_to": moved }),
            )?;
        } else {
            let is_gone = matches!(fate, Fate::Gone { .. });
            let paint = if is_gone { Paint::Green } else { Paint::Red };
            ui.line(ui.paint(paint, &fate))?;
        }
        Ok(if matches!(fate, Fate::Gone { .. }) { Status::Clean } else { Status::Found })
    }

    /// A test of a Go module: the recorded order, then others.
    fn go(
        &self,
        ui: &Ui,
        finding: &Finding,
        launcher: &Launcher,
        stop: &Stop,
    ) -> anyhow::Result<Fate> {
        let here = std::env::current_dir().context("cannot find the current folder")?;
        let permitted = self.trust.modules(&self.module, &here);
        let cache = Cache::find()?;
        let mut tell = |package: String| ui.note(format!("compiling the tests of {package}"));
        let exhibit = strait_reorder::Exhibit::open(
            &self.folder,
            &permitted,
            launcher,
            &cache,
            stop.flag(),
            &mut tell,
        );
        let exhibit = in_time(stop, exhibit)?;
        let again = exhibit.run(REPLAYS, self.time, stop.flag())?;
        if again.failed > 0 {
            return Ok(Fate::StillThere { failed: again.failed, runs: again.runs });
        }
        ui.note(format!("searching {} other orders of {}", grouped(self.runs), exhibit.test));
        let detail = |name: &str| finding.details.get(name).and_then(Value::as_str);
        // The exhibit has checked them.
        let package = detail("package").unwrap_or_default();
        let test = exhibit.test.split('/').next().unwrap_or_default();
        let directory =
            permitted.choose(&self.folder, detail("directory").map(PathBuf::from).as_deref())?;
        let document = self.search(package, test, finding, &directory, launcher)?;
        judge(finding, test, again.runs, &document)
    }

    /// The document of `strait go fuzz` on one test.
    fn search(
        &self,
        package: &str,
        test: &str,
        finding: &Finding,
        directory: &std::path::Path,
        launcher: &Launcher,
    ) -> anyhow::Result<Value> {
        let scratch = Scratch::new("fixed").context("cannot make a temporary folder")?;
        let out = scratch.path().join("out").display().to_string();
        let is_set = |name: &str| finding.details.get(name).and_then(Value::as_bool) == Some(true);
        let (only, runs) = (format!("^{test}$"), self.runs.to_string());
        let time = format!("{}s", self.time.as_secs().max(1));
        let mut arguments = vec!["go", "fuzz", package, "--run", &only, "--runs", &runs];
        arguments.extend(["--time", &time, "--seed", "1", "--out", &out, "--json"]);
        arguments.extend(is_set("race").then_some("--race"));
        arguments.extend(is_set("lifecycle").then_some("--lifecycle"));
        let tags = finding.details.get("tags").and_then(Value::as_str);
        let tags = tags.map(|tags| format!("--tags={tags}"));
        arguments.extend(tags.as_deref());
        let spec = Spec::new(launcher.program())
            .arguments(arguments)
            .directory(directory)
            .wall(self.time + AFTERWARDS)
            .keep(KEPT);
        let finished = run(launcher, &spec)?;
        match (finished.end, serde_json::from_str(&finished.stdout.text())) {
            (End::Exited(0 | 1), Ok(document)) => Ok(document),
            (end, _) => {
                let said = finished.stderr.last_lines(6);
                bail!("nothing can be said: the search around the finding failed ({end}): {said}")
            }
        }
    }

    /// A program on a working tree.
    fn program(&self, ui: &Ui, launcher: &Launcher, stop: &Stop) -> anyhow::Result<Fate> {
        let Some(path) = &self.path else {
            bail!(
                "name the working tree with the patch: --path DIR; without it the published version would run, which has not changed"
            );
        };
        let tree = Some(working_tree(path)?);
        let mut finder = TargetFinder::new(launcher, Arc::clone(stop.flag())).with_tree(tree);
        let exhibit =
            strait_fuzz::Exhibit::open(&self.folder, &mut finder, &mut |text| ui.note(text));
        let exhibit = in_time(stop, exhibit)?;
        let rerun = exhibit.run(launcher, self.time, &|| stop.is_due())?;
        match (rerun.failed, rerun.runs) {
            (_, 0) => bail!("nothing can be said: the program did not run; give --time more"),
            (0, tried) => Ok(Fate::Gone { tried }),
            (failed, runs) => Ok(Fate::StillThere { failed, runs }),
        }
    }

    /// The compilers, once more.
    fn types(&self, launcher: &Launcher, stop: &Stop) -> anyhow::Result<Fate> {
        let permitted = self.trust.compilers();
        let exhibit =
            strait_typefuzz::Exhibit::open(&self.folder, &permitted, launcher, stop.flag());
        let exhibit = in_time(stop, exhibit)?;
        let fault = exhibit.rerun()?;
        if stop.is_now() {
            bail!("stopped before the compilers had judged the program");
        }
        Ok(match fault {
            Some(_) => Fate::StillThere { failed: 1, runs: 1 },
            None => Fate::Gone { tried: 1 },
        })
    }
}

/// What the search around a finding says. A test that did not run says nothing.
fn judge(finding: &Finding, test: &str, replays: u64, document: &Value) -> anyhow::Result<Fate> {
    let runs = document["runs"].as_u64().unwrap_or(0);
    for (name, what) in [
        ("not_run", "had no run"),
        ("failing", "fails without any disturbance"),
        ("exiting", "ends the process"),
        ("internal_errors", "had runs in which the hooks of Strait failed"),
        ("over_limit", "used too much memory or too many processes"),
    ] {
        let is_there = document[name].as_array().is_some_and(|all| !all.is_empty());
        if is_there && document["findings"].as_array().is_none_or(Vec::is_empty) {
            bail!("nothing can be said: {test} {what}");
        }
    }
    let mut moved = Vec::new();
    for one in document["findings"].as_array().into_iter().flatten() {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        let is_same = text("kind") == finding.kind.as_str()
            && recognised_by(text("title")) == recognised_by(&finding.title);
        if is_same {
            let number = |name: &str| one[name].as_u64().unwrap_or(1);
            return Ok(Fate::StillThere { failed: number("failed"), runs: number("runs") });
        }
        moved.push(text("title").to_owned());
    }
    match moved.is_empty() {
        true if runs == 0 => bail!("nothing can be said: {test} had no run"),
        true => Ok(Fate::Gone { tried: replays + runs }),
        false => Ok(Fate::Moved { to: moved }),
    }
}

/// A title without what changes when lines move: numbers, and how many goroutines wait as well.
fn recognised_by(title: &str) -> String {
    let first = title.split(", and ").next().unwrap_or(title);
    let parts: Vec<&str> = first
        .split(|letter: char| letter.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("N")
}

#[cfg(test)]
mod tests {
    use strait_findings::{Batch, Discovery, Kind, Store};

    use super::*;

    fn finding() -> Finding {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("a store");
        let id = store.campaign(1, 1, "test").expect("a campaign");
        let discovery = Discovery::new(Kind::BLOCKING, "m", "go1", 1, 1).title(
            "TestA: a goroutine is blocked forever locking a mutex at a.go:16, and 2 more with it",
        );
        store.commit(&Batch::new(id, "m", "go1", 0..0).found(discovery)).expect("kept");
        store.findings().next().expect("a finding").clone()
    }

    #[test]
    fn a_fault_is_recognised_after_lines_have_moved() {
        let one = |kind: &str, title: &str| json!({ "kind": kind, "title": title });
        let fate = |found: Value| {
            let document = json!({ "runs": 30, "findings": found });
            judge(&finding(), "TestA", 20, &document)
                .map(|fate| fate.to_string())
                .map_err(|error| error.to_string())
        };
        let moved_lines =
            one("blocking", "TestA: a goroutine is blocked forever locking a mutex at a.go:180");
        let elsewhere =
            one("blocking", "TestA: a goroutine is blocked forever locking a mutex at b.go:16");
        for (found, expected) in [
            (json!([]), "gone, 50 orders around it tried"),
            (json!([moved_lines]), "still there, in 1 of 1 runs"),
            (
                json!([elsewhere]),
                "moved to TestA: a goroutine is blocked forever locking a mutex at b.go:16",
            ),
        ] {
            assert_eq!(fate(found).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_test_that_did_not_run_says_nothing() {
        for document in [
            json!({ "runs": 0, "findings": [] }),
            json!({ "runs": 9, "findings": [], "not_run": ["TestA"] }),
            json!({ "runs": 9, "findings": [], "failing": ["TestA"] }),
        ] {
            assert!(judge(&finding(), "TestA", 20, &document).is_err(), "{document}");
        }
    }
}
