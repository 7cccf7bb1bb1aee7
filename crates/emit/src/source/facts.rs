//! What a writer has to know about a program before it writes the first line.

use std::collections::{HashMap, HashSet};

use strait_calculus::ast::{Block, CaseOp, Expr, ExprKind, Function, Stmt, StmtKind, Type};
use strait_calculus::{FuncId, Program, VarId};

/// Facts about a whole program.
#[derive(Debug, Default)]
pub struct Facts {
    /// What the channels carry that are closed somewhere.
    closed: HashSet<Type>,
    /// There is a `choose`.
    pub chooses: bool,
    /// There is a `timeout`.
    pub times_out: bool,
    /// There is a lock or wait group.
    pub locks: bool,
    functions: HashMap<FuncId, FunctionFacts>,
}

/// Facts about one function.
#[derive(Debug, Default)]
struct FunctionFacts {
    reads: HashSet<VarId>,
    /// How many statements assign to a variable.
    sites: HashMap<VarId, u32>,
}

impl Facts {
    /// Reads a program.
    pub fn of(program: &Program) -> Facts {
        let mut facts = Facts::default();
        for id in program.functions.indices() {
            let function = &program.functions[id];
            let mut own = FunctionFacts::default();
            function.params.iter().for_each(|param| own.assigns(Some(*param)));
            facts.block(&function.body, function, &mut own);
            facts.functions.insert(id, own);
        }
        facts
    }

    /// Is the variable read anywhere?
    pub fn is_read(&self, function: FuncId, var: VarId) -> bool {
        self.functions.get(&function).is_some_and(|own| own.reads.contains(&var))
    }

    /// Does the variable change after it has come into being?
    pub fn is_reassigned(&self, function: FuncId, var: VarId) -> bool {
        let own = self.functions.get(&function);
        own.and_then(|own| own.sites.get(&var)).is_some_and(|sites| *sites > 1)
    }

    /// May a channel that carries this be closed, so that gets have to ask?
    pub fn closes(&self, element: &Type) -> bool {
        self.closed.contains(element)
    }

    fn block(&mut self, block: &Block, function: &Function, own: &mut FunctionFacts) {
        block.statements.iter().for_each(|statement| self.statement(statement, function, own));
    }

    fn statement(&mut self, statement: &Stmt, function: &Function, own: &mut FunctionFacts) {
        match &statement.kind {
            StmtKind::Close { channel } => {
                self.closed.extend(element_of(function, channel).cloned());
            }
            StmtKind::Choose { .. } => self.chooses = true,
            StmtKind::NewLock { .. } => self.locks = true,
            StmtKind::Select { cases, .. } => {
                self.times_out |= cases.iter().any(|case| case.op == CaseOp::Timeout);
            }
            _ => {}
        }
        assigned(statement, &mut |var| own.assigns(Some(var)));
        expressions(statement, &mut |expression| own.reads_expression(expression));
        for block in blocks(statement) {
            self.block(block, function, own);
        }
    }
}

impl FunctionFacts {
    fn assigns(&mut self, var: Option<VarId>) {
        var.into_iter().for_each(|var| *self.sites.entry(var).or_default() += 1);
    }

    fn reads_expression(&mut self, expression: &Expr) {
        variables(expression, &mut |var| {
            self.reads.insert(var);
        });
    }
}

/// What a channel carries, if it is not nil.
pub fn element_of<'a>(function: &'a Function, channel: &Expr) -> Option<&'a Type> {
    let ExprKind::Var(var) = channel.kind else { return None };
    match function.variables.get(var)?.ty.as_ref()? {
        Type::Chan(element) => Some(element),
        _ => None,
    }
}

/// The variables that a block reads, in the order of their first use.
pub fn read_in(block: &Block) -> Vec<VarId> {
    let mut seen = Vec::new();
    collect_reads(block, &mut seen);
    seen
}

fn collect_reads(block: &Block, seen: &mut Vec<VarId>) {
    for statement in &block.statements {
        expressions(statement, &mut |expression| {
            variables(expression, &mut |var| {
                if !seen.contains(&var) {
                    seen.push(var);
                }
            });
        });
        blocks(statement).into_iter().for_each(|block| collect_reads(block, seen));
    }
}

/// The variables that a statement itself assigns to, not those of its blocks.
fn assigned(statement: &Stmt, found: &mut impl FnMut(VarId)) {
    match &statement.kind {
        StmtKind::NewChannel { var, .. }
        | StmtKind::NewLock { var, .. }
        | StmtKind::Assign { var, .. } => found(*var),
        StmtKind::Get { value, ok, .. } => value.iter().chain(ok).copied().for_each(found),
        StmtKind::Call { result, .. } => result.iter().copied().for_each(found),
        StmtKind::Select { cases, .. } => {
            for case in cases {
                if let CaseOp::Get { value, ok, .. } = &case.op {
                    value.iter().chain(ok).copied().for_each(&mut *found);
                }
            }
        }
        _ => {}
    }
}

/// The expressions of a statement, not those of its blocks.
fn expressions(statement: &Stmt, found: &mut impl FnMut(&Expr)) {
    match &statement.kind {
        StmtKind::Assign { value, .. } | StmtKind::Observe { value } => found(value),
        StmtKind::Put { channel, value } => {
            found(channel);
            found(value);
        }
        StmtKind::Get { channel, .. }
        | StmtKind::Close { channel }
        | StmtKind::Abandon { channel } => found(channel),
        StmtKind::Call { arguments, .. } => arguments.iter().for_each(found),
        StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => found(condition),
        StmtKind::Sync { target, .. } => found(target),
        StmtKind::Add { group, amount } => {
            found(group);
            found(amount);
        }
        StmtKind::Return { value } => value.iter().for_each(found),
        StmtKind::Select { cases, .. } => {
            for case in cases {
                match &case.op {
                    CaseOp::Put { channel, value } => {
                        found(channel);
                        found(value);
                    }
                    CaseOp::Get { channel, .. } => found(channel),
                    CaseOp::Timeout => {}
                }
            }
        }
        _ => {}
    }
}

/// The blocks of a statement.
pub fn blocks(statement: &Stmt) -> Vec<&Block> {
    match &statement.kind {
        StmtKind::Select { cases, default } => {
            cases.iter().map(|case| &case.body).chain(default).collect()
        }
        StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => vec![body],
        StmtKind::If { then, otherwise, .. } => [then].into_iter().chain(otherwise).collect(),
        StmtKind::Choose { branches } => branches.iter().collect(),
        _ => vec![],
    }
}

/// The variables of an expression.
fn variables(expression: &Expr, found: &mut impl FnMut(VarId)) {
    match &expression.kind {
        ExprKind::Var(var) => found(*var),
        ExprKind::Unary(_, operand) => variables(operand, found),
        ExprKind::Binary(_, left, right) => {
            variables(left, found);
            variables(right, found);
        }
        ExprKind::Unit | ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Nil => {}
    }
}
