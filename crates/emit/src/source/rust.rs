//! Rust. Everything but operations on channels is written here; those are written in one of two ways.
//!
//! The first is in this file: threads and crossbeam-channel, the crate whose `select!` takes sends and
//! receives. Closing is not written: in Rust a channel closes when its last sender is dropped, which
//! depends on who still holds one. The second is in [`super::standalone`]: any channel crate, whose ends are
//! variables of their own.

use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, Stmt, StmtKind, Type};
use strait_calculus::{FuncId, Program, VarId};

use super::dialect::Dialect;
use super::expression::{Arithmetic, Notation, expression};
use super::facts::Facts;
use super::scope::Scope;
use super::standalone::EndUses;
use super::text::Text;
use super::{Naming, leaves_loop_from_branch, main_first};
use crate::error::Error;
use crate::language::Language;

pub(super) const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "channel", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "main", "match", "mod", "move", "mut", "override", "p",
    "priv", "program", "pub", "received", "ref", "return", "select", "self", "sent", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

const NOTATION: Notation = Notation {
    unit: "()",
    nil: None,
    integer: |value| format!("{value}_i64"),
    arithmetic: Arithmetic::Methods(["wrapping_add", "wrapping_sub", "wrapping_mul"]),
};

/// The functions of one program.
pub fn functions(program: &Program, naming: Naming) -> Result<String, Error> {
    let facts = Facts::of(program);
    let mut texts = Vec::new();
    for id in main_first(program) {
        let scope = Scope::new(program, &facts, id, RESERVED);
        let mut writer = Writer::new(scope, naming, Ends::Joined);
        writer.function(id)?;
        texts.push(writer.text.finish());
    }
    Ok(texts.join("\n"))
}

/// How operations on channels are written.
pub(super) enum Ends<'a> {
    /// A variable holds both ends of a channel of crossbeam-channel.
    Joined,
    /// Each end is a variable of its own.
    Separate(&'a EndUses),
}

fn beyond(what: &'static str) -> Error {
    Error::Beyond { language: Language::Rust, what }
}

pub(super) fn type_text(ty: &Type) -> Result<String, Error> {
    Ok(match ty {
        Type::Unit => "()".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int => "i64".to_owned(),
        Type::Chan(element) => format!("Channel<{}>", type_text(element)?),
        Type::Mutex | Type::RwMutex | Type::WaitGroup => return Err(beyond("locks here")),
    })
}

pub(super) struct Writer<'a> {
    pub(super) scope: Scope<'a>,
    naming: Naming,
    ends: Ends<'a>,
    pub(super) text: Text,
    /// For each enclosing loop its label, if it needs one.
    pub(super) loops: Vec<Option<String>>,
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

impl<'a> Writer<'a> {
    pub(super) fn new(scope: Scope<'a>, naming: Naming, ends: Ends<'a>) -> Self {
        Writer { scope, naming, ends, text: Text::new("    "), loops: Vec::new() }
    }

    pub(super) fn function(&mut self, id: FuncId) -> Result<(), Error> {
        let function = self.scope.function();
        let name = self.naming.function(self.scope.program, id, RESERVED);
        let mut params = vec!["p: &mut Process".to_owned()];
        for param in &function.params {
            let mutable = if self.is_reassigned(*param) { "mut " } else { "" };
            let ty = type_text(self.scope.ty(*param))?;
            params.push(format!("{mutable}{}: {ty}", self.scope.name(*param)));
        }
        let result = match &function.result {
            Type::Unit => String::new(),
            ty => format!(" -> {}", type_text(ty)?),
        };
        self.text.line(format!("fn {name}({}){result} {{", params.join(", ")));
        match self.ends {
            Ends::Separate(uses) if id == self.scope.program.main => {
                self.separate_main(uses, &function.body)?;
            }
            _ => self.indented(&function.body)?,
        }
        let last = function.body.statements.last().map(|statement| &statement.kind);
        if !matches!(last, Some(StmtKind::Return { .. })) {
            match &function.result {
                Type::Unit => {}
                Type::Bool => self.text.line("    false"),
                Type::Int => self.text.line("    0"),
                _ => return Err(beyond("nil channels")),
            }
        }
        self.text.line("}");
        Ok(())
    }

    fn is_reassigned(&self, var: VarId) -> bool {
        self.scope.facts.is_reassigned(self.scope.id, var)
    }

    /// A value that is given away: channels are cloned, since others go on to use them.
    fn expression(&self, source: &Expr) -> Result<String, Error> {
        let text = self.place(source)?;
        let is_channel = matches!(source.kind, strait_calculus::ast::ExprKind::Var(var)
            if matches!(self.scope.ty(var), Type::Chan(_)));
        Ok(if is_channel { format!("{text}.clone()") } else { text })
    }

    /// A value that is only looked at.
    pub(super) fn place(&self, source: &Expr) -> Result<String, Error> {
        expression(&NOTATION, &self.scope, source).ok_or_else(|| beyond("nil channels"))
    }

    pub(super) fn assign(&mut self, var: VarId, value: &str) {
        let name = self.scope.name(var);
        if !self.scope.declare(var) {
            return self.text.line(format!("{name} = {value};"));
        }
        let mutable = if self.is_reassigned(var) { "mut " } else { "" };
        self.text.line(format!("let {mutable}{name} = {value};"));
    }

    /// A statement about channels, joined ends.
    fn communicate(&mut self, statement: &Stmt) -> Result<(), Error> {
        match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                let element = type_text(element)?;
                let value = match capacity {
                    Capacity::Rendezvous => format!("Channel::<{element}>::bounded(0)"),
                    Capacity::Bounded(size) => format!("Channel::<{element}>::bounded({size})"),
                    Capacity::Unbounded => format!("Channel::<{element}>::unbounded()"),
                };
                self.assign(*var, &value);
            }
            StmtKind::Put { channel, value } => {
                let (channel, value) = (self.place(channel)?, self.expression(value)?);
                self.text.line(format!("{channel}.send({value});"));
            }
            StmtKind::Get { channel, value, ok } => {
                let channel = self.place(channel)?;
                let message = format!("{channel}.receive()");
                match value {
                    Some(var) => {
                        self.assign(*var, &message);
                        let name = self.scope.name(*var);
                        self.text.line(format!("p.got(&{name});"));
                    }
                    None => self.text.line(format!("p.got(&{message});")),
                }
                ok.iter().for_each(|ok| self.assign(*ok, "true"));
            }
            StmtKind::Close { .. } => return Err(beyond("close")),
            StmtKind::Abandon { .. } => return Err(beyond("receivers that leave")),
            StmtKind::Select { cases, default } => self.select(cases, default.as_ref())?,
            StmtKind::Spawn { body, .. } => self.spawn(body)?,
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, statement: &Stmt) -> Result<(), Error> {
        match &statement.kind {
            StmtKind::NewChannel { .. }
            | StmtKind::Put { .. }
            | StmtKind::Get { .. }
            | StmtKind::Close { .. }
            | StmtKind::Abandon { .. }
            | StmtKind::Select { .. }
            | StmtKind::Spawn { .. } => match self.ends {
                Ends::Joined => self.communicate(statement)?,
                Ends::Separate(uses) => self.separate(uses, statement)?,
            },
            StmtKind::Assign { var, value } => {
                let value = self.expression(value)?;
                self.assign(*var, &value);
            }
            StmtKind::Call { function, arguments, result } => {
                let mut texts = vec!["p".to_owned()];
                for argument in arguments {
                    texts.push(self.expression(argument)?);
                }
                let call = self.naming.call(self.scope.program, *function, &texts, RESERVED);
                match result {
                    Some(var) => self.assign(*var, &call),
                    None => self.text.line(format!("{call};")),
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.place(condition)?;
                self.text.line(format!("if {condition} {{"));
                self.indented(then)?;
                if let Some(otherwise) = otherwise {
                    self.text.line("} else {");
                    self.indented(otherwise)?;
                }
                self.text.line("}");
            }
            StmtKind::While { condition, body } => {
                let label =
                    leaves_loop_from_branch(body).then(|| format!("'loop{}", self.loops.len() + 1));
                let head = label.as_ref().map_or(String::new(), |label| format!("{label}: "));
                self.loops.push(label);
                let condition = self.place(condition)?;
                self.text.line(format!("{head}while {condition} {{"));
                self.indented(body)?;
                self.text.line("}");
                self.loops.pop();
            }
            StmtKind::Break => match self.loops.last() {
                Some(Some(label)) => self.text.line(format!("break {label};")),
                _ => self.text.line("break;"),
            },
            StmtKind::Continue => self.text.line("continue;"),
            StmtKind::Choose { branches } => {
                let count = branches.len();
                self.text.line(format!("match p.choose({count}) {{"));
                self.text.indent();
                for (number, branch) in branches.iter().enumerate() {
                    let last = number + 1 == count;
                    let label = if last { "_".to_owned() } else { number.to_string() };
                    self.text.line(format!("{label} => {{"));
                    self.indented(branch)?;
                    self.text.line("}");
                }
                self.text.outdent();
                self.text.line("}");
            }
            StmtKind::Panic { message } => self.text.line(format!("panic!({:?});", &**message)),
            StmtKind::Return { value } => match value {
                Some(value) if self.scope.function().result != Type::Unit => {
                    let value = self.expression(value)?;
                    self.text.line(format!("return {value};"));
                }
                _ => self.text.line("return;"),
            },
            StmtKind::Observe { value } => {
                let value = self.place(value)?;
                self.text.line(format!("p.observed(&{value});"));
            }
            StmtKind::NewLock { .. } | StmtKind::Sync { .. } | StmtKind::Add { .. } => {
                return Err(beyond("locks here"));
            }
        }
        Ok(())
    }

    fn select(&mut self, cases: &[Case], default: Option<&Block>) -> Result<(), Error> {
        self.text.line("select! {");
        self.text.indent();
        for (number, case) in cases.iter().enumerate() {
            let mark = self.scope.enter();
            match &case.op {
                CaseOp::Put { channel, value } => {
                    let (channel, value) = (self.place(channel)?, self.expression(value)?);
                    self.text.line(format!("send({channel}.sender(), {value}) -> sent => {{"));
                    self.text.indent();
                    self.text.line("sent.expect(\"receivers\");");
                    self.text.line(format!("p.chose({number});"));
                }
                CaseOp::Get { channel, value, ok } => {
                    let channel = self.place(channel)?;
                    self.text.line(format!("recv({channel}.receiver()) -> received => {{"));
                    self.text.indent();
                    self.text.line("let received = received.expect(\"senders\");");
                    self.text.line(format!("p.chose({number});"));
                    self.text.line("p.got(&received);");
                    value.iter().for_each(|var| self.assign(*var, "received"));
                    ok.iter().for_each(|var| self.assign(*var, "true"));
                }
                CaseOp::Timeout => {
                    self.text.line("default(Duration::from_micros(1)) => {");
                    self.text.indent();
                    self.text.line("p.timed_out();");
                }
            }
            self.block(&case.body)?;
            self.text.outdent();
            self.text.line("}");
            self.scope.leave(mark);
        }
        if let Some(default) = default {
            if cases.iter().any(|case| case.op == CaseOp::Timeout) {
                return Err(beyond("timeout beside a default"));
            }
            self.text.line("default => {");
            self.text.indent();
            self.text.line("p.defaulted();");
            self.block(default)?;
            self.text.outdent();
            self.text.line("}");
        }
        self.text.outdent();
        self.text.line("}");
        Ok(())
    }

    fn spawn(&mut self, body: &Block) -> Result<(), Error> {
        let channels: Vec<String> = self
            .scope
            .captured(body)
            .into_iter()
            .filter(|var| matches!(self.scope.ty(*var), Type::Chan(_)))
            .map(|var| self.scope.name(var))
            .collect();
        let loops = std::mem::take(&mut self.loops);
        if channels.is_empty() {
            self.text.line("p.spawn(move |p| {");
            self.indented(body)?;
            self.text.line("});");
        } else {
            self.text.line("p.spawn({");
            self.text.indent();
            for name in channels {
                self.text.line(format!("let {name} = {name}.clone();"));
            }
            self.text.line("move |p| {");
            self.indented(body)?;
            self.text.line("}");
            self.text.outdent();
            self.text.line("});");
        }
        self.loops = loops;
        Ok(())
    }
}
