//! Program to plan: the same instructions that `strait-calculus` compiles to, without names and
//! positions, plus what a target has to know about channels: which may be closed or abandoned.

use strait_calculus::ast::{
    BinaryOp, Block, Capacity, CaseOp, Expr, ExprKind, StmtKind, Type, UnaryOp,
};
use strait_calculus::{FuncId, Idx, Program, Span, VarId};

use crate::error::Error;
use crate::fate::Fates;
use crate::harness::plan;
use crate::harness::plan::{At, Instruction, Kind, Plan, Slot, Value};

/// Lowers a checked program.
pub fn lower(program: &Program) -> Result<Plan, Error> {
    lower_with_places(program).map(|(plan, _)| plan)
}

/// Lowers a checked program, and says for each instruction which statement it comes from.
pub fn lower_with_places(program: &Program) -> Result<(Plan, Vec<Span>), Error> {
    let fates = Fates::of(program);
    let mut lowering = Lowering {
        program,
        fates: &fates,
        function: program.main,
        instructions: Vec::new(),
        places: Vec::new(),
        place: Span::NONE,
        loops: Vec::new(),
        spawned: Vec::new(),
    };
    let mut functions = Vec::new();
    for id in program.functions.indices() {
        functions.push(lowering.function(id)?);
    }
    let main = u16::try_from(program.main.position()).map_err(|_| Error::TooLarge)?;
    let Lowering { instructions, places, .. } = lowering;
    Ok((Plan { functions, main, instructions }, places))
}

struct Lowering<'a> {
    program: &'a Program,
    fates: &'a Fates,
    function: FuncId,
    instructions: Vec<Instruction>,
    /// Where each instruction comes from.
    places: Vec<Span>,
    /// The statement at hand.
    place: Span,
    /// For each enclosing loop: its start, and the jumps out of it that still need a target.
    loops: Vec<(At, Vec<At>)>,
    /// Spawned blocks of this function that are still to be lowered.
    spawned: Vec<(At, &'a Block)>,
}

impl<'a> Lowering<'a> {
    fn function(&mut self, id: FuncId) -> Result<plan::Function, Error> {
        self.function = id;
        let function = &self.program.functions[id];
        let entry = self.here();
        self.body(&function.body)?;
        while let Some((spawn, body)) = self.spawned.pop() {
            let start = self.here();
            self.instructions[spawn.0 as usize] = Instruction::Spawn(start);
            self.body(body)?;
        }
        let variables = u16::try_from(function.variables.len()).map_err(|_| Error::TooLarge)?;
        let params = function.params.iter().map(|param| slot(*param)).collect::<Result<_, _>>()?;
        Ok(plan::Function { entry, variables, params })
    }

    fn body(&mut self, body: &'a Block) -> Result<(), Error> {
        self.block(body)?;
        self.emit(Instruction::Return(None));
        Ok(())
    }

    fn here(&self) -> At {
        At(self.instructions.len() as u32)
    }

    fn emit(&mut self, instruction: Instruction) -> At {
        let at = self.here();
        self.instructions.push(instruction);
        self.places.push(self.place);
        at
    }

    /// Makes jumps arrive here.
    fn land(&mut self, jumps: impl IntoIterator<Item = At>) {
        let here = self.here();
        for jump in jumps {
            match &mut self.instructions[jump.0 as usize] {
                Instruction::Jump(target) | Instruction::Unless(_, target) => *target = here,
                _ => {}
            }
        }
    }

    fn jump(&mut self) -> At {
        self.emit(Instruction::Jump(At(0)))
    }

    fn block(&mut self, block: &'a Block) -> Result<(), Error> {
        block.statements.iter().try_for_each(|statement| {
            self.place = statement.span;
            self.statement(&statement.kind)
        })
    }

    fn statement(&mut self, statement: &'a StmtKind) -> Result<(), Error> {
        match statement {
            StmtKind::NewChannel { var, capacity, .. } => {
                let fate = self.fates.of_variable(self.function, *var);
                self.emit(Instruction::Open(plan::Open {
                    slot: slot(*var)?,
                    capacity: lower_capacity(*capacity),
                    is_closed: fate.is_closed,
                    is_abandoned: fate.is_abandoned,
                }));
            }
            StmtKind::Assign { var, value } => {
                self.emit(Instruction::Set(slot(*var)?, expression(value)?));
            }
            StmtKind::Put { channel, value } => {
                self.single(plan::Op::Put(expression(channel)?, expression(value)?));
            }
            StmtKind::Get { channel, value, ok } => {
                let op = self.get(channel, *value, *ok)?;
                self.single(op);
            }
            StmtKind::Close { channel } => {
                self.emit(Instruction::Close(expression(channel)?));
            }
            StmtKind::Abandon { channel } => {
                self.emit(Instruction::Abandon(expression(channel)?));
            }
            StmtKind::Select { cases, default } => self.select(cases, default.as_ref())?,
            StmtKind::Spawn { body, .. } => {
                let spawn = self.emit(Instruction::Spawn(At(0)));
                self.spawned.push((spawn, body));
            }
            StmtKind::Call { function, arguments, result } => {
                let func = u16::try_from(function.position()).map_err(|_| Error::TooLarge)?;
                let arguments = arguments.iter().map(expression).collect::<Result<_, _>>()?;
                let result = result.map(slot).transpose()?;
                self.emit(Instruction::Call(plan::Func(func), arguments, result));
            }
            StmtKind::If { condition, then, otherwise } => {
                let unless = self.emit(Instruction::Unless(expression(condition)?, At(0)));
                self.block(then)?;
                let end = otherwise.as_ref().map(|_| self.jump());
                self.land([unless]);
                if let Some(otherwise) = otherwise {
                    self.block(otherwise)?;
                }
                self.land(end);
            }
            StmtKind::While { condition, body } => {
                let start = self.here();
                let unless = self.emit(Instruction::Unless(expression(condition)?, At(0)));
                self.loops.push((start, Vec::new()));
                self.block(body)?;
                self.emit(Instruction::Jump(start));
                let exits = self.loops.pop().map(|(_, exits)| exits).unwrap_or_default();
                self.land(exits);
                self.land([unless]);
            }
            StmtKind::Break => {
                let jump = self.jump();
                if let Some((_, exits)) = self.loops.last_mut() {
                    exits.push(jump);
                }
            }
            StmtKind::Continue => {
                let start = self.loops.last().map_or(At(0), |(start, _)| *start);
                self.emit(Instruction::Jump(start));
            }
            StmtKind::Choose { branches } => {
                let at = self.emit(Instruction::Choose(Vec::new()));
                let (mut starts, mut ends) = (Vec::new(), Vec::new());
                for branch in branches {
                    starts.push(self.here());
                    self.block(branch)?;
                    ends.push(self.jump());
                }
                self.land(ends);
                self.instructions[at.0 as usize] = Instruction::Choose(starts);
            }
            StmtKind::Return { value } => {
                let value = value.as_ref().map(expression).transpose()?;
                self.emit(Instruction::Return(value));
            }
            StmtKind::Observe { value } => {
                self.emit(Instruction::See(expression(value)?));
            }
            StmtKind::NewLock { .. } | StmtKind::Sync { .. } | StmtKind::Add { .. } => {
                return Err(Error::NotInPlan { what: "locks and wait groups" });
            }
            StmtKind::Panic { .. } => return Err(Error::NotInPlan { what: "panic" }),
        }
        Ok(())
    }

    fn single(&mut self, op: plan::Op) {
        let target = At(self.here().0 + 1);
        let cases = vec![plan::Case { op, target }];
        self.emit(Instruction::Select(plan::Select { cases, default: None, is_single: true }));
    }

    fn get(
        &self,
        channel: &Expr,
        value: Option<VarId>,
        ok: Option<VarId>,
    ) -> Result<plan::Op, Error> {
        let (value, ok) = (value.map(slot).transpose()?, ok.map(slot).transpose()?);
        Ok(plan::Op::Get(expression(channel)?, self.kind(channel), value, ok))
    }

    fn select(
        &mut self,
        cases: &'a [strait_calculus::ast::Case],
        default: Option<&'a Block>,
    ) -> Result<(), Error> {
        let mut lowered = Vec::new();
        for case in cases {
            let op = match &case.op {
                CaseOp::Put { channel, value } => {
                    plan::Op::Put(expression(channel)?, expression(value)?)
                }
                CaseOp::Get { channel, value, ok } => self.get(channel, *value, *ok)?,
                CaseOp::Timeout => plan::Op::Timeout,
            };
            lowered.push(plan::Case { op, target: At(0) });
        }
        let at = self.jump();
        let mut ends = Vec::new();
        for (case, lowered) in cases.iter().zip(&mut lowered) {
            lowered.target = self.here();
            self.block(&case.body)?;
            ends.push(self.jump());
        }
        let default = match default {
            None => None,
            Some(default) => {
                let start = self.here();
                self.block(default)?;
                ends.push(self.jump());
                Some(start)
            }
        };
        self.land(ends);
        let select = plan::Select { cases: lowered, default, is_single: false };
        self.instructions[at.0 as usize] = Instruction::Select(select);
        Ok(())
    }

    /// What a channel carries.
    fn kind(&self, channel: &Expr) -> Kind {
        let ExprKind::Var(var) = channel.kind else { return Kind::Unit };
        match &self.program.functions[self.function].variables[var].ty {
            Some(Type::Chan(element)) => match &**element {
                Type::Bool => Kind::Bool,
                Type::Int => Kind::Int,
                Type::Chan(_) => Kind::Chan,
                Type::Unit | Type::Mutex | Type::RwMutex | Type::WaitGroup => Kind::Unit,
            },
            _ => Kind::Unit,
        }
    }
}

fn slot(var: VarId) -> Result<Slot, Error> {
    u16::try_from(var.position()).map(Slot).map_err(|_| Error::TooLarge)
}

fn lower_capacity(capacity: Capacity) -> plan::Capacity {
    match capacity {
        Capacity::Rendezvous => plan::Capacity::Rendezvous,
        Capacity::Bounded(capacity) => plan::Capacity::Bounded(capacity),
        Capacity::Unbounded => plan::Capacity::Unbounded,
    }
}

fn expression(source: &Expr) -> Result<plan::Expr, Error> {
    Ok(match &source.kind {
        ExprKind::Unit => plan::Expr::Constant(Value::Unit),
        ExprKind::Bool(value) => plan::Expr::Constant(Value::Bool(*value)),
        ExprKind::Int(value) => plan::Expr::Constant(Value::Int(*value)),
        ExprKind::Nil => plan::Expr::Constant(Value::Nil),
        ExprKind::Var(var) => plan::Expr::Var(slot(*var)?),
        ExprKind::Unary(UnaryOp::Not, operand) => plan::Expr::Not(Box::new(expression(operand)?)),
        ExprKind::Unary(UnaryOp::Negate, operand) => {
            plan::Expr::Negate(Box::new(expression(operand)?))
        }
        ExprKind::Binary(op, left, right) => plan::Expr::Binary(
            operator(*op),
            Box::new(expression(left)?),
            Box::new(expression(right)?),
        ),
    })
}

fn operator(op: BinaryOp) -> plan::Operator {
    match op {
        BinaryOp::Or => plan::Operator::Or,
        BinaryOp::And => plan::Operator::And,
        BinaryOp::Equal => plan::Operator::Equal,
        BinaryOp::NotEqual => plan::Operator::NotEqual,
        BinaryOp::Less => plan::Operator::Less,
        BinaryOp::LessEqual => plan::Operator::LessEqual,
        BinaryOp::Greater => plan::Operator::Greater,
        BinaryOp::GreaterEqual => plan::Operator::GreaterEqual,
        BinaryOp::Add => plan::Operator::Add,
        BinaryOp::Subtract => plan::Operator::Subtract,
        BinaryOp::Multiply => plan::Operator::Multiply,
    }
}
