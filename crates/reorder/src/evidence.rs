//! Further runs that turn a suspicion into evidence. A run that looks wrong comes in; how often it
//! happens again, whether it needs a disturbance and whether it needs a forced timeout go out with the
//! discovery. What is only likely and does not happen again is forgotten.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use strait_findings::Kind;
use strait_golang::{Pause, Run, Site, State};

use crate::class::{FindingClass, UndisturbedRuns};
use crate::discover::{Origin, discovery};
use crate::ended::Sensitive;
use crate::error::Error;
use crate::hunt::{Event, Hunt, Report, keys, lock};
use crate::judge::{Certainty, Suspicion, judge, panic_kind};
use crate::order::Order;
use crate::plan::Plan;
use crate::state::Job;
use crate::steady::{IN_A_ROW, SEARCHING};
use crate::subject::{Clock, Subject};

/// How often a finding is run again to learn its rate, and for how long at most.
const CONFIRMATIONS: u64 = 4;
const CONFIRMING: Duration = Duration::from_secs(4);
/// How long it may take to learn whether the plan shows it in every run.
const COUNTING: Duration = Duration::from_secs(2);
/// A test that does not end gets so many times its limit before that is said.
const SLOWER: u32 = 4;
/// A rate that hardly disturbs.
const LOW_RATE: u32 = 64;
/// How many undisturbed runs say whether a leak is there in every run.
const UNDISTURBED: u64 = 4;
/// To show that a timeout is possible, goroutines pause as long by the virtual clock at a quarter of
/// the places, in so many runs.
const LONG_NAP: Duration = Duration::from_secs(60);
const LONG_NAP_RATE: u32 = 256;
const LONG_NAP_RUNS: u64 = 12;
/// The same by the real clock, at the place to blame only.
const REAL_LONG_NAP: Duration = Duration::from_millis(1500);

/// A run that looks wrong.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The number of the test.
    pub test: usize,
    /// The test.
    pub subject: &'a Subject,
    /// What the run was asked for.
    pub job: &'a Job,
    /// What happened.
    pub run: &'a Run,
    /// The shared file for further runs.
    pub file: &'a Path,
}

/// Runs of one plan.
#[derive(Clone, Copy)]
struct Repeated {
    failed: u64,
    runs: u64,
}

/// Can it be repeated often enough in the time that there is for it?
fn is_quick(run: &Run) -> bool {
    run.finished.wall * IN_A_ROW as u32 <= SEARCHING
}

/// A process that was killed together with its supervisor ends further runs, but what is known already
/// is still reported.
fn unless_lost<T>(
    result: Result<T, Error>,
    lost: &mut Result<(), Error>,
) -> Result<Option<T>, Error> {
    match result {
        Err(error) if error.is_lost_supervisor() => {
            *lost = Err(error);
            Ok(None)
        }
        result => result.map(Some),
    }
}

impl Hunt<'_> {
    /// Follows a suspicion to its end: a discovery, a remark, or nothing.
    pub(crate) fn confirm(
        &self,
        shown: Shown<'_>,
        mut suspicion: Suspicion,
        report: Report<'_>,
    ) -> Result<(), Error> {
        let Shown { test, subject, job, run, .. } = shown;
        match suspicion.certainty {
            Certainty::Sensitive => return self.confirm_sensitive(shown, &suspicion),
            Certainty::Suspect => {
                self.note_suspect(subject, suspicion);
                return Ok(());
            }
            Certainty::Likely | Certainty::Certain => {}
        }
        let mut lost = Ok(());
        let first = Repeated { failed: 1, runs: 1 };
        let until = Instant::now() + CONFIRMING;
        let mut repeated =
            self.repeat(shown, &suspicion, first, CONFIRMATIONS + 1, until, &mut lost)?;
        if suspicion.certainty == Certainty::Likely && repeated.failed < 2 {
            let shared = &mut *lock(&self.shared);
            for key in keys(&suspicion) {
                shared.known.remove(&key);
            }
            return lost;
        }
        let always = |repeated: Repeated| repeated.failed == repeated.runs;
        if always(repeated) && lost.is_ok() {
            let until = Instant::now() + COUNTING;
            repeated = self.repeat(shown, &suspicion, repeated, IN_A_ROW, until, &mut lost)?;
        }
        let Repeated { failed, runs } = repeated;
        let mut undisturbed = UndisturbedRuns { failed, runs };
        if !job.plan.is_plain() && lost.is_ok() {
            let counted = self.undisturbed_runs(shown, &suspicion);
            undisturbed = unless_lost(counted, &mut lost)?.unwrap_or(undisturbed);
        }
        let in_all = undisturbed.runs > 0 && undisturbed.failed == undisturbed.runs;
        if suspicion.fails_test && in_all {
            // It fails without any disturbance, perhaps because it needs other tests before it.
            lock(&self.shared).tests[test].fails = true;
            return lost;
        }
        if suspicion.fails_test && run.trace.overtaken > 0 && undisturbed.failed == 0 {
            // A timeout passed, and the test itself cannot deal with what it got then. Had it looked, it would
            // have failed: that depends on time as well.
            return lost.and(self.confirm_sensitive(shown, &suspicion));
        }
        if suspicion.class == FindingClass::LeakInRareOrders && in_all {
            suspicion.class = FindingClass::LeakInEveryRun;
        }
        if run.trace.overtaken > 0 && undisturbed.failed == 0 && lost.is_ok() {
            let unforced = self.shows_unforced(shown, &suspicion);
            if unless_lost(unforced, &mut lost)? == Some(false) {
                suspicion.needs_timeout(&run.trace, &lock(&self.shared).selects);
            }
        }
        // What is replayed is a plan that shows it whenever it is run, if there is one.
        let is_known = always(repeated) && repeated.runs >= IN_A_ROW;
        let mut steady = None;
        if !is_known && is_quick(run) && lost.is_ok() {
            let found = self.steadier(shown, &suspicion);
            steady = unless_lost(found, &mut lost)?.flatten();
        }
        let (mut job, mut run, mut counted) = (job, run, repeated);
        if let Some(found) = &mut steady {
            found.suspicion.take_assessment(&suspicion);
            if suspicion.needs_timeout && found.run.trace.overtaken > 0 {
                found.suspicion.needs_timeout(&found.run.trace, &lock(&self.shared).selects);
            }
            suspicion = found.suspicion.clone();
            (job, run) = (&found.job, &found.run);
            counted = Repeated { failed: found.runs, runs: found.runs };
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
                undisturbed,
            };
            discovery(&origin, &suspicion, counted.failed, counted.runs)
        };
        report(Event::Found { subject: subject.clone(), discovery: Box::new(discovery) })?;
        lost
    }

    /// Goes on to count how often the same plan shows it, up to so many runs.
    fn repeat(
        &self,
        shown: Shown<'_>,
        suspicion: &Suspicion,
        before: Repeated,
        most: u64,
        until: Instant,
        lost: &mut Result<(), Error>,
    ) -> Result<Repeated, Error> {
        let Shown { subject, job, file, .. } = shown;
        let mut repeated = before;
        let longer = if suspicion.kind == Kind::TIMEOUT { SLOWER } else { 2 };
        let again = Job { limit: job.limit * longer, ..job.clone() };
        while repeated.runs < most && (Instant::now() < until || repeated.runs == 1) {
            if self.is_stopped() {
                break;
            }
            let rerun = unless_lost(self.execute(subject, &again, file, false), lost)?;
            let Some(rerun) = rerun.flatten() else { break };
            repeated.runs += 1;
            repeated.failed += u64::from(self.shows(&rerun, suspicion));
        }
        Ok(repeated)
    }

    fn note_suspect(&self, subject: &Subject, suspicion: Suspicion) {
        let known = &mut lock(&self.shared).ended.suspects;
        if !known.iter().any(|(_, one)| one.locations == suspicion.locations) {
            known.push((subject.name(), suspicion));
        }
    }

    /// Does a run show this, and not merely as a consequence of a failed assertion?
    fn shows(&self, run: &Run, suspicion: &Suspicion) -> bool {
        self.as_shown(run, suspicion).is_some()
    }

    /// The same as a run shows it.
    pub(crate) fn as_shown(&self, run: &Run, suspicion: &Suspicion) -> Option<Suspicion> {
        let showed = judge(run, &lock(&self.shared).selects, self.terms.rules);
        let same = |one: &Suspicion| one.certainty > Certainty::Sensitive && one.is_same(suspicion);
        showed.into_iter().find(same)
    }

    /// Does it also show if no select is forced? In the run that showed it a timeout was preferred to a
    /// case that could go on.
    fn shows_unforced(&self, shown: Shown<'_>, suspicion: &Suspicion) -> Result<bool, Error> {
        let Shown { test, job, run, .. } = shown;
        let mut free = job.clone();
        free.plan.order = Order::default();
        if self.shows_again(shown, free.clone(), CONFIRMATIONS, suspicion)? {
            return Ok(true);
        }
        // A goroutine that is late lets the timeout pass: most likely the one that is blocked then, or the
        // one that was made to wait. By the virtual clock that takes no time.
        let clock = lock(&self.shared).tests[test].clock;
        let length = if clock == Clock::Virtual { LONG_NAP } else { REAL_LONG_NAP };
        let (blamed, overtook) = {
            let selects = &lock(&self.shared).selects;
            let blamed = |site: &Site| suspicion.locations.contains(&selects.show(site));
            let at = |which: &dyn Fn(&Site) -> bool| -> Vec<u64> {
                let places = run.trace.places.iter().filter(|(_, site)| which(site));
                places.map(|(id, _)| *id).collect()
            };
            (at(&blamed), at(&|site| run.trace.overtook.as_ref() == Some(site)))
        };
        for places in [blamed, overtook] {
            let pause = Pause { length, times: u32::MAX };
            let slow: BTreeMap<u64, Pause> = places.iter().map(|id| (*id, pause)).collect();
            let plan = Plan { slow, nap: Some(length), ..Plan::plain(job.plan.seed) };
            let late = Job { plan, clock, ..free.clone() };
            if self.shows_again(shown, late, CONFIRMATIONS, suspicion)? {
                return Ok(true);
            }
        }
        if clock == Clock::Real {
            return Ok(false);
        }
        let plan = Plan { rate: LONG_NAP_RATE, sited: true, nap: Some(LONG_NAP), ..free.plan };
        let late = Job { plan, clock, ..free };
        self.shows_again(shown, late, LONG_NAP_RUNS, suspicion)
    }

    /// Does one of some runs show it?
    fn shows_again(
        &self,
        shown: Shown<'_>,
        mut job: Job,
        runs: u64,
        suspicion: &Suspicion,
    ) -> Result<bool, Error> {
        let until = Instant::now() + CONFIRMING;
        for _ in 0..runs {
            if self.is_stopped() || Instant::now() >= until {
                break;
            }
            let Some(rerun) = self.execute(shown.subject, &job, shown.file, false)? else { break };
            if self.shows(&rerun, suspicion) {
                return Ok(true);
            }
            job.plan.seed = job.plan.seed.wrapping_add(1);
        }
        Ok(false)
    }

    /// How often it shows if nothing is disturbed.
    fn undisturbed_runs(
        &self,
        shown: Shown<'_>,
        suspicion: &Suspicion,
    ) -> Result<UndisturbedRuns, Error> {
        let Shown { subject, job, file, .. } = shown;
        let mut counted = UndisturbedRuns::default();
        let until = Instant::now() + CONFIRMING;
        while counted.runs < UNDISTURBED && Instant::now() < until && !self.is_stopped() {
            let plan = Plan::plain(job.plan.seed.wrapping_add(counted.runs));
            let plain = Job { plan, ..job.clone() };
            let Some(rerun) = self.execute(subject, &plain, file, false)? else { break };
            counted.runs += 1;
            counted.failed += u64::from(self.shows(&rerun, suspicion));
        }
        Ok(counted)
    }

    /// A failed assertion, or a panic that is one, is told apart, and only if little disturbance suffices.
    fn confirm_sensitive(&self, shown: Shown<'_>, suspicion: &Suspicion) -> Result<(), Error> {
        let Shown { subject, job, file, .. } = shown;
        let package = &subject.tests.package.path;
        let is_known = |one: &Sensitive| one.test == subject.test && one.package == *package;
        if lock(&self.shared).ended.sensitive.iter().any(is_known) {
            return Ok(());
        }
        let mut low = job.clone();
        low.plan.rate = job.plan.rate.min(LOW_RATE);
        // No other test of this package runs meanwhile, since tests may share files or ports.
        let _alone = subject.tests.alone.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rerun) = self.execute(subject, &low, file, false)? else { return Ok(()) };
        let panicked = |one: &Suspicion| one.kind == panic_kind();
        let failed = rerun.trace.state == State::Judged && !rerun.passed()
            || rerun.trace.failure.is_some()
            || judge(&rerun, &lock(&self.shared).selects, self.terms.rules).iter().any(panicked);
        if failed {
            lock(&self.shared).ended.sensitive.push(Sensitive {
                test: subject.test.clone(),
                package: package.clone(),
                said: suspicion.title.clone(),
                plan: low.plan.describe(),
            });
        }
        Ok(())
    }
}
