//! Elements of lists: those that may be the one that is sought are found in one go, and one of them
//! is drawn, each as likely as the others.

use super::{ChoiceKind, Machine};
use crate::symbol::Functors;
use crate::term::{Term, View};

/// How far a look at an element goes.
const LEVELS: u32 = 4;

impl Machine<'_> {
    /// Unifies what is sought with an element of a list, as far as the list is known.
    pub(crate) fn member(&mut self, sought: Term, list: Term) -> bool {
        let first = self.saved.len();
        let mut rest = list;
        while let View::Structure(Functors::CONS, element) = self.store.view(rest) {
            let found = self.store.argument(element);
            if self.store.may_unify(sought, found, LEVELS) {
                self.saved.push(found);
            }
            rest = self.store.argument(element + 1);
        }
        if self.saved.len() == first {
            return false;
        }
        if !self.mode.random {
            // Elements are taken from the end.
            self.saved[first..].reverse();
        }
        let element = self.take_element(first);
        if self.saved.len() > first {
            self.push_choice(ChoiceKind::Member { sought });
            if let Some(choice) = self.choices.last_mut() {
                choice.saved = first as u32;
            }
        }
        self.store.unify(sought, element)
    }

    /// Takes one of the untried elements from `first` on.
    pub(super) fn take_element(&mut self, first: usize) -> Term {
        let count = self.saved.len() - first;
        let random = self.mode.random && count > 1;
        let position = if random { self.stream.below(count as u32) as usize } else { count - 1 };
        self.saved.swap_remove(first + position)
    }
}
