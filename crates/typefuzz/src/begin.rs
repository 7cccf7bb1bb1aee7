//! A campaign in a folder: begun, or taken up where it was left.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strait_findings::{CampaignId, Store};
use strait_queue::{Extent, Folder, Shard};

use crate::error::Error;
use crate::recipe::{GENERATOR_VERSION, Mode};

/// What the user asks for. What is left out is as it was when the campaign is taken up.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What is asked of the typecheckers; precision if nothing is said.
    pub mode: Option<Mode>,
    /// Features; swarm if there are none.
    pub fuzzer: Vec<String>,
    /// Names of oracles; the installed rustc if there are none.
    pub oracles: Vec<String>,
    /// The seed, if given.
    pub seed: Option<u64>,
    /// Indices, if limited.
    pub count: Option<u64>,
    /// Time, if limited.
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
    /// What is asked.
    pub mode: Mode,
    /// Features; swarm if there are none.
    pub fuzzer: Vec<String>,
    /// Names of oracles.
    pub oracles: Vec<String>,
    /// Indices.
    pub count: Option<u64>,
    /// Time that is left.
    pub time: Option<Duration>,
    /// Which of the indices.
    pub shard: Shard,
}

/// What a campaign was begun with, as the store keeps it.
#[derive(Serialize, Deserialize)]
struct Settings {
    types: Types,
}

#[derive(Serialize, Deserialize)]
struct Types {
    mode: String,
    fuzzer: Vec<String>,
    oracles: Vec<String>,
    #[serde(flatten)]
    extent: Extent,
}

impl Request {
    /// The oracles that are asked, each once.
    pub fn asked(&self) -> Vec<String> {
        if self.oracles.is_empty() {
            return vec!["rustc".to_owned()];
        }
        let mut names: Vec<String> = Vec::new();
        for name in &self.oracles {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}

/// The campaigns of a folder that are ours.
fn folder<'a>(store: &'a mut Store, path: &'a Path) -> Folder<'a> {
    Folder { store, path, command: "strait types", generator: GENERATOR_VERSION }
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
    let Request { fuzzer, count, time, .. } = request.clone();
    let (mode, oracles) = (request.mode.unwrap_or(Mode::Precision), request.asked());
    let seed = request.seed.unwrap_or(fallback);
    let shard = request.shard.unwrap_or_default();
    let types = Types {
        mode: mode.name().to_owned(),
        fuzzer: fuzzer.clone(),
        oracles: oracles.clone(),
        extent: Extent::new(count, time, shard),
    };
    let id = folder.start(seed, &Settings { types })?;
    Ok(Begun { id, seed, mode, fuzzer, oracles, count, time, shard })
}

fn resume(mut folder: Folder<'_>, request: &Request) -> Result<Begun, Error> {
    let (known, Settings { types: Types { mode, fuzzer, oracles, extent } }) = folder.last()?;
    let mode = Mode::named(&mode).ok_or_else(|| folder.nothing())?;
    let shard = extent.shard().ok_or_else(|| folder.nothing())?;
    let named = |what: &str, names: &[String]| match names {
        [] => format!("{what} swarm"),
        names => format!("{what} {}", names.join(" ")),
    };
    let given = |names: &[String]| (!names.is_empty()).then(|| names.to_vec());
    let pairs = [
        (format!("seed {}", known.seed), request.seed.map(|seed| format!("seed {seed}"))),
        (format!("mode {}", mode.name()), request.mode.map(|mode| format!("mode {}", mode.name()))),
        (named("fuzzer", &fuzzer), given(&request.fuzzer).map(|names| named("fuzzer", &names))),
        (
            named("oracle", &oracles),
            given(&request.oracles).map(|_| named("oracle", &request.asked())),
        ),
        (format!("share {shard}"), request.shard.map(|share| format!("share {share}"))),
    ];
    for (there, here) in pairs {
        folder.same(there, here)?;
    }
    let (id, spent) = folder.resume(&known)?;
    Ok(Begun {
        id,
        seed: known.seed,
        mode,
        fuzzer,
        oracles,
        count: request.count.or(extent.count()),
        time: request.time.or_else(|| extent.time_left(spent)),
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
        let taken_up = |store: &mut Store, request: &Request| {
            begin(store, folder.path(), request, 8).map_err(|error| error.to_string())
        };
        let nothing = taken_up(&mut store, &again).expect_err("nothing to take up");
        assert!(nothing.contains("there is no campaign of `strait types` to resume"), "{nothing}");
        store.campaign(7, 1, "go fuzz").expect("a campaign of another kind");
        assert_eq!(taken_up(&mut store, &again).expect_err("of another kind"), nothing);

        let request = Request {
            mode: Some(Mode::Soundness),
            oracles: vec!["rustc".into(), "next-solver".into(), "rustc".into()],
            count: Some(200),
            ..Request::default()
        };
        let begun = taken_up(&mut store, &request).expect("begun");
        assert_eq!((begun.seed, begun.oracles.len()), (8, 2));
        store.commit(&Batch::new(begun.id, "types", "1", 0..100)).expect("done");

        assert_eq!(taken_up(&mut store, &again).expect("taken up"), begun);
        let same = Request { resume: true, ..request.clone() };
        assert_eq!(taken_up(&mut store, &same).expect("the same"), begun);
        let more = Request { count: Some(300), ..again.clone() };
        assert_eq!(taken_up(&mut store, &more).expect("more").count, Some(300));
        let twice = taken_up(&mut store, &request).expect_err("begun already");
        assert!(twice.contains("--resume"), "{twice}");
        let table = [
            (Request { seed: Some(9), ..again.clone() }, "seed 8, not with seed 9"),
            (
                Request { mode: Some(Mode::Precision), ..again.clone() },
                "mode soundness, not with mode precision",
            ),
            (
                Request { oracles: vec!["rustc".into()], ..again.clone() },
                "oracle rustc next-solver, not with oracle rustc",
            ),
            (
                Request { fuzzer: vec!["traits".into()], ..again },
                "fuzzer swarm, not with fuzzer traits",
            ),
        ];
        for (request, expected) in table {
            let wrong = taken_up(&mut store, &request).expect_err(expected);
            assert!(wrong.contains(expected), "{wrong}");
        }
    }
}
