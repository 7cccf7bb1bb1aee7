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
//! before each of them. Where other steps open gates too, as sends do for receives, the contract of
//! [`Threaded::open`](crate::Threaded::open) makes that suffice.

use std::ops::Range;

use smallvec::SmallVec;

use crate::threaded::{Access, Accesses, EventId, Next, Pick, Step};

/// An event of the execution.
pub(crate) struct Event {
    pub(crate) step: Step,
    /// How many events of the same thread came before.
    index: u32,
    pub(crate) choices: u32,
    /// The value that its first object had before it.
    before: u64,
    writes_if: Option<u64>,
    /// Where its races begin in the list of all races; they end where those of the next event begin.
    first_race: u32,
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

/// Clocks are made of pieces of this length.
const LANES: usize = 4;

/// A piece of a clock.
pub(crate) type Piece = [u32; LANES];

/// What a clock says about a thread.
#[inline]
fn about(clock: &[Piece], thread: usize) -> u32 {
    clock[thread / LANES][thread % LANES]
}

/// Adds what the other clock knows.
#[inline]
fn join(clock: &mut [Piece], other: &[Piece]) {
    for (known, more) in clock.iter_mut().zip(other) {
        for lane in 0..LANES {
            known[lane] = known[lane].max(more[lane]);
        }
    }
}

/// Keeps the lesser of both for each thread.
#[inline]
fn meet(least: &mut Piece, known: &Piece) {
    for lane in 0..LANES {
        least[lane] = least[lane].min(known[lane]);
    }
}

/// An execution, which grows and is taken back.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) events: Vec<Event>,
    /// `width` pieces an event: how many events of each thread happen before or are the event. While
    /// a step is examined, its clock is at the end.
    clocks: Vec<Piece>,
    width: usize,
    /// For each event in turn the events that it could have come before.
    races: Vec<u32>,
    by_thread: Vec<Vec<u32>>,
    by_object: Vec<Vec<Entry>>,
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
        about(&self.clocks[later * self.width..], event.step.pick.thread.0 as usize) > event.index
    }

    /// Visits the later events that do not happen after this one, in their order.
    #[inline]
    pub(crate) fn visit_independent<'h>(&'h self, event: usize, mut visit: impl FnMut(&'h Event)) {
        let Event { step, index, .. } = &self.events[event];
        let (thread, start) = (step.pick.thread.0 as usize, event + 1);
        let (piece, lane) = (thread / LANES, thread % LANES);
        let known = self.clocks[start * self.width..].iter().skip(piece).step_by(self.width);
        for (later, known) in self.events[start..].iter().zip(known) {
            if known[lane] <= *index {
                visit(later);
            }
        }
    }

    /// Takes up the next event. `open` gives the open gates of an object before it.
    #[inline]
    pub(crate) fn push(
        &mut self,
        pick: Pick,
        next: Next<'_>,
        open: impl Fn(u32) -> u8,
        value: impl Fn(u32) -> u64,
    ) {
        let position = self.events.len() as u32;
        let thread = pick.thread.0 as usize;
        self.begin(thread, next.causes);
        self.join_all(thread, next.follows.as_slice());
        let first_race = self.races.len() as u32;
        self.find_races(next.accesses, &open);
        // After the races: without what is overtaken, others would have opened the gate.
        self.join_all(thread, next.enablers);
        let index = self.by_thread[thread].len() as u32;
        self.by_thread[thread].push(position);
        let own = position as usize * self.width + thread / LANES;
        self.clocks[own][thread % LANES] = index + 1;
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
        let before = next.accesses.first().map_or(0, |access| value(access.object));
        let Next { choices, writes_if, .. } = next;
        self.events.push(Event { step, index, choices, before, writes_if, first_race });
    }

    /// The step of an event as it would be if it came before another that it is in a race with.
    #[inline]
    pub(crate) fn step_before(&self, overtaken: usize, event: usize) -> Step {
        let Event { step, writes_if, .. } = &self.events[event];
        self.foreseen(overtaken, step.clone(), *writes_if)
    }

    /// A step as it would be if it came before an event that it is in a race with: whether it writes
    /// depends on the value that it would find. What comes between does not write the object: it does
    /// not happen after the event, which accesses the object.
    #[inline]
    pub(crate) fn foreseen(
        &self,
        overtaken: usize,
        mut step: Step,
        writes_if: Option<u64>,
    ) -> Step {
        if let Some(wanted) = writes_if {
            let overtaken = &self.events[overtaken];
            let object = |step: &Step| step.accesses.as_slice().first().map(|access| access.object);
            let known = object(&overtaken.step) == object(&step);
            step.accesses.set_write(!known || overtaken.before == wanted);
        }
        // In which ways it can be taken there is known only there.
        step.pick.choice = 0;
        step
    }

    /// The events that an event could have come before, as a part of [`History::race`].
    #[inline]
    pub(crate) fn races(&self, event: usize) -> Range<usize> {
        let end =
            self.events.get(event + 1).map_or(self.races.len() as u32, |next| next.first_race);
        self.events[event].first_race as usize..end as usize
    }

    /// One of all races.
    #[inline]
    pub(crate) fn race(&self, number: usize) -> usize {
        self.races[number] as usize
    }

    /// The races of a step that is announced but not made.
    pub(crate) fn races_of(
        &mut self,
        pick: Pick,
        next: Next<'_>,
        open: impl Fn(u32) -> u8,
    ) -> SmallVec<[u32; 4]> {
        self.begin(pick.thread.0 as usize, next.causes);
        self.join_all(pick.thread.0 as usize, next.follows.as_slice());
        let start = self.races.len();
        self.find_races(next.accesses, &open);
        self.clocks.truncate(self.events.len() * self.width);
        self.races.drain(start..).collect()
    }

    /// Has an event happened?
    pub(crate) fn has(&self, event: EventId) -> bool {
        let events = self.by_thread.get(event.thread.0 as usize);
        events.is_some_and(|events| events.len() > event.index as usize)
    }

    /// Takes the execution back to so many events.
    pub(crate) fn truncate(&mut self, length: usize) {
        while self.events.len() > length {
            let Some(event) = self.events.pop() else { return };
            self.races.truncate(event.first_race as usize);
            self.by_thread[event.step.pick.thread.0 as usize].pop();
            for access in event.step.accesses.as_slice() {
                self.by_object[access.object as usize].pop();
            }
        }
        self.clocks.truncate(length * self.width);
    }

    /// For each thread the least that the clocks of the events from here on say about it.
    #[inline]
    pub(crate) fn least_from(&self, start: usize, least: &mut Vec<Piece>) {
        let mut clocks = self.clocks[start * self.width..].iter();
        least.clear();
        if self.width == 1 {
            let mut only = [u32::MAX; LANES];
            clocks.for_each(|known| meet(&mut only, known));
            return least.push(only);
        }
        least.resize(self.width, [u32::MAX; LANES]);
        while clocks.len() > 0 {
            for (least, known) in least.iter_mut().zip(clocks.by_ref()) {
                meet(least, known);
            }
        }
    }

    /// Do all events that `least` was made from happen after this event?
    #[inline]
    pub(crate) fn all_after(&self, event: usize, least: &[Piece]) -> bool {
        let event = &self.events[event];
        about(least, event.step.pick.thread.0 as usize) > event.index
    }

    /// Begins a clock with what happens before a step of the thread in any case.
    #[inline]
    fn begin(&mut self, thread: usize, causes: &[EventId]) {
        if thread >= self.by_thread.len() {
            self.widen(thread + 1);
        }
        let before = self.by_thread[thread].last().map(|&last| last as usize * self.width);
        for piece in 0..self.width {
            let piece = before.map_or([0; LANES], |start| self.clocks[start + piece]);
            self.clocks.push(piece);
        }
        self.join_all(thread, causes);
    }

    /// Adds what events know to the clock of the step under examination, which is one of the thread.
    #[inline(always)]
    fn join_all(&mut self, thread: usize, causes: &[EventId]) {
        match causes {
            [] => {}
            // Nearly always what happened before is the thread's own last step.
            [cause] if cause.thread.0 as usize == thread => {}
            _ => self.join_others(thread, causes),
        }
    }

    fn join_others(&mut self, thread: usize, causes: &[EventId]) {
        for cause in causes.iter().filter(|cause| cause.thread.0 as usize != thread) {
            let events = self.by_thread.get(cause.thread.0 as usize);
            if let Some(&position) = events.and_then(|events| events.get(cause.index as usize)) {
                self.join(position);
            }
        }
    }

    /// Adds what the event knows to the clock of the step under examination.
    #[inline]
    fn join(&mut self, position: u32) {
        let (known, clock) = self.clocks.split_at_mut(self.events.len() * self.width);
        join(clock, &known[position as usize * self.width..]);
    }

    /// Does the step under examination happen after the event in any case?
    #[inline]
    fn is_known(&self, position: u32) -> bool {
        self.before(position as usize, self.events.len())
    }

    /// Is the last access to the object, if there was any, a write that the step under examination
    /// happens after in any case?
    #[inline]
    fn is_last_write_known(&self, object: u32) -> bool {
        let last = self.by_object.get(object as usize).and_then(|entries| entries.last());
        last.is_none_or(|entry| entry.write && self.is_known(entry.position))
    }

    /// Makes room for more threads in every clock.
    fn widen(&mut self, threads: usize) {
        let width = threads.next_power_of_two().div_ceil(LANES);
        let mut clocks = Vec::with_capacity(self.events.len() * width);
        for clock in self.clocks.chunks_exact(self.width.max(1)) {
            clocks.extend_from_slice(clock);
            clocks.resize(clocks.len() + width - self.width, [0; LANES]);
        }
        self.clocks = clocks;
        self.width = width;
        self.by_thread.resize_with(width * LANES, Vec::new);
    }

    /// Appends the races of a step whose clock was begun, and completes the clock.
    #[inline]
    fn find_races(&mut self, accesses: &[Access], open: &impl Fn(u32) -> u8) {
        match accesses {
            [access] if access.gate == 0 => self.single_races(*access),
            // Whatever came before happens before the last write.
            [access] if self.is_last_write_known(access.object) => {}
            _ => self.several_races(accesses, open),
        }
    }

    fn several_races(&mut self, accesses: &[Access], open: &impl Fn(u32) -> u8) {
        let gated = accesses.iter().any(|access| access.gate != 0);
        if gated {
            self.gated_races(accesses, open);
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
                    self.races.push(position);
                }
                self.join(position);
            }
        }
    }

    /// For the usual step, with one access that waits for nothing: the entries of its object that
    /// it conflicts with are in the order in which they have to be looked at.
    #[inline]
    fn single_races(&mut self, access: Access) {
        let Some(entries) = self.by_object.get(access.object as usize) else { return };
        let mut rest = &entries[..];
        while let [earlier @ .., entry] = rest {
            if (access.write | entry.write) && !self.is_known(entry.position) {
                let (known, clock) = self.clocks.split_at_mut(self.events.len() * self.width);
                self.races.push(entry.position);
                join(clock, &known[entry.position as usize * self.width..]);
            }
            if entry.write {
                // Whatever came before happens before this.
                return;
            }
            rest = match (access.write, entry.last_write) {
                (true, _) => earlier,
                (false, last_write) => &entries[..last_write as usize],
            };
        }
    }

    /// For a step that waits for gates: the latest events on its objects without which, and
    /// without what happens after them, a gate is open.
    fn gated_races(&mut self, accesses: &[Access], open: &impl Fn(u32) -> u8) {
        let start = self.races.len();
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
        for index in 0..self.candidates.len() {
            let position = self.candidates[index];
            let earlier = position as usize;
            if !self.races[start..].iter().any(|&later| self.before(earlier, later as usize)) {
                self.races.push(position);
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
