//! Typed indices: a position in one arena cannot be mistaken for a position in another.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// A number that counts one kind of thing.
pub trait Idx: Copy + Eq {
    /// The index with this position.
    fn new(position: usize) -> Self;
    /// The position of this index.
    fn position(self) -> usize;
}

macro_rules! define_index {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl Idx for $name {
            fn new(position: usize) -> Self {
                debug_assert!(position <= u32::MAX as usize);
                $name(position as u32)
            }
            fn position(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

define_index! {
    /// A function of a program; `main` is one of them.
    FuncId;
    /// A variable of a function, parameters included.
    VarId;
    /// An instruction of compiled code.
    Pc;
    /// A process of a running program.
    ProcId;
    /// A channel, lock or wait group of a running program.
    ObjectId;
}

/// A vector that is indexed by one kind of index only.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    #[serde(skip)]
    index: PhantomData<fn(I)>,
}

impl<I: Idx, T> IndexVec<I, T> {
    /// An empty vector.
    pub const fn new() -> Self {
        IndexVec { items: Vec::new(), index: PhantomData }
    }

    /// An empty vector with room for so many.
    pub fn with_capacity(capacity: usize) -> Self {
        IndexVec { items: Vec::with_capacity(capacity), index: PhantomData }
    }

    /// Appends an item and gives its index.
    pub fn push(&mut self, item: T) -> I {
        let id = self.next_index();
        self.items.push(item);
        id
    }

    /// The index that the next push will give.
    pub fn next_index(&self) -> I {
        I::new(self.items.len())
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item at an index, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.position())
    }

    /// All items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All items in order, each with its index.
    pub fn iter_enumerated(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(position, item)| (I::new(position), item))
    }

    /// All indices in order.
    pub fn indices(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::new)
    }
}

impl<I: Idx, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.position()]
    }
}

impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.position()]
    }
}

impl<I: Idx, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<Items: IntoIterator<Item = T>>(items: Items) -> Self {
        IndexVec { items: items.into_iter().collect(), index: PhantomData }
    }
}
