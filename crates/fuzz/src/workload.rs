//! The work of a campaign against channel runtimes: the programs of a piece are sent to a worker process or
//! to a compiler, what comes back is judged, every suspicion is followed, and what stands is delivered.
//!
//! In a campaign of this process, suspicions are followed beside the threads that run programs, and so are
//! processes whose program does not move any more (see [`crate::suspects`]).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strait_campaign::{Context, Delivery, Ending, Pieces, Workload};
use strait_emit::Toolchain;
use strait_findings::Discovery;
use strait_generate::GENERATOR_VERSION;
use strait_queue::{Part, Piece, TargetVersion};
use strait_runtimes::RunOptions;
use strait_toolchain::{End, Launcher, WorkerSpec};

use crate::batch_compiler::BatchCompiler;
use crate::confirm::Confirmer;
use crate::counts;
use crate::discover::{deadly, discovery, drawn, identity};
use crate::done::Done;
use crate::error::Error;
use crate::fuzz_target::{Backend, FuzzTarget};
use crate::judge::{Fault, Suspicion, judge};
use crate::recipe::PATIENCE;
use crate::settings::{JobSettings, RECIPE_VERSION, Settings};
use crate::suspects::{Matter, Shown, Suspect, Suspects};
use crate::work::{Maker, Work};
use crate::worker_process::{AHEAD, Next, WorkerProcess};

/// Indices in a piece of most targets, for threads of this process.
const PIECE: u64 = 32;
/// Indices in a piece for workers of a queue, at most: as many as are done in a fraction of a second.
const QUEUE_PIECE: u64 = 256;
/// Pieces of a target for workers, at least, unless they get too small: at the end of a campaign most
/// workers wait for the last piece.
const QUEUE_PIECES: u64 = 64;
/// Indices in a piece for workers, at least: each piece goes through the queue.
const SMALLEST_QUEUE_PIECE: u64 = 16;
/// Programs that are compiled together: many, since a compiler takes long to start; not too many,
/// since nothing is known about any of them before all are compiled.
const COMPILED_TOGETHER: u64 = 100;
/// The patience with a target that is known to hang. What hangs in a new way then has to do so
/// again, with the full patience.
const KNOWN_PATIENCE: Duration = Duration::from_secs(2);
/// What is done is delivered after so long, found something or not, so that progress can be seen.
const DELIVERY: Duration = Duration::from_millis(300);

/// A program that has not moved for so long is left to be watched beside the campaign.
const STALL: Duration = Duration::from_secs(1);

/// The programs of a campaign.
pub struct Programs<'a> {
    launcher: &'a Launcher,
    targets: Vec<FuzzTarget>,
    seed: u64,
    makers: Vec<Maker>,
    names: Vec<Arc<str>>,
    /// For each target: has it hung?
    hung: Vec<AtomicBool>,
    suspects: Suspects,
}

impl<'a> Programs<'a> {
    /// For these targets.
    pub fn new(launcher: &'a Launcher, targets: Vec<FuzzTarget>, seed: u64) -> Result<Self, Error> {
        Ok(Programs {
            launcher,
            seed,
            makers: targets
                .iter()
                .map(|target| Maker::new(seed, target))
                .collect::<Result<_, _>>()?,
            names: targets.iter().map(|target| target.target.as_str().into()).collect(),
            hung: targets.iter().map(|_| AtomicBool::new(false)).collect(),
            suspects: Suspects::default(),
            targets,
        })
    }
}

/// Targets as the store and the queue know them.
pub(crate) fn target_versions(targets: &[FuzzTarget]) -> Vec<TargetVersion> {
    let name = |target: &FuzzTarget| TargetVersion {
        target: target.target.clone(),
        version: target.version.clone(),
    };
    targets.iter().map(name).collect()
}

impl Workload for Programs<'_> {
    /// Worker processes by the programs that they are.
    type Thread = HashMap<String, WorkerProcess>;
    type Error = Error;
    type Settings = Settings;

    fn job_settings(&self) -> Value {
        json!(JobSettings {
            seed: self.seed,
            generator: GENERATOR_VERSION,
            recipe: RECIPE_VERSION,
            asked: self.targets.iter().map(FuzzTarget::asked).collect(),
        })
    }

    fn targets(&self) -> Vec<TargetVersion> {
        target_versions(&self.targets)
    }

    fn piece_size(&self, target: usize, pieces: Pieces) -> u64 {
        match (&self.targets[target].backend, pieces) {
            (Backend::Compiler(_), _) => COMPILED_TOGETHER,
            (Backend::Worker(_), Pieces::Here) => PIECE,
            (Backend::Worker(_), Pieces::Queue { asked: Some(asked), .. }) => asked.max(1),
            (Backend::Worker(_), Pieces::Queue { count, .. }) => count
                .map_or(QUEUE_PIECE, |count| {
                    (count / QUEUE_PIECES).clamp(SMALLEST_QUEUE_PIECE, QUEUE_PIECE)
                }),
        }
    }

    fn thread(&self, _number: usize) -> HashMap<String, WorkerProcess> {
        HashMap::new()
    }

    fn leave(&self, processes: HashMap<String, WorkerProcess>) {
        for process in processes.into_values() {
            // It was asked to end; whether it does so well is of no importance any more.
            let _ = process.end();
        }
    }

    fn run(
        &self,
        processes: &mut HashMap<String, WorkerProcess>,
        context: &Context<'_>,
        piece: &Piece,
        delivery: &mut Delivery<'_>,
    ) -> Result<bool, Error> {
        let (part, delivered) = (Part::default(), Instant::now());
        let mut running = Running { programs: self, context, piece, delivery, part, delivered };
        let ran = running.run(processes);
        // What is done is done, whatever failed.
        let is_wanted = running.deliver()?;
        Ok(ran? && is_wanted)
    }

    /// One for processes that do not move, one for what has to be run again: both take long.
    const BESIDE: usize = 2;

    fn beside(&self, context: &Context<'_>, is_over: &dyn Fn() -> bool) -> Result<(), Error> {
        while let Some(suspect) = self.suspects.next(is_over) {
            let Suspect { target, late, matter, confirmation } = suspect;
            let _shown = confirmation.begin();
            let shown = match matter {
                Matter::Shown(shown) => Some(*shown),
                Matter::Stalled(process) => self.watch(context, target, *process)?,
            };
            // What was stopped before its end is not done, and resumed.
            let Some(Shown { work, suspicions, mut part }) = shown else { continue };
            if !self.follow_all(context, target, &work, &suspicions, &mut part)? {
                continue;
            }
            part.indices.insert(work.index..work.index + 1);
            context.count(target, &part);
            late.deliver(part);
        }
        Ok(())
    }

    fn deadly(&self, piece: &Piece) -> Part {
        let target = &self.targets[piece.target];
        let mut part = Part::default();
        for index in &piece.deadly {
            part.discoveries.push(deadly(target, self.seed, *index));
            part.indices.insert(*index..*index + 1);
        }
        part
    }
}

impl Programs<'_> {
    /// Waits for the end of a program that did not move, however it ends; what it shows.
    fn watch(
        &self,
        context: &Context<'_>,
        target: usize,
        mut process: WorkerProcess,
    ) -> Result<Option<Shown>, Error> {
        let next = process.next(&|| context.is_now(), None);
        let ended = process.end();
        self.suspects.release_stall();
        let next = next?;
        ended?;
        let Next::Done(done) = next else { return Ok(None) };
        Ok(Some(self.judge(target, &done)))
    }

    /// Judges and counts what has ended.
    fn judge(&self, target: usize, done: &Done) -> Shown {
        let begun = Instant::now();
        let judgement = judge(done);
        let mut counted = Part::default();
        let part = &mut counted;
        count_time(part, counts::JUDGING, begun.elapsed());
        count(part, counts::UNDECIDED, judgement.undecided);
        if let Some(reason) = judgement.astray {
            count(part, counts::ASTRAY, 1);
            let (target, index) = (self.targets[target].name(), done.work.index);
            part.notes.push(json!(Astray { target, index, reason }));
        }
        part.programs += 1;
        part.runs += done.summary.runs;
        count_time(part, counts::RUNNING, done.spent);
        for (rule, applications) in done.work.rules.iter() {
            // A rule that was never applied is counted too: the report says which.
            let name = format!("{}{}", counts::RULE, rule.name());
            *part.counts.entry(name).or_default() += applications;
        }
        Shown { work: Arc::clone(&done.work), suspicions: judgement.suspicions, part: counted }
    }

    /// Are all of these faults known?
    fn is_known(
        &self,
        context: &Context<'_>,
        target: usize,
        work: &Work,
        suspicions: &[Suspicion],
    ) -> bool {
        let target = &self.targets[target];
        suspicions.iter().all(|found| context.is_known(&identity(target, work, &found.fault)))
    }

    /// Follows what a program showed; `false` when stopped before that was known.
    fn follow_all(
        &self,
        context: &Context<'_>,
        target: usize,
        work: &Arc<Work>,
        suspicions: &[Suspicion],
        part: &mut Part,
    ) -> Result<bool, Error> {
        let mut discoveries: Vec<Discovery> = Vec::new();
        for suspicion in suspicions {
            let discovery = match self.follow(context, target, work, suspicion)? {
                Followed::Stands(discovery) => *discovery,
                Followed::Dropped => {
                    count(part, counts::DROPPED, 1);
                    continue;
                }
                Followed::Stopped => return Ok(false),
            };
            // Several records of one program may show the same fault.
            if discoveries.iter().all(|known| known.id() != discovery.id()) {
                discoveries.push(discovery);
            }
        }
        count(part, counts::FAULTS, u64::from(!discoveries.is_empty()));
        part.discoveries.extend(discoveries);
        Ok(true)
    }

    /// Runs a new suspect again and compares; a known one is only counted.
    fn follow(
        &self,
        context: &Context<'_>,
        number: usize,
        work: &Arc<Work>,
        suspicion: &Suspicion,
    ) -> Result<Followed, Error> {
        let (target, seed) = (&self.targets[number], self.seed);
        let fault = &suspicion.fault;
        let name = identity(target, work, fault);
        let hung = &self.hung[number];
        let is_hang = matches!(fault, Fault::Hang { .. });
        if context.is_known(&name) {
            hung.fetch_or(is_hang, Ordering::Relaxed);
            let known = discovery(target, seed, work, suspicion, None);
            return Ok(Followed::Stands(Box::new(known)));
        }
        let stop = || context.is_now();
        let confirmer = Confirmer { launcher: self.launcher, target, stop: &stop };
        let (culprit, mut confirmation) = confirmer.confirm(work, fault)?;
        if confirmation.again == 0 && !is_certain(fault, &work.options) {
            // What was not tried often enough is run again when the campaign is resumed.
            return Ok(if stop() { Followed::Stopped } else { Followed::Dropped });
        }
        confirmer.compare(&culprit, fault, &mut confirmation)?;
        context.learn(name);
        hung.fetch_or(is_hang, Ordering::Relaxed);
        let found = discovery(target, seed, &culprit, suspicion, Some(&confirmation));
        Ok(Followed::Stands(Box::new(drawn(found, &culprit, suspicion))))
    }
}

/// What became of a suspicion.
enum Followed {
    /// It showed again, or is beyond doubt.
    Stands(Box<Discovery>),
    /// It did not show again.
    Dropped,
    /// The campaign was stopped before that was known.
    Stopped,
}

fn count(part: &mut Part, name: &str, more: u64) {
    if more > 0 {
        *part.counts.entry(name.to_owned()).or_default() += more;
    }
}

fn count_time(part: &mut Part, name: &str, time: Duration) {
    count(part, name, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

/// A generated program that its target could not run: a fault of Strait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Astray {
    /// The target and its version.
    pub target: String,
    /// Which program of the campaign's seed.
    pub index: u64,
    /// Why it could not be run.
    pub reason: String,
}

/// A piece that is under way.
struct Running<'r, 'd> {
    programs: &'r Programs<'r>,
    context: &'r Context<'r>,
    piece: &'r Piece,
    delivery: &'r mut Delivery<'d>,
    /// What is done and not delivered yet.
    part: Part,
    delivered: Instant,
}

impl Running<'_, '_> {
    /// Delivers what is done; `false` if it is no longer taken.
    fn deliver(&mut self) -> Result<bool, Error> {
        self.delivered = Instant::now();
        Ok(self.delivery.deliver(std::mem::take(&mut self.part))?)
    }

    /// Runs the piece; `false` when stopped in the middle.
    fn run(&mut self, processes: &mut HashMap<String, WorkerProcess>) -> Result<bool, Error> {
        let programs = self.programs;
        let target = &programs.targets[self.piece.target];
        match &target.backend {
            Backend::Worker(spec) => {
                let (key, context) = (target.worker_key(), self.context);
                if !processes.contains_key(&key) {
                    let process =
                        WorkerProcess::start(programs.launcher, spec, &|| context.is_due())?;
                    processes.extend(process.map(|process| (key.clone(), process)));
                }
                let Some(process) = processes.get_mut(&key) else { return Ok(false) };
                self.run_in(process, spec)
            }
            Backend::Compiler(toolchain) => {
                let toolchain = toolchain.cancelled_by(Arc::clone(self.context.flag()));
                self.run_compiled(&toolchain)
            }
        }
    }

    fn run_in(&mut self, process: &mut WorkerProcess, spec: &WorkerSpec) -> Result<bool, Error> {
        let mut left = self.piece.indices.clone();
        let context = self.context;
        let stop = || context.is_due();
        let stall = self.delivery.late().map(|_| STALL);
        let mut is_patient = false;
        loop {
            if !self.send_ahead(process, &mut left)? {
                return Ok(false);
            }
            if process.load() == 0 {
                return Ok(true);
            }
            let goes_on = match process.next(&stop, stall.filter(|_| !is_patient))? {
                Next::Done(ended) => {
                    is_patient = false;
                    self.account(&ended)?
                }
                Next::Stalled if self.programs.suspects.reserve_stall() => {
                    self.leave_behind(process, spec)?
                }
                // Too many processes are watched already.
                Next::Stalled => {
                    is_patient = true;
                    true
                }
                Next::Stopped => false,
            };
            if !goes_on {
                return Ok(false);
            }
        }
    }

    /// Leaves a program that does not move to be watched beside the campaign; `false` when stopped.
    fn leave_behind(
        &mut self,
        process: &mut WorkerProcess,
        spec: &WorkerSpec,
    ) -> Result<bool, Error> {
        let (programs, context) = (self.programs, self.context);
        let stalled = process.leave_behind(programs.launcher, spec, &|| context.is_due());
        let (stalled, late) = match (stalled, self.delivery.late()) {
            (Ok(Some(stalled)), Some(late)) => (stalled, late),
            (other, _) => {
                programs.suspects.release_stall();
                return other.map(|_| false);
            }
        };
        self.delivery.charge(PATIENCE);
        let target = self.piece.target;
        let confirmation = context.activity().suspect(target, "a program that does not move");
        let matter = Matter::Stalled(Box::new(stalled));
        programs.suspects.push(Suspect { target, late, matter, confirmation });
        Ok(true)
    }

    /// Keeps the process busy; `false` when stopped in the middle.
    fn send_ahead(
        &mut self,
        process: &mut WorkerProcess,
        left: &mut Range<u64>,
    ) -> Result<bool, Error> {
        let (piece, programs) = (self.piece, self.programs);
        let ahead = if piece.is_watched { 0 } else { AHEAD };
        while process.load() <= ahead {
            let Some(index) = left.next() else { return Ok(true) };
            if !piece.runs(index) {
                continue;
            }
            if piece.is_watched {
                self.delivery.begin(index..index + 1)?;
            }
            let begun = Instant::now();
            let made = programs.makers[piece.target].make(index, self.context.flag())?;
            let Some(mut work) = made else { return Ok(false) };
            if programs.hung[piece.target].load(Ordering::Relaxed) {
                work.options.patience = KNOWN_PATIENCE;
            }
            count_time(&mut self.part, counts::GENERATING, begun.elapsed());
            process.submit(&programs.names[piece.target], Arc::new(work))?;
        }
        Ok(true)
    }

    /// Compiles and runs the piece, one program at a time if it is watched; `false` when stopped in the
    /// middle.
    fn run_compiled(&mut self, toolchain: &Toolchain) -> Result<bool, Error> {
        let (piece, programs, context) = (self.piece, self.programs, self.context);
        let indices = piece.indices.clone().filter(|index| piece.runs(*index));
        let indices: Vec<u64> = indices.collect();
        let together = if piece.is_watched { 1 } else { indices.len().max(1) };
        let stop = || context.is_due();
        let target = &programs.names[piece.target];
        let compiler =
            BatchCompiler { launcher: programs.launcher, toolchain, target, stop: &stop };
        for indices in indices.chunks(together) {
            if let (true, [index, ..]) = (piece.is_watched, indices) {
                self.delivery.begin(*index..*index + 1)?;
            }
            let begun = Instant::now();
            let mut works = Vec::new();
            for index in indices {
                let made = programs.makers[piece.target].make(*index, context.flag())?;
                let Some(work) = made.filter(|_| !context.is_due()) else { return Ok(false) };
                works.push(Arc::new(work));
            }
            count_time(&mut self.part, counts::GENERATING, begun.elapsed());
            if !compiler.run(&works, &mut |ended| self.account(&ended))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Judges and counts what has ended; `false` if it is no longer wanted. What is counted of a program is
    /// delivered together with its index, so that nothing counts twice after a kill.
    fn account(&mut self, ended: &Done) -> Result<bool, Error> {
        let (programs, context, target) = (self.programs, self.context, self.piece.target);
        let Shown { work, suspicions, mut part } = programs.judge(target, ended);
        if !suspicions.is_empty() {
            if !programs.is_known(context, target, &work, &suspicions)
                && let Some(late) = self.delivery.late()
            {
                let what = format!("program {}", work.index);
                let confirmation = context.activity().suspect(target, what);
                let matter = Matter::Shown(Box::new(Shown { work, suspicions, part }));
                programs.suspects.push(Suspect { target, late, matter, confirmation });
                return self.deliver_in_time();
            }
            if !programs.follow_all(context, target, &work, &suspicions, &mut part)? {
                return Ok(false);
            }
        }
        let has_found = !part.discoveries.is_empty();
        part.indices.insert(work.index..work.index + 1);
        self.part.add(part);
        if has_found { self.deliver() } else { self.deliver_in_time() }
    }

    /// Delivers if the last delivery was a while ago.
    fn deliver_in_time(&mut self) -> Result<bool, Error> {
        if self.delivered.elapsed() > DELIVERY { self.deliver() } else { Ok(true) }
    }
}

/// Is the fault beyond doubt even if it does not show again?
fn is_certain(fault: &Fault, options: &RunOptions) -> bool {
    match fault {
        // Memory may have been short, or the process was killed from outside.
        Fault::Crash(death) => {
            matches!(&death.end, End::Signalled(signal) if !["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"].contains(&signal.as_str()))
        }
        Fault::Hang { .. } => options.patience >= PATIENCE,
        Fault::Panic(_) | Fault::Wrong(..) | Fault::Anomaly(_) | Fault::Refused(_) => true,
    }
}
