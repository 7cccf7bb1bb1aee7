//! A campaign over many tests: threads of this process hunt, or workers of a queue do, and what they
//! find goes into the store.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use strait_findings::{Batch, CampaignId, Discovery, Recorded, Store};
use strait_queue::{Allotment, Ledger, Outsourced, Part, Shard, Submission};

use crate::counters::Counters;
use crate::error::Error;
use crate::hunt::{Hunt, Terms, is_news, known};
use crate::judge::Suspicion;
use crate::plan::Switches;
use crate::prepare::Prepared;
use crate::subject::by_package;
use crate::tally;

/// When it ends, and how.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The seed.
    pub seed: u64,
    /// Runs a test.
    pub runs: Option<u64>,
    /// How long.
    pub time: Option<Duration>,
    /// Workers.
    pub jobs: usize,
    /// What is used.
    pub switches: Switches,
}

/// A campaign that is about to run.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// What is fuzzed.
    pub prepared: &'a Prepared,
    /// When it ends.
    pub bounds: Bounds,
    /// Set from outside to end it.
    pub stop: &'a Arc<AtomicBool>,
    /// Watched from outside.
    pub counters: &'a Counters,
}

/// A test that fails under disturbance, without evidence of a concurrency bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensitive {
    /// The test.
    pub test: String,
    /// Its package.
    pub package: String,
    /// What it said.
    pub said: String,
    /// Under what.
    pub plan: String,
}

/// A run in which the overlay crashed or blocked: a fault of Strait, not of the test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InternalError {
    /// The test.
    pub test: String,
    /// Its package.
    pub package: String,
    /// What happened.
    pub what: String,
    /// The number of the run within the test.
    pub run: u64,
    /// Its plan and its clock.
    pub plan: String,
    /// The beginning of what it wrote to stderr.
    pub output: String,
}

impl fmt::Display for InternalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InternalError { test, package, what, run, plan, .. } = self;
        write!(
            formatter,
            "internal error in run {run} of {package} {test} ({plan}): {what}; this is a fault of \
             Strait and not of the test, please report it"
        )
    }
}

/// What is left to say at the end, besides findings.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Tests that took part, subtests included.
    pub tests: u64,
    /// Tests that fail without any disturbance.
    pub failing: Vec<String>,
    /// Tests that end the process.
    pub exiting: Vec<String>,
    /// Tests that do not go with the virtual clock.
    pub real_time: Vec<String>,
    /// Tests that depend on time.
    pub sensitive: Vec<Sensitive>,
    /// Goroutines that may be blocked for ever, or idle by design.
    pub suspects: Vec<(String, Suspicion)>,
    /// Runs in which the overlay failed, one per test.
    pub internal_errors: Vec<InternalError>,
    /// Every test has had its runs.
    pub complete: bool,
    /// Tests that were done in an earlier session of the same campaign in a queue.
    pub earlier: u64,
    /// Tests that nobody in the queue did before the end.
    pub undone: Vec<String>,
}

impl Campaign<'_> {
    /// Runs it. `found` hears of new findings.
    pub fn run(
        &self,
        store: &mut Store,
        id: CampaignId,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<Ended, Error> {
        let Bounds { seed, runs, time, jobs, switches } = self.bounds;
        let stop = || self.stop.load(Ordering::SeqCst);
        let terms = Terms { prepared: self.prepared, seed, runs, switches, stop: &stop };
        let deadline = time.map(|time| Instant::now() + time);
        let subjects = self.prepared.subjects.iter().cloned();
        let mut places = known(store.findings());
        let hunt = Hunt::new(terms, subjects, deadline, self.counters);
        let (sender, discoveries) = channel();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs.max(1))
                .map(|number| {
                    let (sender, hunt) = (sender.clone(), &hunt);
                    scope.spawn(move || hunt.work(number, &sender))
                })
                .collect();
            drop(sender);
            for discovery in discoveries {
                let discovery: Discovery = discovery;
                // What an earlier campaign has found is shown again, and not found twice.
                let is_known = store.findings().any(|known| known.id == discovery.id());
                if !is_known && !is_news(&mut places, &discovery) {
                    continue;
                }
                let (target, version) = (discovery.target.clone(), discovery.version.clone());
                let batch = Batch::new(id, target, version, 0..0).found(discovery.clone());
                for recorded in store.commit(&batch)?.iter().filter(|recorded| recorded.new) {
                    self.counters.add_finding();
                    found(recorded, &discovery);
                }
            }
            let ends =
                workers.into_iter().map(|worker| worker.join().map_err(|_| Error::Worker)?);
            ends.collect::<Result<(), Error>>()
        })?;
        self.account(store, id)?;
        Ok(hunt.summary())
    }

    /// The runs of all packages go into the index.
    fn account(&self, store: &mut Store, id: CampaignId) -> Result<(), Error> {
        let version = self.prepared.go.version();
        let target = self.prepared.base.file_name().unwrap_or_default().to_string_lossy();
        let mut batch = Batch::new(id, target, version, 0..0).runs(self.counters.runs());
        batch.programs = self.counters.tests();
        store.commit(&batch)?;
        Ok(())
    }

    /// Has workers of a queue do it, a test at a time.
    pub fn submit(
        &self,
        queue: Outsourced<'_>,
        store: &mut Store,
        id: CampaignId,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<Ended, Error> {
        let deadline = self.bounds.time.map(|time| Instant::now() + time);
        let stop = || {
            let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            over || self.stop.load(Ordering::SeqCst)
        };
        let lanes = &queue.job.lanes;
        self.counters.set_tests(self.prepared.subjects.len());
        let mut places = known(store.findings());
        let mut ended = Ended::default();
        let mut tell = |recorded: &Recorded, discovery: &Discovery| {
            self.counters.add_finding();
            found(recorded, discovery);
        };
        let mut ledger = Ledger::new(store, id, lanes, &mut tell);
        let mut submission = Submission {
            link: queue.link,
            job: queue.job,
            folder: queue.folder,
            stop: &stop,
            keep: queue.keep,
            counted: &mut |part: &Part| tally::absorb(&mut ended, self.counters, &part.counts),
            // Two tests, done by two workers, may show one fault.
            is_news: &mut |discovery| is_news(&mut places, discovery),
            tell: queue.tell,
        };
        let tests = by_package(&self.prepared.subjects);
        // How many tests are done, and the others.
        let progress = |store: &Store| -> Result<(u64, Allotment), Error> {
            let (mut missing, mut done) = (Vec::new(), 0);
            for (lane, tests) in lanes.iter().zip(tests.values()) {
                let executed = store.executed(id, &lane.target, &lane.version)?;
                done += executed.len();
                missing.push((executed.missing(0..tests.len() as u64), 1));
            }
            Ok((done, Allotment::new(missing, Shard::default())))
        };
        let (_, allotment) = progress(ledger.store())?;
        submission.take_up(&mut ledger, id, allotment)?;
        let (earlier, allotment) = progress(ledger.store())?;
        submission.run(&mut ledger, id, allotment)?;
        for (lane, tests) in lanes.iter().zip(tests.values()) {
            let executed = store.executed(id, &lane.target, &lane.version)?;
            let undone = (0..).zip(tests).filter(|(index, _)| !executed.contains(*index));
            ended.undone.extend(undone.map(|(_, test)| test.name()));
        }
        ended.earlier = earlier;
        ended.complete = ended.undone.is_empty();
        ended.tests = self.counters.tests();
        Ok(ended)
    }
}
