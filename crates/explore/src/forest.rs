//! Wakeup trees as in `wakeup.rs`, for steps of deterministic threads. All trees of a search live in
//! one vector whose places are used again, so that planning a reversal allocates nothing.

use smallvec::SmallVec;

use crate::threaded::Step;

/// A place in the forest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place(u32);

impl Default for Place {
    fn default() -> Self {
        Place::NONE
    }
}

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

/// Steps in the order in which they are to be made. Most fit without memory of their own.
pub(crate) type Sequence<'s> = SmallVec<[&'s Step; 24]>;

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
pub(crate) fn weak_initial(step: &Step, sequence: &[&Step]) -> Initial {
    for (position, next) in sequence.iter().enumerate() {
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

    /// Copies the list of trees that begins at a place of another forest.
    pub(crate) fn graft(&mut self, from: &Forest, list: Place) -> Place {
        // Branches to copy, and where the copy is to be hung up: below a parent, or beside the one
        // before. Not recursive: trees can be deep.
        let mut first = Place::NONE;
        let mut left = vec![(list, Place::NONE, false)];
        while let Some((source, at, below)) = left.pop() {
            if source.is_none() {
                continue;
            }
            let Branch { step, first_child, next } = from.at(source);
            let (step, none) = (step.clone(), Place::NONE);
            let copy = self.plant(Branch { step, first_child: none, next: none });
            match (at.is_none(), below) {
                (true, _) => first = copy,
                (false, true) => self.branches[at.0 as usize].first_child = copy,
                (false, false) => self.branches[at.0 as usize].next = copy,
            }
            left.push((*next, copy, false));
            left.push((*first_child, copy, true));
        }
        first
    }

    /// Inserts a sequence (which is used up) to the right of a tree, unless exploring what is there
    /// already covers it. Says whether the tree has grown.
    pub(crate) fn insert(&mut self, root: &mut Place, sequence: &mut Sequence<'_>) -> bool {
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
                match weak_initial(self.step(level), sequence) {
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
        sequence: &mut Sequence<'_>,
    ) -> bool {
        let mut chain = Place::NONE;
        while let Some(step) = sequence.pop() {
            chain =
                self.plant(Branch { step: step.clone(), first_child: chain, next: Place::NONE });
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
