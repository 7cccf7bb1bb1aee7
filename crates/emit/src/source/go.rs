//! Go: goroutines, `chan`, `select`.
//!
//! A process is a goroutine with a value `p` that remembers what it saw; gets, choices and
//! observations are told to it right where they happen.

use strait_calculus::ast::{
    BinaryOp, Block, Capacity, Case, CaseOp, Expr, ExprKind, Function, LockKind, Stmt, StmtKind,
    SyncOp, Type, UnaryOp,
};
use strait_calculus::{FuncId, Program, VarId};

use super::dialect::Dialect;
use super::expression::{Arithmetic, Notation, expression};
use super::facts::Facts;
use super::scope::Scope;
use super::text::Text;
use super::{Naming, leaves_loop_from_branch};
use crate::error::Error;
use crate::language::Language;

const RESERVED: &[&str] = &[
    "any",
    "append",
    "bool",
    "break",
    "byte",
    "cap",
    "case",
    "chan",
    "clear",
    "close",
    "const",
    "continue",
    "copy",
    "count",
    "default",
    "defer",
    "delete",
    "else",
    "error",
    "fallthrough",
    "false",
    "fmt",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "import",
    "int",
    "int64",
    "interface",
    "iota",
    "isOpen",
    "len",
    "main",
    "make",
    "map",
    "max",
    "min",
    "new",
    "nil",
    "p",
    "package",
    "panic",
    "print",
    "println",
    "process",
    "program",
    "programs",
    "rand",
    "range",
    "real",
    "received",
    "recover",
    "return",
    "run",
    "select",
    "show",
    "string",
    "struct",
    "switch",
    "sync",
    "tally",
    "time",
    "true",
    "type",
    "uint",
    "var",
    "watch",
    "desk",
];

const NOTATION: Notation = Notation {
    unit: "struct{}{}",
    nil: Some("nil"),
    integer: |value| value.to_string(),
    arithmetic: Arithmetic::Operators(["+", "-", "*"]),
};

/// The functions of one program.
pub fn functions(program: &Program, naming: Naming) -> Result<String, Error> {
    let facts = Facts::of(program);
    let mut texts = Vec::new();
    for id in super::main_first(program) {
        let scope = Scope::new(program, &facts, id, RESERVED);
        let mut writer = Writer { scope, naming, text: Text::new("\t"), loops: Vec::new() };
        writer.function(id)?;
        texts.push(writer.text.finish());
    }
    Ok(texts.join("\n"))
}

/// The packages that the functions of a program use.
pub fn packages(program: &Program) -> Vec<&'static str> {
    let facts = Facts::of(program);
    let mut packages = Vec::new();
    packages.extend(facts.chooses.then_some("math/rand"));
    packages.extend(facts.locks.then_some("sync"));
    packages.extend(facts.times_out.then_some("time"));
    packages
}

fn beyond(what: &'static str) -> Error {
    Error::Beyond { language: Language::Go, what }
}

fn type_text(ty: &Type) -> String {
    match ty {
        Type::Unit => "struct{}".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int => "int64".to_owned(),
        Type::Chan(element) => format!("chan {}", type_text(element)),
        Type::Mutex => "*sync.Mutex".to_owned(),
        Type::RwMutex => "*sync.RWMutex".to_owned(),
        Type::WaitGroup => "*sync.WaitGroup".to_owned(),
    }
}

fn zero(ty: &Type) -> &'static str {
    match ty {
        Type::Unit => "struct{}{}",
        Type::Bool => "false",
        Type::Int => "0",
        _ => "nil",
    }
}

struct Writer<'a> {
    scope: Scope<'a>,
    naming: Naming,
    text: Text,
    /// For each enclosing loop its label, if it needs one.
    loops: Vec<Option<String>>,
}

impl<'a> Dialect<'a> for Writer<'a> {
    fn scope(&mut self) -> &mut Scope<'a> {
        &mut self.scope
    }

    fn text(&mut self) -> &mut Text {
        &mut self.text
    }

    fn statement(&mut self, statement: &Stmt) -> Result<(), Error> {
        self.write(statement)
    }
}

impl Writer<'_> {
    fn function(&mut self, id: FuncId) -> Result<(), Error> {
        let function = self.scope.function();
        let name = self.naming.function(self.scope.program, id, RESERVED);
        let mut params = vec!["p *process".to_owned()];
        params.extend(function.params.iter().map(|param| self.typed(*param)));
        let result = match &function.result {
            Type::Unit => String::new(),
            ty => format!(" {}", type_text(ty)),
        };
        self.text.line(format!("func {name}({}){result} {{", params.join(", ")));
        self.text.indent();
        self.block(&function.body)?;
        self.final_return(function);
        self.text.outdent();
        self.text.line("}");
        Ok(())
    }

    /// Go wants a function with a result to end with a return.
    fn final_return(&mut self, function: &Function) {
        let last = function.body.statements.last().map(|statement| &statement.kind);
        if function.result != Type::Unit && !matches!(last, Some(StmtKind::Return { .. })) {
            self.text.line(format!("return {}", zero(&function.result)));
        }
    }

    fn typed(&self, var: VarId) -> String {
        format!("{} {}", self.scope.name(var), type_text(self.scope.ty(var)))
    }

    fn expression(&self, source: &Expr) -> String {
        // Go has a nil channel, so every expression can be written.
        expression(&NOTATION, &self.scope, source).unwrap_or_default()
    }

    /// One of several arguments: gofmt writes sums without spaces there.
    fn argument(&self, source: &Expr) -> String {
        let text = self.expression(source);
        match source.kind {
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, ..) => {
                text.replace(' ', "")
            }
            _ => text,
        }
    }

    /// `x := value`, `x = value`
    fn assign(&mut self, var: VarId, value: &str) {
        let name = self.scope.name(var);
        if !self.scope.declare(var) {
            return self.text.line(format!("{name} = {value}"));
        }
        match self.scope.ty(var) {
            Type::Int | Type::Chan(_) if !value.starts_with("make(") => {
                // A constant would become an int, and nil has no type at all.
                self.text.line(format!("var {} = {value}", self.typed(var)));
            }
            _ => self.text.line(format!("{name} := {value}")),
        }
        self.use_up(var);
    }

    /// Go refuses variables that are never read.
    fn use_up(&mut self, var: VarId) {
        if !self.scope.is_read(var) {
            let name = self.scope.name(var);
            self.text.line(format!("_ = {name}"));
        }
    }

    fn write(&mut self, statement: &Stmt) -> Result<(), Error> {
        match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                let element = type_text(element);
                let value = match capacity {
                    Capacity::Rendezvous => format!("make(chan {element})"),
                    Capacity::Bounded(capacity) => format!("make(chan {element}, {capacity})"),
                    Capacity::Unbounded => return Err(beyond("unbounded channels")),
                };
                self.assign(*var, &value);
            }
            StmtKind::NewLock { var, kind } => {
                let value = match kind {
                    LockKind::Mutex => "new(sync.Mutex)",
                    LockKind::RwMutex => "new(sync.RWMutex)",
                    LockKind::WaitGroup => "new(sync.WaitGroup)",
                };
                self.assign(*var, value);
            }
            StmtKind::Assign { var, value } => {
                let value = self.expression(value);
                self.assign(*var, &value);
            }
            StmtKind::Put { channel, value } => {
                let (channel, value) = (self.channel(channel), self.expression(value));
                self.text.line(format!("{channel} <- {value}"));
            }
            StmtKind::Get { channel, value, ok } => self.get(channel, *value, *ok),
            StmtKind::Close { channel } => {
                let channel = self.channel(channel);
                self.text.line(format!("close({channel})"));
            }
            StmtKind::Abandon { .. } => return Err(beyond("receivers that leave")),
            StmtKind::Select { cases, default } => self.select(cases, default.as_ref())?,
            StmtKind::Spawn { body, .. } => self.spawn(body)?,
            StmtKind::Call { function, arguments, result } => {
                let mut texts = vec!["p".to_owned()];
                texts.extend(arguments.iter().map(|argument| self.argument(argument)));
                let call = self.naming.call(self.scope.program, *function, &texts, RESERVED);
                match result {
                    // A unit result is no result in Go.
                    Some(var) if self.scope.program.functions[*function].result == Type::Unit => {
                        self.text.line(call);
                        self.assign(*var, "struct{}{}");
                    }
                    Some(var) => self.assign(*var, &call),
                    None => self.text.line(call),
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.expression(condition);
                self.text.line(format!("if {condition} {{"));
                self.indented(then)?;
                if let Some(otherwise) = otherwise {
                    self.text.line("} else {");
                    self.indented(otherwise)?;
                }
                self.text.line("}");
            }
            StmtKind::While { condition, body } => self.repeat(condition, body)?,
            StmtKind::Break => match self.loops.last() {
                Some(Some(label)) => self.text.line(format!("break {label}")),
                _ => self.text.line("break"),
            },
            StmtKind::Continue => self.text.line("continue"),
            StmtKind::Choose { branches } => self.choose(branches)?,
            StmtKind::Sync { op, target } => {
                let (target, method) = (self.expression(target), method(*op));
                self.text.line(format!("{target}.{method}()"));
            }
            StmtKind::Add { group, amount } => {
                let (group, amount) = (self.expression(group), self.expression(amount));
                self.text.line(format!("{group}.Add(int({amount}))"));
            }
            StmtKind::Panic { message } => self.text.line(format!("panic({:?})", &**message)),
            StmtKind::Return { value } => match value {
                Some(value) if self.scope.function().result != Type::Unit => {
                    let value = self.expression(value);
                    self.text.line(format!("return {value}"));
                }
                _ => self.text.line("return"),
            },
            StmtKind::Observe { value } => {
                let value = self.as_interface(value);
                self.text.line(format!("p.observed({value})"));
            }
        }
        Ok(())
    }

    /// A channel as an operand: a bare `nil` has no type.
    fn channel(&self, channel: &Expr) -> String {
        match self.expression(channel).as_str() {
            "nil" => "(chan struct{})(nil)".to_owned(),
            text => text.to_owned(),
        }
    }

    /// A value that becomes an `interface{}`: constants would become an int.
    fn as_interface(&self, value: &Expr) -> String {
        let text = self.expression(value);
        match value.kind {
            ExprKind::Int(_) | ExprKind::Unary(..) | ExprKind::Binary(..)
                if !self.is_boolean(value) =>
            {
                format!("int64({text})")
            }
            ExprKind::Nil => self.channel(value),
            _ => text,
        }
    }

    fn is_boolean(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Unary(op, _) => *op == UnaryOp::Not,
            ExprKind::Binary(op, ..) => {
                !matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply)
            }
            _ => false,
        }
    }

    /// What is received, and whether there was anything: under the names of the variables where
    /// these are new, else under names that no variable has.
    fn received(&self, value: Option<VarId>, ok: Option<VarId>) -> (String, String) {
        let name = |var: Option<VarId>, other: &str| match var {
            Some(var) if !self.scope.is_declared(var) => self.scope.name(var),
            _ => other.to_owned(),
        };
        (name(value, "received"), name(ok, "isOpen"))
    }

    fn get(&mut self, channel: &Expr, value: Option<VarId>, ok: Option<VarId>) {
        let asks = self.scope.may_close(channel) || ok.is_some();
        let channel = self.channel(channel);
        let mut variables = [value, ok];
        let are_new = variables.iter().flatten().all(|var| !self.scope.is_declared(*var));
        if asks {
            let is_complete = value.is_some() && ok.is_some() && are_new;
            if !is_complete {
                // Nobody misses a variable that is not read.
                variables = variables.map(|var| var.filter(|var| self.scope.is_read(*var)));
                self.declare_ahead(variables);
                self.text.line("{");
                self.text.indent();
            }
            let (received, is_open) = self.received(variables[0], variables[1]);
            self.text.line(format!("{received}, {is_open} := <-{channel}"));
            self.text.line(format!("p.gotOrClosed({received}, {is_open})"));
            self.hand_over(variables, [received, is_open]);
            if !is_complete {
                self.text.outdent();
                self.text.line("}");
            }
        } else if let Some(var) = value {
            let name = self.scope.name(var);
            let sign = if self.scope.declare(var) { ":=" } else { "=" };
            self.text.line(format!("{name} {sign} <-{channel}"));
            self.text.line(format!("p.got({name})"));
        } else {
            self.text.line(format!("p.got(<-{channel})"));
        }
    }

    fn declare_ahead(&mut self, variables: [Option<VarId>; 2]) {
        for var in variables.into_iter().flatten() {
            if self.scope.declare(var) {
                let typed = self.typed(var);
                self.text.line(format!("var {typed}"));
            }
        }
    }

    /// Assigns what was received to the variables that were there before.
    fn hand_over(&mut self, variables: [Option<VarId>; 2], names: [String; 2]) {
        for (var, name) in variables.into_iter().zip(names) {
            if let Some(var) = var
                && !self.scope.declare(var)
            {
                let own = self.scope.name(var);
                self.text.line(format!("{own} = {name}"));
            }
        }
    }

    fn select(&mut self, cases: &[Case], default: Option<&Block>) -> Result<(), Error> {
        self.text.line("select {");
        for (number, case) in cases.iter().enumerate() {
            let mark = self.scope.enter();
            match &case.op {
                CaseOp::Put { channel, value } => {
                    let (channel, value) = (self.channel(channel), self.expression(value));
                    self.text.line(format!("case {channel} <- {value}:"));
                    self.text.indent();
                    self.text.line(format!("p.chose({number})"));
                }
                CaseOp::Get { channel, value, ok } => {
                    self.select_get(number, channel, *value, *ok);
                }
                CaseOp::Timeout => {
                    self.text.line("case <-time.After(time.Microsecond):");
                    self.text.indent();
                    self.text.line("p.timedOut()");
                }
            }
            self.block(&case.body)?;
            self.text.outdent();
            self.scope.leave(mark);
        }
        if let Some(default) = default {
            self.text.line("default:");
            self.text.indent();
            self.text.line("p.defaulted()");
            self.block(default)?;
            self.text.outdent();
        }
        self.text.line("}");
        Ok(())
    }

    fn select_get(
        &mut self,
        number: usize,
        channel: &Expr,
        value: Option<VarId>,
        ok: Option<VarId>,
    ) {
        let asks = self.scope.may_close(channel) || ok.is_some();
        let channel = self.channel(channel);
        let (received, is_open) = self.received(value, ok);
        let told = if asks {
            self.text.line(format!("case {received}, {is_open} := <-{channel}:"));
            format!("p.gotOrClosed({received}, {is_open})")
        } else {
            self.text.line(format!("case {received} := <-{channel}:"));
            format!("p.got({received})")
        };
        self.text.indent();
        self.text.line(format!("p.chose({number})"));
        self.text.line(told);
        self.hand_over([value, ok], [received, is_open]);
    }

    fn spawn(&mut self, body: &Block) -> Result<(), Error> {
        // A process has its own copies of what the one that spawned it goes on to change.
        let copies = self.scope.copies(body);
        if !copies.is_empty() {
            self.text.line("{");
            self.text.indent();
            for var in &copies {
                let name = self.scope.name(*var);
                self.text.line(format!("{name} := {name}"));
            }
        }
        self.text.line("p.Go(func(p *process) {");
        let loops = std::mem::take(&mut self.loops);
        self.indented(body)?;
        self.loops = loops;
        self.text.line("})");
        if !copies.is_empty() {
            self.text.outdent();
            self.text.line("}");
        }
        Ok(())
    }

    fn repeat(&mut self, condition: &Expr, body: &Block) -> Result<(), Error> {
        // In a select or switch a bare break would leave only that.
        let label = leaves_loop_from_branch(body).then(|| format!("loop{}", self.loops.len() + 1));
        if let Some(label) = &label {
            self.text.outdent();
            self.text.line(format!("{label}:"));
            self.text.indent();
        }
        self.loops.push(label);
        let condition = self.expression(condition);
        self.text.line(format!("for {condition} {{"));
        self.indented(body)?;
        self.text.line("}");
        self.loops.pop();
        Ok(())
    }

    fn choose(&mut self, branches: &[Block]) -> Result<(), Error> {
        self.text.line(format!("switch rand.Intn({}) {{", branches.len()));
        for (number, branch) in branches.iter().enumerate() {
            self.text.line(format!("case {number}:"));
            self.indented(branch)?;
        }
        self.text.line("}");
        Ok(())
    }
}

fn method(op: SyncOp) -> &'static str {
    match op {
        SyncOp::Lock => "Lock",
        SyncOp::Unlock => "Unlock",
        SyncOp::RLock => "RLock",
        SyncOp::RUnlock => "RUnlock",
        SyncOp::Done => "Done",
        SyncOp::Wait => "Wait",
    }
}
