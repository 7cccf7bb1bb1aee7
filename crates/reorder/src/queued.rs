//! The work of a campaign over Go tests in a queue. Workers get the module itself, compile it with the same
//! version of Go, and run the same tests, or they do not take part. A lane is a package, an index one of its
//! tests. Nothing of a worker's folders is left in what it delivers.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strait_campaign::{Context, Delivery, Ending, Pieces, Servable, Turn, Unit, Workload};
use strait_findings::{CampaignId, Discovery, Store};
use strait_golang::Go;
use strait_queue::{Part, Piece, TargetVersion};
use strait_toolchain::{Cache, Launcher, Scratch};

use crate::counters::Counters;
use crate::counts;
use crate::discover::{GENERATOR, deadly, version_of};
use crate::ended::Ended;
use crate::error::Error;
use crate::hunt::{Event, Hunt, KnownCauses, Terms, is_news, known};
use crate::judge::Rules;
use crate::module::{Packed, unpack};
use crate::plan::Switches;
use crate::prepare::{Prepared, Request, prepare};
use crate::settings::Settings;
use crate::subject::{Subject, by_package};

/// What decides what an index means, and what is done with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobSettings {
    pub(crate) seed: u64,
    pub(crate) generator: u32,
    pub(crate) runs: Option<u64>,
    pub(crate) switches: Switches,
    pub(crate) rules: Rules,
    race: bool,
    virtual_time: bool,
    tags: Option<String>,
    go: String,
    /// The digest of the module, which is an object of the queue.
    module: String,
    /// Where the module is on the machine that began the campaign, and the folder that the command ran in.
    pub(crate) base: PathBuf,
    pub(crate) directory: PathBuf,
    /// The tests of each lane.
    tests: Vec<Vec<String>>,
}

/// The tests of a campaign in a queue.
pub struct QueuedTests {
    prepared: Arc<Prepared>,
    settings: JobSettings,
    lanes: Vec<TargetVersion>,
    /// The tests of each lane.
    tests: Vec<Vec<Subject>>,
    /// Where faults are known: two tests, done by two workers, may show one fault.
    places: Mutex<KnownCauses>,
    /// The module at a worker; removed in the end.
    _folder: Option<Scratch>,
}

impl QueuedTests {
    /// The tests of a module that workers get. What the store has found is known.
    pub fn new(
        prepared: &Arc<Prepared>,
        seed: u64,
        settings: &Settings,
        module: &Packed,
        store: &Store,
    ) -> Self {
        let go = &prepared.go;
        let packages = by_package(&prepared.subjects);
        let tests: Vec<Vec<Subject>> = packages.values().cloned().collect();
        let names = |subjects: &Vec<Subject>| subjects.iter().map(|one| one.test.clone()).collect();
        let settings = JobSettings {
            seed,
            generator: GENERATOR,
            runs: settings.runs,
            switches: settings.switches,
            rules: settings.rules.clone(),
            race: prepared.build.race,
            virtual_time: prepared.build.virtual_time,
            tags: prepared.build.tags.clone(),
            go: go.version().to_owned(),
            module: module.digest.clone(),
            base: prepared.base.clone(),
            directory: go.directory().to_owned(),
            tests: tests.iter().map(names).collect(),
        };
        let version = version_of(go);
        let lane = |target: String| TargetVersion { target, version: version.clone() };
        QueuedTests {
            prepared: Arc::clone(prepared),
            settings,
            lanes: packages.into_keys().map(lane).collect(),
            tests,
            places: Mutex::new(known(store.findings())),
            _folder: None,
        }
    }

    /// How many tests are done, according to the store.
    pub fn done(&self, store: &Store, id: CampaignId) -> Result<u64, Error> {
        let of = |lane: &TargetVersion| Ok(store.executed(id, &lane.target, &lane.version)?.len());
        self.lanes.iter().map(of).sum()
    }

    /// What there is to say in the end. Of the tests `earlier` were done in an earlier session.
    pub fn ended(
        &self,
        counters: &strait_campaign::Counters,
        store: &Store,
        id: CampaignId,
        earlier: u64,
    ) -> Result<Ended, Error> {
        let mut ended = Ended { earlier, ..Ended::default() };
        ended.add_notes(&counters.notes::<Value>());
        for (lane, tests) in self.lanes.iter().zip(&self.tests) {
            let executed = store.executed(id, &lane.target, &lane.version)?;
            let undone = (0..).zip(tests).filter(|(index, _)| !executed.contains(*index));
            ended.undone.extend(undone.map(|(_, test)| test.name()));
        }
        ended.complete = ended.undone.is_empty();
        // Tests that were done in this session count with their subtests.
        ended.tests = counters.programs() + earlier + ended.undone.len() as u64;
        Ok(ended)
    }

    /// A finding of ours as it is read where the campaign was begun.
    fn at_home(&self, mut discovery: Discovery) -> Discovery {
        let here = self.prepared.base.display().to_string();
        let there = self.settings.base.display().to_string();
        let output = String::from_utf8_lossy(&discovery.output).replace(&here, &there);
        discovery.output = output.into_bytes();
        discovery.title = discovery.title.replace(&here, &there);
        discovery.explanation = discovery.explanation.replace(&here, &there);
        if let Some(diagram) = &mut discovery.diagram {
            diagram.title = diagram.title.replace(&here, &there);
        }
        let directory = self.settings.directory.display().to_string();
        discovery.replay_arguments = vec!["--module".to_owned(), directory.clone()];
        discovery.details.insert("directory".to_owned(), Value::from(directory));
        discovery
    }
}

impl Workload for QueuedTests {
    /// The thread's number.
    type Thread = usize;
    type Error = Error;
    type Settings = Settings;

    fn job_settings(&self) -> Value {
        json!(self.settings)
    }

    fn targets(&self) -> Vec<TargetVersion> {
        self.lanes.clone()
    }

    fn indices(&self, lane: usize, _count: Option<u64>) -> u64 {
        self.tests.get(lane).map_or(0, |tests| tests.len() as u64)
    }

    fn piece_size(&self, _lane: usize, _pieces: Pieces) -> u64 {
        1
    }

    fn thread(&self, number: usize) -> usize {
        number
    }

    fn run(
        &self,
        number: &mut usize,
        context: &Context<'_>,
        piece: &Piece,
        delivery: &mut Delivery<'_>,
    ) -> Result<bool, Error> {
        if piece.is_watched {
            delivery.begin(piece.indices.clone())?;
        }
        for index in piece.indices.clone().filter(|index| piece.runs(*index)) {
            let subject = self.subject(piece.target, index).ok_or(Error::Worker)?;
            // `None`: stopped in the middle. Another worker does it from the beginning.
            let Some(part) = self.hunt(*number, subject, index, context, delivery)? else {
                return Ok(false);
            };
            if !delivery.deliver(part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn deadly(&self, piece: &Piece) -> Part {
        let mut part = Part::default();
        for index in &piece.deadly {
            let Some(subject) = self.subject(piece.target, *index) else { continue };
            part.programs += 1;
            part.discoveries.push(deadly(&self.prepared, subject, self.settings.seed, *index));
            part.indices.insert(*index..*index + 1);
        }
        part
    }

    fn is_news(&self, discovery: &Discovery) -> bool {
        is_news(&mut self.places.lock().unwrap_or_else(PoisonError::into_inner), discovery)
    }
}

impl QueuedTests {
    fn subject(&self, lane: usize, index: u64) -> Option<&Subject> {
        self.tests.get(lane)?.get(usize::try_from(index).ok()?)
    }

    /// What is found is shown at once: a campaign may end before the test is done.
    fn hunt(
        &self,
        number: usize,
        subject: &Subject,
        index: u64,
        context: &Context<'_>,
        delivery: &mut Delivery<'_>,
    ) -> Result<Option<Part>, Error> {
        let terms = Terms {
            prepared: &self.prepared,
            seed: self.settings.seed,
            runs: self.settings.runs,
            switches: self.settings.switches,
            rules: &self.settings.rules,
            ending: context,
            indices: None,
        };
        let counters = Counters::default();
        let hunt = Hunt::new(terms, [subject.clone()], &counters);
        let found = Mutex::new((delivery, BTreeSet::new(), Vec::new()));
        hunt.work(number, &|event| {
            let Event::Found { discovery, .. } = event else { return Ok(()) };
            let discovery = self.at_home(*discovery);
            let (delivery, seen, found) =
                &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.insert(discovery.id()) {
                delivery.show(&discovery)?;
                found.push(discovery);
            }
            Ok(())
        })?;
        let ended = hunt.summary();
        if !ended.complete || context.is_due() {
            return Ok(None);
        }
        let (_, _, discoveries) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut part = Part {
            programs: ended.tests,
            runs: counters.runs(),
            notes: ended.notes(),
            discoveries,
            ..Part::default()
        };
        part.counts.insert(counts::VIRTUAL_RUNS.to_owned(), counters.virtual_runs());
        part.indices.insert(index..index + 1);
        Ok(Some(part))
    }
}

/// Takes part in campaigns of a queue.
pub struct Reordering<'a>(pub &'a Launcher);

impl Servable for Reordering<'_> {
    type Workload = QueuedTests;
    const RUNS_FOREIGN_CODE: bool = true;
    const UNIT: Unit = Unit::Runs;

    fn prepare(&mut self, turn: &Turn<'_>) -> Result<QueuedTests, Error> {
        let (job, link, launcher, stop) = (turn.job, turn.link, self.0, turn.stop.flag());
        let cache = &Cache::find().map_err(Error::Cache)?;
        let tell = &mut |package| (turn.say)(format!("compiling the tests of {package}"));
        let settings: JobSettings = job.settings()?;
        let cannot = |why: String| -> Error { job.not_here(why).into() };
        if settings.generator != GENERATOR {
            return Err(cannot(format!(
                "it was begun with another version of Strait (orders {}, here {GENERATOR})",
                settings.generator
            )));
        }
        let folder = Scratch::new("module").map_err(Error::Folder)?;
        let root = folder.path().join("module");
        let module = link.kept(job, &settings.module)?;
        unpack(&module, &settings.module, &root)?;
        let here = Go::find(launcher, &root)?;
        if here.version() != settings.go {
            return Err(cannot(format!("it needs Go {}; here is {}", settings.go, here.version())));
        }
        let request = Request {
            directory: root,
            patterns: job.targets.iter().map(|lane| lane.target.clone()).collect(),
            run: None,
            race: settings.race,
            virtual_time: settings.virtual_time,
            tags: settings.tags.clone(),
        };
        let prepared = prepare(&request, launcher, cache, stop, tell)?;
        let packages = by_package(&prepared.subjects);
        let mut tests = Vec::new();
        for (lane, names) in job.targets.iter().zip(&settings.tests) {
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
        Ok(QueuedTests {
            prepared: Arc::new(prepared),
            settings,
            lanes: job.targets.clone(),
            tests,
            places: Mutex::default(),
            _folder: Some(folder),
        })
    }
}
