//! `strait go verify`: Go packages checked for properties, by exploring what was extracted from
//! them. The decisions are in `strait-goverify`; here are the arguments and the order of the steps.

use crate::commands::verify;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use strait_calculus::ExamineOptions;
use strait_findings::Baseline;
use strait_golang::{About, Assumption, ExtractOptions, Extraction, Go, extract};
use strait_goverify::{
    Checked, Confirm, Effort, EntryBudget, FailOn, GoFinding, Question, ReasonKind, SourceFiles,
    Summary, Warning, check, diagram, findings, normalised_entry, unusable_name,
};
use strait_queue::Shard;
use strait_toolchain::Launcher;
use strait_verify::{Property, Reduction};

use crate::commands::diagrams::write_diagrams;
use crate::commands::explore::parse_size;
use crate::commands::explore::properties::{properties, read_formulas};
use crate::commands::verify::report::{
    assumption_document, entry_document, finding_document, summary_document,
};
use crate::commands::verify::text::{VerifyReport, wrapped};
use crate::duration;
use crate::interrupt;
use crate::progress::{Progress, Quantity};
use crate::ui::{Paint, Status, Ui, grouped};

/// How long one entry may take if the command line does not say; its runs for --confirm likewise.
const ENTRY: Duration = Duration::from_secs(60);

/// Prove that Go code has no deadlocks, leaks or misuse of channels, or show the lines that cause them
#[derive(Args)]
#[command(after_help = "\
Each main function and each test is an entry. Strait makes a model of the entry's channels, goroutines, \
locks and wait groups, and visits all states of the model. It runs your code only with --confirm. If a \
condition depends on unknown data, the model allows both branches; a finding that needs one of them says so.

Verdicts:
  proved    all checked properties hold under every schedule
  VIOLATED  the named properties do not hold; a trace shows the lines
  unknown   neither proved nor violated; the reason is printed below the table

Properties:
  no-deadlock     the program never deadlocks before main has returned
  no-leak         no goroutine stays blocked forever after main has returned
  live            every waiting goroutine can continue in at least one possible future
  channel-safe    no send on a closed channel, no close of a closed or nil channel
  mutex-safe      no unlock of a lock that is not held, no goroutine waits for a lock that it holds
  waitgroup-safe  no negative counter, and no Add races with a Wait
  locks-released  every lock is released after its last use
Not checked by default: eventual-reception, no-terminal, no-cycle (docs/verify.md).

A finding is silenced by a comment `//strait:ignore PROPERTY reason` on its line, on the line above \
or above its function.
Exit codes: 0 nothing that fails the build, 1 a finding (see --fail-on), 2 usage, input or \
environment error.")]
pub struct GoVerifyArgs {
    /// Packages, as for `go build`
    #[arg(value_name = "PACKAGES", default_value = "./...")]
    packages: Vec<String>,
    /// Verify only this function: NAME or (*Type).NAME, or the same after its package, as in
    /// path/to/package.NAME; may be given several times
    #[arg(long, value_name = "FUNC")]
    entry: Vec<String>,
    /// Verify only share I of N of the entries, such as 0/4 to 3/4 on four machines
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Check only this property: no-deadlock, no-leak, live, channel-safe, mutex-safe, waitgroup-safe,
    /// locks-released, eventual-reception, no-terminal, no-cycle, or all; may be given several times
    /// [default: the first seven]
    #[arg(long, value_name = "NAME")]
    property: Vec<String>,
    /// Check a formula of the modal mu-calculus (docs/verify.md); may be given several times
    #[arg(long, value_name = "FILE")]
    formula: Vec<PathBuf>,
    /// Print the behavioural types (MiGo) of each entry; check only what --property and --formula name
    #[arg(long)]
    print_types: bool,
    /// Do not verify tests
    #[arg(long)]
    no_tests: bool,
    /// Build tags, separated by commas
    #[arg(long, value_name = "TAGS")]
    tags: Option<String>,
    /// Write the findings as SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// File of known findings, which do not fail the build
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings into the file of --baseline
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Which findings fail the build (exit code 1)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = FailOnArg::Violation)]
    fail_on: FailOnArg,
    /// Write each entry's model into this folder: its program, for `strait explore`, and the graph of
    /// its states (.aut), for other model checkers
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// Write a diagram of each finding into this folder: a picture, a trace for Perfetto and a log for
    /// ShiViz (docs/diagrams.md)
    #[arg(long, value_name = "DIR")]
    diagrams: Option<PathBuf>,
    /// Maximum number of states per entry
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    states: u64,
    /// Time limit per entry [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Memory limit per entry
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size)]
    memory: usize,
    /// Visit every state, without partial-order reduction
    #[arg(long)]
    no_reduction: bool,
    /// Run each main or test that has a violation, in the order of its trace, and say whether it was seen
    #[arg(long)]
    confirm: bool,
    /// Number of runs per entry for --confirm
    #[arg(long, value_name = "N", default_value_t = 30, requires = "confirm")]
    confirm_runs: u64,
    /// Time limit for reading the packages, before the first entry is verified
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse)]
    extraction_time: Duration,
}

/// What fails the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOnArg {
    /// Every violation
    Violation,
    /// Only violations that --confirm has seen in runs
    Confirmed,
    /// Violations, and properties that are unknown
    Unknown,
}

impl From<FailOnArg> for FailOn {
    fn from(argument: FailOnArg) -> FailOn {
        match argument {
            FailOnArg::Violation => FailOn::Violation,
            FailOnArg::Confirmed => FailOn::Confirmed,
            FailOnArg::Unknown => FailOn::Unknown,
        }
    }
}

/// Everything that is told in the end.
struct Outcome {
    extraction: Extraction,
    checked: Vec<Checked>,
    findings: Vec<GoFinding>,
    files: SourceFiles,
    /// What is wrong with comments that are meant to silence findings.
    comments: Vec<Warning>,
}

impl GoVerifyArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        if self.fail_on == FailOnArg::Confirmed && !self.confirm {
            anyhow::bail!(
                "--fail-on confirmed needs --confirm: without runs, nothing is confirmed"
            );
        }
        let question = self.question()?;
        let baseline = self.read_baseline()?;
        let sarif = self.sarif.as_deref().map(verify::sarif::create).transpose()?;
        let stop = interrupt::flag_for(ui)?;
        let directory = std::env::current_dir().context("cannot find the current folder")?;
        let launcher = Launcher::this_program()?.cancelled_by(&stop);
        let go = Go::find(&launcher, &directory)?.cancelled_by(stop.clone());
        let extraction = self.extract(ui, &go)?;
        let mut checked = self.check_all(ui, &extraction, &question, &stop)?;
        unusable_name(&checked)?;
        if self.confirm {
            self.confirm(ui, &launcher, &directory, &stop, &mut checked)?;
        }
        let outcome = self.judge(extraction, checked, &directory, baseline)?;
        for warning in &outcome.comments {
            ui.note(format!("{} {warning}", ui.paint(Paint::Yellow, "warning:")));
        }
        if let Some(sarif) = sarif {
            sarif.write(&outcome.checked, &outcome.findings, &outcome.files)?;
        }
        if let Some(folder) = &self.diagrams {
            let new = outcome.findings.iter().filter(|finding| finding.is_new());
            let drawn =
                new.filter_map(|finding| diagram(finding, &outcome.checked, &outcome.files));
            write_diagrams(folder, drawn)?;
        }
        let summary = Summary::of(&outcome.checked, &outcome.findings);
        self.tell(ui, &outcome, &summary)?;
        Ok(if summary.fails(self.fail_on.into()) { Status::Found } else { Status::Clean })
    }

    fn extract(&self, ui: &Ui, go: &Go) -> anyhow::Result<Extraction> {
        let mut extraction = extract(go, &self.extract_options())?;
        // If nothing is left, the error says that the functions are not there.
        let nothing = extraction.entries.is_empty();
        let told = |one: &&Assumption| !(nothing && one.about == About::NoSuchFunction);
        for warning in extraction.warnings.iter().filter(told) {
            ui.note(format!("{} {}", ui.paint(Paint::Yellow, "warning:"), warning));
        }
        if extraction.entries.is_empty() {
            anyhow::bail!(self.nothing_there());
        }
        let (shard, all) = (self.shard.unwrap_or_default(), extraction.entries.len());
        let mut place = 0..;
        extraction.entries.retain(|_| place.next().is_some_and(|place| shard.deals(place)));
        if extraction.entries.is_empty() {
            ui.note(format!("there are {all} entries, none of them in share {shard}"));
        }
        Ok(extraction)
    }

    fn check_all(
        &self,
        ui: &Ui,
        extraction: &Extraction,
        question: &Question,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Vec<Checked>> {
        let progress = Progress::start(ui, Quantity { name: "states", all: None }, stop);
        if let Some(folder) = &self.models {
            let options = ExamineOptions {
                memory: self.memory,
                max_states: self.states,
                stop: Some(stop),
                progress: Some(progress.count()),
                ..ExamineOptions::default()
            };
            verify::models::write(ui, folder, &extraction.entries, &options)?;
        }
        let limits = EntryBudget {
            states: self.states,
            memory: self.memory,
            reduction: if self.no_reduction { Reduction::Never } else { Reduction::Auto },
            time: Some(self.time.unwrap_or(ENTRY)),
            stop: Some(stop),
            progress: Some(progress.count()),
        };
        Ok(extraction.entries.iter().map(|entry| check(entry, question, &limits)).collect())
    }

    /// Runs what is said to be wrong.
    fn confirm(
        &self,
        ui: &Ui,
        launcher: &Launcher,
        directory: &Path,
        stop: &Arc<AtomicBool>,
        checked: &mut [Checked],
    ) -> anyhow::Result<()> {
        let effort = Effort { runs: self.confirm_runs, time: self.time.unwrap_or(ENTRY) };
        let (tags, stop) = (self.tags.clone(), Arc::clone(stop));
        let confirm = Confirm { launcher, directory, tags, effort, stop };
        Ok(confirm.all(checked, &|entry| ui.note(format!("running {entry}")))?)
    }

    /// The known findings; none if they are about to be written.
    fn read_baseline(&self) -> anyhow::Result<Option<Baseline>> {
        let known = self.baseline.as_deref().filter(|_| !self.write_baseline);
        Ok(known.map(Baseline::read).transpose()?)
    }

    fn judge(
        &self,
        extraction: Extraction,
        checked: Vec<Checked>,
        directory: &Path,
        mut baseline: Option<Baseline>,
    ) -> anyhow::Result<Outcome> {
        let files = SourceFiles::below(directory);
        let mut found = findings(&checked, &files, baseline.as_mut());
        if let Some(path) = self.baseline.as_deref().filter(|_| self.write_baseline) {
            let answers = checked.iter().flat_map(|entry| &entry.answers);
            let mut reasons = answers.filter_map(|answer| answer.unknown());
            if reasons.any(|reason| reason.kind() == ReasonKind::Interrupted) {
                anyhow::bail!("{} is not written: the run was interrupted", path.display());
            }
            let new = found.iter().filter(|finding| finding.is_new());
            let mut written = Baseline::of(new.map(|finding| finding.key.clone()));
            written.write(path)?;
            found = findings(&checked, &files, Some(&mut written));
        }
        let places = found.iter().flat_map(|finding| &finding.places);
        let named = places.map(|place| place.file.as_str());
        let entries = checked.iter().filter_map(|entry| entry.position.as_ref());
        let named: Vec<&str> = named.chain(entries.map(|place| place.file.as_str())).collect();
        let comments = files.warnings(named);
        Ok(Outcome { extraction, checked, findings: found, files, comments })
    }

    fn question(&self) -> anyhow::Result<Question> {
        let mut asked = properties(&self.property)?;
        let explicit = !asked.is_empty();
        if !explicit && self.formula.is_empty() && !self.print_types {
            asked = Property::ALL.to_vec();
        }
        let formulas = read_formulas(&self.formula)?;
        Ok(Question { properties: asked, explicit, formulas, types: self.print_types })
    }

    fn extract_options(&self) -> ExtractOptions {
        let tags = self.tags.iter().flat_map(|tags| tags.split(','));
        ExtractOptions {
            packages: self.packages.clone(),
            entries: self.entry.iter().map(|entry| normalised_entry(entry)).collect(),
            without_tests: self.no_tests,
            tags: tags.filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
            wall: Some(self.extraction_time),
            cache: None,
        }
    }

    fn nothing_there(&self) -> String {
        if self.entry.is_empty() {
            let packages = self.packages.join(" ");
            format!("there is no main and no test in {packages}; name a function with --entry FUNC")
        } else {
            format!("there is no function {} in {}", self.entry.join(", "), self.packages.join(" "))
        }
    }

    fn tell(&self, ui: &Ui, outcome: &Outcome, summary: &Summary) -> anyhow::Result<()> {
        if ui.json {
            return ui.document(&document(outcome, summary));
        }
        for entry in &outcome.checked {
            if let Some(types) = &entry.types {
                ui.line(ui.paint(Paint::Dim, format!("-- {}", entry.entry)))?;
                ui.line(types.trim_end())?;
            }
        }
        if outcome.checked.iter().all(|entry| entry.answers.is_empty()) {
            return Ok(());
        }
        let Outcome { checked, findings, files, .. } = outcome;
        verify::text::print(ui, &VerifyReport { checked, findings, files: Some(files) })?;
        tell_assumptions(ui, &outcome.extraction)?;
        verify::text::print_summary(ui, summary)
    }
}

/// The JSON document.
fn document(outcome: &Outcome, summary: &Summary) -> Value {
    let warnings = outcome.extraction.warnings.iter().map(assumption_document);
    let comments = outcome.comments.iter().map(|warning| json!({ "message": warning.to_string() }));
    let entries = outcome.checked.iter().map(|entry| entry_document(entry, Some(&outcome.files)));
    let findings = outcome.findings.iter().map(|one| finding_document(one, &outcome.checked));
    json!({
        "lines": outcome.extraction.lines,
        "warnings": warnings.chain(comments).collect::<Vec<Value>>(),
        "entries": entries.collect::<Vec<Value>>(),
        "findings": findings.collect::<Vec<Value>>(),
        "summary": summary_document(summary),
    })
}

/// What the verdicts rest on, each once.
fn tell_assumptions(ui: &Ui, extraction: &Extraction) -> anyhow::Result<()> {
    const SHOWN: usize = 10;
    let mut all: Vec<&Assumption> =
        extraction.entries.iter().flat_map(|entry| &entry.assumptions).collect();
    all.sort();
    all.dedup();
    if all.is_empty() || ui.quiet {
        return Ok(());
    }
    ui.line("")?;
    ui.line(ui.paint(Paint::Bold, "Assumptions on the way from Go to the model:"))?;
    let shown = if ui.verbose > 0 { all.len() } else { SHOWN };
    for assumption in all.iter().take(shown) {
        wrapped(ui, "  ", &assumption.to_string())?;
    }
    if all.len() > shown {
        let more = grouped((all.len() - shown) as u64);
        ui.line(ui.paint(Paint::Dim, format!("  … {more} more, -v shows them")))?;
    }
    Ok(())
}
