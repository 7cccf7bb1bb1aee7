//! Wakeup trees (Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order Reduction, 2014,
//! section 5) over actions instead of threads.
//!
//! A node of the search keeps a wakeup tree: an ordered tree of action sequences that are still to
//! be tried from there. Exploring its leaves from left to right never runs into a sleep set: no
//! branch has an earlier sibling among its weak initials, so by the end of a branch everything
//! asleep has met a dependent action and is awake again.

use crate::system::System;

/// Where an action stands among the weak initials of a sequence.
pub(crate) enum Initial {
    /// The sequence can be reordered to begin with this position, which holds the action (the
    /// initials, I in the paper).
    At(usize),
    /// The action is independent of the whole sequence: both orders lead to the same trace (with
    /// the former the weak initials, WI in the paper).
    Independent,
    /// The sequence meets something dependent first.
    No,
}

/// Is the action, which must be enabled where the sequence begins, a weak initial of it?
pub(crate) fn weak_initial<S: System>(
    system: &S,
    action: &S::Action,
    sequence: &[&S::Action],
) -> Initial {
    for (position, &next) in sequence.iter().enumerate() {
        if next == action {
            return Initial::At(position);
        }
        if system.dependent(next, action) {
            return Initial::No;
        }
    }
    Initial::Independent
}

/// A branch of a wakeup tree: an action and what is to follow it, in the order of exploration. No
/// children: any continuation will do.
pub(crate) struct Branch<Action> {
    pub(crate) action: Action,
    pub(crate) children: Vec<Branch<Action>>,
}

/// Inserts a sequence (which is used up) to the right of a tree, unless exploring what is there
/// already covers it. Says whether the tree has grown.
pub(crate) fn insert<S: System>(
    system: &S,
    tree: &mut Vec<Branch<S::Action>>,
    sequence: &mut Vec<&S::Action>,
) -> bool {
    let mut level = tree;
    loop {
        let matching = level.iter().enumerate().find_map(|(index, branch)| {
            match weak_initial(system, &branch.action, sequence) {
                Initial::At(position) => Some((index, Some(position))),
                Initial::Independent => Some((index, None)),
                Initial::No => None,
            }
        });
        let Some((index, position)) = matching else {
            break;
        };
        if let Some(position) = position {
            sequence.remove(position);
        }
        level = &mut level[index].children;
        if level.is_empty() {
            // A leaf: everything that can follow it is explored, so the rest of the sequence too.
            return false;
        }
    }
    let mut chain = Vec::new();
    while let Some(action) = sequence.pop() {
        chain = vec![Branch { action: action.clone(), children: chain }];
    }
    let grown = !chain.is_empty();
    level.append(&mut chain);
    grown
}
