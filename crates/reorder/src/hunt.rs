//! The hunt over some tests: threads take runs in turn, results come back under one lock, what looks
//! wrong is confirmed, and what stands goes out as discoveries. Where tests come from and where
//! discoveries go is not its business.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use strait_findings::{Discovery, Finding, Kind};
use strait_golang::{Request, Run, State, TestBinary};

use crate::campaign::{Ended, InternalError, Sensitive};
use crate::counters::Counters;
use crate::discover::{Origin, deadly, discovery};
use crate::error::Error;
use crate::judge::{Certainty, Suspicion, judge, panic_kind};
use crate::order::Order;
use crate::overlay_fault::overlay_fault;
use crate::plan::Switches;
use crate::prepare::Prepared;
use crate::selects::Selects;
use crate::state::{Job, Progress};
use crate::subject::{Clock, Subject};

/// How often a finding is run again to learn its rate, and for how long at most.
const CONFIRMATIONS: u64 = 4;
const CONFIRMING: Duration = Duration::from_secs(4);
/// A test that does not end gets so many times its limit before that is said.
const SLOWER: u32 = 4;
/// Subtests are tests of their own up to this number.
const SUBTESTS: usize = 32;
/// A rate that hardly disturbs.
const LOW_RATE: u32 = 64;

/// Places of findings, by package and kind.
pub type Places = BTreeSet<(String, Kind, String)>;

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
    /// Asked whether to end at once.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// A hunt that is about to begin, or under way.
pub struct Hunt<'a> {
    terms: Terms<'a>,
    /// No run begins after that.
    deadline: Option<Instant>,
    counters: &'a Counters,
    shared: Mutex<Shared>,
    /// A thread cannot go on, so the others need not.
    failed: AtomicBool,
}

/// What the threads share.
struct Shared {
    tests: Vec<Progress>,
    known: Places,
    selects: Selects,
    parsed: BTreeSet<PathBuf>,
    ended: Ended,
}

impl<'a> Hunt<'a> {
    /// Over these tests. Whatever is known from elsewhere is reported: whoever reads it knows.
    pub fn new(
        terms: Terms<'a>,
        subjects: impl IntoIterator<Item = Subject>,
        deadline: Option<Instant>,
        counters: &'a Counters,
    ) -> Self {
        let prepared = terms.prepared;
        let tests: Vec<Progress> = subjects.into_iter().map(Progress::new).collect();
        counters.set_tests(tests.len());
        let shared = Mutex::new(Shared {
            tests,
            known: Places::new(),
            selects: Selects::new(prepared.overlay.root(&prepared.go), &prepared.base),
            parsed: BTreeSet::new(),
            ended: Ended::default(),
        });
        Hunt { terms, deadline, counters, shared, failed: AtomicBool::new(false) }
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
            named(&|test| test.clock == Clock::Real && test.subject.bench.fast.is_some());
        ended.complete =
            self.terms.runs.is_some_and(|runs| shared.tests.iter().all(|test| test.issued >= runs));
        ended
    }

    /// One thread's part, to the end; `number` is the thread's own.
    pub fn work(&self, number: usize, sender: &Sender<Discovery>) -> Result<(), Error> {
        let file = self.terms.prepared.shared_file(number);
        let result = self.work_with(&file, sender);
        self.failed.fetch_or(result.is_err(), Ordering::SeqCst);
        // It may never have been made.
        let _ = std::fs::remove_file(&file);
        result
    }

    fn work_with(&self, file: &Path, sender: &Sender<Discovery>) -> Result<(), Error> {
        loop {
            let over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if over || self.is_stopped() {
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
            match self.make(test, &subject, &job, file, sender) {
                Err(error) if error.is_lost_supervisor() => {
                    self.lose(test, &subject, &job, sender)?;
                }
                made => made?,
            }
        }
    }

    fn is_stopped(&self) -> bool {
        (self.terms.stop)() || self.failed.load(Ordering::SeqCst)
    }

    /// Makes a run and follows what it shows.
    fn make(
        &self,
        test: usize,
        subject: &Subject,
        job: &Job,
        file: &Path,
        sender: &Sender<Discovery>,
    ) -> Result<(), Error> {
        let Some(run) = self.execute(subject, job, file, job.number == 0)? else {
            let progress = &mut lock(&self.shared).tests[test];
            (progress.clock, progress.seeded) = (Clock::Virtual, true);
            return Ok(());
        };
        if self.is_stopped() {
            return Ok(());
        }
        let mut lost = Ok(());
        for suspicion in self.consider(test, subject, job, &run)? {
            match self.confirm(test, subject, job, &run, suspicion, file, sender) {
                Err(error) if error.is_lost_supervisor() => lost = Err(error),
                confirmed => confirmed?,
            }
        }
        lost
    }

    /// Whoever made the run was killed, and the test with it.
    fn lose(
        &self,
        test: usize,
        subject: &Subject,
        job: &Job,
        sender: &Sender<Discovery>,
    ) -> Result<(), Error> {
        let progress = &mut lock(&self.shared).tests[test];
        if !progress.lose(job) {
            return Ok(());
        }
        progress.found += 1;
        let Terms { prepared, seed, .. } = self.terms;
        sender.send(deadly(prepared, subject, seed, job.number)).map_err(|_| Error::Worker)
    }

    fn next(&self, shared: &mut Shared) -> Next {
        let most = self.terms.runs.unwrap_or(u64::MAX);
        let mut order: Vec<usize> =
            (0..shared.tests.len()).filter(|test| shared.tests[*test].issued < most).collect();
        if order.is_empty() {
            return Next::End;
        }
        order.sort_by_key(|test| shared.tests[*test].rank());
        for test in order {
            let progress = &mut shared.tests[test];
            if let Some(job) = progress.next(self.terms.seed, self.terms.switches) {
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
        let sanitize = self.terms.switches.sanitizer;
        let wishes = job.plan.wishes(job.clock == Clock::Virtual, job.limit, sanitize);
        let processors = job.plan.processors;
        let request = Request { test: &subject.test, wishes: &wishes, verbose, processors };
        let run = binary.run(&self.terms.prepared.go, &request, file)?;
        self.counters.add_run(binary.virtual_time);
        Ok(Some(run))
    }

    fn binary(&self, subject: &Subject, clock: Clock) -> Result<Option<TestBinary>, Error> {
        match (clock, &subject.bench.fast) {
            (Clock::Virtual, Some(binary)) => Ok(Some(binary.clone())),
            _ => {
                let real =
                    subject.bench.real(&self.terms.prepared.go, &self.terms.prepared.overlay)?;
                Ok(real.ok())
            }
        }
    }

    /// Judges a run and takes it in. Suspicions come back that are worth a confirmation.
    fn consider(
        &self,
        test: usize,
        subject: &Subject,
        job: &Job,
        run: &Run,
    ) -> Result<Vec<Suspicion>, Error> {
        self.read_selects(run)?;
        let shared = &mut *lock(&self.shared);
        if let Some(what) = overlay_fault(run) {
            note_internal_error(&mut shared.ended, subject, job, run, what);
        }
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
        if !shared.tests[test].has_ended(job.clock) {
            // Without a run that ended it is not known whether the test is slow.
            suspicions.retain(|suspicion| suspicion.kind != Kind::TIMEOUT);
        }
        let judged = suspicions.iter().any(|suspicion| suspicion.certainty >= Certainty::Likely);
        let counts = shared.tests[test].learn(job, run, judged);
        if job.number == 0 && counts {
            self.add_subtests(shared, subject, run);
        }
        if !counts {
            return Ok(Vec::new());
        }
        if job.number == 0 && subject.test.contains('/') && !run.passed() {
            // The whole test passes, so this subtest needs those that were left out.
            shared.tests[test].retire();
            return Ok(Vec::new());
        }
        let package = &subject.bench.package.path;
        suspicions.retain(|suspicion| {
            !suspicion.locations.iter().any(|location| {
                let key = (package.clone(), suspicion.kind.clone(), location.clone());
                shared.known.contains(&key)
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
        for name in names {
            let subject = Subject { bench: Arc::clone(&subject.bench), test: name.to_owned() };
            shared.tests.push(Progress::new(subject));
        }
        self.counters.set_tests(shared.tests.len());
    }

    #[allow(clippy::too_many_arguments, reason = "a run, what it showed and where that goes")]
    fn confirm(
        &self,
        test: usize,
        subject: &Subject,
        job: &Job,
        run: &Run,
        mut suspicion: Suspicion,
        file: &Path,
        sender: &Sender<Discovery>,
    ) -> Result<(), Error> {
        match suspicion.certainty {
            Certainty::Sensitive => {
                return self.confirm_sensitive(subject, job, &suspicion, file);
            }
            Certainty::Suspect => {
                let shared = &mut *lock(&self.shared);
                let known = &mut shared.ended.suspects;
                if !known.iter().any(|(_, one)| one.locations == suspicion.locations) {
                    known.push((subject.name(), suspicion));
                }
                return Ok(());
            }
            Certainty::Likely | Certainty::Certain => {}
        }
        let (mut failed, mut runs, mut lost) = (1, 1, Ok(()));
        let until = Instant::now() + CONFIRMING;
        let longer = if suspicion.kind == Kind::TIMEOUT { SLOWER } else { 2 };
        let again = Job { limit: job.limit * longer, ..job.clone() };
        while runs <= CONFIRMATIONS && (Instant::now() < until || runs == 1) {
            if self.is_stopped() {
                break;
            }
            let rerun = match self.execute(subject, &again, file, false) {
                Err(error) if error.is_lost_supervisor() => {
                    lost = Err(error);
                    break;
                }
                rerun => rerun?,
            };
            let Some(rerun) = rerun else { break };
            runs += 1;
            failed += u64::from(self.shows(&rerun, &suspicion));
        }
        if suspicion.certainty == Certainty::Likely && failed < 2 {
            let shared = &mut *lock(&self.shared);
            forget(&mut shared.known, &subject.bench.package.path, &suspicion);
            return lost;
        }
        if run.trace.overtaken > 0 && lost.is_ok() {
            match self.shows_unforced(subject, job, &suspicion, file) {
                Err(error) if error.is_lost_supervisor() => lost = Err(error),
                shown => {
                    if !shown? {
                        let selects = &lock(&self.shared).selects;
                        suspicion.needs_timeout(&run.trace, selects);
                    }
                }
            }
        }
        let discovery = {
            let shared = &mut *lock(&self.shared);
            shared.tests[test].found += 1;
            let origin = Origin {
                prepared: self.terms.prepared,
                subject,
                job,
                run,
                selects: &shared.selects,
                seed: self.terms.seed,
            };
            discovery(&origin, &suspicion, failed, runs)
        };
        sender.send(discovery).map_err(|_| Error::Worker)?;
        lost
    }

    /// Does a run show this, and not merely as a consequence of a failed assertion?
    fn shows(&self, run: &Run, suspicion: &Suspicion) -> bool {
        let showed = judge(run, &lock(&self.shared).selects);
        showed
            .iter()
            .any(|other| other.certainty > Certainty::Sensitive && is_same(other, suspicion))
    }

    /// Does it also show if no select is forced? In the run that showed it a timeout was preferred to a
    /// case that could go on.
    fn shows_unforced(
        &self,
        subject: &Subject,
        job: &Job,
        suspicion: &Suspicion,
        file: &Path,
    ) -> Result<bool, Error> {
        let mut free = job.clone();
        free.plan.order = Order::default();
        let until = Instant::now() + CONFIRMING;
        for _ in 0..CONFIRMATIONS {
            if self.is_stopped() || Instant::now() >= until {
                break;
            }
            let Some(rerun) = self.execute(subject, &free, file, false)? else { break };
            if rerun.trace.overtaken == 0 && self.shows(&rerun, suspicion) {
                return Ok(true);
            }
            free.plan.seed = free.plan.seed.wrapping_add(1);
        }
        Ok(false)
    }

    /// A failed assertion, or a panic that is one, is told apart, and only if little disturbance suffices.
    fn confirm_sensitive(
        &self,
        subject: &Subject,
        job: &Job,
        suspicion: &Suspicion,
        file: &Path,
    ) -> Result<(), Error> {
        let known = lock(&self.shared)
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
            || rerun.trace.failure.is_some()
            || judge(&rerun, &lock(&self.shared).selects).iter().any(panicked);
        if failed {
            lock(&self.shared).ended.sensitive.push(Sensitive {
                test: subject.test.clone(),
                package: subject.bench.package.path.clone(),
                said: suspicion.title.clone(),
                plan: low.plan.describe(),
            });
        }
        Ok(())
    }
}

/// One internal error per test is enough.
fn note_internal_error(ended: &mut Ended, subject: &Subject, job: &Job, run: &Run, what: String) {
    const KEPT: usize = 4000;
    let (test, package) = (&subject.test, &subject.bench.package.path);
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same fault: of a kind, and at one place at least.
pub(crate) fn is_same(one: &Suspicion, other: &Suspicion) -> bool {
    one.kind == other.kind
        && (one.locations.iter().any(|location| other.locations.contains(location))
            || one.locations.is_empty() && other.locations.is_empty())
}

fn remember(known: &mut Places, package: &str, suspicion: &Suspicion) {
    for location in &suspicion.locations {
        known.insert((package.to_owned(), suspicion.kind.clone(), location.clone()));
    }
}

fn forget(known: &mut Places, package: &str, suspicion: &Suspicion) {
    for location in &suspicion.locations {
        known.remove(&(package.to_owned(), suspicion.kind.clone(), location.clone()));
    }
}

/// What earlier campaigns in the same folder have found.
pub fn known<'a>(findings: impl Iterator<Item = &'a Finding>) -> Places {
    let keys =
        findings.flat_map(|finding| places_of(&finding.target, &finding.kind, &finding.details));
    keys.collect()
}

fn places_of(
    package: &str,
    kind: &Kind,
    details: &BTreeMap<String, Value>,
) -> impl Iterator<Item = (String, Kind, String)> {
    let locations = details.get("locations").and_then(Value::as_array);
    locations
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(move |location| (package.to_owned(), kind.clone(), location.to_owned()))
}

/// Is it at places where nothing is known? Then it is known from now on.
pub fn is_news(known: &mut Places, discovery: &Discovery) -> bool {
    let keys: Vec<_> = places_of(&discovery.target, &discovery.kind, &discovery.details).collect();
    let is_new = !keys.iter().any(|key| known.contains(key));
    known.extend(keys);
    is_new
}
