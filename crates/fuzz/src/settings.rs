//! What a campaign against channel runtimes is about: what a user asks for, as a folder keeps it, and what
//! workers of a queue need to know. Workers fuzz the same targets at the same versions with the same
//! generator, or they do not take part.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use strait_campaign::{Mismatch, Servable, Turn, Unit};
use strait_generate::GENERATOR_VERSION;
use strait_queue::TargetVersion;
use strait_toolchain::Launcher;

use crate::error::Error;
use crate::fuzz_target::TargetFinder;
use crate::workload::{Programs, target_versions};

/// The way from an index to a program and its runs; grows when that changes.
pub(crate) const RECIPE_VERSION: u32 = 4;

/// What a campaign was begun with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    recipe: u32,
    /// Targets as the user wrote them; all if there are none.
    pub targets: Vec<String>,
    /// The working tree that crates come from, if they do not come from the registry.
    #[serde(default)]
    pub tree: Option<PathBuf>,
}

impl Settings {
    /// For these targets.
    pub fn new(targets: Vec<String>) -> Self {
        Settings { recipe: RECIPE_VERSION, targets, tree: None }
    }

    /// In this working tree.
    pub fn in_tree(self, tree: Option<PathBuf>) -> Self {
        Settings { tree, ..self }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings::new(Vec::new())
    }
}

impl strait_campaign::Settings for Settings {
    const KIND: &'static str = "fuzz";
    const COMMAND: &'static str = "strait fuzz";
    const GENERATOR: u32 = GENERATOR_VERSION;

    fn resumed(self, given: &Self) -> Result<Self, Mismatch> {
        let (found, ours) = (self.recipe, RECIPE_VERSION);
        if found != ours {
            return Err(Mismatch::Version { found, ours });
        }
        let given_tree = given.tree.is_some().then_some(&given.tree);
        let given = (!given.targets.is_empty()).then_some(&given.targets);
        Mismatch::check(&self.targets, given, |targets| match targets.as_slice() {
            [] => "all targets".to_owned(),
            targets => targets.join(" "),
        })?;
        Mismatch::check(&self.tree, given_tree, |tree| match tree {
            None => "no working tree".to_owned(),
            Some(tree) => tree.display().to_string(),
        })?;
        Ok(self)
    }
}

/// What decides what an index means to workers of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobSettings {
    pub(crate) seed: u64,
    pub(crate) generator: u32,
    pub(crate) recipe: u32,
    /// The targets as a user would ask for them, versions included.
    pub(crate) asked: Vec<String>,
}

/// Takes part in campaigns of a queue.
pub struct Fuzzing<'a> {
    launcher: &'a Launcher,
    finder: TargetFinder<'a>,
}

impl<'a> Fuzzing<'a> {
    /// With targets that are found or built by `finder`.
    pub fn new(launcher: &'a Launcher, finder: TargetFinder<'a>) -> Self {
        Fuzzing { launcher, finder }
    }
}

impl<'a> Servable for Fuzzing<'a> {
    type Workload = Programs<'a>;
    const RUNS_FOREIGN_CODE: bool = false;
    const UNIT: Unit = Unit::Programs;

    fn prepare(&mut self, turn: &Turn<'_>) -> Result<Programs<'a>, Error> {
        let job = turn.job;
        let settings: JobSettings = job.settings()?;
        let cannot = |why: String| -> Error { job.not_here(why).into() };
        let ours = (GENERATOR_VERSION, RECIPE_VERSION);
        if (settings.generator, settings.recipe) != ours {
            return Err(cannot(format!(
                "it was begun with another version of Strait (generator {}, recipe {}; here {}, {})",
                settings.generator, settings.recipe, ours.0, ours.1
            )));
        }
        let made = self.finder.resolve(&settings.asked, &mut |text| (turn.say)(text.to_owned()))?;
        let (there, here) = (&job.targets, target_versions(&made));
        if *there != here {
            let names = |names: &[TargetVersion]| {
                let words: Vec<String> =
                    names.iter().map(|name| format!("{} {}", name.target, name.version)).collect();
                words.join(", ")
            };
            return Err(cannot(format!("it fuzzes {}; here are {}", names(there), names(&here))));
        }
        Programs::new(self.launcher, made, settings.seed)
    }
}
