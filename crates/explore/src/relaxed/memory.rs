//! RC11 as a machine: one execution in which each step chooses among the writes that are there.
//!
//! Every execution graph is made by some order of such steps, so the searches over schedules, replay and
//! simplification use this. A choice is a number that depends on nothing but the graph: how many writes
//! of the variable are later in modification order than the one that is read or followed.

use smallvec::SmallVec;

use crate::relaxed::contract::{Atomic, Directions};
use crate::relaxed::graph::{Graph, INITIAL, Objects};
use crate::relaxed::placement::{NextEvent, Placement, Planner};
use crate::system::ThreadId;
use crate::threaded::EventId;

/// The atomic variables of one execution under RC11.
#[derive(Clone, Default, Debug)]
pub struct Memory {
    graph: Graph,
    placements: Vec<Placement>,
    /// What threads that go round once more do not read again.
    stale: Vec<Stale>,
}

/// A thread has waited in a loop although it could have read something else. If it goes round once more, it
/// does: a round like the last one would change nothing.
#[derive(Clone, Copy, Debug)]
struct Stale {
    thread: ThreadId,
    location: u32,
    /// What it has read.
    source: EventId,
}

/// A step that a thread has announced, as far as it concerns its atomic variable.
#[derive(Clone, Copy, Debug)]
pub struct Announced<'r> {
    /// Whose step.
    pub thread: ThreadId,
    /// What it does to its atomic variable.
    pub atomic: Option<Atomic>,
    /// As in [`crate::Next`].
    pub causes: &'r [EventId],
    /// The initial value of the variable.
    pub initial: u64,
}

impl Memory {
    /// Forgets the execution.
    pub fn restart(&mut self) {
        self.graph.clear();
        self.stale.clear();
    }

    /// A thread that waits in a loop goes round once more. Its last round has begun with this event.
    pub fn go_round(&mut self, thread: ThreadId, first: u32) {
        self.stale.retain(|stale| stale.thread != thread);
        let Some(row) = self.graph.rows.get(thread.0 as usize) else { return };
        for event in row.events.iter().skip(first as usize).filter(|event| event.reads) {
            if self.graph.is_stale(event) {
                let (location, source) = (event.location, event.source);
                self.stale.push(Stale { thread, location, source });
            }
        }
    }

    /// Does the thread read again what it must not?
    fn repeats(&self, announced: &Announced<'_>, placement: Placement) -> bool {
        let location = announced.atomic.and_then(Atomic::location);
        let mut known = self.stale.iter();
        let stale = known
            .find(|stale| stale.thread == announced.thread && Some(stale.location) == location);
        stale.is_some_and(|stale| {
            let position = |write| self.graph.position(stale.location, write);
            let fails = !placement.writes && placement.choice != 0;
            fails || position(placement.source) <= position(stale.source) && !placement.writes
        })
    }

    /// Fills `choices` with the ways in which a step at an atomic variable can be made.
    pub fn choices(&mut self, announced: &Announced<'_>, choices: &mut Vec<u32>) {
        choices.clear();
        let Some(atomic) = announced.atomic else { return };
        self.plan(announced);
        for index in 0..self.placements.len() {
            let placement = self.placements[index];
            self.add(announced, placement);
            let last = self.graph.last_of(announced.thread);
            let allowed = index == 0 || self.graph.allows_last(last);
            self.graph.remove_last();
            if allowed && !self.repeats(announced, placement) {
                choices.push(self.graph.choice(atomic, placement));
            }
        }
    }

    /// Adds a step in one of the ways in which it can be made. Gives what it is to do, or nothing if it
    /// cannot be made in this way; after the step, [`Memory::end`] is told.
    pub fn begin(&mut self, announced: &Announced<'_>, choice: u32) -> Option<Directions> {
        let Some(atomic) = announced.atomic else {
            self.add(announced, Placement { choice, ..Placement::PLAIN });
            return Some(Directions { choice, source: None, value: 0, writes: false });
        };
        self.plan(announced);
        let graph = &self.graph;
        let chosen = self.placements.iter().find(|&&one| graph.choice(atomic, one) == choice);
        let placement = *chosen?;
        self.add(announced, placement);
        let Announced { thread, atomic: Some(atomic), .. } = *announced else { return None };
        let read =
            |stale: &Stale| stale.thread == thread && Some(stale.location) == atomic.location();
        self.stale.retain(|stale| !read(stale));
        let Placement { source, writes, .. } = placement;
        let value = match source {
            INITIAL => announced.initial,
            source => self.graph.event(source).value,
        };
        let last = self.graph.last_of(announced.thread);
        self.graph.event_mut(last).found = value;
        let source = (source != INITIAL).then_some(source);
        Some(Directions { choice, source, value, writes })
    }

    /// The step that was begun was made, and has written this if it writes.
    pub fn end(&mut self, thread: ThreadId, written: u64) {
        let last = self.graph.last_of(thread);
        self.graph.event_mut(last).value = written;
    }

    /// Could a thread see something else if it did what it has done since this event once more?
    pub fn may_read_otherwise(&self, thread: ThreadId, first: u32) -> bool {
        self.graph.may_read_otherwise(thread, first)
    }

    fn plan(&mut self, announced: &Announced<'_>) {
        let Memory { graph, placements, .. } = self;
        placements.clear();
        graph.begin(announced.thread, announced.causes, None);
        let value = |_, write| match write {
            INITIAL => announced.initial,
            write => graph.event(write).value,
        };
        Planner { graph, source: None, follows: None, value, placements }.plan(announced.atomic);
    }

    fn add(&mut self, announced: &Announced<'_>, placement: Placement) {
        let Announced { thread, atomic, causes, .. } = *announced;
        // Nothing is taken away here, so it does not matter what a step depends on.
        let (objects, enablers) = (Objects::new(), SmallVec::new());
        let (causes, follows) = (causes.into(), None);
        let next = NextEvent { thread, atomic, causes, follows, objects, enablers };
        self.graph.add_placed(&next, placement, None);
    }
}
