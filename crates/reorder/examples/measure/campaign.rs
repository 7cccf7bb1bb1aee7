//! What the measurements share: a campaign over a folder of tests, and when each test's bug was found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strait_campaign::{Stop, Threads};
use strait_findings::Store;
use strait_reorder::{Counters, LocalTests, Request, Rules, RunIndices, Switches, Terms, prepare};
use strait_toolchain::{Cache, Launcher};

/// Errors of any kind: they are only printed.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// When a bug was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub runs: u64,
    pub seconds: f64,
    pub title: String,
    /// Where the finding is kept.
    pub directory: PathBuf,
}

/// What a campaign did.
#[derive(Debug)]
pub struct Measured {
    pub tests: Vec<String>,
    pub found: BTreeMap<String, Found>,
    pub runs: u64,
    pub seconds: f64,
    /// The store of the findings, removed with this value.
    _folder: tempfile::TempDir,
}

/// A campaign over one package of a module.
pub fn measure(
    module: &Path,
    patterns: &[String],
    switches: Switches,
    runs: u64,
    seed: u64,
) -> Outcome<Measured> {
    let stop = Stop::default();
    let launcher = Launcher::this_program()?;
    let request = Request {
        directory: module.canonicalize()?,
        patterns: patterns.to_vec(),
        run: None,
        race: false,
        virtual_time: true,
        tags: None,
    };
    let prepared = prepare(&request, &launcher, &Cache::find()?, stop.flag(), &mut |_| {})?;
    for problem in &prepared.problems {
        println!("{} is left out: {}", problem.package, problem.said);
    }
    let tests = prepared
        .subjects
        .iter()
        .map(|subject| format!("{} {}", subject.tests.package.path, subject.test))
        .collect();
    let folder = tempfile::tempdir()?;
    let mut store = Store::open(folder.path())?;
    let id = store.campaign(seed, 1, "measurement")?;
    let _timer = stop.after(Some(Duration::from_secs(3600)));
    let (counters, sums) = (Counters::default(), strait_campaign::Counters::default());
    let terms = Terms {
        prepared: &prepared,
        seed,
        runs: Some(runs),
        switches,
        rules: &Rules::default(),
        ending: &stop,
        indices: None,
    };
    let indices = RunIndices::new(&prepared, &store, id, false)?;
    let campaign = LocalTests::new(terms, &indices, &counters, &store);
    let threads = Threads { jobs: 2, stop: &stop, counters: &sums };
    let started = Instant::now();
    let mut found = BTreeMap::new();
    campaign.run(&threads, &mut store, id, &mut |recorded, discovery| {
        // The package to blame may be another one than that of the test.
        let detail = |name: &str| discovery.details[name].as_str().unwrap_or_default();
        let name = format!("{} {}", detail("package"), detail("test"));
        let directory = recorded.directory.clone();
        let (runs, seconds) = (counters.runs(), started.elapsed().as_secs_f64());
        let title = format!("{} {}", discovery.kind, discovery.title);
        found.entry(name).or_insert(Found { runs, seconds, title, directory });
    })?;
    let seconds = started.elapsed().as_secs_f64();
    store.close()?;
    Ok(Measured { tests, found, runs: counters.runs(), seconds, _folder: folder })
}
