//! What is known about one thread of an execution, or about a phantom that commits stores for one.
//!
//! Records are kept from one execution to the next, so that their lists and stacks need not be made
//! anew: [`Thread::reset`] makes a record as good as new.

use std::any::Any;
use std::rc::Rc;

use smallvec::SmallVec;
use strait_explore::{EventId, ThreadId};

use super::code_buffer::CodeBuffer;
use super::coroutine::{Suspender, Worker};
use super::exception::Mailbox;
use super::memory::Buffered;
use super::op::{Op, Place};
use super::short_list::ShortList;
use super::spin::Rounds;
use super::symmetry::Alike;

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

/// What a thread that is over has left for the thread that joins it.
pub(crate) enum Left {
    /// Its value.
    Value(Box<dyn Any>),
    /// Its panic.
    Panic(Box<dyn Any + Send>),
}

/// A thread-local value.
pub(crate) struct Local {
    /// Which one.
    pub(crate) key: usize,
    /// Nothing once it is being dropped.
    pub(crate) value: Option<Rc<dyn Any>>,
    /// Does dropping it perform code?
    pub(crate) needs_drop: bool,
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
    pub(crate) past: ShortList<EventId>,
    pub(crate) children: u32,
    pub(super) objects: u32,
    pub(crate) worker: Option<Box<Worker>>,
    /// The way out of its coroutine.
    pub(crate) suspender: Option<Suspender>,
    /// Its code, until that begins.
    pub(crate) start_code: CodeBuffer,
    /// What it gave, until it is taken.
    pub(crate) left: Option<Left>,
    /// The thread-local values it has made.
    pub(crate) locals: Vec<Local>,
    /// Can it not be joined any more?
    pub(crate) detached: bool,
    /// Who waits for its end.
    pub(crate) joiners: ShortList<u32>,
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
    /// Has it done anything that the library controls and that leaves no other trace here?
    pub(crate) operated: bool,
    /// What it has done since it was last at a point where loops wait.
    pub(crate) rounds: Rounds,
    /// What the search wants of its step, if its atomic variable is left to the search.
    pub(crate) given: Given,
    /// What it is compared by with threads that can be exchanged for it, if there are any.
    pub(super) alike: Option<Box<Alike>>,
    /// Was anything of what is rarely used used?
    pub(crate) rarities: bool,
}

/// What a step at an atomic variable reads and does, where that is left to the search.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Given {
    /// The write that it reads from; none for the initial value.
    pub(crate) source: Option<EventId>,
    pub(crate) value: u64,
    pub(crate) writes: bool,
    /// What it has written.
    pub(crate) written: u64,
}

impl Thread {
    pub(super) fn new(place: Place) -> Thread {
        Thread {
            state: State::Unborn,
            op: Op::local("", place),
            choice: 0,
            events: 0,
            past: ShortList::new(NO_EVENT),
            children: 0,
            objects: 0,
            worker: None,
            suspender: None,
            start_code: CodeBuffer::new(),
            left: None,
            locals: Vec::new(),
            detached: false,
            joiners: ShortList::new(0),
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
            operated: false,
            rounds: Rounds::default(),
            given: Given::default(),
            alike: None,
            rarities: false,
        }
    }

    /// Has it done anything that the library controls?
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        (self.events | self.children | self.objects) != 0
            || self.operated
            || !self.phantoms.is_empty()
    }

    #[inline]
    pub(super) fn reset(&mut self) {
        self.state = State::Unborn;
        self.events = 0;
        self.past.clear();
        self.children = 0;
        self.objects = 0;
        self.joiners.clear();
        self.detached = false;
        self.unwinding = false;
        self.partner = None;
        self.operated = false;
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
        self.rounds.reset();
        self.alike = None;
    }
}

/// Adds events to a past. A past is short: threads rarely wait for many others at once.
#[inline]
pub(crate) fn add_past(past: &mut ShortList<EventId>, more: &[EventId]) {
    for &event in more {
        match past.iter_mut().find(|known| known.thread == event.thread) {
            Some(known) => known.index = known.index.max(event.index),
            None => past.push(event),
        }
    }
}
