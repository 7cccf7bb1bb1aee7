//! Campaigns in this process over a server in memory, by a clock that no time passes for: a submitter,
//! workers, and something that kills and pauses them and makes the server fail. A seed decides everything
//! that happens. The campaign is that of `subject.rs`: one target of naps, some of which find something.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use strait_findings::{CampaignId, Discovery, Kind, Ranges, Store};
use strait_queue::{
    Address, Allotment, Alone, Bucket, Clock, Error, Item, Job, Ledger, Link, Memory, Part,
    QueueEvent, Shard, Source, Stream, Submission, TargetVersion, Transport, Trial, WorkerSession,
};

use crate::memory::{MemoryServer, Place};
use crate::virtual_clock::{Process, VirtualClock};

pub const SEED: u64 = 3;
/// Indices in an item.
pub const ITEM: u64 = 10;
/// The submitter's process; the workers have the numbers after it.
pub const SUBMITTER: Process = 1;
/// How long a campaign may take by its own clock.
const LIMIT: Duration = Duration::from_secs(6 * 3600);

/// A campaign.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub count: u64,
    pub lease: Duration,
    pub nap: Duration,
    pub workers: u32,
    /// Programs that kill whatever runs them.
    pub deadly: BTreeSet<u64>,
    /// Programs at which workers are killed, but that run well alone.
    pub killed_at: BTreeSet<u64>,
    /// Of a hundred processes that run something alone, so many are killed, but never two in a row.
    pub disturbed: u64,
}

impl Plan {
    pub fn new(seed: u64, count: u64) -> Plan {
        Plan {
            seed,
            count,
            lease: Duration::from_secs(3),
            nap: Duration::from_millis(50),
            workers: 1,
            deadly: BTreeSet::new(),
            killed_at: BTreeSet::new(),
            disturbed: 0,
        }
    }

    /// What a campaign in one process executes, counts and finds.
    pub fn expected(&self) -> Results {
        let mut executed = Ranges::default();
        executed.insert(0..self.count);
        let mut found = BTreeMap::new();
        for index in 0..self.count {
            let fault = match self.deadly.contains(&index) {
                true => Some(discovery(Kind::WORKER_DEATH, "deadly", index)),
                false => fault(index),
            };
            if let Some(discovery) = fault {
                *found.entry(discovery.id()).or_default() += 1;
            }
        }
        (executed, self.count, 2 * self.count, found)
    }
}

/// What was executed, how many programs and runs were counted, and what was found how often.
pub type Results = (Ranges, u64, u64, BTreeMap<String, u64>);

/// What came out of a campaign.
pub struct Outcome {
    pub results: Results,
    pub told: Vec<QueueEvent>,
    /// How long it took by its own clock.
    pub took: Duration,
    /// How often processes died that ran something alone.
    pub deaths_alone: u64,
}

/// Everything of a campaign.
pub struct Simulation {
    pub clock: Arc<VirtualClock>,
    pub server: Arc<MemoryServer>,
    pub plan: Plan,
    told: Mutex<Vec<QueueEvent>>,
    /// Why the submitter had to be started again.
    refused: Mutex<Vec<String>>,
    ended: Mutex<Option<Result<(), Error>>>,
    trials: Mutex<Trials>,
    folder: tempfile::TempDir,
}

#[derive(Default)]
struct Trials {
    deaths: u64,
    /// The last process that ran this alone was killed.
    disturbed: BTreeSet<(Process, u64)>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Simulation {
    /// Runs a campaign. `direct` is called first, before there are workers; then all of them are started,
    /// and started again when they die.
    pub fn run(plan: Plan, direct: impl FnOnce(&Arc<Simulation>)) -> Outcome {
        let clock = VirtualClock::new(plan.seed);
        let server = MemoryServer::new(Arc::<VirtualClock>::clone(&clock), plan.seed);
        // In memory, if that is possible: a store waits for the disk.
        let shared = Path::new("/dev/shm");
        let folder =
            if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
        let simulation = Arc::new(Simulation {
            clock: Arc::clone(&clock),
            server,
            plan,
            told: Mutex::default(),
            refused: Mutex::default(),
            ended: Mutex::default(),
            trials: Mutex::default(),
            folder: folder.expect("a folder"),
        });
        let took = clock.run(|| {
            simulation.server.furnish().expect("nothing fails yet");
            simulation.start_submitter();
            direct(&simulation);
            while !simulation.is_over() {
                simulation.restart_the_dead();
                clock.sleep(Duration::from_millis(500));
            }
            clock.now()
        });
        let ended = lock(&simulation.ended).take();
        ended.expect("it is over").expect("the campaign succeeds");
        Outcome {
            results: results(simulation.folder.path()),
            told: lock(&simulation.told).clone(),
            took,
            deaths_alone: lock(&simulation.trials).deaths,
        }
    }

    pub fn workers(&self) -> std::ops::Range<Process> {
        SUBMITTER + 1..SUBMITTER + 1 + self.plan.workers
    }

    /// Has the campaign ended?
    pub fn is_over(&self) -> bool {
        let now = self.clock.now();
        if now >= LIMIT {
            let told = lock(&self.told);
            let last = told.iter().rev().take(5).collect::<Vec<_>>();
            let left = [Stream::Work, Stream::Results]
                .map(|stream| self.server.look_into(Place::Stream(stream)).len());
            let refused = lock(&self.refused).last().cloned();
            panic!("the campaign does not end: {:?}, {left:?}, {last:?}, {refused:?}", self.plan);
        }
        lock(&self.ended).is_some()
    }

    /// The campaign's name in the queue, as soon as it has one.
    pub fn job(&self) -> String {
        loop {
            let campaigns = self.server.look_into(Place::Bucket(Bucket::Campaigns));
            if let Some((name, ..)) = campaigns.first() {
                return name.clone();
            }
            self.clock.sleep(Duration::from_millis(10));
        }
    }

    /// What was said so far.
    pub fn told(&self) -> Vec<QueueEvent> {
        lock(&self.told).clone()
    }

    /// Starts processes again that are gone.
    pub fn restart_the_dead(self: &Arc<Self>) {
        if !self.clock.is_running(SUBMITTER) && !self.is_over() {
            self.start_submitter();
        }
        for worker in self.workers().filter(|worker| !self.clock.is_running(*worker)) {
            self.start_worker(worker);
        }
    }

    pub fn link(&self) -> Link {
        let address: Address = "nats://memory:1/simulated".parse().expect("an address");
        // Whoever connects makes what is missing there.
        while self.server.furnish().is_err() {
            self.clock.sleep(Duration::from_secs(1));
        }
        Link::over(Arc::<MemoryServer>::clone(&self.server), &address)
    }

    pub fn start_submitter(self: &Arc<Self>) {
        let own = Arc::clone(self);
        let submit = move || {
            // A server that is away or full ends a campaign; its user goes on with it later.
            let ended = loop {
                match own.submit() {
                    Err(error) if error.passes() || matches!(error, Error::Full { .. }) => {
                        lock(&own.refused).push(error.to_string());
                        own.clock.sleep(Duration::from_secs(2));
                    }
                    ended => break ended,
                }
            };
            *lock(&own.ended) = Some(ended);
        };
        self.clock.start(SUBMITTER, Box::new(submit));
    }

    pub fn start_worker(self: &Arc<Self>, process: Process) {
        let own = Arc::clone(self);
        self.clock.start(process, Box::new(move || own.serve(process)));
    }

    fn submit(&self) -> Result<(), Error> {
        let link = self.link();
        let mut store = Store::open(self.folder.path())?;
        let id = store.campaign(SEED, 1, "naps")?;
        let Plan { count, lease, .. } = self.plan;
        let (targets, name) = (targets(), link.fresh_name());
        let job = Job::new(name, "naps", lease, targets.clone(), vec![count], &json!({}))?;
        let mut found = |_: usize, _: &_, _: &_| {};
        let mut ledger = Ledger::new(&mut store, id, &targets, &mut found);
        let mut submission = Submission {
            link: &link,
            job: &job,
            folder: self.folder.path(),
            stop: &|| false,
            keep: &|| Ok(()),
            counted: &mut |_, _| {},
            is_news: &mut |_| true,
            tell: &mut |told| lock(&self.told).push(told),
        };
        let allotment = missing(ledger.store(), id, count)?;
        submission.take_up(&mut ledger, id, allotment)?;
        let allotment = missing(ledger.store(), id, count)?;
        submission.run(&mut ledger, id, allotment)?;
        Ok(store.close()?)
    }

    fn serve(self: &Arc<Self>, process: Process) {
        let link = self.link();
        let name = format!("worker {process}");
        let _presence = link.be_present(&name, &["naps"]);
        let mut memories = HashMap::<String, Memory>::new();
        let trial: Arc<dyn Trial> = Arc::new(InProcess(Arc::clone(self)));
        loop {
            // The server may be away.
            let (jobs, _) = link.jobs().unwrap_or_default();
            for job in jobs {
                let memory = memories.entry(job.id.clone()).or_default();
                let Some(session) = WorkerSession::open(&link, &job, &name, memory, &trial) else {
                    continue;
                };
                self.work(&mut session.source(), process).expect("a worker does not fail");
                session.close();
            }
            self.clock.sleep(Duration::from_millis(100));
        }
    }

    fn work(&self, source: &mut dyn Source, process: Process) -> Result<(), Error> {
        while let Some(piece) = source.take(&|| false)? {
            let (begun, mut part) = (self.clock.now(), Part::default());
            for index in piece.indices.clone() {
                if piece.done.contains(index) {
                    continue;
                }
                if piece.deadly.contains(&index) {
                    part.add(one(index, Some(discovery(Kind::WORKER_DEATH, "deadly", index))));
                    continue;
                }
                if piece.is_watched {
                    source.begin(index..index + 1)?;
                }
                if self.plan.deadly.contains(&index) || self.plan.killed_at.contains(&index) {
                    self.clock.kill(process);
                }
                self.clock.sleep(self.plan.nap);
                part.add(one(index, fault(index)));
            }
            source.deliver(part)?;
            source.finish(self.clock.now() - begun, true)?;
        }
        Ok(())
    }
}

/// Runs work alone, in a process that is only told of.
struct InProcess(Arc<Simulation>);

impl Trial for InProcess {
    fn run(&self, _: &Job, work: &Item) -> Alone {
        let simulation = &self.0;
        // Its worker may be killed meanwhile.
        simulation.clock.sleep(Duration::from_millis(200));
        let deadly = &simulation.plan.deadly;
        let dice = simulation.clock.draw(100);
        let mut trials = lock(&simulation.trials);
        if work.indices().any(|index| deadly.contains(&index)) {
            trials.deaths += 1;
            return Alone::Died;
        }
        let key = (simulation.clock.process().unwrap_or_default(), work.start);
        if !trials.disturbed.remove(&key) && dice < simulation.plan.disturbed {
            trials.disturbed.insert(key);
            trials.deaths += 1;
            return Alone::Died;
        }
        let mut part = Part::default();
        for index in work.indices() {
            part.add(one(index, fault(index)));
        }
        Alone::Done(part)
    }
}

fn targets() -> Vec<TargetVersion> {
    vec![TargetVersion { target: "naps".to_owned(), version: "1".to_owned() }]
}

fn missing(store: &Store, id: CampaignId, count: u64) -> Result<Allotment, Error> {
    let executed = store.executed(id, "naps", "1")?;
    Ok(Allotment::new([(executed.missing(0..count), ITEM)], Shard::default()))
}

/// What one program gives.
fn one(index: u64, found: Option<Discovery>) -> Part {
    let mut part = Part { programs: 1, runs: 2, ..Part::default() };
    part.indices.insert(index..index + 1);
    part.discoveries.extend(found);
    part
}

fn fault(index: u64) -> Option<Discovery> {
    let fault = ["one", "two", "three"].get((index % 40) as usize)?;
    Some(discovery(Kind::HANG, fault, index))
}

fn discovery(kind: Kind, fault: &str, index: u64) -> Discovery {
    Discovery::new(kind, "naps", "1", SEED, index).fingerprint(fault)
}

fn results(folder: &Path) -> Results {
    let mut store = Store::open(folder).expect("a store");
    let known = store.last_campaign().expect("readable").expect("a campaign");
    let id = store.campaign(known.seed, known.generator_version, &known.settings).expect("known");
    let executed = store.executed(id, "naps", "1").expect("readable");
    let totals = store.totals(id).expect("readable");
    let programs = totals.iter().map(|total| total.programs).sum();
    let runs = totals.iter().map(|total| total.runs).sum();
    let found = store.findings().map(|finding| (finding.id.clone(), finding.count)).collect();
    (executed, programs, runs, found)
}

/// A number from the environment.
pub fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Does this for each seed, on all cores; says which seed failed.
pub fn each_seed(seeds: std::ops::Range<u64>, check: impl Fn(u64) + Sync) {
    let next = Mutex::new(seeds);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let seed = lock(&next).next();
                    let Some(seed) = seed else { return };
                    let checked =
                        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(seed)));
                    if let Err(panic) = checked {
                        *lock(&next) = 0..0;
                        eprintln!("STRAIT_TEST_SEED={seed} STRAIT_TEST_COUNT=1 shows it again");
                        std::panic::resume_unwind(panic);
                    }
                }
            });
        }
    });
}
