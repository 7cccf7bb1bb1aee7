//! A program under test as a [`System`]: for the searches that want many executions at once, and for
//! replay and simplification.

use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZero;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use smallvec::SmallVec;
use strait_explore::{Access, Atomic, EventId, Pick, System, ThreadId, Threaded, Touch};

use super::execution::{Execution, Program, Samples};
use super::features::{Feature, Features};
use super::footprint::Footprints;
use super::memory::Model;
use super::names::Names;
use super::op::{Place, writes};
use super::touch::touches_of;
use super::world::{Activity, World};
use crate::outcome::Outcome;

/// A step of a thread in one of the ways in which it can be taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Act {
    pub(crate) pick: Pick,
    /// How many steps of the thread came before.
    index: u32,
    accesses: SmallVec<[Access; 2]>,
    causes: SmallVec<[EventId; 4]>,
    yields: bool,
    /// Is it a commit of a buffered store?
    commits: bool,
}

impl Act {
    pub(super) fn event(&self) -> EventId {
        EventId { thread: self.pick.thread, index: self.index }
    }

    pub(super) fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    pub(super) fn causes(&self) -> &[EventId] {
        &self.causes
    }
}

/// What a program is told about the machine unless the test says otherwise: results should not
/// depend on the machine.
pub(crate) const TWO: NonZero<usize> = NonZero::new(2).unwrap();

/// A program with all that decides how it executes.
#[derive(Clone)]
pub(crate) struct ProgramUnderTest<T> {
    pub(crate) program: Program<T>,
    pub(crate) model: Model,
    pub(crate) features: Features,
    /// What is known about transactions.
    pub(crate) footprints: Footprints,
    pub(crate) place: Place,
    /// How many threads the program is told can run at once.
    pub(crate) parallelism: NonZero<usize>,
    /// Do loops that wait do so until something changes? Otherwise they go round.
    pub(crate) recognises_loops: bool,
    names: Names,
    /// What executions wanted that was not there.
    wanted: Arc<Mutex<(Features, Footprints)>>,
    /// Has an execution met an object that was made outside?
    outside: Arc<AtomicBool>,
    /// For each thread whether it has ever done something that the library controls, and where it was
    /// started.
    activity: Arc<Mutex<Vec<(Activity, String)>>>,
    /// Where a task waits for something that is not controlled.
    uncontrolled_task: Arc<OnceLock<Place>>,
    /// An object that was used in another execution than the one that has made it.
    leftover: Arc<OnceLock<(&'static str, Place)>>,
    /// What the search leaves out although it has come to its end.
    leaves_out: Arc<OnceLock<&'static str>>,
    /// Has an execution gone another way than an earlier one with the same steps?
    astray: Arc<AtomicBool>,
    /// Executions to be repeated.
    pub(crate) samples: Arc<Samples<T>>,
    /// How many executions a search has begun by [`System::start`].
    begun: Arc<AtomicU64>,
}

impl<T: 'static> ProgramUnderTest<T> {
    pub(crate) fn new(program: Program<T>, model: Model, features: Features, place: Place) -> Self {
        ProgramUnderTest {
            program,
            model,
            features,
            footprints: Footprints::default(),
            place,
            parallelism: TWO,
            recognises_loops: true,
            names: Names::default(),
            wanted: Arc::default(),
            outside: Arc::default(),
            activity: Arc::default(),
            uncontrolled_task: Arc::default(),
            leftover: Arc::default(),
            leaves_out: Arc::default(),
            astray: Arc::default(),
            samples: Arc::default(),
            begun: Arc::default(),
        }
    }

    /// Are atomic variables left to the search?
    pub(crate) fn leaves_atomics(&self) -> bool {
        self.model == Model::Rc11 && self.features.has(Feature::Atomics)
    }

    /// The same program with all that finished executions have wanted, if they have wanted anything.
    /// Threads and objects keep their numbers.
    pub(crate) fn satisfied(&self) -> Option<ProgramUnderTest<T>> {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let (features, footprints) = &*wanted;
        if !features.lacks() && !footprints.lack() {
            return None;
        }
        let mut tested = self.anew();
        tested.features = features.satisfied();
        tested.footprints = self.footprints.with(footprints);
        Some(tested)
    }

    /// Have finished executions wanted something that was not there?
    pub(crate) fn is_lacking(&self) -> bool {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.0.lacks() || wanted.1.lack()
    }

    /// The same program with what finished executions have shown about transactions, if anything.
    pub(crate) fn knowing_transactions(&self) -> Option<ProgramUnderTest<T>> {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tested = self.anew();
        tested.footprints = self.footprints.with(&wanted.1);
        wanted.1.lack().then_some(tested)
    }

    /// The same program, nothing of which was executed.
    pub(crate) fn anew(&self) -> ProgramUnderTest<T> {
        let mut tested =
            ProgramUnderTest::new(self.program.clone(), self.model, self.features, self.place);
        tested.footprints = self.footprints.clone();
        tested.parallelism = self.parallelism;
        tested.recognises_loops = self.recognises_loops;
        tested.names = self.names.clone();
        tested
    }

    /// Has a finished execution met an object that was made outside of it? Then executions must
    /// not go on at the same time.
    pub(crate) fn met_outside(&self) -> bool {
        self.outside.load(Ordering::Relaxed)
    }

    /// Takes up what an execution had, wanted and met.
    pub(crate) fn take_up(&self, world: &World) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.0 = wanted.0.or(world.features);
        wanted.1.also(&world.footprints);
        self.outside.fetch_or(world.outside, Ordering::Relaxed);
        self.astray.fetch_or(world.astray, Ordering::Relaxed);
        if let Some(place) = world.uncontrolled_task {
            let _ = self.uncontrolled_task.set(place);
        }
        if let Some(leftover) = world.leftover {
            let _ = self.leftover.set(leftover);
        }
        if let Some(reason) = world.leaves_out {
            let _ = self.leaves_out.set(reason);
        }
        self.take_up_activity(world);
    }

    fn take_up_activity(&self, world: &World) {
        let mut known = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < world.activity.len() {
            known.resize(world.activity.len(), Default::default());
        }
        for (number, (known, &activity)) in known.iter_mut().zip(&world.activity).enumerate() {
            if activity > known.0 {
                known.0 = activity;
                if activity == Activity::Idle {
                    let place = world.threads[number].born_at;
                    let name = world.describe_thread(number as u32);
                    known.1 = format!("{name} ({}:{})", place.file(), place.line());
                }
            }
        }
    }

    /// The first thread that has come to its end and never done anything that the library controls.
    pub(crate) fn idle_thread(&self) -> Option<String> {
        let known = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|known| known.0 == Activity::Idle).map(|known| known.1.clone())
    }

    /// Where a task waits for something that is not controlled, if one was seen to.
    pub(crate) fn uncontrolled_task(&self) -> Option<String> {
        self.uncontrolled_task.get().map(|place| format!("{}:{}", place.file(), place.line()))
    }

    /// What the search leaves out although it has come to its end, if anything.
    pub(crate) fn leaves_out(&self) -> Option<&'static str> {
        self.leaves_out.get().copied()
    }

    /// Has an execution gone another way than an earlier one with the same steps?
    pub(crate) fn went_astray(&self) -> bool {
        self.astray.load(Ordering::Relaxed)
    }

    /// An object that was used in another execution than the one that has made it, if there is one.
    pub(crate) fn leftover(&self) -> Option<String> {
        self.leftover
            .get()
            .map(|(kind, place)| format!("the {kind} at {}:{}", place.file(), place.line()))
    }

    /// An execution of a search that does not use [`System::start`].
    pub(crate) fn searched(&self) -> Execution<T> {
        crate::watchdog::watch_this_thread(None);
        let mut execution = self.execution();
        execution.keep_samples(self.samples.clone(), 0);
        execution
    }

    /// An execution that has not begun.
    pub(crate) fn execution(&self) -> Execution<T> {
        let program = self.program.clone();
        let mut execution = Execution::new(program, self.names.clone(), self.model, self.place);
        let world = execution.world_mut();
        world.features = self.features;
        world.footprints = self.footprints.clone();
        world.parallelism = self.parallelism;
        world.recognises_loops = self.recognises_loops;
        execution
    }
}

impl<T: Clone + Eq + Hash + Debug + 'static> ProgramUnderTest<T> {
    /// The steps of a schedule.
    pub(crate) fn acts(&self, picks: &[Pick]) -> Vec<Act> {
        let mut run = self.start();
        let mut acts = Vec::new();
        for &pick in picks {
            if let Some(act) = act(&run, pick) {
                acts.push(act);
                run.go(pick.thread, pick.choice);
            }
        }
        acts
    }
}

/// The access with a gate that says only whether there is one.
fn with_any_gate(access: Access) -> Access {
    Access { gate: u8::from(access.gate != 0), ..access }
}

/// Stands for the order of everything that is sequentially consistent.
const SEQUENTIAL: u32 = u32::MAX - 1;

/// What a step at an atomic variable that is left to the search accesses: the variable, and the order of
/// everything that is sequentially consistent.
fn relaxed_accesses(atomic: Atomic) -> impl Iterator<Item = Access> {
    let (write, order) = match atomic {
        Atomic::Load { order, .. } => (false, order),
        Atomic::Store { order, .. } | Atomic::Update { order, .. } | Atomic::Fence { order } => {
            (true, order)
        }
        Atomic::Exchange { success, failure, .. } => {
            (true, if failure == SeqCst { failure } else { success })
        }
    };
    let variable = atomic.location().map(|object| Access { object, write, gate: 0 });
    let sequential = (order == SeqCst).then_some(writes(SEQUENTIAL));
    variable.into_iter().chain(sequential)
}

pub(super) fn act<T: Clone + Eq + Hash + Debug + 'static>(
    run: &Execution<T>,
    pick: Pick,
) -> Option<Act> {
    let next = run.next(pick.thread)?;
    let thread = &run.world().threads[pick.thread.0 as usize];
    let mut causes: SmallVec<[EventId; 4]> = SmallVec::from_slice(next.causes);
    causes.extend_from_slice(next.enablers);
    causes.extend(next.follows);
    causes.sort_unstable_by_key(|cause| (cause.thread, cause.index));
    // Which bits of a gate are whose depends on the order of independent steps.
    let accesses = next.accesses.iter().map(|&access| with_any_gate(access));
    let relaxed = thread.op.atomic.into_iter().flat_map(relaxed_accesses);
    Some(Act {
        pick,
        index: thread.events,
        accesses: accesses.chain(relaxed).collect(),
        causes,
        yields: thread.op.yields,
        commits: thread.commits_for.is_some(),
    })
}

impl<T: Clone + Eq + Hash + Debug + 'static> System for ProgramUnderTest<T> {
    type Run = Execution<T>;
    type Action = Act;
    type Outcome = Outcome<T>;

    fn start(&self) -> Execution<T> {
        crate::watchdog::watch_this_thread(None);
        let mut execution = self.execution();
        execution.keep_samples(self.samples.clone(), self.begun.fetch_add(1, Ordering::Relaxed));
        execution.start();
        execution
    }

    fn enabled(&self, run: &mut Execution<T>, actions: &mut Vec<Act>) {
        actions.clear();
        // In the order of birth, which depends on nothing but this execution: numbers depend on
        // what other executions have met, and a schedule has to mean the same without them.
        let enabled = (0..run.threads()).filter(|&number| Threaded::enabled(run, ThreadId(number)));
        let mut threads: SmallVec<[u32; 16]> = enabled.collect();
        threads.sort_unstable_by_key(|&number| run.world().births[number as usize]);
        let mut choices = Vec::new();
        for thread in threads.into_iter().map(ThreadId) {
            run.ways(thread, &mut choices);
            let picks = choices.iter().map(|&choice| Pick { thread, choice });
            actions.extend(picks.filter_map(|pick| act(run, pick)));
        }
    }

    fn step(&self, run: &mut Execution<T>, action: &Act) {
        run.go(action.pick.thread, action.pick.choice);
    }

    fn objects(&self, action: &Act, objects: &mut Vec<u32>) {
        let accessed = action.accesses.iter().map(|access| access.object);
        objects.extend(accessed.filter(|&object| object < SEQUENTIAL));
    }

    fn observed_step(&self, run: &mut Execution<T>, action: &Act, touches: &mut Vec<Touch>) {
        let thread = action.pick.thread.0 as usize;
        let announced = touches_of(&run.world().threads[thread], action.pick);
        let exchanges = announced.exchanges;
        let from = touches.len();
        touches.extend(announced.touches);
        self.step(run, action);
        if exchanges && let Some(touch) = touches.get_mut(from) {
            touch.writes = run.world().threads[thread].given.writes;
        }
    }

    fn dependent(&self, a: &Act, b: &Act) -> bool {
        a.pick.thread == b.pick.thread
            || a.causes.contains(&b.event())
            || b.causes.contains(&a.event())
            || a.accesses.iter().any(|mine| {
                let clash =
                    |theirs: &Access| mine.object == theirs.object && (mine.write || theirs.write);
                b.accesses.iter().any(clash)
            })
    }

    fn thread(&self, action: &Act) -> ThreadId {
        action.pick.thread
    }

    fn involves(&self, action: &Act, thread: ThreadId) -> bool {
        action.pick.thread == thread
    }

    /// To leave a thread for a buffer, or to come back from there, is no pre-emption (Déjà Fu, Haskell 2015,
    /// section 4.2).
    fn is_free(&self, action: &Act) -> bool {
        action.commits
    }

    fn is_yield(&self, action: &Act) -> bool {
        action.yields
    }

    fn outcomes(&self, run: &mut Execution<T>, outcomes: &mut Vec<Outcome<T>>) {
        self.take_up(run.world());
        outcomes.push(run.conclude());
    }
}
