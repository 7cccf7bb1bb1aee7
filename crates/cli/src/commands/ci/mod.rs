//! `strait ci`: everything that applies to a folder, one baseline, one summary; it fails on new findings only.

pub mod crates;
pub mod go;
pub mod markdown;
pub mod project;
pub mod rust_tests;
pub mod sarif;
pub mod step;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};
use strait_campaign::Ending;
use strait_findings::Baseline;
use strait_toolchain::{Launcher, Scratch};

use crate::commands::ci::project::{Project, find};
use crate::commands::ci::step::{
    CiFinding, CiStatus, Context, Step, StepCoverage, StepKind, StepResult,
};
use crate::duration;
use crate::interrupt;
use crate::ui::{Status, Ui};

/// The baseline that is used without being named, if it is there.
const BASELINE: &str = "strait-baseline.json";
/// The variable with the file whose Markdown the code host shows for a step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// The least time for a command: less than this compiles nothing.
const LEAST: Duration = Duration::from_secs(5);

/// Run all checks that apply to a folder, and fail only if there is a new finding
#[derive(Args)]
#[command(after_help = "\
Strait looks for these files, in the folder or in the nearest folders below it, and runs these commands:
  go.mod       strait go verify ./..., strait go fuzz ./...
  Cargo.toml   cargo test of packages that use the library (strait, strait-loom, strait-tokio, \
strait-linearizability); strait fuzz of channel crates in the versions of Cargo.lock

Findings in the baseline are known. To silence a finding, write `//strait:ignore RULE reason` into a Go or \
Rust file, or `# strait:ignore RULE reason` where Cargo.toml names a crate.
The summary is Markdown. It is also appended to the file that GITHUB_STEP_SUMMARY names.
Exit codes: 0 no new finding and every command ran, 1 new findings, 2 usage, input or environment error, or \
a command could not run.")]
pub struct CiArgs {
    /// Folder to check
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Time limit for all commands together
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "10m")]
    time: Duration,
    /// Run only this command; may be given several times
    #[arg(long, value_name = "COMMAND")]
    only: Vec<StepKind>,
    /// Random seed; it does not vary by default, so every change is checked with the same runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// File of known findings of all commands, which do not fail the build [default:
    /// strait-baseline.json in the folder, if it exists]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to the baseline file
    #[arg(long)]
    write_baseline: bool,
    /// Write the findings of all commands as one SARIF file, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Folder for findings
    #[arg(long, value_name = "DIR", default_value = "strait-out")]
    out: PathBuf,
}

/// What is going to be done: everything about the command line and the files that it names is checked.
struct CiConfig {
    root: PathBuf,
    time: Duration,
    seed: u64,
    baseline: Option<Baseline>,
    /// Where the baseline is written.
    write_baseline: Option<PathBuf>,
    sarif: Option<(PathBuf, File)>,
    out: PathBuf,
    steps: Vec<Step>,
    problems: Vec<String>,
}

impl CiArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let stop = interrupt::stop_for(ui)?;
        let launcher = Launcher::this_program()?.cancelled_by(stop.flag());
        let config = self.config(&launcher)?;
        let scratch = Scratch::new("ci").context("cannot make a temporary folder")?;
        let mut context = Context {
            launcher: &launcher,
            scratch: &scratch,
            seed: config.seed,
            out: config.out,
            baseline: config.baseline,
            write_baseline: config.write_baseline.is_some(),
        };
        let end = Instant::now() + config.time;
        let all = config.steps.len();
        let mut results: Vec<(Step, StepResult)> = Vec::new();
        for (place, step) in config.steps.into_iter().enumerate() {
            let share = end.saturating_duration_since(Instant::now()) / (all - place) as u32;
            let result = if stop.is_now() {
                StepResult::failed("it was stopped before it began")
            } else if share < LEAST {
                StepResult::failed("there was no time left for it; give --time more")
            } else {
                ui.note(format!("{} in {}", step.kind.command(), step.folder.display()));
                step.run(&mut context, share)
            };
            results.push((step, result));
        }
        if let Some(path) = &config.write_baseline {
            write_baseline(path, &results)?;
        }
        if let Some((path, file)) = config.sarif {
            write_sarif(&path, file, &results)?;
        }
        let problems = &config.problems;
        tell(ui, &config.root, &results, problems)?;
        conclude(&results, problems, config.write_baseline.is_some())
    }

    fn config(&self, launcher: &Launcher) -> anyhow::Result<CiConfig> {
        let place = self.folder.canonicalize();
        let root = place.with_context(|| format!("cannot find {}", self.folder.display()))?;
        if self.time < LEAST {
            bail!("--time is too short: give {} s or more", LEAST.as_secs());
        }
        let usual = root.join(BASELINE);
        let path = self.baseline.clone().unwrap_or_else(|| usual.clone());
        let is_wanted = self.baseline.is_some() || usual.exists();
        let baseline = match is_wanted && !self.write_baseline {
            true => Some(Baseline::read(&path)?),
            false => None,
        };
        let Project { modules, workspaces, problems } = find(&root, launcher);
        let mut steps = Vec::new();
        let mut add = |kind, folder: &Path, packages: &[String], crates: &[_]| {
            if self.only.is_empty() || self.only.contains(&kind) {
                steps.push(step(&root, kind, folder, packages.to_vec(), crates.to_vec()));
            }
        };
        for module in &modules {
            add(StepKind::GoVerify, module, &[], &[]);
            add(StepKind::GoFuzz, module, &[], &[]);
        }
        for workspace in &workspaces {
            if !workspace.tests.is_empty() {
                add(StepKind::RustTests, &workspace.folder, &workspace.tests, &[]);
            }
            if !workspace.crates.is_empty() {
                add(StepKind::Crates, &workspace.folder, &[], &workspace.crates);
            }
        }
        // What needs the least time comes first, and leaves the rest to what takes all it gets.
        steps.sort_by_key(|step: &Step| step.kind);
        if steps.is_empty() && problems.is_empty() {
            bail!(nothing_applies(&root, &self.only));
        }
        let sarif = match &self.sarif {
            Some(path) => {
                let file = File::create(path);
                let file = file.with_context(|| format!("cannot write {}", path.display()))?;
                Some((path.clone(), file))
            }
            None => None,
        };
        let out = make_folder(&self.out)?;
        let write_baseline = self.write_baseline.then_some(path);
        let (time, seed) = (self.time, self.seed);
        Ok(CiConfig { root, time, seed, baseline, write_baseline, sarif, out, steps, problems })
    }
}

fn nothing_applies(root: &Path, only: &[StepKind]) -> String {
    let root = root.display();
    match only {
        [] => format!(
            "there is nothing to check in {root}: no go.mod, and no Cargo.toml of a workspace that uses the library \
             or a locked version of a channel crate that `strait targets` lists"
        ),
        only => {
            let names: Vec<&str> = only.iter().map(|kind| kind.name()).collect();
            format!("{} does not apply to {root}; leave out --only", names.join(", "))
        }
    }
}

fn step(
    root: &Path,
    kind: StepKind,
    folder: &Path,
    packages: Vec<String>,
    crates: Vec<project::LockedCrate>,
) -> Step {
    let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
    let prefix = match below.as_os_str().is_empty() {
        true => String::new(),
        false => format!("{}/", below.display()),
    };
    Step { kind, folder: folder.to_owned(), prefix, packages, crates }
}

/// The folder for findings, as commands in other folders find it. A new one is kept out of version control.
fn make_folder(folder: &Path) -> anyhow::Result<PathBuf> {
    let cannot = || format!("cannot make {}", folder.display());
    if !folder.exists() {
        std::fs::create_dir_all(folder).with_context(cannot)?;
        std::fs::write(folder.join(".gitignore"), "*\n").with_context(cannot)?;
    }
    folder.canonicalize().with_context(cannot)
}

/// A baseline without the findings of a command that failed would call known findings new.
fn write_baseline(path: &Path, results: &[(Step, StepResult)]) -> anyhow::Result<()> {
    let mut all = Baseline::default();
    for (step, result) in results {
        if let StepCoverage::Failed(why) = &result.coverage {
            let command = step.kind.command();
            bail!("{} is not written: `{command}` failed: {why}", path.display());
        }
        all.add(&result.keys);
    }
    Ok(all.write(path)?)
}

fn write_sarif(path: &Path, mut file: File, results: &[(Step, StepResult)]) -> anyhow::Result<()> {
    let runs = results.iter().flat_map(|(_, result)| result.sarif.iter().cloned());
    let text = serde_json::to_string_pretty(&sarif::document(runs.collect()))?;
    writeln!(file, "{text}").with_context(|| format!("cannot write {}", path.display()))
}

/// Prints the summary, and appends it to the file that the code host shows.
fn tell(
    ui: &Ui,
    root: &Path,
    results: &[(Step, StepResult)],
    problems: &[String],
) -> anyhow::Result<()> {
    let text = markdown::summary(results, problems);
    if let Some(path) = std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty()) {
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| {
            format!("cannot write {} ({STEP_SUMMARY})", PathBuf::from(&path).display())
        })?;
    }
    match ui.json {
        true => ui.document(&document(root, results, problems)),
        false => ui.raw(text),
    }
}

fn document(root: &Path, results: &[(Step, StepResult)], problems: &[String]) -> Value {
    let commands = results.iter().map(|(step, result)| {
        let (coverage, left_out) = match &result.coverage {
            StepCoverage::Complete => ("complete", vec![]),
            StepCoverage::Partial(all) => ("partial", all.clone()),
            StepCoverage::Failed(why) => ("failed", vec![why.clone()]),
        };
        json!({
            "command": step.kind,
            "folder": step.prefix,
            "result": coverage,
            "not_checked": left_out,
            "summary": result.summary,
            "seconds": result.seconds,
            "findings": result.findings.iter().map(finding_document).collect::<Vec<Value>>(),
        })
    });
    let new = results.iter().flat_map(|(_, result)| &result.findings).filter(|one| one.fails());
    json!({
        "folder": root,
        "new": new.count(),
        "commands": commands.collect::<Vec<Value>>(),
        "problems": problems,
    })
}

fn finding_document(finding: &CiFinding) -> Value {
    json!({
        "kind": finding.kind,
        "title": finding.title,
        "locations": finding.places,
        "level": if finding.is_error { "error" } else { "warning" },
        "status": match finding.status {
            CiStatus::New => "new",
            CiStatus::Known => "known",
            CiStatus::Silenced => "suppressed",
        },
        "replay": finding.replay,
    })
}

/// New findings fail the build; commands that failed are errors. With a baseline that has just been written,
/// every finding is known.
fn conclude(
    results: &[(Step, StepResult)],
    problems: &[String],
    has_written: bool,
) -> anyhow::Result<Status> {
    let mut findings = results.iter().flat_map(|(_, result)| &result.findings);
    if !has_written && findings.any(CiFinding::fails) {
        return Ok(Status::Found);
    }
    let failed = results.iter().filter_map(|(step, result)| match &result.coverage {
        StepCoverage::Failed(_) => Some(step.kind.command().to_owned()),
        _ => None,
    });
    let failed: Vec<String> = failed.chain(problems.iter().cloned()).collect();
    match failed.is_empty() {
        true => Ok(Status::Clean),
        false => bail!("not everything was checked: {} (see above)", failed.join(", ")),
    }
}
