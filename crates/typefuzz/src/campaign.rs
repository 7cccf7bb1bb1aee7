//! A campaign: threads take batches of indices, make the programs, have the oracles judge them and
//! compare; the calling thread puts what they bring into the store.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use strait_findings::{Batch, CampaignId, Discovery, Recorded, Store};

use crate::discover::discovery;
use crate::error::Error;
use crate::judge::{Fault, Verdicts, judge};
use crate::known::Known;
use crate::oracle::{Oracle, Verdict, judge_all};
use crate::recipe::{BATCH, Case, Recipe, System};

/// Counts that only grow, to be looked at while the campaign runs.
#[derive(Debug, Default)]
pub struct Counters {
    /// Programs that were judged.
    pub programs: AtomicU64,
    /// Of these, accepted by the first oracle.
    pub accepted: AtomicU64,
    /// Indices without a program: the search gave up, or nothing could be rewritten.
    pub skipped: AtomicU64,
    /// Distinct faults.
    pub findings: AtomicU64,
    /// Differences of known classes.
    pub known: Mutex<BTreeMap<String, u64>>,
}

/// A campaign that is about to run.
pub struct Campaign<'a> {
    /// Makes the programs.
    pub recipe: &'a Recipe,
    /// Judge them; the first one is asked about everything.
    pub oracles: &'a [Box<dyn Oracle>],
    /// Indices, if limited.
    pub count: Option<u64>,
    /// The end, if limited.
    pub deadline: Option<Instant>,
    /// Threads.
    pub jobs: usize,
    /// Set by whoever wants it to end.
    pub stop: &'a AtomicBool,
    /// What it counts.
    pub counters: &'a Counters,
}

/// What a thread brings.
struct Brought {
    indices: Range<u64>,
    programs: u64,
    discoveries: Vec<Discovery>,
}

impl Campaign<'_> {
    /// Runs it to its end. `found` hears of every fault that was not known before.
    pub fn run(
        &self,
        store: &mut Store,
        id: CampaignId,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<(), Error> {
        let known = Known::built_in()?;
        let seen = store.findings().map(|finding| finding.id.clone()).collect();
        let seen: Mutex<HashSet<String>> = Mutex::new(seen);
        let next = AtomicU64::new(0);
        let broken = AtomicBool::new(false);
        let (target, version) = self.target();
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            for _ in 0..self.jobs.max(1) {
                let sender = sender.clone();
                let (next, broken, known, seen) = (&next, &broken, &known, &seen);
                scope.spawn(move || self.work(next, broken, known, seen, &sender));
            }
            drop(sender);
            let mut result = Ok(());
            let mut told = HashSet::new();
            for brought in receiver {
                // After a failure the others come to their end first.
                let committed = brought.and_then(|brought| {
                    let mut batch = Batch::new(id, &target, &version, brought.indices);
                    batch.programs = brought.programs;
                    batch.runs = brought.programs;
                    batch.discoveries = brought.discoveries;
                    let recorded = store.commit(&batch)?;
                    for (recorded, discovery) in recorded.iter().zip(&batch.discoveries) {
                        if recorded.new && told.insert(recorded.id.clone()) {
                            self.counters.findings.fetch_add(1, Ordering::Relaxed);
                            found(recorded, discovery);
                        }
                    }
                    Ok(())
                });
                if let Err(error) = committed {
                    broken.store(true, Ordering::SeqCst);
                    result = Err(error);
                }
            }
            result
        })
    }

    /// What the totals are about.
    fn target(&self) -> (String, String) {
        let names: Vec<&str> = self.oracles.iter().map(|oracle| oracle.name()).collect();
        let version = self.oracles.first().map_or("", |oracle| oracle.version());
        (format!("types {}", names.join(" ")), version.to_owned())
    }

    fn is_over(&self, broken: &AtomicBool) -> bool {
        self.stop.load(Ordering::Relaxed)
            || broken.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn work(
        &self,
        next: &AtomicU64,
        broken: &AtomicBool,
        known: &Known,
        seen: &Mutex<HashSet<String>>,
        sender: &Sender<Result<Brought, Error>>,
    ) {
        while !self.is_over(broken) {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            let first = batch * BATCH;
            let end = (first + BATCH).min(self.count.unwrap_or(u64::MAX));
            if first >= end {
                return;
            }
            let brought = self.batch(batch, first..end, broken, known, seen);
            // `None`: stopped in the middle, so that nothing is known about these indices.
            let Some(brought) = brought.transpose() else { return };
            let failed = brought.is_err();
            if sender.send(brought).is_err() || failed {
                return;
            }
        }
    }

    fn batch(
        &self,
        batch: u64,
        indices: Range<u64>,
        broken: &AtomicBool,
        known: &Known,
        seen: &Mutex<HashSet<String>>,
    ) -> Result<Option<Brought>, Error> {
        let system = self.recipe.system(batch)?;
        let mut cases = Vec::new();
        for index in indices.clone() {
            if self.is_over(broken) {
                return Ok(None);
            }
            cases.extend(self.recipe.case(&system, index));
        }
        let skipped = (indices.end - indices.start) - cases.len() as u64;
        let verdicts = self.verdicts(&system, &cases)?;
        let stopped = |verdicts: &Verdicts| verdicts.first.contains(&Verdict::Unknown);
        if verdicts.iter().any(stopped) {
            return Ok(None);
        }
        let mut discoveries = Vec::new();
        for (case, verdicts) in cases.iter().zip(&verdicts) {
            discoveries.extend(self.compare(&system, case, verdicts, known, seen)?);
        }
        let programs: u64 = cases.iter().map(|case| 1 + u64::from(case.other.is_some())).sum();
        self.counters.programs.fetch_add(programs, Ordering::Relaxed);
        self.counters.skipped.fetch_add(skipped, Ordering::Relaxed);
        let accepted = verdicts
            .iter()
            .flat_map(|verdicts| verdicts.first.first().into_iter().chain(verdicts.second.first()))
            .filter(|verdict| verdict.is_accepted())
            .count();
        self.counters.accepted.fetch_add(accepted as u64, Ordering::Relaxed);
        Ok(Some(Brought { indices, programs, discoveries }))
    }

    /// All programs of some cases under all oracles.
    fn verdicts(&self, system: &System, cases: &[Case]) -> Result<Vec<Verdicts>, Error> {
        let print = |tree| system.program.print(tree);
        let firsts: Vec<String> = cases.iter().map(|case| print(&case.tree)).collect();
        let seconds: Vec<Option<String>> =
            cases.iter().map(|case| case.other.as_ref().map(|other| print(&other.tree))).collect();
        let texts: Vec<&str> = firsts
            .iter()
            .map(String::as_str)
            .chain(seconds.iter().flatten().map(String::as_str))
            .collect();
        let mut verdicts = vec![Verdicts::default(); cases.len()];
        for oracle in self.oracles {
            let mut judged = judge_all(oracle.as_ref(), &texts)?.into_iter();
            for (verdicts, verdict) in verdicts.iter_mut().zip(judged.by_ref().take(cases.len())) {
                verdicts.first.push(verdict);
            }
            let with_second =
                verdicts.iter_mut().zip(&seconds).filter(|(_, second)| second.is_some());
            for ((verdicts, _), verdict) in with_second.zip(judged) {
                verdicts.second.push(verdict);
            }
        }
        Ok(verdicts)
    }

    /// What is wrong with a case, confirmed alone if it is new.
    fn compare(
        &self,
        system: &System,
        case: &Case,
        verdicts: &Verdicts,
        known: &Known,
        seen: &Mutex<HashSet<String>>,
    ) -> Result<Vec<Discovery>, Error> {
        let names: Vec<&str> = self.oracles.iter().map(|oracle| oracle.name()).collect();
        let ill_typed = !case.violations.is_empty();
        let judgement = judge(&names, ill_typed, verdicts, known);
        for (class, count) in judgement.known {
            let mut classes = self.counters.known.lock().unwrap_or_else(PoisonError::into_inner);
            *classes.entry(class).or_default() += count;
        }
        let describe = |fault: &Fault, verdicts: &Verdicts| {
            let Recipe { seed, mode, .. } = self.recipe;
            discovery(*seed, *mode, system, case, fault, verdicts, self.oracles)
        };
        let mut discoveries = Vec::new();
        for fault in &judgement.faults {
            let first = describe(fault, verdicts);
            let seen_ids = || seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen_ids().contains(&first.id()) {
                discoveries.push(first);
                continue;
            }
            // A batch is not the same as a program alone.
            let again = self.verdicts(system, std::slice::from_ref(case))?;
            let Some(again) = again.first() else { continue };
            let confirmed = judge(&names, ill_typed, again, known);
            let same = confirmed
                .faults
                .iter()
                .find(|other| (&other.kind, &other.rejects) == (&fault.kind, &fault.rejects));
            if let Some(same) = same {
                let confirmed = describe(same, again);
                seen_ids().insert(confirmed.id());
                discoveries.push(confirmed);
            }
        }
        Ok(discoveries)
    }
}
