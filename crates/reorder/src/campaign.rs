//! A campaign over many tests: workers take runs in turn, results come back under one lock, what is
//! found is confirmed and goes into the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use strait_findings::{Batch, CampaignId, Discovery, Finding, Kind, Recorded, Store};
use strait_golang::{Request, Run, State, TestBinary};

use crate::counters::Counters;
use crate::discover::{Origin, discovery};
use crate::error::Error;
use crate::judge::{Certainty, Suspicion, judge, panic_kind};
use crate::plan::Switches;
use crate::prepare::Prepared;
use crate::selects::Selects;
use crate::state::{Job, Progress};
use crate::subject::{Clock, Subject};

/// How often a finding is run again to learn its rate, and for how long at most.
const CONFIRMATIONS: u64 = 4;
const CONFIRMING: Duration = Duration::from_secs(4);
/// Subtests are tests of their own up to this number.
const SUBTESTS: usize = 32;
/// A rate that hardly disturbs.
const LOW_RATE: u32 = 64;

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
#[derive(Clone, Debug)]
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
    /// Every test has had its runs.
    pub complete: bool,
}

/// What the workers share.
struct Shared {
    tests: Vec<Progress>,
    /// Locations of findings, by package and kind.
    known: BTreeMap<(String, Kind, String), ()>,
    /// Being confirmed by some worker.
    selects: Selects,
    parsed: BTreeSet<PathBuf>,
    ended: Ended,
}

impl Campaign<'_> {
    /// Runs it. `found` hears of new findings.
    pub fn run(
        &self,
        store: &mut Store,
        id: CampaignId,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<Ended, Error> {
        let subjects = self.prepared.subjects.iter().cloned();
        let shared = Mutex::new(Shared {
            tests: subjects.map(Progress::new).collect(),
            known: known(store.findings()),
            selects: Selects::new(
                self.prepared.overlay.root(&self.prepared.go),
                &self.prepared.base,
            ),
            parsed: BTreeSet::new(),
            ended: Ended::default(),
        });
        self.counters.set_tests(self.prepared.subjects.len());
        let deadline = self.bounds.time.map(|time| Instant::now() + time);
        let (sender, discoveries) = channel();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.bounds.jobs.max(1))
                .map(|number| {
                    let (sender, shared) = (sender.clone(), &shared);
                    scope.spawn(move || self.work(number, deadline, shared, &sender))
                })
                .collect();
            drop(sender);
            for discovery in discoveries {
                let discovery: Discovery = discovery;
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
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(self.summary(shared))
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

    fn summary(&self, shared: Shared) -> Ended {
        let mut ended = shared.ended;
        let named = |which: &dyn Fn(&Progress) -> bool| {
            let tests = shared.tests.iter().filter(|test| which(test));
            tests.map(|test| test.subject.name()).collect::<Vec<String>>()
        };
        ended.tests = shared.tests.len() as u64;
        ended.failing = named(&|test| test.fails);
        ended.exiting = named(&|test| test.exits);
        ended.real_time =
            named(&|test| test.clock == Clock::Real && test.subject.bench.fast.is_some());
        ended.complete = self
            .bounds
            .runs
            .is_some_and(|runs| shared.tests.iter().all(|test| test.issued >= runs));
        ended
    }

    /// One worker.
    fn work(
        &self,
        number: usize,
        deadline: Option<Instant>,
        shared: &Mutex<Shared>,
        sender: &Sender<Discovery>,
    ) -> Result<(), Error> {
        let file = self.prepared.shared_file(number);
        let result = self.work_with(&file, deadline, shared, sender);
        // It may never have been made.
        let _ = std::fs::remove_file(&file);
        result
    }

    fn work_with(
        &self,
        file: &Path,
        deadline: Option<Instant>,
        shared: &Mutex<Shared>,
        sender: &Sender<Discovery>,
    ) -> Result<(), Error> {
        loop {
            let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if over || self.stop.load(Ordering::SeqCst) {
                return Ok(());
            }
            let next = self.next(&mut lock(shared));
            let (test, subject, job) = match next {
                Next::Job(test, subject, job) => (test, subject, job),
                Next::Wait => {
                    std::thread::sleep(Duration::from_millis(2));
                    continue;
                }
                Next::End => return Ok(()),
            };
            let Some(run) = self.execute(&subject, &job, file, job.number == 0)? else {
                lock(shared).tests[test].clock = Clock::Virtual;
                lock(shared).tests[test].seeded = true;
                continue;
            };
            if self.stop.load(Ordering::SeqCst) {
                return Ok(());
            }
            let suspicions = self.consider(shared, test, &subject, &job, &run)?;
            for suspicion in suspicions {
                self.confirm(shared, test, &subject, &job, &run, suspicion, file, sender)?;
            }
        }
    }

    fn next(&self, shared: &mut Shared) -> Next {
        let most = self.bounds.runs.unwrap_or(u64::MAX);
        let mut order: Vec<usize> =
            (0..shared.tests.len()).filter(|test| shared.tests[*test].issued < most).collect();
        if order.is_empty() {
            return Next::End;
        }
        order.sort_by_key(|test| shared.tests[*test].rank());
        for test in order {
            let progress = &mut shared.tests[test];
            if let Some(job) = progress.next(self.bounds.seed, self.bounds.switches) {
                return Next::Job(test, progress.subject.clone(), job);
            }
        }
        Next::Wait
    }

    /// Makes a run; `None` if there is no binary for its clock.
    fn execute(
        &self,
        subject: &Subject,
        job: &Job,
        file: &Path,
        verbose: bool,
    ) -> Result<Option<Run>, Error> {
        let Some(binary) = self.binary(subject, job.clock)? else { return Ok(None) };
        let sanitize = self.bounds.switches.sanitizer;
        let wishes = job.plan.wishes(job.clock == Clock::Virtual, job.limit, sanitize);
        let processors = job.plan.processors;
        let request = Request { test: &subject.test, wishes: &wishes, verbose, processors };
        let run = binary.run(&self.prepared.go, &request, file)?;
        self.counters.add_run(binary.virtual_time);
        Ok(Some(run))
    }

    fn binary(&self, subject: &Subject, clock: Clock) -> Result<Option<TestBinary>, Error> {
        match (clock, &subject.bench.fast) {
            (Clock::Virtual, Some(binary)) => Ok(Some(binary.clone())),
            _ => {
                let real = subject.bench.real(&self.prepared.go, &self.prepared.overlay)?;
                Ok(real.ok())
            }
        }
    }

    /// Judges a run and takes it in. Suspicions come back that are worth a confirmation.
    fn consider(
        &self,
        shared: &Mutex<Shared>,
        test: usize,
        subject: &Subject,
        job: &Job,
        run: &Run,
    ) -> Result<Vec<Suspicion>, Error> {
        self.read_selects(shared, run)?;
        let shared = &mut *lock(shared);
        let mut suspicions = judge(run, &shared.selects);
        if job.clock == Clock::Virtual {
            // Time that stands still is no fault of the test.
            suspicions.retain(|suspicion| suspicion.kind != Kind::TIMEOUT);
        }
        if !job.plan.is_plain() {
            // Somebody's own call of panic is as good as an assertion: it may depend on time.
            let asserted = |one: &&mut Suspicion| {
                one.kind == panic_kind() && one.certainty == Certainty::Likely
            };
            for suspicion in suspicions.iter_mut().filter(asserted) {
                suspicion.certainty = Certainty::Sensitive;
            }
        }
        let judged = suspicions.iter().any(|suspicion| suspicion.certainty >= Certainty::Likely);
        let counts = shared.tests[test].learn(job, run, judged);
        if job.number == 0 && counts {
            self.add_subtests(shared, subject, run);
        }
        if !counts {
            return Ok(Vec::new());
        }
        let package = &subject.bench.package.path;
        suspicions.retain(|suspicion| {
            !suspicion.locations.iter().any(|location| {
                let key = (package.clone(), suspicion.kind.clone(), location.clone());
                shared.known.contains_key(&key)
            })
        });
        for suspicion in suspicions.iter().filter(|one| one.certainty >= Certainty::Likely) {
            remember(&mut shared.known, package, suspicion);
        }
        let fails = shared.tests[test].fails;
        suspicions.retain(|suspicion| suspicion.certainty != Certainty::Sensitive || !fails);
        Ok(suspicions)
    }

    /// The selects of files that have not been seen before.
    fn read_selects(&self, shared: &Mutex<Shared>, run: &Run) -> Result<(), Error> {
        let new: Vec<PathBuf> = {
            let shared = &mut *lock(shared);
            let places = run.trace.steps.iter().filter_map(|step| run.trace.places.get(&step.site));
            let files: BTreeSet<PathBuf> = places
                .map(|site| PathBuf::from(&site.file))
                .filter(|file| file.is_file())
                .collect();
            files.into_iter().filter(|file| shared.parsed.insert(file.clone())).collect()
        };
        if !new.is_empty() {
            let selects = self.prepared.overlay.selects(&self.prepared.go, &new)?;
            lock(shared).selects.add(selects);
        }
        Ok(())
    }

    /// Subtests are seed inputs as well.
    fn add_subtests(&self, shared: &mut Shared, subject: &Subject, run: &Run) {
        if subject.test.contains('/') {
            return;
        }
        let output = run.finished.stdout.text();
        let prefix = format!("{}/", subject.test);
        let names: BTreeSet<&str> = output
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("=== RUN"))
            .map(str::trim)
            .filter(|name| name.starts_with(&prefix) && name.matches('/').count() == 1)
            .collect();
        // One subtest is the same as the test.
        if names.len() < 2 || names.len() > SUBTESTS {
            return;
        }
        for name in names {
            let subject = Subject { bench: Arc::clone(&subject.bench), test: name.to_owned() };
            shared.tests.push(Progress::new(subject));
        }
        self.counters.set_tests(shared.tests.len());
    }

    #[allow(clippy::too_many_arguments, reason = "a run, what it showed and where that goes")]
    fn confirm(
        &self,
        shared: &Mutex<Shared>,
        test: usize,
        subject: &Subject,
        job: &Job,
        run: &Run,
        suspicion: Suspicion,
        file: &Path,
        sender: &Sender<Discovery>,
    ) -> Result<(), Error> {
        match suspicion.certainty {
            Certainty::Sensitive => {
                return self.confirm_sensitive(shared, subject, job, &suspicion, file);
            }
            Certainty::Suspect => {
                let shared = &mut *lock(shared);
                let known = &mut shared.ended.suspects;
                if !known.iter().any(|(_, one)| one.locations == suspicion.locations) {
                    known.push((subject.name(), suspicion));
                }
                return Ok(());
            }
            Certainty::Likely | Certainty::Certain => {}
        }
        let (mut failed, mut runs) = (1, 1);
        let until = Instant::now() + CONFIRMING;
        let again = Job { limit: job.limit * 2, ..job.clone() };
        while runs <= CONFIRMATIONS && (Instant::now() < until || runs == 1) {
            if self.stop.load(Ordering::SeqCst) {
                break;
            }
            let Some(rerun) = self.execute(subject, &again, file, false)? else { break };
            runs += 1;
            let showed = judge(&rerun, &lock(shared).selects);
            failed += u64::from(showed.iter().any(|other| is_same(other, &suspicion)));
        }
        if suspicion.certainty == Certainty::Likely && failed < 2 {
            let shared = &mut *lock(shared);
            forget(&mut shared.known, &subject.bench.package.path, &suspicion);
            return Ok(());
        }
        let discovery = {
            let shared = &mut *lock(shared);
            shared.tests[test].found += 1;
            let origin = Origin {
                prepared: self.prepared,
                subject,
                job,
                run,
                selects: &shared.selects,
                seed: self.bounds.seed,
            };
            discovery(&origin, &suspicion, failed, runs)
        };
        sender.send(discovery).map_err(|_| Error::Worker)
    }

    /// A failed assertion, or a panic that is one, is told apart, and only if little disturbance suffices.
    fn confirm_sensitive(
        &self,
        shared: &Mutex<Shared>,
        subject: &Subject,
        job: &Job,
        suspicion: &Suspicion,
        file: &Path,
    ) -> Result<(), Error> {
        let known = lock(shared)
            .ended
            .sensitive
            .iter()
            .any(|one| one.test == subject.test && one.package == subject.bench.package.path);
        if known {
            return Ok(());
        }
        let mut low = job.clone();
        low.plan.rate = job.plan.rate.min(LOW_RATE);
        // Nobody else of this package runs meanwhile: they may be in each other's way.
        let _alone = subject.bench.alone.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rerun) = self.execute(subject, &low, file, false)? else { return Ok(()) };
        let panicked = |one: &Suspicion| one.kind == panic_kind();
        let failed = rerun.trace.state == State::Judged && !rerun.passed()
            || judge(&rerun, &lock(shared).selects).iter().any(panicked);
        if failed {
            lock(shared).ended.sensitive.push(Sensitive {
                test: subject.test.clone(),
                package: subject.bench.package.path.clone(),
                said: suspicion.title.clone(),
                plan: low.plan.describe(),
            });
        }
        Ok(())
    }
}

/// What a worker does next.
enum Next {
    Job(usize, Subject, Job),
    Wait,
    End,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same fault: of a kind, and at one place at least.
pub(crate) fn is_same(one: &Suspicion, other: &Suspicion) -> bool {
    one.kind == other.kind
        && (one.locations.iter().any(|location| other.locations.contains(location))
            || one.locations.is_empty() && other.locations.is_empty())
}

fn remember(
    known: &mut BTreeMap<(String, Kind, String), ()>,
    package: &str,
    suspicion: &Suspicion,
) {
    for location in &suspicion.locations {
        known.insert((package.to_owned(), suspicion.kind.clone(), location.clone()), ());
    }
}

fn forget(known: &mut BTreeMap<(String, Kind, String), ()>, package: &str, suspicion: &Suspicion) {
    for location in &suspicion.locations {
        known.remove(&(package.to_owned(), suspicion.kind.clone(), location.clone()));
    }
}

/// What earlier campaigns in the same folder have found.
fn known<'a>(findings: impl Iterator<Item = &'a Finding>) -> BTreeMap<(String, Kind, String), ()> {
    let mut known = BTreeMap::new();
    for finding in findings {
        let locations = finding.details.get("locations").and_then(|value| value.as_array());
        for location in locations.into_iter().flatten().filter_map(|value| value.as_str()) {
            let key = (finding.target.clone(), finding.kind.clone(), location.to_owned());
            known.insert(key, ());
        }
    }
    known
}
