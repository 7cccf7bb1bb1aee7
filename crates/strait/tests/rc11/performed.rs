//! What instructions do: the events that one has, and the values that it reads and writes.

use std::sync::atomic::Ordering::{self, Relaxed};

use crate::axioms::Kind;
use crate::program::{Action, Instruction, SKIPPED};

/// How an instruction goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Course {
    Skipped,
    Done,
    /// A compare-exchange that finds another value.
    Fails,
    /// A compare-exchange that finds the value and fails all the same.
    FailsForNothing,
}

/// An instruction with its events.
#[derive(Clone, Copy, Debug)]
pub struct Performed {
    pub instruction: Instruction,
    pub way: Course,
    pub read: Option<usize>,
    pub write: Option<usize>,
}

pub fn courses_of(instruction: &Instruction) -> Vec<Course> {
    let mut ways = vec![Course::Done];
    if let Action::Exchange { weak, .. } = instruction.action {
        ways.push(Course::Fails);
        ways.extend(weak.then_some(Course::FailsForNothing));
    }
    ways.extend(instruction.guard.map(|_| Course::Skipped));
    ways
}

/// The events of an instruction: kind, location or mutex, ordering. Variables that are not atomic are
/// numbered from `cells`.
pub fn events_of(
    action: Action,
    way: Course,
    cells: usize,
) -> Vec<(Kind, Option<usize>, Ordering)> {
    if way == Course::Skipped {
        return Vec::new();
    }
    let both = |at: usize, order: Ordering| {
        vec![(Kind::Read, Some(at), order), (Kind::Write, Some(at), order)]
    };
    match action {
        Action::Load { location, order } => vec![(Kind::Read, Some(location), order)],
        Action::Store { location, order, .. } => vec![(Kind::Write, Some(location), order)],
        Action::Add { location, order, .. } | Action::Swap { location, order, .. } => {
            both(location, order)
        }
        Action::Exchange { location, orders, .. } if way == Course::Done => {
            both(location, orders.0)
        }
        Action::Exchange { location, orders, .. } => vec![(Kind::Read, Some(location), orders.1)],
        Action::Fence(order) => vec![(Kind::Fence, None, order)],
        Action::Lock(mutex) => vec![(Kind::Lock, Some(mutex), Relaxed)],
        Action::Unlock(mutex) => vec![(Kind::Unlock, Some(mutex), Relaxed)],
        Action::PlainStore { cell, .. } => vec![(Kind::Write, Some(cells + cell), Relaxed)],
        Action::PlainLoad { cell } => vec![(Kind::Read, Some(cells + cell), Relaxed)],
    }
}

pub fn new_value(action: Action, old: Option<u8>, registers: &[u8]) -> Option<u8> {
    match action {
        Action::Store { value, .. }
        | Action::Swap { value, .. }
        | Action::PlainStore { value, .. } => Some(value.given(registers)),
        Action::Add { value, .. } => old.map(|old| old.wrapping_add(value.given(registers))),
        Action::Exchange { change, .. } => Some(change.1.given(registers)),
        _ => None,
    }
}

/// What a store writes, if it writes that whatever was read before.
pub fn constant(Instruction { guard, action }: Instruction) -> Option<u8> {
    match action {
        Action::Store { value, .. } if value.register.is_none() && guard.is_none() => {
            Some(value.plus)
        }
        _ => None,
    }
}

/// Performs an instruction that has read a value. Gives what it writes, if it goes as assumed.
pub fn perform(step: &Performed, old: Option<u8>, registers: &mut Vec<u8>) -> Option<Option<u8>> {
    let Instruction { guard, action } = step.instruction;
    let performed = guard.is_none_or(|guard| guard.holds(registers));
    if performed != (step.way != Course::Skipped) {
        return None;
    }
    if !performed {
        registers.extend(action.reads().then_some(SKIPPED));
        return Some(None);
    }
    if let Action::Exchange { change, .. } = action {
        let found = old == Some(change.0);
        if found == (step.way == Course::Fails) {
            return None;
        }
    }
    let new = new_value(action, old, registers);
    registers.extend(old);
    Some(new)
}
