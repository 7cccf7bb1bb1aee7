//! Execution graphs: the events of an execution with program order, reads-from and modification order.
//!
//! Events are kept per thread, so that every set of events that is closed under program order is a number
//! of events for each thread: a [`Cut`]. Clocks are such cuts too.
//!
//! | TruSt | here |
//! |---|---|
//! | ≤_G, the order of addition | [`Event::stamp`] |
//! | porf = (po ∪ rf)⁺ | [`Clock::Past`] |
//! | hb | [`Clock::Known`] |
//! | rf | [`Event::source`] |
//! | co | [`Location::order`] |

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use crate::relaxed::contract::Atomic;
use crate::system::ThreadId;
use crate::threaded::EventId;

/// Stands for the initial value of a variable where a write is meant.
pub(crate) const INITIAL: EventId = EventId { thread: ThreadId(u32::MAX), index: 0 };

/// No location.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// What is known about an event besides its clocks.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// When it was added. A read that is revisited keeps its place.
    pub(crate) stamp: u32,
    /// When its write was added: later, if it is a read-modify-write, whose read may have been revisited.
    pub(crate) write_stamp: u32,
    /// What it was announced as.
    pub(crate) atomic: Option<Atomic>,
    /// The atomic variable that it accesses, or [`NOWHERE`].
    pub(crate) location: u32,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) is_fence: bool,
    pub(crate) order: Ordering,
    /// The write that it reads from.
    pub(crate) source: EventId,
    /// What it has read.
    pub(crate) found: u64,
    /// What it has written.
    pub(crate) value: u64,
    /// Which way it was taken.
    pub(crate) choice: u32,
    /// The number by which the same step can be made again, where it was performed.
    pub(crate) pick: u32,
    /// The objects that it accesses and that are no atomic variables.
    pub(crate) objects: Objects,
    /// Was it brought before an event that had been performed before it?
    pub(crate) is_advanced: bool,
}

/// The objects that a step accesses and that are no atomic variables.
pub(crate) type Objects = SmallVec<[u32; 2]>;

impl Event {
    pub(crate) fn is_sequential(&self) -> bool {
        self.order == Ordering::SeqCst && (self.is_fence || self.location != NOWHERE)
    }
}

/// The clocks of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    /// What it depends on: program order and reads-from, itself included.
    Past,
    /// What happens before it, itself included.
    Known,
    /// What happened before it, without what it has learnt by its own read and without itself.
    Before,
    /// What a read that acquires learns from its write.
    Released,
}

const CLOCKS: usize = 4;

/// The events of a thread.
#[derive(Default, Debug)]
pub(crate) struct Row {
    pub(crate) events: Vec<Event>,
    /// For each event its clocks, each of the graph's width.
    clocks: Vec<u32>,
    /// The fences that release, by their numbers.
    release_fences: Vec<u32>,
}

/// The accesses to an atomic variable.
#[derive(Default, Debug)]
pub(crate) struct Location {
    /// Its writes in modification order, without the initial one.
    pub(crate) order: Vec<EventId>,
    /// For each thread the events that read it, by their numbers.
    reads: Vec<Vec<u32>>,
}

impl Location {
    /// The events that read it.
    pub(crate) fn reads(&self) -> impl Iterator<Item = EventId> {
        self.reads.iter().enumerate().flat_map(|(thread, indices)| {
            let id = move |&index: &u32| EventId { thread: ThreadId(thread as u32), index };
            indices.iter().map(id)
        })
    }

    /// For each thread the last event that reads it among those of a cut.
    pub(crate) fn last_reads(&self, cut: &[u32]) -> impl Iterator<Item = EventId> {
        self.reads.iter().zip(cut).enumerate().filter_map(|(thread, (indices, &count))| {
            let kept = indices.partition_point(|&index| index < count);
            let index = indices[kept.checked_sub(1)?];
            Some(EventId { thread: ThreadId(thread as u32), index })
        })
    }
}

/// Copies into the memory that is there already.
macro_rules! clone_in_place {
    ($name:ident { $($field:ident),* }) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                $name { $($field: self.$field.clone()),* }
            }

            fn clone_from(&mut self, source: &Self) {
                $(self.$field.clone_from(&source.$field);)*
            }
        }
    };
}

clone_in_place!(Row { events, clocks, release_fences });
clone_in_place!(Location { order, reads });
clone_in_place!(Graph { rows, locations, chains, performed, width, next_stamp, draft });

/// A number of events for each thread.
pub(crate) type Cut = SmallVec<[u32; 8]>;

/// An execution graph.
#[derive(Default, Debug)]
pub(crate) struct Graph {
    pub(crate) rows: Vec<Row>,
    pub(crate) locations: Vec<Location>,
    /// For each object that is no atomic variable its events, in the order in which they were performed.
    pub(crate) chains: Vec<Vec<EventId>>,
    /// The threads whose events were performed, in that order: a linear extension of what events depend
    /// on.
    pub(crate) performed: Vec<u32>,
    /// How many threads the clocks have room for.
    width: usize,
    next_stamp: u32,
    /// The clocks of the event that is about to be added.
    pub(crate) draft: Draft,
}

/// The clocks of an event that is about to be added.
#[derive(Clone, Default, Debug)]
pub(crate) struct Draft {
    pub(crate) past: Vec<u32>,
    pub(crate) before: Vec<u32>,
    known: Vec<u32>,
    released: Vec<u32>,
}

impl Draft {
    fn reset(&mut self, width: usize) {
        for clock in [&mut self.past, &mut self.before, &mut self.known, &mut self.released] {
            clock.clear();
            clock.resize(width, 0);
        }
    }
}

pub(crate) fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

pub(crate) fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// Adds what the other clock knows.
#[inline]
pub(crate) fn join(clock: &mut [u32], other: &[u32]) {
    for (known, &more) in clock.iter_mut().zip(other) {
        *known = (*known).max(more);
    }
}

/// Is the event in the cut?
#[inline]
pub(crate) fn contains(cut: &[u32], event: EventId) -> bool {
    cut.get(event.thread.0 as usize).is_some_and(|&count| count > event.index)
}

impl Graph {
    /// Forgets all events.
    pub(crate) fn clear(&mut self) {
        for row in &mut self.rows {
            row.events.clear();
            row.clocks.clear();
            row.release_fences.clear();
        }
        for location in &mut self.locations {
            location.order.clear();
            location.reads.iter_mut().for_each(Vec::clear);
        }
        self.chains.iter_mut().for_each(Vec::clear);
        self.performed.clear();
        self.next_stamp = 0;
    }

    /// How many events there are.
    pub(crate) fn len(&self) -> usize {
        self.performed.len()
    }

    #[inline]
    pub(crate) fn event(&self, event: EventId) -> &Event {
        &self.rows[event.thread.0 as usize].events[event.index as usize]
    }

    #[inline]
    pub(crate) fn event_mut(&mut self, event: EventId) -> &mut Event {
        &mut self.rows[event.thread.0 as usize].events[event.index as usize]
    }

    #[inline]
    pub(crate) fn clock(&self, event: EventId, which: Clock) -> &[u32] {
        let start = (event.index as usize * CLOCKS + which as usize) * self.width;
        &self.rows[event.thread.0 as usize].clocks[start..start + self.width]
    }

    /// Does the event happen before the other?
    #[inline]
    pub(crate) fn happens_before(&self, earlier: EventId, later: EventId) -> bool {
        earlier != later && contains(self.clock(later, Clock::Known), earlier)
    }

    /// All events, thread by thread.
    pub(crate) fn events(&self) -> impl Iterator<Item = (EventId, &Event)> {
        self.rows.iter().enumerate().flat_map(|(thread, row)| {
            let thread = ThreadId(thread as u32);
            let id = move |index| EventId { thread, index: index as u32 };
            row.events.iter().enumerate().map(move |(index, event)| (id(index), event))
        })
    }

    pub(crate) fn stamp(&self, event: EventId) -> u32 {
        self.event(event).stamp
    }

    pub(crate) fn new_stamp(&mut self) -> u32 {
        self.next_stamp += 1;
        self.next_stamp
    }

    /// The next event of a thread.
    pub(crate) fn next_of(&self, thread: ThreadId) -> EventId {
        let count = self.rows.get(thread.0 as usize).map_or(0, |row| row.events.len());
        EventId { thread, index: count as u32 }
    }

    /// Is the event there?
    pub(crate) fn has(&self, event: EventId) -> bool {
        event.index < self.next_of(event.thread).index
    }

    /// The last event of a thread, which has one.
    pub(crate) fn last_of(&self, thread: ThreadId) -> EventId {
        let EventId { thread, index } = self.next_of(thread);
        EventId { thread, index: index.saturating_sub(1) }
    }

    #[inline]
    pub(crate) fn location(&self, location: u32) -> &Location {
        const NONE: &Location = &Location { order: Vec::new(), reads: Vec::new() };
        self.locations.get(location as usize).unwrap_or(NONE)
    }

    fn location_mut(&mut self, location: u32) -> &mut Location {
        let index = location as usize;
        if self.locations.len() <= index {
            self.locations.resize_with(index + 1, Location::default);
        }
        &mut self.locations[index]
    }

    /// Where a write stands in the modification order: 0 for the initial value.
    #[inline]
    pub(crate) fn position(&self, location: u32, write: EventId) -> usize {
        let order = &self.location(location).order;
        order.iter().rposition(|&one| one == write).map_or(0, |index| index + 1)
    }

    /// The write at a position of the modification order.
    #[inline]
    pub(crate) fn write_at(&self, location: u32, position: usize) -> EventId {
        match position {
            0 => INITIAL,
            _ => self.location(location).order[position - 1],
        }
    }

    /// The read-modify-write that reads from the write at a position, if there is one.
    #[inline]
    pub(crate) fn update_after(&self, location: u32, position: usize) -> Option<EventId> {
        let next = *self.location(location).order.get(position)?;
        self.event(next).reads.then_some(next)
    }

    /// Makes room for more threads in every clock.
    fn widen(&mut self, threads: usize) {
        let width = threads.next_power_of_two().max(4);
        for row in &mut self.rows {
            let mut clocks = Vec::with_capacity(row.events.len() * CLOCKS * width);
            for clock in row.clocks.chunks_exact(self.width.max(1)) {
                clocks.extend_from_slice(clock);
                clocks.resize(clocks.len() + width - self.width, 0);
            }
            row.clocks = clocks;
        }
        self.rows.resize_with(width, Row::default);
        self.width = width;
    }

    /// Begins the clocks of the next event of a thread with what comes before it in any case: what happens
    /// before it, and an event that it follows for no other reason than symmetry.
    pub(crate) fn begin(&mut self, thread: ThreadId, causes: &[EventId], follows: Option<EventId>) {
        if self.width <= thread.0 as usize {
            self.widen(thread.0 as usize + 1);
        }
        let next = self.next_of(thread);
        let last = next.index.checked_sub(1).map(|index| EventId { thread, index });
        let mut draft = std::mem::take(&mut self.draft);
        draft.reset(self.width);
        for cause in last.into_iter().chain(causes.iter().copied()) {
            // Threads that have not made a step are no causes.
            if cause.index < self.next_of(cause.thread).index {
                join(&mut draft.past, self.clock(cause, Clock::Past));
                join(&mut draft.before, self.clock(cause, Clock::Known));
            }
        }
        if let Some(first) = follows.filter(|&first| self.has(first)) {
            join(&mut draft.past, self.clock(first, Clock::Past));
        }
        self.draft = draft;
    }

    /// The events of an object that is no atomic variable.
    #[inline]
    pub(crate) fn chain(&self, object: u32) -> &[EventId] {
        self.chains.get(object as usize).map_or(&[], |chain| chain)
    }

    /// The event whose clocks were begun depends on the last events of the objects that it accesses, and
    /// on those that have enabled it.
    pub(crate) fn follow(&mut self, objects: &[u32], enablers: &[EventId]) {
        let mut draft = std::mem::take(&mut self.draft);
        let last = objects.iter().filter_map(|&object| self.chain(object).last());
        for &event in last.chain(enablers) {
            if event.index < self.next_of(event.thread).index {
                join(&mut draft.past, self.clock(event, Clock::Past));
            }
        }
        self.draft = draft;
    }

    /// Adds the event whose clocks were begun at the end of the execution. `after` is the write that it
    /// follows in modification order, if it writes.
    pub(crate) fn add(&mut self, thread: ThreadId, event: Event, after: EventId) {
        let id = self.next_of(thread);
        self.complete_clocks(id, &event);
        if event.reads {
            let reads = &mut self.location_mut(event.location).reads;
            if reads.len() <= thread.0 as usize {
                reads.resize_with(thread.0 as usize + 1, Vec::new);
            }
            reads[thread.0 as usize].push(id.index);
        }
        if event.writes {
            let position = self.position(event.location, after);
            self.location_mut(event.location).order.insert(position, id);
        }
        for &object in &event.objects {
            let index = object as usize;
            if self.chains.len() <= index {
                self.chains.resize_with(index + 1, Vec::new);
            }
            self.chains[index].push(id);
        }
        let (row, draft) = (&mut self.rows[thread.0 as usize], &self.draft);
        if event.is_fence && releases(event.order) {
            row.release_fences.push(id.index);
        }
        row.events.push(event);
        for clock in [&draft.past, &draft.known, &draft.before, &draft.released] {
            row.clocks.extend_from_slice(clock);
        }
        self.performed.push(thread.0);
    }

    /// Completes the clocks of an event by what its read, its being a fence and its release mean.
    fn complete_clocks(&mut self, id: EventId, event: &Event) {
        let mut draft = std::mem::take(&mut self.draft);
        draft.known.copy_from_slice(&draft.before);
        let source = (event.reads && event.source != INITIAL).then_some(event.source);
        if let Some(source) = source {
            join(&mut draft.past, self.clock(source, Clock::Past));
            if acquires(event.order) {
                join(&mut draft.known, self.clock(source, Clock::Released));
            }
        }
        if event.is_fence && acquires(event.order) {
            self.acquire_all(id.thread, &mut draft.known);
        }
        let own = id.thread.0 as usize;
        draft.past[own] = id.index + 1;
        draft.known[own] = id.index + 1;
        draft.released.fill(0);
        if event.writes {
            if releases(event.order) {
                draft.released.copy_from_slice(&draft.known);
            } else if let Some(fence) = self.last_release_fence(id.thread) {
                draft.released.copy_from_slice(self.clock(fence, Clock::Known));
            }
            if let Some(source) = source {
                // A read-modify-write continues the release sequence that it reads from.
                join(&mut draft.released, self.clock(source, Clock::Released));
            }
        }
        self.draft = draft;
    }

    /// Adds what an acquire fence of the thread learns: what all its earlier reads could have learnt.
    fn acquire_all(&self, thread: ThreadId, known: &mut [u32]) {
        for event in self.rows[thread.0 as usize].events.iter().rev() {
            if event.reads && event.source != INITIAL {
                join(known, self.clock(event.source, Clock::Released));
            }
            if event.is_fence && acquires(event.order) {
                // It has learnt what comes before it.
                break;
            }
        }
    }

    fn last_release_fence(&self, thread: ThreadId) -> Option<EventId> {
        let &index = self.rows[thread.0 as usize].release_fences.last()?;
        Some(EventId { thread, index })
    }

    /// Takes the event that was performed last away again.
    pub(crate) fn remove_last(&mut self) {
        let Some(thread) = self.performed.pop() else { return };
        let row = &mut self.rows[thread as usize];
        let Some(event) = row.events.pop() else { return };
        row.clocks.truncate(row.events.len() * CLOCKS * self.width);
        if event.is_fence && releases(event.order) {
            row.release_fences.pop();
        }
        if event.reads {
            self.location_mut(event.location).reads[thread as usize].pop();
        }
        if event.writes {
            let id = self.next_of(ThreadId(thread));
            self.location_mut(event.location).order.retain(|&write| write != id);
        }
        for &object in &event.objects {
            self.chains[object as usize].pop();
        }
    }

    /// Keeps only the events of a cut, which is closed under what they depend on.
    pub(crate) fn restrict(&mut self, cut: &[u32]) {
        let mut counts = Cut::from_elem(0, self.width);
        self.performed.retain(|&thread| {
            let count: &mut u32 = &mut counts[thread as usize];
            *count += 1;
            *count <= cut[thread as usize]
        });
        for (row, &count) in self.rows.iter_mut().zip(cut) {
            row.events.truncate(count as usize);
            row.clocks.truncate(count as usize * CLOCKS * self.width);
            row.release_fences.retain(|&index| index < count);
        }
        for location in &mut self.locations {
            location.order.retain(|&write| contains(cut, write));
            for (reads, &count) in location.reads.iter_mut().zip(cut) {
                reads.truncate(reads.partition_point(|&index| index < count));
            }
        }
        for chain in &mut self.chains {
            chain.retain(|&event| contains(cut, event));
        }
    }

    /// The events that stand before a stamp, and those of another cut.
    pub(crate) fn cut_before(&self, stamp: u32, also: &[u32]) -> Cut {
        let count = |(row, &also): (&Row, &u32)| {
            let before = row.events.partition_point(|event| event.stamp < stamp);
            also.max(before as u32)
        };
        self.rows.iter().zip(also).map(count).collect()
    }
}
