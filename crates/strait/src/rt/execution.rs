//! An execution of a program under test as the searches see it: started, asked and stepped.
#![allow(
    unsafe_code,
    reason = "the world is reached from inside the coroutines by a pointer, so it lives behind one; \
              it is looked at from outside only while no coroutine runs"
)]

use std::cell::RefCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use strait_explore::{
    Announced, Atomic, Directions, EventId, Memory, Next, Pick, Relaxed, ThreadId, Threaded,
};

use super::log::{Line, Log};
use super::memory::Model;
use super::names::Names;
use super::op::Place;
use super::record::{Given, State};
use super::schedule::{begin, body, step, tear_down};
use super::spin::waits_in_loop;
use super::world::World;
use crate::outcome::{Blocked, Outcome};

/// The code under test. It is called once an execution.
pub(crate) type Program<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// One execution after the other of the same program.
pub(crate) struct Execution<T> {
    world: *mut World,
    program: Rc<Program<T>>,
    result: Rc<RefCell<Option<T>>>,
    place: Place,
    /// Where samples of the executions are kept, if they are.
    samples: Option<Arc<Samples<T>>>,
    /// How many executions were begun.
    begun: u64,
    /// Is the current one to be kept as a sample?
    is_sample: bool,
    /// The atomic variables, if they are left to the search, of executions that are not part of one.
    memory: Memory,
    /// Does a search say what the atomic variables of the current one are?
    is_directed: bool,
}

/// One execution with all that others can notice of it.
#[derive(Clone, Debug)]
pub(crate) struct Sample<T> {
    pub(crate) lines: Vec<Line>,
    pub(crate) outcome: Outcome<T>,
}

/// Some of the executions of a search.
pub(crate) struct Samples<T> {
    kept: Mutex<Vec<Sample<T>>>,
    /// The steps of executions that were left out because a loop waits in them for a value that is there.
    unfair: Mutex<Vec<Vec<Pick>>>,
}

impl<T> Default for Samples<T> {
    fn default() -> Self {
        Samples { kept: Mutex::default(), unfair: Mutex::default() }
    }
}

impl<T> Samples<T> {
    pub(crate) fn take(&self) -> Vec<Sample<T>> {
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn take_unfair(&self) -> Vec<Vec<Pick>> {
        std::mem::take(&mut *self.unfair.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, sample: Sample<T>) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
    }
}

impl<T: 'static> Execution<T> {
    /// An execution that has not begun.
    pub(crate) fn new(program: Program<T>, names: Names, model: Model, place: Place) -> Self {
        let world = Box::into_raw(Box::new(World::new(names, model)));
        Execution {
            world,
            program: Rc::new(program),
            result: Rc::new(RefCell::new(None)),
            place,
            samples: None,
            begun: 0,
            is_sample: false,
            memory: Memory::default(),
            is_directed: false,
        }
    }

    pub(crate) fn world(&self) -> &World {
        // SAFETY: no coroutine is running, since those run only within `restart`, `step` and
        // `drop`, which borrow `self` mutably.
        unsafe { &*self.world }
    }

    pub(crate) fn world_mut(&mut self) -> &mut World {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { &mut *self.world }
    }

    #[inline(always)]
    pub(crate) fn start(&mut self) {
        self.result.replace(None);
        self.begun += 1;
        self.is_directed = false;
        self.memory.restart();
        if self.is_sample | self.begun.is_power_of_two() {
            self.choose_sample();
        }
        let (program, result) = (self.program.clone(), self.result.clone());
        let main = move || {
            body(
                || program(),
                |value| {
                    result.replace(Some(value));
                },
            );
        };
        begin(self.world, main, self.place);
    }

    #[inline(always)]
    pub(crate) fn go(&mut self, thread: ThreadId, choice: u32) {
        if self.world().is_relaxed() {
            self.go_relaxed(thread, choice);
        } else {
            step(self.world, thread, choice);
        }
    }

    /// Makes a step where atomic variables are left to the search, and this is not part of one.
    #[cold]
    fn go_relaxed(&mut self, thread: ThreadId, choice: u32) {
        let mut memory = std::mem::take(&mut self.memory);
        if let Some(first) = self.world().waits_since(thread.0) {
            // With something else changed, the next round may read the same old values again.
            let changed = self.world().has_changed_directly(thread.0);
            memory.go_round(thread, if changed { u32::MAX } else { first });
        }
        if let Some(directions) = memory.begin(&self.announced(thread), choice) {
            self.directed(thread, directions);
            memory.end(thread, self.world().threads[thread.0 as usize].given.written);
        }
        self.world_mut().open_loops(&memory);
        self.memory = memory;
    }

    /// Makes a step as a search wants it.
    fn directed(&mut self, thread: ThreadId, directions: Directions) {
        let Directions { choice, source, value, writes } = directions;
        let given = Given { source, value, writes, written: 0 };
        self.world_mut().threads[thread.0 as usize].given = given;
        step(self.world, thread, choice);
    }

    /// The announced step of a thread, as far as it concerns atomic variables that are left to the search.
    fn announced(&self, thread: ThreadId) -> Announced<'_> {
        let world = self.world();
        let record = &world.threads[thread.0 as usize];
        let location = record.op.atomic.and_then(Atomic::location);
        let object = location.and_then(|location| world.objects.get(location as usize));
        let initial = object.map_or(0, |object| object.initial);
        Announced { thread, atomic: record.op.atomic, causes: &record.past, initial }
    }

    /// Fills `choices` with the ways in which a thread can make its announced step.
    pub(crate) fn ways(&mut self, thread: ThreadId, choices: &mut Vec<u32>) {
        let record = &self.world().threads[thread.0 as usize];
        if record.op.atomic.is_none() {
            let count = self.world().choices(record);
            choices.clear();
            choices.extend(0..count);
            return;
        }
        let mut memory = std::mem::take(&mut self.memory);
        memory.choices(&self.announced(thread), choices);
        self.memory = memory;
    }

    /// Keeps some of the executions from now on: those whose numbers are powers of two, when so many
    /// have begun.
    pub(crate) fn keep_samples(&mut self, samples: Arc<Samples<T>>, begun: u64) {
        self.samples = Some(samples);
        self.begun = begun;
    }

    /// Decides whether the execution that is about to begin is a sample.
    #[cold]
    fn choose_sample(&mut self) {
        if self.samples.is_some() {
            self.is_sample = self.begun.is_power_of_two();
            self.world_mut().log = self.is_sample.then(Log::default);
        }
    }

    /// Keeps a log from the next start on.
    pub(crate) fn keep_log(&mut self) {
        self.world_mut().log = Some(Log::default());
    }

    /// Can anything still happen? If not even the main thread is over, it is a deadlock.
    fn blocked(&self) -> Vec<Blocked> {
        let world = self.world();
        let mut blocked = Vec::new();
        for (number, thread) in world.threads.iter().enumerate() {
            if thread.commits_for.is_some() {
                continue;
            }
            let number = number as u32;
            match thread.state {
                State::Announced => {
                    let object = thread.op.accesses.first().map(|access| access.object);
                    let what = match object {
                        Some(object) if waits_in_loop(&thread.op) => {
                            format!("a change of {}, in a loop", world.describe_object(object))
                        }
                        Some(object) => {
                            format!("{} {}", thread.op.label, world.describe_object(object))
                        }
                        None => thread.op.label.to_owned(),
                    };
                    let thread_name = world.describe_thread(number);
                    blocked.push(Blocked::new(thread_name, what, thread.op.place));
                }
                State::Waiting => {
                    let place = thread.waits_at.unwrap_or(self.place);
                    let thread_name = world.describe_thread(number);
                    blocked.push(Blocked::new(thread_name, thread.waits_for.to_owned(), place));
                }
                State::Unborn | State::Ready | State::Finished => {}
            }
        }
        blocked
    }

    /// The main thread cannot go on. Looks whether those who wait in loops would go on doing so: if one
    /// of them counts its rounds where that is not seen, it does not wait for a change, and neither this
    /// nor any other execution can be trusted. That is a fault.
    pub(super) fn gives_up_waiting(&mut self) {
        const ROUNDS: u32 = 64;
        for number in 0..self.world().met() {
            if let Some(place) = self.stops_waiting(number, ROUNDS) {
                let thread = self.world().describe_thread(number);
                let fault = format!(
                    "{thread} stops waiting at {}:{} although nothing that it reads has changed: it \
                     counts its rounds where strait does not see it. Count in a local variable.",
                    place.file(),
                    place.line()
                );
                self.world_mut().ending.fault.get_or_insert(fault);
                return;
            }
        }
    }

    /// Where the thread waits in a loop, if it does.
    pub(super) fn waits_at(&self, number: u32) -> Option<Place> {
        let thread = &self.world().threads[number as usize];
        let waits = thread.state == State::Announced && waits_in_loop(&thread.op);
        waits.then_some(thread.op.place)
    }

    /// Lets a thread that waits in a loop go round so many times, although nothing has changed. Says where
    /// it has waited if it does something else instead.
    pub(super) fn stops_waiting(&mut self, number: u32, rounds: u32) -> Option<Place> {
        /// No round takes more steps.
        const LONGEST: u32 = 1000;
        let place = self.waits_at(number)?;
        for _ in 0..rounds {
            let waits = (0..LONGEST).any(|_| {
                let possible =
                    self.waits_at(number).is_some() || self.world().is_enabled(ThreadId(number));
                if possible {
                    self.go(ThreadId(number), 0);
                }
                self.waits_at(number) == Some(place)
            });
            if !waits {
                return Some(place);
            }
        }
        None
    }

    /// What the execution gave. It is torn down by this.
    pub(super) fn concluded(&mut self) -> Outcome<T> {
        let finished = self.world().threads.first().is_some_and(|t| t.state == State::Finished);
        if !finished && !self.world().over && !self.is_directed {
            self.gives_up_waiting();
        }
        let blocked = if finished { Vec::new() } else { self.blocked() };
        let unfinished = self.world().alive > 0;
        let ending = &mut self.world_mut().ending;
        let fault = ending.fault.take();
        let panics = std::mem::take(&mut ending.panics);
        if unfinished {
            tear_down(self.world);
        }
        let arcs = self.world().ending.arcs;
        let result = self.result.replace(None);
        if let Some(fault) = fault {
            return Outcome::Fault(fault);
        }
        // Which of several comes first says nothing: their order may not matter.
        if let Some((number, message)) = panics.into_iter().min_by_key(|(number, _)| *number) {
            let thread = self.world().describe_thread(number);
            return Outcome::Panic { thread, message };
        }
        match result {
            Some(_) if arcs > 0 && !unfinished => Outcome::Leak(arcs as u64),
            Some(value) => Outcome::Value(value),
            None => Outcome::Deadlock(blocked),
        }
    }
}

impl<T: Clone + 'static> Execution<T> {
    /// What the execution gave, which is kept if it is a sample. It is torn down by this.
    pub(crate) fn conclude(&mut self) -> Outcome<T> {
        if !self.is_sample {
            return self.concluded();
        }
        let log = self.world_mut().log.take();
        let outcome = self.concluded();
        if let (Some(samples), Some(log), false) = (&self.samples, log, self.world().lacks()) {
            samples.keep(Sample { lines: log.lines, outcome: outcome.clone() });
        }
        outcome
    }
}

impl<T> Drop for Execution<T> {
    fn drop(&mut self) {
        tear_down(self.world);
        // SAFETY: the pointer comes from a box and is used no more. Everything that runs on the
        // coroutines was unwound above, so nothing can reach the world through it.
        let world = unsafe { Box::from_raw(self.world) };
        super::current::retire_tables(world.into_tables());
    }
}

impl<T: Clone + Eq + Hash + Debug + 'static> Threaded for Execution<T> {
    type Outcome = Outcome<T>;

    #[inline(always)]
    fn restart(&mut self) {
        self.start();
    }

    #[inline]
    fn threads(&self) -> u32 {
        self.world().met()
    }

    #[inline]
    fn enabled(&self, thread: ThreadId) -> bool {
        self.world().is_enabled(thread)
    }

    #[inline]
    fn next(&self, thread: ThreadId) -> Option<Next<'_>> {
        let world = self.world();
        let thread = world.threads.get(thread.0 as usize)?;
        if thread.state != State::Announced {
            return None;
        }
        let (accesses, causes): (_, &[EventId]) = (&thread.op.accesses[..], &thread.past);
        let enablers = world.enablers(accesses);
        let (choices, writes_if) = (world.choices(thread), thread.op.writes_if);
        let follows = thread.alike.as_ref().and_then(|alike| world.follows(thread, alike));
        Some(Next { accesses, causes, enablers, follows, choices, writes_if })
    }

    #[inline]
    fn open(&self, object: u32) -> u8 {
        // What a transaction makes itself is known to be touched before it exists.
        self.world().objects.get(object as usize).map_or(0, |object| object.open)
    }

    #[inline]
    fn value(&self, object: u32) -> u64 {
        self.world().objects.get(object as usize).map_or(0, |object| object.value)
    }

    #[inline(always)]
    fn step(&mut self, thread: ThreadId, choice: u32) {
        if self.world().is_enabled(thread) {
            self.go(thread, choice);
        } else {
            // The search has seen it enabled after the same steps.
            self.world_mut().astray = true;
        }
    }

    fn outcome(&mut self) -> Outcome<T> {
        self.conclude()
    }
}

impl<T: Clone + Eq + Hash + Debug + 'static> Relaxed for Execution<T> {
    fn atomic(&self, thread: ThreadId) -> Option<Atomic> {
        self.world().threads.get(thread.0 as usize)?.op.atomic
    }

    fn initial(&self, location: u32) -> u64 {
        self.world().objects.get(location as usize).map_or(0, |object| object.initial)
    }

    fn perform(&mut self, thread: ThreadId, directions: Directions) {
        self.is_directed = true;
        self.directed(thread, directions);
    }

    fn written(&self, thread: ThreadId) -> u64 {
        self.world().threads[thread.0 as usize].given.written
    }

    fn has_ended(&self) -> bool {
        self.world().over
    }

    fn waits_since(&self, thread: ThreadId) -> Option<u32> {
        self.world().waits_since(thread.0)
    }

    fn ended_unfairly(&mut self, steps: &[Pick]) {
        if let Some(samples) = &self.samples {
            let mut unfair = samples.unfair.lock().unwrap_or_else(PoisonError::into_inner);
            unfair.push(steps.to_vec());
        }
    }
}
