//! Terms out of the store and into it.

use crate::term::{Store, Term, View};
use crate::tree::Tree;

/// A term as a tree. Unbound variables are numbered by their place in `known`, to which new ones are
/// added.
pub(crate) fn extract(store: &mut Store, term: Term, known: &mut Vec<u32>) -> Tree {
    match store.view(term) {
        View::Integer(value) => Tree::Integer(value),
        View::Constant(functor) => Tree::Node(functor, Vec::new()),
        View::Variable(address) => {
            let position = known.iter().position(|found| *found == address);
            let position = position.unwrap_or_else(|| {
                known.push(address);
                known.len() - 1
            });
            Tree::Free(position as u32)
        }
        View::Structure(functor, first) => {
            let arity = store.constraints.arity(functor);
            let arguments = (0..arity)
                .map(|place| {
                    let argument = store.argument(first + place);
                    extract(store, argument, known)
                })
                .collect();
            Tree::Node(functor, arguments)
        }
    }
}

/// A tree in the store. Its free places are the terms in `known`, to which new variables are added.
pub(crate) fn load(store: &mut Store, tree: &Tree, known: &mut Vec<Term>) -> Term {
    match tree {
        Tree::Integer(value) => Term::integer(*value),
        Tree::Free(number) => {
            while known.len() <= *number as usize {
                let variable = store.variable();
                known.push(variable);
            }
            known[*number as usize]
        }
        Tree::Node(functor, arguments) if arguments.is_empty() => Term::constant(*functor),
        Tree::Node(functor, arguments) => {
            let terms: Vec<Term> =
                arguments.iter().map(|argument| load(store, argument, known)).collect();
            store.structure(*functor, &terms)
        }
    }
}
