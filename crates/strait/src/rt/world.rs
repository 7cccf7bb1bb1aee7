//! One execution of the code under test: its threads, what they have announced, and the objects
//! they share.
//!
//! A thread runs freely until it wants to do something that others could notice; then it announces
//! that and waits to be chosen. What it does between two such steps belongs to the first of them.
//! Starting a thread, waiting for one to end and being woken need no step of their own, since
//! no schedule can change them: they are causes of the thread's next step.

use std::any::Any;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};
use strait_explore::{EventId, ThreadId};

use super::code_buffer::CodeBuffer;
use super::coroutine::Worker;
use super::current::{idle_tables, note_unwinding, retire_worker};
use super::disorder::Disorder;
use super::exception::Mask;
use super::features::{Feature, Features};
use super::footprint::Footprints;
use super::invariant::Invariants;
use super::knowledge::Knowledge;
use super::log::Log;
use super::memory::Model;
use super::names::Names;
use super::object::Object;
use super::op::Place;
use super::race::Clocks;
use super::record::{State, Thread, add_past};
use super::recursion::Holders;
use super::short_list::ShortList;
use super::spin::{Exchange, Watcher};
use crate::sync::{SharedCount, Taken};

/// The tables of a world that is no more, for the next one: to make them, with the stacks of the
/// threads, costs as much as a few executions.
#[derive(Default)]
pub(crate) struct Tables {
    threads: Vec<Thread>,
    births: Vec<u32>,
    objects: Vec<Object>,
}

impl Tables {
    /// The stacks.
    pub(crate) fn workers(self) -> impl Iterator<Item = Box<Worker>> {
        self.threads.into_iter().filter_map(|thread| thread.worker)
    }
}

/// Tables of so many threads are kept.
const KEPT_THREADS: usize = 64;

/// One execution in progress.
pub(crate) struct World {
    pub(crate) names: Names,
    pub(crate) model: Model,
    /// Are atomic variables left to the search?
    pub(super) relaxed: bool,
    /// For each object what was released through it, if atomic variables are left to the search.
    pub(super) releases: Vec<ShortList<EventId>>,
    /// Distinguishes this execution from all others of the process.
    pub(crate) epoch: u64,
    pub(crate) threads: Vec<Thread>,
    /// How many of them this world has met; the others are left over by earlier ones.
    met: u32,
    /// For each thread how many were born before it.
    pub(crate) births: Vec<u32>,
    born: u32,
    pub(crate) objects: Vec<Object>,
    /// For some objects the events that have opened their gates without writing them.
    pub(super) enablers: Vec<ShortList<EventId>>,
    /// Who has locks for readers and writers.
    pub(super) holders: Holders,
    /// The thread whose code is running.
    pub(crate) current: u32,
    /// Threads whose code can go on.
    pub(crate) ready: Vec<u32>,
    /// Is the execution over, and what it has left being dropped? Then no thread is scheduled.
    pub(crate) aborting: bool,
    /// Does a thread that is resumed at its announced step not go on as usual: is the execution over, or
    /// an exception raised instead?
    pub(crate) stops: bool,
    /// Has the execution ended early, by a fault or because it lacks something, so that no thread makes a
    /// step any more?
    pub(crate) over: bool,
    /// How many threads are neither over nor phantoms.
    pub(crate) alive: u32,
    /// Was an object met that was made outside the execution?
    pub(crate) outside: bool,
    /// How many threads the program is told can run at once.
    pub(crate) parallelism: NonZero<usize>,
    /// How many thread-local values there are.
    pub(crate) locals: u32,
    /// How many threads have left something that was not taken.
    pub(crate) lefts: u32,
    pub(crate) log: Option<Log>,
    pub(crate) ending: Ending,
    pub(crate) clocks: Clocks,
    pub(crate) features: Features,
    pub(crate) footprints: Footprints,
    /// Names that the program gave to objects.
    pub(crate) labels: FxHashMap<u32, String>,
    pub(crate) invariants: Invariants,
    pub(crate) knowledge: Knowledge,
    /// For each thread that has come to its end in some execution, whether it has ever done something
    /// that the library controls.
    pub(crate) activity: Vec<Activity>,
    /// Where a task is performed that was seen to wait for something that is not controlled, in any
    /// execution.
    pub(crate) uncontrolled_task: Option<Place>,
    /// An object that was met in another execution than the one that has made it: its kind, and where it
    /// was used.
    pub(crate) leftover: Option<(&'static str, Place)>,
    /// What the search leaves out although it has come to its end, in any execution.
    pub(crate) leaves_out: Option<&'static str>,
    /// Was a step asked for that was possible in an earlier execution with the same steps, and is not?
    pub(crate) astray: bool,
    /// The steps of this execution: the thread that makes the step, and in which way it takes it.
    pub(crate) path: Vec<(u32, u32)>,
    /// Do loops that wait do so until something changes?
    pub(crate) recognises_loops: bool,
    /// Are reads noted?
    pub(crate) records: bool,
    /// Has the thread that runs announced a step that may end a round?
    pub(crate) spun: bool,
    /// How many threads have gates that open when something changes.
    pub(super) gates: u8,
    pub(super) watchers: Vec<Watcher>,
    pub(super) exchanges: Vec<Exchange>,
    /// What belongs to the user and is to be dropped at the end of the execution, outside of the runtime.
    pub(crate) rubbish: Vec<Box<dyn Any>>,
    /// Real locks that threads have and that outlive the execution.
    taken: Vec<Taken>,
    /// How many threads this world has left where they were, in all its executions.
    pub(crate) abandoned: u64,
    /// In which arbitrary order code goes on that could do so in any; not so unless given.
    pub(crate) disorder: Option<Disorder>,
    /// To which counts the raw pointers belong that `Arc`s of this execution have handed out.
    pub(crate) raw_arcs: FxHashMap<usize, SharedCount>,
    /// How many accesses of a cell are under way that exclude others: readers, or -1 for a writer.
    pub(crate) accesses: FxHashMap<u32, i32>,
    /// The memory that this execution has allocated by `strait::alloc` and not freed.
    pub(crate) allocations: FxHashSet<usize>,
}

/// What is known about a thread over all executions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum Activity {
    /// It has not come to its end yet.
    #[default]
    Unseen,
    /// Nothing that it did is under control.
    Idle,
    /// It has made a step, or the like.
    Active,
}

/// What is known about how the execution ends.
#[derive(Default, Debug)]
pub(crate) struct Ending {
    /// Panics in threads that were not joined, first one first.
    pub(crate) panics: Vec<(u32, String)>,
    /// A fault that the runtime has seen: a data race, a broken invariant.
    pub(crate) fault: Option<String>,
    /// Arcs, and pieces of memory of `strait::alloc`, that were made and not dropped.
    pub(crate) arcs: i64,
    /// The place and text of the panic under way, for threads that are not unwound yet.
    pub(crate) last_panic: Option<String>,
}

/// So many epochs a world takes at once.
const EPOCHS: u64 = 64;

/// Epochs that no world has had yet. An object may outlive its execution, and even its search, in a
/// static: no other execution may take it for one of its own.
fn fresh_epochs() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(EPOCHS);
    NEXT.fetch_add(EPOCHS, Ordering::Relaxed)
}

impl World {
    /// A world in which nothing has begun.
    #[track_caller]
    pub(crate) fn new(names: Names, model: Model) -> World {
        let Tables { threads, births, objects } = idle_tables().unwrap_or_default();
        World {
            names,
            model,
            relaxed: false,
            releases: Vec::new(),
            epoch: fresh_epochs(),
            threads,
            met: 0,
            births,
            born: 0,
            objects,
            enablers: Vec::new(),
            holders: Holders::default(),
            current: 0,
            ready: Vec::new(),
            aborting: false,
            stops: false,
            over: false,
            alive: 0,
            outside: false,
            parallelism: NonZero::<usize>::MIN,
            locals: 0,
            lefts: 0,
            log: None,
            ending: Ending::default(),
            clocks: Clocks::default(),
            features: Features::default(),
            footprints: Footprints::default(),
            labels: FxHashMap::default(),
            invariants: Invariants::default(),
            knowledge: Knowledge::default(),
            activity: Vec::new(),
            uncontrolled_task: None,
            leftover: None,
            leaves_out: None,
            astray: false,
            path: Vec::new(),
            recognises_loops: true,
            records: false,
            spun: false,
            gates: 0,
            watchers: Vec::new(),
            exchanges: Vec::new(),
            rubbish: Vec::new(),
            taken: Vec::new(),
            abandoned: 0,
            disorder: None,
            raw_arcs: FxHashMap::default(),
            accesses: FxHashMap::default(),
            allocations: FxHashSet::default(),
        }
    }

    /// Takes the tables away for the next world; everything must be torn down.
    pub(crate) fn into_tables(self) -> Tables {
        let World { mut threads, births, mut objects, .. } = self;
        while threads.len() > KEPT_THREADS {
            if let Some(worker) = threads.pop().and_then(|thread| thread.worker) {
                retire_worker(worker);
            }
        }
        threads.iter_mut().for_each(Thread::reset);
        objects.clear();
        Tables { threads, births, objects }
    }

    /// All threads of this world have numbers below this one.
    #[inline]
    pub(crate) fn met(&self) -> u32 {
        self.met
    }

    /// Forgets the last execution, which must be torn down, and begins one with a main thread. The
    /// room for its code is to be filled by the caller.
    pub(crate) fn begin(&mut self, place: Place) -> &mut CodeBuffer {
        self.epoch += 1;
        if self.epoch.is_multiple_of(EPOCHS) {
            self.epoch = fresh_epochs() + 1;
        }
        self.threads.iter_mut().for_each(Thread::reset);
        self.ready.clear();
        self.aborting = false;
        self.stops = false;
        self.born = 0;
        self.alive = 0;
        self.over = false;
        self.ending.panics.clear();
        self.ending.fault = None;
        self.ending.arcs = 0;
        self.ending.last_panic = None;
        self.raw_arcs.clear();
        self.accesses.clear();
        self.allocations.clear();
        self.holders.clear();
        self.relaxed = self.model == Model::Rc11 && self.features.has(Feature::Atomics);
        if self.relaxed && self.features.has(Feature::Exceptions) {
            self.refuse_exceptions();
        }
        self.clocks.on = self.features.has(Feature::Clocks);
        self.clocks.reset();
        self.path.clear();
        self.forget_rounds();
        self.knowledge.reset();
        if let Some(log) = &mut self.log {
            log.clear();
        }
        &mut self.bear(0, place).start_code
    }

    /// Brings a thread into the execution. The room for its code is to be filled by the caller.
    #[inline]
    pub(crate) fn bear(&mut self, number: u32, place: Place) -> &mut Thread {
        if self.met <= number {
            self.room_for(number, place);
        }
        self.alive += 1;
        self.note_birth(number);
        self.ready.push(number);
        let thread = &mut self.threads[number as usize];
        thread.state = State::Ready;
        thread.born_at = place;
        thread.op.place = place;
        thread
    }

    /// The thread, or phantom, is the next one of this execution.
    #[inline]
    pub(crate) fn note_birth(&mut self, number: u32) {
        self.births[number as usize] = self.born;
        self.born += 1;
    }

    #[cold]
    pub(crate) fn room_for(&mut self, number: u32, place: Place) {
        while self.threads.len() <= number as usize {
            self.threads.push(Thread::new(place));
        }
        self.births.resize(self.threads.len(), 0);
        self.met = self.met.max(number + 1);
    }

    /// The thread whose code is running.
    #[inline]
    pub(crate) fn me(&mut self) -> &mut Thread {
        &mut self.threads[self.current as usize]
    }

    /// Starts a thread on behalf of the current one. Gives its number. The room for its code is to be
    /// filled by the caller.
    pub(crate) fn spawn(&mut self, name: Option<Box<str>>, place: Place) -> u32 {
        let parent = self.current;
        let me = self.me();
        let (index, mask) = (me.children, me.mailbox.mask);
        me.children += 1;
        // Nearly always the parent's own last step, or nothing.
        let past = match me.past[..] {
            [] => None,
            [event] => Some(event),
            _ => return self.spawn_after_many(name, place, index),
        };
        let number = self.names.child(parent, index);
        let thread = self.bear(number, place);
        match past {
            Some(event) => thread.past.become_one(event),
            None => thread.past.clear(),
        }
        if name.is_some() || mask != Mask::Unmasked {
            thread.rarities = true;
            thread.name = name;
            thread.mailbox.mask = mask;
        }
        self.clocks.spawn(parent, number);
        number
    }

    /// The same for a thread that several others have done something for.
    #[cold]
    fn spawn_after_many(&mut self, name: Option<Box<str>>, place: Place, index: u32) -> u32 {
        let (parent, past) = (self.current, self.me().past.clone());
        let mask = self.me().mailbox.mask;
        let number = self.names.child(parent, index);
        let thread = self.bear(number, place);
        thread.past = past;
        thread.rarities = true;
        thread.name = name;
        thread.mailbox.mask = mask;
        self.clocks.spawn(parent, number);
        number
    }

    /// The last step of the current thread, if it has made one.
    pub(crate) fn last_event(&mut self) -> Option<EventId> {
        let thread = ThreadId(self.current);
        self.me().events.checked_sub(1).map(|index| EventId { thread, index })
    }

    /// Wakes a thread: what the current thread did happens before what the other does next. Unless
    /// the other has announced a step, which it can make without being woken: then it is a matter of
    /// what the steps access which of them comes first.
    #[inline]
    pub(crate) fn wake(&mut self, number: u32) {
        if number == self.current {
            return;
        }
        let (me, other) = (self.current as usize, number as usize);
        if let Ok([me, thread]) = self.threads.get_disjoint_mut([me, other])
            && thread.state != State::Announced
        {
            add_past(&mut thread.past, &me.past);
            if thread.state == State::Waiting {
                thread.state = State::Ready;
                self.ready.push(number);
            }
            self.clocks.wake(self.current, number);
        }
    }

    /// The current thread's stack is about to be unwound.
    pub(crate) fn begin_unwinding(&mut self) {
        if !std::mem::replace(&mut self.me().unwinding, true) {
            note_unwinding(1);
        }
    }

    /// The current thread's stack is not being unwound any more.
    #[inline]
    pub(crate) fn end_unwinding(&mut self) {
        if std::mem::take(&mut self.me().unwinding) {
            note_unwinding(-1);
        }
    }

    /// The current thread's code is over.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.alive -= 1;
        self.end_unwinding();
        let number = self.current as usize;
        if self.activity.get(number) != Some(&Activity::Active) {
            self.note_activity(number);
        }
        let me = self.me();
        me.state = State::Finished;
        let joined = !me.joiners.is_empty();
        if self.features.has(Feature::Exceptions) {
            super::exception::return_letters(self);
        }
        if joined {
            for index in 0..self.me().joiners.len() {
                let joiner = self.me().joiners[index];
                self.wake(joiner);
            }
            self.me().joiners.clear();
        }
    }

    /// Is this the address of an access beyond the end of the stack of the thread that runs?
    #[cfg(target_os = "linux")]
    pub(crate) fn overflows_at(&self, address: usize) -> bool {
        let thread = self.threads.get(self.current as usize);
        let worker = thread.and_then(|thread| thread.worker.as_ref());
        worker.is_some_and(|worker| worker.overflows_at(address))
    }

    /// Leaves all threads that are not over where they are. No code of the user runs because of this.
    #[cold]
    pub(crate) fn abandon(&mut self) {
        self.ready.clear();
        self.taken.drain(..).for_each(Taken::free_by_force);
        self.rubbish.drain(..).for_each(std::mem::forget);
        self.alive = 0;
        for thread in &mut self.threads[..self.met as usize] {
            thread.mailbox.letters.drain(..).for_each(std::mem::forget);
            let over = matches!(thread.state, State::Unborn | State::Finished);
            if over || thread.commits_for.is_some() {
                continue;
            }
            self.abandoned += 1;
            let never_began = thread.start_code.forget();
            if let Some(worker) = thread.worker.as_mut().filter(|_| !never_began) {
                thread.suspender = Some(worker.abandon());
            }
        }
    }

    /// A thread takes a lock that outlives the execution.
    #[cold]
    pub(crate) fn take_outside(&mut self, lock: Taken) {
        self.taken.push(lock);
    }

    /// A thread gives back a lock that outlives the execution.
    #[cold]
    pub(crate) fn let_go_outside(&mut self, lock: Taken) {
        if let Some(index) = self.taken.iter().position(|taken| *taken == lock) {
            self.taken.swap_remove(index);
        }
    }

    /// Forgets what threads have left and was not taken, without dropping it: a thread that could have taken
    /// it was abandoned, or has forgotten it as well.
    #[cold]
    pub(crate) fn forget_left(&mut self) {
        (self.lefts, self.locals) = (0, 0);
        for thread in &mut self.threads[..self.met as usize] {
            std::mem::forget(thread.left.take());
            thread.locals.drain(..).for_each(std::mem::forget);
        }
    }

    /// A thread that was not known to do anything has come to its end.
    #[cold]
    fn note_activity(&mut self, number: usize) {
        if self.aborting {
            return;
        }
        if self.activity.len() <= number {
            self.activity.resize(number + 1, Activity::Unseen);
        }
        let active = self.threads[number].is_active();
        self.activity[number] = if active { Activity::Active } else { Activity::Idle };
    }

    /// The program needs a feature. If it is off, the search begins anew, so this execution need not go
    /// on: perhaps it would do so forever, because of what it lacks.
    pub(crate) fn want(&mut self, feature: Feature) {
        self.features.want(feature);
        self.over |= self.features.lacks() && !self.aborting;
    }

    /// Has the search to begin anew, because something turned out to be needed that was not there?
    #[inline]
    pub(crate) fn lacks(&self) -> bool {
        self.features.lacks() || self.footprints.lack()
    }

    /// Is there anything to look at after each step?
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.invariants.are_any() || self.knowledge.is_declared()
    }
}
