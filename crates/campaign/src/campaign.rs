//! The three ways to run a campaign: by threads of this process ([`Campaign::run`]), for a campaign that
//! another process has begun at a queue ([`Campaign::serve`]), and by the workers of a queue
//! ([`Campaign::submit`]).

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use strait_findings::{CampaignId, Discovery, Recorded, Store};
use strait_queue::{
    Allotment, Embedded, Job, Ledger, Link, MAX_INDEX, Part, QueueOptions, Shard, Submission,
    TargetPart, TargetVersion, WorkerSession,
};

use crate::begin::Settings;
use crate::counters::Counters;
use crate::error::Error;
use crate::stop::{Ending, Stop};
use crate::workload::{Context, Pieces, Workload, work};

/// Between two looks whether a campaign in a queue is over.
const LOOK: Duration = Duration::from_millis(100);

/// More indices than a user can ask for.
const UNLIMITED: u64 = MAX_INDEX / 2;

/// Hears of every fault that was not known before.
pub type Found<'f> = &'f mut dyn FnMut(&Recorded, &Discovery);

/// A campaign that is about to run.
pub struct Campaign<'a, W> {
    /// Its work.
    pub workload: &'a W,
    /// Indices of each target, if limited.
    pub count: Option<u64>,
    /// Which of the indices.
    pub shard: Shard,
    /// Threads.
    pub jobs: usize,
    /// Ends it before its work is done.
    pub stop: &'a Stop,
    /// What it counts.
    pub counters: &'a Counters,
}

impl<W: Workload> Campaign<'_, W> {
    /// Runs it in this process, to its end.
    pub fn run(&self, store: &mut Store, id: CampaignId, found: Found<'_>) -> Result<(), W::Error> {
        let allotment = Mutex::new(self.allotment(store, id, Pieces::Here)?);
        let jobs = self.jobs.max(1);
        let working = AtomicUsize::new(jobs);
        let threads = Threads { jobs: jobs + W::BESIDE, stop: self.stop, counters: self.counters };
        threads.run(&self.workload.targets(), store, id, found, &|context, number, sender| {
            if number >= jobs {
                drop(sender);
                let is_over = || working.load(Ordering::SeqCst) == 0;
                return self.workload.beside(context, &is_over);
            }
            let _leaving = Leaving(&working);
            work(self.workload, context, number, &mut Embedded::new(&allotment, sender))
        })
    }

    /// Does the work of a campaign in a queue until there is none for a while. Faults that were `known`
    /// before are not confirmed again.
    pub fn serve(
        &self,
        session: &WorkerSession,
        known: &mut HashSet<String>,
    ) -> Result<(), W::Error> {
        let context = Context::new(self.stop, self.counters, std::mem::take(known));
        let failure = Mutex::new(None);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.jobs.max(1))
                .map(|number| {
                    let (mut source, context, failure) = (session.source(), &context, &failure);
                    let run = move || {
                        keep(context, failure, work(self.workload, context, number, &mut source));
                    };
                    scope.spawn(run)
                })
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                thread::sleep(LOOK);
                context.look();
                if session.is_over() {
                    context.end();
                }
            }
            join(&context, &failure, threads);
        });
        *known = context.take_known();
        ended(failure)
    }

    /// Has the workers of a queue do it, to its end.
    pub fn submit(
        &self,
        queue: QueueOptions<'_>,
        store: &mut Store,
        id: CampaignId,
        found: Found<'_>,
    ) -> Result<(), W::Error> {
        self.submit_to(queue, store, id, found).map_err(W::Error::from)
    }

    fn submit_to(
        &self,
        queue: QueueOptions<'_>,
        store: &mut Store,
        id: CampaignId,
        found: Found<'_>,
    ) -> Result<(), Error> {
        self.counters.set_targets(&queue.job.targets);
        let mut tell = counted(self.counters, found);
        let mut ledger = Ledger::new(store, id, &queue.job.targets, &mut tell);
        let mut submission = Submission {
            link: queue.link,
            job: queue.job,
            folder: queue.folder,
            stop: &|| self.stop.is_due(),
            keep: queue.keep,
            counted: &mut |target, part: &Part| self.counters.add(target, part),
            is_news: &mut |discovery| self.workload.is_news(discovery),
            tell: queue.tell,
        };
        let pieces = Pieces::Queue { count: self.count, asked: queue.item };
        let allotment = self.allotment(ledger.store(), id, pieces)?;
        submission.take_up(&mut ledger, id, allotment)?;
        let allotment = self.allotment(ledger.store(), id, pieces)?;
        Ok(submission.run(&mut ledger, id, allotment)?)
    }

    /// This campaign as a queue carries it.
    pub fn job(&self, link: &Link, lease: Duration) -> Result<Job, Error> {
        let targets = self.workload.targets();
        let counts =
            (0..targets.len()).map(|target| self.workload.indices(target, self.count)).collect();
        let settings = self.workload.job_settings();
        let kind = W::Settings::KIND;
        Ok(Job::new(link.fresh_name(), kind, lease, targets, counts, &settings)?)
    }

    /// How many indices of this campaign are done, and how many there are, if they are limited.
    pub fn progress(&self, store: &Store, id: CampaignId) -> Result<(u64, Option<u64>), Error> {
        let (mut done, mut all) = (0, Some(0_u64));
        for (number, target) in self.workload.targets().iter().enumerate() {
            done += store.executed(id, &target.target, &target.version)?.len();
            let indices = self.workload.indices(number, self.count);
            let size = (indices < UNLIMITED).then(|| self.shard.size(indices));
            all = all.zip(size).map(|(all, size)| all.saturating_add(size));
        }
        Ok((done, all))
    }

    /// What the store does not have yet.
    fn allotment(&self, store: &Store, id: CampaignId, pieces: Pieces) -> Result<Allotment, Error> {
        let mut missing = Vec::new();
        for (number, target) in self.workload.targets().iter().enumerate() {
            let all = 0..self.workload.indices(number, self.count);
            let executed = store.executed(id, &target.target, &target.version)?;
            missing.push((executed.missing(all), self.workload.piece_size(number, pieces)));
        }
        Ok(Allotment::new(missing, self.shard))
    }
}

/// A thread that runs pieces, until this is dropped.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Threads of this process that deliver to a store.
pub struct Threads<'a> {
    /// How many.
    pub jobs: usize,
    /// Ends them.
    pub stop: &'a Stop,
    /// What they count.
    pub counters: &'a Counters,
}

/// What a thread does, until it is done: it gets its number, and the way to the store.
pub type Body<'b, E> =
    &'b (dyn Fn(&Context<'_>, usize, Sender<TargetPart>) -> Result<(), E> + Sync);

impl Threads<'_> {
    /// Runs them to their end. What they deliver is about these `targets`.
    pub fn run<E: From<Error> + Send>(
        &self,
        targets: &[TargetVersion],
        store: &mut Store,
        id: CampaignId,
        found: Found<'_>,
        body: Body<'_, E>,
    ) -> Result<(), E> {
        let known = store.findings().map(|finding| finding.id.clone()).collect();
        let context = Context::new(self.stop, self.counters, known);
        let failure = Mutex::new(None);
        let (sender, receiver) = channel();
        self.counters.set_targets(targets);
        let mut tell = counted(self.counters, found);
        let mut ledger = Ledger::new(store, id, targets, &mut tell);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.jobs.max(1))
                .map(|number| {
                    let (sender, context, failure) = (sender.clone(), &context, &failure);
                    scope.spawn(move || keep(context, failure, body(context, number, sender)))
                })
                .collect();
            drop(sender);
            let written = ledger.write(&receiver, &mut || context.look());
            keep(&context, &failure, written.map_err(|error| Error::from(error).into()));
            // After a failure the threads come to their end first.
            while receiver.recv().is_ok() {
                context.look();
            }
            join(&context, &failure, threads);
        });
        ended(failure)
    }
}

/// Counts what is found.
fn counted<'s>(
    counters: &'s Counters,
    found: Found<'s>,
) -> impl FnMut(usize, &Recorded, &Discovery) + 's {
    move |target, recorded, discovery| {
        counters.add_finding(target, recorded, discovery);
        found(recorded, discovery);
    }
}

/// The first failure is the one that is reported; the other threads come to their end.
fn keep<E>(context: &Context<'_>, failure: &Mutex<Option<E>>, ended: Result<(), E>) {
    if let Err(error) = ended {
        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        context.end();
    }
}

/// Waits for the threads.
fn join<E: From<Error>>(
    context: &Context<'_>,
    failure: &Mutex<Option<E>>,
    threads: Vec<thread::ScopedJoinHandle<'_, ()>>,
) {
    for thread in threads {
        keep(context, failure, thread.join().map_err(|_| Error::Thread.into()));
    }
}

fn ended<E>(failure: Mutex<Option<E>>) -> Result<(), E> {
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
