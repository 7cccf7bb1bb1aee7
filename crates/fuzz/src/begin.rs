//! A campaign in a folder: begun, or taken up where it was left.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strait_findings::{CampaignId, Store};
use strait_generate::GENERATOR_VERSION;
use strait_queue::{Extent, Folder, Shard};

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
    #[serde(flatten)]
    extent: Extent,
}

/// The campaigns of a folder that are ours.
fn folder<'a>(store: &'a mut Store, path: &'a Path) -> Folder<'a> {
    Folder { store, path, command: "strait fuzz", generator: GENERATOR_VERSION }
}

/// Begins or resumes a campaign. `fallback` is the seed of a new one if none is given.
pub fn begin(
    store: &mut Store,
    path: &Path,
    request: &Request,
    fallback: u64,
) -> Result<Begun, Error> {
    let folder = folder(store, path);
    if request.resume { resume(folder, request) } else { start(folder, request, fallback) }
}

fn start(mut folder: Folder<'_>, request: &Request, fallback: u64) -> Result<Begun, Error> {
    let Request { targets, count, time, .. } = request.clone();
    let seed = request.seed.unwrap_or(fallback);
    let shard = request.shard.unwrap_or_default();
    let extent = Extent::new(count, time, shard);
    let settings = Settings { recipe: RECIPE_VERSION, targets: targets.clone(), extent };
    let id = folder.start(seed, &settings)?;
    Ok(Begun { id, seed, targets, count, time, shard })
}

fn resume(mut folder: Folder<'_>, request: &Request) -> Result<Begun, Error> {
    let (known, Settings { recipe, targets, extent }) = folder.last()?;
    folder.made_by(recipe, RECIPE_VERSION)?;
    let shard = extent.shard().ok_or_else(|| folder.nothing())?;
    let named = |targets: &[String]| match targets {
        [] => "all targets".to_owned(),
        targets => targets.join(" "),
    };
    let given = (!request.targets.is_empty()).then(|| named(&request.targets));
    folder.same(format!("seed {}", known.seed), request.seed.map(|seed| format!("seed {seed}")))?;
    folder.same(named(&targets), given)?;
    folder.same(format!("share {shard}"), request.shard.map(|share| format!("share {share}")))?;
    let (id, spent) = folder.resume(&known)?;
    Ok(Begun {
        id,
        seed: known.seed,
        targets,
        count: request.count.or(extent.count()),
        time: request.time.or_else(|| extent.time_left(spent)),
        shard,
    })
}

#[cfg(test)]
mod tests {
    use strait_findings::Batch;

    use super::*;
    use strait_queue::CannotBegin;

    fn why(begun: Result<Begun, Error>) -> CannotBegin {
        match begun {
            Err(Error::Queue(strait_queue::Error::CannotBegin(why))) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_campaign_is_taken_up_with_its_own_settings() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("a store");
        let again = Request { resume: true, ..Request::default() };
        let nothing = begin(&mut store, folder.path(), &again, 1);
        assert!(matches!(why(nothing), CannotBegin::NothingToResume { .. }));

        let request = Request { targets: vec!["std".into()], count: Some(9), ..Request::default() };
        let begun = begin(&mut store, folder.path(), &request, 7).expect("begun");
        assert_eq!((begun.seed, begun.count), (7, Some(9)));
        store.commit(&Batch::new(begun.id, "std", "1", 0..4)).expect("done");

        assert_eq!(begin(&mut store, folder.path(), &again, 8).expect("taken up"), begun);
        let more = Request { count: Some(20), ..again.clone() };
        assert_eq!(begin(&mut store, folder.path(), &more, 8).expect("more").count, Some(20));
        let twice = Request { seed: Some(7), ..request };
        let twice = begin(&mut store, folder.path(), &twice, 8);
        assert!(matches!(why(twice), CannotBegin::AlreadyBegun { seed: 7, .. }));
        let wrong = Request { seed: Some(8), ..again.clone() };
        let wrong = begin(&mut store, folder.path(), &wrong, 8);
        assert!(matches!(why(wrong), CannotBegin::OtherCampaign { .. }));
        let wrong = Request { shard: "1/2".parse().ok(), ..again.clone() };
        let wrong = begin(&mut store, folder.path(), &wrong, 8).expect_err("another share");
        assert!(wrong.to_string().contains("begun with share 0/1, not with share 1/2"), "{wrong}");
        let wrong = Request { targets: vec!["flume".into()], ..again };
        let wrong = begin(&mut store, folder.path(), &wrong, 8).expect_err("another target");
        assert!(wrong.to_string().contains("begun with std, not with flume"), "{wrong}");
    }
}
