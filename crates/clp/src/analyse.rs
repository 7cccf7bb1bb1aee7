//! What can be known about sizes before any search: which predicates add to the size of a term, and
//! how much each clause adds at least, by a fixpoint over the rules.
//!
//! The smallest size of a goal depends on the pattern at its place: of the clauses it calls, those
//! whose head cannot match are left out. A clause that can never be finished has size
//! [`NEVER`], and the search does not enter it.

use crate::compile::key;
use crate::program::{Action, NEVER, Node, PredicateId, Program};

/// Fills in sizes, depths and reachability.
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
    reachability(program);
    let sized: Vec<bool> = owners(program);
    for clause in &mut program.clauses {
        clause.minimum = NEVER;
        clause.shallowest = NEVER;
    }
    while improve(program, &sized) {}
    annotate(program);
}

/// For each clause: is its predicate sized?
fn owners(program: &Program) -> Vec<bool> {
    let mut sized = vec![false; program.clauses.len()];
    for predicate in &program.predicates {
        for clause in &predicate.clauses {
            sized[clause.0 as usize] = predicate.is_sized;
        }
    }
    sized
}

fn reachability(program: &mut Program) {
    let mut changed = true;
    while changed {
        changed = false;
        for position in 0..program.predicates.len() {
            let predicate = &program.predicates[position];
            let calls_one = || {
                predicate.clauses.iter().any(|clause| {
                    let clause = program.clause(*clause);
                    clause.cost > 0 || clause.body.iter().any(|goal| reaches(program, &goal.action))
                })
            };
            if !predicate.reaches && (predicate.is_sized || calls_one()) {
                program.predicates[position].reaches = true;
                changed = true;
            }
        }
    }
}

fn reaches(program: &Program, action: &Action) -> bool {
    matches!(action, Action::Call(predicate) if program.predicate(*predicate).reaches)
}

/// One round; did anything become smaller?
fn improve(program: &mut Program, sized: &[bool]) -> bool {
    let mut changed = false;
    for (position, is_sized) in sized.iter().enumerate() {
        let clause = &program.clauses[position];
        let (mut minimum, mut deepest) = (clause.cost, 0);
        for goal in &clause.body {
            if let Action::Call(predicate) = goal.action {
                let (size, depth) = smallest(program, predicate, &goal.arguments);
                minimum = (minimum + size).min(NEVER);
                deepest = deepest.max(depth);
            }
        }
        let shallowest = (deepest + u32::from(*is_sized)).min(NEVER);
        let clause = &mut program.clauses[position];
        if (minimum, shallowest) != (clause.minimum, clause.shallowest) {
            changed |= minimum < clause.minimum || shallowest < clause.shallowest;
            clause.minimum = clause.minimum.min(minimum);
            clause.shallowest = clause.shallowest.min(shallowest);
        }
    }
    changed
}

/// The smallest size and depth of a call with these arguments.
fn smallest(program: &Program, predicate: PredicateId, arguments: &[Node]) -> (u32, u32) {
    let mut best = (NEVER, NEVER);
    for clause in &program.predicate(predicate).clauses {
        let clause = program.clause(*clause);
        let may_match = clause.keys.iter().zip(arguments).all(|(expected, argument)| {
            let found = key(argument);
            *expected == 0 || found == 0 || *expected == found
        });
        if may_match {
            best = (best.0.min(clause.minimum), best.1.min(clause.shallowest));
        }
    }
    best
}

/// Tells every goal what is known about it and about those behind it.
fn annotate(program: &mut Program) {
    for position in 0..program.clauses.len() {
        let known: Vec<(bool, u32)> = program.clauses[position]
            .body
            .iter()
            .map(|goal| match goal.action {
                Action::Call(predicate) => (
                    program.predicate(predicate).reaches,
                    smallest(program, predicate, &goal.arguments).0,
                ),
                Action::Builtin(_) => (false, 0),
            })
            .collect();
        let clause = &mut program.clauses[position];
        clause.grows = known.iter().any(|(reaches, _)| *reaches);
        let (mut later, mut later_minimum) = (0, 0);
        for (goal, (reaches, minimum)) in clause.body.iter_mut().zip(known).rev() {
            goal.reaches = reaches;
            goal.minimum = minimum;
            goal.later = later;
            goal.later_minimum = later_minimum;
            if reaches {
                later += 1;
                later_minimum = (later_minimum + minimum).min(NEVER);
            }
        }
    }
}
