//! A campaign in a folder: begun, or resumed where it was left. In: a store and what the user asks for.
//! Out: the campaign's name in the store and what it has to do. What is given again at a resumption must be
//! what the campaign was begun with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use strait_findings::{CampaignId, Known, Store};
use strait_queue::Shard;

use crate::error::Error;

/// What decides what the indices of a campaign mean, besides its seed.
pub trait Settings: Serialize + DeserializeOwned {
    /// The name of the kind, as the store keeps it: `fuzz`.
    const KIND: &'static str;
    /// The command that begins such campaigns: `strait fuzz`.
    const COMMAND: &'static str;
    /// The version of what makes the programs.
    const GENERATOR: u32;
    /// May a campaign that has done some work be begun again, from its beginning?
    fn is_repeatable(&self) -> bool {
        false
    }

    /// The settings that a campaign is resumed with: those it was begun with, if what was `given` now does
    /// not contradict them.
    fn resumed(self, given: &Self) -> Result<Self, Mismatch>;
}

/// A campaign cannot be resumed with what was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It was begun with something else.
    Setting {
        /// What it was begun with.
        there: String,
        /// What was given now.
        here: String,
    },
    /// What it works on has changed, so that what was done says nothing about what is there now.
    Code {
        /// What has changed: `the code of the tests`.
        what: &'static str,
    },
    /// It was begun by another version of Strait.
    Version {
        /// Its version.
        found: u32,
        /// Ours.
        ours: u32,
    },
}

impl Mismatch {
    /// Compares a setting with what was given for it, if anything was; `show` puts it into words.
    pub fn check<T: PartialEq>(
        there: T,
        here: Option<T>,
        show: impl Fn(&T) -> String,
    ) -> Result<(), Mismatch> {
        match here {
            Some(here) if here != there => {
                Err(Mismatch::Setting { there: show(&there), here: show(&here) })
            }
            _ => Ok(()),
        }
    }
}

/// What the user asks for.
#[derive(Clone, Debug, Default)]
pub struct Request<S> {
    /// What indices mean.
    pub settings: S,
    /// The seed, if given.
    pub seed: Option<u64>,
    /// Indices of each target, if given.
    pub count: Option<u64>,
    /// Time, if given.
    pub time: Option<Duration>,
    /// The share, if given.
    pub shard: Option<Shard>,
    /// Resume the last campaign of the folder.
    pub resume: bool,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun<S> {
    /// The campaign in the store.
    pub id: CampaignId,
    /// What indices mean.
    pub settings: S,
    /// Its seed.
    pub seed: u64,
    /// Indices of each target, if limited.
    pub count: Option<u64>,
    /// Time that is left, if limited.
    pub time: Option<Duration>,
    /// Which of the indices.
    pub shard: Shard,
}

/// What a campaign was begun with, as the store keeps it.
#[derive(Serialize, Deserialize)]
struct StoredCampaign<S> {
    kind: String,
    settings: S,
    #[serde(flatten)]
    extent: Extent,
}

/// A campaign cannot be begun or resumed.
#[derive(Debug, thiserror::Error)]
pub enum CannotBegin {
    /// The folder has work of this campaign already.
    #[error(
        "{} already holds a campaign with seed {seed}; continue it with --resume, or choose another --seed or --out",
        folder.display()
    )]
    AlreadyBegun {
        /// The folder.
        folder: PathBuf,
        /// The seed.
        seed: u64,
    },
    /// There is nothing to resume.
    #[error(
        "there is no campaign of `{command}` to resume in {}; leave out --resume to begin one",
        folder.display()
    )]
    NothingToResume {
        /// The folder.
        folder: PathBuf,
        /// The command whose campaign was looked for.
        command: &'static str,
    },
    /// The campaign in the folder is another one.
    #[error(
        "the campaign in {} was begun with {there}, not with {here}; leave that out, or choose another --out",
        folder.display()
    )]
    OtherCampaign {
        /// The folder.
        folder: PathBuf,
        /// What it was begun with.
        there: String,
        /// What was given now.
        here: String,
    },
    /// What the campaign works on has changed.
    #[error(
        "{what} has changed since the campaign in {} was begun, so that it cannot be resumed; begin another with another --out",
        folder.display()
    )]
    OtherCode {
        /// The folder.
        folder: PathBuf,
        /// What has changed.
        what: &'static str,
    },
    /// The campaign in the folder was made by another generator: its indices mean something else.
    #[error(
        "the campaign in {} was begun by another version of Strait (generator {found}, now {ours}); finish it with that version, or choose another --out",
        folder.display()
    )]
    OtherGenerator {
        /// The folder.
        folder: PathBuf,
        /// Its generator.
        found: u32,
        /// Ours.
        ours: u32,
    },
}

/// How far a campaign goes, as the store keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Extent {
    count: Option<u64>,
    seconds: Option<f64>,
    /// Absent when it is everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

impl Extent {
    /// So many indices, so long, this share of them.
    fn new(count: Option<u64>, time: Option<Duration>, shard: Shard) -> Self {
        let seconds = time.map(|time| time.as_secs_f64());
        Extent { count, seconds, shard: (!shard.is_whole()).then(|| shard.to_string()) }
    }

    /// The share; `None` if it is not written as shares are.
    fn shard(&self) -> Option<Shard> {
        self.shard.as_ref().map_or(Some(Shard::default()), |share| share.parse().ok())
    }

    /// What is left of the time after so much.
    fn time_left(&self, spent: Duration) -> Option<Duration> {
        let planned = Duration::try_from_secs_f64(self.seconds?).unwrap_or_default();
        Some(planned.saturating_sub(spent))
    }
}

/// Begins or resumes a campaign in a folder. `fallback` is the seed of a new one if none is given.
pub fn begin<S: Settings>(
    store: &mut Store,
    folder: &Path,
    request: Request<S>,
    fallback: u64,
) -> Result<Begun<S>, Error> {
    if request.resume {
        resume(store, folder, request)
    } else {
        start(store, folder, request, fallback)
    }
}

fn start<S: Settings>(
    store: &mut Store,
    folder: &Path,
    request: Request<S>,
    fallback: u64,
) -> Result<Begun<S>, Error> {
    let Request { settings, count, time, .. } = request;
    let seed = request.seed.unwrap_or(fallback);
    let shard = request.shard.unwrap_or_default();
    let kept = StoredCampaign {
        kind: S::KIND.to_owned(),
        settings,
        extent: Extent::new(count, time, shard),
    };
    let text = serde_json::to_string(&kept).map_err(Error::Settings)?;
    let id = store.campaign(seed, S::GENERATOR, &text)?;
    if !kept.settings.is_repeatable() && !store.totals(id)?.is_empty() {
        return Err(CannotBegin::AlreadyBegun { folder: folder.to_owned(), seed }.into());
    }
    Ok(Begun { id, settings: kept.settings, seed, count, time, shard })
}

fn resume<S: Settings>(
    store: &mut Store,
    folder: &Path,
    request: Request<S>,
) -> Result<Begun<S>, Error> {
    let (known, StoredCampaign { settings, extent, .. }) = last::<S>(store, folder)?;
    let nothing = || CannotBegin::nothing::<S>(folder);
    let shard = extent.shard().ok_or_else(nothing)?;
    let seed = Mismatch::check(known.seed, request.seed, |seed| format!("seed {seed}"));
    let share = Mismatch::check(shard, request.shard, |share| format!("share {share}"));
    let settings = seed
        .and_then(|()| settings.resumed(&request.settings))
        .and_then(|settings| share.map(|()| settings))
        .map_err(|mismatch| CannotBegin::mismatch(folder, mismatch))?;
    let id = store.campaign(known.seed, known.generator_version, &known.settings)?;
    let time = request.time.or_else(|| extent.time_left(store.active(id)));
    let count = request.count.or(extent.count);
    Ok(Begun { id, settings, seed: known.seed, count, time, shard })
}

/// The settings of the last campaign of the folder, completed or contradicted by what is `given` now.
pub fn last_settings<S: Settings>(store: &Store, folder: &Path, given: &S) -> Result<S, Error> {
    let (_, StoredCampaign { settings, .. }) = last::<S>(store, folder)?;
    Ok(settings.resumed(given).map_err(|mismatch| CannotBegin::mismatch(folder, mismatch))?)
}

/// The last campaign of the folder, if it is of this kind and made by this version.
fn last<S: Settings>(store: &Store, folder: &Path) -> Result<(Known, StoredCampaign<S>), Error> {
    let nothing = || CannotBegin::nothing::<S>(folder);
    let known = store.last_campaign()?.ok_or_else(nothing)?;
    let kept: StoredCampaign<S> = serde_json::from_str(&known.settings).map_err(|_| nothing())?;
    if kept.kind != S::KIND {
        return Err(nothing().into());
    }
    let (found, ours) = (known.generator_version, S::GENERATOR);
    if found != ours {
        return Err(CannotBegin::mismatch(folder, Mismatch::Version { found, ours }).into());
    }
    Ok((known, kept))
}

impl CannotBegin {
    /// There is nothing of this kind to resume.
    pub fn nothing<S: Settings>(folder: &Path) -> CannotBegin {
        CannotBegin::NothingToResume { folder: folder.to_owned(), command: S::COMMAND }
    }

    fn mismatch(folder: &Path, mismatch: Mismatch) -> CannotBegin {
        let folder = folder.to_owned();
        match mismatch {
            Mismatch::Setting { there, here } => CannotBegin::OtherCampaign { folder, there, here },
            Mismatch::Code { what } => CannotBegin::OtherCode { folder, what },
            Mismatch::Version { found, ours } => {
                CannotBegin::OtherGenerator { folder, found, ours }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use strait_findings::Batch;

    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    struct Naps {
        beds: Option<u32>,
    }

    impl Settings for Naps {
        const KIND: &'static str = "naps";
        const COMMAND: &'static str = "strait nap";
        const GENERATOR: u32 = 3;

        fn resumed(self, given: &Self) -> Result<Self, Mismatch> {
            let beds = |beds: &u32| format!("{beds} beds");
            Mismatch::check(self.beds.unwrap_or(1), given.beds, beds)?;
            Ok(self)
        }
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    struct Dreams;

    impl Settings for Dreams {
        const KIND: &'static str = "dreams";
        const COMMAND: &'static str = "strait dream";
        const GENERATOR: u32 = 3;

        fn is_repeatable(&self) -> bool {
            true
        }

        fn resumed(self, _: &Self) -> Result<Self, Mismatch> {
            Ok(self)
        }
    }

    #[test]
    fn a_campaign_is_resumed_with_its_own_settings() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("a store");
        let begin_naps = |store: &mut Store, request: &Request<Naps>| {
            begin(store, folder.path(), request.clone(), 8).map_err(|error| error.to_string())
        };
        let again = Request { resume: true, ..Request::default() };
        let nothing = begin_naps(&mut store, &again).expect_err("nothing to resume");
        assert!(nothing.contains("there is no campaign of `strait nap` to resume"), "{nothing}");
        let dreams = Request::<Dreams>::default();
        begin(&mut store, folder.path(), dreams, 1).expect("a campaign of another kind");
        assert_eq!(begin_naps(&mut store, &again).expect_err("of another kind"), nothing);

        let settings = Naps { beds: Some(2) };
        let request = Request { settings, count: Some(9), ..Request::default() };
        let begun = begin_naps(&mut store, &request).expect("begun");
        assert_eq!((begun.seed, begun.count), (8, Some(9)));
        store.commit(&Batch::new(begun.id, "bed", "1", 0..4)).expect("done");

        assert_eq!(begin_naps(&mut store, &again).expect("resumed"), begun);
        let more = Request { count: Some(20), ..again.clone() };
        assert_eq!(begin_naps(&mut store, &more).expect("more").count, Some(20));
        let twice = Request { seed: Some(8), ..request };
        let twice = begin_naps(&mut store, &twice).expect_err("begun already");
        assert!(twice.contains("already holds a campaign with seed 8"), "{twice}");
        let beds = |beds| Naps { beds: Some(beds) };
        for (request, expected) in [
            (Request { seed: Some(9), ..again.clone() }, "seed 8, not with seed 9"),
            (Request { settings: beds(3), ..again.clone() }, "2 beds, not with 3 beds"),
            (
                Request { shard: "1/2".parse().ok(), ..again.clone() },
                "share 0/1, not with share 1/2",
            ),
        ] {
            let wrong = begin_naps(&mut store, &request).expect_err(expected);
            assert!(wrong.contains(expected), "{wrong}");
        }
        let same = Request { settings: beds(2), ..again };
        assert_eq!(begin_naps(&mut store, &same).expect("the same"), begun);
    }

    #[test]
    fn some_campaigns_may_be_begun_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("a store");
        let request = Request::<Dreams>::default();
        let begun = begin(&mut store, folder.path(), request.clone(), 1).expect("begun");
        store.commit(&Batch::new(begun.id, "dream", "1", 0..4)).expect("done");
        let again = begin(&mut store, folder.path(), request, 1).expect("begun again");
        assert_eq!(again.id, begun.id);
    }
}
