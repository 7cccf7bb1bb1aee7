//! A second opinion on termination: effects are run by a few lines that know nothing of the
//! explorer, the language or the generator.
//!
//! An effect is compiled to nodes; a state is the sorted list of the nodes where its processes are.
//! Spawns and choices touch nobody else, so they are performed at once (each branch of a choice);
//! what remains is which two processes meet next, and all of that is tried.

#![allow(dead_code, reason = "each test file uses a part")]

use rustc_hash::FxHashSet;
use strait_calculus::{ChannelName, Effect, SelectEffect};

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every schedule ends with all processes finished; so many states were seen.
    Terminates(usize),
    /// Some schedule ends with these operations waiting for ever.
    Hangs(Vec<String>),
    /// The search was given up after so many states.
    TooLarge(usize),
}

/// Tries every schedule of an effect, up to `limit` states.
pub fn run(effect: &Effect, limit: usize) -> Answer {
    let mut code = Code { nodes: vec![Node::End] };
    let start = code.compile(effect, END);
    let mut seen: FxHashSet<State> = FxHashSet::default();
    let mut work = Vec::new();
    code.settle(vec![start], &mut work, &mut seen);
    while let Some(state) = work.pop() {
        if seen.len() > limit {
            return Answer::TooLarge(seen.len());
        }
        let mut moved = false;
        for (receiver, channel, received) in code.offers(&state, false) {
            for (sender, other, sent) in code.offers(&state, true) {
                if receiver == sender || channel != other {
                    continue;
                }
                moved = true;
                let mut next = state.clone();
                next[receiver] = received;
                next[sender] = sent;
                code.settle(next, &mut work, &mut seen);
            }
        }
        if !moved && !state.is_empty() {
            let waiting = state.iter().map(|node| format!("{:?}", code.nodes[*node as usize]));
            return Answer::Hangs(waiting.collect());
        }
    }
    Answer::Terminates(seen.len())
}

type NodeId = u32;
type State = Vec<NodeId>;

const END: NodeId = 0;

#[derive(Debug)]
enum Node {
    End,
    Spawn(NodeId, NodeId),
    Choice(Vec<NodeId>),
    /// Whether it puts, the channel, what follows.
    Wait(Vec<(bool, ChannelName, NodeId)>),
}

struct Code {
    nodes: Vec<Node>,
}

impl Code {
    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        (self.nodes.len() - 1) as NodeId
    }

    fn compile(&mut self, effect: &Effect, next: NodeId) -> NodeId {
        match effect {
            Effect::Empty | Effect::Chan(_) => next,
            Effect::Get(channel) => self.push(Node::Wait(vec![(false, *channel, next)])),
            Effect::Put(channel) => self.push(Node::Wait(vec![(true, *channel, next)])),
            Effect::Spawn(body) => {
                let body = self.compile(body, END);
                self.push(Node::Spawn(body, next))
            }
            Effect::Seq(parts) => {
                parts.iter().rev().fold(next, |next, part| self.compile(part, next))
            }
            Effect::Choice(branches) => {
                let branches = branches.iter().map(|branch| self.compile(branch, next)).collect();
                self.push(Node::Choice(branches))
            }
            Effect::Select(cases) => {
                let cases = cases
                    .iter()
                    .map(|case| {
                        let puts = matches!(case, SelectEffect::Put(..));
                        (puts, case.channel(), self.compile(case.body(), next))
                    })
                    .collect();
                self.push(Node::Wait(cases))
            }
        }
    }

    /// Performs spawns and choices until every process waits, and files the states it comes to.
    fn settle(&self, mut state: State, work: &mut Vec<State>, seen: &mut FxHashSet<State>) {
        state.retain(|node| *node != END);
        let busy =
            state.iter().position(|node| !matches!(self.nodes[*node as usize], Node::Wait(_)));
        let Some(busy) = busy else {
            state.sort_unstable();
            if seen.insert(state.clone()) {
                work.push(state);
            }
            return;
        };
        match &self.nodes[state[busy] as usize] {
            Node::Spawn(body, next) => {
                state[busy] = *next;
                state.push(*body);
                self.settle(state, work, seen);
            }
            Node::Choice(branches) => {
                for branch in branches {
                    let mut chosen = state.clone();
                    chosen[busy] = *branch;
                    self.settle(chosen, work, seen);
                }
            }
            Node::End | Node::Wait(_) => unreachable!("neither is busy"),
        }
    }

    /// Who would put (or get) where, and where it would go on.
    fn offers(&self, state: &State, puts: bool) -> Vec<(usize, ChannelName, NodeId)> {
        let mut offers = Vec::new();
        for (process, node) in state.iter().enumerate() {
            if let Node::Wait(cases) = &self.nodes[*node as usize] {
                let fitting = cases.iter().filter(|(case_puts, ..)| *case_puts == puts);
                offers.extend(fitting.map(|(_, channel, next)| (process, *channel, *next)));
            }
        }
        offers
    }
}
