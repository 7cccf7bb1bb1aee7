//! The events of one execution of a [`Threaded`](crate::Threaded) system with their
//! happens-before order as vector clocks, and the races that each event is in.
//!
//! Comes in: announced steps in the order in which they are made. Goes out: for each event f the
//! events e that f could have come before: e and f conflict, no other chain of events leads from e
//! to f, and f's gate is open without e and what happens after e.
//!
//! With gates the last conflicting event need not be the one to overtake: a lock waits for the
//! unlock before it, but could have come before the *lock* before that. Since all steps that change
//! an object's gates are ordered among each other, it suffices to remember which gates were open
//! before each of them.

use smallvec::SmallVec;

use crate::threaded::{Access, Accesses, EventId, Next, Pick, Step};

/// An event of the execution.
pub(crate) struct Event {
    pub(crate) step: Step,
    /// How many events of the same thread came before.
    index: u32,
    pub(crate) choices: u32,
    /// The events that this one could have come before.
    pub(crate) races: SmallVec<[u32; 4]>,
}

/// An access by an event of the execution.
#[derive(Clone, Copy)]
struct Entry {
    position: u32,
    write: bool,
    /// The gates that were open before the event.
    open: u8,
    /// The last write of the object up to and including this entry: its place in the list plus 1.
    last_write: u32,
}

/// An execution, which grows and is taken back.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) events: Vec<Event>,
    /// `stride` numbers an event: how many events of each thread happen before or are the event.
    clocks: Vec<u32>,
    stride: usize,
    by_thread: Vec<Vec<u32>>,
    by_object: Vec<Vec<Entry>>,
    /// The clock of the step under examination.
    clock: Vec<u32>,
    candidates: Vec<u32>,
}

impl History {
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Does the event happen before the other, or is it the same?
    #[inline]
    pub(crate) fn before(&self, earlier: usize, later: usize) -> bool {
        let event = &self.events[earlier];
        self.clocks[later * self.stride + event.step.pick.thread.0 as usize] > event.index
    }

    /// Takes up the next event. `open` gives the open gates of an object before it.
    #[inline]
    pub(crate) fn push(&mut self, pick: Pick, next: Next<'_>, open: impl Fn(u32) -> u8) {
        let position = self.events.len() as u32;
        let thread = pick.thread.0 as usize;
        self.begin(thread, next.causes);
        let races = self.find_races(next.accesses, &open);
        let index = self.by_thread[thread].len() as u32;
        self.by_thread[thread].push(position);
        self.clock[thread] = index + 1;
        self.clocks.extend_from_slice(&self.clock);
        for access in next.accesses {
            let object = access.object as usize;
            if self.by_object.len() <= object {
                self.by_object.resize_with(object + 1, Vec::new);
            }
            let open = open(access.object);
            let entries = &mut self.by_object[object];
            let before = entries.last().map_or(0, |entry| entry.last_write);
            let last_write = if access.write { entries.len() as u32 + 1 } else { before };
            entries.push(Entry { position, write: access.write, open, last_write });
        }
        let step = Step { pick, accesses: Accesses::new(next.accesses) };
        self.events.push(Event { step, index, choices: next.choices, races });
    }

    /// The races of a step that is announced but not made.
    pub(crate) fn races_of(
        &mut self,
        pick: Pick,
        next: Next<'_>,
        open: impl Fn(u32) -> u8,
    ) -> SmallVec<[u32; 4]> {
        self.begin(pick.thread.0 as usize, next.causes);
        self.find_races(next.accesses, &open)
    }

    /// Takes the execution back to so many events.
    pub(crate) fn truncate(&mut self, length: usize) {
        while self.events.len() > length {
            let Some(event) = self.events.pop() else { return };
            self.by_thread[event.step.pick.thread.0 as usize].pop();
            for access in event.step.accesses.as_slice() {
                self.by_object[access.object as usize].pop();
            }
        }
        self.clocks.truncate(length * self.stride);
    }

    /// For each thread the least that the clocks of the events from here on say about it.
    pub(crate) fn least_from(&self, start: usize, least: &mut Vec<u32>) {
        least.clear();
        least.resize(self.stride, u32::MAX);
        for clock in self.clocks[start * self.stride..].chunks_exact(self.stride.max(1)) {
            for (least, &known) in least.iter_mut().zip(clock) {
                *least = (*least).min(known);
            }
        }
    }

    /// Do all events that `least` was made from happen after this event?
    pub(crate) fn all_after(&self, event: usize, least: &[u32]) -> bool {
        let event = &self.events[event];
        least.get(event.step.pick.thread.0 as usize).is_some_and(|&known| known > event.index)
    }

    /// Sets the clock to what happens before a step of the thread in any case.
    fn begin(&mut self, thread: usize, causes: &[EventId]) {
        if thread >= self.stride {
            self.widen(thread + 1);
        }
        self.clock.fill(0);
        if let Some(&last) = self.by_thread[thread].last() {
            self.join(last);
        }
        for cause in causes {
            let events = self.by_thread.get(cause.thread.0 as usize);
            if let Some(&position) = events.and_then(|events| events.get(cause.index as usize)) {
                self.join(position);
            }
        }
    }

    #[inline]
    fn join(&mut self, position: u32) {
        let start = position as usize * self.stride;
        let other = &self.clocks[start..start + self.stride];
        for (known, &more) in self.clock.iter_mut().zip(other) {
            *known = (*known).max(more);
        }
    }

    #[inline]
    fn is_known(&self, position: u32) -> bool {
        let event = &self.events[position as usize];
        self.clock[event.step.pick.thread.0 as usize] > event.index
    }

    /// Makes room for more threads in every clock.
    fn widen(&mut self, threads: usize) {
        let stride = threads.next_power_of_two().max(4);
        let mut clocks = Vec::with_capacity(self.events.len() * stride);
        for clock in self.clocks.chunks_exact(self.stride.max(1)) {
            clocks.extend_from_slice(clock);
            clocks.resize(clocks.len() + stride - self.stride, 0);
        }
        self.clocks = clocks;
        self.stride = stride;
        self.clock.resize(stride, 0);
        self.by_thread.resize_with(stride, Vec::new);
    }

    /// Finds the races of a step whose clock was begun, and completes the clock.
    #[inline]
    fn find_races(&mut self, accesses: &[Access], open: &impl Fn(u32) -> u8) -> SmallVec<[u32; 4]> {
        let mut races = SmallVec::new();
        let gated = accesses.iter().any(|access| access.gate != 0);
        if gated {
            self.gated_races(accesses, open, &mut races);
        }
        self.candidates.clear();
        for access in accesses {
            let Some(entries) = self.by_object.get(access.object as usize) else { continue };
            let last_write = entries.last().map_or(0, |entry| entry.last_write) as usize;
            if access.write {
                let reads = entries[last_write..].iter();
                self.candidates.extend(reads.map(|entry| entry.position));
            }
            if last_write > 0 {
                self.candidates.push(entries[last_write - 1].position);
            }
        }
        if self.candidates.len() > 1 {
            self.candidates.sort_unstable_by(|a, b| b.cmp(a));
        }
        for index in 0..self.candidates.len() {
            let position = self.candidates[index];
            if !self.is_known(position) {
                if !gated {
                    races.push(position);
                }
                self.join(position);
            }
        }
        races
    }

    /// For a step that waits for gates: the latest events on its objects without which, and
    /// without what happens after them, a gate is open.
    fn gated_races(
        &mut self,
        accesses: &[Access],
        open: &impl Fn(u32) -> u8,
        races: &mut SmallVec<[u32; 4]>,
    ) {
        self.candidates.clear();
        for access in accesses {
            let Some(entries) = self.by_object.get(access.object as usize) else { continue };
            for entry in entries.iter().rev() {
                if !access.write && !entry.write {
                    continue;
                }
                if self.is_known(entry.position) {
                    if entry.write {
                        break;
                    }
                    continue;
                }
                if self.is_open_without(entry.position, accesses, open) {
                    self.candidates.push(entry.position);
                    if entry.write {
                        break;
                    }
                }
            }
        }
        self.candidates.sort_unstable_by(|a, b| b.cmp(a));
        self.candidates.dedup();
        for &position in &self.candidates {
            let earlier = position as usize;
            if !races.iter().any(|&later| self.before(earlier, later as usize)) {
                races.push(position);
            }
        }
    }

    /// Is a gate of the step open if the event and all that happens after it is left out?
    fn is_open_without(
        &self,
        left_out: u32,
        accesses: &[Access],
        open: &impl Fn(u32) -> u8,
    ) -> bool {
        accesses.iter().filter(|access| access.gate != 0).any(|access| {
            let mut gates = open(access.object);
            let entries = self.by_object.get(access.object as usize).map_or(&[][..], |all| all);
            for entry in entries.iter().rev() {
                if !self.before(left_out as usize, entry.position as usize) {
                    break;
                }
                gates = entry.open;
            }
            gates & access.gate != 0
        })
    }
}
