//! A campaign: seats (threads with a worker process each) take pieces of work, run and judge them
//! ([`crate::desk`]). Work comes from this process and results go to its store ([`Campaign::run`]), or it
//! is done for others ([`Campaign::serve`]) or by others ([`Campaign::submit`]).

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use strait_findings::{CampaignId, Discovery, Recorded, Store};
use strait_queue::{
    Allotment, Bench, Embedded, LaneName, Ledger, MAX_INDEX, Outsourced, Part, Shard, Submission,
};
use strait_toolchain::Launcher;

use crate::counters::{Counters, Tick};
use crate::desk::Desk;
use crate::error::Error;
use crate::lane::{Lane, Way};

/// Indices in a block of most targets.
const BLOCK: u64 = 32;
/// Indices in an item for other machines, at most: as many as are done in a fraction of a second.
const ITEM: u64 = 256;
/// Items of a target, at least, unless they get too small: at the end of a campaign most workers wait
/// for the last item.
const ITEMS: u64 = 64;
/// Indices in an item, at least: each has its way through the queue.
const SMALLEST_ITEM: u64 = 16;
/// Programs that are compiled together: many, since a compiler takes long to start; not too many,
/// since nothing is known about any of them before all are compiled.
const COMPILED_TOGETHER: u64 = 100;
/// How often we look whether the campaign is over.
const LOOK: Duration = Duration::from_millis(100);

/// How far a campaign goes.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The seed.
    pub seed: u64,
    /// Indices of each lane; no limit if absent.
    pub count: Option<u64>,
    /// Time from now; no limit if absent.
    pub time: Option<Duration>,
    /// Worker processes at once.
    pub jobs: usize,
    /// Which of the indices.
    pub shard: Shard,
}

/// A campaign that is about to run.
pub struct Campaign<'a> {
    /// How processes are started.
    pub launcher: &'a Launcher,
    /// What is fuzzed.
    pub lanes: &'a [Lane],
    /// How far.
    pub bounds: Bounds,
    /// Set by whoever wants it to end.
    pub stop: &'a AtomicBool,
    /// What it counts.
    pub counters: &'a Counters,
}

impl Campaign<'_> {
    /// Runs it to its end. `found` hears of every fault that was not known before.
    pub fn run(
        &self,
        store: &mut Store,
        id: CampaignId,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<(), Error> {
        let known = store.findings().map(|finding| finding.id.clone()).collect();
        let desk = Desk::new(self, known)?;
        let allotment = Mutex::new(self.allotment(store, id, BLOCK)?);
        let names = lane_names(self.lanes);
        let (sender, receiver) = channel();
        let mut tell = self.telling(found);
        let mut ledger = Ledger::new(store, id, &names, &mut tell);
        thread::scope(|scope| {
            let seats: Vec<_> = (0..self.bounds.jobs.max(1))
                .map(|_| {
                    let mut source = Embedded::new(&allotment, sender.clone());
                    let desk = &desk;
                    scope.spawn(move || desk.sit(&mut source))
                })
                .collect();
            drop(sender);
            let written = ledger.write(&receiver, &mut || desk.look());
            if let Err(error) = written {
                desk.fail(error.into());
            }
            // Whatever still comes after a failure has nowhere to go.
            while receiver.recv().is_ok() {
                desk.look();
            }
            desk.join(seats);
        });
        desk.ended()
    }

    /// Does the work of a campaign in a queue until there is none for a while. Faults that were `known`
    /// before are not confirmed again.
    pub fn serve(&self, bench: &Bench, known: &mut HashSet<String>) -> Result<(), Error> {
        let desk = Desk::new(self, std::mem::take(known))?;
        thread::scope(|scope| {
            let seats: Vec<_> = (0..self.bounds.jobs.max(1))
                .map(|_| {
                    let mut source = bench.taker();
                    let desk = &desk;
                    scope.spawn(move || desk.sit(&mut source))
                })
                .collect();
            while seats.iter().any(|seat| !seat.is_finished()) {
                thread::sleep(LOOK);
                if bench.is_over() {
                    desk.stop();
                }
                desk.look();
            }
            desk.join(seats);
        });
        *known = desk.take_known();
        desk.ended()
    }

    /// Has others do it, to its end.
    pub fn submit(
        &self,
        queue: Outsourced<'_>,
        store: &mut Store,
        id: CampaignId,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<(), Error> {
        let deadline = self.bounds.time.map(|time| Instant::now() + time);
        let stop = || {
            self.stop.load(Ordering::Relaxed)
                || deadline.is_some_and(|deadline| Instant::now() >= deadline)
        };
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
        let item = queue.item.unwrap_or_else(|| item_of(self.bounds.count)).max(1);
        let allotment = self.allotment(ledger.store(), id, item)?;
        submission.take_up(&mut ledger, id, allotment)?;
        let allotment = self.allotment(ledger.store(), id, item)?;
        Ok(submission.run(&mut ledger, id, allotment)?)
    }

    /// What the store does not have yet.
    fn allotment(&self, store: &Store, id: CampaignId, block: u64) -> Result<Allotment, Error> {
        let all = 0..self.bounds.count.unwrap_or(MAX_INDEX).min(MAX_INDEX);
        let mut missing = Vec::new();
        for lane in self.lanes {
            let executed = store.executed(id, &lane.target, &lane.version)?;
            let block = match lane.way {
                Way::Worker(_) => block,
                Way::Compiler(_) => COMPILED_TOGETHER,
            };
            missing.push((executed.missing(all.clone()), block));
        }
        Ok(Allotment::new(missing, self.bounds.shard))
    }

    /// Counts what is found.
    fn telling<'s>(
        &'s self,
        found: &'s mut dyn FnMut(&Recorded, &Discovery),
    ) -> impl FnMut(&Recorded, &Discovery) + 's {
        move |recorded, discovery| {
            self.counters.findings_found(1);
            found(recorded, discovery);
        }
    }
}

/// Indices in an item of a campaign of so many.
fn item_of(count: Option<u64>) -> u64 {
    count.map_or(ITEM, |count| (count / ITEMS).clamp(SMALLEST_ITEM, ITEM))
}

/// Lanes as the store and the queue know them.
pub(crate) fn lane_names(lanes: &[Lane]) -> Vec<LaneName> {
    let name =
        |lane: &Lane| LaneName { target: lane.target.clone(), version: lane.version.clone() };
    lanes.iter().map(name).collect()
}
