//! From an index to a piece of work: the program, its plan, and how it is to be run.

use std::sync::atomic::{AtomicBool, Ordering};

use strait_calculus::Program;
use strait_generate::{
    Capabilities, Config, DEFAULT_SIZE, Explorer, Generated, Generator, Heuristic, RuleCounts,
};
use strait_runtimes::{Flavour, Payload, Perturbation, Plan, Promise, RunOptions, Style, lower};

use crate::error::Error;
use crate::fuzz_target::{Backend, FuzzTarget};
use crate::recipe::{REPETITIONS, Recipe};

/// States that a proof of termination may take. Candidates that need more are dropped, so this
/// decides what an index means.
const PROOF_STATES: u64 = 20_000;

/// A program that is to be run, and how.
#[derive(Clone, Debug)]
pub struct Work {
    /// The index it was made from.
    pub index: u64,
    /// The program.
    pub program: Program,
    /// The program as workers read it.
    pub plan: Plan,
    /// How it is run.
    pub options: RunOptions,
    /// How often the generator applied each of its rules.
    pub rules: RuleCounts,
}

impl Work {
    /// The same program, run in another way.
    pub fn with(&self, options: RunOptions) -> Work {
        Work { options, ..self.clone() }
    }
}

/// Makes the work of one target.
#[derive(Debug)]
pub struct Maker {
    seed: u64,
    flavours: Vec<Flavour>,
    /// For each flavour about some of whose operations the target promises little.
    loose: Vec<(Flavour, Generator)>,
    is_compiled: bool,
    /// One for each flavour and size.
    generators: Vec<((Flavour, u32), Generator)>,
    prover: Explorer,
}

impl Maker {
    /// For the target's capabilities.
    pub fn new(seed: u64, target: &FuzzTarget) -> Result<Maker, Error> {
        let generator = |capabilities: &Capabilities, size: u32| {
            let (weights, capabilities) = (Heuristic::F.weights(), capabilities.clone());
            let made = Generator::new(seed, Config { weights, capabilities, size });
            made.map_err(|source| Error::NoPrograms { target: target.target.clone(), source })
        };
        let mut generators = Vec::new();
        for (flavour, capabilities) in &target.flavours {
            for size in Recipe::sizes() {
                generators.push(((*flavour, size), generator(capabilities, size)?));
            }
        }
        let mut loose = Vec::new();
        for (flavour, capabilities) in &target.loose {
            loose.push((*flavour, generator(capabilities, DEFAULT_SIZE)?));
        }
        let flavours = target.flavours.iter().map(|(flavour, _)| *flavour).collect();
        let prover = Explorer { max_states: PROOF_STATES };
        let is_compiled = matches!(target.backend, Backend::Compiler(_));
        Ok(Maker { seed, flavours, loose, is_compiled, generators, prover })
    }

    /// The work of an index; `None` if the flag was set meanwhile, since what it is then depends on time.
    pub fn make(&self, index: u64, stop: &AtomicBool) -> Result<Option<Work>, Error> {
        let loose: Vec<Flavour> = self.loose.iter().map(|(flavour, _)| *flavour).collect();
        let recipe = Recipe::of(self.seed, index, &self.flavours, &loose);
        let generated = match recipe.options.promise {
            Promise::Full => self.promised(index, &recipe, stop)?,
            Promise::Loose => self.quitting(index, &recipe)?,
        };
        if stop.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let program = generated.program;
        let plan = lower(&program)?;
        let options = if self.is_compiled { compiled(recipe.options) } else { recipe.options };
        Ok(Some(Work { index, program, plan, options, rules: generated.rules }))
    }
}

impl Maker {
    /// A program of which every outcome is promised or refuted.
    fn promised(&self, index: u64, recipe: &Recipe, stop: &AtomicBool) -> Result<Generated, Error> {
        let key = (recipe.options.flavour, recipe.size);
        let generator = self.generators.iter().find(|(known, _)| *known == key);
        let (_, generator) =
            generator.ok_or_else(|| Error::Bug { what: format!("no generator for {key:?}") })?;
        Ok(if recipe.dwells {
            generator.gadget(index)
        } else {
            generator.generate_proved(index, &self.prover.until(stop))
        })
    }

    /// A program that ends whatever becomes of the operations that are given up.
    fn quitting(&self, index: u64, recipe: &Recipe) -> Result<Generated, Error> {
        let flavour = recipe.options.flavour;
        let generator = self.loose.iter().find(|(known, _)| *known == flavour);
        let generated = generator.and_then(|(_, generator)| generator.quitting(index));
        generated.ok_or_else(|| Error::Bug { what: format!("no program for {flavour:?}") })
    }
}

/// Compiled programs know one way to be run, and all that are compiled together are run as often.
fn compiled(options: RunOptions) -> RunOptions {
    RunOptions {
        style: Style::Plain,
        payload: Payload::Plain,
        perturbation: Perturbation::None,
        repetitions: REPETITIONS,
        ..options
    }
}
