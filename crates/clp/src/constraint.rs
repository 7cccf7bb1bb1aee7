//! What waits for variables to be bound: disequalities, domains and sums of integers, delayed goals.
//!
//! A variable that something waits for has an attribute: the interval it lies in and a chain of
//! constraints. Binding it puts the chain into a queue, and [`Store::settle`] works the queue off.
//! Intervals and chains are never changed in place: a new attribute takes the place of the old one,
//! by way of the trail, so that cutting back restores them.

use crate::symbol::Functor;
use crate::term::{MAX_INTEGER, Store, Term, View};

const NONE: u32 = u32::MAX;

/// What a variable carries.
#[derive(Clone, Copy, Debug)]
struct Attribute {
    low: i32,
    high: i32,
    /// Is it an integer? Otherwise the interval says nothing.
    is_integer: bool,
    /// The chain of what waits for it.
    chain: u32,
    /// The chain of names that must not occur in what it becomes.
    names: u32,
}

/// Something that has to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Constraint {
    /// The two are not equal, whatever the variables from `first` on in `universals` are.
    Different { one: Term, other: Term, first: u32, last: u32 },
    /// `left + right = sum`.
    Sum { left: Term, right: Term, sum: Term },
    /// `left + gap ≤ right`.
    AtMost { left: Term, gap: i32, right: Term },
    /// A name does not occur in a term.
    Absent { name: Term, term: Term },
    /// A goal that runs when its variable is bound.
    Goal { variable: Term, goal: Term },
}

/// How much there is of everything that is cut back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lengths {
    attributes: u32,
    constraints: u32,
    links: u32,
    names: u32,
}

/// All constraints of a search.
#[derive(Debug, Default)]
pub(crate) struct Constraints {
    arities: Box<[u32]>,
    attributes: Vec<Attribute>,
    constraints: Vec<Constraint>,
    /// Links of chains: a constraint and the next link.
    links: Vec<(u32, u32)>,
    /// Links of chains of names: a name and the next link. A chain that one variable has is shared by
    /// the variables of what it becomes.
    names: Vec<(Term, u32)>,
    /// Variables over which disequalities are quantified. Never cut: bounded by the search's steps.
    universals: Vec<u32>,
    queue: Vec<u32>,
    /// Attributes whose interval and names a new value has to fit to.
    fits: Vec<(u32, Term)>,
}

impl Constraints {
    pub(crate) fn set_arities(&mut self, arities: Box<[u32]>) {
        self.arities = arities;
    }

    pub(crate) fn arity(&self, functor: Functor) -> u32 {
        self.arities[functor.0 as usize]
    }

    pub(crate) fn clear(&mut self) {
        self.attributes.clear();
        self.constraints.clear();
        self.links.clear();
        self.names.clear();
        self.universals.clear();
        self.queue.clear();
        self.fits.clear();
    }

    pub(crate) fn lengths(&self) -> Lengths {
        Lengths {
            attributes: self.attributes.len() as u32,
            constraints: self.constraints.len() as u32,
            links: self.links.len() as u32,
            names: self.names.len() as u32,
        }
    }

    pub(crate) fn truncate(&mut self, lengths: &Lengths) {
        self.attributes.truncate(lengths.attributes as usize);
        self.constraints.truncate(lengths.constraints as usize);
        self.links.truncate(lengths.links as usize);
        self.names.truncate(lengths.names as usize);
        self.queue.clear();
        self.fits.clear();
    }

    /// Is nothing waiting to be looked at?
    pub(crate) fn is_quiet(&self) -> bool {
        self.queue.is_empty() && self.fits.is_empty()
    }

    /// A variable with this attribute has become a term.
    pub(crate) fn wake(&mut self, attribute: u32, term: Term) {
        let Attribute { is_integer, chain, names, .. } = self.attributes[attribute as usize];
        if is_integer || names != NONE {
            self.fits.push((attribute, term));
        }
        let mut link = chain;
        while link != NONE {
            let (constraint, next) = self.links[link as usize];
            self.queue.push(constraint);
            link = next;
        }
    }
}

impl Store {
    /// Works off what was woken. Goals that are to run now are added to `goals`; `false` when
    /// something cannot hold any more.
    pub(crate) fn settle(&mut self, goals: &mut Vec<Term>) -> bool {
        loop {
            if let Some((attribute, term)) = self.constraints.fits.pop() {
                if !self.fit(attribute, term) {
                    return false;
                }
            } else if let Some(constraint) = self.constraints.queue.pop() {
                if !self.check(constraint, goals) {
                    return false;
                }
            } else {
                return true;
            }
        }
    }

    /// Adds a constraint.
    pub(crate) fn post(&mut self, constraint: Constraint) {
        let index = self.constraints.constraints.len() as u32;
        self.constraints.constraints.push(constraint);
        self.constraints.queue.push(index);
    }

    /// The two have to differ, whatever the variables in `universals` are.
    pub(crate) fn post_different(&mut self, one: Term, other: Term, universals: &[u32]) {
        let first = self.constraints.universals.len() as u32;
        self.constraints.universals.extend_from_slice(universals);
        let last = self.constraints.universals.len() as u32;
        self.post(Constraint::Different { one, other, first, last });
    }

    /// The goal runs once the variable is bound.
    pub(crate) fn post_goal(&mut self, address: u32, goal: Term) {
        let index = self.constraints.constraints.len() as u32;
        let variable = Store::at(address);
        self.constraints.constraints.push(Constraint::Goal { variable, goal });
        self.wait(address, index);
    }

    fn check(&mut self, index: u32, goals: &mut Vec<Term>) -> bool {
        match self.constraints.constraints[index as usize] {
            Constraint::Different { one, other, first, last } => {
                self.check_different(index, one, other, first as usize..last as usize)
            }
            Constraint::Absent { name, term } => self.check_absent(index, name, term),
            Constraint::Goal { variable, goal } => {
                match self.view(variable) {
                    // It has only become another variable.
                    View::Variable(address) => self.wait(address, index),
                    _ if goals.contains(&goal) => {}
                    _ => goals.push(goal),
                }
                true
            }
            Constraint::Sum { left, right, sum } => self.check_sum(index, left, right, sum),
            Constraint::AtMost { left, gap, right } => self.check_at_most(index, left, gap, right),
        }
    }

    /// Two terms differ for good if they cannot be unified; they are equal if unifying them binds
    /// nothing but universal variables; otherwise it depends on the first variable that was bound.
    fn check_different(
        &mut self,
        index: u32,
        one: Term,
        other: Term,
        range: std::ops::Range<usize>,
    ) -> bool {
        if let Some(differ) = self.differ_plainly(index, one, other, range.is_empty()) {
            return differ;
        }
        // What this unification wakes is of no interest: it is undone at once.
        let queue = std::mem::take(&mut self.constraints.queue);
        let fits = std::mem::take(&mut self.constraints.fits);
        let mark = self.mark();
        let unified = self.unify(one, other);
        let mut watched = Vec::new();
        if unified {
            let universals = &self.constraints.universals[range];
            for (address, _) in self.bound_since(&mark) {
                let became = self.argument(*address);
                let is_universal = |address: &u32| universals.contains(address);
                if is_universal(address) {
                    continue;
                }
                match self.view(became) {
                    View::Variable(to) if is_universal(&to) => {}
                    View::Variable(to) => watched.extend([*address, to]),
                    _ => watched.push(*address),
                }
                if !watched.is_empty() {
                    break;
                }
            }
        }
        self.undo(&mark);
        self.constraints.queue = queue;
        self.constraints.fits = fits;
        for address in &watched {
            self.wait(*address, index);
        }
        !unified || !watched.is_empty()
    }

    /// Two words without parts, or one and a variable, as most disequalities are.
    fn differ_plainly(&mut self, index: u32, one: Term, other: Term, plain: bool) -> Option<bool> {
        if !plain {
            return None;
        }
        let (one, other) = (self.resolve(one), self.resolve(other));
        match (self.view(one), self.view(other)) {
            (View::Structure(..), View::Structure(..)) => None,
            _ if one == other => Some(false),
            (View::Variable(left), View::Variable(right)) => {
                self.wait(left, index);
                self.wait(right, index);
                Some(true)
            }
            (View::Variable(address), View::Constant(_) | View::Integer(_))
            | (View::Constant(_) | View::Integer(_), View::Variable(address)) => {
                self.wait(address, index);
                Some(true)
            }
            (View::Variable(_), _) | (_, View::Variable(_)) => None,
            _ => Some(true),
        }
    }

    /// A name is absent from a term if it is absent from all its parts; what is not known yet is kept
    /// from becoming it.
    fn check_absent(&mut self, index: u32, name: Term, term: Term) -> bool {
        let name = self.resolve(name);
        if let View::Variable(address) = self.view(name) {
            return self.wait_for_name(index, address, term);
        }
        let chain = self.constraints.names.len() as u32;
        self.constraints.names.push((name, NONE));
        self.keep_out_of(term, chain)
    }

    /// A name that is not known yet is none of the term's variables; asked again when it, or one of
    /// them, is known.
    fn wait_for_name(&mut self, index: u32, name: u32, term: Term) -> bool {
        let mut open = std::mem::take(&mut self.open);
        self.is_free_of(term, |_| false, &mut open);
        let absent = !open.contains(&name);
        if absent {
            for address in open.drain(..).chain([name]) {
                if !self.is_watched(address, index) {
                    self.wait(address, index);
                }
            }
        }
        open.clear();
        self.open = open;
        absent
    }

    /// A chain of names does not occur in a term, now or ever.
    fn keep_out_of(&mut self, term: Term, chain: u32) -> bool {
        let mut open = std::mem::take(&mut self.open);
        let names = std::mem::take(&mut self.constraints.names);
        let absent = self.is_free_of(term, |word| is_named(&names, chain, word), &mut open);
        self.constraints.names = names;
        if absent {
            for address in open.drain(..) {
                self.keep_out(address, chain);
            }
        }
        open.clear();
        self.open = open;
        absent
    }

    /// The variable will not become something that one of the names occurs in.
    fn keep_out(&mut self, address: u32, chain: u32) {
        let mut attribute = self.attribute_of(address);
        let known = attribute.names;
        if known == NONE {
            attribute.names = chain;
        } else {
            let mut link = chain;
            // Chains that have the same end are told by it.
            while link != NONE && link != known {
                let (name, next) = self.constraints.names[link as usize];
                if !is_named(&self.constraints.names, known, name) {
                    let own = self.constraints.names.len() as u32;
                    self.constraints.names.push((name, attribute.names));
                    attribute.names = own;
                }
                link = next;
            }
        }
        if attribute.names != known {
            self.replace_attribute(address, attribute);
        }
    }

    /// Puts a constraint on a variable's chain.
    fn wait(&mut self, address: u32, constraint: u32) {
        let mut attribute = self.attribute_of(address);
        let link = self.constraints.links.len() as u32;
        self.constraints.links.push((constraint, attribute.chain));
        attribute.chain = link;
        self.replace_attribute(address, attribute);
    }

    fn attribute_of(&self, address: u32) -> Attribute {
        match self.attribute(address) {
            Some(index) => self.constraints.attributes[index as usize],
            None => {
                let (low, high) = (-MAX_INTEGER, MAX_INTEGER);
                Attribute { low, high, is_integer: false, chain: NONE, names: NONE }
            }
        }
    }

    fn replace_attribute(&mut self, address: u32, attribute: Attribute) {
        let index = self.constraints.attributes.len() as u32;
        self.constraints.attributes.push(attribute);
        self.set_attribute(address, index);
    }

    /// A variable that was an integer in an interval, or had names kept out of it, has become a term.
    fn fit(&mut self, attribute: u32, term: Term) -> bool {
        let Attribute { low, high, is_integer, names, .. } =
            self.constraints.attributes[attribute as usize];
        (!is_integer || self.narrow(term, low, high))
            && (names == NONE || self.keep_out_of(term, names))
    }

    /// The integers a term can be; `None` if it is no integer.
    pub(crate) fn interval(&self, term: Term) -> Option<(i32, i32)> {
        match self.view(term) {
            View::Integer(value) => Some((value, value)),
            View::Variable(address) => {
                let Attribute { low, high, .. } = self.attribute_of(address);
                Some((low, high))
            }
            _ => None,
        }
    }

    /// The term is an integer between the two.
    pub(crate) fn narrow(&mut self, term: Term, low: i32, high: i32) -> bool {
        match self.view(term) {
            View::Integer(value) => low <= value && value <= high,
            View::Variable(address) => {
                let old = self.attribute_of(address);
                let (new_low, new_high) = (old.low.max(low), old.high.min(high));
                if new_low > new_high {
                    return false;
                }
                if new_low == new_high {
                    self.bind(address, Term::integer(new_low));
                } else if !old.is_integer || (old.low, old.high) != (new_low, new_high) {
                    let (low, high) = (new_low, new_high);
                    self.replace_attribute(
                        address,
                        Attribute { low, high, is_integer: true, ..old },
                    );
                    self.requeue(old.chain);
                }
                true
            }
            _ => false,
        }
    }

    /// An interval has become smaller: what depends on it is looked at again, goals excepted.
    fn requeue(&mut self, mut link: u32) {
        while link != NONE {
            let (constraint, next) = self.constraints.links[link as usize];
            let kind = self.constraints.constraints[constraint as usize];
            let arithmetic = matches!(kind, Constraint::Sum { .. } | Constraint::AtMost { .. });
            if arithmetic && !self.constraints.queue.contains(&constraint) {
                self.constraints.queue.push(constraint);
            }
            link = next;
        }
    }

    fn check_sum(&mut self, index: u32, left: Term, right: Term, sum: Term) -> bool {
        let [Some(a), Some(b), Some(c)] = [left, right, sum].map(|term| self.interval(term)) else {
            return false;
        };
        let waits = self.watch(index, &[left, right, sum]);
        let narrowed = self.narrow(sum, a.0.saturating_add(b.0), a.1.saturating_add(b.1))
            && self.narrow(left, c.0.saturating_sub(b.1), c.1.saturating_sub(b.0))
            && self.narrow(right, c.0.saturating_sub(a.1), c.1.saturating_sub(a.0));
        let exact = || match [left, right, sum].map(|term| self.view(term)) {
            [View::Integer(a), View::Integer(b), View::Integer(c)] => a + b == c,
            _ => true,
        };
        narrowed && (waits || exact())
    }

    fn check_at_most(&mut self, index: u32, left: Term, gap: i32, right: Term) -> bool {
        let [Some(a), Some(b)] = [left, right].map(|term| self.interval(term)) else {
            return false;
        };
        self.watch(index, &[left, right]);
        self.narrow(left, -MAX_INTEGER, b.1.saturating_sub(gap))
            && self.narrow(right, a.0.saturating_add(gap), MAX_INTEGER)
    }

    /// Puts an arithmetic constraint on the chains of its variables, once. Are there any?
    fn watch(&mut self, index: u32, terms: &[Term]) -> bool {
        let mut waits = false;
        for term in terms {
            if let View::Variable(address) = self.view(*term) {
                waits = true;
                if !self.is_watched(address, index) {
                    self.wait(address, index);
                }
            }
        }
        waits
    }

    fn is_watched(&self, address: u32, constraint: u32) -> bool {
        let mut link = self.attribute_of(address).chain;
        while link != NONE {
            let (found, next) = self.constraints.links[link as usize];
            if found == constraint {
                return true;
            }
            link = next;
        }
        false
    }
}

/// Is a word one of the names of a chain?
fn is_named(names: &[(Term, u32)], mut link: u32, word: Term) -> bool {
    while link != NONE {
        let (name, next) = names[link as usize];
        if name == word {
            return true;
        }
        link = next;
    }
    false
}
