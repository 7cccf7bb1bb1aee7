//! A session: a target, its threads, and the jobs they run one after the other.
//!
//! The caller waits and watches; a thread of its own (the conductor) starts instances and collects
//! what they saw, so that a hang of the target never hangs the caller.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::actor::Actor;
use super::actor_pool::{ActorPool, Job, RunOptions, Style, Trouble, run_on_thread};
use super::actor_queue::ActorQueue;
use super::executor::lock;
use super::instance::{Batch, Instance};
use super::payload::{Imbalance, Ledger, Word};
use super::plan::{At, Plan};
use super::process::Process;
use super::record::{Path, Record};
use super::target::Target;
use super::watch::Watch;

/// How many instances a batch has.
pub const BATCH: u64 = 200;

/// Something that was seen, how often, and in which instance first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally<S> {
    /// What.
    pub what: S,
    /// How often.
    pub count: u64,
    /// The first instance.
    pub first: u64,
}

/// What is wrong whatever the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Anomaly {
    /// Messages were dropped never, or twice.
    Payload(Imbalance),
    /// A send failed although there were receivers.
    Refused,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All instances finished.
    Finished,
    /// Nothing moved any more.
    Hung {
        /// The first instance that did not finish.
        instance: u64,
        /// Its processes that did not, and the instruction each waits at.
        stuck: Vec<(Path, At)>,
        /// What it had seen.
        record: Record,
    },
    /// The target panicked.
    Panicked(String),
    /// The program is not one for this target: Strait's fault.
    Astray(String),
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many instances finished.
    pub runs: u64,
    /// What they saw, each once.
    pub records: Vec<Tally<Record>>,
    /// What was wrong with them beyond that.
    pub anomalies: Vec<Tally<Anomaly>>,
    /// How it ended.
    pub ended: Ended,
}

/// A target at work with messages of one type.
pub struct Session<T: Target, W: Word> {
    pool: Arc<ActorPool<T, W>>,
    conductor: Arc<ActorQueue<Assignment<T, W>>>,
    handle: Option<JoinHandle<()>>,
    watch: Arc<Watch>,
    is_stuck: bool,
}

struct Assignment<T: Target, W: Word> {
    job: Arc<Job<T, W>>,
    result: Arc<Slot>,
}

/// Counts of what was seen, by what it was; first instance and how often.
#[derive(Default)]
struct Seen {
    runs: u64,
    records: HashMap<Record, (u64, u64)>,
    anomalies: HashMap<Anomaly, (u64, u64)>,
}

#[derive(Default)]
struct Slot {
    seen: Mutex<Seen>,
    is_over: Mutex<bool>,
    over: Condvar,
}

impl<T: Target, W: Word> Session<T, W> {
    /// Starts the conductor; other threads follow when they are needed.
    pub fn start(target: T, watch: Arc<Watch>) -> Result<Self, std::io::Error> {
        let pool = ActorPool::new(target);
        let conductor: Arc<ActorQueue<Assignment<T, W>>> = Arc::default();
        let own = conductor.clone();
        // Payloads refer to ledgers wherever a faulty target takes them, so these are never freed:
        // one small block a session.
        let ledgers: &'static [Ledger] =
            Box::leak((0..BATCH).map(|_| Ledger::default()).collect::<Box<[Ledger]>>());
        let builder = std::thread::Builder::new().name("conductor".to_owned());
        let handle = builder.spawn(move || {
            while let Some(assignment) = own.take() {
                conduct(&assignment, ledgers);
                *lock(&assignment.result.is_over) = true;
                assignment.result.over.notify_all();
            }
        })?;
        Ok(Session { pool, conductor, handle: Some(handle), watch, is_stuck: false })
    }

    /// Has a job hung or panicked? Then the session is of no more use.
    pub fn is_stuck(&self) -> bool {
        self.is_stuck
    }

    /// Runs a job. The plan has to be within the target's contract.
    pub fn run(&mut self, target: &T, plan: &Plan, options: &RunOptions) -> Summary {
        let Some(contract) = target.contract_to(options.promise, options.flavour) else {
            return astray("the target has no processes of this flavour");
        };
        if self.is_stuck {
            return astray("an earlier job of this session is stuck");
        }
        let job = Job::new(self.pool.clone(), plan.clone(), *options, contract, self.watch.clone());
        let result: Arc<Slot> = Arc::default();
        self.conductor.push(Assignment { job: job.clone(), result: result.clone() });
        let is_over = self.wait(&result, &job);
        let ended = match (job.trouble(), is_over) {
            (Some(Trouble::Panicked(message)), _) => Ended::Panicked(message),
            (Some(Trouble::Astray(why)), _) => Ended::Astray(why),
            (None, true) => Ended::Finished,
            (None, false) => hang(&job),
        };
        self.is_stuck = ended != Ended::Finished;
        summarise(&result, &job, ended)
    }

    /// Waits for the end; `false` when nothing has moved for too long.
    fn wait(&self, result: &Slot, job: &Job<T, W>) -> bool {
        let mut is_over = lock(&result.is_over);
        let mut signs = self.watch.processes();
        let mut since = Instant::now();
        let look =
            (job.options.patience / 10).clamp(Duration::from_millis(1), Duration::from_millis(200));
        while !*is_over {
            let waited = result.over.wait_timeout(is_over, look);
            is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            let now = self.watch.processes();
            if now != signs {
                (signs, since) = (now, Instant::now());
            } else if since.elapsed() > job.options.patience && !*is_over {
                return false;
            }
        }
        true
    }
}

impl<T: Target, W: Word> Drop for Session<T, W> {
    fn drop(&mut self) {
        self.conductor.end();
        self.pool.dismiss(self.is_stuck);
        if let (Some(handle), false) = (self.handle.take(), self.is_stuck) {
            let _ = handle.join();
        }
    }
}

fn astray(why: &str) -> Summary {
    let ended = Ended::Astray(why.to_owned());
    Summary { runs: 0, records: vec![], anomalies: vec![], ended }
}

fn hang<T: Target, W: Word>(job: &Job<T, W>) -> Ended {
    let current = lock(&job.current);
    let unfinished = current.iter().find(|instance| !instance.stuck().is_empty());
    match unfinished {
        Some(instance) => Ended::Hung {
            instance: instance.number,
            stuck: instance.stuck(),
            record: instance.record(),
        },
        None => Ended::Hung { instance: 0, stuck: vec![], record: Record::default() },
    }
}

fn tallies<S: Clone>(counts: &HashMap<S, (u64, u64)>) -> Vec<Tally<S>> {
    let entries = counts.iter();
    let mut tallies: Vec<Tally<S>> = entries
        .map(|(what, (first, count))| Tally { what: what.clone(), count: *count, first: *first })
        .collect();
    tallies.sort_by_key(|tally| (tally.first, u64::MAX - tally.count));
    tallies
}

fn summarise<T: Target, W: Word>(result: &Slot, job: &Job<T, W>, ended: Ended) -> Summary {
    let seen = lock(&result.seen);
    let mut anomalies = tallies(&seen.anomalies);
    let (count, first) = job.refusals();
    if count > 0 {
        anomalies.push(Tally { what: Anomaly::Refused, count, first });
    }
    Summary { runs: seen.runs, records: tallies(&seen.records), anomalies, ended }
}

/// Runs all instances of a job.
fn conduct<T: Target, W: Word>(assignment: &Assignment<T, W>, ledgers: &'static [Ledger]) {
    let Assignment { job, result } = assignment;
    let options = &job.options;
    ledgers.iter().for_each(|ledger| ledger.carry(options.payload));
    let size = if options.style.is_batched() { BATCH } else { 1 };
    let mut next = 0;
    while next < options.repetitions && !job.is_troubled() {
        let end = (next + size).min(options.repetitions);
        let batch = Arc::new(match options.style {
            Style::Batched | Style::Barrier => Batch::many((end - next) as usize),
            Style::Plain => Batch::single(),
        });
        let instances: Vec<Arc<Instance<T, W>>> = (next..end)
            .zip(ledgers)
            .enumerate()
            .map(|(place, (number, ledger))| {
                Arc::new(Instance::new(number, place, job.clone(), batch.clone(), ledger))
            })
            .collect();
        lock(&job.current).clone_from(&instances);
        perform(job, &batch, &instances);
        if job.is_troubled() {
            return;
        }
        collect(&instances, &mut lock(&result.seen));
        job.watch.finish_instances(end - next);
        next = end;
    }
    lock(&job.current).clear();
}

/// Main processes first run ahead to their first operation, which makes their channels; then all
/// queues begin at once.
fn perform<T: Target, W: Word>(
    job: &Arc<Job<T, W>>,
    batch: &Batch,
    instances: &[Arc<Instance<T, W>>],
) {
    let is_thread = job.is_thread(&[]);
    let mut mains = Vec::with_capacity(if is_thread { instances.len() } else { 0 });
    for instance in instances {
        let process = Process::main(&job.plan, job.options.seed, instance.number);
        let mut actor = Actor::new(process, instance.clone());
        actor.run_ahead();
        instance.expect_all();
        if is_thread { mains.push(actor) } else { job.clone().dispatch(actor) }
    }
    job.release(batch);
    for main in mains {
        if job.is_troubled() {
            return;
        }
        run_on_thread(main);
    }
    batch.wait(|| job.is_troubled());
}

fn collect<T: Target, W: Word>(instances: &[Arc<Instance<T, W>>], seen: &mut Seen) {
    for instance in instances {
        instance.clear();
        seen.runs += 1;
        let entry = seen.records.entry(instance.record()).or_insert((instance.number, 0));
        entry.1 += 1;
        if let Some(imbalance) = instance.ledger.settle() {
            let anomaly = Anomaly::Payload(imbalance);
            seen.anomalies.entry(anomaly).or_insert((instance.number, 0)).1 += 1;
        }
    }
}
