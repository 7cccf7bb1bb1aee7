//! Terms as tagged words, and the store they live in: one flat vector that grows while a search goes
//! forward and is cut back when it backtracks.
//!
//! A word is a reference to a cell, a constant, a structure (the address of its functor, arguments
//! behind it) or an integer. A variable is a cell that refers to itself, or that carries an
//! attribute. Every write to an existing cell is on the trail, so that cutting back restores exactly
//! what was.

use crate::constraint::{Constraints, Lengths};
use crate::symbol::Functor;

/// A term, as a word that means something together with a [`Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term(u32);

const TAG: u32 = 7;
const REFERENCE: u32 = 0;
const CONSTANT: u32 = 1;
const STRUCTURE: u32 = 2;
const INTEGER: u32 = 3;
const ATTRIBUTED: u32 = 4;

/// The largest integer of a term; the smallest is its negative.
pub const MAX_INTEGER: i32 = (1 << 28) - 1;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// An unbound variable, by the address of its cell.
    Variable(u32),
    /// A functor without arguments.
    Constant(Functor),
    /// A functor and the address of its first argument.
    Structure(Functor, u32),
    /// An integer.
    Integer(i32),
}

impl Term {
    /// A functor without arguments.
    pub fn constant(functor: Functor) -> Self {
        Term(functor.0 << 3 | CONSTANT)
    }

    /// An integer between plus and minus [`MAX_INTEGER`].
    pub fn integer(value: i32) -> Self {
        Term((value as u32) << 3 | INTEGER)
    }

    fn reference(address: u32) -> Self {
        Term(address << 3 | REFERENCE)
    }

    fn structure(address: u32) -> Self {
        Term(address << 3 | STRUCTURE)
    }

    fn attributed(index: u32) -> Self {
        Term(index << 3 | ATTRIBUTED)
    }

    fn tag(self) -> u32 {
        self.0 & TAG
    }

    fn payload(self) -> u32 {
        self.0 >> 3
    }
}

/// A place to return to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    cells: u32,
    trail: u32,
    constraints: Lengths,
}

/// Cells, trail and constraints of one search.
#[derive(Debug, Default)]
pub struct Store {
    cells: Vec<Term>,
    trail: Vec<(u32, Term)>,
    pub(crate) constraints: Constraints,
    /// Pairs that are still to be unified; empty between calls.
    pairs: Vec<(Term, Term)>,
    /// Terms that are still to be looked at; empty between calls.
    pending: Vec<Term>,
    /// Variables that are still to be told something; empty between calls.
    pub(crate) open: Vec<u32>,
}

impl Store {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.trail.clear();
        self.constraints.clear();
    }

    /// The present, to return to.
    pub fn mark(&self) -> Mark {
        Mark {
            cells: self.cells.len() as u32,
            trail: self.trail.len() as u32,
            constraints: self.constraints.lengths(),
        }
    }

    /// Back to a mark.
    pub fn undo(&mut self, mark: &Mark) {
        while self.trail.len() > mark.trail as usize {
            if let Some((address, old)) = self.trail.pop() {
                self.cells[address as usize] = old;
            }
        }
        self.cells.truncate(mark.cells as usize);
        self.constraints.truncate(&mark.constraints);
    }

    /// A new variable.
    pub fn variable(&mut self) -> Term {
        let address = self.cells.len() as u32;
        self.cells.push(Term::reference(address));
        Term::reference(address)
    }

    /// A structure whose arguments are to be set with [`Store::set_argument`] before anything looks
    /// at them; and the address of the first.
    #[inline]
    pub(crate) fn open_structure(&mut self, functor: Functor, arity: usize) -> (Term, u32) {
        let address = self.cells.len() as u32;
        let first = address + 1;
        self.cells.push(Term(functor.0));
        // Each place is a variable of its own until it is set.
        self.cells.extend((first..first + arity as u32).map(Term::reference));
        (Term::structure(address), first)
    }

    /// Sets a place of a structure that is still open.
    pub fn set_argument(&mut self, address: u32, term: Term) {
        self.cells[address as usize] = term;
    }

    /// A structure.
    pub fn structure(&mut self, functor: Functor, arguments: &[Term]) -> Term {
        let address = self.cells.len() as u32;
        self.cells.push(Term(functor.0));
        self.cells.extend_from_slice(arguments);
        Term::structure(address)
    }

    /// The argument in the cell at an address.
    pub fn argument(&self, address: u32) -> Term {
        let word = self.cells[address as usize];
        // An attribute is the matter of its own cell.
        if word.tag() == ATTRIBUTED { Term::reference(address) } else { word }
    }

    /// Follows references to the end.
    pub fn resolve(&self, mut term: Term) -> Term {
        while term.tag() == REFERENCE {
            let word = self.cells[term.payload() as usize];
            if word == term || word.tag() == ATTRIBUTED {
                return term;
            }
            term = word;
        }
        term
    }

    /// What a term is, references followed.
    pub fn view(&self, term: Term) -> View {
        let term = self.resolve(term);
        match term.tag() {
            REFERENCE => View::Variable(term.payload()),
            CONSTANT => View::Constant(Functor(term.payload())),
            INTEGER => View::Integer((term.0 as i32) >> 3),
            _ => {
                let address = term.payload();
                View::Structure(Functor(self.cells[address as usize].0), address + 1)
            }
        }
    }

    /// The attribute of a variable, if it has one.
    pub(crate) fn attribute(&self, address: u32) -> Option<u32> {
        let word = self.cells[address as usize];
        (word.tag() == ATTRIBUTED).then(|| word.payload())
    }

    /// Gives a variable an attribute in the place of the one it had.
    pub(crate) fn set_attribute(&mut self, address: u32, attribute: u32) {
        self.trail.push((address, self.cells[address as usize]));
        self.cells[address as usize] = Term::attributed(attribute);
    }

    /// The variables that were bound since a mark, with the words they had.
    pub(crate) fn bound_since(&self, mark: &Mark) -> &[(u32, Term)] {
        &self.trail[mark.trail as usize..]
    }

    /// The variable at an address as a term.
    pub(crate) fn at(address: u32) -> Term {
        Term::reference(address)
    }

    /// Binds an unbound variable and wakes what waited for it.
    pub fn bind(&mut self, address: u32, term: Term) {
        let old = self.cells[address as usize];
        self.trail.push((address, old));
        self.cells[address as usize] = term;
        if old.tag() == ATTRIBUTED {
            self.constraints.wake(old.payload(), term);
        }
    }

    /// Makes two terms equal, with occurs check. After `false` the store is to be cut back.
    pub fn unify(&mut self, one: Term, other: Term) -> bool {
        self.pairs.clear();
        let mut next = Some((one, other));
        while let Some((one, other)) = next {
            let (one, other) = (self.resolve(one), self.resolve(other));
            if one != other && !self.unify_resolved(one, other) {
                return false;
            }
            next = self.pairs.pop();
        }
        true
    }

    fn unify_resolved(&mut self, one: Term, other: Term) -> bool {
        match (one.tag(), other.tag()) {
            (REFERENCE, REFERENCE) => self.unify_variables(one.payload(), other.payload()),
            (REFERENCE, _) => return self.bind_checked(one.payload(), other),
            (_, REFERENCE) => return self.bind_checked(other.payload(), one),
            (STRUCTURE, STRUCTURE) => {
                let (left, right) = (one.payload(), other.payload());
                let functor = self.cells[left as usize];
                if functor != self.cells[right as usize] {
                    return false;
                }
                let arity = self.constraints.arity(Functor(functor.0));
                for place in (1..=arity).rev() {
                    let pair = (self.argument(left + place), self.argument(right + place));
                    self.pairs.push(pair);
                }
            }
            _ => return false,
        }
        true
    }

    /// The younger one is bound to the older one, so that references lead to what lives longer; one
    /// without attribute goes first, since it has nobody to tell.
    fn unify_variables(&mut self, one: u32, other: u32) {
        let plain = |address: u32| self.attribute(address).is_none();
        let (bound, kept) = match (plain(one), plain(other)) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => (one.max(other), one.min(other)),
        };
        self.bind(bound, Term::reference(kept));
    }

    /// Binds a variable to a term that is none, unless it occurs in it.
    pub fn bind_checked(&mut self, address: u32, term: Term) -> bool {
        if term.tag() == STRUCTURE && self.occurs(address, term) {
            return false;
        }
        self.bind(address, term);
        true
    }

    /// Can the two be equal, as far as a look at what is near the top says? Binds nothing.
    pub(crate) fn may_unify(&self, one: Term, other: Term, levels: u32) -> bool {
        let (one, other) = (self.resolve(one), self.resolve(other));
        if one == other || one.tag() == REFERENCE || other.tag() == REFERENCE {
            return true;
        }
        if one.tag() != STRUCTURE || other.tag() != STRUCTURE {
            return false;
        }
        let (left, right) = (one.payload(), other.payload());
        let functor = self.cells[left as usize];
        if functor != self.cells[right as usize] {
            return false;
        }
        let arity = self.constraints.arity(Functor(functor.0));
        levels == 0
            || (1..=arity).all(|place| {
                let (one, other) = (self.argument(left + place), self.argument(right + place));
                self.may_unify(one, other, levels - 1)
            })
    }

    /// Are the two the same, variables included?
    pub(crate) fn is_same(&self, one: Term, other: Term) -> bool {
        match (self.view(one), self.view(other)) {
            (View::Structure(left, first), View::Structure(right, second)) => {
                left == right
                    && (0..self.constraints.arity(left)).all(|place| {
                        self.is_same(self.argument(first + place), self.argument(second + place))
                    })
            }
            (left, right) => left == right,
        }
    }

    /// Does a variable occur in a term?
    pub fn occurs(&mut self, address: u32, term: Term) -> bool {
        let sought = Term::reference(address);
        !self.walk(term, &mut |word| word != sought)
    }

    /// Is no word of a term, which is a constant or an integer, one of those that are not wanted? The
    /// term's unbound variables are added to `open`.
    pub(crate) fn is_free_of(
        &mut self,
        term: Term,
        unwanted: impl Fn(Term) -> bool,
        open: &mut Vec<u32>,
    ) -> bool {
        self.walk(term, &mut |word| {
            if word.tag() == REFERENCE {
                open.push(word.payload());
                return true;
            }
            !unwanted(word)
        })
    }

    /// Shows every unbound variable, constant and integer of a term until one is not liked; were all?
    #[inline]
    fn walk(&mut self, term: Term, liked: &mut impl FnMut(Term) -> bool) -> bool {
        let term = self.resolve(term);
        if term.tag() != STRUCTURE {
            return liked(term);
        }
        self.pending.clear();
        let mut next = Some(term);
        while let Some(structure) = next {
            let first = structure.payload() as usize + 1;
            let arity = self.constraints.arity(Functor(self.cells[first - 1].0)) as usize;
            for place in first..first + arity {
                let word = self.cells[place];
                let word = match word.tag() {
                    // An attribute is the matter of its own cell.
                    ATTRIBUTED => Term::reference(place as u32),
                    REFERENCE => self.resolve(word),
                    _ => word,
                };
                if word.tag() == STRUCTURE {
                    self.pending.push(word);
                } else if !liked(word) {
                    return false;
                }
            }
            next = self.pending.pop();
        }
        true
    }

    /// All unbound variables of a term, each once, in order.
    pub fn variables(&mut self, term: Term, found: &mut Vec<u32>) {
        self.pending.clear();
        self.pending.push(term);
        while let Some(term) = self.pending.pop() {
            match self.view(term) {
                View::Variable(address) if !found.contains(&address) => found.push(address),
                View::Structure(functor, first) => {
                    let arity = self.constraints.arity(functor);
                    for place in (0..arity).rev() {
                        let argument = self.argument(first + place);
                        self.pending.push(argument);
                    }
                }
                _ => {}
            }
        }
    }
}
