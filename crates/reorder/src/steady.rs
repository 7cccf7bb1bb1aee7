//! A plan that shows a finding whenever it is run. A run that looks wrong comes in, whose own plan shows
//! it now and then only; out comes another plan that has shown the same in many runs in a row, for
//! replays.
//!
//! With several processors the same plan may take another course. On one processor it hardly does, and a
//! pause at the right place leaves no choice: both are tried, and then other seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use strait_golang::{Pause, Run};

use crate::error::Error;
use crate::evidence::Shown;
use crate::hunt::{Hunt, lock};
use crate::judge::Suspicion;
use crate::order::Order;
use crate::plan::Plan;
use crate::state::Job;
use crate::subject::Clock;

/// How many runs in a row a plan has to show it, and for how long plans are looked for.
pub(crate) const IN_A_ROW: u64 = 20;
pub(crate) const SEARCHING: Duration = Duration::from_secs(8);
/// How long goroutines pause at places that may matter. By the real clock only the first two.
const LENGTHS: [Duration; 4] = [
    Duration::from_millis(5),
    Duration::from_millis(100),
    Duration::from_secs(2),
    Duration::from_secs(60),
];
const REAL_LENGTHS: usize = 2;
/// How often they do.
const TIMES: [u32; 2] = [1, 1000];
/// Of how many places pairs are tried, by the virtual clock, and how long goroutines pause at the two.
const PAIRED: usize = 8;
const PAIR: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];
/// How many other seeds are tried, and with which yields of 1024, at places or at operations.
const SEEDS: u64 = 240;
const RATES: [(u32, bool); 6] =
    [(256, false), (512, false), (256, true), (128, false), (512, true), (384, true)];

/// A plan that shows a finding in run after run.
pub struct Steady {
    /// With this plan.
    pub job: Job,
    /// One of the runs.
    pub run: Run,
    /// What it shows.
    pub suspicion: Suspicion,
    /// In how many runs it was seen, which are all that were made.
    pub runs: u64,
}

impl Hunt<'_> {
    /// Looks for such a plan; `None` if there was none within the time.
    pub(crate) fn steadier(
        &self,
        shown: Shown<'_>,
        suspicion: &Suspicion,
    ) -> Result<Option<Steady>, Error> {
        let until = Instant::now() + SEARCHING;
        for plan in self.candidates(shown, suspicion) {
            if Instant::now() >= until || self.is_stopped() {
                break;
            }
            let job = Job { plan, ..shown.job.clone() };
            if let Some(steady) = self.always_shows(shown, job, suspicion, until)? {
                return Ok(Some(steady));
            }
        }
        Ok(None)
    }

    fn always_shows(
        &self,
        shown: Shown<'_>,
        job: Job,
        suspicion: &Suspicion,
        until: Instant,
    ) -> Result<Option<Steady>, Error> {
        let mut last = None;
        for _ in 0..IN_A_ROW {
            // A plan that has not had its runs is not known to be better.
            if Instant::now() >= until || self.is_stopped() {
                return Ok(None);
            }
            let rerun = self.execute(shown.subject, &job, shown.file, false)?;
            let Some(run) = rerun else { return Ok(None) };
            match self.as_shown(&run, suspicion) {
                Some(same) => last = Some((run, same)),
                None => return Ok(None),
            }
        }
        Ok(last.map(|(run, suspicion)| Steady { job, run, suspicion, runs: IN_A_ROW }))
    }

    /// Plans that are worth trying, the most similar ones first.
    fn candidates(&self, shown: Shown<'_>, suspicion: &Suspicion) -> Vec<Plan> {
        let Shown { job, run, .. } = shown;
        let single = Plan { processors: Some(1), ..job.plan.clone() };
        let mut plans = vec![single.clone()];
        let lengths = match job.clock {
            Clock::Virtual => &LENGTHS[..],
            Clock::Real => &LENGTHS[..REAL_LENGTHS],
        };
        // Where goroutines are blocked or have panicked, and where those come from that started them.
        let mut places: Vec<BTreeSet<u64>> = Vec::new();
        {
            let selects = &lock(&self.shared).selects;
            let blamed: BTreeSet<u64> = run
                .trace
                .places
                .iter()
                .filter(|(_, site)| suspicion.locations.contains(&selects.show(site)))
                .map(|(id, _)| *id)
                .collect();
            let files: BTreeSet<&str> = run
                .trace
                .places
                .iter()
                .filter(|(id, _)| blamed.contains(id))
                .map(|(_, site)| site.file.as_str())
                .collect();
            let near =
                run.trace.places.iter().filter(|(_, site)| files.contains(site.file.as_str()));
            places.push(blamed.clone());
            places.extend(blamed.iter().map(|id| BTreeSet::from([*id])));
            places.extend(near.map(|(id, _)| BTreeSet::from([*id])));
        }
        for length in lengths {
            for (set, times) in places.iter().flat_map(|set| TIMES.map(|times| (set, times))) {
                let pause = Pause { length: *length, times };
                let slow: BTreeMap<u64, Pause> = set.iter().map(|id| (*id, pause)).collect();
                let free = Plan { slow, ..Plan::plain(job.plan.seed) };
                if !job.plan.order.is_empty() {
                    plans.push(Plan { order: job.plan.order.clone(), ..free.clone() });
                }
                plans.push(free);
            }
        }
        if job.clock == Clock::Virtual {
            let single: Vec<u64> =
                places.iter().filter(|set| set.len() == 1).flatten().copied().collect();
            let mut near: Vec<u64> = Vec::new();
            for place in single {
                if !near.contains(&place) && near.len() < PAIRED {
                    near.push(place);
                }
            }
            for first in &near {
                for second in near.iter().filter(|second| *second != first) {
                    let pause = |length| Pause { length, times: TIMES[1] };
                    let slow =
                        BTreeMap::from([(*first, pause(PAIR[0])), (*second, pause(PAIR[1]))]);
                    plans.push(Plan { slow, ..Plan::plain(job.plan.seed) });
                }
            }
        }
        let others = (1..=SEEDS).map(|number| {
            let (rate, sited) = RATES[(number % RATES.len() as u64) as usize];
            let order = if number % 2 == 0 { Order::default() } else { single.order.clone() };
            let seed = job.plan.seed.wrapping_add(number);
            Plan { seed, rate, sited, order, ..single.clone() }
        });
        plans.extend(others);
        plans
    }
}
