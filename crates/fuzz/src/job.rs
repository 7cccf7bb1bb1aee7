//! A fuzz campaign as a queue carries it, and back: workers fuzz the same targets at the same versions
//! with the same generator, or they do not take part.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use strait_generate::GENERATOR_VERSION;
use strait_queue::{Job, Link, MAX_INDEX};

use crate::begin::RECIPE_VERSION;
use crate::campaign::lane_names;
use crate::error::Error;
use crate::lane::{Lane, Lanes};

/// The word in a job that means us.
const KIND: &str = "fuzz";

/// What decides what an index means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Settings {
    seed: u64,
    generator: u32,
    recipe: u32,
    /// The lanes as a user would ask for them, versions included.
    asked: Vec<String>,
}

/// A campaign that this machine can take part in.
#[derive(Clone, Debug)]
pub struct Served {
    /// The seed.
    pub seed: u64,
    /// The lanes.
    pub lanes: Vec<Lane>,
}

/// The campaign for a queue.
pub fn job(
    link: &Link,
    lease: Duration,
    seed: u64,
    lanes: &[Lane],
    count: Option<u64>,
) -> Result<Job, Error> {
    let settings = Settings {
        seed,
        generator: GENERATOR_VERSION,
        recipe: RECIPE_VERSION,
        asked: lanes.iter().map(Lane::asked).collect(),
    };
    let counts = vec![count.unwrap_or(MAX_INDEX).min(MAX_INDEX); lanes.len()];
    Ok(Job::new(link.fresh_name(), KIND, lease, lane_names(lanes), counts, &settings)?)
}

/// The lanes of a campaign from a queue, made here; `None` if it is no business of ours.
pub fn lanes_of(
    job: &Job,
    lanes: &mut Lanes<'_>,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<Served>, Error> {
    let Some(settings) = job.settings_of::<Settings>(KIND)? else { return Ok(None) };
    let cannot = |why: String| -> Error { job.not_here(why).into() };
    let ours = (GENERATOR_VERSION, RECIPE_VERSION);
    if (settings.generator, settings.recipe) != ours {
        return Err(cannot(format!(
            "it was begun with another version of Strait (generator {}, recipe {}; here {}, {})",
            settings.generator, settings.recipe, ours.0, ours.1
        )));
    }
    let made = lanes.resolve(&settings.asked, tell)?;
    let (there, here) = (&job.lanes, lane_names(&made));
    if *there != here {
        let told = |names: &[strait_queue::LaneName]| {
            let words: Vec<String> =
                names.iter().map(|name| format!("{} {}", name.target, name.version)).collect();
            words.join(", ")
        };
        return Err(cannot(format!("it fuzzes {}; here are {}", told(there), told(&here))));
    }
    Ok(Some(Served { seed: settings.seed, lanes: made }))
}
