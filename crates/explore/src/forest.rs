//! Wakeup trees as in `wakeup.rs`, for steps of deterministic threads. All trees of a search live in
//! one vector whose places are used again, so that planning a reversal allocates nothing.

use crate::threaded::Step;

/// A place in the forest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place(u32);

impl Place {
    /// No place: the end of a list, or an empty tree.
    pub(crate) const NONE: Place = Place(u32::MAX);

    pub(crate) fn is_none(self) -> bool {
        self == Place::NONE
    }
}

struct Branch {
    step: Step,
    first_child: Place,
    next: Place,
}

/// Many wakeup trees.
#[derive(Default)]
pub(crate) struct Forest {
    branches: Vec<Branch>,
    free: Vec<u32>,
}

/// Where a step stands among the weak initials of a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Initial {
    /// The sequence can be reordered to begin with this position.
    At(usize),
    /// The step is independent of the whole sequence.
    Independent,
    /// The sequence meets something dependent first.
    No,
}

/// Is the step, which must be enabled where the sequence begins, a weak initial of it?
#[inline]
pub(crate) fn weak_initial<'s>(step: &Step, sequence: impl Iterator<Item = &'s Step>) -> Initial {
    for (position, next) in sequence.enumerate() {
        if next.pick.thread == step.pick.thread {
            return if next.pick == step.pick { Initial::At(position) } else { Initial::No };
        }
        if next.conflicts(step) {
            return Initial::No;
        }
    }
    Initial::Independent
}

impl Forest {
    /// How many bytes all trees take.
    pub(crate) fn bytes(&self) -> usize {
        self.branches.capacity() * size_of::<Branch>()
    }

    pub(crate) fn step(&self, place: Place) -> &Step {
        &self.branches[place.0 as usize].step
    }

    /// Takes the first branch of a list away: its step and children, and the rest of the list.
    pub(crate) fn take_first(&mut self, list: Place) -> (Place, Place) {
        let branch = &self.branches[list.0 as usize];
        let (children, rest) = (branch.first_child, branch.next);
        self.free.push(list.0);
        (children, rest)
    }

    /// Inserts a sequence (which is used up) to the right of a tree, unless exploring what is there
    /// already covers it. Says whether the tree has grown.
    pub(crate) fn insert(&mut self, root: &mut Place, sequence: &mut Vec<Step>) -> bool {
        let mut parent = Place::NONE;
        loop {
            let mut level = if parent.is_none() { *root } else { self.at(parent).first_child };
            if level.is_none() && !parent.is_none() {
                // A leaf: everything that can follow it is explored, the rest of this included.
                return false;
            }
            let mut last = Place::NONE;
            let mut matching = None;
            while !level.is_none() {
                match weak_initial(self.step(level), sequence.iter()) {
                    Initial::At(position) => matching = Some(Some(position)),
                    Initial::Independent => matching = Some(None),
                    Initial::No => {
                        last = level;
                        level = self.at(level).next;
                        continue;
                    }
                }
                break;
            }
            let Some(position) = matching else {
                return self.append(root, parent, last, sequence);
            };
            if let Some(position) = position {
                sequence.remove(position);
            }
            parent = level;
        }
    }

    fn append(
        &mut self,
        root: &mut Place,
        parent: Place,
        last: Place,
        sequence: &mut Vec<Step>,
    ) -> bool {
        let mut chain = Place::NONE;
        while let Some(step) = sequence.pop() {
            chain = self.plant(Branch { step, first_child: chain, next: Place::NONE });
        }
        if chain.is_none() {
            return false;
        }
        match (last.is_none(), parent.is_none()) {
            (false, _) => self.branches[last.0 as usize].next = chain,
            (true, false) => self.branches[parent.0 as usize].first_child = chain,
            (true, true) => *root = chain,
        }
        true
    }

    fn plant(&mut self, branch: Branch) -> Place {
        if let Some(place) = self.free.pop() {
            self.branches[place as usize] = branch;
            return Place(place);
        }
        self.branches.push(branch);
        Place(self.branches.len() as u32 - 1)
    }

    fn at(&self, place: Place) -> &Branch {
        &self.branches[place.0 as usize]
    }
}
