//! One command of `strait ci`: what it is called, how it is run within its time, and what its answer means. In: a
//! step and the time it may take. Out: findings that are new, known or silenced, and what was not checked.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;
use strait_findings::{Baseline, BaselineKey};
use strait_toolchain::{Finished, Launcher, Scratch, Spec, run};

use crate::commands::ci::crates;
use crate::commands::ci::go;
use crate::commands::ci::project::LockedCrate;
use crate::commands::ci::rust_tests;

/// The most bytes of a command's JSON document, twice.
const KEPT: usize = 128 << 20;
/// How long a command may take to stop, to keep what it has, and to tell it.
const GRACE: Duration = Duration::from_secs(30);
/// How many lines of what a command said are quoted if it failed.
const QUOTED: usize = 6;

/// What kind of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Prove that Go programs and tests have no violations, or show the violations
    GoVerify,
    /// Run the tests of packages that use the library
    RustTests,
    /// Run Go tests under many orders of messages
    GoFuzz,
    /// Fuzz the channel crates that are used, in their locked versions
    Crates,
}

impl StepKind {
    /// The command, for people.
    pub fn command(self) -> &'static str {
        match self {
            StepKind::GoVerify => "strait go verify",
            StepKind::RustTests => "cargo test",
            StepKind::GoFuzz => "strait go fuzz",
            StepKind::Crates => "strait fuzz",
        }
    }

    /// Its name in SARIF and in the names of folders.
    pub fn name(self) -> &'static str {
        match self {
            StepKind::GoVerify => "go-verify",
            StepKind::RustTests => "rust-tests",
            StepKind::GoFuzz => "go-fuzz",
            StepKind::Crates => "crates",
        }
    }
}

/// A command to be run.
#[derive(Debug)]
pub struct Step {
    pub kind: StepKind,
    /// Where it runs.
    pub folder: PathBuf,
    /// The same as seen from the folder that is checked, with a `/` at its end; empty for that folder itself.
    pub prefix: String,
    /// Packages whose tests run.
    pub packages: Vec<String>,
    /// Crates that are fuzzed.
    pub crates: Vec<LockedCrate>,
}

/// What all steps share.
pub struct Context<'a> {
    pub launcher: &'a Launcher,
    pub scratch: &'a Scratch,
    pub seed: u64,
    /// The folder for what is found.
    pub out: PathBuf,
    /// Known findings, taken out as they are met.
    pub baseline: Option<Baseline>,
    /// Are the findings of this run to become the baseline?
    pub write_baseline: bool,
}

/// How far a step came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepCoverage {
    /// It did what it was asked to.
    Complete,
    /// It ran, and this was left out.
    Partial(Vec<String>),
    /// It could not run, or it failed on the way.
    Failed(String),
}

/// Whether a finding counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CiStatus {
    New,
    Known,
    Silenced,
}

/// A finding of any command.
#[derive(Clone, Debug)]
pub struct CiFinding {
    pub kind: String,
    pub title: String,
    /// `file:line`, as seen from the folder that is checked.
    pub places: Vec<String>,
    pub status: CiStatus,
    /// Does it fail the build, if it is new?
    pub is_error: bool,
    /// What shows it again.
    pub replay: Option<String>,
}

impl CiFinding {
    /// Does it fail the build?
    pub fn fails(&self) -> bool {
        self.is_error && self.status == CiStatus::New
    }
}

/// What a step came to.
#[derive(Debug)]
pub struct StepResult {
    pub coverage: StepCoverage,
    /// What it did, in a few words.
    pub summary: String,
    pub findings: Vec<CiFinding>,
    /// Its runs in SARIF.
    pub sarif: Vec<Value>,
    /// What the baseline is to know, if it is to be written.
    pub keys: Baseline,
    pub seconds: f64,
}

impl StepResult {
    /// Nothing was learned.
    pub fn failed(why: impl Into<String>) -> StepResult {
        StepResult {
            coverage: StepCoverage::Failed(why.into()),
            summary: String::new(),
            findings: Vec::new(),
            sarif: Vec::new(),
            keys: Baseline::default(),
            seconds: 0.0,
        }
    }
}

impl Step {
    /// Runs it within its time.
    pub fn run(&self, context: &mut Context<'_>, time: Duration) -> StepResult {
        let started = Instant::now();
        let result = match self.kind {
            StepKind::GoVerify => go::verify(self, context, time),
            StepKind::GoFuzz => go::fuzz(self, context, time),
            StepKind::RustTests => rust_tests::run_tests(self, context, time),
            StepKind::Crates => crates::fuzz(self, context, time),
        };
        let mut result = result.unwrap_or_else(|error| StepResult::failed(format!("{error:#}")));
        result.seconds = started.elapsed().as_secs_f64();
        result
    }

    /// The folder for what this step finds.
    pub fn out(&self, context: &Context<'_>) -> PathBuf {
        let place = self.prefix.trim_end_matches('/').replace('/', "_");
        let name = match place.is_empty() {
            true => self.kind.name().to_owned(),
            false => format!("{}-{place}", self.kind.name()),
        };
        context.out.join(name)
    }

    /// Runs a command of Strait and reads its document.
    pub fn strait(
        &self,
        context: &Context<'_>,
        arguments: &[String],
        time: Duration,
    ) -> anyhow::Result<Answered> {
        let spec = Spec::new(context.launcher.program()).arguments(arguments);
        let finished = self.finish(context, spec, time)?;
        let document = serde_json::from_str(&finished.stdout.text()).ok();
        Ok(Answered { document, finished })
    }

    /// Runs a command.
    pub fn finish(
        &self,
        context: &Context<'_>,
        spec: Spec,
        time: Duration,
    ) -> anyhow::Result<Finished> {
        let spec = spec
            .directory(&self.folder)
            .variable("NO_COLOR", "1")
            // A path for it is another step's.
            .without_variable("GITHUB_STEP_SUMMARY")
            .keep(KEPT)
            .wall(time)
            .grace(GRACE);
        Ok(run(context.launcher, &spec)?)
    }

    /// A place as seen from the folder that is checked.
    pub fn place(&self, place: &str) -> String {
        format!("{}{place}", self.prefix)
    }
}

/// What a command of Strait answered.
pub struct Answered {
    /// Its document, if it printed one.
    pub document: Option<Value>,
    pub finished: Finished,
}

impl Answered {
    /// What went wrong, if anything did: exit codes 0 and 1 are answers.
    pub fn failure(&self) -> Option<String> {
        use strait_toolchain::End;
        match (&self.finished.end, &self.document) {
            (End::Exited(0 | 1), Some(_)) => None,
            (End::Exited(0 | 1), None) => Some("it printed no document".to_owned()),
            (End::Exited(_), _) => Some(quoted(&self.finished)),
            (End::TimedOut, _) => Some("its time was over (see --time)".to_owned()),
            (end, _) => Some(format!("{end}: {}", quoted(&self.finished))),
        }
    }
}

/// The last words of a command.
pub fn quoted(finished: &Finished) -> String {
    let said = finished.stderr.last_lines(QUOTED);
    let said = said.trim().trim_start_matches("error: ");
    if said.is_empty() { finished.end.to_string() } else { said.to_owned() }
}

impl Context<'_> {
    /// Whether a finding with this key is known. What the baseline knows is taken out of it.
    pub fn status(&mut self, key: &BaselineKey) -> CiStatus {
        match self.baseline.as_mut().is_some_and(|known| known.take(key)) {
            true => CiStatus::Known,
            false => CiStatus::New,
        }
    }
}

/// The reason of a comment `strait:ignore RULE reason` on a line or on the line above it. The comment begins
/// with `//` or `#`.
pub fn silenced(text: &str, line: u32, rules: &[&str]) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let line = (line as usize).checked_sub(1)?;
    let above = line.checked_sub(1).and_then(|above| lines.get(above));
    let above = above.filter(|text| text.trim_start().starts_with(['/', '#']));
    lines.get(line).into_iter().chain(above).find_map(|text| {
        let (before, comment) = text.split_once("strait:ignore ")?;
        let is_comment = before.trim_end().ends_with("//") || before.trim_end().ends_with('#');
        let (rule, reason) = comment.trim().split_once(' ')?;
        let about = rule == "all" || rules.contains(&rule);
        (is_comment && about && !reason.trim().is_empty()).then(|| reason.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_silence_their_line_and_the_next_one() {
        let text = "flume = \"0.11\" # strait:ignore hang fixed in 0.12\n\
                    kanal = \"0.1\"\n\
                    //strait:ignore all a demo\n\
                    check(f);\n\
                    //strait:ignore crash\n\
                    check(g);\n\
                    let s = \"strait:ignore hang x\";\n";
        for (line, rules, expected) in [
            (1, ["hang"], Some("fixed in 0.12")),
            (1, ["crash"], None),
            (2, ["hang"], None),
            (4, ["crash"], Some("a demo")),
            (6, ["crash"], None),
            (7, ["hang"], None),
            (99, ["hang"], None),
            (0, ["hang"], None),
        ] {
            assert_eq!(silenced(text, line, &rules).as_deref(), expected, "line {line}");
        }
    }
}
