//! `strait explore FILE`: every behaviour of a program, its verdict, and a way to what goes wrong.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use strait_calculus::{
    Action, Engine, Examination, ExamineOptions, Machine, Outcome, Program, Recording, Verdict,
    examine, lambda_chan, parse_bytes,
};
use strait_explore::{Bounds, Effort, Found, Schedule, compact, replay, schedule_of, simplify};

use crate::commands::explore_text as text;
use crate::commands::graphs;
use crate::interrupt;
use crate::ui::{Status, Ui};

/// Explore all behaviours of a program: verdict, outcomes, and a trace to what goes wrong
#[derive(Args)]
#[command(after_help = "\
Exit codes: 0 every execution terminates, 1 some execution does not (deadlock, leak, panic, \
diverges), 2 the program or the command line is wrong.")]
pub struct ExploreArgs {
    /// The program, in the language of docs/language.md
    file: PathBuf,
    /// How to search [default: states, or bounded when a bound is given]
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineName>,
    /// At most so many pre-emptive context switches
    #[arg(long, value_name = "N")]
    preemptions: Option<u32>,
    /// A process may poll at most so many times more often than another that could go on
    #[arg(long, value_name = "N")]
    fair: Option<u32>,
    /// At most so many deviations from the deterministic scheduler
    #[arg(long, value_name = "N")]
    delays: Option<u32>,
    /// At most so many steps an execution
    #[arg(long, value_name = "N")]
    length: Option<usize>,
    /// Show every outcome, not only the verdict
    #[arg(long)]
    outcomes: bool,
    /// Visit every state, without partial-order reduction (states)
    #[arg(long)]
    no_reduction: bool,
    /// Take interchangeable processes for equal (states); outcomes are then up to renaming
    #[arg(long)]
    symmetry: bool,
    /// How many executions to draw (random, pct)
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    runs: u64,
    /// Which executions to draw (random, pct)
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many orderings a bug may need (pct)
    #[arg(long, value_name = "N", default_value_t = 3)]
    depth: u32,
    /// Perform this schedule only, and tell it
    #[arg(long, value_name = "SCHEDULE")]
    replay: Option<String>,
    /// Say whether the program lies in the fragment of paper 000, and its effect
    #[arg(long)]
    lambda_chan: bool,
    /// Write the graph of all states for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Write the graph of all states in Aldebaran format, for mCRL2 or CADP
    #[arg(long, value_name = "FILE")]
    aut: Option<PathBuf>,
    /// Memory that the search may use
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_size)]
    memory: usize,
    /// Search threads [default: all cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Every state once, with partial-order reduction
    States,
    /// Every execution up to equivalence
    Dpor,
    /// Executions within bounds
    Bounded,
    /// Random executions
    Random,
    /// Random priorities with few changes
    Pct,
}

impl ExploreArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let file = self.file.display().to_string();
        let bytes = std::fs::read(&self.file).with_context(|| format!("cannot read {file}"))?;
        let source = String::from_utf8_lossy(&bytes);
        let program = parse_bytes(&bytes)
            .map_err(|errors| anyhow::anyhow!("{}", errors.render(&file, &source)))?;
        let subject = Subject { file: &self.file, source: &source, program: &program };
        if self.lambda_chan {
            return show_fragment(ui, &subject);
        }
        if let Some(schedule) = &self.replay {
            return self.run_schedule(ui, &subject, schedule);
        }
        let stop = interrupt::flag()?;
        let options = ExamineOptions {
            engine: self.engine()?,
            outcomes: self.outcomes,
            threads: self.jobs.unwrap_or_else(cores).max(1),
            memory: self.memory,
            max_length: self.length.unwrap_or(100_000),
            stop: Some(&stop),
            ..ExamineOptions::default()
        };
        graphs::write(&program, &options, self.dot.as_deref(), self.aut.as_deref())?;
        let started = std::time::Instant::now();
        let examination = examine(&program, &options);
        let seconds = started.elapsed().as_secs_f64();
        let found = Findings::new(&program, examination, seconds)?;
        if ui.json {
            ui.document(&text::document(&subject, &found))?;
        } else {
            text::print(ui, &subject, &found, self.outcomes)?;
        }
        Ok(status(found.examination.verdict))
    }

    /// The engine that the flags ask for.
    fn engine(&self) -> anyhow::Result<Engine> {
        let bounds = Bounds {
            preemptions: self.preemptions,
            fair: self.fair,
            delays: self.delays,
            length: self.length,
        };
        let bounding =
            self.preemptions.is_some() || self.fair.is_some() || self.delays.is_some();
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
        Ok(match name {
            EngineName::States => {
                Engine::States { reduce: !self.no_reduction, symmetry: self.symmetry }
            }
            EngineName::Dpor => Engine::Dpor,
            EngineName::Bounded if bounds == Bounds::default() => {
                // The bounds of paper 002, section 4.1.
                Engine::Bounded(Bounds { preemptions: Some(2), fair: Some(5), ..bounds })
            }
            EngineName::Bounded => Engine::Bounded(bounds),
            EngineName::Random => Engine::Random { seed: self.seed, runs: self.runs },
            EngineName::Pct => {
                if self.depth == 0 {
                    bail!("--depth must be at least 1");
                }
                Engine::Pct { seed: self.seed, runs: self.runs, depth: self.depth }
            }
        })
    }

    fn run_schedule(&self, ui: &Ui, subject: &Subject<'_>, schedule: &str) -> anyhow::Result<Status> {
        let schedule: Schedule = schedule.parse().context("--replay")?;
        let machine = Machine::new(subject.program, Recording::Everything);
        let replayed = replay(&machine, &schedule).context("--replay")?;
        let worst = replayed.outcomes.iter().map(|outcome| outcome.verdict).max();
        let story = Story::new(&machine, replayed.trace)?;
        if ui.json {
            ui.document(&text::replay_document(subject, &replayed.outcomes, &story))?;
        } else {
            text::print_replay(ui, subject, &replayed.outcomes, &story)?;
        }
        Ok(status(worst.unwrap_or(Verdict::Terminates)))
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
    fn new(program: &Program, mut examination: Examination, seconds: f64) -> anyhow::Result<Self> {
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
        debug_assert!(!program.functions.is_empty());
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
    simplify(machine, trace, alike, &Effort::default()).unwrap_or_else(|_| trace.to_vec())
}

fn status(verdict: Verdict) -> Status {
    if verdict == Verdict::Terminates { Status::Clean } else { Status::Found }
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
fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1usize << 30,
        other => return Err(format!("`{other}` is no unit; write for example 512MiB or 2GiB")),
    };
    let number: usize = digits.parse().map_err(|_| "write for example 512MiB or 2GiB".to_string())?;
    number.checked_mul(unit).ok_or_else(|| "more memory than any machine has".to_string())
}
