//! The hunt over some tests: threads take runs in turn, results come back under one lock, what looks
//! wrong is confirmed, and what stands goes out as discoveries. Where tests come from and where
//! discoveries go is not its business.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use strait_campaign::Ending;
use strait_findings::{Discovery, Finding, Kind, Ranges};
use strait_golang::{Request, Run, TestBinary};
use strait_toolchain::End;

use crate::counters::Counters;
use crate::discover::{causes, deadly};
use crate::ended::{Ended, InternalError};
use crate::error::Error;
use crate::evidence::Shown;
use crate::indices::RunIndices;
use crate::judge::{Certainty, Rules, Suspicion, judge, panic_kind};
use crate::overlay_fault::overlay_fault;
use crate::plan::Switches;
use crate::predict::lock_cycles;
use crate::prepare::Prepared;
use crate::selects::Selects;
use crate::state::{Job, Progress};
use crate::subject::{Clock, Subject};

/// Subtests are tests of their own up to this number.
const SUBTESTS: usize = 32;
/// What is left at the end of a test gets so long to end, if nothing may be left.
const LIFECYCLE_SETTLE: Duration = Duration::from_millis(500);

/// What findings are known by, with their kinds.
pub type KnownCauses = BTreeSet<(Kind, String)>;

/// What decides what a hunt does, whatever its tests.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// What the tests need.
    pub prepared: &'a Prepared,
    /// The seed.
    pub seed: u64,
    /// Runs a test.
    pub runs: Option<u64>,
    /// What is used.
    pub switches: Switches,
    /// What counts as wrong.
    pub rules: &'a Rules,
    /// Asked whether to end.
    pub ending: &'a dyn Ending,
    /// Runs that need not be made again.
    pub indices: Option<&'a RunIndices>,
}

impl Terms<'_> {
    /// A test about which nothing is known but which of its runs were made before.
    fn progress(&self, subject: Subject) -> Progress {
        let done = self.indices.map_or_else(Ranges::default, |indices| indices.done(&subject));
        Progress::resumed(subject, done)
    }
}

/// What a hunt reports while it goes on.
pub enum Event {
    /// A run of a test begins.
    Begins {
        /// The test.
        subject: Subject,
        /// The number of the run.
        run: u64,
    },
    /// What a run of a test has shown is confirmed by further runs.
    Confirms {
        /// The test.
        subject: Subject,
        /// The number of the run.
        run: u64,
    },
    /// A run of a test has had all that follows from it.
    Done {
        /// The test.
        subject: Subject,
        /// The number of the run.
        run: u64,
    },
    /// A fault.
    Found {
        /// The test that showed it.
        subject: Subject,
        /// The fault.
        discovery: Box<Discovery>,
    },
}

/// Where events go.
pub type Report<'r> = &'r (dyn Fn(Event) -> Result<(), Error> + Sync);

/// A hunt that is about to begin, or under way.
pub struct Hunt<'a> {
    pub(crate) terms: Terms<'a>,
    counters: &'a Counters,
    pub(crate) shared: Mutex<Shared>,
    /// A thread cannot go on, so the others need not.
    failed: AtomicBool,
}

/// What the threads share.
pub(crate) struct Shared {
    pub tests: Vec<Progress>,
    pub known: KnownCauses,
    pub selects: Selects,
    parsed: BTreeSet<PathBuf>,
    pub ended: Ended,
}

impl<'a> Hunt<'a> {
    /// Over these tests. Faults that are known from elsewhere are reported too.
    pub fn new(
        terms: Terms<'a>,
        subjects: impl IntoIterator<Item = Subject>,
        counters: &'a Counters,
    ) -> Self {
        let prepared = terms.prepared;
        let tests = subjects.into_iter().map(|subject| terms.progress(subject));
        let tests: Vec<Progress> = tests.collect();
        counters.set_tests(tests.len());
        let shared = Mutex::new(Shared {
            tests,
            known: KnownCauses::new(),
            selects: Selects::new(prepared.overlay.root(&prepared.go), &prepared.base),
            parsed: BTreeSet::new(),
            ended: Ended::default(),
        });
        Hunt { terms, counters, shared, failed: AtomicBool::new(false) }
    }

    /// What there is to say in the end.
    pub fn summary(self) -> Ended {
        let shared = self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut ended = shared.ended;
        let named = |which: &dyn Fn(&Progress) -> bool| {
            let tests = shared.tests.iter().filter(|test| which(test));
            tests.map(|test| test.subject.name()).collect::<Vec<String>>()
        };
        ended.tests = shared.tests.len() as u64;
        ended.failing = named(&|test| test.fails);
        ended.exiting = named(&|test| test.exits);
        ended.real_time =
            named(&|test| test.clock == Clock::Real && test.subject.tests.fast.is_some());
        // A circle that has closed is a finding.
        let closed = |test: &&Progress| test.found == 0;
        for test in shared.tests.iter().filter(closed) {
            let cycles = test.predicted().iter().map(|cycle| cycle.story.clone());
            ended.predicted.extend(cycles.map(|story| (test.subject.name(), story)));
        }
        ended.not_run = named(&|test| test.issued == 0);
        for test in &shared.tests {
            let package = test.subject.tests.package.path.clone();
            let runs = ended.by_package.entry(package).or_default();
            runs.tests += 1;
            runs.runs += test.made;
        }
        ended.complete =
            self.terms.runs.is_some_and(|runs| shared.tests.iter().all(|test| test.issued >= runs));
        ended
    }

    /// One thread's part, to the end; `number` is the thread's own.
    pub fn work(&self, number: usize, report: Report<'_>) -> Result<(), Error> {
        let file = self.terms.prepared.shared_file(number);
        let result = self.work_with(&file, report);
        self.failed.fetch_or(result.is_err(), Ordering::SeqCst);
        // It may never have been made.
        let _ = std::fs::remove_file(&file);
        result
    }

    fn work_with(&self, file: &Path, report: Report<'_>) -> Result<(), Error> {
        loop {
            if self.terms.ending.is_due() || self.is_stopped() {
                return Ok(());
            }
            let next = self.next(&mut lock(&self.shared));
            let (test, subject, job) = match next {
                Next::Job(test, subject, job) => (test, subject, job),
                Next::Wait => {
                    std::thread::sleep(Duration::from_millis(2));
                    continue;
                }
                Next::End => return Ok(()),
            };
            match self.make(test, &subject, &job, file, report) {
                Err(error) if error.is_lost_supervisor() => {
                    self.lose(test, &subject, &job, report)?;
                }
                made => made?,
            }
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.terms.ending.is_now() || self.failed.load(Ordering::SeqCst)
    }

    /// Makes a run and follows what it shows.
    fn make(
        &self,
        test: usize,
        subject: &Subject,
        job: &Job,
        file: &Path,
        report: Report<'_>,
    ) -> Result<(), Error> {
        report(Event::Begins { subject: subject.clone(), run: job.number })?;
        let Some(run) = self.execute(subject, job, file, job.number == 0)? else {
            let progress = &mut lock(&self.shared).tests[test];
            (progress.clock, progress.seeded) = (Clock::Virtual, true);
            return Ok(());
        };
        if self.is_stopped() {
            return Ok(());
        }
        if let End::OverLimit(resource) = run.finished.end {
            let shared = &mut *lock(&self.shared);
            shared.tests[test].retire();
            shared.ended.over_limit.push((subject.name(), resource));
            return Ok(());
        }
        let mut lost = Ok(());
        let (counts, suspicions) = self.consider(test, subject, job, &run)?;
        for suspicion in suspicions {
            report(Event::Confirms { subject: subject.clone(), run: job.number })?;
            let shown = Shown { test, subject, job, run: &run, file };
            match self.confirm(shown, suspicion, report) {
                Err(error) if error.is_lost_supervisor() => lost = Err(error),
                confirmed => confirmed?,
            }
        }
        if counts && lost.is_ok() && !self.is_stopped() {
            report(Event::Done { subject: subject.clone(), run: job.number })?;
        }
        lost
    }

    /// The worker that made the run was killed, and the test with it.
    fn lose(
        &self,
        test: usize,
        subject: &Subject,
        job: &Job,
        report: Report<'_>,
    ) -> Result<(), Error> {
        let progress = &mut lock(&self.shared).tests[test];
        if !progress.lose(job) {
            return Ok(());
        }
        progress.found += 1;
        let Terms { prepared, seed, .. } = self.terms;
        let discovery = Box::new(deadly(prepared, subject, seed, job.number));
        report(Event::Found { subject: subject.clone(), discovery })
    }

    fn next(&self, shared: &mut Shared) -> Next {
        let most = self.terms.runs.unwrap_or(u64::MAX);
        let mut order: Vec<usize> =
            (0..shared.tests.len()).filter(|test| shared.tests[*test].issued < most).collect();
        if order.is_empty() {
            return Next::End;
        }
        // Every test has its first run before any has a second one, and the packages take turns.
        let mut spent: BTreeMap<&str, (usize, Duration)> = BTreeMap::new();
        for test in &shared.tests {
            let entry = spent.entry(&test.subject.tests.package.path).or_default();
            *entry = (entry.0 + usize::from(test.issued > 0), entry.1 + test.spent);
        }
        let key = |test: &Progress| match test.issued {
            0 => (false, spent[test.subject.tests.package.path.as_str()], test.rank()),
            _ => (true, (0, Duration::ZERO), test.rank()),
        };
        let keys: Vec<_> = shared.tests.iter().map(key).collect();
        order.sort_by_key(|test| keys[*test]);
        for test in order {
            let progress = &mut shared.tests[test];
            if let Some(job) = progress.next(self.terms.seed, self.terms.switches) {
                return Next::Job(test, progress.subject.clone(), job);
            }
        }
        Next::Wait
    }

    /// Makes a run; `None` if there is no binary for its clock.
    pub(crate) fn execute(
        &self,
        subject: &Subject,
        job: &Job,
        file: &Path,
        verbose: bool,
    ) -> Result<Option<Run>, Error> {
        let Some(binary) = self.binary(subject, job.clock)? else { return Ok(None) };
        let sanitize = self.terms.switches.sanitizer;
        let mut wishes = job.plan.wishes(job.clock == Clock::Virtual, job.limit, sanitize);
        if self.terms.rules.lifecycle {
            wishes.settle = LIFECYCLE_SETTLE;
        }
        let processors = job.plan.processors;
        let request = Request { test: &subject.test, wishes: &wishes, verbose, processors };
        let run = binary.run(&self.terms.prepared.go, &request, file)?;
        self.counters.add_run(binary.virtual_time);
        Ok(Some(run))
    }

    fn binary(&self, subject: &Subject, clock: Clock) -> Result<Option<TestBinary>, Error> {
        match (clock, &subject.tests.fast) {
            (Clock::Virtual, Some(binary)) => Ok(Some(binary.clone())),
            _ => {
                let real =
                    subject.tests.real(&self.terms.prepared.go, &self.terms.prepared.overlay)?;
                Ok(real.ok())
            }
        }
    }

    /// Judges a run and takes it in. Says whether the run counts, and which suspicions are worth a
    /// confirmation.
    fn consider(
        &self,
        test: usize,
        subject: &Subject,
        job: &Job,
        run: &Run,
    ) -> Result<(bool, Vec<Suspicion>), Error> {
        self.read_selects(run)?;
        let shared = &mut *lock(&self.shared);
        if let Some(what) = overlay_fault(run) {
            note_internal_error(&mut shared.ended, subject, job, run, what);
        }
        shared.tests[test].spent += run.finished.wall;
        shared.tests[test].made += 1;
        let mut suspicions = judge(run, &shared.selects, self.terms.rules);
        if job.clock == Clock::Virtual {
            // Time that stands still is no fault of the test.
            suspicions.retain(|suspicion| suspicion.kind != Kind::TIMEOUT);
        }
        if !job.plan.is_plain() {
            // A call of panic in the code itself is as good as an assertion: it may depend on time.
            let asserted = |one: &&mut Suspicion| {
                one.kind == panic_kind() && one.certainty == Certainty::Likely
            };
            for suspicion in suspicions.iter_mut().filter(asserted) {
                suspicion.certainty = Certainty::Sensitive;
            }
        }
        if !shared.tests[test].has_ended(job.clock) {
            // Without a run that ended it is not known whether the test is slow.
            suspicions.retain(|suspicion| suspicion.kind != Kind::TIMEOUT);
        }
        let judged = suspicions.iter().any(|suspicion| suspicion.certainty >= Certainty::Likely);
        let counts = shared.tests[test].learn(job, run, judged);
        if run.passed() && counts {
            let cycles = lock_cycles(&run.trace, &shared.selects);
            shared.tests[test].predict(cycles);
        }
        if job.number == 0 && counts {
            self.add_subtests(shared, subject, run);
        }
        if !counts {
            return Ok((false, Vec::new()));
        }
        if job.number == 0 && subject.test.contains('/') && !run.passed() {
            // The whole test passes, so this subtest needs those that were left out.
            shared.tests[test].retire();
            return Ok((true, Vec::new()));
        }
        // What is known under one of its causes is known under all of them.
        let mut is_new = |one: &Suspicion| {
            let is_new = !keys(one).any(|key| shared.known.contains(&key));
            if one.certainty >= Certainty::Likely {
                shared.known.extend(keys(one));
            }
            is_new
        };
        suspicions.retain(|one| is_new(one));
        let fails = shared.tests[test].fails;
        suspicions.retain(|one| !fails || one.certainty != Certainty::Sensitive && !one.fails_test);
        Ok((true, suspicions))
    }

    /// The selects of files that have not been seen before.
    fn read_selects(&self, run: &Run) -> Result<(), Error> {
        let new: Vec<PathBuf> = {
            let shared = &mut *lock(&self.shared);
            let places = run.trace.steps.iter().filter_map(|step| run.trace.places.get(&step.site));
            let files: BTreeSet<PathBuf> = places
                .map(|site| PathBuf::from(&site.file))
                .filter(|file| file.is_file())
                .collect();
            files.into_iter().filter(|file| shared.parsed.insert(file.clone())).collect()
        };
        if !new.is_empty() {
            let selects = self.terms.prepared.overlay.selects(&self.terms.prepared.go, &new)?;
            lock(&self.shared).selects.add(selects);
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
        for (subtest, name) in (1..).zip(names) {
            let tests = Arc::clone(&subject.tests);
            let subject = Subject { tests, test: name.to_owned(), subtest };
            shared.tests.push(self.terms.progress(subject));
        }
        self.counters.set_tests(shared.tests.len());
    }
}

/// One internal error per test is enough.
fn note_internal_error(ended: &mut Ended, subject: &Subject, job: &Job, run: &Run, what: String) {
    const KEPT: usize = 4000;
    let (test, package) = (&subject.test, &subject.tests.package.path);
    let known = &mut ended.internal_errors;
    if known.iter().any(|one| one.test == *test && one.package == *package) {
        return;
    }
    let clock = if job.clock == Clock::Virtual { "virtual" } else { "real" };
    known.push(InternalError {
        test: test.clone(),
        package: package.clone(),
        what,
        run: job.number,
        plan: format!("{}, {clock} clock", job.plan.describe()),
        output: run.finished.stderr.text().chars().take(KEPT).collect(),
    });
}

/// What a thread does next.
enum Next {
    Job(usize, Subject, Job),
    Wait,
    End,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a suspicion is known by.
pub(crate) fn keys(suspicion: &Suspicion) -> impl Iterator<Item = (Kind, String)> + '_ {
    suspicion.causes.iter().map(|cause| (suspicion.kind.clone(), cause.clone()))
}

/// What earlier campaigns in the same folder have found.
pub fn known<'a>(findings: impl Iterator<Item = &'a Finding>) -> KnownCauses {
    findings.flat_map(|finding| known_by(&finding.kind, &finding.details)).collect()
}

fn known_by<'a>(
    kind: &'a Kind,
    details: &'a BTreeMap<String, Value>,
) -> impl Iterator<Item = (Kind, String)> + 'a {
    causes(details).map(|cause| (kind.clone(), cause.to_owned()))
}

/// Has it a cause of which nothing is known? Then it is known from now on.
pub fn is_news(known: &mut KnownCauses, discovery: &Discovery) -> bool {
    let keys: Vec<_> = known_by(&discovery.kind, &discovery.details).collect();
    let is_new = !keys.iter().any(|key| known.contains(key));
    known.extend(keys);
    is_new
}
