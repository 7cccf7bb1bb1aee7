//! Where an event can go: what it may read from, which write it may follow, and which earlier read may
//! read from it instead of what it has read (a *revisit*).
//!
//! | TruSt | here |
//! |---|---|
//! | the cases of VISIT | [`Planner::plan`] |
//! | Deleted | the events outside of [`Graph::cut_before`] |
//! | ISMAXIMALLYADDED | [`Graph::is_maximal`] |

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use crate::relaxed::contract::Atomic;
use crate::relaxed::graph::{Clock, Cut, Event, Graph, INITIAL, NOWHERE, Objects, contains, join};
use crate::system::ThreadId;
use crate::threaded::EventId;

/// One way to add an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placement {
    /// The write that it reads from.
    pub(crate) source: EventId,
    /// The write that it follows, if it writes.
    pub(crate) after: EventId,
    pub(crate) writes: bool,
    pub(crate) choice: u32,
    /// The read that reads from it instead of what it has read; or, if it is no access to an atomic
    /// variable, the event that it is brought before.
    pub(crate) revisits: Option<EventId>,
}

/// The step that a thread has announced, as it is added to a graph.
#[derive(Clone, Debug)]
pub(crate) struct NextEvent {
    pub(crate) thread: ThreadId,
    pub(crate) atomic: Option<Atomic>,
    pub(crate) causes: SmallVec<[EventId; 1]>,
    /// An event that has to come first for no other reason than symmetry.
    pub(crate) follows: Option<EventId>,
    /// The objects that it accesses, if it is no access to an atomic variable.
    pub(crate) objects: Objects,
    /// The events that have enabled it, as far as they do not access these objects.
    pub(crate) enablers: SmallVec<[EventId; 1]>,
}

impl Placement {
    /// A step that neither reads nor writes an atomic variable.
    pub(crate) const PLAIN: Placement =
        Placement { source: INITIAL, after: INITIAL, writes: false, choice: 0, revisits: None };
}

/// Lists the placements of an event whose clocks were begun.
pub(crate) struct Planner<'p, V: Fn(u32, EventId) -> u64> {
    pub(crate) graph: &'p Graph,
    /// The only write that it may read from, if it is revisited by that.
    pub(crate) source: Option<EventId>,
    /// As in [`NextEvent`].
    pub(crate) follows: Option<EventId>,
    /// The value that a write has left in a location.
    pub(crate) value: V,
    pub(crate) placements: &'p mut Vec<Placement>,
}

impl<V: Fn(u32, EventId) -> u64> Planner<'_, V> {
    /// Appends all placements at the end of the execution. The first one is the maximal one: the event
    /// reads from the last write, or is the last write.
    pub(crate) fn plan(&mut self, atomic: Option<Atomic>) {
        match atomic {
            None | Some(Atomic::Fence { .. }) => self.placements.push(Placement::PLAIN),
            Some(Atomic::Load { location, .. }) => self.plan_load(location),
            Some(Atomic::Store { location, .. }) => self.plan_store(location),
            Some(Atomic::Update { location, .. } | Atomic::Exchange { location, .. }) => {
                self.plan_update(location, atomic);
            }
        }
    }

    /// Appends all placements in which an earlier read reads from the event.
    pub(crate) fn plan_revisits(&mut self, atomic: Option<Atomic>) {
        match atomic {
            Some(Atomic::Store { location, .. }) => self.plan_store_revisits(location),
            Some(Atomic::Update { location, .. } | Atomic::Exchange { location, .. }) => {
                self.plan_update_revisits(location, atomic);
            }
            None | Some(Atomic::Fence { .. } | Atomic::Load { .. }) => {}
        }
    }

    /// What a read-modify-write does when it reads from a write.
    fn found(&self, location: u32, source: EventId, atomic: Option<Atomic>) -> Found {
        let Some(Atomic::Exchange { expected, weak, .. }) = atomic else { return Found::Changes };
        match ((self.value)(location, source) == expected, weak) {
            (false, _) => Found::Fails,
            (true, false) => Found::Changes,
            (true, true) => Found::MayChange,
        }
    }

    /// The positions in modification order that the event may read from or follow, the last one first.
    fn visible(&self, location: u32) -> impl Iterator<Item = usize> + use<V> {
        let (first, last) = match self.source {
            Some(source) => {
                let position = self.graph.position(location, source);
                (position, position)
            }
            None => {
                let hidden = self.graph.hidden(location, &self.graph.draft.before);
                (hidden, self.graph.location(location).order.len())
            }
        };
        (first..=last).rev()
    }

    /// The first position in modification order at which a store can stand: of threads that can be
    /// exchanged for each other, the first one's store comes first. What such stores depend on is the
    /// same, so this never contradicts the order in which they are added.
    fn least(&self, location: u32) -> usize {
        let first = self.follows.filter(|&first| self.graph.has(first));
        first.map_or(0, |first| self.graph.position(location, first))
    }

    fn plan_load(&mut self, location: u32) {
        for position in self.visible(location) {
            let source = self.graph.write_at(location, position);
            self.placements.push(Placement { source, ..Placement::PLAIN });
        }
    }

    fn plan_store(&mut self, location: u32) {
        let placement = Placement { writes: true, ..Placement::PLAIN };
        let least = self.least(location);
        for position in self.visible(location).take_while(|&position| position >= least) {
            if self.graph.update_after(location, position).is_none() {
                let after = self.graph.write_at(location, position);
                self.placements.push(Placement { after, ..placement });
            }
        }
    }

    fn plan_store_revisits(&mut self, location: u32) {
        let placement = Placement { writes: true, ..Placement::PLAIN };
        let (graph, least) = (self.graph, self.least(location));
        graph.each_revisit(location, &graph.draft.past, |read, cut, first| {
            let first = first.max(least);
            let positions = (first..=graph.location(location).order.len()).rev();
            for position in positions.filter(|&position| graph.is_free_in(location, position, cut))
            {
                let after = graph.write_at(location, position);
                self.placements.push(Placement { after, revisits: Some(read), ..placement });
            }
        });
    }

    /// A read-modify-write, which writes or not depending on the value that it finds.
    fn plan_update(&mut self, location: u32, atomic: Option<Atomic>) {
        for position in self.visible(location) {
            let source = self.graph.write_at(location, position);
            let placement = Placement { source, ..Placement::PLAIN };
            let found = self.found(location, source, atomic);
            if found == Found::Fails {
                self.placements.push(placement);
                continue;
            }
            if self.graph.update_after(location, position).is_none() {
                self.placements.push(Placement { after: source, writes: true, ..placement });
            }
            if found == Found::MayChange {
                self.placements.push(Placement { choice: 1, ..placement });
            }
        }
    }

    fn plan_update_revisits(&mut self, location: u32, atomic: Option<Atomic>) {
        let mut past = Cut::new();
        for position in self.visible(location) {
            let source = self.graph.write_at(location, position);
            if self.found(location, source, atomic) == Found::Fails {
                continue;
            }
            past.clear();
            past.extend_from_slice(&self.graph.draft.past);
            if source != INITIAL {
                join(&mut past, self.graph.clock(source, Clock::Past));
            }
            let graph = self.graph;
            graph.each_revisit(location, &past, |read, cut, first| {
                if position >= first && graph.is_free_in(location, position, cut) {
                    let (after, revisits) = (source, Some(read));
                    let update =
                        Placement { source, after, writes: true, revisits, ..Placement::PLAIN };
                    self.placements.push(update);
                }
            });
        }
    }
}

fn numbered(later: usize, atomic: Option<Atomic>, choice: u32) -> u32 {
    match atomic {
        Some(Atomic::Exchange { weak: true, .. }) => 2 * later as u32 + choice,
        _ => later as u32,
    }
}

/// What a read-modify-write does with the value that it finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Changes,
    MayChange,
    Fails,
}

impl Graph {
    /// Adds the next event of a thread, with a new stamp if none is given.
    pub(crate) fn add_placed(
        &mut self,
        next: &NextEvent,
        placement: Placement,
        stamp: Option<u32>,
    ) {
        let NextEvent { thread, atomic, .. } = *next;
        let Placement { source, after, writes, choice, .. } = placement;
        let (location, reads, order, value) = match atomic {
            None => (NOWHERE, false, Ordering::Relaxed, 0),
            Some(Atomic::Fence { order }) => (NOWHERE, false, order, 0),
            Some(Atomic::Load { location, order } | Atomic::Update { location, order }) => {
                (location, true, order, 0)
            }
            Some(Atomic::Store { location, order, value }) => (location, false, order, value),
            Some(Atomic::Exchange { location, success, failure, .. }) => {
                (location, true, if writes { success } else { failure }, 0)
            }
        };
        let is_fence = matches!(atomic, Some(Atomic::Fence { .. }));
        let stamp = stamp.unwrap_or_else(|| self.new_stamp());
        let write_stamp = if reads && writes { self.new_stamp() } else { stamp };
        self.begin(thread, &next.causes, next.follows);
        self.follow(&next.objects, &next.enablers);
        let event = Event {
            stamp,
            write_stamp,
            atomic,
            location,
            reads,
            writes,
            is_fence,
            order,
            source,
            found: 0,
            value,
            choice,
            pick: 0,
            objects: next.objects.clone(),
            is_advanced: atomic.is_none() && placement.revisits.is_some(),
        };
        self.add(thread, event, after);
    }

    /// The number of a placement of the next event: how many writes are later than the one that it reads
    /// from or follows, and whether it fails for nothing.
    pub(crate) fn choice(&self, atomic: Atomic, placement: Placement) -> u32 {
        let Some(location) = atomic.location() else { return 0 };
        let is_store = matches!(atomic, Atomic::Store { .. });
        let write = if is_store { placement.after } else { placement.source };
        let last = self.location(location).order.len();
        let later = last - self.position(location, write);
        numbered(later, Some(atomic), placement.choice)
    }

    /// The same for an event that is there, if only the events of the cut and itself are.
    pub(crate) fn choice_in(&self, id: EventId, cut: &[u32]) -> u32 {
        let event = self.event(id);
        if event.location == NOWHERE {
            return event.choice;
        }
        let write = if event.reads { event.source } else { id };
        let start = self.position(event.location, write);
        let later = self.location(event.location).order[start..].iter();
        let later = later.filter(|&&write| write != id && contains(cut, write)).count();
        numbered(later, event.atomic, event.choice)
    }

    /// Visits each read that may read from a new write with this past, with the events that are kept then
    /// and the first position in modification order at which the write can stand.
    fn each_revisit(
        &self,
        location: u32,
        past: &[u32],
        mut visit: impl FnMut(EventId, &Cut, usize),
    ) {
        let hidden = self.hidden(location, &self.draft.before);
        for read in self.location(location).reads() {
            if contains(past, read) {
                continue;
            }
            let cut = self.cut_before(self.stamp(read), past);
            if self.is_maximal_beyond(&cut, past) {
                let also = self.hidden(location, self.clock(read, Clock::Before));
                visit(read, &cut, hidden.max(also));
            }
        }
    }

    /// Was every event beyond the cut added maximally, given the past of a write?
    pub(crate) fn is_maximal_beyond(&self, cut: &[u32], past: &[u32]) -> bool {
        self.rows.iter().enumerate().all(|(thread, row)| {
            let start = cut[thread];
            (start..row.events.len() as u32).all(|index| {
                let thread = ThreadId(thread as u32);
                self.is_maximal(EventId { thread, index }, past)
            })
        })
    }

    /// Does the event read from the last write, or is it the last write that no event reads, among the
    /// events that were added before it and those in the past of a write?
    fn is_maximal(&self, id: EventId, past: &[u32]) -> bool {
        let event = self.event(id);
        if event.choice != 0 || event.is_advanced {
            return false;
        }
        if event.location == NOWHERE {
            return true;
        }
        let accesses = self.location(event.location);
        // Is a later write than this one there before this stamp?
        let overwritten = |write: EventId, stamp: u32| {
            let start = self.position(event.location, write);
            let mut later = accesses.order[start..].iter().filter(|&&later| later != id);
            later.any(|&later| self.event(later).write_stamp <= stamp || contains(past, later))
        };
        if event.reads && overwritten(event.source, event.stamp) {
            return false;
        }
        let read = |read: EventId| {
            let reads = self.event(read).source == id;
            reads && (self.stamp(read) <= event.write_stamp || contains(past, read))
        };
        let write_stamp = event.write_stamp;
        !(event.writes && (overwritten(id, write_stamp) || accesses.reads().any(read)))
    }

    /// Is the position one of a write that is kept, with no read-modify-write that reads from it among
    /// the events that are kept?
    fn is_free_in(&self, location: u32, position: usize, cut: &[u32]) -> bool {
        let order = &self.location(location).order;
        let kept = position == 0 || contains(cut, order[position - 1]);
        let next = order[position..].iter().find(|&&write| contains(cut, write));
        kept && next.is_none_or(|&next| !self.event(next).reads)
    }
}
