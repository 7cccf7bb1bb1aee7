//! From seed and index to a case: which features, which program, what is wrong with it and what it
//! is compared with. Nothing else decides it, so a case can always be made again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use strait_clp::{Program, Searcher, Stream, Tree, Violation, Wish};

use crate::error::Error;
use crate::rules::{self, FEATURES};

/// Cases that share one choice of features, and one run of a compiler.
pub const BATCH: u64 = 100;
/// The way from an index to a case; grows when that changes, the rules included.
pub const GENERATOR_VERSION: u32 = 4;

/// What is asked of the typechecker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Well-typed programs have to be accepted.
    Precision,
    /// Programs with one violated premise have to be rejected.
    Soundness,
    /// Programs that mean the same have to be treated alike.
    Consistency,
}

impl Mode {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Precision => "precision",
            Mode::Soundness => "soundness",
            Mode::Consistency => "consistency",
        }
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Mode> {
        [Mode::Precision, Mode::Soundness, Mode::Consistency]
            .into_iter()
            .find(|mode| mode.name() == name)
    }
}

/// Where programs come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fuzzer {
    /// Other features for each batch.
    Swarm,
    /// These features.
    Features(Vec<String>),
}

impl Fuzzer {
    /// From names on the command line; swarm if there are none.
    pub fn named(names: &[String]) -> Result<Fuzzer, Error> {
        let others: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| *name != "swarm").collect();
        if others.is_empty() {
            return Ok(Fuzzer::Swarm);
        }
        rules::closure(&others)?;
        Ok(Fuzzer::Features(others.into_iter().map(str::to_owned).collect()))
    }

    /// The features of a batch.
    pub fn features(&self, seed: u64, batch: u64) -> Result<Vec<&'static str>, Error> {
        match self {
            Fuzzer::Features(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                rules::closure(&names)
            }
            Fuzzer::Swarm => {
                let mut stream = Stream::new(seed, batch, 2);
                let mut chosen: Vec<&str> =
                    FEATURES.iter().skip(1).map(|(name, _)| *name).collect();
                stream.shuffle(&mut chosen);
                chosen.truncate(stream.between(1, 5) as usize);
                rules::closure(&chosen)
            }
        }
    }
}

/// A program, and a second one if two are compared.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its index.
    pub index: u64,
    /// The program as a term.
    pub tree: Tree,
    /// The same with something changed that makes no difference.
    pub other: Option<Other>,
    /// The premises that are violated.
    pub violations: Vec<Violation>,
}

/// The program that the first one is compared with.
#[derive(Clone, Debug)]
pub struct Other {
    /// The program as a term.
    pub tree: Tree,
    /// The rewrite that made it.
    pub rewrite: String,
}

/// A set of rules that cases are made from, with its features.
#[derive(Debug)]
pub struct System {
    /// The features.
    pub features: Vec<&'static str>,
    /// The rules.
    pub program: Program,
}

/// Makes cases.
#[derive(Debug)]
pub struct Recipe {
    /// The seed.
    pub seed: u64,
    /// What is asked.
    pub mode: Mode,
    /// Where programs come from.
    pub fuzzer: Fuzzer,
    systems: Mutex<HashMap<Vec<&'static str>, Arc<System>>>,
}

impl Recipe {
    /// A recipe.
    pub fn new(seed: u64, mode: Mode, fuzzer: Fuzzer) -> Self {
        Recipe { seed, mode, fuzzer, systems: Mutex::default() }
    }

    /// The rules of a batch.
    pub fn system(&self, batch: u64) -> Result<Arc<System>, Error> {
        let features = self.fuzzer.features(self.seed, batch)?;
        system(&self.systems, features)
    }

    /// The case of an index; `None` when the search gave up or nothing could be rewritten.
    pub fn case(&self, system: &System, index: u64) -> Option<Case> {
        let mut stream = Stream::new(self.seed, index, 3);
        // Ill-typed programs have to be treated alike as well.
        let violated = match self.mode {
            Mode::Precision => false,
            Mode::Soundness => true,
            Mode::Consistency => stream.chance(1, 4),
        };
        // Some sizes are hard to hit with some rules: a smaller program is better than none.
        let size = stream.between(12, 70);
        let sizes = std::iter::successors(Some(size), |size| (*size > 8).then(|| size * 2 / 3));
        sizes.into_iter().find_map(|size| self.sized_case(system, index, violated, size))
    }

    fn sized_case(&self, system: &System, index: u64, violated: bool, size: u32) -> Option<Case> {
        let wish = Wish {
            size: Some(size),
            violations: u32::from(violated),
            rarity: 6,
            steps: 8_000,
            failures: 1_000,
            patience: 40,
            attempts: 60,
            ..Wish::default()
        };
        let mut searcher = Searcher::new(&system.program, wish);
        let sample = searcher.sample(self.seed, index)?;
        let other = match self.mode {
            Mode::Consistency => Some(self.rewrite(&mut searcher, &sample.tree, index)?),
            _ => None,
        };
        Some(Case { index, tree: sample.tree, other, violations: sample.violations })
    }

    /// One to three rewrites of kinds drawn at random, at places drawn at random.
    fn rewrite(&self, searcher: &mut Searcher<'_>, tree: &Tree, index: u64) -> Option<Other> {
        let mut stream = Stream::new(self.seed, index, 4);
        let mut names: Vec<&str> = searcher.program().rewrites().collect();
        names.dedup();
        stream.shuffle(&mut names);
        let wanted = stream.between(1, 2) as usize;
        let (mut tree, mut applied) = (tree.clone(), Vec::new());
        for (round, name) in names.into_iter().enumerate() {
            let mut results =
                searcher.rewritings(&tree, name, self.seed, index * 64 + round as u64);
            if !results.is_empty() {
                tree = results.swap_remove(stream.below(results.len() as u32) as usize);
                applied.push(name);
            }
            if applied.len() == wanted {
                break;
            }
        }
        (!applied.is_empty()).then(|| Other { tree, rewrite: applied.join("+") })
    }
}

/// The rules with these features, compiled once.
fn system(
    systems: &Mutex<HashMap<Vec<&'static str>, Arc<System>>>,
    features: Vec<&'static str>,
) -> Result<Arc<System>, Error> {
    let mut systems = systems.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(system) = systems.get(&features) {
        return Ok(Arc::clone(system));
    }
    let program = rules::rust(&features)?;
    let system = Arc::new(System { features: features.clone(), program });
    systems.insert(features, Arc::clone(&system));
    Ok(system)
}
