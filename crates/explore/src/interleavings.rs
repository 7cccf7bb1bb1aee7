//! Interleaving coverage: of the pairs of conflicting operations, in how many orders they were seen.
//!
//! Comes in: what the steps of the drawn executions do to shared objects ([`Touch`]). Goes out: two
//! numbers ([`Interleavings`]).
//!
//! An operation is a thread and a place in its code, and whether it writes. Two operations of different
//! threads *conflict* if both were performed on one object, in one execution or in two, and one of them
//! writes. Each such pair has two orders, and both are *known*. The order (a, b) is *seen* if in some
//! execution a was performed on the object before b. Under a memory model in which a step may read an old
//! value, "before" is not the order of the steps but what the values show: a read is before the writes
//! that it does not see, and writes are ordered by the modification order of their object.
//!
//! An order that no execution can show, because a thread is started or joined between the two, is known
//! and is never seen. So the numbers measure progress from one sample to the next; that both are equal is
//! not the aim and proves nothing.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::system::ThreadId;

/// What a step does to one object that threads may share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Touch {
    /// Whose step.
    pub thread: ThreadId,
    /// The place in the code: the same number for the same place, in all executions of a search.
    pub site: u64,
    /// The object: the same number for the same object, in all executions of a search.
    pub object: u32,
    /// Does it change the object?
    pub writes: bool,
    /// How many of the writes that were made to the object so far come after it all the same. 0 if the
    /// order of steps is the order of what they do.
    pub overtaken: u32,
}

/// How many ordered pairs of conflicting operations the drawn executions have shown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Interleavings {
    /// Ordered pairs that were seen.
    pub seen: u64,
    /// Ordered pairs that are known: both orders of each pair of conflicting operations.
    pub known: u64,
}

impl fmt::Display for Interleavings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interleavings { seen, known } = self;
        write!(formatter, "{seen} of {known} ordered pairs of conflicting operations seen")
    }
}

/// An operation: who does what where.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Operation {
    thread: ThreadId,
    site: u64,
    writes: bool,
}

impl Operation {
    fn conflicts(self, other: Operation) -> bool {
        self.thread != other.thread && (self.writes || other.writes)
    }
}

/// The number of an operation in a tally.
type OperationId = u32;

/// Counts ordered pairs.
#[derive(Default)]
pub(crate) struct Tally {
    ids: FxHashMap<Operation, OperationId>,
    operations: Vec<Operation>,
    /// Which operations were performed on which objects.
    performed: FxHashSet<(u32, OperationId)>,
    seen: FxHashSet<(OperationId, OperationId)>,
    /// What was done to each object in the execution that is under way.
    histories: FxHashMap<u32, History>,
}

/// What was done to one object in one execution.
#[derive(Default)]
struct History {
    /// All operations, in their order.
    order: Vec<OperationId>,
    /// Each operation once.
    distinct: Vec<OperationId>,
    /// For each operation how many of the distinct ones are known to come before it.
    related: FxHashMap<OperationId, usize>,
}

impl Tally {
    /// Takes up one step of the execution. What one step does is not ordered.
    pub(crate) fn step(&mut self, touches: &[Touch]) {
        for touch in touches {
            self.relate(touch);
        }
        for touch in touches {
            self.insert(touch);
        }
    }

    /// The execution is over.
    pub(crate) fn end_execution(&mut self) {
        self.histories.clear();
    }

    fn id(&mut self, touch: &Touch) -> OperationId {
        let Touch { thread, site, writes, .. } = *touch;
        self.intern(Operation { thread, site, writes })
    }

    fn intern(&mut self, operation: Operation) -> OperationId {
        *self.ids.entry(operation).or_insert_with(|| {
            self.operations.push(operation);
            self.operations.len() as OperationId - 1
        })
    }

    /// Notes the orders with what was done to the object before.
    fn relate(&mut self, touch: &Touch) {
        let id = self.id(touch);
        let Tally { operations, seen, histories, .. } = self;
        let operation = operations[id as usize];
        let conflicts = |other: OperationId| operation.conflicts(operations[other as usize]);
        let Some(history) = histories.get(&touch.object) else { return };
        if touch.overtaken == 0 {
            let related = history.related.get(&id).copied().unwrap_or(0);
            let earlier = history.distinct[related..].iter().filter(|&&other| conflicts(other));
            seen.extend(earlier.map(|&other| (other, id)));
            return;
        }
        let (before, after) = history.order.split_at(history.position(operations, touch));
        let before = before.iter().filter(|&&other| conflicts(other)).map(|&other| (other, id));
        let after = after.iter().filter(|&&other| conflicts(other)).map(|&other| (id, other));
        seen.extend(before.chain(after));
    }

    fn insert(&mut self, touch: &Touch) {
        let id = self.id(touch);
        let history = self.histories.entry(touch.object).or_default();
        let position = history.position(&self.operations, touch);
        history.order.insert(position, id);
        let known = history.distinct.len();
        match history.related.get_mut(&id) {
            Some(related) if touch.overtaken == 0 => *related = known,
            Some(_) => {}
            None => {
                history.related.insert(id, if touch.overtaken == 0 { known } else { 0 });
                history.distinct.push(id);
                self.performed.insert((touch.object, id));
            }
        }
    }

    /// Takes up what another part of the same search has seen.
    pub(crate) fn also(&mut self, other: &Tally) {
        let ids: Vec<OperationId> =
            other.operations.iter().map(|&operation| self.intern(operation)).collect();
        let here = |id: OperationId| ids[id as usize];
        self.performed.extend(other.performed.iter().map(|&(object, id)| (object, here(id))));
        self.seen.extend(other.seen.iter().map(|&(one, two)| (here(one), here(two))));
    }

    /// The numbers, if anything is known about what steps do.
    pub(crate) fn interleavings(&self) -> Option<Interleavings> {
        if self.operations.is_empty() {
            return None;
        }
        let mut by_object: FxHashMap<u32, Vec<OperationId>> = FxHashMap::default();
        for &(object, id) in &self.performed {
            by_object.entry(object).or_default().push(id);
        }
        let mut known = FxHashSet::default();
        for ids in by_object.values() {
            for (index, &one) in ids.iter().enumerate() {
                let operation = self.operations[one as usize];
                for &other in &ids[index + 1..] {
                    if operation.conflicts(self.operations[other as usize]) {
                        known.insert((one.min(other), one.max(other)));
                    }
                }
            }
        }
        Some(Interleavings { seen: self.seen.len() as u64, known: 2 * known.len() as u64 })
    }
}

impl History {
    /// Where the operation stands in the order: before the last writes, as many as have overtaken it.
    fn position(&self, operations: &[Operation], touch: &Touch) -> usize {
        let mut position = self.order.len();
        let mut overtaken = touch.overtaken;
        while overtaken > 0 && position > 0 {
            position -= 1;
            let id = self.order[position];
            overtaken -= u32::from(operations[id as usize].writes);
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(thread: u32, site: u64, writes: bool, overtaken: u32) -> Touch {
        Touch { thread: ThreadId(thread), site, object: 1, writes, overtaken }
    }

    fn figure(executions: &[&[Touch]]) -> (u64, u64) {
        let mut tally = Tally::default();
        for execution in executions {
            execution.iter().for_each(|touch| tally.step(&[*touch]));
            tally.end_execution();
        }
        let found = tally.interleavings().unwrap_or_default();
        (found.seen, found.known)
    }

    #[test]
    fn both_orders_of_a_pair_are_known_and_those_that_came_up_are_seen() {
        let (write, read) = (touch(0, 1, true, 0), touch(1, 2, false, 0));
        assert_eq!(figure(&[&[write, read]]), (1, 2));
        assert_eq!(figure(&[&[write, read], &[read, write]]), (2, 2));
        // Operations that were never performed in one execution.
        assert_eq!(figure(&[&[write], &[read]]), (0, 2));
    }

    #[test]
    fn reads_and_operations_of_one_thread_do_not_conflict() {
        let reads = [touch(0, 1, false, 0), touch(1, 2, false, 0)];
        assert_eq!(figure(&[&reads]), (0, 0));
        let own = [touch(0, 1, true, 0), touch(0, 2, true, 0)];
        assert_eq!(figure(&[&own]), (0, 0));
        let other = Touch { object: 2, ..touch(1, 3, true, 0) };
        assert_eq!(figure(&[&[touch(0, 1, true, 0), other]]), (0, 0));
    }

    #[test]
    fn a_read_of_an_old_value_is_before_the_writes_that_it_does_not_see() {
        let (first, second) = (touch(0, 1, true, 0), touch(0, 2, true, 0));
        // first < read < second, although the step of the read is the last one.
        let stale = [first, second, touch(1, 3, false, 1)];
        let fresh = [first, touch(1, 3, false, 0), second];
        assert_eq!(figure(&[&stale]), (2, 4));
        assert_eq!(figure(&[&stale, &fresh]), (2, 4));
        // A write that is placed between the two, and a read that sees it.
        let between = [first, second, touch(1, 4, true, 1), touch(2, 5, false, 1)];
        // 1 < 4 < 2; 1 < 5, 4 < 5 < 2.
        assert_eq!(figure(&[&between]), (5, 10));
    }

    #[test]
    fn what_one_step_does_is_not_ordered() {
        let mut tally = Tally::default();
        tally.step(&[touch(0, 1, true, 0), touch(1, 2, true, 0)]);
        assert_eq!(tally.interleavings(), Some(Interleavings { seen: 0, known: 2 }));
        tally.step(&[touch(2, 3, true, 0)]);
        assert_eq!(tally.interleavings(), Some(Interleavings { seen: 2, known: 6 }));
    }

    #[test]
    fn parts_add_up() {
        let (write, read) = (touch(0, 1, true, 0), touch(1, 2, false, 0));
        let mut one = Tally::default();
        one.step(&[write]);
        one.step(&[read]);
        let mut other = Tally::default();
        other.step(&[read]);
        other.step(&[write]);
        one.also(&other);
        assert_eq!(one.interleavings(), Some(Interleavings { seen: 2, known: 2 }));
    }
}
