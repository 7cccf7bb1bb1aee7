//! What the seats of a campaign do, wherever their work comes from: take a piece, send its programs to a
//! worker process or to a compiler, judge what comes back, follow every suspicion, deliver.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use strait_emit::Toolchain;
use strait_findings::{Discovery, Ranges};
use strait_queue::{Part, Piece, Source};
use strait_runtimes::RunOptions;
use strait_toolchain::End;

use crate::campaign::Campaign;
use crate::confirm::Confirmer;
use crate::counters::{Both, Counters, Tick, nanoseconds};
use crate::discover::{deadly, discovery, identity};
use crate::done::Done;
use crate::error::Error;
use crate::judge::{Fault, Suspicion, judge};
use crate::lane::Way;
use crate::press::Press;
use crate::recipe::PATIENCE;
use crate::seat::{AHEAD, Seat};
use crate::work::{Maker, Work};

/// The patience with a target that is known to hang. What hangs in a new way then has to do so
/// again, with the full patience.
const KNOWN_PATIENCE: Duration = Duration::from_secs(2);

/// What seats share.
pub(crate) struct Desk<'a> {
    campaign: &'a Campaign<'a>,
    makers: Vec<Maker>,
    names: Vec<Arc<str>>,
    /// Names of faults that are known already.
    known: Mutex<HashSet<String>>,
    /// For each lane: has it hung?
    hung: Vec<AtomicBool>,
    deadline: Option<Instant>,
    /// No more work, for whatever reason.
    over: AtomicBool,
    /// The first failure of ours.
    failure: Mutex<Option<Error>>,
    /// Compilers are to stop.
    halt: Arc<AtomicBool>,
}

/// What a seat has done of a piece and not delivered yet.
struct Tray<'a> {
    source: &'a mut dyn Source,
    lane: usize,
    done: Ranges,
    counters: Counters,
}

impl Tray<'_> {
    /// Delivers it; `false` if nobody takes it any more.
    fn deliver(&mut self, discoveries: Vec<Discovery>) -> Result<bool, Error> {
        let indices = std::mem::take(&mut self.done);
        let (programs, runs) = (self.counters.programs(), self.counters.runs());
        let counts = self.counters.take();
        Ok(self.source.deliver(Part { indices, programs, runs, counts, discoveries })?)
    }
}

impl<'a> Desk<'a> {
    /// A desk for a campaign of which some faults are known.
    pub(crate) fn new(campaign: &'a Campaign<'a>, known: HashSet<String>) -> Result<Self, Error> {
        let seed = campaign.bounds.seed;
        let lanes = campaign.lanes;
        Ok(Desk {
            campaign,
            makers: lanes.iter().map(|lane| Maker::new(seed, lane)).collect::<Result<_, _>>()?,
            names: lanes.iter().map(|lane| lane.target.as_str().into()).collect(),
            known: Mutex::new(known),
            hung: lanes.iter().map(|_| AtomicBool::new(false)).collect(),
            deadline: campaign.bounds.time.map(|time| Instant::now() + time),
            over: AtomicBool::new(false),
            failure: Mutex::default(),
            halt: Arc::default(),
        })
    }

    /// No more work.
    pub(crate) fn stop(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Something of ours has failed; the first failure is the one to tell.
    pub(crate) fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.stop();
    }

    /// Has compilers stop when the campaign does.
    pub(crate) fn look(&self) {
        if self.should_stop() {
            self.halt.store(true, Ordering::SeqCst);
        }
    }

    /// Waits for the seats' threads.
    pub(crate) fn join(&self, seats: Vec<ScopedJoinHandle<'_, ()>>) {
        let panicked = seats.into_iter().filter_map(|seat| seat.join().err()).count();
        if panicked > 0 {
            self.fail(Error::Bug { what: "a thread of the campaign".to_owned() });
        }
    }

    /// The faults that are known by now.
    pub(crate) fn take_known(&self) -> HashSet<String> {
        std::mem::take(&mut lock(&self.known))
    }

    /// How it ended, when all seats are empty.
    pub(crate) fn ended(self) -> Result<(), Error> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), Err)
    }

    fn should_stop(&self) -> bool {
        self.campaign.stop.load(Ordering::Relaxed)
            || self.over.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// What a seat's thread does.
    pub(crate) fn sit(&self, source: &mut dyn Source) {
        let mut seats: HashMap<String, Seat> = HashMap::new();
        let worked = self.work(&mut seats, source);
        for seat in seats.into_values() {
            // It was asked to end; whether it does so well is of no importance any more.
            let _ = seat.end();
        }
        if let Err(error) = worked {
            self.fail(error);
        }
    }

    fn work(
        &self,
        seats: &mut HashMap<String, Seat>,
        source: &mut dyn Source,
    ) -> Result<(), Error> {
        let stop = || self.should_stop();
        while let Some(piece) = source.take(&stop)? {
            let begun = Instant::now();
            let (done, counters) = (Ranges::default(), Counters::default());
            let mut tray = Tray { source: &mut *source, lane: piece.lane, done, counters };
            let ran =
                self.bury(&piece, &mut tray).and_then(|()| self.piece(seats, &piece, &mut tray));
            // What is done is done, whatever failed.
            let taken = tray.deliver(Vec::new())?;
            source.finish(begun.elapsed(), matches!(ran, Ok(true)))?;
            if !(ran? && taken) {
                break;
            }
        }
        Ok(())
    }

    /// Indices that workers died at are done; nobody tries them again.
    fn bury(&self, piece: &Piece, tray: &mut Tray<'_>) -> Result<(), Error> {
        let mut discoveries = Vec::new();
        for index in &piece.deadly {
            let lane = &self.campaign.lanes[piece.lane];
            discoveries.push(deadly(lane, self.campaign.bounds.seed, *index));
            tray.done.insert(*index..*index + 1);
        }
        if !discoveries.is_empty() {
            tray.deliver(discoveries)?;
        }
        Ok(())
    }

    /// Runs a piece; `false` when stopped in the middle.
    fn piece(
        &self,
        seats: &mut HashMap<String, Seat>,
        piece: &Piece,
        tray: &mut Tray<'_>,
    ) -> Result<bool, Error> {
        let lane = &self.campaign.lanes[piece.lane];
        match &lane.way {
            Way::Worker(spec) => {
                let key = lane.worker_key();
                if !seats.contains_key(&key) {
                    seats.insert(key.clone(), Seat::start(self.campaign.launcher, spec)?);
                }
                let Some(seat) = seats.get_mut(&key) else { return Ok(false) };
                self.block(seat, piece, tray)
            }
            Way::Compiler(toolchain) => {
                let toolchain = toolchain.cancelled_by(Arc::clone(&self.halt));
                self.compiled_block(&toolchain, piece, tray)
            }
        }
    }

    fn block(&self, seat: &mut Seat, piece: &Piece, tray: &mut Tray<'_>) -> Result<bool, Error> {
        let mut left = piece.indices.clone();
        let stop = || self.should_stop();
        loop {
            self.send_ahead(seat, piece, &mut left, tray)?;
            if seat.load() == 0 {
                return Ok(true);
            }
            let Some(ended) = seat.next(&stop)? else { return Ok(false) };
            if !self.account(&ended, tray)? {
                return Ok(false);
            }
        }
    }

    fn send_ahead(
        &self,
        seat: &mut Seat,
        piece: &Piece,
        left: &mut Range<u64>,
        tray: &mut Tray<'_>,
    ) -> Result<(), Error> {
        let ahead = if piece.is_watched { 0 } else { AHEAD };
        while seat.load() <= ahead {
            let Some(index) = left.next() else { return Ok(()) };
            if !piece.runs(index) {
                continue;
            }
            if piece.is_watched {
                tray.source.begin(index..index + 1)?;
            }
            let begun = Instant::now();
            let mut work = self.makers[piece.lane].make(index)?;
            if self.hung[piece.lane].load(Ordering::Relaxed) {
                work.options.patience = KNOWN_PATIENCE;
            }
            self.counters(&tray.counters).time_generating(nanoseconds(begun.elapsed()));
            seat.submit(&self.names[piece.lane], Arc::new(work))?;
        }
        Ok(())
    }

    /// Compiles and runs a piece, one program at a time if it is watched; `false` when stopped in the
    /// middle.
    fn compiled_block(
        &self,
        toolchain: &Toolchain,
        piece: &Piece,
        tray: &mut Tray<'_>,
    ) -> Result<bool, Error> {
        let indices = piece.indices.clone().filter(|index| piece.runs(*index));
        let indices: Vec<u64> = indices.collect();
        let together = if piece.is_watched { 1 } else { indices.len().max(1) };
        let stop = || self.should_stop();
        let (launcher, target) = (self.campaign.launcher, &self.names[piece.lane]);
        let press = Press { launcher, toolchain, target, stop: &stop };
        for indices in indices.chunks(together) {
            if let (true, [index, ..]) = (piece.is_watched, indices) {
                tray.source.begin(*index..*index + 1)?;
            }
            let begun = Instant::now();
            let make = |index: &u64| self.makers[piece.lane].make(*index).map(Arc::new);
            let works = indices.iter().map(make).collect::<Result<Vec<_>, Error>>()?;
            self.counters(&tray.counters).time_generating(nanoseconds(begun.elapsed()));
            if !press.run(&works, &mut |ended| self.account(&ended, tray))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The campaign's counters and those of a piece, moved together.
    fn counters<'b>(&'b self, piece: &'b Counters) -> Both<'b> {
        Both(self.campaign.counters, piece)
    }

    /// Judges and counts what has ended; `false` if nobody wants to hear of it any more.
    fn account(&self, ended: &Done, tray: &mut Tray<'_>) -> Result<bool, Error> {
        let discoveries = self.examine(tray, ended)?;
        let index = ended.work.index;
        tray.done.insert(index..index + 1);
        let counters = self.counters(&tray.counters);
        counters.programs_ran(1);
        counters.runs_had(ended.summary.runs);
        counters.time_running(nanoseconds(ended.spent));
        if discoveries.is_empty() {
            return Ok(true);
        }
        counters.faults_shown(1);
        tray.deliver(discoveries)
    }

    /// Judges what was done and follows every suspicion.
    fn examine(&self, tray: &mut Tray<'_>, done: &Done) -> Result<Vec<Discovery>, Error> {
        let begun = Instant::now();
        let judgement = judge(done);
        let counters = self.counters(&tray.counters);
        counters.time_judging(nanoseconds(begun.elapsed()));
        counters.left_undecided(judgement.undecided);
        counters.went_astray(u64::from(judgement.astray.is_some()));
        let mut discoveries: Vec<Discovery> = Vec::new();
        for suspicion in &judgement.suspicions {
            let discovery = self.follow(tray, &done.work, suspicion)?;
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
        tray: &mut Tray<'_>,
        work: &Arc<Work>,
        suspicion: &Suspicion,
    ) -> Result<Option<Discovery>, Error> {
        let number = tray.lane;
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
            self.counters(&tray.counters).hangs_dropped(1);
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
