//! Program to text. Reading the text again gives the same program, and the same text again.

use std::fmt::Write;

use crate::language::ast::{
    BinaryOp, Block, Capacity, CaseOp, Expr, ExprKind, Function, LockKind, Program, Stmt, StmtKind,
    SyncOp, Type, UnaryOp,
};
use crate::language::index::{FuncId, VarId};
use crate::language::parser::BINARY;

/// The text of a program.
pub fn print(program: &Program) -> String {
    let mut text = String::new();
    for (position, function) in program.functions.iter().enumerate() {
        if position > 0 {
            text.push('\n');
        }
        let mut printer = Printer { program, function, text: &mut text, indent: 0 };
        printer.function();
    }
    text
}

/// The text of a type.
pub fn print_type(ty: &Type) -> String {
    match ty {
        Type::Unit => "unit".into(),
        Type::Bool => "bool".into(),
        Type::Int => "int".into(),
        Type::Chan(element) => format!("chan {}", print_type(element)),
        Type::Mutex => "mutex".into(),
        Type::RwMutex => "rwmutex".into(),
        Type::WaitGroup => "waitgroup".into(),
    }
}

/// The text of one statement, blocks shown as `{ … }`, for messages and traces.
pub fn print_statement(program: &Program, function: &Function, statement: &Stmt) -> String {
    let mut text = String::new();
    let mut printer = Printer { program, function, text: &mut text, indent: 0 };
    printer.statement(statement);
    let first = text.lines().next().unwrap_or_default();
    if text.lines().count() > 1 { format!("{first} … }}") } else { first.to_string() }
}

/// The text of an expression of a function.
pub fn print_expression(program: &Program, function: &Function, expression: &Expr) -> String {
    let mut text = String::new();
    let mut printer = Printer { program, function, text: &mut text, indent: 0 };
    printer.expression(expression, 0);
    text
}

struct Printer<'a> {
    program: &'a Program,
    function: &'a Function,
    text: &'a mut String,
    indent: usize,
}

impl Printer<'_> {
    fn function(&mut self) {
        let function = self.function;
        if self
            .program
            .functions
            .get(self.program.main)
            .is_some_and(|main| std::ptr::eq(main, function))
        {
            self.text.push_str("main ");
        } else {
            let params: Vec<String> = function
                .params
                .iter()
                .map(|param| format!("{}: {}", self.name(*param), self.param_type(*param)))
                .collect();
            let _ = write!(self.text, "fn {}({})", function.name, params.join(", "));
            if function.result != Type::Unit {
                let _ = write!(self.text, ": {}", print_type(&function.result));
            }
            self.text.push(' ');
        }
        self.block(&function.body);
        self.text.push('\n');
    }

    fn name(&self, var: VarId) -> &str {
        self.function.variables.get(var).map_or("?", |variable| variable.name.as_str())
    }

    fn param_type(&self, var: VarId) -> String {
        let ty = self.function.variables.get(var).and_then(|variable| variable.ty.as_ref());
        ty.map_or("?".to_string(), print_type)
    }

    fn block(&mut self, block: &Block) {
        if block.statements.is_empty() {
            self.text.push_str("{}");
            return;
        }
        self.text.push_str("{\n");
        self.indent += 1;
        for statement in &block.statements {
            self.line_start();
            self.statement(statement);
            self.text.push('\n');
        }
        self.indent -= 1;
        self.line_start();
        self.text.push('}');
    }

    fn line_start(&mut self) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
    }

    fn word(&mut self, word: &str) {
        self.text.push_str(word);
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                self.new_channel(*var, element, *capacity);
            }
            StmtKind::NewLock { var, kind } => {
                self.word(match kind {
                    LockKind::Mutex => "mutex ",
                    LockKind::RwMutex => "rwmutex ",
                    LockKind::WaitGroup => "waitgroup ",
                });
                self.var(*var);
            }
            StmtKind::Assign { var, value } => {
                self.var(*var);
                self.word(" = ");
                self.expression(value, 0);
            }
            StmtKind::Put { channel, value } => self.put(channel, value),
            StmtKind::Get { channel, value, ok } => self.get(channel, *value, *ok),
            StmtKind::Close { channel } => self.operation("close ", channel),
            StmtKind::Abandon { channel } => self.operation("abandon ", channel),
            StmtKind::Select { .. } => self.select(statement),
            StmtKind::Spawn { name, body } => {
                self.word("spawn ");
                if let Some(name) = name {
                    let _ = write!(self.text, "{name} ");
                }
                self.block(body);
            }
            StmtKind::Call { function, arguments, result } => {
                self.call(*function, arguments, *result);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.word("if ");
                self.expression(condition, 0);
                self.word(" ");
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.otherwise(otherwise);
                }
            }
            StmtKind::While { condition, body } => {
                self.word("while ");
                self.expression(condition, 0);
                self.word(" ");
                self.block(body);
            }
            StmtKind::Break => self.word("break"),
            StmtKind::Continue => self.word("continue"),
            StmtKind::Choose { branches } => {
                for (position, branch) in branches.iter().enumerate() {
                    self.word(if position == 0 { "choose " } else { " or " });
                    self.block(branch);
                }
            }
            StmtKind::Sync { op, target } => {
                let word = match op {
                    SyncOp::Lock => "lock ",
                    SyncOp::Unlock => "unlock ",
                    SyncOp::RLock => "rlock ",
                    SyncOp::RUnlock => "runlock ",
                    SyncOp::Done => "done ",
                    SyncOp::Wait => "wait ",
                };
                self.operation(word, target);
            }
            StmtKind::Add { group, amount } => {
                self.operation("add ", group);
                self.word(" ");
                self.expression(amount, 0);
            }
            StmtKind::Panic { message } => {
                let _ = write!(self.text, "panic {}", quote(message));
            }
            StmtKind::Return { value } => {
                self.word("return");
                if let Some(value) = value {
                    self.word(" ");
                    self.expression(value, 0);
                }
            }
            StmtKind::Observe { value } => {
                self.word("observe ");
                self.expression(value, 0);
            }
        }
    }

    fn new_channel(&mut self, var: VarId, element: &Type, capacity: Capacity) {
        let name = self.name(var).to_string();
        let _ = write!(self.text, "chan {name}: {}", print_type(element));
        match capacity {
            Capacity::Rendezvous => {}
            Capacity::Bounded(capacity) => {
                let _ = write!(self.text, "[{capacity}]");
            }
            Capacity::Unbounded => self.word("[unbounded]"),
        }
    }

    fn call(&mut self, function: FuncId, arguments: &[Expr], result: Option<VarId>) {
        if let Some(result) = result {
            self.var(result);
            self.word(" = ");
        }
        let name = self.program.functions.get(function).map_or("?", |called| &called.name);
        let _ = write!(self.text, "{name}(");
        for (position, argument) in arguments.iter().enumerate() {
            if position > 0 {
                self.word(", ");
            }
            self.expression(argument, 0);
        }
        self.word(")");
    }

    /// `else if` when the block is nothing but a conditional, else a block.
    fn otherwise(&mut self, otherwise: &Block) {
        self.word(" else ");
        match otherwise.statements.as_slice() {
            [statement @ Stmt { kind: StmtKind::If { .. }, .. }] => self.statement(statement),
            _ => self.block(otherwise),
        }
    }

    fn select(&mut self, statement: &Stmt) {
        let StmtKind::Select { cases, default } = &statement.kind else {
            return;
        };
        self.word("select {\n");
        self.indent += 1;
        for case in cases {
            self.line_start();
            match &case.op {
                CaseOp::Put { channel, value } => self.put(channel, value),
                CaseOp::Get { channel, value, ok } => self.get(channel, *value, *ok),
                CaseOp::Timeout => self.word("timeout"),
            }
            self.word(" ");
            self.block(&case.body);
            self.word("\n");
        }
        if let Some(default) = default {
            self.line_start();
            self.word("default ");
            self.block(default);
            self.word("\n");
        }
        self.indent -= 1;
        self.line_start();
        self.word("}");
    }

    fn var(&mut self, var: VarId) {
        let name = self.name(var).to_string();
        self.text.push_str(&name);
    }

    fn put(&mut self, channel: &Expr, value: &Expr) {
        self.operation("put ", channel);
        self.word(" ");
        self.expression(value, 0);
    }

    fn get(&mut self, channel: &Expr, value: Option<VarId>, ok: Option<VarId>) {
        match (value, ok) {
            (None, None) => {}
            (Some(value), None) => {
                self.var(value);
                self.word(" = ");
            }
            (value, Some(ok)) => {
                match value {
                    Some(value) => self.var(value),
                    None => self.word("_"),
                }
                self.word(", ");
                self.var(ok);
                self.word(" = ");
            }
        }
        self.operation("get ", channel);
    }

    /// A word and its operand, which is a name, `nil` or parenthesised.
    fn operation(&mut self, word: &str, operand: &Expr) {
        self.word(word);
        match operand.kind {
            ExprKind::Var(_) | ExprKind::Nil | ExprKind::Unit | ExprKind::Bool(_) => {
                self.expression(operand, 0);
            }
            _ => {
                self.word("(");
                self.expression(operand, 0);
                self.word(")");
            }
        }
    }

    /// An expression in a place where operators below `level` need parentheses.
    fn expression(&mut self, expression: &Expr, level: u8) {
        match &expression.kind {
            ExprKind::Unit => self.word("()"),
            ExprKind::Bool(true) => self.word("true"),
            ExprKind::Bool(false) => self.word("false"),
            ExprKind::Nil => self.word("nil"),
            ExprKind::Int(value) => {
                let _ = write!(self.text, "{value}");
            }
            ExprKind::Var(var) => self.var(*var),
            ExprKind::Unary(op, operand) => {
                self.word(match op {
                    UnaryOp::Not => "!",
                    UnaryOp::Negate => "-",
                });
                // `-5` is one number, so the negation of 5 needs parentheses.
                let atom = matches!(
                    operand.kind,
                    ExprKind::Var(_) | ExprKind::Unary(..) | ExprKind::Bool(_)
                );
                self.parenthesised(operand, !atom);
            }
            ExprKind::Binary(op, left, right) => {
                let (symbol, binding) = operator(*op);
                let wrap = binding < level;
                if wrap {
                    self.word("(");
                }
                self.expression(left, binding);
                let _ = write!(self.text, " {symbol} ");
                self.expression(right, binding + 1);
                if wrap {
                    self.word(")");
                }
            }
        }
    }

    fn parenthesised(&mut self, expression: &Expr, wrap: bool) {
        if wrap {
            self.word("(");
        }
        self.expression(expression, 0);
        if wrap {
            self.word(")");
        }
    }
}

/// The symbol of an operator and how tightly it binds.
pub(crate) fn operator(op: BinaryOp) -> (&'static str, u8) {
    let entry = BINARY.iter().find(|(_, known, _)| *known == op);
    entry.map_or(("?", 0), |(symbol, _, binding)| (symbol, *binding))
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
