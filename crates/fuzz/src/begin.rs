//! A campaign in a folder: begun, or taken up where it was left.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strait_findings::{CampaignId, Store};
use strait_generate::GENERATOR_VERSION;
use strait_queue::Shard;

use crate::error::Error;

/// The way from an index to a program and its runs; grows when that changes.
pub(crate) const RECIPE_VERSION: u32 = 2;

/// What the user asks for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Targets as written; all if none.
    pub targets: Vec<String>,
    /// The seed, if given.
    pub seed: Option<u64>,
    /// Programs of each target, if given.
    pub count: Option<u64>,
    /// Time, if given.
    pub time: Option<Duration>,
    /// The share, if given.
    pub shard: Option<Shard>,
    /// Take up what was left.
    pub resume: bool,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The campaign in the store.
    pub id: CampaignId,
    /// Its seed.
    pub seed: u64,
    /// Targets as written; all if none.
    pub targets: Vec<String>,
    /// Programs of each target.
    pub count: Option<u64>,
    /// Time that is left.
    pub time: Option<Duration>,
    /// Which of the indices.
    pub shard: Shard,
}

/// What a campaign was begun with, as the store keeps it.
#[derive(Serialize, Deserialize)]
struct Settings {
    recipe: u32,
    targets: Vec<String>,
    count: Option<u64>,
    seconds: Option<f64>,
    /// Absent when it is everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

/// Begins or resumes a campaign. `fallback` is the seed of a new one if none is given.
pub fn begin(
    store: &mut Store,
    folder: &Path,
    request: &Request,
    fallback: u64,
) -> Result<Begun, Error> {
    if request.resume {
        resume(store, folder, request)
    } else {
        start(store, folder, request, fallback)
    }
}

fn start(
    store: &mut Store,
    folder: &Path,
    request: &Request,
    fallback: u64,
) -> Result<Begun, Error> {
    let Request { targets, count, time, .. } = request.clone();
    let seed = request.seed.unwrap_or(fallback);
    let seconds = time.map(|time| time.as_secs_f64());
    let shard = request.shard.unwrap_or_default();
    let share = (!shard.is_whole()).then(|| shard.to_string());
    let recipe = RECIPE_VERSION;
    let settings = Settings { recipe, targets: targets.clone(), count, seconds, shard: share };
    let text = serde_json::to_string(&settings)
        .map_err(|error| Error::Bug { what: format!("the settings: {error}") })?;
    let id = store.campaign(seed, GENERATOR_VERSION, &text)?;
    if !store.totals(id)?.is_empty() {
        return Err(Error::AlreadyBegun { folder: folder.to_owned(), seed });
    }
    Ok(Begun { id, seed, targets, count, time, shard })
}

fn resume(store: &mut Store, folder: &Path, request: &Request) -> Result<Begun, Error> {
    let folder = || folder.to_owned();
    let known =
        store.last_campaign()?.ok_or_else(|| Error::NothingToResume { folder: folder() })?;
    if known.generator_version != GENERATOR_VERSION {
        let (found, ours) = (known.generator_version, GENERATOR_VERSION);
        return Err(Error::OtherGenerator { folder: folder(), found, ours });
    }
    let settings: Settings = serde_json::from_str(&known.settings)
        .map_err(|_| Error::NothingToResume { folder: folder() })?;
    if settings.recipe != RECIPE_VERSION {
        let (found, ours) = (settings.recipe, RECIPE_VERSION);
        return Err(Error::OtherGenerator { folder: folder(), found, ours });
    }
    let other =
        |there: String, here: String| Error::OtherCampaign { folder: folder(), there, here };
    if let Some(seed) = request.seed.filter(|seed| *seed != known.seed) {
        return Err(other(format!("seed {}", known.seed), format!("seed {seed}")));
    }
    if !request.targets.is_empty() && request.targets != settings.targets {
        let named = |targets: &[String]| match targets {
            [] => "all targets".to_owned(),
            targets => targets.join(" "),
        };
        return Err(other(named(&settings.targets), named(&request.targets)));
    }
    let shard = match &settings.shard {
        Some(share) => share.parse().map_err(|_| Error::NothingToResume { folder: folder() })?,
        None => Shard::default(),
    };
    if let Some(share) = request.shard.filter(|share| *share != shard) {
        return Err(other(format!("share {shard}"), format!("share {share}")));
    }
    let id = store.campaign(known.seed, known.generator_version, &known.settings)?;
    let planned = settings.seconds.map(Duration::from_secs_f64);
    let left = planned.map(|planned| planned.saturating_sub(store.active(id)));
    Ok(Begun {
        id,
        seed: known.seed,
        targets: settings.targets,
        count: request.count.or(settings.count),
        time: request.time.or(left),
        shard,
    })
}

#[cfg(test)]
mod tests {
    use strait_findings::Batch;

    use super::*;

    #[test]
    fn a_campaign_is_taken_up_with_its_own_settings() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("a store");
        let again = Request { resume: true, ..Request::default() };
        let nothing = begin(&mut store, folder.path(), &again, 1);
        assert!(matches!(nothing, Err(Error::NothingToResume { .. })));

        let request = Request { targets: vec!["std".into()], count: Some(9), ..Request::default() };
        let begun = begin(&mut store, folder.path(), &request, 7).expect("begun");
        assert_eq!((begun.seed, begun.count), (7, Some(9)));
        store.commit(&Batch::new(begun.id, "std", "1", 0..4)).expect("done");

        assert_eq!(begin(&mut store, folder.path(), &again, 8).expect("taken up"), begun);
        let more = Request { count: Some(20), ..again.clone() };
        assert_eq!(begin(&mut store, folder.path(), &more, 8).expect("more").count, Some(20));
        let twice = Request { seed: Some(7), ..request };
        let twice = begin(&mut store, folder.path(), &twice, 8);
        assert!(matches!(twice, Err(Error::AlreadyBegun { seed: 7, .. })));
        let wrong = Request { seed: Some(8), ..again.clone() };
        let wrong = begin(&mut store, folder.path(), &wrong, 8);
        assert!(matches!(wrong, Err(Error::OtherCampaign { .. })));
        let wrong = Request { shard: "1/2".parse().ok(), ..again.clone() };
        let wrong = begin(&mut store, folder.path(), &wrong, 8).expect_err("another share");
        assert!(wrong.to_string().contains("begun with share 0/1, not with share 1/2"), "{wrong}");
        let wrong = Request { targets: vec!["flume".into()], ..again };
        let wrong = begin(&mut store, folder.path(), &wrong, 8).expect_err("another target");
        assert!(wrong.to_string().contains("begun with std, not with flume"), "{wrong}");
    }
}
