//! From an index to a piece of work: the program, its plan, and how it is to be run.

use std::sync::atomic::{AtomicBool, Ordering};

use strait_calculus::Program;
use strait_generate::{Config, Explorer, Generator, Heuristic};
use strait_runtimes::{Flavour, Payload, Perturbation, Plan, RunOptions, Style, lower};

use crate::error::Error;
use crate::fuzz_target::{FuzzTarget, Way};
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
    is_compiled: bool,
    /// One for each flavour and size.
    generators: Vec<((Flavour, u32), Generator)>,
    prover: Explorer,
}

impl Maker {
    /// For the target's capabilities.
    pub fn new(seed: u64, target: &FuzzTarget) -> Result<Maker, Error> {
        let mut generators = Vec::new();
        for (flavour, capabilities) in &target.flavours {
            for size in Recipe::sizes() {
                let weights = Heuristic::F.weights();
                let config = Config { weights, capabilities: capabilities.clone(), size };
                let generator = Generator::new(seed, config).map_err(|source| {
                    Error::NoPrograms { target: target.target.clone(), source }
                })?;
                generators.push(((*flavour, size), generator));
            }
        }
        let flavours = target.flavours.iter().map(|(flavour, _)| *flavour).collect();
        let prover = Explorer { max_states: PROOF_STATES };
        let is_compiled = matches!(target.way, Way::Compiler(_));
        Ok(Maker { seed, flavours, is_compiled, generators, prover })
    }

    /// The work of an index; `None` if the flag was set meanwhile, since what it is then depends on time.
    pub fn make(&self, index: u64, stop: &AtomicBool) -> Result<Option<Work>, Error> {
        let recipe = Recipe::of(self.seed, index, &self.flavours);
        let key = (recipe.options.flavour, recipe.size);
        let generator = self.generators.iter().find(|(known, _)| *known == key);
        let (_, generator) =
            generator.ok_or_else(|| Error::Bug { what: format!("no generator for {key:?}") })?;
        let generated = if recipe.dwells {
            generator.gadget(index)
        } else {
            generator.generate_proved(index, &self.prover.until(stop))
        };
        if stop.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let program = generated.program;
        let plan = lower(&program)?;
        let options = if self.is_compiled { compiled(recipe.options) } else { recipe.options };
        Ok(Some(Work { index, program, plan, options }))
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
