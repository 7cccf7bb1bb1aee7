//! The work of a campaign against channel runtimes: the programs of a piece are sent to a worker process or
//! to a compiler, what comes back is judged, every suspicion is followed, and what stands is delivered.

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
use strait_toolchain::{End, Launcher};

use crate::batch_compiler::BatchCompiler;
use crate::confirm::Confirmer;
use crate::counts;
use crate::discover::{deadly, discovery, drawn, identity};
use crate::done::Done;
use crate::error::Error;
use crate::fuzz_target::{FuzzTarget, Way};
use crate::judge::{Fault, Suspicion, judge};
use crate::recipe::PATIENCE;
use crate::settings::{JobSettings, RECIPE_VERSION, Settings};
use crate::work::{Maker, Work};
use crate::worker_process::{AHEAD, WorkerProcess};

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

/// The programs of a campaign.
pub struct Programs<'a> {
    launcher: &'a Launcher,
    targets: Vec<FuzzTarget>,
    seed: u64,
    makers: Vec<Maker>,
    names: Vec<Arc<str>>,
    /// For each target: has it hung?
    hung: Vec<AtomicBool>,
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
        match (&self.targets[target].way, pieces) {
            (Way::Compiler(_), _) => COMPILED_TOGETHER,
            (Way::Worker(_), Pieces::Here) => PIECE,
            (Way::Worker(_), Pieces::Queue { asked: Some(asked), .. }) => asked.max(1),
            (Way::Worker(_), Pieces::Queue { count, .. }) => count.map_or(QUEUE_PIECE, |count| {
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

    fn count(&mut self, name: &str, more: u64) {
        if more > 0 {
            *self.part.counts.entry(name.to_owned()).or_default() += more;
        }
    }

    fn count_time(&mut self, name: &str, time: Duration) {
        self.count(name, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    fn target(&self) -> &FuzzTarget {
        &self.programs.targets[self.piece.target]
    }

    /// Runs the piece; `false` when stopped in the middle.
    fn run(&mut self, processes: &mut HashMap<String, WorkerProcess>) -> Result<bool, Error> {
        let programs = self.programs;
        let target = &programs.targets[self.piece.target];
        match &target.way {
            Way::Worker(spec) => {
                let (key, context) = (target.worker_key(), self.context);
                if !processes.contains_key(&key) {
                    let process =
                        WorkerProcess::start(programs.launcher, spec, &|| context.is_due())?;
                    processes.extend(process.map(|process| (key.clone(), process)));
                }
                let Some(process) = processes.get_mut(&key) else { return Ok(false) };
                self.run_in(process)
            }
            Way::Compiler(toolchain) => {
                let toolchain = toolchain.cancelled_by(Arc::clone(self.context.flag()));
                self.run_compiled(&toolchain)
            }
        }
    }

    fn run_in(&mut self, process: &mut WorkerProcess) -> Result<bool, Error> {
        let mut left = self.piece.indices.clone();
        let context = self.context;
        let stop = || context.is_due();
        loop {
            if !self.send_ahead(process, &mut left)? {
                return Ok(false);
            }
            if process.load() == 0 {
                return Ok(true);
            }
            let Some(ended) = process.next(&stop)? else { return Ok(false) };
            if !self.account(&ended)? {
                return Ok(false);
            }
        }
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
            self.count_time(counts::GENERATING, begun.elapsed());
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
            self.count_time(counts::GENERATING, begun.elapsed());
            if !compiler.run(&works, &mut |ended| self.account(&ended))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Judges and counts what has ended; `false` if it is no longer wanted.
    fn account(&mut self, ended: &Done) -> Result<bool, Error> {
        let discoveries = self.examine(ended)?;
        for (rule, applications) in ended.work.rules.iter() {
            // A rule that was never applied is counted too: the report says which.
            let name = format!("{}{}", counts::RULE, rule.name());
            *self.part.counts.entry(name).or_default() += applications;
        }
        let index = ended.work.index;
        self.part.indices.insert(index..index + 1);
        self.part.programs += 1;
        self.part.runs += ended.summary.runs;
        self.count_time(counts::RUNNING, ended.spent);
        let has_found = !discoveries.is_empty();
        self.count(counts::FAULTS, u64::from(has_found));
        self.part.discoveries.extend(discoveries);
        if has_found || self.delivered.elapsed() > DELIVERY { self.deliver() } else { Ok(true) }
    }

    /// Judges what was done and follows every suspicion.
    fn examine(&mut self, done: &Done) -> Result<Vec<Discovery>, Error> {
        let begun = Instant::now();
        let judgement = judge(done);
        self.count_time(counts::JUDGING, begun.elapsed());
        self.count(counts::UNDECIDED, judgement.undecided);
        if let Some(reason) = judgement.astray {
            self.count(counts::ASTRAY, 1);
            let note = Astray { target: self.target().name(), index: done.work.index, reason };
            self.part.notes.push(json!(note));
        }
        let mut discoveries: Vec<Discovery> = Vec::new();
        for suspicion in &judgement.suspicions {
            let discovery = self.follow(&done.work, suspicion)?;
            // Several records of one program may show the same fault.
            discoveries.extend(
                discovery.filter(|new| discoveries.iter().all(|known| known.id() != new.id())),
            );
        }
        Ok(discoveries)
    }

    /// Runs a new suspect again and compares; a known one is only counted.
    fn follow(
        &mut self,
        work: &Arc<Work>,
        suspicion: &Suspicion,
    ) -> Result<Option<Discovery>, Error> {
        let (target, seed, context) = (self.target(), self.programs.seed, self.context);
        let fault = &suspicion.fault;
        let name = identity(target, work, fault);
        let hung = &self.programs.hung[self.piece.target];
        let is_hang = matches!(fault, Fault::Hang { .. });
        if context.is_known(&name) {
            hung.fetch_or(is_hang, Ordering::Relaxed);
            return Ok(Some(discovery(target, seed, work, suspicion, None)));
        }
        let stop = || context.is_now();
        let confirmer = Confirmer { launcher: self.programs.launcher, target, stop: &stop };
        let (culprit, mut confirmation) = confirmer.confirm(work, fault)?;
        if confirmation.again == 0 && !is_certain(fault, &work.options) {
            self.count(counts::DROPPED, 1);
            return Ok(None);
        }
        confirmer.compare(&culprit, fault, &mut confirmation)?;
        context.learn(name);
        hung.fetch_or(is_hang, Ordering::Relaxed);
        let found = discovery(target, seed, &culprit, suspicion, Some(&confirmation));
        Ok(Some(drawn(found, &culprit, suspicion)))
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
