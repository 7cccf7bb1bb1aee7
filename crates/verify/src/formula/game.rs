//! The parity game of a formula on a graph: a vertex is a state and a part of the formula. The
//! verifier moves at `||` and `<…>`, the refuter at `&&` and `[…]`. Who cannot move loses; an
//! endless play is won by the verifier when the highest priority seen forever is even.

use std::borrow::Cow;

use super::normal::{Node, NodeId, Normal};
use crate::components::Arrows;
use crate::watch::Watch;

/// A labelled graph as arrays.
#[derive(Clone, Debug)]
pub struct Lts<'a> {
    /// Where the steps of each state begin; one more at the end.
    pub offsets: Cow<'a, [u32]>,
    /// The label of each step.
    pub labels: Cow<'a, [u32]>,
    /// Where each step leads.
    pub targets: Cow<'a, [u32]>,
}

impl Lts<'_> {
    /// How many states there are; the first is 0.
    pub fn states(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// The steps of a state: label and target.
    pub fn steps(&self, state: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range =
            self.offsets[state as usize] as usize..self.offsets[state as usize + 1] as usize;
        self.labels[range.clone()].iter().copied().zip(self.targets[range].iter().copied())
    }
}

/// A parity game.
pub struct Game {
    /// Does the verifier move here?
    pub verifier: Vec<bool>,
    /// The priority of each vertex.
    pub priority: Vec<u32>,
    /// Where the edges of each vertex begin; one more at the end.
    pub offsets: Vec<u32>,
    /// Where each edge leads.
    pub targets: Vec<u32>,
    /// The state and the part of the formula of each vertex; the first is the question.
    pub vertices: Vec<(u32, NodeId)>,
}

impl Arrows for Game {
    fn size(&self) -> u32 {
        self.vertices.len() as u32
    }

    fn targets(&self, vertex: u32) -> &[u32] {
        let (start, end) = (self.offsets[vertex as usize], self.offsets[vertex as usize + 1]);
        &self.targets[start as usize..end as usize]
    }
}

/// More vertices than this are not attempted.
const LARGEST: u64 = 1 << 31;

/// The part of the game that matters for the first state; `None` if it would be too large, or if
/// the watch runs out.
/// `member[set][label]` tells which labels are in which set of steps.
pub fn game(
    lts: &Lts<'_>,
    normal: &Normal,
    member: &[Vec<bool>],
    watch: &Watch<'_>,
) -> Option<Game> {
    let width = normal.nodes.len() as u64;
    if u64::from(lts.states()) * width >= LARGEST {
        return None;
    }
    let mut game = Game {
        verifier: Vec::new(),
        priority: Vec::new(),
        offsets: vec![0],
        targets: Vec::new(),
        vertices: Vec::new(),
    };
    let mut numbers = vec![u32::MAX; (u64::from(lts.states()) * width) as usize];
    let mut number = |state: u32, node: NodeId, vertices: &mut Vec<(u32, NodeId)>| {
        let place = &mut numbers[(u64::from(state) * width + u64::from(node)) as usize];
        if *place == u32::MAX {
            *place = vertices.len() as u32;
            vertices.push((state, node));
        }
        *place
    };
    number(0, normal.root, &mut game.vertices);
    let mut next = 0;
    while let Some((state, node)) = game.vertices.get(next).copied() {
        next += 1;
        if watch.is_over() {
            return None;
        }
        let (mut verifier, mut priority) = (false, 0);
        match normal.nodes[node as usize] {
            // The player who cannot move loses.
            Node::Constant(value) => verifier = !value,
            Node::And(left, right) | Node::Or(left, right) => {
                verifier = matches!(normal.nodes[node as usize], Node::Or(..));
                game.targets.push(number(state, left, &mut game.vertices));
                game.targets.push(number(state, right, &mut game.vertices));
            }
            Node::Box(set, inner) | Node::Diamond(set, inner) => {
                verifier = matches!(normal.nodes[node as usize], Node::Diamond(..));
                for (label, target) in lts.steps(state) {
                    if member[set as usize][label as usize] {
                        game.targets.push(number(target, inner, &mut game.vertices));
                    }
                }
            }
            Node::Fixpoint(own, body) => {
                priority = own;
                game.targets.push(number(state, body, &mut game.vertices));
            }
        }
        game.verifier.push(verifier);
        game.priority.push(priority);
        game.offsets.push(u32::try_from(game.targets.len()).ok()?);
    }
    Some(game)
}
