//! Relations on at most 32 events, with the operators of the axioms.

use std::ops::{BitAnd, BitOr, Mul};

/// A set of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Set(pub u32);

impl Set {
    pub fn of(events: impl IntoIterator<Item = usize>) -> Set {
        Set(events.into_iter().fold(0, |set, event| set | 1 << event))
    }

    pub fn contains(self, event: usize) -> bool {
        self.0 >> event & 1 == 1
    }

    /// [S]: the identity on the set.
    pub fn identity(self, size: usize) -> Relation {
        let row = |event| if self.contains(event) { 1 << event } else { 0 };
        Relation { rows: (0..size).map(row).collect() }
    }
}

impl BitAnd for Set {
    type Output = Set;
    fn bitand(self, other: Set) -> Set {
        Set(self.0 & other.0)
    }
}

impl BitOr for Set {
    type Output = Set;
    fn bitor(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }
}

/// A relation: for each event the set of events that it is related to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    rows: Vec<u32>,
}

impl Relation {
    pub fn empty(size: usize) -> Relation {
        Relation { rows: vec![0; size] }
    }

    pub fn add(&mut self, from: usize, to: usize) {
        self.rows[from] |= 1 << to;
    }

    pub fn holds(&self, from: usize, to: usize) -> bool {
        self.rows[from] >> to & 1 == 1
    }

    pub fn size(&self) -> usize {
        self.rows.len()
    }

    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let size = self.size();
        let pair = move |from| (0..size).map(move |to| (from, to));
        (0..size).flat_map(pair).filter(|&(from, to)| self.holds(from, to))
    }

    /// The pairs for which the condition holds.
    pub fn only(&self, condition: impl Fn(usize, usize) -> bool) -> Relation {
        let mut only = Relation::empty(self.size());
        self.pairs().filter(|&(from, to)| condition(from, to)).for_each(|(a, b)| only.add(a, b));
        only
    }

    pub fn inverse(&self) -> Relation {
        let mut inverse = Relation::empty(self.size());
        self.pairs().for_each(|(from, to)| inverse.add(to, from));
        inverse
    }

    /// r?
    pub fn optional(&self) -> Relation {
        self | &Set(u32::MAX).identity(self.size())
    }

    /// r⁺
    pub fn closure(&self) -> Relation {
        let mut closure = self.clone();
        for middle in 0..self.size() {
            for from in 0..self.size() {
                if closure.holds(from, middle) {
                    closure.rows[from] |= closure.rows[middle];
                }
            }
        }
        closure
    }

    pub fn is_irreflexive(&self) -> bool {
        (0..self.size()).all(|event| !self.holds(event, event))
    }

    pub fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|&row| row == 0)
    }
}

impl BitOr for &Relation {
    type Output = Relation;
    fn bitor(self, other: &Relation) -> Relation {
        Relation { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a | b).collect() }
    }
}

impl BitOr for Relation {
    type Output = Relation;
    fn bitor(self, other: Relation) -> Relation {
        &self | &other
    }
}

impl BitAnd for &Relation {
    type Output = Relation;
    fn bitand(self, other: &Relation) -> Relation {
        Relation { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a & b).collect() }
    }
}

/// r; s
impl Mul for &Relation {
    type Output = Relation;
    fn mul(self, other: &Relation) -> Relation {
        let row = |row: &u32| {
            (0..other.size())
                .filter(|to| row >> to & 1 == 1)
                .fold(0, |all, to| all | other.rows[to])
        };
        Relation { rows: self.rows.iter().map(row).collect() }
    }
}

/// r; s
impl Mul for Relation {
    type Output = Relation;
    fn mul(self, other: Relation) -> Relation {
        &self * &other
    }
}
