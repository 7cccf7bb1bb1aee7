//! Memory models by phantom threads (Déjà Fu, Haskell 2015, sections 2.3 and 3.3): a store that is not
//! synchronised goes into a buffer, and a phantom thread commits it at some later time. What the
//! storing thread does is not a step; the commit is.
//!
//! - sequential consistency: no buffers;
//! - total store order: one buffer a thread, committed in order;
//! - partial store order: one buffer for each thread and object; a release store, and every store
//!   after a release fence, is committed after all earlier stores of its thread.
//!
//! A thread sees its own buffered stores. Whatever synchronises more than a release waits until the
//! thread's buffers are empty: sequentially consistent stores and fences, read-modify-writes, locks,
//! channels, the start and the end of threads.

use std::fmt;

use smallvec::SmallVec;
use strait_explore::{EventId, ThreadId};

use super::op::{Place, writes};
use super::record::{State, add_past};
use super::short_list::ShortList;
use super::world::World;

/// What threads may see of each other's accesses to atomic variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Model {
    /// Sequential consistency: none.
    Sc,
    /// Total store order, as x86 processors have it: unsynchronised stores, in their order.
    Tso,
    /// Partial store order: unsynchronised stores; those to different variables in any order.
    Pso,
    /// RC11 (Lahav and others, PLDI 2017): what the orderings of Rust and C++20 promise, and no more. A
    /// load may read an old value, and `compare_exchange_weak` may fail without a reason. Only load
    /// buffering is left out: no load reads from a store that comes after it in program order or depends
    /// on it, which C++20 allows.
    #[default]
    Rc11,
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Model::Sc => "SC",
            Model::Tso => "TSO",
            Model::Pso => "PSO",
            Model::Rc11 => "RC11",
        })
    }
}

/// A store that is not committed yet.
#[derive(Clone)]
pub(crate) struct Buffered {
    object: u32,
    value: u64,
    /// Its number among the stores of its thread.
    number: u32,
    /// All stores of its thread below this number are committed first.
    after: u32,
    past: ShortList<EventId>,
    /// What the store releases: the synchronisation clock of its thread, empty if nothing.
    released: Vec<u32>,
    place: Place,
}

impl World {
    /// Are there buffers for stores?
    #[inline]
    pub(crate) fn has_buffers(&self) -> bool {
        matches!(self.model, Model::Tso | Model::Pso)
    }

    /// The value of an object as the current thread sees it.
    #[inline]
    pub(crate) fn seen(&self, object: u32) -> u64 {
        let me = &self.threads[self.current as usize];
        for &phantom in &me.phantoms {
            let queue = &self.threads[phantom as usize].queue;
            if let Some(buffered) = queue.iter().rev().find(|buffered| buffered.object == object) {
                return buffered.value;
            }
        }
        self.objects[object as usize].value
    }

    /// Puts a store of the current thread into its buffer.
    pub(crate) fn buffer(&mut self, object: u32, value: u64, release: bool, place: Place) {
        let owner = self.current;
        let number = self.me().stores;
        self.me().stores += 1;
        let after = if release { number } else { self.me().fence };
        let mut past = self.me().past.clone();
        if release {
            let earlier = self.commits_to_come(owner);
            add_past(&mut past, &earlier);
        } else {
            add_past(&mut past, &self.threads[owner as usize].fenced);
        }
        if self.clocks.on {
            self.look_for_maker(object, place);
        }
        self.notice_publication(object, release);
        let released = self.clocks.handed_over(owner, release);
        let buffered = Buffered { object, value, number, after, past, released, place };
        let column = if self.model == Model::Pso { object + 1 } else { 0 };
        let phantom = self.names.phantom(owner, column);
        if self.met() <= phantom {
            self.room_for(phantom, place);
        }
        if !self.me().phantoms.contains(&phantom) {
            self.me().phantoms.push(phantom);
            self.me().rarities = true;
            self.note_birth(phantom);
        }
        let thread = &mut self.threads[phantom as usize];
        thread.commits_for = Some(owner);
        thread.rarities = true;
        thread.queue.push_back(buffered);
        self.announce_commit(phantom);
    }

    /// Later stores of the current thread are committed after the earlier ones.
    pub(crate) fn release_fence(&mut self) {
        let stores = self.me().stores;
        let fenced = self.commits_to_come(self.current);
        let me = self.me();
        me.fence = stores;
        me.fenced = fenced;
        me.rarities = true;
    }

    /// The last commit of each phantom of a thread, as far as its stores are known.
    fn commits_to_come(&self, owner: u32) -> SmallVec<[EventId; 4]> {
        let last = |&phantom: &u32| {
            let thread = &self.threads[phantom as usize];
            let index = (thread.events + thread.queue.len() as u32).checked_sub(1)?;
            Some(EventId { thread: ThreadId(phantom), index })
        };
        self.threads[owner as usize].phantoms.iter().filter_map(last).collect()
    }

    /// Has the thread stores (to one object, if given) that are not committed?
    #[inline]
    pub(crate) fn has_buffered(&self, thread: u32, object: Option<u32>) -> bool {
        self.threads[thread as usize].phantoms.iter().any(|&phantom| {
            let queue = &self.threads[phantom as usize].queue;
            queue.iter().any(|buffered| object.is_none_or(|object| object == buffered.object))
        })
    }

    /// Lets a phantom announce its next commit, if that may come now.
    fn announce_commit(&mut self, phantom: u32) {
        let thread = &self.threads[phantom as usize];
        let (Some(owner), Some(head)) = (thread.commits_for, thread.queue.front()) else { return };
        let (object, place) = (head.object, head.place);
        let (after, past) = (head.after, head.past.clone());
        let siblings = &self.threads[owner as usize].phantoms;
        let earlier = |buffered: &Buffered| buffered.number < after;
        let waits = siblings
            .iter()
            .any(|&sibling| self.threads[sibling as usize].queue.iter().any(earlier));
        let thread = &mut self.threads[phantom as usize];
        add_past(&mut thread.past, &past);
        thread.op.become_one(writes(object), "commit", place);
        thread.state = if waits { State::Waiting } else { State::Announced };
        self.announce_to_invariants(phantom);
    }

    /// Performs the announced commit of a phantom, the current thread.
    pub(crate) fn commit(&mut self) {
        let phantom = self.current;
        let Some(buffered) = self.me().queue.pop_front() else { return };
        self.object(buffered.object).value = buffered.value;
        self.wrote(buffered.object);
        self.clocks.store(buffered.object, buffered.released);
        self.me().state = State::Waiting;
        let Some(owner) = self.me().commits_for else { return };
        for sibling in self.threads[owner as usize].phantoms.clone() {
            if self.threads[sibling as usize].state != State::Announced {
                self.announce_commit(sibling);
            }
        }
        if let Some(wanted) = self.threads[owner as usize].mailbox.drains
            && !self.has_buffered(owner, wanted)
        {
            self.threads[owner as usize].mailbox.drains = None;
            self.after_commits(owner, wanted);
            self.current = phantom;
            self.wake(owner);
        }
    }

    /// What a thread does next happens after the commits of its stores (to one object, if given),
    /// which it has waited for or found done.
    pub(crate) fn after_commits(&mut self, owner: u32, object: Option<u32>) {
        for phantom in self.threads[owner as usize].phantoms.clone() {
            let commits = &self.threads[phantom as usize];
            let concerns = self.model != Model::Pso
                || object.is_none_or(|object| self.names.phantom(owner, object + 1) == phantom);
            if let Some(index) = commits.events.checked_sub(1).filter(|_| concerns) {
                let last = EventId { thread: ThreadId(phantom), index };
                add_past(&mut self.threads[owner as usize].past, &[last]);
            }
        }
    }
}
