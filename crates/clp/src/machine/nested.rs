//! Searches within the search: for `\+`, `once` and negation; and goals that are terms.

use super::limits::Allowance;
use super::{ChoiceKind, DONE, Found, Machine, Registers};
use crate::term::{Term, View};

/// How deep they may be nested.
const DEEPEST: u32 = 200;

/// A search within the search took too long.
pub(crate) struct OutOfSteps;

impl Machine<'_> {
    /// Calls the goal that a term is.
    pub(crate) fn call_term(&mut self, goal: Term) -> bool {
        let (functor, first) = match self.store.view(goal) {
            View::Structure(functor, first) => (functor, first),
            View::Constant(functor) => (functor, 0),
            _ => return false,
        };
        self.arguments.clear();
        for place in 0..self.program.functors.arity(functor) {
            let argument = self.store.argument(first + place as u32);
            self.arguments.push(argument);
        }
        match self.program.predicate_of(functor) {
            Some(predicate) => self.call(predicate, Allowance::ALL),
            None => {
                let name = self.program.functors.name(functor);
                let builtin = crate::builtin::find(name, self.arguments.len());
                builtin.is_some_and(|builtin| self.builtin(builtin))
            }
        }
    }

    /// Searches for a goal within the search. `keep` says what happens with each solution: go on
    /// (`true`) or stay there (`false`). Says whether it stayed; otherwise all is as before.
    pub(crate) fn nested(
        &mut self,
        goal: Term,
        keep: &mut dyn FnMut(&mut Self) -> bool,
    ) -> Result<bool, OutOfSteps> {
        if self.nested >= DEEPEST {
            self.steps = self.mode.steps;
            return Err(OutOfSteps);
        }
        let (before, base) = (self.registers, self.choices.len());
        let (mark, values, frames) = (self.store.mark(), self.values.len(), self.frames.len());
        let (saved, untried) = (self.saved.len(), self.untried.len());
        // A choice that is never taken back shields those below.
        self.push_choice(ChoiceKind::Floor);
        self.nested += 1;
        self.registers.frame = DONE;
        self.push_goal(goal);
        let floor = base + 1;
        let mut found = self.run(floor);
        let mut stayed = false;
        while found == Found::Solution {
            if !keep(self) {
                stayed = true;
                break;
            }
            found = if self.backtrack(floor) { self.run(floor) } else { Found::Nothing };
        }
        self.nested -= 1;
        self.choices.truncate(base);
        self.saved.truncate(saved);
        self.untried.truncate(untried);
        if stayed {
            let Registers { size, fresh, .. } = self.registers;
            self.registers = Registers { size, fresh, ..before };
        } else {
            self.store.undo(&mark);
            self.values.truncate(values);
            self.frames.truncate(frames);
            self.registers = before;
        }
        if found == Found::OutOfSteps { Err(OutOfSteps) } else { Ok(stayed) }
    }
}
