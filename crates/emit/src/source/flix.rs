//! Flix: processes in a region, channels as pairs of sender and receiver, selects over gets.
//!
//! A Flix program records nothing but its end: it is judged by whether it ends at all. An internal
//! choice takes its first branch, which is one of the things it may do.

use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, Stmt, StmtKind, Type};
use strait_calculus::{Program, VarId};

use super::Naming;
use super::expression::{Arithmetic, Notation, expression};
use super::facts::Facts;
use super::scope::Scope;
use super::text::Text;
use crate::error::Error;
use crate::language::Language;

const RESERVED: &[&str] = &[
    "and", "as", "case", "catch", "def", "discard", "do", "eff", "else", "enum", "false", "fix",
    "forall", "force", "foreach", "from", "if", "import", "inline", "inject", "instance", "into",
    "lat", "law", "lawful", "lazy", "let", "main", "match", "mod", "not", "null", "open", "or",
    "override", "par", "program", "project", "pub", "query", "rc", "recv", "redef", "region",
    "resume", "run", "sealed", "select", "solve", "spawn", "static", "struct", "super", "throw",
    "trait", "true", "try", "type", "unsafe", "use", "where", "with", "without", "yield",
];

const NOTATION: Notation = Notation {
    unit: "()",
    nil: None,
    integer: |value| format!("{value}i64"),
    arithmetic: Arithmetic::Operators(["+", "-", "*"]),
};

/// The function of one program.
pub fn functions(program: &Program, naming: Naming) -> Result<String, Error> {
    if program.functions.iter().count() > 1 {
        return Err(beyond("functions here"));
    }
    let facts = Facts::of(program);
    let scope = Scope::new(program, &facts, program.main, RESERVED);
    let mut writer = Writer { scope, text: Text::new("    ") };
    let name = naming.main();
    writer.text.line(format!("def {name}(): Unit \\ {{ Chan, NonDet, IO }} = region rc {{"));
    writer.indented(&program.functions[program.main].body)?;
    writer.text.line("}");
    Ok(writer.text.finish())
}

fn beyond(what: &'static str) -> Error {
    Error::Beyond { language: Language::Flix, what }
}

struct Writer<'a> {
    scope: Scope<'a>,
    text: Text,
}

impl Writer<'_> {
    fn expression(&self, source: &Expr) -> Result<String, Error> {
        expression(&NOTATION, &self.scope, source).ok_or_else(|| beyond("nil channels"))
    }

    /// One end of a channel: `s` or `r` before its name.
    fn end(&self, end: &str, channel: &Expr) -> Result<String, Error> {
        Ok(format!("{end}{}", self.expression(channel)?))
    }

    /// Every block is an expression of type Unit.
    fn indented(&mut self, block: &Block) -> Result<(), Error> {
        self.text.indent();
        let mark = self.scope.enter();
        block.statements.iter().try_for_each(|statement| self.statement(statement))?;
        self.scope.leave(mark);
        self.text.line("()");
        self.text.outdent();
        Ok(())
    }

    fn bind(&mut self, var: VarId, value: &str) -> Result<(), Error> {
        if !self.scope.declare(var) {
            return Err(beyond("variables that change"));
        }
        let name = self.scope.name(var);
        let name = if self.scope.is_read(var) { name } else { format!("_{name}") };
        self.text.line(format!("let {name} = {value};"));
        Ok(())
    }

    fn statement(&mut self, statement: &Stmt) -> Result<(), Error> {
        match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                let element = match element {
                    Type::Unit => "Unit",
                    Type::Bool => "Bool",
                    Type::Int => "Int64",
                    _ => return Err(beyond("channels over channels here")),
                };
                let value = match capacity {
                    Capacity::Rendezvous => "Channel.unbuffered()".to_owned(),
                    Capacity::Bounded(capacity) => format!("Channel.buffered({capacity})"),
                    Capacity::Unbounded => return Err(beyond("unbounded channels")),
                };
                self.scope.declare(*var);
                let name = self.scope.name(*var);
                self.text.line(format!(
                    "let (s{name}, r{name}): (Sender[{element}], Receiver[{element}]) = {value};"
                ));
            }
            StmtKind::Assign { var, value } => {
                let value = self.expression(value)?;
                self.bind(*var, &value)?;
            }
            StmtKind::Put { channel, value } => {
                let (channel, value) = (self.end("s", channel)?, self.expression(value)?);
                self.text.line(format!("Channel.send({value}, {channel});"));
            }
            StmtKind::Get { channel, value, ok: None } => {
                let message = format!("Channel.recv({})", self.end("r", channel)?);
                match value {
                    Some(var) => self.bind(*var, &message)?,
                    None => self.text.line(format!("discard {message};")),
                }
            }
            StmtKind::Select { cases, default } => self.select(cases, default.as_ref())?,
            StmtKind::Spawn { body, .. } => {
                self.text.line("spawn {");
                self.indented(body)?;
                self.text.line("} @ rc;");
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.expression(condition)?;
                self.text.line(format!("if ({condition}) {{"));
                self.indented(then)?;
                self.text.line("} else {");
                self.indented(otherwise.as_ref().unwrap_or(&Block::default()))?;
                self.text.line("};");
            }
            StmtKind::Choose { branches } => {
                let [first, rest @ ..] = branches.as_slice() else { return Ok(()) };
                self.text.line("if (1 == 1) {");
                self.indented(first)?;
                for branch in rest {
                    self.text.line("} else if (1 == 1) {");
                    self.indented(branch)?;
                }
                self.text.line("} else {");
                self.text.line("    ()");
                self.text.line("};");
            }
            StmtKind::Panic { message } => self.text.line(format!("bug!({:?});", &**message)),
            StmtKind::Observe { value } => {
                let value = self.expression(value)?;
                self.text.line(format!("println({value});"));
            }
            StmtKind::Get { .. } | StmtKind::Close { .. } => return Err(beyond("close")),
            StmtKind::Abandon { .. } => return Err(beyond("receivers that leave")),
            StmtKind::While { .. } | StmtKind::Break | StmtKind::Continue => {
                return Err(beyond("loops"));
            }
            StmtKind::Call { .. } | StmtKind::Return { .. } => {
                return Err(beyond("functions here"));
            }
            StmtKind::NewLock { .. } | StmtKind::Sync { .. } | StmtKind::Add { .. } => {
                return Err(beyond("locks here"));
            }
        }
        Ok(())
    }

    fn select(&mut self, cases: &[Case], default: Option<&Block>) -> Result<(), Error> {
        self.text.line("select {");
        self.text.indent();
        for case in cases {
            let CaseOp::Get { channel, value, ok: None } = &case.op else {
                return Err(beyond("select cases but gets"));
            };
            let mark = self.scope.enter();
            let channel = self.end("r", channel)?;
            let name = match value {
                Some(var) if self.scope.is_read(*var) => {
                    self.scope.declare(*var);
                    self.scope.name(*var)
                }
                _ => "_".to_owned(),
            };
            self.text.line(format!("case {name} <- recv({channel}) => {{"));
            self.indented(&case.body)?;
            self.text.line("}");
            self.scope.leave(mark);
        }
        if let Some(default) = default {
            self.text.line("case _ => {");
            self.indented(default)?;
            self.text.line("}");
        }
        self.text.outdent();
        self.text.line("};");
        Ok(())
    }
}
