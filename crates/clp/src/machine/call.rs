//! Calls: which clauses can match, which of them is tried first, and how one is entered.

use super::limits::{Allowance, UNGUARDED, directed_weight};
use super::{ChoiceKind, Frame, Machine};
use crate::program::{Predicate, PredicateId};
use crate::term::Term;

impl Machine<'_> {
    /// Calls a predicate with [`Machine::arguments`].
    pub(super) fn call(&mut self, id: PredicateId, mut allowance: Allowance) -> bool {
        let program = self.program;
        let predicate = program.predicate(id);
        let (candidates, is_partial) = self.plans.find(id, &self.store, &self.arguments);
        if !predicate.reaches && !is_partial && candidates.len() == 1 {
            return self.enter(candidates.start, &allowance, UNGUARDED);
        }
        if predicate.is_sized {
            let Some(depth) = allowance.depth.checked_sub(1) else { return false };
            allowance.depth = depth;
            allowance.target = allowance.target.min(predicate.below - 1);
            allowance.limit = allowance.limit.min(predicate.below - 1);
        }
        let first = self.untried.len();
        // What is sized is a term that is made, and says nothing yet that heads could differ in.
        let looks = is_partial || candidates.len() > 1 && !predicate.is_sized;
        let depth = allowance.depth.saturating_add(u32::from(predicate.is_sized));
        for position in candidates {
            let candidate = self.plans.candidate(position);
            let fits = !predicate.reaches
                || candidate.minimum <= allowance.limit && candidate.shallowest <= depth;
            if fits && (!looks || self.matches(position, is_partial)) {
                self.untried.push(position);
            }
        }
        if self.untried.len() == first {
            return false;
        }
        let guard = if self.is_guarded(predicate) { self.guard(&allowance) } else { UNGUARDED };
        let candidate = self.choose(predicate, &allowance, first);
        if self.untried.len() > first {
            self.push_call_choice(id, allowance, first);
        }
        self.enter(candidate, &allowance, guard)
    }

    /// Can a clause match? What stands at the top of the arguments is known to fit, unless the ways of
    /// calling do not tell all of it apart.
    fn matches(&mut self, candidate: u32, is_partial: bool) -> bool {
        let clause = self.program.clause(self.plans.candidate(candidate).clause);
        clause.is_flat && !is_partial || self.may_match(&clause.head, clause.variables)
    }

    /// Is a sized goal given up as a whole when it turns back too often?
    pub(super) fn is_guarded(&self, predicate: &Predicate) -> bool {
        predicate.is_sized && self.mode.commits && self.nested == 0
    }

    fn push_call_choice(&mut self, predicate: PredicateId, allowance: Allowance, first: usize) {
        let saved = self.saved.len() as u32;
        self.saved.extend_from_slice(&self.arguments);
        self.push_choice(ChoiceKind::Clauses { predicate, allowance });
        if let Some(choice) = self.choices.last_mut() {
            choice.saved = saved;
            choice.untried = first as u32;
        }
    }

    /// Takes one of the untried clauses from `first` on.
    pub(super) fn choose(
        &mut self,
        predicate: &Predicate,
        allowance: &Allowance,
        first: usize,
    ) -> u32 {
        let count = self.untried.len() - first;
        if !self.mode.random {
            // They are tried in the order of the rules; taking the first keeps it.
            return self.untried.remove(first);
        }
        let position = if count == 1 {
            0
        } else if predicate.reaches || predicate.has_weights {
            self.weigh(allowance, first)
        } else {
            self.stream.below(count as u32) as usize
        };
        self.untried.swap_remove(first + position)
    }

    fn weigh(&mut self, allowance: &Allowance, first: usize) -> usize {
        let (plans, directed) = (self.plans, self.mode.target > 0);
        let weight = |candidate: &u32| {
            let candidate = plans.candidate(*candidate);
            if directed { directed_weight(candidate, allowance) } else { candidate.weight << 8 }
        };
        let untried = &self.untried[first..];
        let total: u32 = untried.iter().map(weight).sum();
        if total == 0 {
            return self.stream.below(untried.len() as u32) as usize;
        }
        let mut drawn = self.stream.below(total);
        let chosen = untried.iter().map(weight).position(|weight| {
            let is_chosen = drawn < weight;
            drawn = drawn.wrapping_sub(weight);
            is_chosen
        });
        chosen.unwrap_or(0)
    }

    /// Unifies the head and puts the body in front.
    pub(super) fn enter(&mut self, candidate: u32, allowance: &Allowance, guard: u32) -> bool {
        let id = self.plans.candidate(candidate).clause;
        let clause = self.program.clause(id);
        let values = self.values.len() as u32;
        let filler = Term::integer(0);
        self.values.resize(self.values.len() + usize::from(clause.variables), filler);
        for (position, node) in clause.head.iter().enumerate() {
            let argument = self.arguments[position];
            if !self.unify_head(node, argument, values) {
                return false;
            }
        }
        let begun = self.registers.size;
        self.registers.size += clause.cost;
        if clause.body.is_empty() {
            self.succeed(guard);
        } else {
            let nesting = if guard == UNGUARDED { self.nesting + 1 } else { 0 };
            if nesting > self.mode.nesting {
                // Within a search, that nothing was found would be taken for an answer.
                if self.nested > 0 {
                    self.steps = self.mode.steps;
                }
                return false;
            }
            let frame = Frame {
                clause: id,
                candidate,
                values,
                parent: self.registers.frame,
                next: self.registers.next,
                depth: allowance.depth,
                target: allowance.target,
                limit: allowance.limit,
                begun,
                guard,
                nesting,
            };
            self.registers.frame = self.frames.len() as u32;
            self.registers.next = 0;
            self.frames.push(frame);
        }
        self.store.constraints.is_quiet() || self.settle()
    }
}
