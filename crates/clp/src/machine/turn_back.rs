//! Turning back: to the last place with something left to try, unless the part it belongs to is given
//! up as a whole.

use super::limits::{Allowance, UNGUARDED};
use super::{Choice, ChoiceKind, Machine};
use crate::program::Predicate;
use crate::term::{Store, Term, View};

impl Machine<'_> {
    /// Back to the last place with something left to try, and tries it; `false` if there is none
    /// above `base`.
    pub(super) fn backtrack(&mut self, base: usize) -> bool {
        if self.nested == 0 {
            self.failures += 1;
            if self.failures > self.mode.failures {
                self.steps = self.mode.steps;
            }
        }
        while self.choices.len() > base {
            let Some(choice) = self.choices.last().copied() else { return false };
            if self.is_hopeless(choice.registers.guard, base) {
                continue;
            }
            self.restore(&choice);
            self.steps += 1;
            if self.retry(&choice) {
                return true;
            }
            if self.steps >= self.mode.steps {
                // The caller sees that no steps are left.
                return true;
            }
        }
        false
    }

    fn restore(&mut self, choice: &Choice) {
        self.store.undo(&choice.mark);
        self.registers = choice.registers;
        self.frames.truncate(choice.frames as usize);
        self.values.truncate(choice.values as usize);
        self.violated.truncate(choice.labels as usize);
        self.guards.truncate(choice.guards as usize);
    }

    fn retry(&mut self, choice: &Choice) -> bool {
        match choice.kind {
            ChoiceKind::Clauses { predicate, allowance } => {
                let first = choice.untried as usize;
                let arity = self.program.functors.arity(self.program.predicate(predicate).functor);
                let saved = choice.saved as usize;
                // What later choices left behind goes first.
                self.saved.truncate(saved + arity);
                self.arguments.clear();
                self.arguments.extend_from_slice(&self.saved[saved..]);
                let predicate = self.program.predicate(predicate);
                // The choice was made when its goal had just got its guard.
                let guarded = self.is_guarded(predicate);
                let guard = if guarded { choice.registers.guard } else { UNGUARDED };
                let candidate = self.choose_again(predicate, &allowance, first, saved);
                self.nesting = choice.nesting;
                self.enter(candidate, &allowance, guard)
            }
            ChoiceKind::Premise { violated } => {
                self.choices.pop();
                let frame = self.frames[self.registers.frame as usize];
                let program = self.program;
                let clause = program.clause(frame.clause);
                let goal = &clause.body[self.registers.next as usize];
                self.take_premise(goal, &frame, violated)
            }
            ChoiceKind::Member { sought } => {
                let first = choice.saved as usize;
                let element = self.take_element(first);
                if self.saved.len() == first {
                    self.choices.pop();
                }
                self.store.unify(sought, element) && self.settle()
            }
            ChoiceKind::Label { address, first, tried } => {
                self.choices.pop();
                let Some((low, high)) = self.store.interval(Store::at(address)) else {
                    return false;
                };
                self.try_value(address, low, (high - low) as u32 + 1, first, tried)
            }
            ChoiceKind::Floor => {
                self.choices.pop();
                false
            }
        }
    }

    /// The next untried clause; the choice point goes with the last one. Later choices are gone, so
    /// its clauses stand at the end.
    fn choose_again(
        &mut self,
        predicate: &Predicate,
        allowance: &Allowance,
        first: usize,
        saved: usize,
    ) -> u32 {
        let candidate = self.choose(predicate, allowance, first);
        if self.untried.len() == first {
            self.choices.pop();
            self.saved.truncate(saved);
        }
        candidate
    }

    /// Chooses a value for an integer.
    pub(crate) fn label(&mut self, term: Term) -> bool {
        let View::Variable(address) = self.store.view(term) else {
            return matches!(self.store.view(term), View::Integer(_));
        };
        let Some((low, high)) = self.store.interval(term) else { return false };
        let count = (high - low) as u32 + 1;
        let first = if self.mode.random { self.stream.below(count) } else { 0 };
        self.try_value(address, low, count, first, 0)
    }

    /// Tries the value after those that were tried, round the interval.
    fn try_value(&mut self, address: u32, low: i32, count: u32, first: u32, tried: u32) -> bool {
        if tried + 1 < count {
            self.push_choice(ChoiceKind::Label { address, first, tried: tried + 1 });
        }
        let value = low + ((first + tried) % count) as i32;
        self.store.bind(address, Term::integer(value));
        self.settle()
    }
}
