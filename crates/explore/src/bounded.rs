//! Search within schedule bounds (Déjà Fu, Haskell 2015, section 4), with happens-before caching (Musuvathi,
//! Qadeer: Partial-order reduction for context-bounded state exploration, 2007).
//!
//! Comes in: a system and [`Bounds`]. Goes out: every outcome that some schedule within the bounds
//! gives, and no other.
//!
//! A bound makes the order of independent actions matter, so the reduction of `dpor.rs` would
//! forget schedules. Paper 002 repairs that by backtracking conservatively: also at the last
//! context switch before each race (Coons, Musuvathi, McKinley 2013). The argument is that a block
//! of one thread can be moved to the front without adding pre-emptions. It needs that moving an
//! action past independent ones does not make a thread able to go on that was blocked before,
//! which holds neither for a release that is moved before its waiter blocks, nor for a thread
//! that arrives at a rendezvous: `r; s; a`, in which r blocks for want of a partner, has no
//! pre-emption, but `a; r; s` has one if a brings the partner. Counting every such enabling as a
//! race leaves nothing reduced in programs made of channels. So here a prefix is abandoned only if
//! an *equivalent* one was visited that
//! - ended with the same thread, and
//! - had spent no more of any bounded quantity.
//!
//! Equivalent prefixes lead to the same state; how often each thread has yielded and how many steps
//! were made is the same for both; so whatever may follow this prefix may follow that one too, at
//! no higher price. Nothing else is assumed, and the bounds combine freely.
//!
//! Prefixes are compared by a 128-bit fingerprint of their Foata normal form.

use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bounds::{Bounds, Gauge, preempts, undelayed};
use crate::collect::Collector;
use crate::cursor::Cursor;
use crate::limits::{Limits, Meter};
use crate::order::Order;
use crate::report::Report;
use crate::system::{System, ThreadId};

/// Explores the schedules within the bounds.
pub fn bounded<S: System>(
    system: &S,
    bounds: &Bounds,
    limits: &Limits<'_>,
) -> Report<S::Outcome, S::Action> {
    let mut search = Search {
        system,
        bounds,
        cursor: Cursor::new(system),
        order: Order::default(),
        nodes: Vec::new(),
        visited: FxHashMap::default(),
        collector: Collector::new(),
        meter: Meter::default(),
    };
    search.explore(limits);
    let mut report = search.collector.report;
    report.coverage = search.meter.coverage();
    report
}

/// What a schedule has spent of the bounded quantities.
type Spent = (u32, u32);

/// A state on the current schedule.
struct Node<Action> {
    enabled: Vec<Action>,
    /// Positions in `enabled` still to be tried, the cheapest last.
    todo: Vec<usize>,
    gauge: Gauge,
    fingerprint: u128,
}

struct Search<'s, 'b, S: System> {
    system: &'s S,
    bounds: &'b Bounds,
    cursor: Cursor<'s, S>,
    order: Order,
    nodes: Vec<Node<S::Action>>,
    /// For each prefix up to equivalence and the thread that ran last, the least that visits spent.
    visited: FxHashMap<(u128, Option<ThreadId>), SmallVec<[Spent; 1]>>,
    collector: Collector<S>,
    meter: Meter,
}

impl<S: System> Search<'_, '_, S> {
    fn explore(&mut self, limits: &Limits<'_>) {
        self.enter(Gauge::default(), 0, limits);
        // What follows makes a step only once it is known that it leads to something new: the way back to
        // the state before it may be long.
        while !self.nodes.is_empty() {
            let depth = self.nodes.len() - 1;
            let node = &mut self.nodes[depth];
            let Some(index) = node.todo.pop() else {
                self.nodes.pop();
                continue;
            };
            if self.meter.interrupted(limits) {
                return;
            }
            let Some(gauge) = node.gauge.after(self.system, self.bounds, &node.enabled, index)
            else {
                self.meter.bounded_by(self.bounds);
                continue;
            };
            let (action, fingerprint) = (node.enabled[index].clone(), node.fingerprint);
            // Of an endless system there may be no executions to count but those that were cut.
            let report = &self.collector.report;
            let executions = report.executions + report.cut;
            if limits.stop_when_cut && report.cut > 0 {
                return;
            }
            if self.meter.stops(limits, executions) || self.meter.fills(limits, self.bytes()) {
                return;
            }
            self.order.truncate(depth);
            self.order.push(self.system, &self.cursor.trace()[..depth], &action);
            let fingerprint = fingerprint.wrapping_add(digest(self.order.level(depth), &action));
            if !self.is_new(&gauge, fingerprint) {
                self.collector.report.redundant += 1;
                continue;
            }
            self.cursor.truncate(depth);
            self.cursor.push(action);
            self.collector.report.transitions += 1;
            self.enter(gauge, fingerprint, limits);
        }
    }

    /// Roughly how many bytes are in use: each remembered prefix takes a slot of the table.
    fn bytes(&self) -> usize {
        let slot = size_of::<(u128, Option<ThreadId>, SmallVec<[Spent; 1]>)>() + 1;
        self.visited.capacity() * slot + self.collector.bytes + self.system.memory()
    }

    /// Arrives in a state in which no equivalent prefix was: counts it if it is final, and otherwise plans
    /// what to try from it.
    fn enter(&mut self, gauge: Gauge, fingerprint: u128, limits: &Limits<'_>) {
        let mut enabled = Vec::new();
        self.cursor.enabled(&mut enabled);
        if enabled.is_empty() {
            let (run, trace) = self.cursor.parts();
            self.collector.execution(self.system, run, trace);
            if let Some(progress) = limits.progress {
                progress(self.collector.report.executions);
            }
            return;
        }
        if self.meter.cuts(limits, self.cursor.len()) {
            self.collector.report.cut += 1;
            return;
        }
        // What costs least is tried first: then later visits of equivalent prefixes rarely spend
        // less than the first one.
        let undelayed = undelayed(self.system, gauge.last, &enabled);
        let mut todo: Vec<usize> = (0..enabled.len()).collect();
        todo.sort_by_key(|&index| {
            let preempts = preempts(self.system, gauge.last, &enabled, &enabled[index]);
            std::cmp::Reverse((preempts, index != undelayed, index))
        });
        self.nodes.push(Node { enabled, todo, gauge, fingerprint });
    }

    /// Has no equivalent prefix been here with at most the same spent? Remembers this one if so.
    fn is_new(&mut self, gauge: &Gauge, fingerprint: u128) -> bool {
        let counted = |bound: Option<u32>, count: u32| bound.map_or(0, |_| count);
        let spent = (
            counted(self.bounds.preemptions, gauge.preemptions),
            counted(self.bounds.delays, gauge.delays),
        );
        let no_more = |one: &Spent, other: &Spent| one.0 <= other.0 && one.1 <= other.1;
        let counts_last = self.bounds.preemptions.is_some() || self.bounds.delays.is_some();
        let last = gauge.last.filter(|_| counts_last);
        let visits = self.visited.entry((fingerprint, last)).or_default();
        if visits.iter().any(|visit| no_more(visit, &spent)) {
            return false;
        }
        visits.retain(|visit| !no_more(&spent, visit));
        visits.push(spent);
        true
    }
}

/// A fingerprint of one event: its action and its step in the Foata normal form. The sum over the
/// events of a prefix does not depend on their order, and the set of events determines the normal
/// form.
fn digest<Action: Hash>(level: u32, action: &Action) -> u128 {
    let half = |half: u8| {
        let mut hasher = DefaultHasher::new();
        (half, level).hash(&mut hasher);
        action.hash(&mut hasher);
        hasher.finish()
    };
    u128::from(half(0)) << 64 | u128::from(half(1))
}
