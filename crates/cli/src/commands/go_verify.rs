//! `strait go verify`: Go packages checked for properties, by exploring what was extracted from
//! them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};
use strait_calculus::{ExamineOptions, Span};
use strait_golang::{
    Approximation, Assumption, Entry, ExtractOptions, Extraction, Go, LoopInfo, Positions, extract,
};
use strait_queue::Shard;
use strait_toolchain::Launcher;
use strait_verify::{
    Budget, Places, Property, Reduction, Verdict, Verification, at_the_mercy_of_data, verify,
};

use crate::commands::explore::parse_size;
use crate::commands::explore_verify::{Named, formula_answers, properties, read_formulas};
use crate::commands::verify_confirm::{Confirm, Effort};
use crate::commands::verify_report::{Answer, Checked, Locate, Position};
use crate::commands::{verify_models, verify_sarif, verify_text};
use crate::duration;
use crate::interrupt;
use crate::progress::{Progress, Quantity};
use crate::ui::{Paint, Status, Ui, grouped};

/// How long the runs of one entry may take.
const CONFIRMING: Duration = Duration::from_secs(60);

/// Prove Go code free of deadlocks, leaks and misuse of channels, or show the lines that break
#[derive(Args)]
#[command(after_help = "\
Each main and each test is an entry. What it does with channels, goroutines, locks and wait groups \
becomes a model; conditions on data become choices, which is said where it matters (docs/verify.md).
Exit codes: 0 no violation, 1 some property is violated, 2 the command line, the packages or the \
machine is in the way.")]
pub struct GoVerifyArgs {
    /// Packages, as for `go build`
    #[arg(value_name = "PACKAGES", default_value = "./...")]
    packages: Vec<String>,
    /// Only this function: NAME, path/to/package.NAME or path/to/package.(*Type).NAME; may be given
    /// several times
    #[arg(long, value_name = "FUNC")]
    entry: Vec<String>,
    /// Only share I of N of the entries, for N machines that know nothing of each other: 0/4 to 3/4
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Only this property: no-deadlock, live, channel-safe, eventual-reception, mutex-safe,
    /// waitgroup-safe, no-terminal, no-cycle; may be given several times
    #[arg(long, value_name = "NAME")]
    property: Vec<String>,
    /// Check a formula of the modal mu-calculus (docs/verify.md); may be given several times
    #[arg(long, value_name = "FILE")]
    formula: Vec<PathBuf>,
    /// Show the behavioural types of each entry (MiGo), and check nothing unless asked to
    #[arg(long)]
    print_types: bool,
    /// Leave tests out
    #[arg(long)]
    no_tests: bool,
    /// Build tags, separated by commas
    #[arg(long, value_name = "TAGS")]
    tags: Option<String>,
    /// Write the violations as SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write each entry's model into this folder: its program, for `strait explore`, and the graph of
    /// its states (.aut), for other model checkers
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// States that are looked at for one entry
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    states: u64,
    /// Time for the states of one entry
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration::parse)]
    time: Duration,
    /// Memory for the states of one entry
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size)]
    memory: usize,
    /// Visit every state, without partial-order reduction
    #[arg(long)]
    no_reduction: bool,
    /// Run each main or test with a violation, in the order found, and say whether it was seen
    #[arg(long)]
    confirm: bool,
    /// Runs of each entry for --confirm
    #[arg(long, value_name = "N", default_value_t = 30, requires = "confirm")]
    confirm_runs: u64,
    /// How long reading the packages may take
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse)]
    extraction_time: Duration,
}

impl GoVerifyArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let question = self.question()?;
        let sarif = self.sarif.as_deref().map(verify_sarif::create).transpose()?;
        let stop = interrupt::flag_for(ui)?;
        let directory = std::env::current_dir().context("cannot find the current folder")?;
        let launcher = Launcher::this_program()?;
        let go = Go::find(&launcher, &directory)?.cancelled_by(stop.clone());
        let mut extraction = extract(&go, &self.extract_options())?;
        for warning in &extraction.warnings {
            ui.note(format!("{} {}", ui.paint(Paint::Yellow, "warning:"), told(warning)));
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
        let progress = Progress::start(ui, Quantity { name: "states", all: None }, &stop);
        let budget = Budget {
            states: self.states,
            memory: self.memory,
            reduction: if self.no_reduction { Reduction::Never } else { Reduction::Auto },
            time: Some(self.time),
            stop: Some(&stop),
            progress: Some(progress.count()),
        };
        if let Some(folder) = &self.models {
            let options = ExamineOptions {
                memory: self.memory,
                max_states: self.states,
                stop: Some(&stop),
                progress: Some(progress.count()),
                ..ExamineOptions::default()
            };
            verify_models::write(ui, folder, &extraction.entries, &options)?;
        }
        let mut checked = Vec::new();
        for entry in &extraction.entries {
            checked.push(check(entry, &question, &budget));
        }
        drop(progress);
        if self.confirm {
            self.confirm(ui, &launcher, &directory, &stop, &mut checked)?;
        }
        if let Some(sarif) = sarif {
            sarif.write(&checked)?;
        }
        self.tell(ui, &extraction, &checked)?;
        let wrong = checked.iter().flat_map(|entry| &entry.answers).any(Answer::is_violation);
        Ok(if wrong { Status::Found } else { Status::Clean })
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
        let effort = Effort { runs: self.confirm_runs, time: CONFIRMING };
        let (tags, stop) = (self.tags.clone(), Arc::clone(stop));
        let confirm = Confirm { launcher, directory, tags, effort, stop };
        confirm.all(checked, &|entry| ui.note(format!("running {entry}")))
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
            entries: self.entry.clone(),
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

    fn tell(&self, ui: &Ui, extraction: &Extraction, checked: &[Checked]) -> anyhow::Result<()> {
        if ui.json {
            let warnings: Vec<Value> = extraction.warnings.iter().map(assumption).collect();
            let entries: Vec<Value> = checked.iter().map(Checked::document).collect();
            let document =
                json!({ "lines": extraction.lines, "warnings": warnings, "entries": entries });
            return ui.document(&document);
        }
        for entry in checked {
            if let Some(types) = &entry.types {
                ui.line(ui.paint(Paint::Dim, format!("-- {}", entry.entry)))?;
                ui.line(types.trim_end())?;
            }
        }
        if checked.iter().all(|entry| entry.answers.is_empty()) {
            return Ok(());
        }
        verify_text::print(ui, checked)?;
        self.tell_assumptions(ui, extraction)
    }

    /// What the verdicts rest on, each once.
    fn tell_assumptions(&self, ui: &Ui, extraction: &Extraction) -> anyhow::Result<()> {
        const SHOWN: usize = 10;
        let mut all: Vec<&Assumption> =
            extraction.entries.iter().flat_map(|entry| &entry.assumptions).collect();
        all.sort();
        all.dedup();
        if all.is_empty() || ui.quiet {
            return Ok(());
        }
        ui.line("")?;
        ui.line(ui.paint(Paint::Bold, "Assumed on the way from Go to the model:"))?;
        let shown = if ui.verbose > 0 { all.len() } else { SHOWN };
        for assumption in all.iter().take(shown) {
            ui.line(format!("  {}", told(assumption)))?;
        }
        if all.len() > shown {
            let more = grouped((all.len() - shown) as u64);
            ui.line(ui.paint(Paint::Dim, format!("  … {more} more, -v shows them")))?;
        }
        Ok(())
    }
}

/// What is asked of each entry.
struct Question {
    properties: Vec<Property>,
    /// Were the properties named? Then each one counts, facts included.
    explicit: bool,
    formulas: Vec<Named>,
    types: bool,
}

/// Positions of an entry in Go source.
struct InGo(Positions);

impl Places for InGo {
    fn place(&self, span: Span) -> Option<String> {
        self.0.of(span).map(|position| format!("{}:{}", position.file, position.line))
    }

    fn idles(&self, span: Span) -> bool {
        self.0.of(span).is_some_and(|position| position.daemon)
    }

    /// The extraction makes names unique: `done_` for a word of the language, `c_2` for another
    /// variable of that name, `c_n2` and `c_v2` for another object in the same variable.
    fn name(&self, name: &str) -> String {
        let trimmed = name.trim_end_matches('_');
        let Some((base, number)) = trimmed.rsplit_once('_') else { return trimmed.to_owned() };
        let digits = number.trim_start_matches(['n', 'v']);
        let numbered = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
        match (numbered, number.len() - digits.len()) {
            (true, 0) => self.name(base),
            (true, 1) => format!("{}#{digits}", self.name(base)),
            _ => trimmed.to_owned(),
        }
    }
}

impl Locate for InGo {
    fn position(&self, span: Span) -> Option<Position> {
        let position = self.0.of(span)?;
        let (file, line, column) = (position.file.clone(), position.line, position.column);
        Some(Position { file, line, column })
    }
}

fn check(entry: &Entry, question: &Question, budget: &Budget<'_>) -> Checked {
    let places = InGo(entry.positions.clone());
    let started = Instant::now();
    let found = verify(&entry.program, &question.properties, budget, &places);
    let mut answers = Vec::new();
    for (property, verdict) in &found.verdicts {
        let mut verdict = verdict.clone();
        if *property == Property::Live {
            verdict = not_by_type_alone(verdict, entry, &found, &places);
        }
        let claimed = with_assumptions(*property, verdict.clone(), entry);
        let doubted = verdict.holds == Some(false) && claimed.holds.is_none();
        answers.push(Answer {
            name: property.name().into(),
            counts: question.explicit || property.is_requirement(),
            verdict: claimed,
            doubted: doubted.then_some(verdict),
            confirmation: None,
        });
    }
    let formulas = &question.formulas;
    answers.extend(formula_answers(&entry.program, &found, formulas, budget, &places));
    Checked {
        entry: entry.name.clone(),
        states: found.model.space.states().into(),
        transitions: found.model.space.transitions() as u64,
        coverage: found.coverage().clone(),
        reduced: found.model.reduced,
        seconds: started.elapsed().as_secs_f64(),
        answers,
        assumptions: entry.assumptions.iter().map(assumption).collect(),
        types: question.types.then(|| entry.migo.clone()),
        places: Box::new(places),
    }
}

/// Liveness of the model is liveness of the program when every loop ends, or when nobody depends on
/// what the data decides in one that may not (paper 003, section 2.2). Else it is not claimed.
fn not_by_type_alone(
    verdict: Verdict,
    entry: &Entry,
    found: &Verification,
    places: &InGo,
) -> Verdict {
    let endless = entry.loops.iter().find(|one| !one.bounded);
    let (Some(true), Some(endless)) = (verdict.holds, endless) else { return verdict };
    let where_and_why =
        format!("{}:{}: {}", endless.position.file, endless.position.line, endless.why);
    if found.model.reduced {
        return Verdict::unknown(format!(
            "live as a type, but a loop may never end ({where_and_why}), and there are too many \
             states to see whether that matters"
        ));
    }
    let lines: RefCell<BTreeSet<(String, u32)>> = RefCell::default();
    let of_loop = |one: &LoopInfo| (one.position.file.clone(), one.position.line);
    // The condition of a loop that ends lets go of it sooner or later.
    let adverse = |span: Span| {
        let Some(position) = places.0.of(span) else { return true };
        let line = (position.file.clone(), position.line);
        let ends = entry.loops.iter().any(|one| one.bounded && of_loop(one) == line);
        lines.borrow_mut().insert(line);
        !ends
    };
    let dependent = at_the_mercy_of_data(&found.model, places, &adverse);
    let lines = lines.into_inner();
    let hidden = entry.loops.iter().find(|one| !one.bounded && !lines.contains(&of_loop(one)));
    match dependent {
        None if hidden.is_none() => verdict,
        None => Verdict::unknown(format!(
            "live as a type, but what follows a loop may never be reached ({where_and_why})"
        )),
        Some(culprit) => {
            let place = places.place(culprit.span).unwrap_or_default();
            Verdict::unknown(format!(
                "live as a type, but {} {} ({place}) until data decides so, in a loop that may \
                 never end ({where_and_why})",
                culprit.process, culprit.says
            ))
        }
    }
}

/// What is proved of a model that leaves something out is not proved of the program. A violation
/// says what it rests on.
fn with_assumptions(property: Property, mut verdict: Verdict, entry: &Entry) -> Verdict {
    if entry.truncated && verdict.holds.is_some() {
        let seen = if verdict.holds == Some(true) { "nothing wrong" } else { "a violation" };
        return Verdict::unknown(format!(
            "the entry is too large and a part of it is missing in the model, where {seen} is seen"
        ));
    }
    let matters = |one: &&Assumption| match verdict.holds {
        Some(true) => one.approximation != Approximation::Over,
        Some(false) => one.approximation != Approximation::Under,
        None => false,
    };
    let matter: Vec<&Assumption> = entry.assumptions.iter().filter(matters).collect();
    let Some(first) = matter.first() else { return verdict };
    let more = match matter.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more assumptions"),
    };
    if verdict.holds == Some(true) {
        return Verdict::unknown(format!(
            "nothing is wrong in the model, which leaves something out: {}{more}",
            told(first)
        ));
    }
    // Whoever waits for ever in the model may be helped by what the model leaves out.
    let waits = property == Property::EventualReception
        || verdict.culprits.iter().any(|one| one.says.starts_with("waits"));
    let left_out = matter.iter().find(|one| one.approximation == Approximation::Either);
    if let (true, Some(left_out)) = (waits, left_out) {
        verdict.holds = None;
        verdict.why = format!(
            "in the model {}; but the model leaves something out that may prevent it: {}{more}",
            verdict.why,
            told(left_out)
        );
        return verdict;
    }
    let comma = if verdict.why.is_empty() { "" } else { "; " };
    verdict.why.push_str(&format!("{comma}assumed: {}{more}", told(first)));
    verdict
}

/// An assumption in a line.
fn told(assumption: &Assumption) -> String {
    match &assumption.position {
        Some(position) => format!("{}:{}: {}", position.file, position.line, assumption.message),
        None => assumption.message.clone(),
    }
}

fn assumption(one: &Assumption) -> Value {
    let position = one.position.as_ref();
    json!({
        "position": position.map(|position| format!("{}:{}", position.file, position.line)),
        "message": one.message,
        "approximation": match one.approximation {
            Approximation::Over => "over",
            Approximation::Under => "under",
            Approximation::Either => "either",
        },
    })
}
