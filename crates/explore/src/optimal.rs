//! Optimal stateless search for deterministic threads (Abdulla, Aronis, Jonsson, Sagonas: Optimal
//! Dynamic Partial Order Reduction, 2014, algorithm 2): what `dpor.rs` does for any system, at a
//! fraction of the cost for a [`Threaded`] one. The argument for why nothing is forgotten is there.
//!
//! | paper | here |
//! |---|---|
//! | E | the history |
//! | sleep(E) | [`Node::sleep`], with the explored branches added |
//! | wut(E) | [`Node::tree`] |
//! | e ≾ e' | [`History::races`] |
//! | notdep(e, E)·proc(e') | [`Search::plan`] |
//!
//! A reversal is planned again for a later execution only if notdep has changed since.
//!
//! The first nodes of an execution may be shared with other searches of the same system
//! (`parallel.rs`): what is planned there is theirs as well.

use std::ops::Range;

use crate::forest::{Forest, Initial, Place, Sequence, weak_initial};
use crate::history::{History, Piece};
use crate::limits::{Limits, Meter};
use crate::parallel::Prefix;
use crate::report::{Found, Report};
use crate::system::ThreadId;
use crate::threaded::{Accesses, Pick, Step, Threaded};
use rustc_hash::FxHashMap;

/// Explores one execution for each Mazurkiewicz trace of the system. The visitor sees each complete
/// execution and its outcome; the search ends as if interrupted when it answers `false`.
pub fn optimal<S: Threaded>(
    system: &mut S,
    limits: &Limits<'_>,
    mut visit: impl FnMut(&S, &S::Outcome) -> bool,
) -> Report<S::Outcome, Pick> {
    let mut search = Search::new(system);
    let mut meter = Meter::default();
    loop {
        let end = search.descend(limits, &mut meter);
        if end == End::Interrupted {
            break;
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
    report.coverage = meter.coverage();
    report
}

/// How a descent ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing is enabled any more.
    Complete,
    /// The execution is as long as allowed.
    Cut,
    /// All that is enabled is asleep.
    Asleep,
    /// Somebody asked to stop.
    Interrupted,
}

/// A state on the current execution.
pub(crate) struct Node {
    /// What is to be tried from here, the branch under exploration excluded.
    pub(crate) tree: Place,
    /// What need not be done here because an explored execution covers it: a range of the stack of
    /// sleepers.
    pub(crate) sleep: Range<usize>,
    /// Has notdep of the event made here changed since its reversals were planned?
    stale: bool,
}

pub(crate) struct Search<'s, S: Threaded> {
    pub(crate) system: &'s mut S,
    pub(crate) history: History,
    pub(crate) forest: Forest,
    pub(crate) nodes: Vec<Node>,
    pub(crate) sleepers: Vec<Step>,
    /// The nodes that are shared with other searches: the first ones.
    pub(crate) prefix: Prefix,
    /// Events from here on are new since reversals were last planned.
    fresh: usize,
    pub(crate) report: Report<S::Outcome, Pick>,
    seen: FxHashMap<S::Outcome, ()>,
    outcome_bytes: usize,
    least: Vec<Piece>,
}

impl<'s, S: Threaded> Search<'s, S> {
    pub(crate) fn new(system: &'s mut S) -> Self {
        system.restart();
        Search {
            system,
            history: History::default(),
            forest: Forest::default(),
            nodes: vec![Node { tree: Place::NONE, sleep: 0..0, stale: true }],
            sleepers: Vec::new(),
            prefix: Prefix::default(),
            fresh: 0,
            report: Report::new(),
            seen: FxHashMap::default(),
            outcome_bytes: 0,
            least: Vec::new(),
        }
    }

    /// Begins anew at the end of a path through shared nodes, with a branch of the last one. All
    /// sleepers sleep beside it. Says whether the system could follow the path.
    pub(crate) fn resume(&mut self, prefix: Prefix, path: &[Pick], branch: Pick) -> bool {
        self.history.truncate(0);
        self.nodes.clear();
        self.forest = Forest::default();
        self.fresh = 0;
        self.prefix = prefix;
        self.system.restart();
        for &pick in path {
            if !self.system.enabled(pick.thread) {
                return false;
            }
            let Some(next) = self.system.next(pick.thread) else { return false };
            let system = &*self.system;
            let (open, value) = (|object| system.open(object), |object| system.value(object));
            self.history.push(pick, next, open, value);
            self.system.step(pick.thread, pick.choice);
            self.nodes.push(Node { tree: Place::NONE, sleep: 0..0, stale: true });
        }
        let sleep = 0..self.sleepers.len();
        self.nodes.push(Node { tree: Place::NONE, sleep, stale: true });
        let possible = self.system.enabled(branch.thread);
        if possible {
            self.perform(branch, Place::NONE);
        }
        possible
    }

    /// Roughly how many bytes are in use.
    pub(crate) fn bytes(&self) -> usize {
        self.forest.bytes() + self.outcome_bytes
    }

    /// Follows the wakeup tree, then anything, to the end of an execution.
    pub(crate) fn descend(&mut self, limits: &Limits<'_>, meter: &mut Meter) -> End {
        loop {
            let tree = self.nodes.last().map_or(Place::NONE, |node| node.tree);
            if tree.is_none() {
                match self.anything() {
                    Ok(pick) => {
                        if meter.cuts(limits, self.history.len()) {
                            return End::Cut;
                        }
                        self.perform(pick, Place::NONE);
                    }
                    Err(end) => return end,
                }
            } else {
                if meter.cuts(limits, self.history.len()) {
                    return End::Cut;
                }
                if !self.follow_tree(tree) {
                    // If something else is possible, the system does not do the same again.
                    return if self.goes_astray() { End::Asleep } else { End::Complete };
                }
            }
            if meter.interrupted(limits) {
                return End::Interrupted;
            }
        }
    }

    /// Is a step possible after one that was planned was not?
    #[cold]
    fn goes_astray(&self) -> bool {
        self.anything().is_ok()
    }

    /// An enabled step that is not asleep.
    #[inline(always)]
    fn anything(&self) -> Result<Pick, End> {
        let asleep = self.nodes.last().map_or(&[][..], |node| &self.sleepers[node.sleep.clone()]);
        let mut end = End::Complete;
        for number in 0..self.system.threads() {
            let thread = ThreadId(number);
            if !self.system.enabled(thread) {
                continue;
            }
            let choices = self.system.next(thread).map_or(1, |next| next.choices);
            let awake = (0..choices)
                .map(|choice| Pick { thread, choice })
                .find(|pick| !asleep.iter().any(|sleeper| sleeper.pick == *pick));
            if let Some(pick) = awake {
                return Ok(pick);
            }
            end = End::Asleep;
        }
        Err(end)
    }

    /// Makes the step at the head of the last node's tree. It is possible, unless the execution has
    /// come to a premature end (see [`Threaded::enabled`]): then all that was planned here is void. Or
    /// the system breaks its contract, and does not do the same again.
    fn follow_tree(&mut self, tree: Place) -> bool {
        let pick = self.forest.step(tree).pick;
        if !self.system.enabled(pick.thread) {
            if let Some(node) = self.nodes.last_mut() {
                node.tree = Place::NONE;
            }
            return false;
        }
        let (children, rest) = self.forest.take_first(tree);
        if let Some(node) = self.nodes.last_mut() {
            node.tree = rest;
        }
        self.perform(pick, children);
        true
    }

    /// Makes a step from the last node, and arrives in a new one.
    #[inline(always)]
    fn perform(&mut self, pick: Pick, tree: Place) {
        let Some(next) = self.system.next(pick.thread) else { return };
        let system = &*self.system;
        let (open, value) = (|object| system.open(object), |object| system.value(object));
        self.history.push(pick, next, open, value);
        self.system.step(pick.thread, pick.choice);
        self.report.transitions += 1;
        let step = &self.history.events[self.history.len() - 1].step;
        let start = self.sleepers.len();
        let asleep = self.nodes.last().map_or(0..0, |node| node.sleep.clone());
        for index in asleep {
            let sleeper = &self.sleepers[index];
            if sleeper.pick.thread != pick.thread && !sleeper.conflicts(step) {
                let sleeper = sleeper.clone();
                self.sleepers.push(sleeper);
            }
        }
        let sleep = start..self.sleepers.len();
        self.nodes.push(Node { tree, sleep, stale: true });
    }

    /// Takes up the outcome of an execution and plans its reversals.
    pub(crate) fn conclude(
        &mut self,
        end: End,
        visit: &mut impl FnMut(&S, &S::Outcome) -> bool,
    ) -> bool {
        let mut go_on = true;
        match end {
            End::Complete => {
                // Announced steps are looked at before the outcome is asked for, which may end
                // the execution for good.
                self.plan_reversals();
                let outcome = self.system.outcome();
                self.report.executions += 1;
                go_on = visit(self.system, &outcome);
                if !self.seen.contains_key(&outcome) {
                    let trace: Vec<Pick> =
                        self.history.events.iter().map(|event| event.step.pick).collect();
                    self.outcome_bytes +=
                        size_of_val(&trace[..]) + 2 * size_of::<S::Outcome>() + 512;
                    self.seen.insert(outcome.clone(), ());
                    self.report.found.push(Found { outcome, trace });
                }
            }
            End::Cut => {
                self.report.executions += 1;
                self.report.cut += 1;
                self.plan_reversals();
            }
            End::Asleep | End::Interrupted => {
                self.report.redundant += 1;
                self.plan_reversals();
            }
        }
        go_on
    }

    /// Puts each reversal into the wakeup tree of the node before the event that is overtaken.
    fn plan_reversals(&mut self) {
        let length = self.history.len();
        self.mark_stale(self.fresh);
        for number in 0..length {
            for race in self.history.races(number) {
                let overtaken = self.history.race(race);
                if number >= self.fresh || self.nodes[overtaken].stale {
                    let step = self.history.step_before(overtaken, number);
                    self.plan(overtaken, &step);
                }
            }
            if self.history.events[number].choices > 1 {
                self.plan_other_choices(number);
            }
        }
        for number in 0..self.system.threads() {
            self.plan_blocked(ThreadId(number));
        }
        for node in &mut self.nodes {
            node.stale = false;
        }
        self.fresh = length;
    }

    /// Marks the events before `start` that some event from there on does not happen after.
    fn mark_stale(&mut self, start: usize) {
        if self.nodes[..start.min(self.history.len())].iter().all(|node| node.stale) {
            return;
        }
        self.history.least_from(start, &mut self.least);
        for event in 0..start.min(self.history.len()) {
            if !self.nodes[event].stale && !self.history.all_after(event, &self.least) {
                self.nodes[event].stale = true;
            }
        }
    }

    /// Plans the other ways to take a step that was taken in one way.
    fn plan_other_choices(&mut self, event: usize) {
        if !self.nodes[event].stale {
            return;
        }
        let choices = self.history.events[event].choices;
        let taken = self.history.events[event].step.pick.choice;
        for choice in (0..choices).filter(|&choice| choice != taken) {
            let mut step = self.history.events[event].step.clone();
            step.pick.choice = choice;
            self.plan(event, &step);
        }
    }

    /// Plans for a thread that waits in vain to come earlier.
    fn plan_blocked(&mut self, thread: ThreadId) {
        if self.system.enabled(thread) {
            return;
        }
        let Some(next) = self.system.next(thread) else { return };
        if next.follows.is_some_and(|first| !self.history.has(first)) {
            // The thread that goes first waits in vain too, and does the same.
            return;
        }
        let pick = Pick { thread, choice: 0 };
        let races = self.history.races_of(pick, next, |object| self.system.open(object));
        if !races.is_empty() {
            let step = Step { pick, accesses: Accesses::new(next.accesses) };
            let writes_if = next.writes_if;
            for overtaken in races {
                let step = self.history.foreseen(overtaken as usize, step.clone(), writes_if);
                self.plan(overtaken as usize, &step);
            }
        }
    }

    /// Plans notdep(e)·f at the node of e, unless something asleep or planned covers it.
    fn plan(&mut self, overtaken: usize, step: &Step) {
        let history = &self.history;
        let mut sequence = Sequence::new();
        history.visit_independent(overtaken, |later| sequence.push(&later.step));
        sequence.push(step);
        if overtaken < self.prefix.len() {
            let own = history.events[overtaken].step.pick;
            self.prefix.plan(overtaken, own, &mut sequence);
            return;
        }
        let node = &mut self.nodes[overtaken];
        let covered = self.sleepers[node.sleep.clone()]
            .iter()
            .any(|sleeper| weak_initial(sleeper, &sequence) != Initial::No);
        if !covered {
            self.forest.insert(&mut node.tree, &mut sequence);
        }
    }

    /// Goes back to the last node with something left to try and makes that step. Says whether
    /// there was one.
    pub(crate) fn backtrack(&mut self) -> bool {
        self.nodes.pop();
        while self.nodes.len() > self.prefix.len() {
            let Some(node) = self.nodes.pop() else { break };
            if node.tree.is_none() {
                continue;
            }
            let depth = self.nodes.len();
            self.mark_stale(depth);
            self.sleepers.truncate(node.sleep.end);
            self.sleepers.push(self.history.events[depth].step.clone());
            let (tree, sleep) = (node.tree, node.sleep.start..node.sleep.end + 1);
            self.nodes.push(Node { tree, sleep, stale: true });
            self.history.truncate(depth);
            self.fresh = self.fresh.min(depth);
            self.system.restart();
            for event in &self.history.events {
                self.system.step(event.step.pick.thread, event.step.pick.choice);
            }
            if self.follow_tree(tree) {
                return true;
            }
            self.report.redundant += u64::from(self.goes_astray());
        }
        false
    }
}
