//! TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly stateless, optimal dynamic partial order
//! reduction, POPL 2022, algorithm 1), depth first.
//!
//! An execution graph grows by the next event of the first thread that can make one, in every way that the
//! memory model allows. A write also revisits earlier reads that it does not depend on: these read from it
//! instead, and what was added after them is taken away unless the write depends on it. Of all executions
//! that lead to the same revisit, only the one in which everything that is taken away was added in the
//! canonical way (*maximally*) performs it. So each graph is reached exactly once, and nothing has to be
//! remembered but the graphs on the way.
//!
//! A graph is made real by performing its events, in an order that respects what they depend on, from the
//! start of an execution. Going deeper needs no new start.
//!
//! | TruSt | here |
//! |---|---|
//! | next_P | [`Search::next_thread`] |
//! | VISIT | [`Search::descend`] and [`Search::backtrack`] |
//! | SETRF, SETCO | [`Search::apply`] |
//! | cons_m | `consistency.rs` |

use rustc_hash::FxHashMap;

use crate::limits::{Limits, Meter};
use crate::relaxed::contract::{Atomic, Directions, Relaxed};
use crate::relaxed::graph::{Clock, Cut, Event, Graph, INITIAL, NOWHERE, Objects, join};
use crate::relaxed::placement::{NextEvent, Placement, Planner};
use crate::report::{Found, Report};
use crate::system::ThreadId;
use crate::threaded::{EventId, Pick};

/// Explores one execution for each execution graph that RC11 allows. The visitor sees each complete
/// execution and its outcome; the search ends as if interrupted when it answers `false`.
pub fn relaxed<S: Relaxed>(
    system: &mut S,
    limits: &Limits<'_>,
    mut visit: impl FnMut(&S, &S::Outcome) -> bool,
) -> Report<S::Outcome, Pick> {
    let mut search = Search::new(system);
    let mut meter = Meter::default();
    loop {
        let end = search.descend(limits, &mut meter);
        if matches!(end, End::Interrupted | End::Exhausted) {
            break;
        }
        if !search.system.has_ended() {
            search.plan_blocked();
        }
        if end == End::Unfair {
            search.note_unfair();
        }
        let go_on = search.conclude(end, &mut visit);
        let executions = search.report.executions;
        if let Some(progress) = limits.progress {
            progress(executions);
        }
        if !search.backtrack() {
            break;
        }
        if !go_on {
            meter.bounded_by("stopped by the visitor");
            break;
        }
        if meter.stops(limits, executions)
            || meter.fills(limits, search.bytes())
            || (limits.stop_when_cut && end == End::Cut)
        {
            break;
        }
    }
    let mut report = search.report;
    if search.diverged {
        meter.bounded_by("the program did not repeat itself");
        report.redundant += 1;
    }
    report.coverage = meter.coverage();
    report
}

/// How a descent ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nothing is enabled any more.
    Complete,
    /// Nothing is enabled any more, and a thread waits in a loop for a value that is there already. This
    /// is no execution of its own: the loop goes on, as in the executions in which it has read that value
    /// at once.
    Unfair,
    /// The execution is as long as allowed.
    Cut,
    /// Nothing is left to try.
    Exhausted,
    /// Somebody asked to stop.
    Interrupted,
}

/// An event that was added in one way after the other.
struct Node {
    event: NextEvent,
    /// Where its placements begin on the stack of placements; they end where those of the next node
    /// begin.
    first: usize,
    /// The placement to be tried next.
    next: usize,
    /// Is the event there now, by the placement before that?
    is_placed: bool,
    /// Can the event not be added at the end of the execution?
    is_blocked: bool,
    /// Is the graph before the event on the stack of saved ones?
    saved: bool,
    /// The stamp of the event, if it is a read that was revisited.
    stamp: Option<u32>,
}

/// A read that was revisited, and is to be added again.
#[derive(Clone, Copy)]
struct Revisited {
    thread: ThreadId,
    /// The write that it reads from now.
    source: EventId,
    stamp: u32,
}

struct Search<'s, S: Relaxed> {
    system: &'s mut S,
    graph: Graph,
    nodes: Vec<Node>,
    placements: Vec<Placement>,
    saved: Vec<Graph>,
    /// Graphs whose memory can be used again.
    spare: Vec<Graph>,
    revisited: Option<Revisited>,
    diverged: bool,
    /// How many executions have ended unfairly.
    unfair: u64,
    report: Report<S::Outcome, Pick>,
    seen: FxHashMap<S::Outcome, ()>,
    outcome_bytes: usize,
}

impl<'s, S: Relaxed> Search<'s, S> {
    fn new(system: &'s mut S) -> Self {
        system.restart();
        Search {
            system,
            graph: Graph::default(),
            nodes: Vec::new(),
            placements: Vec::new(),
            saved: Vec::new(),
            spare: Vec::new(),
            revisited: None,
            diverged: false,
            unfair: 0,
            report: Report::new(),
            seen: FxHashMap::default(),
            outcome_bytes: 0,
        }
    }

    /// Roughly how many bytes are in use.
    fn bytes(&self) -> usize {
        let graphs = self.saved.len() + self.spare.len() + 1;
        graphs * self.graph.len() * (size_of::<Event>() + 128)
            + self.placements.capacity() * size_of::<Placement>()
            + self.outcome_bytes
    }

    /// The thread that makes the next event: the first one that can.
    fn next_thread(&self) -> Option<ThreadId> {
        (0..self.system.threads()).map(ThreadId).find(|&thread| self.system.enabled(thread))
    }

    /// Adds events, each in the first of its ways, to the end of an execution.
    fn descend(&mut self, limits: &Limits<'_>, meter: &mut Meter) -> End {
        loop {
            let revisited = self.revisited.take();
            if self.system.has_ended() {
                return End::Complete;
            }
            let next = revisited.map(|revisited| revisited.thread);
            let Some(thread) = next.or_else(|| self.next_thread()) else {
                return if self.is_unfair() { End::Unfair } else { End::Complete };
            };
            if meter.cuts(limits, self.graph.len()) {
                return End::Cut;
            }
            self.plan(thread, revisited);
            if !self.take_next(true) && !self.backtrack() {
                return End::Exhausted;
            }
            if meter.interrupted(limits) {
                return End::Interrupted;
            }
        }
    }

    /// Does a thread wait in a loop that would go on?
    fn is_unfair(&self) -> bool {
        let mut threads = (0..self.system.threads()).map(ThreadId);
        threads.any(|thread| {
            let first = self.system.waits_since(thread);
            first.is_some_and(|first| self.graph.may_read_otherwise(thread, first))
        })
    }

    /// The step that a thread has announced.
    fn next_event(&self, thread: ThreadId) -> Option<NextEvent> {
        let next = self.system.next(thread)?;
        let others = next.causes.iter().copied().filter(|cause| cause.thread != thread);
        let (causes, atomic) = (others.collect(), self.system.atomic(thread));
        let objects = next.accesses.iter().map(|access| access.object);
        let objects = objects.filter(|&object| object != u32::MAX && atomic.is_none());
        let mut objects: Objects = objects.collect();
        objects.sort_unstable();
        objects.dedup();
        let enablers = next.enablers.iter().copied().collect();
        let follows = next.follows;
        Some(NextEvent { thread, atomic, causes, follows, objects, enablers })
    }

    /// Lists the ways to add the next event of a thread, which may be a read that was revisited.
    fn plan(&mut self, thread: ThreadId, revisited: Option<Revisited>) {
        let Some(event) = self.next_event(thread) else { return };
        let choices = self.system.next(thread).map_or(1, |next| next.choices);
        let Search { system, graph, placements, .. } = self;
        let first = placements.len();
        graph.begin(thread, &event.causes, event.follows);
        let value = |location, write| match write {
            INITIAL => system.initial(location),
            write => graph.event(write).value,
        };
        let source = revisited.map(|revisited| revisited.source);
        let follows = event.follows;
        let mut planner = Planner { graph, source, follows, value, placements };
        planner.plan(event.atomic);
        planner.plan_revisits(event.atomic);
        if event.atomic.is_none() {
            let plain = |choice| Placement { choice, ..Placement::PLAIN };
            placements.extend((1..choices).map(plain));
            graph.plan_advances(&event, placements);
        }
        let stamp = revisited.map(|revisited| revisited.stamp);
        self.push(event, first, stamp, false);
    }

    fn push(&mut self, event: NextEvent, first: usize, stamp: Option<u32>, is_blocked: bool) {
        let (next, saved, is_placed) = (first, false, false);
        self.nodes.push(Node { event, first, next, is_placed, is_blocked, saved, stamp });
    }

    /// An execution has come to its end. Lists the ways in which the steps that are blocked there could
    /// have been made earlier.
    fn plan_blocked(&mut self) {
        for thread in (0..self.system.threads()).map(ThreadId) {
            let waits_in_loop = self.system.waits_since(thread).is_some();
            if waits_in_loop || self.system.enabled(thread) {
                continue;
            }
            let Some(event) = self.next_event(thread) else { continue };
            if event.follows.is_some_and(|first| !self.graph.has(first)) {
                // The thread that goes first is blocked too, and does the same.
                continue;
            }
            let first = self.placements.len();
            self.graph.begin(thread, &event.causes, event.follows);
            self.graph.plan_advances(&event, &mut self.placements);
            if first < self.placements.len() {
                self.push(event, first, None, true);
            }
        }
    }

    /// Adds the event of the last node in the next way that is possible. Says whether there was one.
    fn take_next(&mut self, mut in_place: bool) -> bool {
        loop {
            let Some(node) = self.nodes.last_mut() else { return false };
            let Some(&placement) = self.placements.get(node.next) else { return false };
            let is_first = node.next == node.first;
            let is_maximal = is_first && node.stamp.is_none() && !node.is_blocked;
            node.next += 1;
            let is_placed = self.apply(placement, is_maximal, in_place);
            if !is_placed {
                self.undo(placement);
            }
            if let Some(node) = self.nodes.last_mut() {
                node.is_placed = is_placed;
            }
            if is_placed {
                return true;
            }
            in_place = false;
        }
    }

    /// Adds the event of the last node in one way and makes the execution that of the graph. Says whether
    /// that is possible and the memory model allows it.
    fn apply(&mut self, placement: Placement, is_maximal: bool, in_place: bool) -> bool {
        let is_atomic = self.nodes.last().is_some_and(|node| node.event.atomic.is_some());
        match placement.revisits {
            Some(read) if is_atomic => self.revisit(placement, read),
            Some(rival) => self.advance(placement, rival),
            None => {
                self.add_own(placement);
                if !is_maximal && !self.is_allowed() {
                    return false;
                }
                if in_place { self.perform_last() } else { self.replay() }
            }
        }
    }

    /// Adds the event of the last node, which is no access to an atomic variable, before an earlier one.
    fn advance(&mut self, placement: Placement, rival: EventId) -> bool {
        self.save();
        let Some(node) = self.nodes.last_mut() else { return false };
        let thread = node.event.thread;
        self.graph.begin(thread, &node.event.causes, node.event.follows);
        let Some(cut) = self.graph.kept_before(rival, &node.event) else { return false };
        self.graph.restrict(&cut);
        if !self.replay() {
            return false;
        }
        if self.system.has_ended() {
            return true;
        }
        if !self.system.enabled(thread) {
            return false;
        }
        let (event, next) = (self.next_event(thread), self.system.next(thread));
        let (Some(event), Some(choices)) = (event, next.map(|next| next.choices)) else {
            return false;
        };
        if placement.choice == 0 {
            let other = |choice| Placement { choice, ..placement };
            self.placements.extend((1..choices).map(other));
        }
        if let Some(node) = self.nodes.last_mut() {
            node.event = event;
        }
        self.add_own(placement);
        self.perform_last()
    }

    /// Adds the event of the last node and lets an earlier read read from it.
    fn revisit(&mut self, placement: Placement, read: EventId) -> bool {
        self.save();
        let Some(node) = self.nodes.last() else { return false };
        let thread = node.event.thread;
        let stamp = self.graph.stamp(read);
        self.graph.begin(thread, &node.event.causes, node.event.follows);
        let mut past = Cut::from_slice(&self.graph.draft.past);
        if placement.source != INITIAL {
            join(&mut past, self.graph.clock(placement.source, Clock::Past));
        }
        let cut = self.graph.cut_before(stamp, &past);
        self.graph.restrict(&cut);
        let write = self.graph.next_of(thread);
        self.add_own(placement);
        let allowed = self.is_allowed() && self.replay();
        let revisited = Revisited { thread: read.thread, source: write, stamp };
        self.revisited = allowed.then_some(revisited);
        allowed
    }

    /// Adds the event of the last node.
    fn add_own(&mut self, placement: Placement) {
        let Some(node) = self.nodes.last() else { return };
        self.graph.add_placed(&node.event, placement, node.stamp);
    }

    /// Does the memory model allow the graph, the last event of which was added in some way?
    fn is_allowed(&self) -> bool {
        let last = self.graph.performed.last();
        last.is_none_or(|&thread| self.graph.allows_last(self.graph.last_of(ThreadId(thread))))
    }

    /// Performs the last event of the graph.
    fn perform_last(&mut self) -> bool {
        let Some(&thread) = self.graph.performed.last() else { return false };
        let last = self.graph.last_of(ThreadId(thread));
        let all = self.graph.rows.iter().map(|row| row.events.len() as u32).collect::<Cut>();
        self.perform(last, &all)
    }

    /// Performs all events of the graph from the start of an execution. Says whether that was possible.
    fn replay(&mut self) -> bool {
        self.system.restart();
        let mut counts = Cut::from_elem(0, self.graph.rows.len());
        for number in 0..self.graph.performed.len() {
            let thread = self.graph.performed[number];
            let index = counts[thread as usize];
            counts[thread as usize] += 1;
            if !self.perform(EventId { thread: ThreadId(thread), index }, &counts) {
                return false;
            }
        }
        true
    }

    /// Performs an event after all others of the cut.
    #[inline]
    fn perform(&mut self, id: EventId, cut: &[u32]) -> bool {
        if !self.system.enabled(id.thread) {
            self.diverged |= !self.system.has_ended();
            return self.system.has_ended();
        }
        let location = self.system.atomic(id.thread).and_then(Atomic::location);
        if location.unwrap_or(NOWHERE) != self.graph.event(id).location {
            // The same step was made at another variable before.
            self.diverged = true;
            return false;
        }
        let choice = self.graph.choice_in(id, cut);
        self.graph.event_mut(id).pick = choice;
        let Event { location, reads, writes, source, .. } = *self.graph.event(id);
        let value = match source {
            _ if !reads => 0,
            INITIAL => self.system.initial(location),
            source => self.graph.event(source).value,
        };
        self.graph.event_mut(id).found = value;
        let source = (reads && source != INITIAL).then_some(source);
        self.system.perform(id.thread, Directions { choice, source, value, writes });
        self.report.transitions += 1;
        if writes {
            self.graph.event_mut(id).value = self.system.written(id.thread);
        }
        true
    }

    /// Keeps a copy of the graph before the event of the last node, if there is none yet.
    fn save(&mut self) {
        let Some(node) = self.nodes.last_mut() else { return };
        if !std::mem::replace(&mut node.saved, true) {
            let mut copy = self.spare.pop().unwrap_or_default();
            copy.clone_from(&self.graph);
            self.saved.push(copy);
        }
    }

    /// Takes the event of the last node away again.
    fn undo(&mut self, placement: Placement) {
        if placement.revisits.is_none() {
            self.graph.remove_last();
        } else if let Some(saved) = self.saved.last() {
            self.graph.clone_from(saved);
        }
    }

    /// Takes up the outcome of an execution.
    fn conclude(&mut self, end: End, visit: &mut impl FnMut(&S, &S::Outcome) -> bool) -> bool {
        if end == End::Unfair {
            return true;
        }
        self.report.executions += 1;
        if end == End::Cut {
            self.report.cut += 1;
            return true;
        }
        let outcome = self.system.outcome();
        let go_on = visit(self.system, &outcome);
        if !self.seen.contains_key(&outcome) {
            let trace = self.trace();
            self.outcome_bytes += size_of_val(&trace[..]) + 2 * size_of::<S::Outcome>() + 512;
            self.seen.insert(outcome.clone(), ());
            self.report.found.push(Found { outcome, trace });
        }
        go_on
    }

    /// The execution has ended unfairly.
    fn note_unfair(&mut self) {
        self.unfair += 1;
        if self.unfair.is_power_of_two() {
            let steps = self.trace();
            self.system.ended_unfairly(&steps);
        }
    }

    fn trace(&self) -> Vec<Pick> {
        let mut counts = vec![0; self.graph.rows.len()];
        let pick = |&thread: &u32| {
            let index: &mut usize = &mut counts[thread as usize];
            *index += 1;
            let choice = self.graph.rows[thread as usize].events[*index - 1].pick;
            Pick { thread: ThreadId(thread), choice }
        };
        self.graph.performed.iter().map(pick).collect()
    }

    /// Goes back to the last node with a way left to try, and adds its event in that way. Says whether
    /// there was one.
    fn backtrack(&mut self) -> bool {
        while let Some(node) = self.nodes.last() {
            if node.is_placed {
                self.undo(self.placements[node.next - 1]);
            }
            if self.take_next(false) {
                return true;
            }
            let Some(node) = self.nodes.pop() else { break };
            self.placements.truncate(node.first);
            if node.saved {
                self.spare.extend(self.saved.pop());
            }
        }
        false
    }
}
