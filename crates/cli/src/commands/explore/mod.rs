//! `strait explore FILE`: every behaviour of a program, its verdict, and a way to what goes wrong.

pub mod json;
pub mod properties;
pub mod story;
pub mod text;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use strait_calculus::{
    Action, Engine, Examination, ExamineOptions, Execution, Machine, Outcome, Program, Recording,
    Verdict, draw, examine, lambda_chan, parse_bytes,
};
use strait_diagram::Diagram;
use strait_explore::{
    Bounds, Coverage, Effort, Found, Limits, Schedule, ScheduleError, System, compact, random,
    replay, schedule_of, simplify,
};
use strait_goverify::EntryBudget;
use strait_verify::Reduction;

use crate::commands::diagrams::DiagramArgs;
use crate::commands::graphs::Graphs;
use crate::interrupt;
use crate::progress::{Progress, Quantity};
use crate::ui::{Status, Ui};

/// Explore all behaviours of a program: verdict, outcomes, and a trace to a fault
#[derive(Args)]
#[command(after_help = "\
Exit codes: 0 every execution terminates, or nothing was found within the bounds (unknown), 1 some \
execution does not terminate (deadlock, leak, panic, diverges), 2 usage, input or environment error.")]
pub struct ExploreArgs {
    /// The program, in the language of docs/language.md
    file: PathBuf,
    /// Search strategy [default: states, or bounded if a bound is given]
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineName>,
    /// Maximum number of pre-emptive context switches per execution
    #[arg(long, value_name = "N")]
    preemptions: Option<u32>,
    /// How many times more often a process may poll than another process that can go on
    #[arg(long, value_name = "N")]
    fair: Option<u32>,
    /// Maximum number of deviations from the deterministic scheduler per execution
    #[arg(long, value_name = "N")]
    delays: Option<u32>,
    /// Maximum number of steps per execution
    #[arg(long, value_name = "N")]
    length: Option<usize>,
    /// Show every outcome, not only the verdict
    #[arg(long)]
    outcomes: bool,
    /// Visit every state, without partial-order reduction (states)
    #[arg(long)]
    no_reduction: bool,
    /// Treat interchangeable processes as equal (states); outcomes are then up to renaming
    #[arg(long)]
    symmetry: bool,
    /// Number of random executions (random, pct, pos, surw) [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// Random seed (random, pct, pos, surw) [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Bug depth: number of ordering constraints that a bug may need (pct) [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Run only this schedule and print its steps
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = SEARCHING)]
    replay: Option<String>,
    /// Say whether the program belongs to the calculus of Stiévenart and Madsen, OOPSLA 2020, and print
    /// its effect
    #[arg(long, conflicts_with_all = SEARCHING, conflicts_with = "replay")]
    lambda_chan: bool,
    /// Check this property instead of computing the verdict: no-deadlock, no-leak, live, channel-safe,
    /// mutex-safe, waitgroup-safe, locks-released, eventual-reception, no-terminal, no-cycle, or all;
    /// may be given several times
    #[arg(long, value_name = "NAME", conflicts_with_all = ENGINES)]
    property: Vec<String>,
    /// Check a formula of the modal mu-calculus instead of computing the verdict (docs/verify.md); may
    /// be given several times
    #[arg(long, value_name = "FILE", conflicts_with_all = ENGINES)]
    formula: Vec<PathBuf>,
    /// Write the graph of all states for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Write the graph of all states in Aldebaran format, for mCRL2 or CADP
    #[arg(long, value_name = "FILE")]
    aut: Option<PathBuf>,
    #[command(flatten)]
    diagrams: DiagramArgs,
    /// Memory limit of the search
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_size)]
    memory: usize,
    /// Number of search threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

/// The flags that make no sense where nothing is searched.
const SEARCHING: [&str; 13] = [
    "engine",
    "preemptions",
    "fair",
    "delays",
    "length",
    "outcomes",
    "no_reduction",
    "symmetry",
    "runs",
    "seed",
    "depth",
    "dot",
    "aut",
];

/// The flags that are about ways to search, which properties and formulas decide themselves.
const ENGINES: [&str; 12] = [
    "engine",
    "preemptions",
    "fair",
    "delays",
    "length",
    "outcomes",
    "symmetry",
    "runs",
    "seed",
    "depth",
    "replay",
    "lambda_chan",
];

/// Programs are not longer than this, but a path may name an endless device.
const LONGEST_FILE: u64 = 64 << 20;

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Every state once, with partial-order reduction
    States,
    /// One execution per equivalence class of executions
    Dpor,
    /// Executions within bounds
    Bounded,
    /// Random executions
    Random,
    /// Random priorities of processes, with few changes during an execution
    Pct,
    /// Partial order sampling: random priorities, drawn anew after each race
    Pos,
    /// Selectively uniform random walks: orders at shared objects equally likely
    Surw,
}

impl EngineName {
    /// Does it draw executions?
    fn draws(self) -> bool {
        matches!(self, EngineName::Random | EngineName::Pct | EngineName::Pos | EngineName::Surw)
    }
}

impl ExploreArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let file = self.file.display().to_string();
        let bytes = self.read().with_context(|| format!("cannot read {file}"))?;
        let source = String::from_utf8_lossy(&bytes);
        let program = parse_bytes(&bytes)
            .map_err(|errors| anyhow::anyhow!("{}", errors.render(&file, &source)))?;
        self.diagrams.check(&self.file)?;
        let subject = Subject { file: &self.file, source: &source, program: &program };
        if self.lambda_chan {
            return show_fragment(ui, &subject);
        }
        if let Some(schedule) = &self.replay {
            return self.run_schedule(ui, &subject, schedule);
        }
        if !self.property.is_empty() || !self.formula.is_empty() {
            return self.run_properties(ui, &subject);
        }
        let engine = self.engine()?;
        let graphs = Graphs::create(&self.file, self.dot.as_deref(), self.aut.as_deref())?;
        let stop = interrupt::flag_for(ui)?;
        let progress = Progress::start(ui, quantity(&engine), &stop);
        let options = ExamineOptions {
            engine,
            outcomes: self.outcomes,
            threads: self.jobs.map_or_else(cores, usize::from),
            memory: self.memory,
            max_length: self.length,
            stop: Some(&stop),
            progress: Some(progress.count()),
            ..ExamineOptions::default()
        };
        let drawn = graphs.write(&program, &options)?;
        let started = Instant::now();
        let examination = examine(&program, &options);
        let seconds = started.elapsed().as_secs_f64();
        let found = Findings::new(examination, seconds)?;
        drop(progress);
        if let Some(coverage @ Coverage::Bounded(_)) = drawn {
            ui.note(format!("the graph is not complete: {coverage}"));
        }
        self.draw(ui, &subject, &found)?;
        if ui.json {
            ui.document(&json::document(&subject, &found))?;
        } else {
            text::print(ui, &subject, &found, self.outcomes)?;
        }
        Ok(status(found.examination.verdict))
    }

    fn run_properties(&self, ui: &Ui, subject: &Subject<'_>) -> anyhow::Result<Status> {
        let properties = properties::properties(&self.property)?;
        let formulas = properties::read_formulas(&self.formula)?;
        let graphs = Graphs::create(&self.file, self.dot.as_deref(), self.aut.as_deref())?;
        let stop = interrupt::flag_for(ui)?;
        let progress = Progress::start(ui, Quantity { name: "states", all: None }, &stop);
        let options = ExamineOptions {
            memory: self.memory,
            stop: Some(&stop),
            progress: Some(progress.count()),
            ..ExamineOptions::default()
        };
        graphs.write(subject.program, &options)?;
        let limits = EntryBudget {
            states: u64::MAX,
            memory: self.memory,
            reduction: if self.no_reduction { Reduction::Never } else { Reduction::Auto },
            time: None,
            stop: Some(&stop),
            progress: Some(progress.count()),
        };
        let checked = properties::check(subject, properties, formulas, &limits);
        drop(progress);
        properties::tell(ui, subject, checked)
    }

    /// Writes the diagrams that were asked for: of the way to what goes wrong, else of any execution.
    fn draw(&self, ui: &Ui, subject: &Subject<'_>, found: &Findings) -> anyhow::Result<()> {
        if !self.diagrams.are_given() {
            return Ok(());
        }
        let examination = &found.examination;
        if let Some(story) = &found.story {
            return self.diagrams.write(&story.diagram(subject, Some(examination.verdict)));
        }
        let Some(any) = examination.outcomes.first() else {
            ui.note("there is no execution to draw: the search found none that ends");
            return Ok(());
        };
        let story = Story::new(&examination.machine, any.trace.clone())?;
        self.diagrams.write(&story.diagram(subject, Some(any.outcome.verdict)))
    }

    fn read(&self) -> anyhow::Result<Vec<u8>> {
        if self.file.is_dir() {
            bail!("it is a folder, not a program; name one of the files in it");
        }
        let mut bytes = Vec::new();
        std::fs::File::open(&self.file)?.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LONGEST_FILE {
            bail!("it is longer than {} MiB, which is no program", LONGEST_FILE >> 20);
        }
        Ok(bytes)
    }

    /// The engine that the flags ask for.
    fn engine(&self) -> anyhow::Result<Engine> {
        let bounds = Bounds {
            preemptions: self.preemptions,
            fair: self.fair,
            delays: self.delays,
            length: self.length,
        };
        let bounding = self.preemptions.is_some() || self.fair.is_some() || self.delays.is_some();
        let name = match self.engine {
            Some(name) => name,
            None if bounding || self.length.is_some() => EngineName::Bounded,
            None => EngineName::States,
        };
        if bounding && name != EngineName::Bounded {
            bail!("--preemptions, --fair and --delays need `--engine bounded` (or no --engine)");
        }
        if (self.no_reduction || self.symmetry) && name != EngineName::States {
            bail!("--no-reduction and --symmetry need `--engine states`");
        }
        if (self.runs.is_some() || self.seed.is_some()) && !name.draws() {
            bail!("--runs and --seed need `--engine random`, `pct`, `pos` or `surw`");
        }
        if self.depth.is_some() && name != EngineName::Pct {
            bail!("--depth needs `--engine pct`");
        }
        let (seed, runs) = (self.seed.unwrap_or(0), self.runs.unwrap_or(10_000));
        Ok(match name {
            EngineName::States => {
                Engine::States { reduce: !self.no_reduction, symmetry: self.symmetry }
            }
            EngineName::Dpor => Engine::Dpor,
            EngineName::Bounded if bounds == Bounds::default() => {
                // The bounds of Déjà Fu, Haskell 2015, section 4.1.
                Engine::Bounded(Bounds { preemptions: Some(2), fair: Some(5), ..bounds })
            }
            EngineName::Bounded => Engine::Bounded(bounds),
            EngineName::Random => Engine::Random { seed, runs },
            EngineName::Pct => Engine::Pct { seed, runs, depth: self.depth.unwrap_or(3) },
            EngineName::Pos => Engine::Pos { seed, runs },
            EngineName::Surw => Engine::Surw { seed, runs },
        })
    }

    fn run_schedule(&self, ui: &Ui, subject: &Subject<'_>, text: &str) -> anyhow::Result<Status> {
        let schedule: Schedule =
            text.parse().context("--replay wants a schedule such as 0x5.2.1")?;
        let machine = Machine::new(subject.program, Recording::Everything);
        let replayed = Replayed::new(&machine, &schedule).context("--replay")?;
        if self.diagrams.are_given() {
            let verdict = replayed.outcomes.iter().map(|outcome| outcome.verdict).max();
            self.diagrams.write(&replayed.story.diagram(subject, verdict))?;
        }
        if ui.json {
            ui.document(&json::replay_document(subject, &replayed))?;
        } else {
            text::print_replay(ui, subject, &replayed)?;
        }
        let worst = replayed.outcomes.iter().map(|outcome| outcome.verdict).max();
        Ok(status(worst.unwrap_or(Verdict::Terminates)))
    }
}

/// What a search with this engine counts.
fn quantity(engine: &Engine) -> Quantity {
    match engine {
        Engine::States { .. } => Quantity { name: "states", all: None },
        Engine::Dpor | Engine::Bounded(_) => Quantity { name: "executions", all: None },
        Engine::Random { runs, .. }
        | Engine::Pct { runs, .. }
        | Engine::Pos { runs, .. }
        | Engine::Surw { runs, .. } => Quantity { name: "executions", all: Some(*runs) },
    }
}

/// The program that is looked at.
pub struct Subject<'a> {
    pub file: &'a Path,
    pub source: &'a str,
    pub program: &'a Program,
}

/// A trace with everything that is needed to tell it.
pub struct Story {
    pub machine: Machine,
    pub trace: Vec<Action>,
    pub schedule: Schedule,
    pub compact: String,
}

impl Story {
    /// Told by a machine that has seen nothing but this trace, so that the schedule fits any other
    /// fresh machine.
    fn new(machine: &Machine, trace: Vec<Action>) -> anyhow::Result<Story> {
        let fresh = machine.fresh();
        let trace = machine
            .translate(&trace, &fresh)
            .context("a trace cannot be followed again; please report this as a bug of Strait")?;
        let schedule = schedule_of(&fresh, &trace)?;
        let compact = compact(&fresh, &trace)?;
        Ok(Story { machine: fresh, trace, schedule, compact })
    }
}

impl Story {
    fn diagram(&self, subject: &Subject<'_>, verdict: Option<Verdict>) -> Diagram {
        let file = subject.file.file_name().unwrap_or_default().to_string_lossy();
        let verdict = verdict.map_or("unfinished", Verdict::word);
        let (machine, trace, source) = (&self.machine, self.trace.as_slice(), subject.source);
        draw(&Execution { machine, trace, source }, &format!("{file}: {verdict}"))
    }
}

/// A schedule that was performed.
pub struct Replayed {
    /// What it gave; nothing if it ends before the execution does.
    pub outcomes: Vec<Outcome>,
    /// How many actions could follow.
    pub enabled: usize,
    pub story: Story,
}

impl Replayed {
    fn new(machine: &Machine, schedule: &Schedule) -> anyhow::Result<Replayed> {
        let (trace, outcomes, enabled) = match replay(machine, schedule) {
            Ok(replayed) => (replayed.trace, replayed.outcomes, 0),
            // A way into a cycle, or a user who looks at an execution step by step.
            Err(ScheduleError::TooShort { enabled, .. }) => {
                (perform(machine, schedule), vec![], enabled)
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Replayed { outcomes, enabled, story: Story::new(machine, trace)? })
    }
}

/// The actions of a schedule that fits.
fn perform(machine: &Machine, schedule: &Schedule) -> Vec<Action> {
    let mut state = machine.start();
    let (mut enabled, mut trace) = (Vec::new(), Vec::new());
    for position in &schedule.positions {
        machine.enabled(&mut state, &mut enabled);
        let Some(action) = enabled.get(*position as usize) else { break };
        machine.step(&mut state, action);
        trace.push(*action);
    }
    trace
}

/// What was found, ready to be told.
pub struct Findings {
    pub examination: Examination,
    pub seconds: f64,
    /// A way to what goes wrong, made as simple as possible.
    pub story: Option<Story>,
    /// How each outcome comes about, in compact form.
    pub compacts: Vec<String>,
}

impl Findings {
    fn new(mut examination: Examination, seconds: f64) -> anyhow::Result<Self> {
        examination.outcomes.sort_by_cached_key(|found| found.outcome.to_string());
        let machine = &examination.machine;
        let compacts: Result<Vec<String>, _> =
            examination.outcomes.iter().map(|found| compact(machine, &found.trace)).collect();
        let story = match &examination.trace {
            None => None,
            Some(trace) => {
                let trace = simplest(machine, trace, &examination.outcomes, examination.verdict);
                Some(Story::new(machine, trace)?)
            }
        };
        let compacts = compacts?;
        Ok(Findings { examination, seconds, story, compacts })
    }
}

/// The trace with as few context switches as can be found that ends like this.
fn simplest(
    machine: &Machine,
    trace: &[Action],
    outcomes: &[Found<Outcome, Action>],
    verdict: Verdict,
) -> Vec<Action> {
    // A way into a cycle leads to no outcome; it stays as it is.
    if !outcomes.iter().any(|found| found.trace == trace) {
        return trace.to_vec();
    }
    let alike = |outcome: &Outcome| outcome.verdict == verdict;
    let shorter = if trace.len() > SIMPLE { drawn(machine, alike) } else { Some(trace.to_vec()) };
    let Some(start) = shorter else { return trace.to_vec() };
    // What is much longer is not simpler, and endless programs have executions of any length.
    let effort = Effort { length: 2 * start.len() + 50, ..Effort::default() };
    simplify(machine, &start, alike, &effort).unwrap_or(start)
}

/// Longer traces are not made simpler step by step: that takes too long.
const SIMPLE: usize = 500;

/// A short trace to such an outcome, if a few random executions come upon one. A search in depth
/// finds its outcomes at the end of traces of many thousand steps that say little.
fn drawn(machine: &Machine, alike: impl Fn(&Outcome) -> bool) -> Option<Vec<Action>> {
    let limits = Limits { length: Some(SIMPLE), ..Limits::default() };
    let report = random(machine, 0, 2000, &limits);
    let traces = report.found.into_iter().filter(|found| alike(&found.outcome));
    traces.map(|found| found.trace).min_by_key(Vec::len)
}

fn status(verdict: Verdict) -> Status {
    match verdict {
        Verdict::Terminates | Verdict::Unknown => Status::Clean,
        Verdict::Diverges | Verdict::Leak | Verdict::Deadlock | Verdict::Panic => Status::Found,
    }
}

fn show_fragment(ui: &Ui, subject: &Subject<'_>) -> anyhow::Result<Status> {
    match lambda_chan::check(subject.program) {
        Ok(typing) => {
            let effect = typing.effect.to_string();
            if ui.json {
                ui.document(&serde_json::json!({ "lambda_chan": true, "effect": effect }))?;
            } else {
                ui.line(format!("in λ_chan, with the effect\n{effect}"))?;
            }
            Ok(Status::Clean)
        }
        Err(violations) => {
            if ui.json {
                let reasons: Vec<String> =
                    violations.iter().map(|violation| violation.to_string()).collect();
                ui.document(&serde_json::json!({ "lambda_chan": false, "violations": reasons }))?;
            } else {
                ui.line("not in λ_chan:")?;
                for violation in violations {
                    let (line, column) = violation.span.line_column(subject.source);
                    ui.line(format!("  {line}:{column}: {violation}"))?;
                }
            }
            Ok(Status::Found)
        }
    }
}

/// The number of cores we may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// `512MiB`, `2GiB`, `1000000`.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1usize << 30,
        other => return Err(format!("`{other}` is no unit; write for example 512MiB or 2GiB")),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_digit()) {
        return Err("write for example 512MiB or 2GiB".into());
    }
    let bytes = digits.parse().ok().and_then(|number: usize| number.checked_mul(unit));
    bytes.ok_or_else(|| "more memory than any machine has".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, expected) in [
            ("1000000", 1_000_000),
            ("0", 0),
            ("7b", 7),
            ("3k", 3 << 10),
            ("3KiB", 3 << 10),
            ("512MiB", 512 << 20),
            ("512 mb", 512 << 20),
            ("2GiB", 2 << 30),
            ("2G", 2 << 30),
        ] {
            assert_eq!(parse_size(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_told() {
        let example = "write for example 512MiB or 2GiB";
        for (text, expected) in [
            ("", example.to_string()),
            ("GiB", example.to_string()),
            ("-1", example.to_string()),
            ("1.5GiB", example.to_string()),
            ("1e9", example.to_string()),
            ("x1", example.to_string()),
            ("3 parsecs", format!("`parsecs` is no unit; {example}")),
            ("3é", format!("`é` is no unit; {example}")),
            ("99999999999GiB", "more memory than any machine has".into()),
            ("99999999999999999999999", "more memory than any machine has".into()),
        ] {
            assert_eq!(parse_size(text), Err(expected), "{text}");
        }
    }
}
