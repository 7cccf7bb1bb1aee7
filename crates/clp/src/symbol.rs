//! Names and functors as small numbers, the same ones for everything that reads one set of rules.

use rustc_hash::FxHashMap;

/// A name with a number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Functor(pub(crate) u32);

/// All functors.
#[derive(Clone, Debug, Default)]
pub struct Functors {
    names: Vec<(Box<str>, u32)>,
    numbers: FxHashMap<(Box<str>, u32), Functor>,
}

impl Functors {
    /// A table with nothing but lists in it.
    pub fn new() -> Self {
        let mut functors = Functors::default();
        functors.functor("[]", 0);
        functors.functor(".", 2);
        functors
    }

    /// The end of a list.
    pub const NIL: Functor = Functor(0);
    /// The first element of a list and the rest.
    pub const CONS: Functor = Functor(1);

    /// The number of a functor, a new one if need be.
    pub fn functor(&mut self, name: &str, arity: usize) -> Functor {
        let key = (name.into(), arity as u32);
        if let Some(functor) = self.numbers.get(&key) {
            return *functor;
        }
        let functor = Functor(self.names.len() as u32);
        self.names.push(key.clone());
        self.numbers.insert(key, functor);
        functor
    }

    /// The number of a functor that is there.
    pub fn find(&self, name: &str, arity: usize) -> Option<Functor> {
        self.numbers.get(&(name.into(), arity as u32)).copied()
    }

    /// Its name.
    pub fn name(&self, functor: Functor) -> &str {
        &self.names[functor.0 as usize].0
    }

    /// How many arguments it has.
    pub fn arity(&self, functor: Functor) -> usize {
        self.names[functor.0 as usize].1 as usize
    }

    /// The numbers of arguments of all functors, by number.
    pub(crate) fn arities(&self) -> Box<[u32]> {
        self.names.iter().map(|(_, arity)| *arity).collect()
    }
}
