//! Which channels may be closed or abandoned: variables that may hold the same channel form a
//! class (assignment, arguments, results and messages join classes), and a class in which one
//! variable is closed is closed as a whole. Coarser than the truth, never finer.

use std::collections::HashMap;

use strait_calculus::ast::{Block, CaseOp, Expr, ExprKind, Stmt, StmtKind};
use strait_calculus::{FuncId, Program, VarId};

/// What may happen to a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// It may be closed.
    pub is_closed: bool,
    /// It may be abandoned.
    pub is_abandoned: bool,
}

/// What may hold a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Variable(FuncId, VarId),
    Result(FuncId),
    /// All messages of all channels.
    Message,
}

/// The fate of every variable.
#[derive(Debug, Default)]
pub struct Fates {
    parents: HashMap<Holder, Holder>,
    fates: HashMap<Holder, Fate>,
}

impl Fates {
    /// Reads a program.
    pub fn of(program: &Program) -> Fates {
        let mut fates = Fates::default();
        let mut marks = Vec::new();
        for function in program.functions.indices() {
            let mut walk = Walk { program, function, fates: &mut fates, marks: &mut marks };
            walk.block(&program.functions[function].body);
        }
        for (holder, mark) in marks {
            let class = fates.class(holder);
            let fate = fates.fates.entry(class).or_default();
            fate.is_closed |= mark.is_closed;
            fate.is_abandoned |= mark.is_abandoned;
        }
        fates
    }

    /// What may happen to the channel that a variable holds.
    pub fn of_variable(&self, function: FuncId, var: VarId) -> Fate {
        let class = self.class(Holder::Variable(function, var));
        self.fates.get(&class).copied().unwrap_or_default()
    }

    fn class(&self, mut holder: Holder) -> Holder {
        while let Some(parent) = self.parents.get(&holder) {
            holder = *parent;
        }
        holder
    }

    fn join(&mut self, one: Holder, other: Holder) {
        let (one, other) = (self.class(one), self.class(other));
        if one != other {
            self.parents.insert(one, other);
        }
    }
}

struct Walk<'a> {
    program: &'a Program,
    function: FuncId,
    fates: &'a mut Fates,
    marks: &'a mut Vec<(Holder, Fate)>,
}

impl Walk<'_> {
    fn variable(&self, var: VarId) -> Holder {
        Holder::Variable(self.function, var)
    }

    /// A channel expression is a variable or nil.
    fn holder(&self, value: &Expr) -> Option<Holder> {
        match value.kind {
            ExprKind::Var(var) => Some(self.variable(var)),
            _ => None,
        }
    }

    fn join(&mut self, one: Option<Holder>, other: Option<Holder>) {
        if let (Some(one), Some(other)) = (one, other) {
            self.fates.join(one, other);
        }
    }

    /// Messages join only what is a channel, or all integers would end up in one class.
    fn join_message(&mut self, holder: Option<Holder>) {
        let Some(Holder::Variable(function, var)) = holder else { return };
        let ty = &self.program.functions[function].variables[var].ty;
        if matches!(ty, Some(strait_calculus::ast::Type::Chan(_)) | None) {
            self.join(holder, Some(Holder::Message));
        }
    }

    fn block(&mut self, block: &Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Assign { var, value } => {
                let (var, value) = (self.variable(*var), self.holder(value));
                self.join(Some(var), value);
            }
            StmtKind::Put { value, .. } => self.join_message(self.holder(value)),
            StmtKind::Get { value, .. } => {
                self.join_message(value.map(|var| self.variable(var)));
            }
            StmtKind::Close { channel } => {
                let fate = Fate { is_closed: true, is_abandoned: false };
                self.marks.extend(self.holder(channel).map(|holder| (holder, fate)));
            }
            StmtKind::Abandon { channel } => {
                let fate = Fate { is_closed: false, is_abandoned: true };
                self.marks.extend(self.holder(channel).map(|holder| (holder, fate)));
            }
            StmtKind::Call { function, arguments, result } => {
                let params = self.program.functions[*function].params.clone();
                for (argument, param) in arguments.iter().zip(params) {
                    let param = Holder::Variable(*function, param);
                    self.join(self.holder(argument), Some(param));
                }
                let result = result.map(|var| self.variable(var));
                self.join(result, Some(Holder::Result(*function)));
            }
            StmtKind::Return { value: Some(value) } => {
                self.join(self.holder(value), Some(Holder::Result(self.function)));
            }
            StmtKind::Select { cases, default } => {
                for case in cases {
                    match &case.op {
                        CaseOp::Put { value, .. } => self.join_message(self.holder(value)),
                        CaseOp::Get { value, .. } => {
                            self.join_message(value.map(|var| self.variable(var)));
                        }
                        CaseOp::Timeout => {}
                    }
                    self.block(&case.body);
                }
                default.iter().for_each(|default| self.block(default));
            }
            StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => self.block(body),
            StmtKind::If { then, otherwise, .. } => {
                self.block(then);
                otherwise.iter().for_each(|otherwise| self.block(otherwise));
            }
            StmtKind::Choose { branches } => branches.iter().for_each(|branch| self.block(branch)),
            _ => {}
        }
    }
}
