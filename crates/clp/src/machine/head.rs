//! Terms of clauses against terms of the store: heads are unified, arguments of goals are built.

use super::Machine;
use crate::program::Node;
use crate::symbol::Functor;
use crate::term::{Store, Term, View};

impl Machine<'_> {
    /// Can a head be unified with the arguments, as far as a look at what is near the top says? What
    /// cannot is not worth a place to turn back to.
    pub(super) fn may_match(&mut self, head: &[Node], variables: u16) -> bool {
        let mut trial = std::mem::take(&mut self.trial);
        trial.clear();
        trial.resize(usize::from(variables), Term::integer(0));
        let matches = head
            .iter()
            .zip(&self.arguments)
            .all(|(node, argument)| may_match(&self.store, node, *argument, &mut trial));
        self.trial = trial;
        matches
    }

    /// Unifies a term of a head with an argument.
    #[inline]
    pub(super) fn unify_head(&mut self, node: &Node, term: Term, values: u32) -> bool {
        match node {
            Node::Any => true,
            Node::First(variable) => {
                self.values[values as usize + usize::from(*variable)] = term;
                true
            }
            node => self.unify_part(node, term, values),
        }
    }

    /// The same for what is no variable at its first place.
    fn unify_part(&mut self, node: &Node, term: Term, values: u32) -> bool {
        match node {
            Node::Any | Node::First(_) => self.unify_head(node, term, values),
            Node::Again(variable) => {
                let known = self.values[values as usize + usize::from(*variable)];
                self.store.unify(known, term)
            }
            Node::Integer(value) => self.unify_atom(Term::integer(*value), term),
            Node::Constant(functor) => self.unify_atom(Term::constant(*functor), term),
            Node::Structure(functor, nodes) => match self.store.view(term) {
                View::Structure(found, first) if found == *functor => {
                    nodes.iter().enumerate().all(|(place, node)| {
                        let argument = self.store.argument(first + place as u32);
                        self.unify_head(node, argument, values)
                    })
                }
                View::Variable(address) => {
                    let built = self.build(node, values);
                    // What has only new variables in it has no old one.
                    if nodes.iter().any(|node| matches!(node, Node::Again(_) | Node::Structure(..)))
                    {
                        return self.store.bind_checked(address, built);
                    }
                    self.store.bind(address, built);
                    true
                }
                _ => false,
            },
        }
    }

    fn unify_atom(&mut self, atom: Term, term: Term) -> bool {
        let term = self.store.resolve(term);
        if term == atom {
            return true;
        }
        match self.store.view(term) {
            View::Variable(address) => {
                self.store.bind(address, atom);
                true
            }
            _ => false,
        }
    }

    /// A term of a clause in the store.
    #[inline]
    pub(super) fn build(&mut self, node: &Node, values: u32) -> Term {
        match node {
            Node::Again(variable) => self.values[values as usize + usize::from(*variable)],
            Node::First(variable) => {
                let term = self.store.variable();
                self.values[values as usize + usize::from(*variable)] = term;
                term
            }
            Node::Any => self.store.variable(),
            Node::Integer(value) => Term::integer(*value),
            Node::Constant(functor) => Term::constant(*functor),
            Node::Structure(functor, nodes) => self.build_structure(*functor, nodes, values),
        }
    }

    /// Its places are filled from the left, since a variable may occur first within a part.
    fn build_structure(&mut self, functor: Functor, nodes: &[Node], values: u32) -> Term {
        let (term, first) = self.store.open_structure(functor, nodes.len());
        for (node, address) in nodes.iter().zip(first..) {
            let word = match node {
                Node::Again(variable) => self.values[values as usize + usize::from(*variable)],
                // The place itself is the variable.
                Node::Any => continue,
                Node::First(variable) => {
                    self.values[values as usize + usize::from(*variable)] = Store::at(address);
                    continue;
                }
                Node::Integer(value) => Term::integer(*value),
                Node::Constant(functor) => Term::constant(*functor),
                Node::Structure(functor, nodes) => self.build_structure(*functor, nodes, values),
            };
            self.store.set_argument(address, word);
        }
        term
    }
}

/// How far a look goes.
const LEVELS: u32 = 3;

fn may_match(store: &Store, node: &Node, term: Term, trial: &mut [Term]) -> bool {
    match node {
        Node::Any => true,
        Node::First(variable) => {
            trial[usize::from(*variable)] = term;
            true
        }
        Node::Again(variable) => store.may_unify(trial[usize::from(*variable)], term, LEVELS),
        Node::Integer(value) => store.may_unify(Term::integer(*value), term, 0),
        Node::Constant(functor) => store.may_unify(Term::constant(*functor), term, 0),
        Node::Structure(functor, nodes) => match store.view(term) {
            View::Variable(_) => {
                // What stands in it is new wherever it occurs first.
                nodes.iter().for_each(|node| renew(store, node, term, trial));
                true
            }
            View::Structure(found, first) => {
                found == *functor
                    && nodes.iter().enumerate().all(|(place, node)| {
                        may_match(store, node, store.argument(first + place as u32), trial)
                    })
            }
            _ => false,
        },
    }
}

/// Variables that occur first where nothing is known can be anything; an unbound variable stands for
/// that.
fn renew(store: &Store, node: &Node, unbound: Term, trial: &mut [Term]) {
    match node {
        Node::First(variable) => trial[usize::from(*variable)] = store.resolve(unbound),
        Node::Structure(_, nodes) => {
            nodes.iter().for_each(|node| renew(store, node, unbound, trial));
        }
        _ => {}
    }
}
