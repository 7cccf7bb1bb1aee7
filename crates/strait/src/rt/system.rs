//! A program under test as a [`System`]: for the searches that want many executions at once, and for
//! replay and simplification.

use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;
use strait_explore::{Access, EventId, Pick, System, ThreadId, Threaded};

use super::execution::{Execution, Program};
use super::features::Features;
use super::footprint::Footprints;
use super::memory::Model;
use super::names::Names;
use super::op::Place;
use super::world::World;
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
    fn event(&self) -> EventId {
        EventId { thread: self.pick.thread, index: self.index }
    }
}

/// What a program is told about the machine unless the test says otherwise: results should not
/// depend on the machine.
pub(crate) const TWO: NonZero<usize> = NonZero::new(2).unwrap();

/// A program with all that decides how it executes.
#[derive(Clone)]
pub(crate) struct Tested<T> {
    pub(crate) program: Program<T>,
    pub(crate) model: Model,
    pub(crate) features: Features,
    /// What is known about transactions.
    pub(crate) footprints: Footprints,
    pub(crate) place: Place,
    /// How many threads the program is told can run at once.
    pub(crate) parallelism: NonZero<usize>,
    names: Names,
    /// How many executions were begun: those alive at the same time must differ in it.
    number: Arc<AtomicU32>,
    /// What executions wanted that was not there.
    wanted: Arc<Mutex<(Features, Footprints)>>,
    /// Has an execution met an object that was made outside?
    outside: Arc<AtomicBool>,
}

impl<T: 'static> Tested<T> {
    pub(crate) fn new(program: Program<T>, model: Model, features: Features, place: Place) -> Self {
        Tested {
            program,
            model,
            features,
            footprints: Footprints::default(),
            place,
            parallelism: TWO,
            names: Names::default(),
            number: Arc::default(),
            wanted: Arc::default(),
            outside: Arc::default(),
        }
    }

    /// The same program with all that finished executions have wanted, if they have wanted anything.
    /// Threads and objects keep their numbers.
    pub(crate) fn satisfied(&self) -> Option<Tested<T>> {
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

    /// The same program with what finished executions have shown about transactions, if anything.
    pub(crate) fn knowing_transactions(&self) -> Option<Tested<T>> {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tested = self.anew();
        tested.footprints = self.footprints.with(&wanted.1);
        wanted.1.lack().then_some(tested)
    }

    /// The same program, nothing of which was executed.
    pub(crate) fn anew(&self) -> Tested<T> {
        let mut tested = Tested::new(self.program.clone(), self.model, self.features, self.place);
        tested.footprints = self.footprints.clone();
        tested.parallelism = self.parallelism;
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
    }

    /// An execution that has not begun.
    pub(crate) fn execution(&self) -> Execution<T> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let program = self.program.clone();
        let mut execution =
            Execution::new(program, self.names.clone(), self.model, number, self.place);
        let world = execution.world_mut();
        world.features = self.features;
        world.footprints = self.footprints.clone();
        world.parallelism = self.parallelism;
        execution
    }
}

impl<T: Clone + Eq + Hash + Debug + 'static> Tested<T> {
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

fn act<T: Clone + Eq + Hash + Debug + 'static>(run: &Execution<T>, pick: Pick) -> Option<Act> {
    let next = run.next(pick.thread)?;
    let thread = &run.world().threads[pick.thread.0 as usize];
    let mut causes: SmallVec<[EventId; 4]> = SmallVec::from_slice(next.causes);
    causes.extend_from_slice(next.enablers);
    causes.sort_unstable_by_key(|cause| (cause.thread, cause.index));
    Some(Act {
        pick,
        index: thread.events,
        accesses: SmallVec::from_slice(next.accesses),
        causes,
        yields: thread.op.yields,
        commits: thread.commits_for.is_some(),
    })
}

impl<T: Clone + Eq + Hash + Debug + 'static> System for Tested<T> {
    type Run = Execution<T>;
    type Action = Act;
    type Outcome = Outcome<T>;

    fn start(&self) -> Execution<T> {
        let mut execution = self.execution();
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
        for thread in threads.into_iter().map(ThreadId) {
            let choices = run.next(thread).map_or(0, |next| next.choices);
            actions.extend((0..choices).filter_map(|choice| act(run, Pick { thread, choice })));
        }
    }

    fn step(&self, run: &mut Execution<T>, action: &Act) {
        run.go(action.pick.thread, action.pick.choice);
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

    /// To leave a thread for a buffer, or to come back from there, is no pre-emption (paper 002,
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
