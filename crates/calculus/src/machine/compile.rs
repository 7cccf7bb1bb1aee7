//! Tree to instructions. The program must have been checked.

use std::sync::OnceLock;

use crate::language::ast::{
    BinaryOp, Block, CaseOp, Expr, ExprKind, Program, Stmt, StmtKind, SyncOp, Type,
};
use crate::language::index::{FuncId, IndexVec, Pc};
use crate::language::span::Span;
use crate::machine::code::{Code, FunctionCode, Instruction, Origin, Select, SelectCase, SelectOp};
use crate::machine::flow;

/// Compiles a checked program.
pub fn compile(program: &Program) -> Code {
    let mut compiler = Compiler {
        program,
        function: program.main,
        instructions: IndexVec::with_capacity(64),
        origins: IndexVec::with_capacity(64),
        loops: Vec::new(),
        spawned: Vec::new(),
        observes: false,
        has_loops: false,
    };
    let functions = program.functions.indices().map(|id| compiler.function(id)).collect();
    let mut code = Code {
        instructions: compiler.instructions,
        origins: compiler.origins,
        functions,
        main: program.main,
        flow: OnceLock::new(),
        guards: OnceLock::new(),
        observes: compiler.observes,
        compares_channels: false,
        may_panic: false,
        always_ends: !compiler.has_loops,
    };
    code.may_panic = code.instructions.iter().any(may_panic);
    code.compares_channels = compares_channels(program, &code);
    code.always_ends &= !flow::is_recursive(&code);
    code
}

/// Can the instruction panic, or make another one panic?
fn may_panic(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Panic(_)
        | Instruction::Close(_)
        | Instruction::Abandon(_)
        | Instruction::Add(..) => true,
        Instruction::Sync(op, _) => {
            matches!(op, SyncOp::Unlock | SyncOp::RUnlock | SyncOp::Done)
        }
        _ => false,
    }
}

/// Does any expression compare two variables that hold channels? Comparing with `nil` is no such
/// question.
fn compares_channels(program: &Program, code: &Code) -> bool {
    code.instructions.iter_enumerated().any(|(pc, instruction)| {
        let variables = &program.functions[code.origins[pc].function].variables;
        let is_channel = |operand: &Expr| match operand.kind {
            ExprKind::Var(var) => matches!(variables[var].ty, Some(Type::Chan(_)) | None),
            _ => false,
        };
        instruction.expressions().any(|expression| compares(expression, &is_channel))
    })
}

fn compares(expression: &Expr, is_channel: &impl Fn(&Expr) -> bool) -> bool {
    match &expression.kind {
        ExprKind::Unary(_, operand) => compares(operand, is_channel),
        ExprKind::Binary(op, left, right) => {
            let asks = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
            (asks && is_channel(left) && is_channel(right))
                || compares(left, is_channel)
                || compares(right, is_channel)
        }
        _ => false,
    }
}

struct Compiler<'a> {
    program: &'a Program,
    function: FuncId,
    instructions: IndexVec<Pc, Instruction>,
    origins: IndexVec<Pc, Origin>,
    /// For each enclosing loop: its start, and the jumps out of it that still need a target.
    loops: Vec<(Pc, Vec<Pc>)>,
    /// Spawned blocks of this function that are still to be compiled.
    spawned: Vec<(Pc, &'a Block)>,
    observes: bool,
    has_loops: bool,
}

impl<'a> Compiler<'a> {
    fn function(&mut self, id: FuncId) -> FunctionCode {
        self.function = id;
        let function = &self.program.functions[id];
        let entry = self.instructions.next_index();
        self.body(&function.body, function.span);
        while let Some((spawn, body)) = self.spawned.pop() {
            let start = self.instructions.next_index();
            if let Instruction::Spawn(target, _) = &mut self.instructions[spawn] {
                *target = start;
            }
            let span = self.origins[spawn].span;
            self.body(body, span);
        }
        FunctionCode {
            name: function.name.clone(),
            entry,
            params: function.params.clone(),
            returns_unit: function.result == Type::Unit,
            names: function.variables.iter().map(|variable| variable.name.clone()).collect(),
        }
    }

    fn body(&mut self, body: &'a Block, span: Span) {
        self.block(body);
        self.emit(Instruction::Return(None), span);
    }

    fn emit(&mut self, instruction: Instruction, span: Span) -> Pc {
        self.origins.push(Origin { function: self.function, span });
        self.instructions.push(instruction)
    }

    fn here(&self) -> Pc {
        self.instructions.next_index()
    }

    fn block(&mut self, block: &'a Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    /// Emits a jump whose target is set by [`Compiler::land`].
    fn jump(&mut self, span: Span) -> Pc {
        self.emit(Instruction::Jump(Pc(0)), span)
    }

    /// Makes jumps arrive here.
    fn land(&mut self, jumps: impl IntoIterator<Item = Pc>) {
        let here = self.here();
        for jump in jumps {
            match &mut self.instructions[jump] {
                Instruction::Jump(target) | Instruction::Unless(_, target) => *target = here,
                _ => {}
            }
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::NewChannel { var, capacity, .. } => {
                self.emit(Instruction::NewChannel(*var, *capacity), span);
            }
            StmtKind::NewLock { var, kind } => {
                self.emit(Instruction::NewLock(*var, *kind), span);
            }
            StmtKind::Assign { var, value } => {
                self.emit(Instruction::Assign(*var, value.clone()), span);
            }
            StmtKind::Put { channel, value } => {
                self.single(SelectOp::Put(channel.clone(), value.clone()), span);
            }
            StmtKind::Get { channel, value, ok } => {
                let element = self.element(channel);
                self.single(SelectOp::Get(channel.clone(), element, *value, *ok), span);
            }
            StmtKind::Close { channel } => {
                self.emit(Instruction::Close(channel.clone()), span);
            }
            StmtKind::Abandon { channel } => {
                self.emit(Instruction::Abandon(channel.clone()), span);
            }
            StmtKind::Select { .. } => self.select(statement),
            StmtKind::Spawn { name, body } => {
                let spawn = self.emit(Instruction::Spawn(Pc(0), name.clone()), span);
                self.spawned.push((spawn, body));
            }
            StmtKind::Call { function, arguments, result } => {
                self.emit(Instruction::Call(*function, arguments.clone(), *result), span);
            }
            StmtKind::If { condition, then, otherwise } => {
                let unless =
                    self.emit(Instruction::Unless(condition.clone(), Pc(0)), condition.span);
                self.block(then);
                match otherwise {
                    None => self.land([unless]),
                    Some(otherwise) => {
                        let end = self.jump(span);
                        self.land([unless]);
                        self.block(otherwise);
                        self.land([end]);
                    }
                }
            }
            StmtKind::While { condition, body } => self.while_loop(condition, body, span),
            StmtKind::Break => {
                let jump = self.jump(span);
                if let Some((_, exits)) = self.loops.last_mut() {
                    exits.push(jump);
                }
            }
            StmtKind::Continue => {
                let start = self.loops.last().map_or(Pc(0), |(start, _)| *start);
                self.emit(Instruction::Jump(start), span);
            }
            StmtKind::Choose { branches } => self.choose(branches, span),
            StmtKind::Sync { op, target } => {
                if *op == SyncOp::Lock && self.is_rwmutex(target) {
                    self.emit(Instruction::Announce(target.clone()), span);
                }
                self.emit(Instruction::Sync(*op, target.clone()), span);
            }
            StmtKind::Add { group, amount } => {
                self.emit(Instruction::Add(group.clone(), amount.clone()), span);
            }
            StmtKind::Panic { message } => {
                self.emit(Instruction::Panic(message.clone()), span);
            }
            StmtKind::Return { value } => {
                self.emit(Instruction::Return(value.clone()), span);
            }
            StmtKind::Observe { value } => {
                self.observes = true;
                self.emit(Instruction::Observe(value.clone()), span);
            }
        }
    }

    fn single(&mut self, op: SelectOp, span: Span) {
        let target = Pc(self.here().0 + 1);
        let cases = vec![SelectCase { op, target, span }];
        self.emit(Instruction::Select(Select { cases, default: None, single: true }), span);
    }

    fn select(&mut self, statement: &'a Stmt) {
        let StmtKind::Select { cases, default } = &statement.kind else {
            return;
        };
        let compiled = cases
            .iter()
            .map(|case| SelectCase { op: self.select_op(&case.op), target: Pc(0), span: case.span })
            .collect();
        let select = Select { cases: compiled, default: None, single: false };
        let at = self.emit(Instruction::Select(select), statement.span);
        let mut targets = Vec::new();
        let mut ends = Vec::new();
        for case in cases {
            targets.push(self.here());
            self.block(&case.body);
            ends.push(self.jump(case.span));
        }
        let default = default.as_ref().map(|default| {
            let start = self.here();
            self.block(default);
            ends.push(self.jump(statement.span));
            start
        });
        self.land(ends);
        if let Instruction::Select(select) = &mut self.instructions[at] {
            select.default = default;
            for (case, target) in select.cases.iter_mut().zip(targets) {
                case.target = target;
            }
        }
    }

    fn select_op(&self, op: &CaseOp) -> SelectOp {
        match op {
            CaseOp::Put { channel, value } => SelectOp::Put(channel.clone(), value.clone()),
            CaseOp::Get { channel, value, ok } => {
                SelectOp::Get(channel.clone(), self.element(channel), *value, *ok)
            }
            CaseOp::Timeout => SelectOp::Timeout,
        }
    }

    fn while_loop(&mut self, condition: &Expr, body: &'a Block, span: Span) {
        self.has_loops = true;
        let start = self.here();
        let unless = self.emit(Instruction::Unless(condition.clone(), Pc(0)), condition.span);
        self.loops.push((start, Vec::new()));
        self.block(body);
        self.emit(Instruction::Jump(start), span);
        if let Some((_, exits)) = self.loops.pop() {
            self.land(exits);
        }
        self.land([unless]);
    }

    fn choose(&mut self, branches: &'a [Block], span: Span) {
        let at = self.emit(Instruction::Choose(Vec::new()), span);
        let mut starts = Vec::new();
        let mut ends = Vec::new();
        for branch in branches {
            starts.push(self.here());
            self.block(branch);
            ends.push(self.jump(span));
        }
        self.land(ends);
        self.instructions[at] = Instruction::Choose(starts);
    }

    fn type_of(&self, expression: &Expr) -> Option<&Type> {
        match &expression.kind {
            ExprKind::Var(var) => self.program.functions[self.function].variables[*var].ty.as_ref(),
            _ => None,
        }
    }

    /// The type of a channel's messages.
    fn element(&self, channel: &Expr) -> Type {
        match self.type_of(channel) {
            Some(Type::Chan(element)) => (**element).clone(),
            _ => Type::Unit,
        }
    }

    fn is_rwmutex(&self, target: &Expr) -> bool {
        self.type_of(target) == Some(&Type::RwMutex)
    }
}
