//! The smallest disturbance that makes a test fail. A test that passes, as a rule, comes in; out comes a
//! plan with as few pauses and preferred cases as were found to be enough, and how often the test fails
//! with it.
//!
//! First one pause alone is tried, at each place of the program in turn, then one preferred case of a
//! select, then a short and a long pause at two places of the module. Only if none of them is enough, runs
//! are disturbed at random, and what made one of them fail is reduced by halves, as delta debugging does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use strait_golang::{Pause, Request as RunRequest, Run, Site, Step};
use strait_toolchain::End;

use crate::class::UndisturbedRuns;
use crate::discover::{Origin, discovery};
use crate::error::Error;
use crate::judge::{Certainty, Rules, Suspicion, judge};
use crate::order::Order;
use crate::overlay_fault::overlay_fault;
use crate::plan::{Plan, Switches};
use crate::prepare::Prepared;
use crate::selects::Selects;
use crate::state::{Job, Progress};
use crate::subject::{Clock, Subject};

/// How long a goroutine pauses: short pauses first. By the real clock only the first two.
const LENGTHS: [Duration; 4] = [
    Duration::from_millis(2),
    Duration::from_millis(50),
    Duration::from_secs(2),
    Duration::from_secs(60),
];
const REAL_LENGTHS: usize = 2;
/// A pause each time that a goroutine comes by, and one the first time only.
const OFTEN: u32 = 1000;
/// Undisturbed runs.
const UNDISTURBED: u64 = 10;
/// Runs that say how often the test fails in the end, and what is good enough.
const FINAL: u64 = 20;
const GOOD: u64 = 19;
/// How many places are tried alone, and how many in pairs.
const PLACES: usize = 256;
const PAIRED: usize = 16;
/// A short and a long pause, by the virtual clock and by the real one.
const PAIR: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];
const REAL_PAIR: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(50)];

/// Part of a disturbance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nudge {
    /// Goroutines pause before the operation at a place.
    Pause {
        /// Where, as `file:line`.
        place: String,
        /// The function.
        function: String,
        /// How long, by the clock of the test.
        length: Duration,
        /// Only the first goroutine that comes by, or all?
        once: bool,
    },
    /// A select prefers a case.
    Prefer {
        /// Which case, in words.
        select: String,
    },
    /// Operations give way at random.
    Yields {
        /// Of 1024 operations.
        rate: u32,
    },
}

impl fmt::Display for Nudge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nudge::Pause { place, function, length, once } => {
                let who = if *once { "the first goroutine" } else { "every goroutine" };
                write!(formatter, "{who} that comes to {place} in {function} is {length:?} late")
            }
            Nudge::Prefer { select } => write!(formatter, "the {select}"),
            Nudge::Yields { rate } => {
                write!(formatter, "goroutines give way at {rate} of 1024 operations")
            }
        }
    }
}

/// A disturbance that makes the test fail.
#[derive(Debug)]
pub struct Explained {
    /// Its parts.
    pub nudges: Vec<Nudge>,
    /// In how many of how many runs the test fails with it.
    pub failed: u64,
    /// All of them.
    pub runs: u64,
    /// What fails.
    pub title: String,
    /// By the virtual clock?
    pub virtual_time: bool,
    /// For the store: it can be replayed.
    pub discovery: strait_findings::Discovery,
}

/// What came of the search.
#[derive(Debug, Default)]
pub struct FlakyOutcome {
    /// How often the test fails if nothing disturbs it.
    pub undisturbed: UndisturbedRuns,
    /// All runs that were made.
    pub runs: u64,
    /// What makes it fail, if that was found.
    pub explained: Option<Explained>,
}

/// A search for what makes one test fail.
pub struct FlakySearch<'a> {
    prepared: &'a Prepared,
    subject: &'a Subject,
    seed: u64,
    deadline: Instant,
    stop: &'a AtomicBool,
    file: std::path::PathBuf,
    selects: Selects,
    clock: Clock,
    limit: Duration,
    runs: u64,
    /// Places of operations outside of the standard library.
    places: BTreeMap<u64, Site>,
    /// Selects that runs have come to, with their numbers of cases.
    choices: BTreeMap<u64, u16>,
}

impl<'a> FlakySearch<'a> {
    /// For a test that was prepared.
    pub fn new(
        prepared: &'a Prepared,
        subject: &'a Subject,
        seed: u64,
        time: Duration,
        stop: &'a AtomicBool,
    ) -> Self {
        FlakySearch {
            prepared,
            subject,
            seed,
            deadline: Instant::now() + time,
            stop,
            file: prepared.shared_file(0),
            selects: Selects::new(prepared.overlay.root(&prepared.go), &prepared.base),
            clock: if subject.tests.fast.is_some() { Clock::Virtual } else { Clock::Real },
            limit: Duration::from_secs(10),
            runs: 0,
            places: BTreeMap::new(),
            choices: BTreeMap::new(),
        }
    }

    /// Searches, to the end.
    pub fn run(mut self) -> Result<FlakyOutcome, Error> {
        let result = self.search();
        // It may never have been made.
        let _ = std::fs::remove_file(&self.file);
        let (undisturbed, explained) = result?;
        Ok(FlakyOutcome { undisturbed, runs: self.runs, explained })
    }

    fn search(&mut self) -> Result<(UndisturbedRuns, Option<Explained>), Error> {
        let undisturbed = self.undisturbed()?;
        if undisturbed.runs > 0 && undisturbed.failed == undisturbed.runs {
            // It is not flaky.
            return Ok((undisturbed, None));
        }
        let mut found = self.one_pause()?;
        if found.is_none() {
            found = self.one_preference()?;
        }
        if found.is_none() {
            found = self.two_pauses()?;
        }
        if found.is_none() {
            found = self.random()?;
        }
        let Some(plan) = found else { return Ok((undisturbed, None)) };
        let explained = self.explain(plan, undisturbed)?;
        Ok((undisturbed, explained))
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || self.stop.load(Ordering::SeqCst)
    }

    /// Runs that nothing disturbs: they choose the clock, and show the places and selects.
    fn undisturbed(&mut self) -> Result<UndisturbedRuns, Error> {
        let mut counted = UndisturbedRuns::default();
        while counted.runs < UNDISTURBED && !self.is_over() {
            let plan = Plan::plain(self.seed.wrapping_add(counted.runs));
            let run = self.execute(&plan)?;
            if counted.runs == 0 && self.clock == Clock::Virtual && !run.passed() {
                // The virtual clock may not suit the test.
                self.clock = Clock::Real;
                continue;
            }
            let longer = run.finished.wall * 10;
            self.limit = self.limit.max(longer);
            counted.runs += 1;
            counted.failed += u64::from(fails(&run));
        }
        Ok(counted)
    }

    fn execute(&mut self, plan: &Plan) -> Result<Run, Error> {
        let prepared = self.prepared;
        let package = &self.subject.tests.package.path;
        let binary = prepared.binary_of(package, self.clock == Clock::Virtual)?;
        let wishes = plan.wishes(binary.virtual_time, self.limit, true);
        let processors = plan.processors;
        let test = self.subject.test.as_str();
        let request = RunRequest { test, wishes: &wishes, verbose: false, processors };
        let run = binary.run(&prepared.go, &request, &self.file)?;
        self.runs += 1;
        for (id, site) in &run.trace.places {
            if !self.selects.is_standard(site) {
                self.places.insert(*id, site.clone());
            }
        }
        for step in run.trace.steps.iter().filter(|step| step.cases > 1) {
            self.choices.insert(step.site, step.cases);
        }
        Ok(run)
    }

    /// Does the test fail with this plan, so many times in a row?
    fn fails_always(&mut self, plan: &Plan, times: u64) -> Result<bool, Error> {
        for number in 0..times {
            let plan = Plan { seed: plan.seed.wrapping_add(number), ..plan.clone() };
            if self.is_over() || !fails(&self.execute(&plan)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn lengths(&self) -> &'static [Duration] {
        match self.clock {
            Clock::Virtual => &LENGTHS,
            Clock::Real => &LENGTHS[..REAL_LENGTHS],
        }
    }

    /// A pause at one place, the shortest that is enough.
    fn one_pause(&mut self) -> Result<Option<Plan>, Error> {
        let mut places: Vec<(u64, Site)> =
            self.places.iter().map(|(id, site)| (*id, site.clone())).collect();
        // Those of the module come first.
        let base = &self.prepared.base;
        places.sort_by_key(|(_, site)| !Path::new(&site.file).starts_with(base));
        places.truncate(PLACES);
        for length in self.lengths() {
            for (place, _) in &places {
                if self.is_over() {
                    return Ok(None);
                }
                for times in [1, OFTEN] {
                    let plan = slow_at([*place], *length, times, self.seed);
                    if self.fails_always(&plan, 3)? {
                        return Ok(Some(plan));
                    }
                }
            }
        }
        Ok(None)
    }

    /// One select that always prefers one of its cases.
    fn one_preference(&mut self) -> Result<Option<Plan>, Error> {
        for (site, cases) in self.choices.clone() {
            for chosen in 0..cases {
                if self.is_over() {
                    return Ok(None);
                }
                let order = Order(vec![Step { site, cases, chosen }]);
                let plan = Plan { order, patience: 4, ..Plan::plain(self.seed) };
                if self.fails_always(&plan, 3)? {
                    return Ok(Some(plan));
                }
            }
        }
        Ok(None)
    }

    /// A goroutine that is late, and another one that is later still.
    fn two_pauses(&mut self) -> Result<Option<Plan>, Error> {
        let base = &self.prepared.base;
        let own = self.places.iter().filter(|(_, site)| Path::new(&site.file).starts_with(base));
        let places: Vec<u64> = own.map(|(id, _)| *id).take(PAIRED).collect();
        let [short, long] = match self.clock {
            Clock::Virtual => PAIR,
            Clock::Real => REAL_PAIR,
        };
        for first in &places {
            for second in places.iter().filter(|second| *second != first) {
                if self.is_over() {
                    return Ok(None);
                }
                let mut plan = slow_at([*first], short, OFTEN, self.seed);
                plan.slow.insert(*second, Pause { length: long, times: OFTEN });
                if self.fails_always(&plan, 3)? {
                    return Ok(Some(plan));
                }
            }
        }
        Ok(None)
    }

    /// Random disturbances, and what is left of one that makes the test fail.
    fn random(&mut self) -> Result<Option<Plan>, Error> {
        let mut search = Progress::new(self.subject.clone());
        while !self.is_over() {
            let Some(job) = search.next(self.seed, Switches::default()) else { break };
            let run = self.execute(&job.plan)?;
            let failed = fails(&run);
            search.learn(&job, &run, failed);
            if failed
                && !job.plan.is_plain()
                && let Some(plan) = self.reduced(&job.plan)?
            {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// A plan that fails often enough to be told apart, reduced; `None` if it does not.
    fn reduced(&mut self, found: &Plan) -> Result<Option<Plan>, Error> {
        let mut plan = found.clone();
        if plan.rate > 0 {
            let free = Plan { rate: 0, sited: false, ..plan.clone() };
            let places: Vec<u64> = match plan.sited {
                true => self.places.keys().copied().filter(|id| is_slow(&plan, *id)).collect(),
                false => self.places.keys().copied().collect(),
            };
            for length in self.lengths() {
                let slow = slow_at(places.iter().copied(), *length, OFTEN, plan.seed).slow;
                let paused = Plan { slow, ..free.clone() };
                if self.fails_always(&paused, 2)? {
                    plan = paused;
                    break;
                }
            }
        }
        if !self.fails_often(&plan)? {
            return Ok(None);
        }
        let sites: BTreeSet<u64> = plan.order.0.iter().map(|step| step.site).collect();
        let places: Vec<u64> = plan.slow.keys().copied().collect();
        let kept = self.smallest(&places, &|kept: &[u64]| {
            let mut smaller = plan.clone();
            smaller.slow.retain(|id, _| kept.contains(id));
            smaller
        })?;
        plan.slow.retain(|id, _| kept.contains(id));
        let sites: Vec<u64> = sites.into_iter().collect();
        let kept = self.smallest(&sites, &|kept: &[u64]| {
            let mut smaller = plan.clone();
            smaller.order.0.retain(|step| kept.contains(&step.site));
            smaller
        })?;
        plan.order.0.retain(|step| kept.contains(&step.site));
        Ok(Some(plan))
    }

    /// In at least two of three runs?
    fn fails_often(&mut self, plan: &Plan) -> Result<bool, Error> {
        let mut failed = 0;
        for number in 0..3 {
            let plan = Plan { seed: plan.seed.wrapping_add(number), ..plan.clone() };
            failed += u64::from(fails(&self.execute(&plan)?));
        }
        Ok(failed >= 2)
    }

    /// Delta debugging: parts are left out, larger ones first, as long as the test still fails.
    fn smallest(&mut self, all: &[u64], with: &dyn Fn(&[u64]) -> Plan) -> Result<Vec<u64>, Error> {
        let mut kept = all.to_vec();
        let mut size = kept.len().div_ceil(2);
        while size > 0 && !kept.is_empty() && !self.is_over() {
            let mut at = 0;
            while at < kept.len() {
                let mut smaller = kept.clone();
                smaller.drain(at..(at + size).min(kept.len()));
                if self.fails_often(&with(&smaller))? {
                    kept = smaller;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        Ok(kept)
    }

    /// Counts how often the test fails with the plan, with longer pauses or on one processor if that is
    /// not often enough, and puts it into words.
    fn explain(
        &mut self,
        plan: Plan,
        undisturbed: UndisturbedRuns,
    ) -> Result<Option<Explained>, Error> {
        let longer = |times: u32| {
            let mut longer = plan.clone();
            longer.slow.values_mut().for_each(|pause| pause.length *= times);
            longer
        };
        let on_one_processor = |plan: Plan| Plan { processors: Some(1), ..plan };
        let mut candidates = vec![plan.clone()];
        if !plan.slow.is_empty() {
            candidates.extend([longer(5), longer(50)]);
            candidates.push(on_one_processor(longer(5)));
        }
        // With several processors the same plan may take another course.
        candidates.push(on_one_processor(plan.clone()));
        let mut best: Option<(u64, u64, Plan, Run)> = None;
        for candidate in candidates {
            let (mut failed, mut runs, mut shown) = (0, 0, None);
            while runs < FINAL && !self.stop.load(Ordering::SeqCst) {
                let run = self.execute(&candidate)?;
                runs += 1;
                if fails(&run) {
                    failed += 1;
                    shown = Some(run);
                }
            }
            let better = best.as_ref().is_none_or(|(known, ..)| failed > *known);
            if let Some(run) = shown.filter(|_| better) {
                best = Some((failed, runs, candidate, run));
            }
            if best.as_ref().is_some_and(|(failed, ..)| *failed >= GOOD) {
                break;
            }
        }
        let Some((failed, runs, plan, run)) = best else { return Ok(None) };
        self.read_selects(&run)?;
        let nudges = self.nudges(&plan, &run);
        let suspicion = what_fails(&run, &self.selects);
        let job = Job { number: 0, plan, clock: self.clock, limit: self.limit };
        let origin = Origin {
            prepared: self.prepared,
            subject: self.subject,
            job: &job,
            run: &run,
            selects: &self.selects,
            seed: self.seed,
            undisturbed,
        };
        let mut discovery = discovery(&origin, &suspicion, failed, runs);
        let told: Vec<String> = nudges.iter().map(|nudge| format!("  {nudge}\n")).collect();
        discovery.explanation =
            format!("The test fails if\n{}\n{}", told.concat(), discovery.explanation);
        let virtual_time = self.clock == Clock::Virtual;
        let title = suspicion.title;
        Ok(Some(Explained { nudges, failed, runs, title, virtual_time, discovery }))
    }

    fn read_selects(&mut self, run: &Run) -> Result<(), Error> {
        let places = run.trace.steps.iter().filter_map(|step| run.trace.places.get(&step.site));
        let files: BTreeSet<_> = places.map(|site| std::path::PathBuf::from(&site.file)).collect();
        let files: Vec<_> = files.into_iter().filter(|file| file.is_file()).collect();
        let selects = self.prepared.overlay.selects(&self.prepared.go, &files)?;
        self.selects.add(selects);
        Ok(())
    }

    fn nudges(&self, plan: &Plan, run: &Run) -> Vec<Nudge> {
        let pauses = plan.slow.iter().map(|(id, pause)| {
            let site = self.places.get(id);
            Nudge::Pause {
                place: site.map_or_else(|| "?".to_owned(), |site| self.selects.show(site)),
                function: site.map_or_else(
                    || "?".to_owned(),
                    |site| crate::story::short(&site.function).to_owned(),
                ),
                length: pause.length,
                once: pause.times == 1,
            }
        });
        let mut nudges: Vec<Nudge> = pauses.collect();
        for step in &plan.order.0 {
            let select = self.selects.tell_with(&run.trace, step, "prefers");
            let select = select.unwrap_or_else(|| "select prefers another case".to_owned());
            if !nudges.contains(&Nudge::Prefer { select: select.clone() }) {
                nudges.push(Nudge::Prefer { select });
            }
        }
        if plan.rate > 0 {
            nudges.push(Nudge::Yields { rate: plan.rate });
        }
        nudges
    }
}

/// A plan with pauses and nothing else.
fn slow_at(places: impl IntoIterator<Item = u64>, length: Duration, times: u32, seed: u64) -> Plan {
    let slow = places.into_iter().map(|place| (place, Pause { length, times })).collect();
    Plan { slow, ..Plan::plain(seed) }
}

/// Does a plan with slow places choose this one? As the hooks do it.
fn is_slow(plan: &Plan, id: u64) -> bool {
    let mut x = (plan.seed ^ id).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) as u32 & 1023 < plan.rate
}

/// Did the test fail, and not because of the overlay, or because the search was stopped?
fn fails(run: &Run) -> bool {
    !run.passed() && run.finished.end != End::Stopped && overlay_fault(run).is_none()
}

/// What failed, as well as it is known.
fn what_fails(run: &Run, selects: &Selects) -> Suspicion {
    let all = judge(run, selects, &Rules::default());
    // Of equals the first one counts: a failed assertion comes before what follows from it.
    let worst = all.into_iter().rev().max_by_key(|one| one.certainty);
    worst.unwrap_or_else(|| {
        let class = crate::class::FindingClass::DependsOnTime;
        let (kind, certainty) = (strait_findings::Kind::ASSERTION, Certainty::Sensitive);
        Suspicion::new(kind, class, certainty, "the test fails".to_owned())
    })
}
