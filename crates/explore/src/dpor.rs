//! Optimal stateless search: one execution for each Mazurkiewicz trace, none twice and none begun
//! in vain (Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order Reduction, 2014,
//! algorithm 2), generalised from threads to actions.
//!
//! | paper | here |
//! |---|---|
//! | E, pre(E, e) | the cursor's trace, its first e actions |
//! | sleep(E) | [`Node::sleep`], with the explored branches added |
//! | wut(E) | [`Node::tree`] |
//! | notdep(e, E)·p | what [`Races::detect`] reports |
//! | WI, ∼ | [`weak_initial`] |
//!
//! A limit on the length of executions cuts the search short without any claim about what shorter
//! executions it has missed; `bounded.rs` makes that claim.
//!
//! **Nothing twice.** A branch is asleep in what is explored after it until something dependent
//! happens. That is the sleep set argument; it holds for actions as they are compared by `Eq`.
//!
//! **Nothing in vain.** A sequence enters a wakeup tree only if no sleeping action and no earlier
//! branch is a weak initial of it. So at the leaf of a branch nothing is asleep any more.
//!
//! **Nothing forgotten.** Suppose that the search returns from E and a maximal E·w with no initial
//! asleep was not explored. For each action q that is asleep at E or was explored there let w_q be
//! the longest prefix of w independent of q, and f the action after it. Take the q with the longest
//! w_q, the first explored if several. It was explored at some E' with E = E'·p, all of p
//! independent of q. Whatever slept at E'·q is woken by p·w_q (else it would have been taken for q),
//! so some execution that extends E'·q·p·w_q was explored; there f overtakes q, so a sequence v·f
//! was inserted at E', where v contains p·w_q and otherwise only events independent of f. Each
//! weak initial of it is an initial of w or is independent of p·w_q·f; the latter contradicts the
//! choice of q. So an initial of w is explored at E.

use crate::collect::Collector;
use crate::cursor::Cursor;
use crate::limits::{Limits, Meter};
use crate::order::Order;
use crate::races::{Depth, Races};
use crate::report::Report;
use crate::system::System;
use crate::wakeup::{self, Branch, Initial, weak_initial};

/// Explores one execution for each Mazurkiewicz trace of the system.
pub fn dpor<S: System>(system: &S, limits: &Limits<'_>) -> Report<S::Outcome, S::Action> {
    dpor_each(system, limits, Depth::default(), |_, _| true)
}

/// Like [`dpor`], with a choice of how hard races are looked for, and a visitor that sees each
/// complete execution with its outcomes. The search ends as if interrupted when it answers `false`.
pub fn dpor_each<S: System>(
    system: &S,
    limits: &Limits<'_>,
    depth: Depth,
    mut visit: impl FnMut(&[S::Action], &[S::Outcome]) -> bool,
) -> Report<S::Outcome, S::Action> {
    let mut search = Search::new(system, depth);
    let mut meter = Meter::default();
    loop {
        let end = search.descend(limits, &mut meter);
        if end == End::Interrupted {
            break;
        }
        let go_on = search.conclude(end, &mut visit);
        let executions = search.collector.report.executions;
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
        let bytes = search.collector.bytes + system.memory();
        if meter.stops(limits, executions)
            || meter.fills(limits, bytes)
            || (limits.stop_when_cut && end == End::Cut)
        {
            break;
        }
    }
    let mut report = search.collector.report;
    report.coverage = meter.coverage();
    report
}

/// How a descent ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nothing is enabled any more.
    Complete,
    /// The execution is as long as allowed.
    Cut,
    /// All that is enabled is asleep.
    Asleep,
    /// The search was asked to stop.
    Interrupted,
}

/// A state on the current execution.
struct Node<Action> {
    enabled: Vec<Action>,
    /// What need not be done here because an explored execution covers it.
    sleep: Vec<Action>,
    /// What is to be tried from here, the branch under exploration excluded.
    tree: Vec<Branch<Action>>,
}

struct Search<'s, S: System> {
    system: &'s S,
    cursor: Cursor<'s, S>,
    order: Order,
    races: Races<S::Action>,
    nodes: Vec<Node<S::Action>>,
    /// Nodes whose memory can be used again.
    spare: Vec<Node<S::Action>>,
    collector: Collector<S>,
}

impl<'s, S: System> Search<'s, S> {
    fn new(system: &'s S, depth: Depth) -> Self {
        let mut search = Search {
            system,
            cursor: Cursor::new(system),
            order: Order::default(),
            races: Races::new(depth),
            nodes: Vec::new(),
            spare: Vec::new(),
            collector: Collector::new(),
        };
        search.enter(Vec::new());
        search
    }

    /// Arrives in a state that is to be explored along a wakeup tree.
    fn enter(&mut self, tree: Vec<Branch<S::Action>>) {
        let mut node = self.spare.pop().unwrap_or_else(|| Node {
            enabled: Vec::new(),
            sleep: Vec::new(),
            tree: Vec::new(),
        });
        self.cursor.enabled(&mut node.enabled);
        node.sleep.clear();
        node.tree = tree;
        if let (Some(parent), Some(action)) = (self.nodes.last(), self.cursor.trace().last()) {
            let still = |sleeper: &&S::Action| !self.system.dependent(sleeper, action);
            node.sleep.extend(parent.sleep.iter().filter(still).cloned());
        }
        self.nodes.push(node);
    }

    /// Performs an action of the last node.
    fn perform(&mut self, branch: Branch<S::Action>) {
        self.order.push(self.system, self.cursor.trace(), &branch.action);
        self.cursor.push(branch.action);
        self.collector.report.transitions += 1;
        self.enter(branch.children);
    }

    /// Follows the wakeup tree, then anything, to the end of an execution.
    fn descend(&mut self, limits: &Limits<'_>, meter: &mut Meter) -> End {
        while let Some(node) = self.nodes.last_mut() {
            if node.enabled.is_empty() {
                return End::Complete;
            }
            if meter.cuts(limits, self.cursor.len()) {
                return End::Cut;
            }
            if meter.interrupted(limits) {
                return End::Interrupted;
            }
            let branch = if node.tree.is_empty() {
                let awake = node.enabled.iter().find(|action| !node.sleep.contains(action));
                let Some(action) = awake else {
                    return End::Asleep;
                };
                Branch { action: action.clone(), children: Vec::new() }
            } else {
                node.tree.remove(0)
            };
            self.perform(branch);
        }
        End::Interrupted
    }

    /// Takes up the outcomes of an execution and plans its reversals.
    fn conclude(
        &mut self,
        end: End,
        visit: &mut impl FnMut(&[S::Action], &[S::Outcome]) -> bool,
    ) -> bool {
        let mut go_on = true;
        match end {
            End::Complete => {
                let (run, trace) = self.cursor.parts();
                self.collector.execution(self.system, run, trace);
                go_on = visit(trace, &self.collector.latest);
            }
            End::Cut => {
                self.collector.report.executions += 1;
                self.collector.report.cut += 1;
            }
            End::Asleep | End::Interrupted => self.collector.report.redundant += 1,
        }
        self.plan_reversals();
        go_on
    }

    /// Puts each reversal into the wakeup tree of the node before the event that is overtaken.
    fn plan_reversals(&mut self) {
        let Search { system, cursor, order, races, nodes, .. } = self;
        // The trees are taken out while the nodes' enabled actions are looked at.
        let mut trees: Vec<_> =
            nodes.iter_mut().map(|node| std::mem::take(&mut node.tree)).collect();
        races.detect(
            *system,
            cursor,
            order,
            |event| &nodes[event].enabled,
            |event, sequence| {
                let covers =
                    |sleeper| !matches!(weak_initial(*system, sleeper, sequence), Initial::No);
                if !nodes[event].sleep.iter().any(covers) {
                    wakeup::insert(*system, &mut trees[event], sequence);
                }
            },
        );
        for (node, tree) in nodes.iter_mut().zip(trees) {
            node.tree = tree;
        }
    }

    /// Goes back to the last node with something left to try and performs it. Says whether there
    /// was one.
    fn backtrack(&mut self) -> bool {
        self.spare.extend(self.nodes.pop());
        while let Some(mut node) = self.nodes.pop() {
            if node.tree.is_empty() {
                self.spare.push(node);
                continue;
            }
            let depth = self.nodes.len();
            node.sleep.push(self.cursor.trace()[depth].clone());
            let branch = node.tree.remove(0);
            self.nodes.push(node);
            self.races.truncate(&self.order, depth);
            self.order.truncate(depth);
            self.cursor.truncate(depth);
            self.perform(branch);
            return true;
        }
        false
    }
}
