//! A campaign: threads take batches of indices, make the programs, have the oracles judge them and
//! compare. Work comes from this process and results go to its store, or from and to a queue.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use strait_findings::{CampaignId, Discovery, Kind, Recorded, Store};
use strait_queue::{
    Allotment, Bench, Embedded, LaneName, Ledger, Outsourced, Part, Piece, Shard, Source,
    Submission,
};

use crate::counters::Counters;
use crate::discover::discovery;
use crate::error::Error;
use crate::judge::{Fault, Verdicts, judge};
use crate::known::Known;
use crate::oracle::{Oracle, Verdict, judge_all};
use crate::recipe::{BATCH, Case, GENERATOR_VERSION, Recipe, System};

/// The largest index.
const MAX_INDEX: u64 = i64::MAX as u64 / BATCH * BATCH;

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
    /// Which of the indices.
    pub shard: Shard,
    /// Set by whoever wants it to end.
    pub stop: &'a AtomicBool,
    /// What it counts.
    pub counters: &'a Counters,
}

/// What the threads share.
struct Table {
    known: Known,
    /// Faults that were confirmed.
    seen: Mutex<HashSet<String>>,
    over: AtomicBool,
    failure: Mutex<Option<Error>>,
}

impl Table {
    fn new(seen: HashSet<String>) -> Result<Self, Error> {
        let (over, failure) = (AtomicBool::new(false), Mutex::default());
        Ok(Table { known: Known::built_in()?, seen: Mutex::new(seen), over, failure })
    }

    /// The first failure is the one to tell.
    fn fail(&self, error: Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.over.store(true, Ordering::SeqCst);
    }

    fn ended(self) -> Result<(), Error> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), Err)
    }
}

impl Campaign<'_> {
    /// Runs it to its end. `found` hears of every fault that was not known before.
    pub fn run(
        &self,
        store: &mut Store,
        id: CampaignId,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<(), Error> {
        let table = Table::new(store.findings().map(|finding| finding.id.clone()).collect())?;
        let lanes = [self.lane()];
        let allotment = Mutex::new(self.allotment(store, id)?);
        let (sender, receiver) = channel();
        let mut tell = self.telling(found);
        let mut ledger = Ledger::new(store, id, &lanes, &mut tell);
        thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                let mut source = Embedded::new(&allotment, sender.clone());
                let table = &table;
                scope.spawn(move || self.work(table, &mut source));
            }
            drop(sender);
            if let Err(error) = ledger.write(&receiver, &mut || {}) {
                table.fail(error.into());
            }
            // After a failure the others come to their end first.
            while receiver.recv().is_ok() {}
        });
        table.ended()
    }

    /// Does the work of a campaign in a queue until there is none for a while. Faults that were `known`
    /// before are not confirmed again.
    pub fn serve(&self, bench: &Bench, known: &mut HashSet<String>) -> Result<(), Error> {
        let table = Table::new(std::mem::take(known))?;
        thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                let mut source = bench.taker();
                let table = &table;
                scope.spawn(move || self.work(table, &mut source));
            }
        });
        let mut seen = table.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *known = std::mem::take(&mut seen);
        drop(seen);
        table.ended()
    }

    /// Has others do it, to its end.
    pub fn submit(
        &self,
        queue: Outsourced<'_>,
        store: &mut Store,
        id: CampaignId,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<(), Error> {
        let stop = || self.should_stop();
        let mut tell = self.telling(found);
        let mut ledger = Ledger::new(store, id, &queue.job.lanes, &mut tell);
        let mut submission = Submission {
            link: queue.link,
            job: queue.job,
            folder: queue.folder,
            stop: &stop,
            keep: queue.keep,
            counted: &mut |part: &Part| self.counters.absorb(&part.counts),
            is_news: &mut |_| true,
            tell: queue.tell,
        };
        let allotment = self.allotment(ledger.store(), id)?;
        submission.take_up(&mut ledger, id, allotment)?;
        let allotment = self.allotment(ledger.store(), id)?;
        Ok(submission.run(&mut ledger, id, allotment)?)
    }

    /// What the totals are about.
    pub fn lane(&self) -> LaneName {
        let names: Vec<&str> = self.oracles.iter().map(|oracle| oracle.name()).collect();
        let version = self.oracles.first().map_or("", |oracle| oracle.version());
        LaneName { target: format!("types {}", names.join(" ")), version: version.to_owned() }
    }

    /// What the store does not have yet, in batches.
    fn allotment(&self, store: &Store, id: CampaignId) -> Result<Allotment, Error> {
        let LaneName { target, version } = self.lane();
        let executed = store.executed(id, &target, &version)?;
        let missing = executed.missing(0..self.count.unwrap_or(MAX_INDEX).min(MAX_INDEX));
        Ok(Allotment::new([(missing, BATCH)], self.shard))
    }

    /// Counts what is found.
    fn telling<'s>(
        &'s self,
        found: &'s mut dyn FnMut(&Recorded, &Discovery),
    ) -> impl FnMut(&Recorded, &Discovery) + 's {
        move |recorded, discovery| {
            self.counters.findings.fetch_add(1, Ordering::Relaxed);
            found(recorded, discovery);
        }
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn is_over(&self, table: &Table) -> bool {
        self.should_stop() || table.over.load(Ordering::Relaxed)
    }

    fn work(&self, table: &Table, source: &mut dyn Source) {
        if let Err(error) = self.take_and_judge(table, source) {
            table.fail(error);
        }
    }

    fn take_and_judge(&self, table: &Table, source: &mut dyn Source) -> Result<(), Error> {
        let stop = || self.is_over(table);
        while let Some(piece) = source.take(&stop)? {
            let begun = Instant::now();
            if piece.is_watched {
                source.begin(piece.indices.clone())?;
            }
            let judged = match piece.deadly.is_empty() {
                true => self.batch(table, piece.indices.clone()),
                false => Ok(Some(self.bury(&piece))),
            };
            // `None`: stopped in the middle, so that nothing is known about these indices.
            let part = match judged {
                Ok(Some(part)) => part,
                Ok(None) => return Ok(source.finish(begun.elapsed(), false)?),
                Err(error) => {
                    source.finish(begun.elapsed(), false)?;
                    return Err(error);
                }
            };
            self.counters.absorb(&part.counts);
            let taken = source.deliver(part)?;
            source.finish(begun.elapsed(), true)?;
            if !taken {
                break;
            }
        }
        Ok(())
    }

    /// A batch that workers died at. It is not made again: making it may be what kills.
    fn bury(&self, piece: &Piece) -> Part {
        let Range { start, end } = piece.indices;
        let seed = self.recipe.seed;
        let LaneName { target, version } = self.lane();
        let title =
            format!("types: workers died at programs {start} to {} of seed {seed}", end - 1);
        let mut discovery = Discovery::new(Kind::WORKER_DEATH, target, version, seed, start)
            .fingerprint(format!("batch {}", Counters::spelled(start)))
            .title(title);
        discovery.generator_version = GENERATOR_VERSION;
        discovery.explanation = "A worker was lost at this batch. Two processes that ran it alone \
            died as well, so it is not run again. They were killed for their use of memory, or this is \
            a fault of Strait.\n"
            .to_owned();
        let mut part = Part { discoveries: vec![discovery], ..Part::default() };
        part.indices.insert(piece.indices.clone());
        part
    }

    fn batch(&self, table: &Table, indices: Range<u64>) -> Result<Option<Part>, Error> {
        let system = self.recipe.system(indices.start / BATCH)?;
        let mut cases = Vec::new();
        for index in indices.clone() {
            if self.is_over(table) {
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
        let mut part = Part::default();
        for (case, verdicts) in cases.iter().zip(&verdicts) {
            let found = self.compare(&system, case, verdicts, table, &mut part.counts)?;
            part.discoveries.extend(found);
        }
        let programs: u64 = cases.iter().map(|case| 1 + u64::from(case.other.is_some())).sum();
        let accepted = verdicts
            .iter()
            .flat_map(|verdicts| verdicts.first.first().into_iter().chain(verdicts.second.first()))
            .filter(|verdict| verdict.is_accepted())
            .count();
        Counters::note(&mut part.counts, programs, accepted as u64, skipped);
        part.indices.insert(indices);
        (part.programs, part.runs) = (programs, programs);
        Ok(Some(part))
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
        table: &Table,
        counts: &mut BTreeMap<String, u64>,
    ) -> Result<Vec<Discovery>, Error> {
        let Table { known, seen, .. } = table;
        let names: Vec<&str> = self.oracles.iter().map(|oracle| oracle.name()).collect();
        let violations: Vec<&str> =
            case.violations.iter().map(|violation| violation.label.as_str()).collect();
        let judgement = judge(&names, &violations, verdicts, known);
        for (class, count) in judgement.known {
            Counters::note_known(counts, &class, count);
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
            let confirmed = judge(&names, &violations, again, known);
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
