//! The type checker: infers the types of variables, and says everything that is wrong with a
//! program, whether it was read or built.
//!
//! After a successful check every variable has a type, every name means at its place what the tree
//! says it means (so that printing and reading again gives the same program), and every operation
//! has operands of the types it needs.

use crate::language::ast::{
    BinaryOp, Block, Capacity, CaseOp, Expr, ExprKind, LockKind, MAX_BRANCHES, MAX_CAPACITY,
    MAX_DEPTH, Program, Stmt, StmtKind, SyncOp, Type, UnaryOp, Variable,
};
use crate::language::diagnostic::{Diagnostic, Diagnostics};
use crate::language::index::{FuncId, IndexVec, VarId};
use crate::language::parser::check_name;
use crate::language::printer::print_type;
use crate::language::scope::{Scope, Sight};
use crate::language::shape::{check_function_names, expression_fits, type_levels};
use crate::language::span::Span;

/// Checks a program and fills in the types of its variables.
pub fn check(program: &mut Program) -> Result<(), Diagnostics> {
    let mut diagnostics = Vec::new();
    check_entry(program, &mut diagnostics);
    check_function_names(program, &mut diagnostics);
    let functions: Vec<FuncId> = program.functions.indices().collect();
    for function in functions {
        let variables = std::mem::take(&mut program.functions[function].variables);
        let mut checker = Checker {
            program,
            function,
            variables,
            scope: Scope::default(),
            loops: 0,
            spawned: 0,
            depth: 0,
            inside: false,
            diagnostics: &mut diagnostics,
        };
        checker.function();
        let variables = std::mem::take(&mut checker.variables);
        program.functions[function].variables = variables;
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(Diagnostics(diagnostics)) }
}

fn check_entry(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    match program.functions.get(program.main) {
        Some(main)
            if main.params.is_empty() && main.result == Type::Unit && main.name == "main" => {}
        Some(main) => diagnostics.push(Diagnostic::new(
            "the entry is called `main`, has no parameters and returns nothing",
            main.span,
        )),
        None => diagnostics.push(Diagnostic::new("there is no `main`", Span::NONE)),
    }
}

struct Checker<'a> {
    program: &'a Program,
    function: FuncId,
    variables: IndexVec<VarId, Variable>,
    scope: Scope,
    loops: usize,
    spawned: usize,
    /// Nesting as the parser counts it in the printed program.
    depth: usize,
    /// Is an expression being checked, so that its parts need not be measured again?
    inside: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn function(&mut self) {
        let function = &self.program.functions[self.function];
        self.depth_of_type(&function.result, function.span);
        for param in &function.params {
            let Some(ty) = self.variables.get(*param).and_then(|variable| variable.ty.clone())
            else {
                self.error(Diagnostic::new("a parameter without a type", function.span));
                return;
            };
            self.depth_of_type(&ty, function.span);
            self.declare(*param, ty, function.span);
        }
        let ends = self.block(&function.body, false);
        if !ends && function.result != Type::Unit {
            let message = format!("`{}` may end without returning a value", function.name);
            let hint =
                format!("add `return` with a value of type {}", print_type(&function.result));
            self.error(Diagnostic::new(message, function.span).hint(hint));
        }
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        // One hundred complaints are enough for anyone.
        if self.diagnostics.len() < 100 {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Checks a block; tells whether its end is never reached.
    fn block(&mut self, block: &Block, spawned: bool) -> bool {
        self.block_with(block, spawned, |_| {})
    }

    fn block_with(
        &mut self,
        block: &Block,
        spawned: bool,
        prepare: impl FnOnce(&mut Self),
    ) -> bool {
        if !self.has_room(1, Span::NONE) {
            return false;
        }
        self.depth += 1;
        self.scope.open(spawned);
        prepare(self);
        let mut ends = false;
        for statement in &block.statements {
            ends |= self.statement(statement);
        }
        self.scope.close();
        self.depth -= 1;
        ends
    }

    /// May the tree go so many levels deeper here?
    fn has_room(&mut self, levels: usize, span: Span) -> bool {
        let fits = self.depth + levels <= MAX_DEPTH;
        if !fits {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            let hint = "move the inner part into a function";
            self.error(Diagnostic::new(message, span).hint(hint));
        }
        fits
    }

    fn depth_of_type(&mut self, ty: &Type, span: Span) {
        self.has_room(type_levels(ty), span);
    }

    fn branches(&mut self, count: usize, span: Span) {
        if count > MAX_BRANCHES {
            let message = format!("{count} branches, more than {MAX_BRANCHES}");
            self.error(Diagnostic::new(message, span).hint("split them over several statements"));
        }
    }

    /// Checks a statement; tells whether what follows it is never reached.
    fn statement(&mut self, statement: &Stmt) -> bool {
        let span = statement.span;
        match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                self.new_channel(*var, element, *capacity, span);
            }
            StmtKind::NewLock { var, kind } => self.declare(*var, lock_type(*kind), span),
            StmtKind::Assign { var, value } => {
                // `nil` takes the type of the channel it replaces.
                let known = self.variables.get(*var).and_then(|variable| variable.ty.clone());
                let ty = match known {
                    Some(Type::Chan(_)) if value.kind == ExprKind::Nil => known,
                    _ => self.expression(value),
                };
                self.assign(*var, ty, span);
            }
            StmtKind::Put { channel, value } => self.put(channel, value),
            StmtKind::Get { channel, value, ok } => {
                let element = self.element(channel);
                self.bind(element, *value, *ok, span);
            }
            StmtKind::Close { channel } | StmtKind::Abandon { channel } => {
                self.element(channel);
            }
            StmtKind::Select { cases, default } => {
                self.branches(cases.len(), span);
                let mut all_end = true;
                for case in cases {
                    all_end &= self.case(&case.op, &case.body, case.span);
                }
                if let Some(default) = default {
                    all_end &= self.block(default, false);
                }
                // A select without cases waits forever.
                return all_end;
            }
            StmtKind::Spawn { name, body } => {
                self.spawn(name.as_deref(), body, span);
            }
            StmtKind::Call { function, arguments, result } => {
                self.call(*function, arguments, *result, span);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.expect(condition, &Type::Bool, "a condition");
                let then_ends = self.block(then, false);
                let otherwise_ends = match otherwise {
                    Some(otherwise) => self.block(otherwise, false),
                    None => false,
                };
                return then_ends && otherwise_ends;
            }
            StmtKind::While { condition, body } => {
                self.expect(condition, &Type::Bool, "a condition");
                self.loops += 1;
                self.block(body, false);
                self.loops -= 1;
                return condition.kind == ExprKind::Bool(true) && !breaks(body);
            }
            StmtKind::Break | StmtKind::Continue => {
                if self.loops == 0 {
                    self.error(Diagnostic::new("`break` or `continue` outside any `while`", span));
                }
                return true;
            }
            StmtKind::Choose { branches } => {
                self.branches(branches.len(), span);
                if branches.is_empty() {
                    self.error(Diagnostic::new("a `choose` without branches", span));
                }
                let mut all_end = true;
                for branch in branches {
                    all_end &= self.block(branch, false);
                }
                return all_end;
            }
            StmtKind::Sync { op, target } => self.sync(*op, target),
            StmtKind::Add { group, amount } => {
                self.expect(group, &Type::WaitGroup, "what `add` counts");
                self.expect(amount, &Type::Int, "the amount");
            }
            StmtKind::Panic { .. } => return true,
            StmtKind::Return { value } => {
                self.check_return(value.as_ref(), span);
                return true;
            }
            StmtKind::Observe { value } => {
                self.expression(value);
            }
        }
        false
    }

    fn new_channel(&mut self, var: VarId, element: &Type, capacity: Capacity, span: Span) {
        if matches!(capacity, Capacity::Bounded(held) if held == 0 || held > MAX_CAPACITY) {
            let message = format!("a bounded channel holds 1 to {MAX_CAPACITY} messages");
            self.error(Diagnostic::new(message, span));
        }
        self.depth_of_type(element, span);
        self.declare(var, Type::Chan(Box::new(element.clone())), span);
    }

    fn spawn(&mut self, name: Option<&str>, body: &Block, span: Span) {
        if let Some(Err(error)) = name.map(|name| check_name(name, span, "the process")) {
            self.error(error);
        }
        let loops = std::mem::take(&mut self.loops);
        self.spawned += 1;
        self.block(body, true);
        self.spawned -= 1;
        self.loops = loops;
    }

    fn check_return(&mut self, value: Option<&Expr>, span: Span) {
        if self.spawned > 0 {
            if let Some(value) = value {
                let message = "a spawned process returns nothing";
                self.error(
                    Diagnostic::new(message, value.span).hint("send the value over a channel"),
                );
            }
            return;
        }
        let result = self.program.functions[self.function].result.clone();
        match value {
            Some(value) => self.expect(value, &result, "the result"),
            None if result == Type::Unit => {}
            None => {
                let message = format!("`return` needs a value of type {}", print_type(&result));
                self.error(Diagnostic::new(message, span));
            }
        }
    }

    fn case(&mut self, op: &CaseOp, body: &Block, span: Span) -> bool {
        match op {
            CaseOp::Put { channel, value } => {
                self.put(channel, value);
                self.block(body, false)
            }
            CaseOp::Get { channel, value, ok } => {
                let element = self.element(channel);
                self.block_with(body, false, |checker| checker.bind(element, *value, *ok, span))
            }
            CaseOp::Timeout => self.block(body, false),
        }
    }

    fn put(&mut self, channel: &Expr, value: &Expr) {
        match self.element(channel) {
            Some(element) => self.expect(value, &element, "the message"),
            None => {
                self.expression(value);
            }
        }
    }

    /// The type of a channel's messages.
    fn element(&mut self, channel: &Expr) -> Option<Type> {
        if channel.kind == ExprKind::Nil {
            return None;
        }
        match self.expression(channel)? {
            Type::Chan(element) => Some(*element),
            other => {
                let message = format!("expected a channel, this is of type {}", print_type(&other));
                self.error(Diagnostic::new(message, channel.span));
                None
            }
        }
    }

    fn bind(&mut self, element: Option<Type>, value: Option<VarId>, ok: Option<VarId>, span: Span) {
        if let Some(value) = value {
            // What is received from a literal `nil` never arrives; unit is as good as any type.
            self.assign(value, Some(element.unwrap_or(Type::Unit)), span);
        }
        if let Some(ok) = ok {
            self.assign(ok, Some(Type::Bool), span);
        }
    }

    fn call(&mut self, function: FuncId, arguments: &[Expr], result: Option<VarId>, span: Span) {
        let program = self.program;
        let Some(called) = program.functions.get(function) else {
            self.error(Diagnostic::new("a call of a function that does not exist", span));
            return;
        };
        if function == program.main {
            let hint = "move what is repeated into a function";
            self.error(Diagnostic::new("`main` cannot be called", span).hint(hint));
        }
        if arguments.len() != called.params.len() {
            let (given, wanted) = (arguments.len(), called.params.len());
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`{}` takes {wanted} argument{plural}, not {given}", called.name);
            self.error(Diagnostic::new(message, span));
        }
        for (argument, param) in arguments.iter().zip(&called.params) {
            match self.type_of_param(function, *param) {
                Some(ty) => self.expect(argument, &ty, "the argument"),
                None => self.error(Diagnostic::new("a parameter without a type", called.span)),
            }
        }
        if let Some(result) = result {
            self.assign(result, Some(called.result.clone()), span);
        }
    }

    fn type_of_param(&self, function: FuncId, param: VarId) -> Option<Type> {
        let variables = if function == self.function {
            &self.variables
        } else {
            &self.program.functions[function].variables
        };
        variables.get(param).and_then(|variable| variable.ty.clone())
    }

    fn sync(&mut self, op: SyncOp, target: &Expr) {
        let Some(ty) = self.expression(target) else {
            return;
        };
        let fits = match op {
            SyncOp::Lock | SyncOp::Unlock => matches!(ty, Type::Mutex | Type::RwMutex),
            SyncOp::RLock | SyncOp::RUnlock => ty == Type::RwMutex,
            SyncOp::Done | SyncOp::Wait => ty == Type::WaitGroup,
        };
        if !fits {
            let wanted = match op {
                SyncOp::Lock | SyncOp::Unlock => "a mutex or rwmutex",
                SyncOp::RLock | SyncOp::RUnlock => "an rwmutex",
                SyncOp::Done | SyncOp::Wait => "a waitgroup",
            };
            let message = format!("expected {wanted}, this is of type {}", print_type(&ty));
            self.error(Diagnostic::new(message, target.span));
        }
    }

    /// A variable that this statement must introduce.
    fn declare(&mut self, var: VarId, ty: Type, span: Span) {
        let Some(variable) = self.variables.get(var) else {
            self.error(Diagnostic::new("a variable that does not exist", span));
            return;
        };
        if self.scope.find(&variable.name).is_some() {
            let message = format!("`{}` is already in sight", variable.name);
            self.error(Diagnostic::new(message, span).hint("choose another name"));
            return;
        }
        self.introduce(var, Some(ty), span);
    }

    fn introduce(&mut self, var: VarId, ty: Option<Type>, span: Span) {
        let name = self.variables[var].name.clone();
        if let Err(error) = check_name(&name, span, "the variable") {
            self.error(error);
        }
        self.scope.introduce(name, var);
        if ty.is_some() {
            self.unify(var, ty, span);
        }
    }

    fn assign(&mut self, var: VarId, ty: Option<Type>, span: Span) {
        let Some(variable) = self.variables.get(var) else {
            self.error(Diagnostic::new("a variable that does not exist", span));
            return;
        };
        let name = variable.name.clone();
        match self.scope.find(&name) {
            None => self.introduce(var, ty, span),
            Some(Sight::Own(known)) if known == var => self.unify(var, ty, span),
            Some(Sight::Copied(known)) if known == var => {
                let message = format!("`{name}` belongs to the process that spawned this block");
                self.error(Diagnostic::new(message, span).hint("assign to a new name"));
            }
            Some(_) => {
                let message = format!("two variables called `{name}` are in sight");
                self.error(Diagnostic::new(message, span).hint("give one of them another name"));
            }
        }
    }

    fn unify(&mut self, var: VarId, ty: Option<Type>, span: Span) {
        let Some(ty) = ty else { return };
        let variable = &mut self.variables[var];
        match &variable.ty {
            None => variable.ty = Some(ty),
            Some(known) if *known == ty => {}
            Some(known) => {
                let (known, given) = (print_type(known), print_type(&ty));
                let message = format!("`{}` is of type {known}, not {given}", variable.name);
                self.error(Diagnostic::new(message, span).hint("use another variable"));
            }
        }
    }

    fn expect(&mut self, expression: &Expr, wanted: &Type, what: &str) {
        if expression.kind == ExprKind::Nil && matches!(wanted, Type::Chan(_)) {
            return;
        }
        if let Some(found) = self.expression(expression).filter(|found| found != wanted) {
            let (wanted, found) = (print_type(wanted), print_type(&found));
            let message = format!("{what} should be of type {wanted}, this is of type {found}");
            self.error(Diagnostic::new(message, expression.span));
        }
    }

    /// The type of an expression, or `None` after an error has been reported.
    fn expression(&mut self, expression: &Expr) -> Option<Type> {
        if self.inside {
            return self.part(expression);
        }
        if !expression_fits(expression, MAX_DEPTH.saturating_sub(self.depth)) {
            let message = format!("an expression nested more than {MAX_DEPTH} levels deep");
            self.error(Diagnostic::new(message, expression.span).hint("compute it in steps"));
            return None;
        }
        self.inside = true;
        let ty = self.part(expression);
        self.inside = false;
        ty
    }

    fn part(&mut self, expression: &Expr) -> Option<Type> {
        match &expression.kind {
            ExprKind::Unit => Some(Type::Unit),
            ExprKind::Bool(_) => Some(Type::Bool),
            ExprKind::Int(_) => Some(Type::Int),
            ExprKind::Nil => {
                let message = "`nil` alone has no type";
                let hint = "declare `chan c: TYPE`, or pass `nil` where a channel is expected";
                self.error(Diagnostic::new(message, expression.span).hint(hint));
                None
            }
            ExprKind::Var(var) => self.read(*var, expression.span),
            ExprKind::Unary(op, operand) => {
                let ty = match op {
                    UnaryOp::Not => Type::Bool,
                    UnaryOp::Negate => Type::Int,
                };
                self.expect(operand, &ty, "the operand");
                Some(ty)
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Type> {
        let (operands, result) = match op {
            BinaryOp::Or | BinaryOp::And => (Type::Bool, Type::Bool),
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply => (Type::Int, Type::Int),
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                (Type::Int, Type::Bool)
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let (one, other) =
                    if left.kind == ExprKind::Nil { (right, left) } else { (left, right) };
                let ty = self.expression(one)?;
                self.expect(other, &ty, "the other side");
                return Some(Type::Bool);
            }
        };
        self.expect(left, &operands, "the left side");
        self.expect(right, &operands, "the right side");
        Some(result)
    }

    fn read(&mut self, var: VarId, span: Span) -> Option<Type> {
        let Some(variable) = self.variables.get(var) else {
            self.error(Diagnostic::new("a variable that does not exist", span));
            return None;
        };
        if self.scope.find(&variable.name).map(Sight::var) != Some(var) {
            let message = format!("`{}` is not in sight here", variable.name);
            self.error(Diagnostic::new(message, span));
            return None;
        }
        variable.ty.clone()
    }
}

/// Does a loop's body leave the loop by `break`?
fn breaks(body: &Block) -> bool {
    body.statements.iter().any(|statement| match &statement.kind {
        StmtKind::Break => true,
        StmtKind::If { then, otherwise, .. } => {
            breaks(then) || otherwise.as_ref().is_some_and(breaks)
        }
        StmtKind::Choose { branches } => branches.iter().any(breaks),
        StmtKind::Select { cases, default } => {
            cases.iter().any(|case| breaks(&case.body)) || default.as_ref().is_some_and(breaks)
        }
        _ => false,
    })
}

fn lock_type(kind: LockKind) -> Type {
    match kind {
        LockKind::Mutex => Type::Mutex,
        LockKind::RwMutex => Type::RwMutex,
        LockKind::WaitGroup => Type::WaitGroup,
    }
}
