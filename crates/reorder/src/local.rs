//! The work of a campaign over Go tests in this process. Its tests take turns, one run at a time, so that all
//! have had some runs whenever the campaign ends: it is not cut into independent pieces.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use strait_campaign::{Activity, Found, ThreadState, Threads};
use strait_findings::{CampaignId, Store};
use strait_queue::{Part, TargetPart};

use crate::counters::Counters;
use crate::counts;
use crate::ended::Ended;
use crate::error::Error;
use crate::hunt::{Event, Hunt, KnownCauses, Report, Terms, is_news, known};
use crate::indices::RunIndices;

/// The tests of a campaign in this process.
pub struct LocalTests<'a> {
    indices: &'a RunIndices,
    hunt: Hunt<'a>,
    counters: &'a Counters,
    /// Runs that were delivered, and those by the virtual clock.
    delivered: Mutex<(u64, u64)>,
    /// Faults that the store has, and causes that are known.
    known: Mutex<(BTreeSet<String>, KnownCauses)>,
}

impl<'a> LocalTests<'a> {
    /// All tests that are prepared. What the store has found is known.
    pub fn new(
        terms: Terms<'a>,
        indices: &'a RunIndices,
        counters: &'a Counters,
        store: &Store,
    ) -> Self {
        let terms = Terms { indices: Some(indices), ..terms };
        let subjects = terms.prepared.subjects.iter().cloned();
        let ids = store.findings().map(|finding| finding.id.clone()).collect();
        LocalTests {
            indices,
            hunt: Hunt::new(terms, subjects, counters),
            counters,
            delivered: Mutex::default(),
            known: Mutex::new((ids, known(store.findings()))),
        }
    }

    /// Runs them to their end, and says what there is to say besides findings.
    pub fn run(
        self,
        threads: &Threads<'_>,
        store: &mut Store,
        id: CampaignId,
        found: Found<'_>,
    ) -> Result<Ended, Error> {
        threads.run(self.indices.lanes(), store, id, found, &|context, number, sender| {
            let deliver = |(lane, part): TargetPart| {
                context.count(lane, &part);
                sender.send((lane, part)).map_err(|_| Error::Worker)
            };
            let report: Report<'_> = &|event| {
                self.show(context.activity(), number, &event);
                self.part(event).map_or(Ok(()), deliver)
            };
            let worked = self.hunt.work(number, report);
            context.activity().set_thread(number, ThreadState::Ended, None, "");
            if !self.indices.lanes().is_empty() {
                deliver((0, self.runs()))?;
            }
            worked
        })?;
        Ok(self.hunt.summary())
    }

    /// Shows what a thread does.
    fn show(&self, activity: &Activity, number: usize, event: &Event) {
        let (state, subject, run) = match event {
            Event::Begins { subject, run } => (ThreadState::Running, subject, run),
            Event::Confirms { subject, run } => (ThreadState::Confirming, subject, run),
            Event::Done { .. } | Event::Found { .. } => return,
        };
        let what = format!("{}, run {run}", subject.test);
        activity.set_thread(number, state, self.indices.lane(subject), what);
    }

    /// What the store of the campaign gets of an event: the lane, and a part. `None` if it is known.
    fn part(&self, event: Event) -> Option<TargetPart> {
        match event {
            Event::Begins { .. } | Event::Confirms { .. } => None,
            Event::Done { subject, run } => {
                let (lane, index) = self.indices.index(&subject, run)?;
                let is_new = run == 0 && !self.indices.done(&subject).contains(0);
                let mut part = Part { programs: u64::from(is_new), ..self.runs() };
                part.indices.insert(index..index + 1);
                Some((lane, part))
            }
            Event::Found { subject, discovery } => {
                let lane = self.indices.lane(&subject)?;
                // What an earlier campaign has found is shown again, and not found twice.
                let (ids, places) = &mut *lock(&self.known);
                let is_known = ids.contains(&discovery.id());
                let discoveries = vec![*discovery];
                let is_wanted =
                    is_known || discoveries.iter().all(|discovery| is_news(places, discovery));
                is_wanted.then(|| (lane, Part { discoveries, ..self.runs() }))
            }
        }
    }

    /// The runs that were made and not delivered yet.
    fn runs(&self) -> Part {
        let mut delivered = lock(&self.delivered);
        let (runs, virtual_runs) = (self.counters.runs(), self.counters.virtual_runs());
        let more = (runs.saturating_sub(delivered.0), virtual_runs.saturating_sub(delivered.1));
        *delivered = (delivered.0 + more.0, delivered.1 + more.1);
        let mut part = Part { runs: more.0, ..Part::default() };
        if more.1 > 0 {
            part.counts.insert(counts::VIRTUAL_RUNS.to_owned(), more.1);
        }
        part
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
