//! One execution of the code under test: its threads, what they have announced, and the objects
//! they share.
//!
//! A thread runs freely until it wants to do something that others could notice; then it announces
//! that and waits to be chosen. What it does between two such steps belongs to the first of them.
//! Starting a thread, waiting for one to end and being woken need no step of their own, since
//! nobody can do anything about them: they are causes of the thread's next step.

use std::any::Any;
use std::num::NonZero;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use strait_explore::{Access, EventId, ThreadId};

use super::coroutine::{Suspender, Worker};
use super::current::{idle_tables, note_unwinding, retire_worker};
use super::exception::{Mailbox, Mask};
use super::features::{Feature, Features};
use super::few::Few;
use super::footprint::Footprints;
use super::invariant::Invariants;
use super::knowledge::Knowledge;
use super::log::Log;
use super::memory::{Buffered, Model};
use super::names::Names;
use super::op::{Op, Place, Ways};
use super::race::Clocks;
use super::room::Room;

/// Where a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Not part of this execution (yet).
    Unborn,
    /// Its code can go on.
    Ready,
    /// It has announced a step.
    Announced,
    /// It waits for another thread to wake it.
    Waiting,
    /// It is over.
    Finished,
}

/// What a thread that is over has left for whoever joins it.
pub(crate) enum Left {
    /// Its value.
    Value(Box<dyn Any>),
    /// Its panic.
    Panic(Box<dyn Any + Send>),
}

/// Stands in the unused places of lists of events.
pub(crate) const NO_EVENT: EventId = EventId { thread: ThreadId(0), index: 0 };

/// A thread of the code under test, or a phantom that commits stores.
pub(crate) struct Thread {
    pub(crate) state: State,
    pub(crate) op: Op,
    /// The way in which the announced step is to be taken.
    pub(crate) choice: u32,
    /// How many steps it has made.
    pub(crate) events: u32,
    /// What happened before whatever it does next, its own last step included.
    pub(crate) past: Few<EventId>,
    pub(crate) children: u32,
    objects: u32,
    pub(crate) worker: Option<Box<Worker>>,
    /// The way out of its coroutine.
    pub(crate) suspender: Option<Suspender>,
    /// Its code, until that begins.
    pub(crate) room: Room,
    /// What it gave, until somebody takes it.
    pub(crate) left: Option<Left>,
    /// The thread-local values it has made, each with its key.
    pub(crate) locals: Vec<(usize, Rc<dyn Any>)>,
    /// Can nobody join it any more?
    pub(crate) detached: bool,
    /// Who waits for its end.
    pub(crate) joiners: Few<u32>,
    pub(crate) name: Option<Box<str>>,
    /// Where it was started.
    pub(crate) born_at: Place,
    /// What it waits for, when it does.
    pub(crate) waits_for: &'static str,
    pub(crate) waits_at: Option<Place>,
    /// Is its stack being unwound?
    pub(crate) unwinding: bool,
    /// Whose stores it commits, if it is a phantom.
    pub(crate) commits_for: Option<u32>,
    /// What it has to commit, if it is a phantom.
    pub(crate) queue: std::collections::VecDeque<Buffered>,
    /// The phantoms that commit its stores.
    pub(crate) phantoms: SmallVec<[u32; 1]>,
    /// How many stores it has buffered, and how many of them later stores must follow.
    pub(crate) stores: u32,
    pub(crate) fence: u32,
    /// The commits of the stores before its last release fence.
    pub(crate) fenced: SmallVec<[EventId; 4]>,
    pub(crate) mailbox: Mailbox,
    /// Who waits for the value of its select.
    pub(crate) partner: Option<u32>,
    /// Was anything of what is rarely used used?
    pub(crate) rarities: bool,
}

impl Thread {
    fn new(place: Place) -> Thread {
        Thread {
            state: State::Unborn,
            op: Op::local("", place),
            choice: 0,
            events: 0,
            past: Few::new(NO_EVENT),
            children: 0,
            objects: 0,
            worker: None,
            suspender: None,
            room: Room::new(),
            left: None,
            locals: Vec::new(),
            detached: false,
            joiners: Few::new(0),
            name: None,
            born_at: place,
            waits_for: "",
            waits_at: None,
            unwinding: false,
            commits_for: None,
            queue: std::collections::VecDeque::new(),
            phantoms: SmallVec::new(),
            stores: 0,
            fence: 0,
            fenced: SmallVec::new(),
            mailbox: Mailbox::default(),
            partner: None,
            rarities: false,
        }
    }

    #[inline]
    fn reset(&mut self) {
        self.state = State::Unborn;
        self.events = 0;
        self.past.clear();
        self.children = 0;
        self.objects = 0;
        self.joiners.clear();
        self.detached = false;
        self.unwinding = false;
        self.partner = None;
        if self.rarities {
            self.reset_rarities();
        }
    }

    fn reset_rarities(&mut self) {
        self.rarities = false;
        self.name = None;
        self.commits_for = None;
        self.queue.clear();
        self.phantoms.clear();
        self.stores = 0;
        self.fence = 0;
        self.fenced.clear();
        self.mailbox.reset();
    }
}

/// An object that threads share.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    epoch: u32,
    /// Its open gates.
    pub(crate) open: u8,
    /// In how many ways a step that counts them can be taken.
    pub(crate) ways: u32,
    /// Its value, if it is one.
    pub(crate) value: u64,
    pub(crate) kind: &'static str,
    pub(crate) place: Place,
    /// What it is a part of; itself, nearly always.
    pub(crate) whole: u32,
}

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
    /// Distinguishes this execution from earlier ones and from those of other worlds.
    pub(crate) epoch: u32,
    pub(crate) threads: Vec<Thread>,
    /// How many of them this world has met; the others are left over by earlier ones.
    met: u32,
    /// For each thread how many were born before it.
    pub(crate) births: Vec<u32>,
    born: u32,
    pub(crate) objects: Vec<Object>,
    /// For some objects the events that have opened their gates without writing them.
    enablers: Vec<Few<EventId>>,
    /// The thread whose code is running.
    pub(crate) current: u32,
    /// Threads whose code can go on.
    pub(crate) ready: Vec<u32>,
    /// Is the execution being torn down?
    pub(crate) aborting: bool,
    /// Does whoever is resumed at its announced step not go on as usual: is the execution being torn
    /// down, or an exception raised instead?
    pub(crate) stops: bool,
    pub(crate) steps: usize,
    /// Has a fault ended the execution, so that nobody makes a step any more?
    pub(crate) over: bool,
    /// How many threads are neither over nor phantoms.
    pub(crate) alive: u32,
    /// Was an object met that was made outside the execution?
    pub(crate) outside: bool,
    /// How many threads the program is told can run at once.
    pub(crate) parallelism: NonZero<usize>,
    /// How many thread-local values there are.
    pub(crate) locals: u32,
    /// How many threads have left something that nobody has taken.
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
}

/// What is known about how the execution ends.
#[derive(Default, Debug)]
pub(crate) struct Ending {
    /// Panics in threads that nobody has joined, first one first.
    pub(crate) panics: Vec<(u32, String)>,
    /// A fault that the runtime has seen: a data race, a broken invariant.
    pub(crate) fault: Option<String>,
    /// Arcs that were made and not dropped.
    pub(crate) arcs: i64,
    /// The place and text of the panic under way, for threads that are not unwound yet.
    pub(crate) last_panic: Option<String>,
}

/// Epochs of one world stay within this range; the bits above say which world.
pub(crate) const EPOCHS: u32 = 1 << 24;

impl World {
    /// A world in which nothing has begun. `number` distinguishes the worlds of one search.
    #[track_caller]
    pub(crate) fn new(names: Names, model: Model, number: u32) -> World {
        let Tables { threads, births, objects } = idle_tables().unwrap_or_default();
        World {
            names,
            model,
            epoch: (number & 0xff) * EPOCHS,
            threads,
            met: 0,
            births,
            born: 0,
            objects,
            enablers: Vec::new(),
            current: 0,
            ready: Vec::new(),
            aborting: false,
            stops: false,
            steps: 0,
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
    pub(crate) fn begin(&mut self, place: Place) -> &mut Room {
        let (world, number) = (self.epoch / EPOCHS, self.epoch % EPOCHS);
        self.epoch = world * EPOCHS + (number + 1) % EPOCHS;
        self.threads.iter_mut().for_each(Thread::reset);
        self.ready.clear();
        self.aborting = false;
        self.stops = false;
        self.born = 0;
        self.alive = 0;
        self.steps = 0;
        self.over = false;
        self.ending.panics.clear();
        self.ending.fault = None;
        self.ending.arcs = 0;
        self.ending.last_panic = None;
        self.clocks.on = self.features.has(Feature::Clocks);
        self.clocks.reset();
        self.forget_invariants();
        self.knowledge.reset();
        if let Some(log) = &mut self.log {
            log.clear();
        }
        &mut self.bear(0, place).room
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

    /// Makes an object on behalf of the current thread.
    #[inline]
    pub(crate) fn create(&mut self, kind: &'static str, open: u8, value: u64, place: Place) -> u32 {
        let maker = self.current;
        let index = self.me().objects;
        self.me().objects += 1;
        let number = self.names.object(maker, index);
        self.place_object(number, kind, open, value, place);
        number
    }

    /// The object at an address that no thread of this execution has made. Says whether this
    /// execution meets it for the first time.
    pub(crate) fn outside(
        &mut self,
        address: usize,
        kind: &'static str,
        open: u8,
        value: u64,
        place: Place,
    ) -> (u32, bool) {
        self.outside = true;
        let number = self.names.at(address);
        let known = self.objects.get(number as usize);
        if known.is_some_and(|object| object.epoch == self.epoch) {
            return (number, false);
        }
        self.place_object(number, kind, open, value, place);
        (number, true)
    }

    /// An object that belongs to a thread, by what it is for.
    pub(crate) fn own_object(
        &mut self,
        thread: u32,
        purpose: u8,
        kind: &'static str,
        place: Place,
    ) -> u32 {
        let number = self.names.own(thread, purpose);
        let known = self.objects.get(number as usize);
        if known.is_none_or(|object| object.epoch != self.epoch) {
            self.place_object(number, kind, 0, 0, place);
        }
        number
    }

    fn place_object(
        &mut self,
        number: u32,
        kind: &'static str,
        open: u8,
        value: u64,
        place: Place,
    ) {
        let object = Object { epoch: self.epoch, open, ways: 1, value, kind, place, whole: number };
        let index = number as usize;
        if self.objects.len() <= index {
            let unused = Object { epoch: u32::MAX, open: 0, value: 0, kind: "", ..object };
            self.objects.resize(index + 1, unused);
        }
        self.objects[index] = object;
        if let Some(enablers) = self.enablers.get_mut(index) {
            enablers.clear();
        }
        self.clocks.forget_object(number);
    }

    #[inline]
    pub(crate) fn object(&mut self, number: u32) -> &mut Object {
        &mut self.objects[number as usize]
    }

    /// The events that have opened the gate of a step without writing what it accesses.
    #[inline]
    pub(crate) fn enablers(&self, accesses: &[Access]) -> &[EventId] {
        match accesses {
            [access, ..] if access.gate != 0 => {
                self.enablers.get(access.object as usize).map_or(&[], |enablers| enablers)
            }
            _ => &[],
        }
    }

    /// These events have opened the gate of an object.
    pub(crate) fn enable(&mut self, object: u32, events: impl Iterator<Item = EventId>) {
        let index = object as usize;
        if self.enablers.len() <= index {
            self.enablers.resize(index + 1, Few::new(NO_EVENT));
        }
        let enablers = &mut self.enablers[index];
        enablers.clear();
        events.for_each(|event| enablers.push(event));
    }

    /// The last step of the current thread, if it has made one.
    pub(crate) fn last_event(&mut self) -> Option<EventId> {
        let thread = ThreadId(self.current);
        self.me().events.checked_sub(1).map(|index| EventId { thread, index })
    }

    /// Wakes a thread: what the current thread did happens before what the other does next.
    #[inline]
    pub(crate) fn wake(&mut self, number: u32) {
        self.clocks.wake(self.current, number);
        if number == self.current {
            return;
        }
        let (me, other) = (self.current as usize, number as usize);
        if let Ok([me, thread]) = self.threads.get_disjoint_mut([me, other]) {
            add_past(&mut thread.past, &me.past);
            if thread.state == State::Waiting {
                thread.state = State::Ready;
                self.ready.push(number);
            }
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

    /// In how many ways the announced step of a thread can be taken now.
    #[inline]
    pub(crate) fn choices(&self, thread: &Thread) -> u32 {
        let op = &thread.op;
        match op.ways {
            Ways::Fixed(count) => count,
            _ => self.counted_choices(op),
        }
    }

    fn counted_choices(&self, op: &Op) -> u32 {
        let open = |index: usize| self.objects[op.accesses[index].object as usize].open;
        match op.ways {
            Ways::Fixed(count) => count,
            Ways::Counted => self.objects[op.accesses[0].object as usize].ways.max(1),
            Ways::OrTimeout => 1 + u32::from(op.cases.iter().any(|gate| open(0) & gate != 0)),
            Ways::Cases => {
                let cases = op.cases.iter().enumerate();
                let ready = cases.filter(|(index, gate)| open(*index) & **gate != 0).count();
                ready.max(1) as u32
            }
        }
    }

    /// Can the thread make its announced step?
    #[inline]
    pub(crate) fn is_enabled(&self, number: ThreadId) -> bool {
        let Some(thread) = self.threads.get(number.0 as usize) else { return false };
        if thread.state != State::Announced || self.over {
            return false;
        }
        let mut gated = false;
        for access in thread.op.accesses.iter() {
            if access.gate != 0 {
                gated = true;
                if self.objects[access.object as usize].open & access.gate != 0 {
                    return true;
                }
            }
        }
        !gated
    }
}

/// Adds events to a past. A past is short: threads rarely wait for many others at once.
#[inline]
pub(crate) fn add_past(past: &mut Few<EventId>, more: &[EventId]) {
    for &event in more {
        match past.iter_mut().find(|known| known.thread == event.thread) {
            Some(known) => known.index = known.index.max(event.index),
            None => past.push(event),
        }
    }
}
