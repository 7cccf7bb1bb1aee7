//! What C++20 (N4861, sections 6.9.2 and 31.4) says otherwise than RC11: program order and reads-from may
//! have a cycle, and the order S of sequentially consistent steps is given by other rules.
//!
//! | standard | here |
//! |---|---|
//! | coherence-ordered before | eco |
//! | strongly happens before | [`Graph::strongly_happens_before`] |
//! | S | [`Graph::is_ordered_as_in_cpp20`]: it exists if what it must respect has no cycle |
//!
//! A read-modify-write is one step there, and two events here, so that S is about instructions. Values
//! that are computed from themselves, which the standard only recommends to avoid, do not occur.

use std::sync::atomic::Ordering::SeqCst;

use crate::axioms::{Axioms, Graph, Kind};
use crate::relation::Relation;

impl Graph {
    /// Is there an order S?
    pub fn is_ordered_as_in_cpp20(&self, hb: &Relation) -> bool {
        let sequential = |event: usize| self.events[event].order == SeqCst;
        let kind = |event: usize| self.events[event].kind;
        let fence = |event: usize| sequential(event) && kind(event) == Kind::Fence;
        let access = |event: usize| sequential(event) && kind(event) != Kind::Fence;
        let size = self.events.len();
        let identity = |condition: &dyn Fn(usize) -> bool| {
            let mut only = Relation::empty(size);
            (0..size).filter(|&event| condition(event)).for_each(|event| only.add(event, event));
            only
        };
        let (accesses, fences) = (identity(&access), identity(&fence));
        // A step before, itself or by a fence; and a step after.
        let from = &accesses | &(&fences * hb);
        let to = &accesses | &(hb * &fences);
        let coherence = self.of_instructions(&(&(&from * &self.extended_coherence()) * &to));
        let strong = self.strongly_happens_before(hb);
        let among = strong.only(|one, two| sequential(one) && sequential(two));
        (&coherence | &among).is_acyclic()
    }

    /// The relation between instructions: each stands for its first event.
    fn of_instructions(&self, relation: &Relation) -> Relation {
        let first = |event: usize| {
            let read = (0..event).find(|&read| self.rmw.holds(read, event));
            read.unwrap_or(event)
        };
        let mut instructions = Relation::empty(relation.size());
        let pairs = relation.pairs().map(|(one, two)| (first(one), first(two)));
        pairs.filter(|(one, two)| one != two).for_each(|(one, two)| instructions.add(one, two));
        instructions
    }

    /// Sequenced before; or synchronizes with, both sequentially consistent; or sequenced before, happens
    /// before, sequenced before; or several of these in a row.
    fn strongly_happens_before(&self, hb: &Relation) -> Relation {
        let (sb, hb) = (self.of_instructions(&self.sb), self.of_instructions(hb));
        let access = |event: usize| {
            let event = &self.events[event];
            event.order == SeqCst && event.kind != Kind::Fence
        };
        let sw = self.synchronizes_with(Axioms::Cpp20).only(|one, two| access(one) && access(two));
        let sw = self.of_instructions(&sw);
        (&(&sb | &sw) | &(&(&sb * &hb) * &sb)).closure()
    }
}
