//! Every interleaving, without any reduction: the ground truth that the other strategies are
//! tested against. Only for small systems.
//!
//! The executions are also grouped into Mazurkiewicz traces: two executions are equivalent if one
//! becomes the other by swapping neighbours that are independent. Each class has one Foata normal
//! form (steps of pairwise independent actions, each as early as possible), which is what is
//! counted.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounds::{Bounds, Gauge};
use crate::collect::Collector;
use crate::cursor::Cursor;
use crate::limits::{Limits, Meter};
use crate::order::Order;
use crate::report::Report;
use crate::system::System;

/// What enumerating every interleaving gave.
#[derive(Clone, Debug)]
pub struct Brute<Outcome, Action> {
    /// Outcomes and numbers; `executions` are the interleavings.
    pub report: Report<Outcome, Action>,
    /// The number of distinct Mazurkiewicz traces among the executions.
    pub traces: u64,
}

/// Enumerates every execution.
pub fn brute<S: System>(system: &S, limits: &Limits<'_>) -> Brute<S::Outcome, S::Action> {
    brute_within(system, &Bounds::default(), limits)
}

/// Enumerates every execution within bounds.
pub fn brute_within<S: System>(
    system: &S,
    bounds: &Bounds,
    limits: &Limits<'_>,
) -> Brute<S::Outcome, S::Action> {
    let mut walk = Walk {
        system,
        bounds,
        limits,
        cursor: Cursor::new(system),
        order: Order::default(),
        collector: Collector::new(),
        classes: FxHashSet::default(),
        numbers: FxHashMap::default(),
        meter: Meter::default(),
    };
    walk.walk_on(&Gauge::default());
    let mut report = walk.collector.report;
    report.coverage = walk.meter.coverage();
    Brute { report, traces: walk.classes.len() as u64 }
}

struct Walk<'s, 'l, S: System> {
    system: &'s S,
    bounds: &'l Bounds,
    limits: &'l Limits<'l>,
    cursor: Cursor<'s, S>,
    order: Order,
    collector: Collector<S>,
    /// The Foata normal forms: level and number of each action, sorted.
    classes: FxHashSet<Vec<(u32, u32)>>,
    numbers: FxHashMap<S::Action, u32>,
    meter: Meter,
}

impl<S: System> Walk<'_, '_, S> {
    /// Tries everything that can follow. Says whether to go on.
    fn walk_on(&mut self, gauge: &Gauge) -> bool {
        let mut enabled = Vec::new();
        self.cursor.enabled(&mut enabled);
        let depth = self.cursor.len();
        if enabled.is_empty() {
            self.complete();
            let executions = self.collector.report.executions;
            let bytes = self.collector.bytes + self.classes.len() * 64 + self.system.memory();
            return !self.meter.stops(self.limits, executions)
                && !self.meter.fills(self.limits, bytes);
        }
        if self.meter.cuts(self.limits, depth) {
            return true;
        }
        for index in 0..enabled.len() {
            let Some(gauge) = gauge.after(self.system, self.bounds, &enabled, index) else {
                self.meter.bounded_by(self.bounds);
                continue;
            };
            self.order.push(self.system, self.cursor.trace(), &enabled[index]);
            self.cursor.push(enabled[index].clone());
            self.collector.report.transitions += 1;
            let go_on = self.walk_on(&gauge);
            self.cursor.truncate(depth);
            self.order.truncate(depth);
            if !go_on {
                return false;
            }
        }
        true
    }

    fn complete(&mut self) {
        let (run, trace) = self.cursor.parts();
        self.collector.execution(self.system, run, trace);
        let mut form = Vec::with_capacity(trace.len());
        for (event, action) in trace.iter().enumerate() {
            let next = self.numbers.len() as u32;
            let number = *self.numbers.entry(action.clone()).or_insert(next);
            form.push((self.order.level(event), number));
        }
        form.sort_unstable();
        self.classes.insert(form);
    }
}
