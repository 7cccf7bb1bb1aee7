//! A campaign over Go tests as a queue carries it, and back: workers get the module itself, compile it
//! with the same version of Go, and run the same tests, or they do not take part. A lane is a package,
//! an index one of its tests.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strait_golang::Go;
use strait_queue::{Job, LaneName, Link};
use strait_toolchain::{Cache, Launcher, Scratch};

use crate::campaign::Bounds;
use crate::discover::GENERATOR;
use crate::error::Error;
use crate::module::{Packed, unpack};
use crate::plan::Switches;
use crate::prepare::{Prepared, Request, prepare};
use crate::subject::{Subject, by_package};

/// The word in a job that means us.
const KIND: &str = "go";

/// What decides what an index means, and what is done with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) seed: u64,
    pub(crate) generator: u32,
    pub(crate) runs: Option<u64>,
    pub(crate) switches: Switches,
    race: bool,
    virtual_time: bool,
    tags: Option<String>,
    go: String,
    /// The digest of the module, which is an object of the queue.
    module: String,
    /// Where the module is at whoever began the campaign, and the folder they were in.
    pub(crate) base: PathBuf,
    pub(crate) directory: PathBuf,
    /// The tests of each lane.
    tests: Vec<Vec<String>>,
}

/// A campaign that this machine can take part in.
pub struct Served {
    pub(crate) prepared: Prepared,
    pub(crate) settings: Settings,
    /// The tests of each lane.
    pub(crate) tests: Vec<Vec<Subject>>,
    /// The module; removed in the end.
    _folder: Scratch,
}

/// The campaign for a queue, which gets the module.
pub fn job(
    link: &Link,
    lease: Duration,
    prepared: &Prepared,
    bounds: &Bounds,
    module: &Packed,
) -> Result<Job, Error> {
    let go = &prepared.go;
    let packages = by_package(&prepared.subjects);
    let tests = |subjects: &Vec<Subject>| subjects.iter().map(|one| one.test.clone()).collect();
    let settings = Settings {
        seed: bounds.seed,
        generator: GENERATOR,
        runs: bounds.runs,
        switches: bounds.switches,
        race: prepared.build.race,
        virtual_time: prepared.build.virtual_time,
        tags: prepared.build.tags.clone(),
        go: go.version().to_owned(),
        module: module.digest.clone(),
        base: prepared.base.clone(),
        directory: go.directory().to_owned(),
        tests: packages.values().map(tests).collect(),
    };
    let counts = packages.values().map(|tests| tests.len() as u64).collect();
    let version = go.version().to_owned();
    let lanes = packages.into_keys().map(|target| LaneName { target, version: version.clone() });
    let job = Job::new(link.fresh_name(), KIND, lease, lanes.collect(), counts, &settings)?;
    module.keep(link, &job)?;
    Ok(job)
}

/// What a campaign from a queue needs, made here; `None` if it is no business of ours.
pub fn served(
    job: &Job,
    link: &Link,
    launcher: &Launcher,
    cache: &Cache,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(String),
) -> Result<Option<Served>, Error> {
    let Some(settings) = job.settings_of::<Settings>(KIND)? else { return Ok(None) };
    let cannot = |why: String| -> Error { job.not_here(why).into() };
    if settings.generator != GENERATOR {
        return Err(cannot(format!(
            "it was begun with another version of Strait (orders {}, here {GENERATOR})",
            settings.generator
        )));
    }
    let folder = Scratch::new("module").map_err(Error::Folder)?;
    let root = folder.path().join("module");
    let module = link.kept(job, &settings.module, &|| stop.load(Ordering::SeqCst))?;
    unpack(&module, &settings.module, &root)?;
    let here = Go::find(launcher, &root)?;
    if here.version() != settings.go {
        return Err(cannot(format!("it needs Go {}; here is {}", settings.go, here.version())));
    }
    let request = Request {
        directory: root,
        patterns: job.lanes.iter().map(|lane| lane.target.clone()).collect(),
        run: None,
        race: settings.race,
        virtual_time: settings.virtual_time,
        tags: settings.tags.clone(),
    };
    let prepared = prepare(&request, launcher, cache, stop, tell)?;
    let packages = by_package(&prepared.subjects);
    let mut tests = Vec::new();
    for (lane, names) in job.lanes.iter().zip(&settings.tests) {
        let here = packages.get(&lane.target);
        let find = |name: &String| here?.iter().find(|subject| subject.test == *name).cloned();
        let missing = |name: &String| {
            let problem = prepared.problems.iter().find(|one| one.package == lane.target);
            let why = problem.map_or("there is no such test", |problem| problem.said.as_str());
            cannot(format!("{} {name} cannot be run here: {why}", lane.target))
        };
        let found = names.iter().map(|name| find(name).ok_or_else(|| missing(name)));
        tests.push(found.collect::<Result<Vec<Subject>, Error>>()?);
    }
    Ok(Some(Served { prepared, settings, tests, _folder: folder }))
}
