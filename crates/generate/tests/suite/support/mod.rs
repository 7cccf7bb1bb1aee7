//! What the tests share: a walk over programs that is not the generator's own, and a second opinion
//! on termination.
//!
//! For the latter, effects are run by a few lines that know nothing of the
//! explorer, the language or the generator.
//!
//! An effect is compiled to nodes; a state is the sorted list of the nodes where its processes are.
//! Spawns and choices touch nobody else, so they are performed at once (each branch of a choice);
//! what remains is which two processes meet next, and all of that is tried.

use rustc_hash::FxHashSet;
use strait_calculus::ast::{
    Block, Capacity, Case, CaseOp, Expr, ExprKind, Function, Program, Stmt, StmtKind, Type,
};
use strait_calculus::{ChannelName, Effect, Idx, SelectEffect, VarId};
use strait_generate::Capabilities;

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every schedule ends with all processes finished; so many states were seen.
    Terminates(usize),
    /// Some schedule ends with these operations waiting forever.
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

/// Calls `visit` on every statement of a program, with the number of spawns around it.
pub fn for_each_statement(program: &Program, visit: &mut impl FnMut(&Stmt, u32)) {
    for function in program.functions.iter() {
        in_block(&function.body, 0, visit);
    }
}

fn in_block(block: &Block, spawns: u32, visit: &mut impl FnMut(&Stmt, u32)) {
    for statement in &block.statements {
        visit(statement, spawns);
        match &statement.kind {
            StmtKind::Select { cases, default } => {
                for case in cases {
                    in_block(&case.body, spawns, visit);
                }
                if let Some(default) = default {
                    in_block(default, spawns, visit);
                }
            }
            StmtKind::Spawn { body, .. } => in_block(body, spawns + 1, visit),
            StmtKind::While { body, .. } => in_block(body, spawns, visit),
            StmtKind::If { then, otherwise, .. } => {
                in_block(then, spawns, visit);
                if let Some(otherwise) = otherwise {
                    in_block(otherwise, spawns, visit);
                }
            }
            StmtKind::Choose { branches } => {
                for branch in branches {
                    in_block(branch, spawns, visit);
                }
            }
            _ => {}
        }
    }
}

/// What a program does that a target with these capabilities cannot.
pub fn beyond(program: &Program, capabilities: &Capabilities) -> Option<&'static str> {
    let mut found = None;
    if program.functions.len() > 1 && !capabilities.recursion {
        return Some("functions");
    }
    for_each_statement(program, &mut |statement, _| {
        found = found.or(statement_beyond(&statement.kind, capabilities));
    });
    let main = &program.functions[program.main];
    let too_many = capabilities.max_processes.is_some_and(|most| 1 + spawns(&main.body) > most);
    let crowded = |puts: bool| {
        let channels = (0..main.variables.len()).map(VarId::new);
        channels.map(|channel| users(&main.body, channel, puts).total()).max().unwrap_or(0) > 1
    };
    found
        .or(too_many.then_some("too many processes"))
        .or((!capabilities.many_receivers && crowded(false)).then_some("several receivers"))
        .or((!capabilities.many_senders && crowded(true)).then_some("several senders"))
        .or((capabilities.one_message && repeats(main)).then_some("several messages"))
}

/// Is there a channel on which some way through a function puts twice or completes two gets?
fn repeats(function: &Function) -> bool {
    let channels = (0..function.variables.len()).map(VarId::new);
    channels.into_iter().any(|channel| {
        times(&function.body, channel, true) > 1 || times(&function.body, channel, false) > 1
    })
}

/// How often the busiest way through a block puts on a channel, or completes a get from it.
fn times(block: &Block, channel: VarId, puts: bool) -> u32 {
    let is_channel = |expression: &Expr| expression.kind == ExprKind::Var(channel);
    let in_block = |block: &Block| times(block, channel, puts);
    let of_statement = |statement: &Stmt| match &statement.kind {
        StmtKind::Put { channel, .. } => u32::from(puts && is_channel(channel)),
        StmtKind::Get { channel, .. } => u32::from(!puts && is_channel(channel)),
        StmtKind::Spawn { body, .. } => in_block(body),
        // Two rounds stand for many.
        StmtKind::While { body, .. } => 2 * in_block(body),
        StmtKind::If { then, otherwise, .. } => {
            [then].into_iter().chain(otherwise).map(in_block).max().unwrap_or(0)
        }
        StmtKind::Choose { branches } => branches.iter().map(in_block).max().unwrap_or(0),
        StmtKind::Select { cases, default } => {
            let of_case = |case: &Case| {
                let is_it = match &case.op {
                    CaseOp::Put { channel, .. } => puts && is_channel(channel),
                    CaseOp::Get { channel, .. } => !puts && is_channel(channel),
                    CaseOp::Timeout => false,
                };
                u32::from(is_it) + in_block(&case.body)
            };
            cases.iter().map(of_case).chain(default.iter().map(in_block)).max().unwrap_or(0)
        }
        _ => 0,
    };
    block.statements.iter().map(of_statement).sum()
}

/// Which processes use one end of a channel on the busiest way through a block.
#[derive(Clone, Copy, Default)]
struct Users {
    this: bool,
    spawned: u32,
}

impl Users {
    fn total(self) -> u32 {
        u32::from(self.this) + self.spawned
    }
}

fn users(block: &Block, channel: VarId, puts: bool) -> Users {
    let is_channel = |expression: &Expr| expression.kind == ExprKind::Var(channel);
    let mut found = Users::default();
    for statement in &block.statements {
        let mut ways: Vec<Users> = Vec::new();
        match &statement.kind {
            StmtKind::Put { channel, .. } => found.this |= puts && is_channel(channel),
            StmtKind::Get { channel, .. } => found.this |= !puts && is_channel(channel),
            StmtKind::Spawn { body, .. } => found.spawned += users(body, channel, puts).total(),
            StmtKind::While { body, .. } => ways.push(users(body, channel, puts)),
            StmtKind::If { then, otherwise, .. } => {
                let blocks = [then].into_iter().chain(otherwise);
                ways.extend(blocks.map(|block| users(block, channel, puts)));
            }
            StmtKind::Choose { branches } => {
                ways.extend(branches.iter().map(|branch| users(branch, channel, puts)));
            }
            StmtKind::Select { cases, default } => {
                for case in cases {
                    found.this |= match &case.op {
                        CaseOp::Put { channel, .. } => puts && is_channel(channel),
                        CaseOp::Get { channel, .. } => !puts && is_channel(channel),
                        CaseOp::Timeout => false,
                    };
                }
                let blocks = cases.iter().map(|case| &case.body).chain(default);
                ways.extend(blocks.map(|block| users(block, channel, puts)));
            }
            _ => {}
        }
        if let Some(busiest) = ways.into_iter().max_by_key(|way| way.total()) {
            found.this |= busiest.this;
            found.spawned += busiest.spawned;
        }
    }
    found
}

/// The most processes that one way through a block can spawn, without those of functions.
fn spawns(block: &Block) -> u32 {
    let most = |blocks: &[&Block]| blocks.iter().map(|block| spawns(block)).max().unwrap_or(0);
    block
        .statements
        .iter()
        .map(|statement| match &statement.kind {
            StmtKind::Spawn { body, .. } => 1 + spawns(body),
            StmtKind::While { body, .. } => spawns(body),
            StmtKind::If { then, otherwise, .. } => {
                most(&[then].into_iter().chain(otherwise).collect::<Vec<_>>())
            }
            StmtKind::Choose { branches } => most(&branches.iter().collect::<Vec<_>>()),
            StmtKind::Select { cases, default } => {
                most(&cases.iter().map(|case| &case.body).chain(default).collect::<Vec<_>>())
            }
            _ => 0,
        })
        .sum()
}

fn statement_beyond(statement: &StmtKind, all: &Capabilities) -> Option<&'static str> {
    match statement {
        StmtKind::NewChannel { element, capacity, .. } => {
            let capacity_known = match capacity {
                Capacity::Rendezvous => all.rendezvous,
                Capacity::Bounded(capacity) => {
                    all.buffered && all.max_capacity.is_none_or(|most| *capacity <= most)
                }
                Capacity::Unbounded => all.unbounded,
            };
            let element_known = match element {
                Type::Unit => true,
                Type::Int => all.integers,
                Type::Chan(_) => all.channels_over_channels,
                _ => false,
            };
            match (capacity_known, element_known) {
                (false, _) => Some("a capacity"),
                (_, false) => Some("a message type"),
                _ => None,
            }
        }
        StmtKind::Close { .. } => (!all.close).then_some("close"),
        StmtKind::Get { ok: Some(_), .. } => (!all.close).then_some("a get that sees close"),
        StmtKind::Abandon { .. } => (!all.abandon).then_some("abandon"),
        StmtKind::While { .. } => (!all.loops).then_some("a loop"),
        StmtKind::Call { .. } => (!all.recursion).then_some("a call"),
        StmtKind::Select { cases, default } => select_beyond(cases, default.is_some(), all),
        _ => None,
    }
}

fn select_beyond(cases: &[Case], has_default: bool, all: &Capabilities) -> Option<&'static str> {
    let timeouts = cases.iter().filter(|case| matches!(case.op, CaseOp::Timeout)).count();
    let puts = cases.iter().any(|case| matches!(case.op, CaseOp::Put { .. }));
    let gets = cases.iter().any(|case| matches!(case.op, CaseOp::Get { .. }));
    if has_default && (puts && !all.default_puts || gets && !all.default_gets) {
        return Some("default");
    }
    if timeouts > 0 && (puts && !all.timeout_puts || gets && !all.timeout_gets) {
        return Some("timeout");
    }
    // One operation with a way out is a try, not a select.
    if cases.len() - timeouts == 1 && (has_default || timeouts > 0) {
        return None;
    }
    for (position, case) in cases.iter().enumerate() {
        let (channel, puts) = match &case.op {
            CaseOp::Put { channel, .. } => (channel, true),
            CaseOp::Get { channel, .. } => (channel, false),
            CaseOp::Timeout => continue,
        };
        if puts && !all.select_puts {
            return Some("select over puts");
        }
        if !puts && !all.select_gets {
            return Some("select over gets");
        }
        for other in &cases[..position] {
            match &other.op {
                CaseOp::Put { channel: same, .. } if same == channel => {
                    if puts && !all.same_channel_twice {
                        return Some("one channel twice in a select");
                    }
                    if !puts && !all.put_and_get_in_select {
                        return Some("put and get on one channel in a select");
                    }
                }
                CaseOp::Get { channel: same, .. } if same == channel => {
                    if !puts && !all.same_channel_twice {
                        return Some("one channel twice in a select");
                    }
                    if puts && !all.put_and_get_in_select {
                        return Some("put and get on one channel in a select");
                    }
                }
                _ => {}
            }
        }
    }
    None
}
