//! What a process must have done before it can do something: on every way from an instruction to an
//! operation on a variable's channel, which operations on other variables' channels come first.
//!
//! The reduction uses this to see that a process is no threat yet: a philosopher cannot put a fork
//! down before taking it up, and that takes the fork's consent. A backward analysis like `flow`,
//! with intersections instead of unions. Only puts and gets count, and only of the first
//! [`TRACKED`] variables of a function; leaving a guard out is always safe.

use crate::language::ast::{Expr, ExprKind};
use crate::language::index::{FuncId, Idx, IndexVec, Pc, VarId};
use crate::machine::code::{Code, Instruction, Select, SelectOp};
use crate::machine::flow::{Uses, backwards};

/// How many variables of a function are followed: two bits each in a word.
const TRACKED: usize = 32;

/// A put or a get on a variable's channel, as a bit position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation(u8);

impl Operation {
    fn new(var: VarId, op: Uses) -> Option<Operation> {
        let offset = u8::from(op == Uses::GET);
        (var.position() < TRACKED).then(|| Operation(var.position() as u8 * 2 + offset))
    }

    /// The variable.
    pub fn var(self) -> VarId {
        VarId::new(self.0 as usize / 2)
    }

    /// [`Uses::PUT`] or [`Uses::GET`].
    pub fn op(self) -> Uses {
        if self.0.is_multiple_of(2) { Uses::PUT } else { Uses::GET }
    }

    fn bit(self) -> u64 {
        1 << self.0
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations(u64);

impl Operations {
    /// None.
    pub const NONE: Operations = Operations(0);
    /// More than all: the operation in question cannot be reached, so anything may be said of it.
    const VACUOUS: Operations = Operations(u64::MAX);

    /// All members.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        (0..64).map(Operation).filter(move |operation| self.0 & operation.bit() != 0)
    }
}

/// For each operation, what must come before it; a missing entry is [`Operations::VACUOUS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Before(Vec<Operations>);

impl Before {
    fn get(&self, operation: Operation) -> Operations {
        self.0.get(operation.0 as usize).copied().unwrap_or(Operations::VACUOUS)
    }

    /// There is also a way on which only these come before.
    fn meet(&mut self, operation: Operation, operations: Operations) {
        if operations == Operations::VACUOUS {
            return;
        }
        if self.0.len() <= operation.0 as usize {
            self.0.resize(operation.0 as usize + 1, Operations::VACUOUS);
        }
        let slot = &mut self.0[operation.0 as usize];
        *slot = Operations(slot.0 & operations.0);
    }

    fn meet_all(&mut self, other: &Before) {
        for (position, operations) in other.0.iter().enumerate() {
            self.meet(Operation(position as u8), *operations);
        }
    }

    /// A variable gets a new value: what was said of it says nothing about the old one.
    fn forget(&mut self, var: Option<VarId>) {
        let Some(var) = var.filter(|var| var.position() < TRACKED) else { return };
        let bits = 3 << (var.position() * 2);
        for (position, operations) in self.0.iter_mut().enumerate() {
            if position / 2 == var.position() {
                *operations = Operations::VACUOUS;
            } else if *operations != Operations::VACUOUS {
                operations.0 &= !bits;
            }
        }
    }

    /// This operation comes first.
    fn pass(&mut self, operation: Operation) {
        for operations in &mut self.0 {
            operations.0 |= operation.bit();
        }
        self.meet(operation, Operations::NONE);
    }
}

/// The guards of a whole program.
#[derive(Debug, Default)]
pub struct Guards {
    at: IndexVec<Pc, Before>,
}

impl Guards {
    /// What must have been done between an instruction and the operation, if it can be reached.
    pub fn before(&self, pc: Pc, var: VarId, op: Uses) -> Operations {
        let known = Operation::new(var, op).map(|operation| self.at[pc].get(operation));
        known.filter(|operations| *operations != Operations::VACUOUS).unwrap_or(Operations::NONE)
    }
}

/// Computes the guards by going backwards until nothing changes.
pub fn analyse(code: &Code) -> Guards {
    Guards { at: backwards(code, |at, pc| transfer(code, at, pc)) }
}

fn transfer(code: &Code, at: &IndexVec<Pc, Before>, pc: Pc) -> Before {
    let next = || at.get(Pc(pc.0 + 1)).cloned().unwrap_or_default();
    match &code.instructions[pc] {
        Instruction::Assign(var, value) => assign(next(), *var, value),
        Instruction::Jump(target) => at[*target].clone(),
        Instruction::Unless(_, target) => {
            let mut before = next();
            before.meet_all(&at[*target]);
            before
        }
        Instruction::NewChannel(var, _) | Instruction::NewLock(var, _) => {
            let mut before = next();
            before.forget(Some(*var));
            before
        }
        Instruction::Spawn(start, _) => {
            let mut before = next();
            before.meet_all(&at[*start]);
            before
        }
        Instruction::Call(function, arguments, result) => {
            let mut before = next();
            before.forget(*result);
            enter(code, at, &mut before, *function, arguments);
            before
        }
        Instruction::Return(_) | Instruction::Panic(_) => Before::default(),
        Instruction::Select(select) => select_before(at, select),
        Instruction::Choose(targets) => {
            let mut before = Before::default();
            for target in targets {
                before.meet_all(&at[*target]);
            }
            before
        }
        Instruction::Observe(_)
        | Instruction::Close(_)
        | Instruction::Abandon(_)
        | Instruction::Sync(..)
        | Instruction::Announce(_)
        | Instruction::Add(..) => next(),
    }
}

/// After `x = y` the channel of `y` is reached through `x` as well.
fn assign(mut before: Before, var: VarId, value: &Expr) -> Before {
    let through = [Uses::PUT, Uses::GET].map(|op| {
        Operation::new(var, op).map_or(Operations::VACUOUS, |operation| before.get(operation))
    });
    before.forget(Some(var));
    if let ExprKind::Var(source) = value.kind {
        let keep = !(3 << (var.position().min(TRACKED - 1) * 2));
        for (op, operations) in [Uses::PUT, Uses::GET].into_iter().zip(through) {
            if let Some(operation) = Operation::new(source, op) {
                let kept = match operations {
                    Operations::VACUOUS => operations,
                    Operations(bits) => Operations(bits & keep),
                };
                before.meet(operation, kept);
            }
        }
    }
    before
}

/// The operations that a called function performs on its arguments, with the guards that are
/// themselves on arguments.
fn enter(
    code: &Code,
    at: &IndexVec<Pc, Before>,
    before: &mut Before,
    function: FuncId,
    arguments: &[Expr],
) {
    let called = &code.functions[function];
    let argument_of = |param: VarId| {
        let position = called.params.iter().position(|known| *known == param)?;
        match arguments.get(position)?.kind {
            ExprKind::Var(var) => Some(var),
            _ => None,
        }
    };
    for (position, operations) in at[called.entry].0.iter().enumerate() {
        let inner = Operation(position as u8);
        let outer = argument_of(inner.var()).and_then(|var| Operation::new(var, inner.op()));
        if let (Some(outer), true) = (outer, *operations != Operations::VACUOUS) {
            let mapped = operations.iter().filter_map(|guard| {
                argument_of(guard.var()).and_then(|var| Operation::new(var, guard.op()))
            });
            let bits = mapped.fold(0, |bits, guard| bits | guard.bit());
            before.meet(outer, Operations(bits));
        }
    }
}

fn select_before(at: &IndexVec<Pc, Before>, select: &Select) -> Before {
    let mut before = Before::default();
    for case in &select.cases {
        let mut after = at[case.target].clone();
        let operation = match &case.op {
            SelectOp::Put(channel, _) => performed(channel, Uses::PUT),
            SelectOp::Get(channel, _, value, ok) => {
                after.forget(*value);
                after.forget(*ok);
                performed(channel, Uses::GET)
            }
            SelectOp::Timeout => None,
        };
        if let Some(operation) = operation {
            after.pass(operation);
        }
        before.meet_all(&after);
    }
    if let Some(default) = select.default {
        before.meet_all(&at[default]);
    }
    before
}

fn performed(channel: &Expr, op: Uses) -> Option<Operation> {
    match channel.kind {
        ExprKind::Var(var) => Operation::new(var, op),
        _ => None,
    }
}
