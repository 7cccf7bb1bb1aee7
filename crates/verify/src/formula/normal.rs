//! Formulas without negation and without sequences of steps, as a list of nodes: what the game is
//! made of. `[R*]φ` is `nu Z. φ && [R]Z`, `<R*>φ` is `mu Z. φ || <R>Z`.

use super::{Formula, Regular, StateFormula, Steps};

/// A place in [`Normal::nodes`].
pub type NodeId = u32;

/// A formula in normal form.
#[derive(Debug)]
pub struct Normal {
    /// Parts come before what they are part of, fixpoints excepted.
    pub nodes: Vec<Node>,
    /// The sets of steps that modalities speak of.
    pub steps: Vec<Steps>,
    /// The whole.
    pub root: NodeId,
}

/// A part of a formula.
#[derive(Clone, Debug)]
pub enum Node {
    /// `true`, `false`
    Constant(bool),
    /// Both.
    And(NodeId, NodeId),
    /// One of them.
    Or(NodeId, NodeId),
    /// After every step of this set.
    Box(u32, NodeId),
    /// After some step of this set.
    Diamond(u32, NodeId),
    /// A fixpoint with its priority: even for the greatest. Its variable is this node again.
    Fixpoint(u32, NodeId),
}

/// Brings a formula into normal form.
pub fn normal(formula: &Formula) -> Normal {
    let mut builder = Builder { nodes: Vec::new(), steps: Vec::new(), scope: Vec::new() };
    let root = builder.state(&formula.root, true);
    let mut normal = Normal { nodes: builder.nodes, steps: builder.steps, root };
    normal.set_priorities();
    normal
}

struct Builder {
    nodes: Vec<Node>,
    steps: Vec<Steps>,
    /// Variables in sight and their nodes.
    scope: Vec<(String, NodeId)>,
}

impl Builder {
    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as NodeId - 1
    }

    /// The node for a formula, or for its negation.
    fn state(&mut self, formula: &StateFormula, sign: bool) -> NodeId {
        match formula {
            StateFormula::Constant(value) => self.push(Node::Constant(*value == sign)),
            StateFormula::Variable(name) => {
                let bound = self.scope.iter().rev().find(|(known, _)| known == name);
                // The parser has seen to it that every variable is bound.
                bound.map_or(0, |(_, node)| *node)
            }
            StateFormula::Not(inner) => self.state(inner, !sign),
            StateFormula::And(left, right) => self.both(left, sign, right, sign, sign),
            StateFormula::Or(left, right) => self.both(left, sign, right, sign, !sign),
            StateFormula::Implies(left, right) => self.both(left, !sign, right, sign, !sign),
            StateFormula::Box(regular, inner) => {
                let inner = self.state(inner, sign);
                self.modality(regular, sign, inner)
            }
            StateFormula::Diamond(regular, inner) => {
                let inner = self.state(inner, sign);
                self.modality(regular, !sign, inner)
            }
            StateFormula::Fixpoint { greatest, variable, body } => {
                let node = self.push(Node::Fixpoint(u32::from(*greatest != sign), 0));
                self.scope.push((variable.clone(), node));
                let body = self.state(body, sign);
                self.scope.pop();
                self.tie(node, body);
                node
            }
        }
    }

    fn both(
        &mut self,
        left: &StateFormula,
        left_sign: bool,
        right: &StateFormula,
        right_sign: bool,
        and: bool,
    ) -> NodeId {
        let left = self.state(left, left_sign);
        let right = self.state(right, right_sign);
        self.push(if and { Node::And(left, right) } else { Node::Or(left, right) })
    }

    /// After every way (`all`) or some way through the steps.
    fn modality(&mut self, regular: &Regular, all: bool, inner: NodeId) -> NodeId {
        match regular {
            Regular::Step(steps) => {
                let known = self.steps.iter().position(|known| known == steps);
                let number = known.unwrap_or_else(|| {
                    self.steps.push(steps.clone());
                    self.steps.len() - 1
                }) as u32;
                self.push(if all { Node::Box(number, inner) } else { Node::Diamond(number, inner) })
            }
            Regular::Sequence(first, second) => {
                let rest = self.modality(second, all, inner);
                self.modality(first, all, rest)
            }
            Regular::Either(left, right) => {
                let left = self.modality(left, all, inner);
                let right = self.modality(right, all, inner);
                self.push(if all { Node::And(left, right) } else { Node::Or(left, right) })
            }
            Regular::Star(again) => self.repetition(again, all, inner).0,
            Regular::Plus(again) => self.repetition(again, all, inner).1,
        }
    }

    /// The nodes for `R*` and for `R+`, which is one round and then `R*`.
    fn repetition(&mut self, again: &Regular, all: bool, inner: NodeId) -> (NodeId, NodeId) {
        let node = self.push(Node::Fixpoint(u32::from(!all), 0));
        let next = self.modality(again, all, node);
        let body = self.push(if all { Node::And(inner, next) } else { Node::Or(inner, next) });
        self.tie(node, body);
        (node, next)
    }

    fn tie(&mut self, node: NodeId, body: NodeId) {
        if let Node::Fixpoint(_, target) = &mut self.nodes[node as usize] {
            *target = body;
        }
    }
}

impl Normal {
    /// A fixpoint gets a priority of its parity that is at least that of every fixpoint inside it
    /// from which it can be reached again. So far nodes hold the parity alone.
    fn set_priorities(&mut self) {
        // Inner fixpoints have higher numbers than those around them.
        for node in (0..self.nodes.len()).rev() {
            let Node::Fixpoint(parity, body) = self.nodes[node] else { continue };
            let inside = self.reachable(body, node as NodeId);
            let dependent = inside.iter().filter_map(|inner| match self.nodes[*inner as usize] {
                Node::Fixpoint(priority, _) if *inner > node as NodeId => {
                    self.reaches(*inner, node as NodeId).then_some(priority)
                }
                _ => None,
            });
            let least = dependent.max().unwrap_or(0);
            let priority = if least % 2 == parity { least } else { least + 1 };
            self.nodes[node] = Node::Fixpoint(priority.max(parity), body);
        }
    }

    /// The parts that can be reached without going through a node again.
    fn reachable(&self, start: NodeId, without: NodeId) -> Vec<NodeId> {
        let mut seen = vec![false; self.nodes.len()];
        let mut work = vec![start];
        let mut found = Vec::new();
        while let Some(node) = work.pop() {
            if node == without || std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            found.push(node);
            work.extend(self.parts(node));
        }
        found
    }

    fn reaches(&self, start: NodeId, goal: NodeId) -> bool {
        let inside = self.reachable(start, NodeId::MAX);
        inside.contains(&goal)
    }

    /// What a node is made of.
    pub fn parts(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        let (first, second) = match self.nodes[node as usize] {
            Node::Constant(_) => (None, None),
            Node::And(left, right) | Node::Or(left, right) => (Some(left), Some(right)),
            Node::Box(_, inner) | Node::Diamond(_, inner) | Node::Fixpoint(_, inner) => {
                (Some(inner), None)
            }
        };
        first.into_iter().chain(second)
    }
}
