//! Short lists: of what a step accesses, of what happened before a thread's next step, of who waits
//! for a thread. Nearly always there is one element or none, and the lists are emptied and filled
//! again with every step, so the first elements are kept in place and emptying is one write.

use std::ops::{Deref, DerefMut};

/// How many elements are kept in place.
const IN_PLACE: usize = 2;

/// A list that is nearly always short.
#[derive(Clone, Debug)]
pub(crate) struct ShortList<T> {
    few: [T; IN_PLACE],
    count: usize,
    /// All elements, if they are too many to be kept in place.
    many: Vec<T>,
}

impl<T: Copy> ShortList<T> {
    /// An empty list. What stands in its unused places does not matter.
    pub(crate) const fn new(unused: T) -> Self {
        ShortList { few: [unused; IN_PLACE], count: 0, many: Vec::new() }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Becomes the list of this one element.
    #[inline]
    pub(crate) fn become_one(&mut self, element: T) {
        self.few[0] = element;
        self.count = 1;
    }

    #[inline]
    pub(crate) fn push(&mut self, element: T) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = element,
            None => self.push_many(element),
        }
        self.count += 1;
    }

    #[cold]
    fn push_many(&mut self, element: T) {
        if self.count == IN_PLACE {
            self.many.clear();
            self.many.extend_from_slice(&self.few);
        }
        self.many.push(element);
    }

    pub(crate) fn extend(&mut self, more: impl IntoIterator<Item = T>) {
        more.into_iter().for_each(|element| self.push(element));
    }

    pub(crate) fn remove(&mut self, mut unwanted: impl FnMut(&T) -> bool) {
        let kept: Vec<T> = self.iter().filter(|element| !unwanted(element)).copied().collect();
        self.clear();
        self.extend(kept);
    }
}

impl<T> Deref for ShortList<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.few.get(..self.count).unwrap_or(&self.many)
    }
}

impl<T> DerefMut for ShortList<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.few.get_mut(..self.count).unwrap_or(&mut self.many)
    }
}
