//! `strait gen`: programs that terminate under every schedule, their broken siblings, and numbers
//! about both.

pub mod stats;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use strait_calculus::{Program, Verdict, print};
use strait_emit::{Language, emit, writable};
use strait_fuzz::{checked_program, processes};
use strait_generate::{
    Capabilities, Config, DEFAULT_SIZE, Explorer, Generated, Generator, Heuristic, Label, Mutant,
    Stats, Weights, mutant, operations,
};
use strait_queue::Shard;
use strait_runtimes::{Flavour, TargetInfo};

use crate::interrupt;
use crate::progress::{Progress, Quantity};
use crate::ui::{Status, Ui};

/// Generate channel programs that terminate under every schedule
#[derive(Args)]
#[command(after_help = "\
The program with index I of seed N is always the same: on every machine, alone or in a batch.
The weights file is TOML: rule names with numbers, for example `G-SELECT = 20`, after an optional \
`base = \"F\"`; docs/generator.md explains the rules.
Exit codes: 0 done, 1 --prove found a program that may not terminate, 2 usage, input or \
environment error.")]
pub struct GenArgs {
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of programs, starting at index 0 [default: 1]
    #[arg(long, value_name = "K", conflicts_with = "index", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Generate only the program with this index
    #[arg(long, value_name = "I")]
    index: Option<u64>,
    /// Generate only share I of N, such as 0/4 to 3/4: every Nth program, starting at index I
    #[arg(long, value_name = "I/N", conflicts_with = "index")]
    shard: Option<Shard>,
    /// Heuristic: a row of rule weights in Stiévenart and Madsen, OOPSLA 2020, Table 2 [default: F]
    #[arg(long, value_name = "A..F", conflicts_with = "weights")]
    heuristic: Option<String>,
    /// Read the rule weights from a TOML file
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Number of channel operations per program
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SIZE)]
    size: u32,
    /// Features beyond the paper that programs may use: `all`, or names such as close,buffered,integers
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    allow: Vec<String>,
    /// Also generate N mutants of each program, each labelled with the explorer's verdict [default: 3]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "3")]
    mutants: Option<u32>,
    /// Let the explorer prove that every program terminates
    #[arg(long)]
    prove: bool,
    /// Maximum number of states that the explorer visits per program
    #[arg(long, value_name = "N", default_value_t = Explorer::default().max_states)]
    states: u64,
    /// How to write programs
    #[arg(long, value_name = "FORMAT", default_value = "strait")]
    format: Format,
    /// With --format rust: write programs for this crate of `strait targets`. They use only what the
    /// crate promises, and check their results; with --out, each program is a folder with a Cargo.toml
    #[arg(long, value_name = "CRATE", conflicts_with_all = ["allow", "mutants"])]
    target: Option<String>,
    /// Write each program to a file of this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print statistics about the programs instead of the programs
    #[arg(long)]
    stats: bool,
}

/// How programs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// The language of docs/language.md.
    Strait,
    /// The tree of the program.
    Json,
    /// Another language.
    Source(Language),
}

/// All formats, in the order of the help.
const FORMATS: [Format; 2 + Language::ALL.len()] = {
    let mut formats = [Format::Strait; 2 + Language::ALL.len()];
    formats[1] = Format::Json;
    let mut number = 0;
    while number < Language::ALL.len() {
        formats[2 + number] = Format::Source(Language::ALL[number]);
        number += 1;
    }
    formats
};

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Format] {
        &FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, about) = match self {
            Format::Strait => ("strait", "The language of docs/language.md"),
            Format::Json => ("json", "The tree of the program"),
            Format::Source(language) => (language.name(), language.about()),
        };
        Some(PossibleValue::new(name).help(about))
    }
}

impl Format {
    /// The language, if it is one of others.
    fn language(self) -> Option<Language> {
        match self {
            Format::Strait | Format::Json => None,
            Format::Source(language) => Some(language),
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Format::Json => "json",
            other => other.language().map_or("strait", Language::extension),
        }
    }
}

/// What is to be done: the arguments after every check.
struct Plan<'a> {
    arguments: &'a GenArgs,
    generator: Generator,
    explorer: Explorer,
    indices: std::ops::Range<u64>,
    target: Option<(&'static TargetInfo, Flavour)>,
}

/// What was done.
#[derive(Default)]
pub struct Tally {
    pub stats: Stats,
    pub seconds: f64,
    pub mutants: BTreeMap<&'static str, u64>,
    pub proved: u64,
    pub undecided: u64,
    pub refuted: Vec<u64>,
    /// Mutants that cannot be written in the language asked for.
    pub beyond: u64,
}

/// A program on its way out.
struct Item {
    name: String,
    heading: String,
    program: Program,
    facts: Value,
}

impl GenArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let plan = self.plan()?;
        let stop = interrupt::flag_for(ui)?;
        if let Some(folder) = &self.out {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let mut documents = Vec::new();
        let tally = plan.work(ui, &stop, &mut documents)?;
        if self.stats && ui.json {
            ui.document(&stats::document(&tally))?;
        } else if self.stats {
            stats::show(ui, &tally)?;
        } else if ui.json {
            ui.document(&json!({ "seed": self.seed, "generated": documents }))?;
        }
        for index in &tally.refuted {
            ui.note(format!("program {index} may not terminate: please report this as a bug"));
        }
        Ok(if tally.refuted.is_empty() { Status::Clean } else { Status::Found })
    }

    fn plan(&self) -> anyhow::Result<Plan<'_>> {
        let weights = match (&self.weights, &self.heuristic) {
            (Some(file), _) => Weights::from_file(file)?,
            (None, Some(name)) => Heuristic::named(name)?.weights(),
            (None, None) => Heuristic::F.weights(),
        };
        let target = self.target.as_deref().map(|name| self.target_named(name)).transpose()?;
        let capabilities = match target {
            Some((target, flavour)) => target_capabilities(target, flavour)?,
            None => self.capabilities()?,
        };
        let config = Config { weights, capabilities, size: self.size };
        let indices = match self.index {
            Some(u64::MAX) => bail!("--index goes up to {}", u64::MAX - 1),
            Some(index) => index..index + 1,
            None => 0..self.count.unwrap_or(1),
        };
        Ok(Plan {
            arguments: self,
            generator: Generator::new(self.seed, config)?,
            explorer: Explorer { max_states: self.states },
            indices,
            target,
        })
    }

    /// A channel crate, and the processes that it is written with: threads where it has them.
    fn target_named(&self, name: &str) -> anyhow::Result<(&'static TargetInfo, Flavour)> {
        if self.format != Format::Source(Language::Rust) {
            bail!("--target {name} names a Rust crate: add --format rust");
        }
        let target = strait_runtimes::target(name)?;
        let flavours = target.flavours();
        let threads = flavours.iter().find(|flavour| **flavour == Flavour::Threads);
        match threads.or_else(|| flavours.first()) {
            Some(flavour) => Ok((target, *flavour)),
            None => bail!("{name} runs neither threads nor tasks"),
        }
    }

    fn capabilities(&self) -> anyhow::Result<Capabilities> {
        let mut capabilities = Capabilities::default();
        for name in &self.allow {
            if name == "all" {
                capabilities = Capabilities::all();
            } else if capabilities.set(name, true).is_none() {
                let names: Vec<&str> = Capabilities::names().collect();
                bail!("--allow does not know `{name}`; it knows all, {}", names.join(", "));
            }
        }
        let Some(language) = self.format.language() else { return Ok(capabilities) };
        let within = language.restrict(&capabilities);
        let lacks = |name: &&String| {
            let mut wanted = within.clone();
            *name != "all" && wanted.set(name, true).is_some() && wanted != within
        };
        if let Some(name) = self.allow.iter().find(lacks) {
            bail!("{} programs cannot have `{name}`; leave it out of --allow", language.title());
        }
        Ok(within)
    }
}

impl Plan<'_> {
    fn work(
        &self,
        ui: &Ui,
        stop: &Arc<AtomicBool>,
        documents: &mut Vec<Value>,
    ) -> anyhow::Result<Tally> {
        let shard = self.arguments.shard.unwrap_or_default();
        let all = shard.dealt(self.indices.end - self.indices.start);
        let silent = self.arguments.stats && self.arguments.out.is_none();
        // Programs that run over the screen are progress enough.
        let progress = (silent || ui.json || self.arguments.out.is_some())
            .then(|| Progress::start(ui, Quantity { name: "programs", all: Some(all) }, stop));
        let started = Instant::now();
        let mut tally = Tally::default();
        // Programs of a share go into files or to the screen, so it is no matter that they lie apart.
        for index in self.indices.clone().filter(|index| shard.deals(*index)) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let generated = self.generator.generate_proved(index, &self.explorer);
            tally.stats.add(&generated);
            if let Some(progress) = &progress {
                progress.count().store(tally.stats.programs, Ordering::Relaxed);
            }
            if self.arguments.prove {
                self.prove(index, &generated, &mut tally);
            }
            if silent && self.arguments.mutants.is_none() {
                continue;
            }
            for item in self.items(index, generated, &mut tally) {
                if !silent {
                    self.deliver(ui, item, documents)?;
                }
            }
        }
        tally.seconds = started.elapsed().as_secs_f64();
        drop(progress);
        if let (Some(language), 1..) = (self.arguments.format.language(), tally.beyond) {
            let (count, title) = (tally.beyond, language.title());
            let mutants = if count == 1 { "mutant uses" } else { "mutants use" };
            ui.note(format!("{count} {mutants} what {title} does not have: left out"));
        }
        if tally.stats.programs < all {
            ui.note(format!("stopped after {} of {all} programs", tally.stats.programs));
        }
        Ok(tally)
    }

    fn prove(&self, index: u64, generated: &Generated, tally: &mut Tally) {
        match self.explorer.verdict(&generated.program) {
            (Verdict::Terminates, _) => tally.proved += 1,
            (Verdict::Unknown, _) => tally.undecided += 1,
            _ => tally.refuted.push(index),
        }
    }

    /// The program and its mutants.
    fn items(&self, index: u64, generated: Generated, tally: &mut Tally) -> Vec<Item> {
        let seed = self.arguments.seed;
        let program = generated.program;
        let mut items = Vec::new();
        for number in 0..self.arguments.mutants.unwrap_or(0) {
            if let Some(mutant) = mutant(&program, seed, index, number) {
                if self.is_beyond(&mutant.program) {
                    tally.beyond += 1;
                    continue;
                }
                let label = mutant.label(&self.explorer);
                *tally.mutants.entry(label.verdict.word()).or_default() += 1;
                items.push(mutant_item(seed, index, number, mutant, &label));
            }
        }
        let size = operations(&program);
        let original = Item {
            name: format!("{seed}-{index}"),
            heading: format!("seed {seed}, index {index}, {size} operations"),
            facts: json!({ "index": index, "size": size }),
            program,
        };
        items.insert(0, original);
        items
    }

    /// A mutation may lead beyond what the language has, such as to a channel without bound.
    fn is_beyond(&self, program: &Program) -> bool {
        let language = self.arguments.format.language();
        let written = language.map(|language| emit(language, program));
        matches!(written, Some(Err(strait_emit::Error::Beyond { .. })))
    }

    /// Writes a program where it belongs: to a file, into the document or on the screen.
    fn deliver(&self, ui: &Ui, item: Item, documents: &mut Vec<Value>) -> anyhow::Result<()> {
        let arguments = self.arguments;
        if let Some(folder) = &arguments.out {
            let path = self.write(folder, &item)?;
            if ui.json && !arguments.stats {
                documents.push(with(item.facts, "file", json!(path)));
            }
        } else if ui.json {
            let body = match arguments.format {
                Format::Strait => ("source", json!(print(&item.program))),
                Format::Json => ("program", serde_json::to_value(&item.program)?),
                _ => ("source", json!(self.text(&item)?)),
            };
            documents.push(with(item.facts, body.0, body.1));
        } else {
            ui.raw(self.text(&item)?)?;
        }
        Ok(())
    }

    fn write(&self, folder: &Path, item: &Item) -> anyhow::Result<PathBuf> {
        if let Some((target, flavour)) = self.target {
            let place = folder.join(&item.name);
            for (path, text) in checked_program(target, &item.heading, &item.program, flavour)? {
                let path = place.join(path);
                let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
                made.and_then(|()| std::fs::write(&path, text))
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
            return Ok(place);
        }
        let extension = self.arguments.format.extension();
        let path = folder.join(format!("{}.{extension}", item.name));
        std::fs::write(&path, self.text(item)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn text(&self, item: &Item) -> anyhow::Result<String> {
        if let Some((target, flavour)) = self.target {
            let files = checked_program(target, &item.heading, &item.program, flavour)?;
            let main = files.into_iter().find(|(path, _)| path.ends_with(".rs"));
            return Ok(main.map(|(_, text)| text).unwrap_or_default());
        }
        if let Some(language) = self.arguments.format.language() {
            let source = emit(language, &item.program)?;
            return Ok(format!("{} {}\n{source}", language.comment(), item.heading));
        }
        Ok(match self.arguments.format {
            Format::Strait => format!("// {}\n{}", item.heading, print(&item.program)),
            _ => format!("{}\n", serde_json::to_string(&item.program)?),
        })
    }
}

/// What programs for a crate may contain.
fn target_capabilities(target: &TargetInfo, flavour: Flavour) -> anyhow::Result<Capabilities> {
    let promised = target.capabilities(flavour);
    let written = promised.and_then(|all| writable(target.name, processes(flavour), &all));
    written.with_context(|| {
        format!("{} cannot be written as plain Rust: its operations are not known", target.name)
    })
}

fn mutant_item(seed: u64, index: u64, number: u32, mutant: Mutant, label: &Label) -> Item {
    let Mutant { program, mutation, statement } = mutant;
    let (verdict, coverage) = (label.verdict.word(), label.coverage.word());
    Item {
        name: format!("{seed}-{index}-{number}-{mutation}-{verdict}"),
        heading: format!(
            "seed {seed}, index {index}, mutant {number}: {mutation} `{statement}`; {verdict}, {coverage}"
        ),
        facts: json!({
            "index": index,
            "mutant": number,
            "mutation": mutation.name(),
            "statement": statement,
            "verdict": verdict,
            "coverage": coverage,
        }),
        program,
    }
}

/// An object with one field more.
fn with(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}
