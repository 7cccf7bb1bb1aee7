//! The built-in goals, performed: unification, disequality, negation, integers, copies.

use rustc_hash::FxHashMap;

use crate::constraint::Constraint;
use crate::machine::Machine;
use crate::program::Builtin;
use crate::symbol::{Functor, Functors};
use crate::term::{Store, Term, View};
use crate::transfer::{extract, load};
use crate::tree::Tree;

/// A negation is constructive as long as what it negates has no more answers than this.
const MOST_ANSWERS: usize = 64;
/// Steps for the answers of what is negated.
const ANSWER_STEPS: u64 = 20_000;

/// Performs a built-in goal on the machine's arguments.
pub(crate) fn perform(machine: &mut Machine<'_>, builtin: Builtin) -> bool {
    match builtin {
        Builtin::True => true,
        Builtin::Fail => false,
        Builtin::Call => machine.call_term(machine.argument(0)),
        Builtin::Unify => {
            let (one, other) = (machine.argument(0), machine.argument(1));
            machine.store.unify(one, other)
        }
        Builtin::Differ => {
            let (one, other) = (machine.argument(0), machine.argument(1));
            machine.store.post_different(one, other, &[]);
            true
        }
        Builtin::Absent => {
            let (name, term) = (machine.argument(0), machine.argument(1));
            machine.store.post(Constraint::Absent { name, term });
            true
        }
        Builtin::Member => machine.member(machine.argument(0), machine.argument(1)),
        Builtin::Not => {
            let goal = machine.argument(0);
            matches!(machine.nested(goal, &mut |_| false), Ok(false))
        }
        Builtin::Once => {
            let goal = machine.argument(0);
            matches!(machine.nested(goal, &mut |_| false), Ok(true))
        }
        Builtin::Fresh => {
            let term = machine.argument(0);
            // A term that is checked has its names already.
            if matches!(machine.store.view(term), View::Integer(_)) {
                return true;
            }
            let number = machine.fresh();
            machine.store.unify(term, Term::integer(number))
        }
        Builtin::Copy => {
            let (from, to) = (machine.argument(0), machine.argument(1));
            let mut renamed = FxHashMap::default();
            let copy = rebuild(&mut machine.store, from, &mut |store, address| {
                *renamed.entry(address).or_insert_with(|| store.variable())
            });
            machine.store.unify(copy, to)
        }
        Builtin::Replace => replace(machine),
        Builtin::Substitute => {
            let [old, new, term, result] = [0, 1, 2, 3].map(|place| machine.argument(place));
            let substituted = substituted(&mut machine.store, old, new, term);
            machine.store.unify(substituted, result)
        }
        Builtin::Delay => {
            let (term, goal) = (machine.argument(0), machine.argument(1));
            match machine.store.view(term) {
                View::Variable(address) => machine.store.post_goal(address, goal),
                _ => machine.push_goal(goal),
            }
            true
        }
        Builtin::Negate => negate(machine),
        Builtin::Domain => {
            let [term, low, high] = [0, 1, 2].map(|position| machine.argument(position));
            match (machine.store.view(low), machine.store.view(high)) {
                (View::Integer(low), View::Integer(high)) => machine.store.narrow(term, low, high),
                _ => false,
            }
        }
        Builtin::Sum => {
            let [left, right, sum] = [0, 1, 2].map(|position| machine.argument(position));
            machine.store.post(Constraint::Sum { left, right, sum });
            true
        }
        Builtin::AtMost | Builtin::Below => {
            let (left, right) = (machine.argument(0), machine.argument(1));
            let gap = i32::from(builtin == Builtin::Below);
            machine.store.post(Constraint::AtMost { left, gap, right });
            true
        }
        Builtin::Label => machine.label(machine.argument(0)),
        Builtin::Intact => machine.violated.is_empty(),
        Builtin::Known => !matches!(machine.store.view(machine.argument(0)), View::Variable(_)),
    }
}

/// A copy of a term with something else in the place of each unbound variable.
fn rebuild(
    store: &mut Store,
    term: Term,
    variable: &mut dyn FnMut(&mut Store, u32) -> Term,
) -> Term {
    match store.view(term) {
        View::Variable(address) => variable(store, address),
        View::Structure(functor, first) => {
            let arity = store.constraints.arity(functor);
            let arguments: Vec<Term> = (0..arity)
                .map(|place| {
                    let argument = store.argument(first + place);
                    rebuild(store, argument, variable)
                })
                .collect();
            store.structure(functor, &arguments)
        }
        _ => term,
    }
}

/// `replace(Term, Name, List, Result)`: `Name(I)` in the term becomes the I-th element of the list.
fn replace(machine: &mut Machine<'_>) -> bool {
    let [term, name, list, result] = [0, 1, 2, 3].map(|position| machine.argument(position));
    let View::Constant(name) = machine.store.view(name) else { return false };
    let name = machine.program.functors.name(name);
    let Some(functor) = machine.program.functors.find(name, 1) else { return false };
    let mut elements = Vec::new();
    let mut rest = list;
    while let View::Structure(Functors::CONS, first) = machine.store.view(rest) {
        elements.push(machine.store.argument(first));
        rest = machine.store.argument(first + 1);
    }
    match replaced(&mut machine.store, term, functor, &elements) {
        Some(replaced) => machine.store.unify(replaced, result),
        None => false,
    }
}

fn replaced(store: &mut Store, term: Term, name: Functor, elements: &[Term]) -> Option<Term> {
    let View::Structure(functor, first) = store.view(term) else { return Some(term) };
    if functor == name {
        let View::Integer(position) = store.view(store.argument(first)) else { return None };
        return elements.get(usize::try_from(position).ok()?).copied();
    }
    let arity = store.constraints.arity(functor);
    let mut arguments = Vec::with_capacity(arity as usize);
    let mut changed = false;
    for place in 0..arity {
        let argument = store.argument(first + place);
        let new = replaced(store, argument, name, elements)?;
        changed |= new != argument;
        arguments.push(new);
    }
    Some(if changed { store.structure(functor, &arguments) } else { term })
}

/// A term with another one in the place of each part that is the same as `old`.
fn substituted(store: &mut Store, old: Term, new: Term, term: Term) -> Term {
    if store.is_same(old, term) {
        return new;
    }
    let View::Structure(functor, first) = store.view(term) else { return term };
    let arguments: Vec<Term> = (0..store.constraints.arity(functor))
        .map(|place| substituted(store, old, new, store.argument(first + place)))
        .collect();
    let same = arguments.iter().zip(first..).all(|(term, place)| *term == store.argument(place));
    if same { term } else { store.structure(functor, &arguments) }
}

/// Constructive negation (Chan): the goal has these answers and no others, so the goal's variables
/// have to differ from each of them. While there are too many answers the goal waits for its first
/// variable.
fn negate(machine: &mut Machine<'_>) -> bool {
    let goal = machine.argument(0);
    let mut variables = Vec::new();
    machine.store.variables(goal, &mut variables);
    let Some(first) = variables.first().copied() else {
        return matches!(machine.nested(goal, &mut |_| false), Ok(false));
    };
    let mut answers: Vec<Vec<Tree>> = Vec::new();
    let steps = machine.mode.steps;
    machine.mode.steps = steps.min(machine.steps + ANSWER_STEPS);
    let complete = machine.nested(goal, &mut |machine| {
        // Variables that stay open keep their number, others follow.
        let mut known = variables.clone();
        let terms = variables.iter().map(|address| Store::at(*address));
        let answer = terms.map(|term| extract(&mut machine.store, term, &mut known)).collect();
        answers.push(answer);
        answers.len() <= MOST_ANSWERS
    });
    machine.mode.steps = steps;
    let counted = matches!(complete, Ok(false)) && answers.len() <= MOST_ANSWERS;
    if !counted {
        let Some(negation) = machine.program.functors.find("negate", 1) else { return false };
        let again = machine.store.structure(negation, &[goal]);
        machine.store.post_goal(first, again);
        return true;
    }
    for answer in &answers {
        let mut known: Vec<Term> = variables.iter().map(|address| Store::at(*address)).collect();
        let own = known.len();
        let terms: Vec<Term> =
            answer.iter().map(|tree| load(&mut machine.store, tree, &mut known)).collect();
        let universals: Vec<u32> = known[own..]
            .iter()
            .filter_map(|term| match machine.store.view(*term) {
                View::Variable(address) => Some(address),
                _ => None,
            })
            .collect();
        let list = |store: &mut Store, terms: &[Term]| {
            terms.iter().rev().fold(Term::constant(Functors::NIL), |rest, term| {
                store.structure(Functors::CONS, &[*term, rest])
            })
        };
        let own: Vec<Term> = variables.iter().map(|address| Store::at(*address)).collect();
        let (one, other) = (list(&mut machine.store, &own), list(&mut machine.store, &terms));
        machine.store.post_different(one, other, &universals);
    }
    true
}
