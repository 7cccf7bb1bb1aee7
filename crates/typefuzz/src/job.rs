//! A campaign against typecheckers as a queue carries it, and back: workers ask the same oracles at the
//! same versions about programs of the same rules, or they do not take part.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strait_queue::{Job, LaneName, Link, MAX_INDEX};
use strait_toolchain::Launcher;

use crate::error::Error;
use crate::oracle::{Oracle, find};
use crate::recipe::{Fuzzer, GENERATOR_VERSION, Mode, Recipe};

/// The word in a job that means us.
const KIND: &str = "types";

/// What decides what an index means, and who judges it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Settings {
    seed: u64,
    generator: u32,
    mode: String,
    /// Names of features; none for swarm.
    fuzzer: Vec<String>,
    /// Names and versions.
    oracles: Vec<(String, String)>,
}

/// A campaign that this machine can take part in.
pub struct Served {
    /// Makes the programs.
    pub recipe: Recipe,
    /// Judge them.
    pub oracles: Vec<Box<dyn Oracle>>,
}

fn versions(oracles: &[Box<dyn Oracle>]) -> Vec<(String, String)> {
    oracles.iter().map(|oracle| (oracle.name().to_owned(), oracle.version().to_owned())).collect()
}

/// The campaign for a queue.
pub fn job(
    link: &Link,
    lease: Duration,
    recipe: &Recipe,
    oracles: &[Box<dyn Oracle>],
    lane: LaneName,
    count: Option<u64>,
) -> Result<Job, Error> {
    let settings = Settings {
        seed: recipe.seed,
        generator: GENERATOR_VERSION,
        mode: recipe.mode.name().to_owned(),
        fuzzer: match &recipe.fuzzer {
            Fuzzer::Swarm => Vec::new(),
            Fuzzer::Features(names) => names.clone(),
        },
        oracles: versions(oracles),
    };
    let counts = vec![count.unwrap_or(MAX_INDEX).min(MAX_INDEX)];
    Ok(Job::new(link.fresh_name(), KIND, lease, vec![lane], counts, &settings)?)
}

/// What a campaign from a queue needs, found here; `None` if it is no business of ours.
pub fn served(
    job: &Job,
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Served>, Error> {
    let Some(settings) = job.settings_of::<Settings>(KIND)? else { return Ok(None) };
    let cannot = |why: String| -> Error { job.not_here(why).into() };
    let mode = Mode::named(&settings.mode);
    let mode = mode.ok_or_else(|| cannot(format!("there is no mode {}", settings.mode)))?;
    if settings.generator != GENERATOR_VERSION {
        return Err(cannot(format!(
            "it was begun with another version of Strait (rules {}, here {GENERATOR_VERSION})",
            settings.generator
        )));
    }
    let names = settings.oracles.iter().map(|(name, _)| name);
    let oracles: Vec<Box<dyn Oracle>> =
        names.map(|name| find(name, launcher, stop)).collect::<Result<_, _>>()?;
    let here = versions(&oracles);
    if let Some((there, here)) =
        settings.oracles.iter().zip(&here).find(|(there, here)| there != here)
    {
        return Err(cannot(format!("it asks {} {}; here is {}", there.0, there.1, here.1)));
    }
    let recipe = Recipe::new(settings.seed, mode, Fuzzer::named(&settings.fuzzer)?);
    Ok(Some(Served { recipe, oracles }))
}
