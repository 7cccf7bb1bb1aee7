//! Crystal: fibers, `Channel`, `select`.
//!
//! A unit message is `nil` as in Stiévenart and Madsen, OOPSLA 2020, Fig. 14, unless a channel of such messages is closed
//! somewhere: then `nil` is what a closed channel gives, and a `Token` is sent instead.

use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, ExprKind, Stmt, StmtKind, Type};
use strait_calculus::{FuncId, Program, VarId};

use super::dialect::Dialect;
use super::expression::{Arithmetic, Notation, expression};
use super::facts::Facts;
use super::scope::Scope;
use super::text::Text;
use super::{Naming, main_first};
use crate::error::Error;
use crate::language::Language;

const RESERVED: &[&str] = &[
    "abstract",
    "alias",
    "and",
    "annotation",
    "as",
    "asm",
    "begin",
    "break",
    "case",
    "class",
    "def",
    "do",
    "else",
    "elsif",
    "end",
    "ensure",
    "enum",
    "extend",
    "false",
    "for",
    "fun",
    "if",
    "in",
    "include",
    "instance_sizeof",
    "lib",
    "loop",
    "macro",
    "main",
    "module",
    "next",
    "nil",
    "not",
    "of",
    "offsetof",
    "or",
    "out",
    "p",
    "pointerof",
    "private",
    "program",
    "protected",
    "puts",
    "received",
    "require",
    "rescue",
    "return",
    "select",
    "self",
    "sizeof",
    "spawn",
    "struct",
    "super",
    "then",
    "timeout",
    "true",
    "type",
    "typeof",
    "uninitialized",
    "union",
    "unless",
    "until",
    "val",
    "verbatim",
    "when",
    "while",
    "with",
    "yield",
];

const NOTATION: Notation = Notation {
    unit: "nil",
    nil: None,
    integer: |value| format!("{value}_i64"),
    arithmetic: Arithmetic::Operators(["&+", "&-", "&*"]),
};

/// The functions of one program.
pub fn functions(program: &Program, naming: Naming) -> Result<String, Error> {
    let facts = Facts::of(program);
    let mut texts = Vec::new();
    for id in main_first(program) {
        let scope = Scope::new(program, &facts, id, RESERVED);
        let mut writer = Writer { scope, naming, text: Text::new("  "), is_in_process: false };
        writer.function(id)?;
        texts.push(writer.text.finish());
    }
    Ok(texts.join("\n"))
}

fn beyond(what: &'static str) -> Error {
    Error::Beyond { language: Language::Crystal, what }
}

struct Writer<'a> {
    scope: Scope<'a>,
    naming: Naming,
    text: Text,
    /// In a spawned block, which is left by `next`.
    is_in_process: bool,
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
    fn type_text(&self, ty: &Type) -> Result<String, Error> {
        Ok(match ty {
            Type::Unit if self.scope.facts.closes(&Type::Unit) => "Token".to_owned(),
            Type::Unit => "Nil".to_owned(),
            Type::Bool => "Bool".to_owned(),
            Type::Int => "Int64".to_owned(),
            Type::Chan(element) => format!("Channel({})", self.type_text(element)?),
            Type::Mutex | Type::RwMutex | Type::WaitGroup => return Err(beyond("locks here")),
        })
    }

    fn zero(&self, ty: &Type) -> Result<&'static str, Error> {
        match ty {
            Type::Unit if self.scope.facts.closes(&Type::Unit) => Ok("Token.new"),
            Type::Unit => Ok("nil"),
            Type::Bool => Ok("false"),
            Type::Int => Ok("0_i64"),
            _ => Err(beyond("nil channels")),
        }
    }

    fn function(&mut self, id: FuncId) -> Result<(), Error> {
        let function = self.scope.function();
        let name = self.naming.function(self.scope.program, id, RESERVED);
        let mut params = vec!["p : Actor".to_owned()];
        for param in &function.params {
            let ty = self.type_text(self.scope.ty(*param))?;
            params.push(format!("{} : {ty}", self.scope.name(*param)));
        }
        let result = match &function.result {
            Type::Unit => "Nil".to_owned(),
            ty => self.type_text(ty)?,
        };
        self.text.line(format!("def {name}({}) : {result}", params.join(", ")));
        self.indented(&function.body)?;
        let last = function.body.statements.last().map(|statement| &statement.kind);
        if function.result != Type::Unit && !matches!(last, Some(StmtKind::Return { .. })) {
            self.text.line(format!("  {}", self.zero(&function.result)?));
        }
        self.text.line("end");
        Ok(())
    }

    fn expression(&self, source: &Expr) -> Result<String, Error> {
        if source.kind == ExprKind::Unit {
            return self.zero(&Type::Unit).map(str::to_owned);
        }
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
        self.scope.declare(var);
        let name = self.scope.name(var);
        self.text.line(format!("{name} = {value}"));
    }

    fn write(&mut self, statement: &Stmt) -> Result<(), Error> {
        match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                let element = self.type_text(element)?;
                let capacity = match capacity {
                    Capacity::Rendezvous => String::new(),
                    Capacity::Bounded(capacity) => format!("({capacity})"),
                    Capacity::Unbounded => return Err(beyond("unbounded channels")),
                };
                self.assign(*var, &format!("Channel({element}).new{capacity}"));
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
                self.text.line(format!("{channel}.close"));
            }
            StmtKind::Select { cases, default } => self.select(cases, default.as_ref())?,
            StmtKind::Spawn { body, .. } => self.spawn(body)?,
            StmtKind::Call { function, arguments, result } => {
                self.call(*function, arguments, *result)?;
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.expression(condition)?;
                self.text.line(format!("if {condition}"));
                self.indented(then)?;
                if let Some(otherwise) = otherwise {
                    self.text.line("else");
                    self.indented(otherwise)?;
                }
                self.text.line("end");
            }
            StmtKind::While { condition, body } => {
                let condition = self.expression(condition)?;
                self.text.line(format!("while {condition}"));
                self.indented(body)?;
                self.text.line("end");
            }
            StmtKind::Break => self.text.line("break"),
            StmtKind::Continue => self.text.line("next"),
            StmtKind::Choose { branches } => {
                self.text.line(format!("case rand({})", branches.len()));
                for (number, branch) in branches.iter().enumerate() {
                    let last = number + 1 == branches.len();
                    let label = if last { "else".to_owned() } else { format!("when {number}") };
                    self.text.line(label);
                    self.indented(branch)?;
                }
                self.text.line("end");
            }
            StmtKind::Panic { message } => {
                let message = message.replace('#', "\\#");
                self.text.line(format!("raise {message:?}"));
            }
            StmtKind::Return { .. } if self.is_in_process => self.text.line("next"),
            StmtKind::Return { value } => match value {
                Some(value) if self.scope.function().result != Type::Unit => {
                    let value = self.expression(value)?;
                    self.text.line(format!("return {value}"));
                }
                _ => self.text.line("return"),
            },
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

    fn get(
        &mut self,
        channel: &str,
        value: Option<VarId>,
        ok: Option<VarId>,
        asks: bool,
    ) -> Result<(), Error> {
        if !asks {
            let message = format!("{channel}.receive");
            match value {
                Some(var) => {
                    self.assign(var, &message);
                    let name = self.scope.name(var);
                    self.text.line(format!("p.got({name})"));
                }
                None => self.text.line(format!("p.got({message})")),
            }
            return Ok(());
        }
        if value.is_none() && ok.is_none() {
            self.text.line(format!("p.got_or_closed({channel}.receive?)"));
            return Ok(());
        }
        self.text.line(format!("received = {channel}.receive?"));
        self.hand_over(value, ok)
    }

    /// Tells and assigns what was received, `nil` when the channel is closed.
    fn hand_over(&mut self, value: Option<VarId>, ok: Option<VarId>) -> Result<(), Error> {
        self.text.line("p.got_or_closed(received)");
        if let Some(var) = value {
            // `||` would take a message that is false for none.
            let zero = self.zero(self.scope.ty(var))?;
            self.assign(var, &format!("received.nil? ? {zero} : received"));
        }
        if let Some(var) = ok {
            self.assign(var, "!received.nil?");
        }
        Ok(())
    }

    fn select(&mut self, cases: &[Case], default: Option<&Block>) -> Result<(), Error> {
        self.text.line("select");
        for (number, case) in cases.iter().enumerate() {
            let mark = self.scope.enter();
            match &case.op {
                CaseOp::Put { channel, value } => {
                    let (channel, value) = (self.expression(channel)?, self.expression(value)?);
                    self.text.line(format!("when {channel}.send({value})"));
                    self.text.indent();
                    self.text.line(format!("p.chose({number})"));
                }
                CaseOp::Get { channel, value, ok } => {
                    let asks = self.scope.may_close(channel) || ok.is_some();
                    let channel = self.expression(channel)?;
                    let receive = if asks { "receive?" } else { "receive" };
                    self.text.line(format!("when received = {channel}.{receive}"));
                    self.text.indent();
                    self.text.line(format!("p.chose({number})"));
                    if asks {
                        self.hand_over(*value, *ok)?;
                    } else {
                        self.text.line("p.got(received)");
                        value.iter().for_each(|var| self.assign(*var, "received"));
                    }
                }
                CaseOp::Timeout => {
                    self.text.line("when timeout(1.microsecond)");
                    self.text.indent();
                    self.text.line("p.timed_out");
                }
            }
            self.block(&case.body)?;
            self.text.outdent();
            self.scope.leave(mark);
        }
        if let Some(default) = default {
            self.text.line("else");
            self.text.indent();
            self.text.line("p.defaulted");
            self.block(default)?;
            self.text.outdent();
        }
        self.text.line("end");
        Ok(())
    }

    fn spawn(&mut self, body: &Block) -> Result<(), Error> {
        // A process has its own copies of what the one that spawned it goes on to change: a proc
        // gets them as arguments.
        let copies = self.scope.copies(body);
        let mut params = Vec::new();
        for var in &copies {
            params.push(format!(
                "{} : {}",
                self.scope.name(*var),
                self.type_text(self.scope.ty(*var))?
            ));
        }
        if !copies.is_empty() {
            self.text.line(format!("->({}) do", params.join(", ")));
            self.text.indent();
        }
        self.text.line("p.spawn do |p|");
        let is_in_process = std::mem::replace(&mut self.is_in_process, true);
        self.indented(body)?;
        self.is_in_process = is_in_process;
        self.text.line("end");
        if !copies.is_empty() {
            let names: Vec<String> = copies.iter().map(|var| self.scope.name(*var)).collect();
            self.text.outdent();
            self.text.line(format!("end.call({})", names.join(", ")));
        }
        Ok(())
    }
}
