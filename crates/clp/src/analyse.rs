//! What a clause costs if its rule does not say so, and which predicates can add to the size of a
//! term.

use crate::program::{Action, Program};

/// Fills in costs and reachability.
pub(crate) fn analyse(program: &mut Program) {
    for predicate in &program.predicates {
        let default = u32::from(predicate.is_sized);
        for clause in &predicate.clauses {
            let cost = &mut program.clauses[clause.0 as usize].cost;
            if *cost == u32::MAX {
                *cost = default;
            }
        }
    }
    while reach(program) {}
}

/// One round; did anything change?
fn reach(program: &mut Program) -> bool {
    let mut changed = false;
    for position in 0..program.predicates.len() {
        let predicate = &program.predicates[position];
        let calls_one = || {
            predicate.clauses.iter().any(|clause| {
                let clause = program.clause(*clause);
                clause.cost > 0 || clause.body.iter().any(|goal| program.reaches(goal.action))
            })
        };
        if !predicate.reaches && (predicate.is_sized || calls_one()) {
            program.predicates[position].reaches = true;
            changed = true;
        }
    }
    changed
}

impl Program {
    /// Can it add to the size of a term?
    pub(crate) fn reaches(&self, action: Action) -> bool {
        matches!(action, Action::Call(predicate) if self.predicate(predicate).reaches)
    }
}
