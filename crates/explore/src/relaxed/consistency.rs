//! Which execution graphs RC11 allows (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential
//! consistency in C/C++11, PLDI 2017).
//!
//! Coherence is kept by construction: an event that is added last has nothing after it, so it may read
//! from, or follow, every write that is not hidden by what happens before it ([`Graph::hidden`]).
//! Atomicity likewise: a read-modify-write directly follows what it reads from. Program order and
//! reads-from have no cycle because an event reads only from events that are there.
//!
//! What is left to check is the order of sequentially consistent events ([`Graph::allows_last`]). No event
//! happens after the one that was added last, and none reads from it. So psc goes on from it only to the
//! writes that follow it, or follow what it reads, in modification order; and every edge of psc that is
//! new begins at it, or at a fence that happens before it. Only what can be reached from there is looked
//! at.
//!
//! | paper | here |
//! |---|---|
//! | scb | [`Psc::add_scb`] |
//! | psc_base, psc_F | [`Psc::edges`] |

use smallvec::SmallVec;

use crate::relaxed::graph::{Event, Graph, INITIAL, NOWHERE, contains};
use crate::system::ThreadId;
use crate::threaded::EventId;

impl Graph {
    /// The first position in the modification order of a location that an event with this clock before
    /// it may read from: those before are hidden by writes that happen before it, or by what reads that
    /// happen before it have read.
    pub(crate) fn hidden(&self, location: u32, before: &[u32]) -> usize {
        let accesses = self.location(location);
        let written = accesses.order.iter().rposition(|&write| contains(before, write));
        let mut hidden = written.map_or(0, |index| index + 1);
        // A thread never reads an older value than before.
        for read in accesses.last_reads(before) {
            hidden = hidden.max(self.position(location, self.event(read).source));
        }
        hidden
    }

    /// Could a thread see something else if it did what it has done since this event once more: is there a
    /// later write of another value, or has a compare-exchange failed for nothing?
    pub(crate) fn may_read_otherwise(&self, thread: ThreadId, first: u32) -> bool {
        let Some(row) = self.rows.get(thread.0 as usize) else { return false };
        let events = row.events.iter().skip(first as usize).filter(|event| event.reads);
        events.into_iter().any(|event| self.is_stale(event))
    }

    /// Has the event failed for nothing, or is there a later write of another value than it has read?
    pub(crate) fn is_stale(&self, event: &Event) -> bool {
        let position = self.position(event.location, event.source);
        let mut later = self.location(event.location).order[position..].iter();
        event.choice != 0 || later.any(|&write| self.event(write).value != event.found)
    }

    /// Is psc_base ∪ psc_F acyclic, given that it was without the event that was added last?
    pub(crate) fn allows_last(&self, last: EventId) -> bool {
        let event = self.event(last);
        if event.location == NOWHERE || !self.is_followed(last, event) {
            return true;
        }
        let begins = |&(id, event): &(EventId, &Event)| {
            let precedes = event.is_fence && self.happens_before(id, last);
            event.is_sequential() && (precedes || id == last)
        };
        let beginnings: Ids = self.events().filter(begins).map(|(id, _)| id).collect();
        beginnings.is_empty() || Psc::new(self).is_acyclic_from(&beginnings)
    }

    /// Does another write follow an event, or follow what it reads, in modification order?
    fn is_followed(&self, id: EventId, event: &Event) -> bool {
        let write = if event.reads { event.source } else { id };
        let start = self.position(event.location, write);
        self.location(event.location).order[start..].iter().any(|&later| later != id)
    }
}

/// A few events.
type Ids = SmallVec<[EventId; 16]>;

/// A set of events, as bits.
type Bits = SmallVec<[u64; 4]>;

/// The relation psc_base ∪ psc_F on the sequentially consistent events of a graph.
struct Psc<'g> {
    graph: &'g Graph,
    /// Where the events of each thread begin in the list of all events.
    starts: SmallVec<[usize; 16]>,
    /// How many events there are.
    count: usize,
    sequential: Ids,
}

/// An event on the path of a search for a cycle.
struct Visit {
    event: EventId,
    /// What it is related to.
    edges: Ids,
    /// Which of these is looked at next.
    next: usize,
}

impl<'g> Psc<'g> {
    fn new(graph: &'g Graph) -> Self {
        let mut starts = SmallVec::new();
        let mut count = 0;
        for row in &graph.rows {
            starts.push(count);
            count += row.events.len();
        }
        let sequential = graph.events().filter(|(_, event)| event.is_sequential());
        let sequential = sequential.map(|(id, _)| id).collect();
        Psc { graph, starts, count, sequential }
    }

    fn number(&self, event: EventId) -> usize {
        self.starts[event.thread.0 as usize] + event.index as usize
    }

    fn insert(&self, set: &mut Bits, event: EventId) {
        let number = self.number(event);
        set[number / 64] |= 1 << (number % 64);
    }

    fn remove(&self, set: &mut Bits, event: EventId) {
        let number = self.number(event);
        set[number / 64] &= !(1 << (number % 64));
    }

    fn contains(&self, set: &Bits, event: EventId) -> bool {
        let number = self.number(event);
        set[number / 64] >> (number % 64) & 1 == 1
    }

    fn none(&self) -> Bits {
        SmallVec::from_elem(0, self.count.div_ceil(64))
    }

    /// The later events of the same thread.
    fn later(&self, event: EventId) -> impl Iterator<Item = EventId> + use<> {
        let count = self.graph.rows[event.thread.0 as usize].events.len() as u32;
        let thread = event.thread;
        (event.index + 1..count).map(move |index| EventId { thread, index })
    }

    /// Are the events accesses to different locations, or one of them no access?
    fn elsewhere(&self, one: EventId, other: EventId) -> bool {
        let (one, other) = (self.graph.event(one).location, self.graph.event(other).location);
        one == NOWHERE || one != other
    }

    /// Adds what is related to an event by scb = sb ∪ sb|≠loc; hb; sb|≠loc ∪ hb|loc ∪ mo ∪ rb.
    fn add_scb(&self, event: EventId, set: &mut Bits) {
        self.later(event).for_each(|later| self.insert(set, later));
        self.add_around(event, set);
        let location = self.graph.event(event).location;
        if location == NOWHERE {
            return;
        }
        let accesses = self.graph.location(location);
        for other in accesses.order.iter().copied().chain(accesses.reads()) {
            if self.graph.happens_before(event, other) {
                self.insert(set, other);
            }
        }
        self.add_coherence(event, set);
    }

    /// Adds what is related to an event by mo ∪ rb.
    fn add_coherence(&self, event: EventId, set: &mut Bits) {
        let graph = self.graph;
        let (location, order) = match graph.event(event).location {
            NOWHERE => return,
            location => (location, &graph.location(location).order),
        };
        let known = graph.event(event);
        // What follows the write that it has read follows its own write too.
        let write = if known.reads { known.source } else { event };
        let start = if write == INITIAL { 0 } else { graph.position(location, write) };
        for &later in order[start..].iter().filter(|&&later| later != event) {
            self.insert(set, later);
        }
    }

    /// Adds what is related to an event by sb|≠loc; hb; sb|≠loc.
    fn add_around(&self, event: EventId, set: &mut Bits) {
        let graph = self.graph;
        let Some(first) = self.later(event).find(|&later| self.elsewhere(event, later)) else {
            return;
        };
        for (thread, row) in graph.rows.iter().enumerate() {
            let id =
                |index: usize| EventId { thread: ThreadId(thread as u32), index: index as u32 };
            let all = 0..row.events.len();
            let Some(start) = all.clone().find(|&index| graph.happens_before(first, id(index)))
            else {
                continue;
            };
            for last in start + 1..all.end {
                if (start..last).any(|middle| self.elsewhere(id(middle), id(last))) {
                    self.insert(set, id(last));
                }
            }
        }
    }

    /// The events from which psc_base begins at an event: itself if it is an access, what happens after
    /// it as well if it is a fence.
    fn beginnings(&self, event: EventId) -> Ids {
        let mut all = Ids::new();
        if self.graph.event(event).is_fence {
            all.extend(self.ids().filter(|&other| self.graph.happens_before(event, other)));
        }
        all.push(event);
        all
    }

    /// All events.
    fn ids(&self) -> impl Iterator<Item = EventId> {
        self.graph.events().map(|(id, _)| id)
    }

    /// Does psc_base end at an event if its middle part reaches these?
    fn ends(&self, event: EventId, reached: &Bits) -> bool {
        let is_fence = self.graph.event(event).is_fence;
        let before = |other: EventId| {
            self.contains(reached, other) && self.graph.happens_before(other, event)
        };
        self.contains(reached, event) || is_fence && self.ids().any(before)
    }

    /// Adds what is related to an event by eco = rf ∪ (mo ∪ rb); rf?.
    fn add_eco(&self, event: EventId, set: &mut Bits) {
        let known = self.graph.event(event);
        if known.location == NOWHERE {
            return;
        }
        let mut writes = self.none();
        self.add_coherence(event, &mut writes);
        for read in self.graph.location(known.location).reads() {
            let source = self.graph.event(read).source;
            if source == event || source != INITIAL && self.contains(&writes, source) {
                self.insert(set, read);
            }
        }
        set.iter_mut().zip(writes).for_each(|(set, more)| *set |= more);
    }

    /// The events that an event is related to by psc_base ∪ psc_F.
    fn edges(&self, event: EventId) -> Ids {
        let beginnings = self.beginnings(event);
        let (mut by_scb, mut by_eco) = (self.none(), self.none());
        beginnings.iter().for_each(|&one| self.add_scb(one, &mut by_scb));
        let is_fence = self.graph.event(event).is_fence;
        if is_fence {
            // All but the fence itself, which is no access.
            beginnings.iter().for_each(|&one| self.add_eco(one, &mut by_eco));
        }
        let between_fences = |other: EventId| {
            let reached =
                |one: EventId| self.contains(&by_eco, one) && self.graph.happens_before(one, other);
            is_fence
                && self.graph.event(other).is_fence
                && (self.graph.happens_before(event, other) || self.ids().any(reached))
        };
        let related = |&other: &EventId| self.ends(other, &by_scb) || between_fences(other);
        self.sequential.iter().copied().filter(related).collect()
    }

    /// Can no event be reached from itself that can be reached from these?
    fn is_acyclic_from(&self, beginnings: &[EventId]) -> bool {
        let (mut seen, mut on_path) = (self.none(), self.none());
        let mut path: SmallVec<[Visit; 8]> = SmallVec::new();
        for &beginning in beginnings {
            if self.contains(&seen, beginning) {
                continue;
            }
            self.visit(beginning, &mut seen, &mut on_path, &mut path);
            while let Some(visit) = path.last_mut() {
                let Some(&next) = visit.edges.get(visit.next) else {
                    self.remove(&mut on_path, visit.event);
                    path.pop();
                    continue;
                };
                visit.next += 1;
                if self.contains(&on_path, next) {
                    return false;
                }
                if !self.contains(&seen, next) {
                    self.visit(next, &mut seen, &mut on_path, &mut path);
                }
            }
        }
        true
    }

    /// Goes on to an event.
    fn visit(
        &self,
        event: EventId,
        seen: &mut Bits,
        on_path: &mut Bits,
        path: &mut SmallVec<[Visit; 8]>,
    ) {
        self.insert(seen, event);
        self.insert(on_path, event);
        path.push(Visit { event, edges: self.edges(event), next: 0 });
    }
}
