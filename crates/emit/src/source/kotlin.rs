//! Kotlin: coroutines, `Channel`, `select`, for either API of kotlinx.coroutines.
//!
//! Bodies of select cases stand in the clauses, as in Stiévenart and Madsen, OOPSLA 2020, Fig. 15.

use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, Stmt, StmtKind, Type};
use strait_calculus::{FuncId, Program, VarId};

use super::dialect::Dialect;
use super::expression::{Arithmetic, Notation, expression};
use super::facts::Facts;
use super::scope::Scope;
use super::text::Text;
use super::{Naming, main_first};
use crate::error::Error;
use crate::language::{Era, Language};

const RESERVED: &[&str] = &[
    "as",
    "break",
    "class",
    "continue",
    "do",
    "else",
    "false",
    "for",
    "fun",
    "if",
    "in",
    "interface",
    "is",
    "it",
    "launch",
    "main",
    "null",
    "object",
    "p",
    "package",
    "program",
    "received",
    "return",
    "run",
    "select",
    "start",
    "super",
    "this",
    "throw",
    "true",
    "try",
    "typealias",
    "typeof",
    "val",
    "var",
    "when",
    "while",
];

const NOTATION: Notation = Notation {
    unit: "Unit",
    nil: None,
    integer: |value| {
        if value == i64::MIN { "Long.MIN_VALUE".to_owned() } else { format!("{value}L") }
    },
    arithmetic: Arithmetic::Operators(["+", "-", "*"]),
};

/// The functions of one program.
pub fn functions(program: &Program, naming: Naming, era: Era) -> Result<String, Error> {
    let facts = Facts::of(program);
    let mut texts = Vec::new();
    for id in main_first(program) {
        let scope = Scope::new(program, &facts, id, RESERVED);
        let text = Text::new("    ");
        let mut writer = Writer { scope, naming, era, text, received: 0, is_in_clause: false };
        writer.function(id)?;
        texts.push(writer.text.finish());
    }
    Ok(texts.join("\n"))
}

/// What the functions need to import.
pub fn imports(era: Era) -> Vec<String> {
    let package = match era {
        Era::Experimental => "kotlinx.coroutines.experimental",
        _ => "kotlinx.coroutines",
    };
    let mut imports = vec![
        format!("import {package}.*"),
        format!("import {package}.channels.*"),
        format!("import {package}.selects.*"),
    ];
    imports.push("import java.util.concurrent.ThreadLocalRandom".to_owned());
    imports
}

fn beyond(what: &'static str) -> Error {
    Error::Beyond { language: Language::Kotlin, what }
}

fn type_text(ty: &Type) -> Result<String, Error> {
    Ok(match ty {
        Type::Unit => "Unit".to_owned(),
        Type::Bool => "Boolean".to_owned(),
        Type::Int => "Long".to_owned(),
        Type::Chan(element) => format!("Channel<{}>", type_text(element)?),
        Type::Mutex | Type::RwMutex | Type::WaitGroup => return Err(beyond("locks here")),
    })
}

fn zero(ty: &Type) -> Result<&'static str, Error> {
    match ty {
        Type::Unit => Ok("Unit"),
        Type::Bool => Ok("false"),
        Type::Int => Ok("0L"),
        _ => Err(beyond("nil channels")),
    }
}

struct Writer<'a> {
    scope: Scope<'a>,
    naming: Naming,
    era: Era,
    text: Text,
    /// How many names were made up for what was received.
    received: u32,
    /// Within the clause of a select, which nothing but its end can leave.
    is_in_clause: bool,
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
        let mut params = vec!["p: Process".to_owned()];
        for param in &function.params {
            params.push(format!(
                "{}: {}",
                self.scope.name(*param),
                type_text(self.scope.ty(*param))?
            ));
        }
        let result = match &function.result {
            Type::Unit => String::new(),
            ty => format!(": {}", type_text(ty)?),
        };
        self.text.line(format!("suspend fun {name}({}){result} {{", params.join(", ")));
        self.indented(&function.body)?;
        let last = function.body.statements.last().map(|statement| &statement.kind);
        if function.result != Type::Unit && !matches!(last, Some(StmtKind::Return { .. })) {
            self.text.line(format!("    return {}", zero(&function.result)?));
        }
        self.text.line("}");
        Ok(())
    }

    fn expression(&self, source: &Expr) -> Result<String, Error> {
        expression(&NOTATION, &self.scope, source).ok_or_else(|| beyond("nil channels"))
    }

    /// A call, whose result is assigned if it is wanted.
    fn call(&mut self, id: FuncId, arguments: &[Expr], result: Option<VarId>) -> Result<(), Error> {
        let mut texts = vec!["p".to_owned()];
        for argument in arguments {
            texts.push(self.expression(argument)?);
        }
        let call = self.naming.call(self.scope.program, id, &texts, RESERVED);
        match result {
            Some(var) => self.assign(var, &call),
            None => self.text.line(call),
        }
        Ok(())
    }

    fn assign(&mut self, var: VarId, value: &str) {
        let name = self.scope.name(var);
        if !self.scope.declare(var) {
            return self.text.line(format!("{name} = {value}"));
        }
        let changes = self.scope.facts.is_reassigned(self.scope.id, var);
        let keyword = if changes { "var" } else { "val" };
        self.text.line(format!("{keyword} {name} = {value}"));
    }

    fn write(&mut self, statement: &Stmt) -> Result<(), Error> {
        match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                let element = type_text(element)?;
                let capacity = match capacity {
                    Capacity::Rendezvous => String::new(),
                    Capacity::Bounded(capacity) => capacity.to_string(),
                    Capacity::Unbounded => "Channel.UNLIMITED".to_owned(),
                };
                self.assign(*var, &format!("Channel<{element}>({capacity})"));
            }
            StmtKind::Assign { var, value } => {
                let value = self.expression(value)?;
                self.assign(*var, &value);
            }
            StmtKind::Put { channel, value } => {
                let (channel, value) = (self.expression(channel)?, self.expression(value)?);
                self.text.line(format!("{channel}.send({value})"));
            }
            StmtKind::Get { channel, value, ok } => {
                let asks = self.scope.may_close(channel) || ok.is_some();
                let channel = self.expression(channel)?;
                self.get(&channel, *value, *ok, asks)?;
            }
            StmtKind::Close { channel } => {
                let channel = self.expression(channel)?;
                self.text.line(format!("{channel}.close()"));
            }
            StmtKind::Select { cases, default: None } => self.select(cases)?,
            StmtKind::Select { cases, default: Some(default) } => match cases.as_slice() {
                [case] => self.attempt(case, default)?,
                _ => return Err(beyond("default beside several cases")),
            },
            StmtKind::Spawn { body, .. } => self.spawn(body)?,
            StmtKind::Call { function, arguments, result } => {
                self.call(*function, arguments, *result)?;
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.expression(condition)?;
                self.text.line(format!("if ({condition}) {{"));
                self.indented(then)?;
                if let Some(otherwise) = otherwise {
                    self.text.line("} else {");
                    self.indented(otherwise)?;
                }
                self.text.line("}");
            }
            StmtKind::While { condition, body } => {
                let condition = self.expression(condition)?;
                self.text.line(format!("while ({condition}) {{"));
                let is_in_clause = std::mem::replace(&mut self.is_in_clause, false);
                self.indented(body)?;
                self.is_in_clause = is_in_clause;
                self.text.line("}");
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Return { .. } if self.is_in_clause => {
                return Err(beyond("way out of a select clause"));
            }
            StmtKind::Break => self.text.line("break"),
            StmtKind::Continue => self.text.line("continue"),
            StmtKind::Return { value } => match value {
                Some(value) if self.scope.function().result != Type::Unit => {
                    let value = self.expression(value)?;
                    self.text.line(format!("return {value}"));
                }
                _ => self.text.line("return"),
            },
            StmtKind::Choose { branches } => self.choose(branches)?,
            StmtKind::Panic { message } => {
                let message = message.replace('$', "\\$");
                self.text.line(format!("throw IllegalStateException({message:?})"));
            }
            StmtKind::Observe { value } => {
                let value = self.expression(value)?;
                self.text.line(format!("p.observed({value})"));
            }
            StmtKind::Abandon { .. } => return Err(beyond("receivers that leave")),
            StmtKind::NewLock { .. } | StmtKind::Sync { .. } | StmtKind::Add { .. } => {
                return Err(beyond("locks here"));
            }
        }
        Ok(())
    }

    fn fresh(&mut self) -> String {
        self.received += 1;
        format!("received{}", self.received)
    }

    /// The message, or `null` when there will be none.
    fn or_closed(&self, channel: &str) -> String {
        match self.era {
            Era::Modern => format!("{channel}.receiveCatching().getOrNull()"),
            _ => format!("{channel}.receiveOrNull()"),
        }
    }

    fn get(
        &mut self,
        channel: &str,
        value: Option<VarId>,
        ok: Option<VarId>,
        asks: bool,
    ) -> Result<(), Error> {
        match (value, ok) {
            (None, None) if asks => {
                let received = self.or_closed(channel);
                self.text.line(format!("p.gotOrClosed({received})"));
            }
            (None, None) => self.text.line(format!("p.got({channel}.receive())")),
            (Some(var), None) if !asks => {
                self.assign(var, &format!("{channel}.receive()"));
                let name = self.scope.name(var);
                self.text.line(format!("p.got({name})"));
            }
            _ => {
                let received = self.fresh();
                let message = self.or_closed(channel);
                self.text.line(format!("val {received} = {message}"));
                self.text.line(format!("p.gotOrClosed({received})"));
                self.hand_over(&received, value, ok)?;
            }
        }
        Ok(())
    }

    /// Assigns what was received, `null` when the channel is closed.
    fn hand_over(
        &mut self,
        received: &str,
        value: Option<VarId>,
        ok: Option<VarId>,
    ) -> Result<(), Error> {
        if let Some(var) = value {
            let zero = zero(self.scope.ty(var))?;
            self.assign(var, &format!("{received} ?: {zero}"));
        }
        if let Some(var) = ok {
            self.assign(var, &format!("{received} != null"));
        }
        Ok(())
    }

    fn select(&mut self, cases: &[Case]) -> Result<(), Error> {
        self.text.line("select<Unit> {");
        self.text.indent();
        let is_in_clause = std::mem::replace(&mut self.is_in_clause, true);
        for (number, case) in cases.iter().enumerate() {
            let mark = self.scope.enter();
            self.clause(number, case)?;
            self.block(&case.body)?;
            self.text.outdent();
            self.text.line("}");
            self.scope.leave(mark);
        }
        self.is_in_clause = is_in_clause;
        self.text.outdent();
        self.text.line("}");
        Ok(())
    }

    /// Opens a clause of a select.
    fn clause(&mut self, number: usize, case: &Case) -> Result<(), Error> {
        match &case.op {
            CaseOp::Put { channel, value } => {
                let (channel, value) = (self.expression(channel)?, self.expression(value)?);
                self.text.line(format!("{channel}.onSend({value}) {{"));
                self.text.indent();
                self.text.line(format!("p.chose({number})"));
            }
            CaseOp::Get { channel, value, ok } => {
                let asks = self.scope.may_close(channel) || ok.is_some();
                let channel = self.expression(channel)?;
                let received = self.fresh();
                let (on_receive, message) = match (asks, self.era) {
                    (false, _) => ("onReceive", received.clone()),
                    (true, Era::Modern) => ("onReceiveCatching", format!("{received}.getOrNull()")),
                    (true, _) => ("onReceiveOrNull", received.clone()),
                };
                self.text.line(format!("{channel}.{on_receive} {{ {received} ->"));
                self.text.indent();
                self.text.line(format!("p.chose({number})"));
                if asks {
                    self.text.line(format!("p.gotOrClosed({message})"));
                    self.hand_over(&message, *value, *ok)?;
                } else {
                    self.text.line(format!("p.got({message})"));
                    value.iter().for_each(|var| self.assign(*var, &message));
                }
            }
            CaseOp::Timeout => {
                self.text.line("onTimeout(0) {");
                self.text.indent();
                self.text.line("p.timedOut()");
            }
        }
        Ok(())
    }

    /// An operation that does not wait.
    fn attempt(&mut self, case: &Case, default: &Block) -> Result<(), Error> {
        let mark = self.scope.enter();
        match &case.op {
            CaseOp::Put { channel, value } => {
                let (channel, value) = (self.expression(channel)?, self.expression(value)?);
                match self.era {
                    Era::Modern => {
                        self.text.line(format!("if ({channel}.trySend({value}).isSuccess) {{"));
                    }
                    _ => self.text.line(format!("if ({channel}.offer({value})) {{")),
                }
                self.text.indent();
                self.text.line("p.chose(0)");
            }
            CaseOp::Get { channel, value, ok } => {
                let channel = self.expression(channel)?;
                let tried = self.fresh();
                let (call, is_there, message) = match self.era {
                    Era::Modern => (
                        "tryReceive()",
                        format!("{tried}.isSuccess || {tried}.isClosed"),
                        format!("{tried}.getOrNull()"),
                    ),
                    _ => (
                        "poll()",
                        format!("{tried} != null || {channel}.isClosedForReceive"),
                        tried.clone(),
                    ),
                };
                self.text.line(format!("val {tried} = {channel}.{call}"));
                self.text.line(format!("if ({is_there}) {{"));
                self.text.indent();
                self.text.line("p.chose(0)");
                self.text.line(format!("p.gotOrClosed({message})"));
                self.hand_over(&message, *value, *ok)?;
            }
            CaseOp::Timeout => return Err(beyond("timeout beside a default")),
        }
        self.block(&case.body)?;
        self.text.outdent();
        self.scope.leave(mark);
        self.text.line("} else {");
        self.text.indent();
        self.text.line("p.defaulted()");
        self.block(default)?;
        self.text.outdent();
        self.text.line("}");
        Ok(())
    }

    fn spawn(&mut self, body: &Block) -> Result<(), Error> {
        // A process has its own copies of what the one that spawned it goes on to change.
        let copies = self.scope.copies(body);
        if !copies.is_empty() {
            self.text.line("run {");
            self.text.indent();
            for var in &copies {
                let name = self.scope.name(*var);
                self.text.line(format!("val {name} = {name}"));
            }
        }
        self.text.line("p.launch { p ->");
        let is_in_clause = std::mem::replace(&mut self.is_in_clause, true);
        self.indented(body)?;
        self.is_in_clause = is_in_clause;
        self.text.line("}");
        if !copies.is_empty() {
            self.text.outdent();
            self.text.line("}");
        }
        Ok(())
    }

    fn choose(&mut self, branches: &[Block]) -> Result<(), Error> {
        let count = branches.len();
        self.text.line(format!("when (ThreadLocalRandom.current().nextInt({count})) {{"));
        self.text.indent();
        for (number, branch) in branches.iter().enumerate() {
            let label = if number + 1 == count { "else".to_owned() } else { number.to_string() };
            self.text.line(format!("{label} -> {{"));
            self.indented(branch)?;
            self.text.line("}");
        }
        self.text.outdent();
        self.text.line("}");
        Ok(())
    }
}
