//! What may still happen from each instruction on: which variables are needed, which operations may
//! be performed on the object a variable holds, whether anything new may be created. A backward
//! data-flow analysis over all functions at once.
//!
//! Two uses: variables that are not needed are forgotten, so that states which differ only in them
//! become equal; and the reduction asks whether a process may ever touch an object.

use crate::language::ast::{Expr, ExprKind, Type};
use crate::language::index::{FuncId, Idx, IndexVec, Pc, VarId};
use crate::machine::code::{Code, Instruction, Select, SelectOp};

/// What may be done with the object that a variable holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses(u8);

impl Uses {
    /// Nothing.
    pub const NONE: Uses = Uses(0);
    /// A message is sent.
    pub const PUT: Uses = Uses(1);
    /// A message is received.
    pub const GET: Uses = Uses(2);
    /// It is closed or abandoned.
    pub const CLOSE: Uses = Uses(4);
    /// A lock or wait group is operated.
    pub const LOCK: Uses = Uses(8);
    /// The variable is read at all.
    const LIVE: Uses = Uses(16);

    /// Both together.
    pub const fn with(self, other: Uses) -> Uses {
        Uses(self.0 | other.0)
    }

    /// Have these two something in common?
    pub const fn meets(self, other: Uses) -> bool {
        self.0 & other.0 != 0
    }

    /// The part that concerns objects.
    pub const fn operations(self) -> Uses {
        Uses(self.0 & 15)
    }
}

/// The future at one instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Future {
    uses: Vec<Uses>,
    /// May objects arrive in messages? Then anything may be used.
    pub receives_objects: bool,
    /// May processes or objects be created?
    pub creates: bool,
}

impl Future {
    /// What may be done with a variable's object.
    pub fn uses(&self, var: VarId) -> Uses {
        self.uses.get(var.position()).copied().unwrap_or_default().operations()
    }

    /// Is the variable's value needed?
    pub fn needs(&self, var: VarId) -> bool {
        self.uses.get(var.position()).is_some_and(|uses| uses.meets(Uses::LIVE))
    }

    fn mark(&mut self, var: VarId, uses: Uses) {
        if self.uses.len() <= var.position() {
            self.uses.resize(var.position() + 1, Uses::NONE);
        }
        let slot = &mut self.uses[var.position()];
        *slot = slot.with(uses).with(Uses::LIVE);
    }

    fn forget(&mut self, var: Option<VarId>) -> Uses {
        match var.and_then(|var| self.uses.get_mut(var.position())) {
            Some(slot) => std::mem::take(slot),
            None => Uses::NONE,
        }
    }

    fn read(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Var(var) => self.mark(*var, Uses::NONE),
            ExprKind::Unary(_, operand) => self.read(operand),
            ExprKind::Binary(_, left, right) => {
                self.read(left);
                self.read(right);
            }
            ExprKind::Unit | ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Nil => {}
        }
    }

    /// The object that the expression gives is used like this.
    fn operate(&mut self, expression: &Expr, uses: Uses) {
        match &expression.kind {
            ExprKind::Var(var) => self.mark(*var, uses),
            _ => self.read(expression),
        }
    }

    fn join(&mut self, other: &Future) {
        if self.uses.len() < other.uses.len() {
            self.uses.resize(other.uses.len(), Uses::NONE);
        }
        for (slot, uses) in self.uses.iter_mut().zip(&other.uses) {
            *slot = slot.with(*uses);
        }
        self.inherit(other);
    }

    fn inherit(&mut self, other: &Future) {
        self.receives_objects |= other.receives_objects;
        self.creates |= other.creates;
    }
}

/// The futures of a whole program.
#[derive(Debug, Default)]
pub struct Flow {
    /// Before each instruction.
    before: IndexVec<Pc, Future>,
    /// After each call has returned and its result is still to be stored.
    after_call: IndexVec<Pc, Future>,
}

impl Flow {
    /// The future before an instruction is performed.
    pub fn before(&self, pc: Pc) -> &Future {
        &self.before[pc]
    }

    /// The caller's future while a call that stands there is being performed.
    pub fn after_call(&self, pc: Pc) -> &Future {
        &self.after_call[pc]
    }
}

/// Computes the futures by going backwards until nothing changes.
pub fn analyse(code: &Code) -> Flow {
    let before = backwards(code, |before, pc| transfer(code, before, pc));
    let after_call = code.instructions.iter_enumerated();
    let after_call = after_call.map(|(pc, instruction)| match instruction {
        Instruction::Call(_, _, result) => {
            let mut future = before[Pc(pc.0 + 1)].clone();
            future.forget(*result);
            future
        }
        _ => Future::default(),
    });
    Flow { after_call: after_call.collect(), before }
}

/// Solves a backward analysis: facts before each instruction from the facts before its successors,
/// until nothing changes. Where nothing leads back, once through is enough.
pub(crate) fn backwards<Fact: Default + PartialEq>(
    code: &Code,
    transfer: impl Fn(&IndexVec<Pc, Fact>, Pc) -> Fact,
) -> IndexVec<Pc, Fact> {
    let mut before: IndexVec<Pc, Fact> =
        code.instructions.iter().map(|_| Fact::default()).collect();
    let once = !code.instructions.iter_enumerated().any(|(pc, instruction)| match instruction {
        Instruction::Jump(target) | Instruction::Unless(_, target) => *target <= pc,
        Instruction::Call(function, ..) => code.functions[*function].entry <= pc,
        _ => false,
    });
    loop {
        let mut changed = false;
        for position in (0..code.instructions.len()).rev() {
            let pc = Pc::new(position);
            let fact = transfer(&before, pc);
            if fact != before[pc] {
                before[pc] = fact;
                changed = true;
            }
        }
        if once || !changed {
            return before;
        }
    }
}

/// The future before an instruction from the futures before its successors.
fn transfer(code: &Code, before: &IndexVec<Pc, Future>, pc: Pc) -> Future {
    let next = || before.get(Pc(pc.0 + 1)).cloned().unwrap_or_default();
    match &code.instructions[pc] {
        Instruction::Assign(var, value) => {
            let mut future = next();
            let uses = future.forget(Some(*var));
            future.operate(value, uses.operations());
            future
        }
        Instruction::Jump(target) => before[*target].clone(),
        Instruction::Unless(condition, target) => {
            let mut future = next();
            future.join(&before[*target]);
            future.read(condition);
            future
        }
        Instruction::NewChannel(var, _) | Instruction::NewLock(var, _) => {
            let mut future = next();
            future.forget(Some(*var));
            future.creates = true;
            future
        }
        Instruction::Spawn(start, _) => {
            let mut future = next();
            future.join(&before[*start]);
            future.creates = true;
            future
        }
        Instruction::Call(function, arguments, result) => {
            let mut future = next();
            future.forget(*result);
            let called = &code.functions[*function];
            let inside = &before[called.entry];
            for (argument, param) in arguments.iter().zip(&called.params) {
                future.operate(argument, inside.uses(*param));
            }
            future.inherit(inside);
            future
        }
        Instruction::Return(value) => {
            let mut future = Future::default();
            if let Some(value) = value {
                // The caller may do anything with an object that is returned.
                future.operate(value, ANYTHING);
            }
            future
        }
        Instruction::Panic(_) => Future::default(),
        Instruction::Observe(value) => {
            let mut future = next();
            future.read(value);
            future
        }
        Instruction::Select(select) => select_future(before, select),
        Instruction::Close(channel) | Instruction::Abandon(channel) => {
            let mut future = next();
            future.operate(channel, Uses::CLOSE);
            future
        }
        Instruction::Choose(targets) => {
            let mut future = Future::default();
            for target in targets {
                future.join(&before[*target]);
            }
            future
        }
        Instruction::Sync(_, target) | Instruction::Announce(target) => {
            let mut future = next();
            future.operate(target, Uses::LOCK);
            future
        }
        Instruction::Add(group, amount) => {
            let mut future = next();
            future.operate(group, Uses::LOCK);
            future.read(amount);
            future
        }
    }
}

const ANYTHING: Uses = Uses::PUT.with(Uses::GET).with(Uses::CLOSE).with(Uses::LOCK);

fn select_future(before: &IndexVec<Pc, Future>, select: &Select) -> Future {
    let mut future = Future::default();
    for case in &select.cases {
        let mut after = before[case.target].clone();
        if let SelectOp::Get(_, element, value, ok) = &case.op {
            after.forget(*value);
            after.forget(*ok);
            after.receives_objects |= holds_object(element);
        }
        future.join(&after);
    }
    if let Some(default) = select.default {
        future.join(&before[default]);
    }
    for case in &select.cases {
        match &case.op {
            SelectOp::Put(channel, value) => {
                future.operate(channel, Uses::PUT);
                future.read(value);
            }
            SelectOp::Get(channel, ..) => future.operate(channel, Uses::GET),
            SelectOp::Timeout => {}
        }
    }
    future
}

/// Can a value of this type be an object?
fn holds_object(ty: &Type) -> bool {
    matches!(ty, Type::Chan(_) | Type::Mutex | Type::RwMutex | Type::WaitGroup)
}

/// Does any function call itself, directly or through others?
pub fn is_recursive(code: &Code) -> bool {
    let mut calls: Vec<Vec<FuncId>> = code.functions.iter().map(|_| Vec::new()).collect();
    for (pc, instruction) in code.instructions.iter_enumerated() {
        if let Instruction::Call(called, ..) = instruction {
            calls[code.origins[pc].function.position()].push(*called);
        }
    }
    // Functions are removed once all they call has been removed; what stays is on or above a cycle.
    let mut removed = vec![false; calls.len()];
    loop {
        let ready = (0..calls.len()).find(|function| {
            !removed[*function] && calls[*function].iter().all(|called| removed[called.position()])
        });
        match ready {
            Some(function) => removed[function] = true,
            None => return removed.contains(&false),
        }
    }
}
