//! A campaign: seats (threads with a worker process each) take blocks of indices, run and judge
//! them; the calling thread puts what they bring into the store, about once a second and at once
//! when something was found.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use strait_emit::Toolchain;
use strait_findings::{Batch, CampaignId, Discovery, Ranges, Recorded, Store};
use strait_runtimes::RunOptions;
use strait_toolchain::{End, Launcher};

use crate::allot::{Allotment, BLOCK, Block};
use crate::confirm::Confirmer;
use crate::counters::{Counters, Tick, nanoseconds};
use crate::discover::{discovery, identity};
use crate::done::Done;
use crate::error::Error;
use crate::judge::{Fault, Suspicion, judge};
use crate::lane::{Lane, Way};
use crate::press::Press;
use crate::recipe::PATIENCE;
use crate::seat::{AHEAD, Seat};
use crate::shard::Shard;
use crate::work::{Maker, Work};

/// Between two commits when nothing is found.
const INTERVAL: Duration = Duration::from_secs(1);
/// The patience with a target that is known to hang. What hangs in a new way then has to do so
/// again, with the full patience.
const KNOWN_PATIENCE: Duration = Duration::from_secs(2);
/// Programs that are compiled together: many, since a compiler takes long to start; not too many,
/// since nothing is known about any of them before all are compiled.
const COMPILED_TOGETHER: u64 = 100;
/// The largest index.
const MAX_INDEX: u64 = i64::MAX as u64;

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

/// What a seat brings.
enum Brought {
    /// Indices of a lane are done.
    Done { lane: usize, indices: Ranges, runs: u64, discoveries: Vec<Discovery> },
    /// The seat cannot go on.
    Failed(Error),
}

/// What seats share.
struct Desk<'a> {
    campaign: &'a Campaign<'a>,
    makers: Vec<Maker>,
    names: Vec<Arc<str>>,
    allotment: Mutex<Allotment>,
    /// Names of faults that are known already.
    known: Mutex<HashSet<String>>,
    /// For each lane: has it hung?
    hung: Vec<AtomicBool>,
    deadline: Option<Instant>,
    /// Something of ours has failed.
    broken: AtomicBool,
    /// Compilers are to stop.
    halt: Arc<AtomicBool>,
}

/// What a seat has done of a block and not handed over yet.
struct Tray<'a> {
    lane: usize,
    done: Ranges,
    runs: u64,
    sender: &'a Sender<Brought>,
}

impl Tray<'_> {
    /// Hands it over; `false` if nobody takes it any more.
    fn hand_over(&mut self, discoveries: Vec<Discovery>) -> bool {
        let (indices, runs) = (std::mem::take(&mut self.done), std::mem::take(&mut self.runs));
        self.sender.send(Brought::Done { lane: self.lane, indices, runs, discoveries }).is_ok()
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
        let desk = self.desk(store, id)?;
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            let seats: Vec<_> = (0..self.bounds.jobs.max(1))
                .map(|_| {
                    let sender = sender.clone();
                    scope.spawn(|| desk.sit(sender))
                })
                .collect();
            drop(sender);
            let written = self.write(store, id, &receiver, &desk, found);
            if written.is_err() {
                desk.broken.store(true, Ordering::SeqCst);
            }
            // Whatever still comes after a failure has nowhere to go.
            while receiver.recv().is_ok() {}
            let panicked = seats.into_iter().filter_map(|seat| seat.join().err()).count();
            match (written, panicked) {
                (Err(error), _) => Err(error),
                (Ok(()), 0) => Ok(()),
                (Ok(()), _) => Err(Error::Bug { what: "a thread of the campaign".to_owned() }),
            }
        })
    }

    fn desk<'s>(&'s self, store: &Store, id: CampaignId) -> Result<Desk<'s>, Error> {
        let seed = self.bounds.seed;
        let makers =
            self.lanes.iter().map(|lane| Maker::new(seed, lane)).collect::<Result<_, _>>()?;
        let all = 0..self.bounds.count.unwrap_or(MAX_INDEX).min(MAX_INDEX);
        let mut missing = Vec::new();
        for lane in self.lanes {
            let executed = store.executed(id, &lane.target, &lane.version)?;
            let block = match lane.way {
                Way::Worker(_) => BLOCK,
                Way::Compiler(_) => COMPILED_TOGETHER,
            };
            missing.push((executed.missing(all.clone()), block));
        }
        let known: HashSet<String> = store.findings().map(|finding| finding.id.clone()).collect();
        Ok(Desk {
            campaign: self,
            makers,
            names: self.lanes.iter().map(|lane| lane.target.as_str().into()).collect(),
            allotment: Mutex::new(Allotment::new(missing, self.bounds.shard)),
            known: Mutex::new(known),
            hung: self.lanes.iter().map(|_| AtomicBool::new(false)).collect(),
            deadline: self.bounds.time.map(|time| Instant::now() + time),
            broken: AtomicBool::new(false),
            halt: Arc::default(),
        })
    }

    /// Puts what seats bring into the store until the last seat is gone.
    fn write(
        &self,
        store: &mut Store,
        id: CampaignId,
        receiver: &Receiver<Brought>,
        desk: &Desk<'_>,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<(), Error> {
        let mut pending: HashMap<usize, (Ranges, u64)> = HashMap::new();
        let mut committed = Instant::now();
        loop {
            let wait = INTERVAL.saturating_sub(committed.elapsed());
            let brought = receiver.recv_timeout(wait);
            if desk.should_stop() {
                desk.halt.store(true, Ordering::SeqCst);
            }
            let is_over = brought.as_ref().err() == Some(&RecvTimeoutError::Disconnected);
            let mut discoveries = (0, Vec::new());
            match brought {
                Ok(Brought::Failed(error)) => {
                    // What is done is done, whatever failed; the first failure is the one to tell.
                    let _ = self.commit(store, id, &mut pending, (0, Vec::new()), found);
                    return Err(error);
                }
                Ok(Brought::Done { lane, indices, runs, discoveries: fresh }) => {
                    let entry = pending.entry(lane).or_default();
                    indices.intervals().iter().for_each(|range| entry.0.insert(range.clone()));
                    entry.1 += runs;
                    discoveries = (lane, fresh);
                }
                Err(_) => {}
            }
            if is_over || !discoveries.1.is_empty() || committed.elapsed() >= INTERVAL {
                self.commit(store, id, &mut pending, discoveries, found)?;
                committed = Instant::now();
            }
            if is_over {
                return Ok(());
            }
        }
    }

    fn commit(
        &self,
        store: &mut Store,
        id: CampaignId,
        pending: &mut HashMap<usize, (Ranges, u64)>,
        mut discoveries: (usize, Vec<Discovery>),
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<(), Error> {
        let mut lanes: Vec<usize> = pending.keys().copied().collect();
        lanes.sort_unstable();
        for number in lanes {
            let Some((ranges, mut runs)) = pending.remove(&number) else { continue };
            let lane = &self.lanes[number];
            for range in ranges.intervals() {
                let batch = Batch::new(id, &lane.target, &lane.version, range.clone()).runs(runs);
                runs = 0;
                // What was found goes in with the indices that found it, or they would not be run
                // again after a kill between the two.
                let own = if discoveries.0 == number {
                    std::mem::take(&mut discoveries.1)
                } else {
                    Vec::new()
                };
                let batch = Batch { discoveries: own, ..batch };
                self.put(store, &batch, found)?;
            }
        }
        if !discoveries.1.is_empty() {
            let lane = &self.lanes[discoveries.0];
            let batch = Batch::new(id, &lane.target, &lane.version, 0..0).runs(0);
            self.put(store, &Batch { discoveries: discoveries.1, ..batch }, found)?;
        }
        Ok(())
    }

    fn put(
        &self,
        store: &mut Store,
        batch: &Batch,
        found: &mut dyn FnMut(&Recorded, &Discovery),
    ) -> Result<(), Error> {
        let recorded = store.commit(batch)?;
        let mut told = HashSet::new();
        for (recorded, discovery) in recorded.iter().zip(&batch.discoveries) {
            if recorded.new && told.insert(recorded.id.clone()) {
                self.counters.findings_found(1);
                found(recorded, discovery);
            }
        }
        Ok(())
    }
}

impl Desk<'_> {
    fn should_stop(&self) -> bool {
        self.campaign.stop.load(Ordering::Relaxed)
            || self.broken.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// What a seat's thread does.
    fn sit(&self, sender: Sender<Brought>) {
        let mut seats: HashMap<String, Seat> = HashMap::new();
        let worked = self.work(&mut seats, &sender);
        for seat in seats.into_values() {
            // It was asked to end; whether it does so well is of no importance any more.
            let _ = seat.end();
        }
        if let Err(error) = worked {
            self.broken.store(true, Ordering::SeqCst);
            // Nobody listens any more if the store has failed too.
            let _ = sender.send(Brought::Failed(error));
        }
    }

    fn work(
        &self,
        seats: &mut HashMap<String, Seat>,
        sender: &Sender<Brought>,
    ) -> Result<(), Error> {
        while !self.should_stop() {
            let Some(block) = lock(&self.allotment).claim() else { break };
            let begun = Instant::now();
            let (lane, done) = (block.lane, Ranges::default());
            let mut tray = Tray { lane, done, runs: 0, sender };
            let lane = &self.campaign.lanes[block.lane];
            let finished = match &lane.way {
                Way::Worker(spec) => {
                    let key = lane.worker_key();
                    if !seats.contains_key(&key) {
                        seats.insert(key.clone(), Seat::start(self.campaign.launcher, spec)?);
                    }
                    let Some(seat) = seats.get_mut(&key) else { continue };
                    self.block(seat, &block, &mut tray)?
                }
                Way::Compiler(toolchain) => {
                    let toolchain = toolchain.cancelled_by(Arc::clone(&self.halt));
                    self.compiled_block(&toolchain, &block, &mut tray)?
                }
            };
            lock(&self.allotment).finish(block.lane, begun.elapsed());
            if !(tray.hand_over(Vec::new()) && finished) {
                break;
            }
        }
        Ok(())
    }

    /// Runs a block; `false` when stopped in the middle.
    fn block(&self, seat: &mut Seat, block: &Block, tray: &mut Tray<'_>) -> Result<bool, Error> {
        let mut left = block.indices.clone();
        let stop = || self.should_stop();
        loop {
            self.send_ahead(seat, block.lane, &mut left)?;
            if seat.load() == 0 {
                return Ok(true);
            }
            let Some(ended) = seat.next(&stop)? else { return Ok(false) };
            if !self.account(&ended, tray)? {
                return Ok(false);
            }
        }
    }

    /// Compiles and runs a block; `false` when stopped in the middle.
    fn compiled_block(
        &self,
        toolchain: &Toolchain,
        block: &Block,
        tray: &mut Tray<'_>,
    ) -> Result<bool, Error> {
        let begun = Instant::now();
        let make = |index| self.makers[block.lane].make(index).map(Arc::new);
        let works = block.indices.clone().map(make).collect::<Result<Vec<_>, Error>>()?;
        self.campaign.counters.time_generating(nanoseconds(begun.elapsed()));
        let stop = || self.should_stop();
        let (launcher, target) = (self.campaign.launcher, &self.names[block.lane]);
        let press = Press { launcher, toolchain, target, stop: &stop };
        press.run(&works, &mut |ended| self.account(&ended, tray))
    }

    /// Judges and counts what has ended; `false` if nobody wants to hear of it any more.
    fn account(&self, ended: &Done, tray: &mut Tray<'_>) -> Result<bool, Error> {
        let discoveries = self.examine(tray.lane, ended)?;
        let index = ended.work.index;
        tray.done.insert(index..index + 1);
        tray.runs += ended.summary.runs;
        let counters = self.campaign.counters;
        counters.programs_ran(1);
        counters.runs_had(ended.summary.runs);
        counters.time_running(nanoseconds(ended.spent));
        if discoveries.is_empty() {
            return Ok(true);
        }
        counters.faults_shown(1);
        Ok(tray.hand_over(discoveries))
    }

    fn send_ahead(&self, seat: &mut Seat, lane: usize, left: &mut Range<u64>) -> Result<(), Error> {
        while seat.load() <= AHEAD {
            let Some(index) = left.next() else { return Ok(()) };
            let begun = Instant::now();
            let mut work = self.makers[lane].make(index)?;
            if self.hung[lane].load(Ordering::Relaxed) {
                work.options.patience = KNOWN_PATIENCE;
            }
            self.campaign.counters.time_generating(nanoseconds(begun.elapsed()));
            seat.submit(&self.names[lane], Arc::new(work))?;
        }
        Ok(())
    }

    /// Judges what was done and follows every suspicion.
    fn examine(&self, lane: usize, done: &Done) -> Result<Vec<Discovery>, Error> {
        let begun = Instant::now();
        let judgement = judge(done);
        let counters = self.campaign.counters;
        counters.time_judging(nanoseconds(begun.elapsed()));
        counters.left_undecided(judgement.undecided);
        counters.went_astray(u64::from(judgement.astray.is_some()));
        let mut discoveries: Vec<Discovery> = Vec::new();
        for suspicion in &judgement.suspicions {
            let discovery = self.follow(lane, &done.work, suspicion)?;
            // Several records of one program may show the same fault.
            discoveries.extend(
                discovery.filter(|new| discoveries.iter().all(|known| known.id() != new.id())),
            );
        }
        Ok(discoveries)
    }

    /// Runs a new suspect again and compares; a known one is only counted.
    fn follow(
        &self,
        number: usize,
        work: &Arc<Work>,
        suspicion: &Suspicion,
    ) -> Result<Option<Discovery>, Error> {
        let lane = &self.campaign.lanes[number];
        let seed = self.campaign.bounds.seed;
        let fault = &suspicion.fault;
        let name = identity(lane, work, fault);
        let is_hang = matches!(fault, Fault::Hang { .. });
        if lock(&self.known).contains(&name) {
            self.hung[number].fetch_or(is_hang, Ordering::Relaxed);
            return Ok(Some(discovery(lane, seed, work, suspicion, None)));
        }
        let stop = || self.should_stop();
        let confirmer = Confirmer { launcher: self.campaign.launcher, lane, stop: &stop };
        let (culprit, mut confirmation) = confirmer.confirm(work, fault)?;
        if confirmation.again == 0 && !is_certain(fault, &work.options) {
            self.campaign.counters.hangs_dropped(1);
            return Ok(None);
        }
        confirmer.compare(&culprit, fault, &mut confirmation)?;
        lock(&self.known).insert(name);
        self.hung[number].fetch_or(is_hang, Ordering::Relaxed);
        Ok(Some(discovery(lane, seed, &culprit, suspicion, Some(&confirmation))))
    }
}

/// Is the fault beyond doubt even if it does not show again?
fn is_certain(fault: &Fault, options: &RunOptions) -> bool {
    match fault {
        // Memory may have been short, or somebody killed it.
        Fault::Crash(death) => {
            matches!(&death.end, End::Signalled(signal) if !["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"].contains(&signal.as_str()))
        }
        Fault::Hang { .. } => options.patience >= PATIENCE,
        Fault::Panic(_) | Fault::Wrong(..) | Fault::Anomaly(_) | Fault::Refused(_) => true,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
