//! Which execution graphs RC11 allows (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential
//! consistency in C/C++11, PLDI 2017).
//!
//! Coherence is kept by construction: an event that is added last has nothing after it, so it may read
//! from, or follow, every write that is not hidden by what happens before it ([`Graph::hidden`]).
//! Atomicity likewise: a read-modify-write directly follows what it reads from. Program order and
//! reads-from have no cycle because an event reads only from events that are there.
//!
//! What is left to check is the order of sequentially consistent events ([`Graph::is_sequential`]), and
//! that only for an event that does not read the last write and is not the last write itself: the last
//! one has nothing after it.
//!
//! | paper | here |
//! |---|---|
//! | scb | [`Psc::add_scb`] |
//! | psc_base, psc_F | [`Psc::edges`] |

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

    /// Is psc_base ∪ psc_F acyclic?
    pub(crate) fn is_sequential(&self) -> bool {
        let events: Vec<EventId> = self.events().map(|(id, _)| id).collect();
        let sequential = |&id: &EventId| self.event(id).is_sequential();
        let sequential: Vec<EventId> = events.iter().copied().filter(sequential).collect();
        sequential.len() < 2 || Psc::new(self, &events, &sequential).is_acyclic()
    }
}

/// A set of events, as bits.
type Bits = Vec<u64>;

/// The relation psc_base ∪ psc_F on the sequentially consistent events of a graph.
struct Psc<'g> {
    graph: &'g Graph,
    events: &'g [EventId],
    /// Where the events of each thread begin in the list of all events.
    starts: Vec<usize>,
    sequential: &'g [EventId],
}

impl<'g> Psc<'g> {
    fn new(graph: &'g Graph, events: &'g [EventId], sequential: &'g [EventId]) -> Self {
        let mut starts = Vec::with_capacity(graph.rows.len());
        let mut start = 0;
        for row in &graph.rows {
            starts.push(start);
            start += row.events.len();
        }
        Psc { graph, events, starts, sequential }
    }

    fn number(&self, event: EventId) -> usize {
        self.starts[event.thread.0 as usize] + event.index as usize
    }

    fn insert(&self, set: &mut Bits, event: EventId) {
        let number = self.number(event);
        set[number / 64] |= 1 << (number % 64);
    }

    fn contains(&self, set: &Bits, event: EventId) -> bool {
        let number = self.number(event);
        set[number / 64] >> (number % 64) & 1 == 1
    }

    fn none(&self) -> Bits {
        vec![0; self.events.len().div_ceil(64)]
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
    fn beginnings(&self, event: EventId) -> Vec<EventId> {
        let is_fence = self.graph.event(event).is_fence;
        let after = |&other: &EventId| is_fence && self.graph.happens_before(event, other);
        let mut all: Vec<EventId> = self.events.iter().copied().filter(after).collect();
        all.push(event);
        all
    }

    /// Does psc_base end at an event if its middle part reaches these?
    fn ends(&self, event: EventId, reached: &Bits) -> bool {
        let is_fence = self.graph.event(event).is_fence;
        let before = |&other: &EventId| {
            self.contains(reached, other) && self.graph.happens_before(other, event)
        };
        self.contains(reached, event) || is_fence && self.events.iter().any(before)
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

    /// The events that an event is related to by psc_base ∪ psc_F, as positions in the list of
    /// sequentially consistent events.
    fn edges(&self, event: EventId) -> Vec<usize> {
        let beginnings = self.beginnings(event);
        let (mut by_scb, mut by_eco) = (self.none(), self.none());
        beginnings.iter().for_each(|&one| self.add_scb(one, &mut by_scb));
        let is_fence = self.graph.event(event).is_fence;
        if is_fence {
            // All but the fence itself, which is no access.
            beginnings.iter().for_each(|&one| self.add_eco(one, &mut by_eco));
        }
        let between_fences = |other: EventId| {
            let reached = |&one: &EventId| {
                self.contains(&by_eco, one) && self.graph.happens_before(one, other)
            };
            is_fence
                && self.graph.event(other).is_fence
                && (self.graph.happens_before(event, other) || self.events.iter().any(reached))
        };
        let related = |&position: &usize| {
            let other = self.sequential[position];
            self.ends(other, &by_scb) || between_fences(other)
        };
        (0..self.sequential.len()).filter(related).collect()
    }

    fn is_acyclic(&self) -> bool {
        let edges: Vec<Vec<usize>> =
            self.sequential.iter().map(|&event| self.edges(event)).collect();
        // An event without predecessors among those that are left is taken away, again and again.
        let mut incoming = vec![0; edges.len()];
        edges.iter().flatten().for_each(|&to| incoming[to] += 1);
        let mut free: Vec<usize> = (0..edges.len()).filter(|&event| incoming[event] == 0).collect();
        let mut removed = 0;
        while let Some(event) = free.pop() {
            removed += 1;
            for &to in &edges[event] {
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    free.push(to);
                }
            }
        }
        removed == edges.len()
    }
}
