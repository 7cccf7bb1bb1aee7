//! From seed and index to a case: which features, which program, what is wrong with it and what it
//! is compared with. Nothing else decides it, so a case can always be made again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use strait_clp::{Program, Searcher, Source, Stream, Tree, Violation, Wish};

use crate::error::Error;
use crate::language::Language;
use crate::rules::RuleSet;

/// Cases that share one choice of features, and one run of a compiler.
pub const BATCH: u64 = 100;
/// The way from an index to a case; grows when that changes, the rules included.
pub const GENERATOR_VERSION: u32 = 5;

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
    /// Other features of a language for each batch.
    Swarm(Language),
    /// These rules.
    Rules {
        /// As the user names them.
        names: Vec<String>,
        /// What they are.
        rules: RuleSet,
    },
}

impl Fuzzer {
    /// From names and paths on the command line; swarm over Rust's features if there are none.
    pub fn named(names: &[String]) -> Result<Fuzzer, Error> {
        Fuzzer::of(names, RuleSet::named)
    }

    /// The same with the texts of the user's files: no file is read.
    pub fn with_files(names: &[String], files: Vec<Source>) -> Result<Fuzzer, Error> {
        Fuzzer::of(names, |names| RuleSet::with_files(names, files))
    }

    /// The user's rule files.
    pub fn files(&self) -> &[Source] {
        match self {
            Fuzzer::Swarm(_) => &[],
            Fuzzer::Rules { rules, .. } => &rules.files,
        }
    }

    fn of(
        names: &[String],
        rules: impl FnOnce(&[&str]) -> Result<RuleSet, Error>,
    ) -> Result<Fuzzer, Error> {
        // Beside the name of a rule file, that of a language says nothing more.
        let is_language = |name: &&str| Language::named(name).is_some();
        let (languages, others): (Vec<&str>, Vec<&str>) =
            names.iter().map(String::as_str).partition(is_language);
        if others.is_empty() {
            let mut languages = languages.into_iter().filter_map(Language::named);
            let first = languages.next().unwrap_or(Language::Rust);
            return match languages.find(|other| *other != first) {
                Some(other) => {
                    let (one, two) = (first.to_string(), other.to_string());
                    Err(Error::TwoLanguages { one, two })
                }
                None => Ok(Fuzzer::Swarm(first)),
            };
        }
        let rules = rules(&others)?;
        Ok(Fuzzer::Rules { names: others.into_iter().map(str::to_owned).collect(), rules })
    }

    /// The rules of a batch.
    pub fn rules(&self, seed: u64, batch: u64) -> Result<RuleSet, Error> {
        match self {
            Fuzzer::Rules { rules, .. } => Ok(rules.clone()),
            Fuzzer::Swarm(language) => RuleSet::built_in(&swarm(*language, seed, batch)),
        }
    }

    /// The language of the programs, unless it is one of the user's own.
    pub fn language(&self) -> Option<Language> {
        match self {
            Fuzzer::Swarm(language) => Some(*language),
            Fuzzer::Rules { rules, .. } => rules.language(),
        }
    }

    /// What it was named.
    pub fn names(&self) -> Vec<String> {
        match self {
            Fuzzer::Swarm(Language::Rust) => Vec::new(),
            Fuzzer::Swarm(language) => vec![language.name().to_owned()],
            Fuzzer::Rules { names, .. } => names.clone(),
        }
    }
}

/// Up to five features for a batch. Two of them follow a random order of all, so that each feature has its
/// turn within as many batches as there are features, twice; the others are drawn.
fn swarm(language: Language, seed: u64, batch: u64) -> Vec<&'static str> {
    let mut stream = Stream::new(seed, batch, 2);
    let features = language.features().iter().skip(1);
    let mut chosen: Vec<&str> = features.map(|(name, _)| *name).collect();
    let all = chosen.clone();
    stream.shuffle(&mut chosen);
    chosen.truncate(stream.between(0, 3) as usize);
    let turn = 2 * batch;
    for place in [turn, turn + 1] {
        let mut order = all.clone();
        Stream::new(seed, place / all.len() as u64, 5).shuffle(&mut order);
        chosen.push(order[(place % all.len() as u64) as usize]);
    }
    chosen
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

/// A set of rules that cases are made from.
#[derive(Debug)]
pub struct System {
    /// The rule files.
    pub rules: RuleSet,
    /// The rules, ready to be searched.
    pub program: Program,
}

/// What a program is to violate.
enum Violated {
    Nothing,
    Any,
    Label(String),
}

/// Labels that are tried before any premise will do.
const LABELS: usize = 10;

/// Makes cases.
#[derive(Debug)]
pub struct Recipe {
    /// The seed.
    pub seed: u64,
    /// What is asked.
    pub mode: Mode,
    /// Where programs come from.
    pub fuzzer: Fuzzer,
    systems: Mutex<HashMap<RuleSet, Arc<System>>>,
}

impl Recipe {
    /// A recipe.
    pub fn new(seed: u64, mode: Mode, fuzzer: Fuzzer) -> Self {
        Recipe { seed, mode, fuzzer, systems: Mutex::default() }
    }

    /// The rules of a batch.
    pub fn system(&self, batch: u64) -> Result<Arc<System>, Error> {
        let rules = self.fuzzer.rules(self.seed, batch)?;
        system(&self.systems, rules)
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
        let size = stream.between(12, 70);
        if !violated {
            return self.case_of(system, index, size, &Violated::Nothing);
        }
        // Each label as often as its weight says, however often its premise is met: premises about
        // plain types are everywhere.
        let labels = drawn(&mut stream, &system.program);
        let tried = labels.into_iter().take(LABELS).map(Violated::Label);
        tried.chain([Violated::Any]).find_map(|which| self.case_of(system, index, size, &which))
    }

    /// Some sizes are hard to hit with some rules: a smaller program is better than none.
    fn case_of(&self, system: &System, index: u64, size: u32, which: &Violated) -> Option<Case> {
        let smaller = |size: &u32| (*size > 8).then(|| size * 2 / 3);
        let sizes = std::iter::successors(Some(size), smaller);
        // Where one label cannot be had, another one may be.
        let most = if matches!(which, Violated::Label(_)) { 2 } else { usize::MAX };
        sizes.take(most).find_map(|size| self.sized_case(system, index, size, which))
    }

    fn sized_case(&self, system: &System, index: u64, size: u32, which: &Violated) -> Option<Case> {
        let wish = Wish {
            size: Some(size),
            rarity: 6,
            steps: 8_000,
            failures: 1_000,
            patience: 40,
            attempts: 60,
            ..Wish::default()
        };
        let wish = match which {
            Violated::Nothing => wish,
            Violated::Any => Wish { violations: 1, ..wish },
            // One that is met seldom should be violated where it is met.
            Violated::Label(label) => {
                Wish { violations: 1, labels: vec![label.clone()], rarity: 2, attempts: 25, ..wish }
            }
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

/// These rules, compiled once.
fn system(
    systems: &Mutex<HashMap<RuleSet, Arc<System>>>,
    rules: RuleSet,
) -> Result<Arc<System>, Error> {
    let mut systems = systems.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(system) = systems.get(&rules) {
        return Ok(Arc::clone(system));
    }
    let program = rules.compile()?;
    let system = Arc::new(System { rules: rules.clone(), program });
    systems.insert(rules, Arc::clone(&system));
    Ok(system)
}

/// Labels in a random order in which one with twice the weight comes first twice as often.
fn drawn(stream: &mut Stream, program: &Program) -> Vec<String> {
    let mut left: Vec<(&str, u32)> =
        program.weighted_labels().filter(|(_, weight)| *weight > 0).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let total: u32 = left.iter().map(|(_, weight)| weight).sum();
        let mut number = stream.below(total);
        let position = left.iter().position(|(_, weight)| {
            let is_here = number < *weight;
            number = number.saturating_sub(*weight);
            is_here
        });
        let (label, _) = left.swap_remove(position.unwrap_or_default());
        order.push(label.to_owned());
    }
    order
}
