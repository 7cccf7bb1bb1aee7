//! A program as a crate of its own that shows a fault: plain Rust with the API of one channel crate and
//! nothing of Strait. In: a program, the crate, who runs the processes, and which outcomes are possible.
//! Out: `Cargo.toml` and `src/main.rs`.
//!
//! The file reads in two parts. `round` is the program: fresh channels, and one closure per process, which
//! returns what it saw. The rest runs rounds in batches, each process on its own thread, and exits with 1
//! when a round hangs or gives an outcome that no schedule gives.

use std::collections::BTreeSet;

use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, ExprKind, Stmt, StmtKind, Type};
use strait_calculus::{Program, VarId};

use super::Files;
use super::channel_crate::ChannelCrate;
use super::text::Text;
use crate::error::Error;
use crate::language::Language;

/// Who runs the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processes {
    /// A thread each; operations block.
    Threads,
    /// A thread each that runs futures.
    Tasks,
    /// Either, drawn for each process.
    Mixed,
}

/// What a standalone program is made of, beside the program.
#[derive(Clone, Debug)]
pub struct Standalone<'a> {
    /// One line about the fault.
    pub title: &'a str,
    /// The channel crate by the name of its target.
    pub target: &'a str,
    /// Its version; any if none is given.
    pub version: Option<&'a str>,
    /// Who runs the processes.
    pub processes: Processes,
    /// Every possible outcome, in the text form of [`strait_runtimes::Record`]; `None` if only hangs and
    /// crashes are looked for.
    pub possible: Option<&'a [String]>,
}

fn beyond(what: &'static str) -> Error {
    Error::Beyond { language: Language::Rust, what }
}

/// Writes the crate.
pub fn standalone(program: &Program, about: &Standalone<'_>) -> Result<Files, Error> {
    let program = &*super::checked(program)?;
    let channels =
        ChannelCrate::named(about.target).ok_or_else(|| beyond("such channel crate here"))?;
    if about.processes != Processes::Threads && channels.send_task.is_empty() {
        return Err(beyond("tasks in this crate"));
    }
    let mut writer = Writer { program, text: Text::new("    ") };
    writer.round()?;
    let main = main_file(program, about, channels, &writer.text.finish());
    let version = about.version.unwrap_or("*");
    let dependency = match channels.package {
        "" => String::new(),
        package => format!(
            "{package} = {{ version = \"{}{version}\"{} }}\n",
            if version == "*" { "" } else { "=" },
            channels.features
        ),
    };
    let manifest = format!(
        "[package]\nname = \"reproduce\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n{dependency}\n[workspace]\n"
    );
    Ok(vec![("Cargo.toml".to_owned(), manifest), ("src/main.rs".to_owned(), main)])
}

/// The statements of each process: main, and those that it starts before its first operation.
fn processes(program: &Program) -> Result<(Vec<&Stmt>, Vec<Vec<&Stmt>>), Error> {
    let (mut opened, mut main, mut children) = (Vec::new(), Vec::new(), Vec::new());
    for statement in &program.functions[program.main].body.statements {
        match &statement.kind {
            StmtKind::NewChannel { .. } if main.is_empty() => opened.push(statement),
            StmtKind::Spawn { body, .. } if main.is_empty() => {
                children.push(body.statements.iter().collect());
            }
            StmtKind::NewChannel { .. } | StmtKind::Spawn { .. } => {
                return Err(beyond("processes and channels that begin later here"));
            }
            _ => main.push(statement),
        }
    }
    children.insert(0, main);
    Ok((opened, children))
}

struct Writer<'a> {
    program: &'a Program,
    text: Text,
}

impl Writer<'_> {
    fn name(&self, var: VarId) -> String {
        format!("{}", self.program.functions[self.program.main].variables[var].name)
    }

    fn channel(&self, channel: &Expr) -> Result<String, Error> {
        match &channel.kind {
            ExprKind::Var(var) => Ok(self.name(*var)),
            _ => Err(beyond("nil channels here")),
        }
    }

    fn value(&self, value: &Expr) -> Result<String, Error> {
        match &value.kind {
            ExprKind::Int(value) => Ok(value.to_string()),
            ExprKind::Bool(value) => Ok(value.to_string()),
            ExprKind::Unit => Ok("()".to_owned()),
            ExprKind::Var(var) => Ok(self.name(*var)),
            _ => Err(beyond("computed messages here")),
        }
    }

    fn round(&mut self) -> Result<(), Error> {
        let (opened, processes) = processes(self.program)?;
        self.text.line("fn round() -> Vec<Process> {");
        self.text.indent();
        for statement in opened {
            let StmtKind::NewChannel { var, element, capacity } = &statement.kind else { continue };
            let element = match element {
                Type::Int => "i64",
                Type::Bool => "bool",
                Type::Unit => "()",
                _ => return Err(beyond("channels over channels here")),
            };
            let name = self.name(*var);
            let open = match capacity {
                Capacity::Rendezvous => format!("bounded::<{element}>(0)"),
                Capacity::Bounded(room) => format!("bounded::<{element}>({room})"),
                Capacity::Unbounded => format!("unbounded::<{element}>()"),
            };
            self.text.line(format!("let ({name}_sender, {name}_receiver) = {open};"));
        }
        self.text.line("vec![");
        self.text.indent();
        for process in &processes {
            self.process(process)?;
        }
        self.text.outdent();
        self.text.line("]");
        self.text.outdent();
        self.text.line("}");
        Ok(())
    }

    fn process(&mut self, statements: &[&Stmt]) -> Result<(), Error> {
        let mut ends = BTreeSet::new();
        statements.iter().try_for_each(|statement| self.ends(statement, &mut ends))?;
        self.text.line("Box::new({");
        self.text.indent();
        for end in &ends {
            self.text.line(format!("let {end} = {end}.clone();"));
        }
        self.text.line("move |random: &mut Random| {");
        self.text.indent();
        self.text.line("let mut seen = Vec::new();");
        statements.iter().try_for_each(|statement| self.statement(statement))?;
        self.text.line("seen");
        self.text.outdent();
        self.text.line("}");
        self.text.outdent();
        self.text.line("}),");
        Ok(())
    }

    /// The ends that a statement uses, by the names of the variables that hold them.
    fn ends(&self, statement: &Stmt, ends: &mut BTreeSet<String>) -> Result<(), Error> {
        let block = |block: &Block, ends: &mut BTreeSet<String>| {
            block.statements.iter().try_for_each(|statement| self.ends(statement, ends))
        };
        match &statement.kind {
            StmtKind::Put { channel, .. } | StmtKind::Close { channel } => {
                ends.insert(format!("{}_sender", self.channel(channel)?));
            }
            StmtKind::Get { channel, .. } | StmtKind::Abandon { channel } => {
                ends.insert(format!("{}_receiver", self.channel(channel)?));
            }
            StmtKind::Select { cases, default } => {
                for case in cases {
                    match &case.op {
                        CaseOp::Put { channel, .. } => {
                            ends.insert(format!("{}_sender", self.channel(channel)?));
                        }
                        CaseOp::Get { channel, .. } => {
                            ends.insert(format!("{}_receiver", self.channel(channel)?));
                        }
                        CaseOp::Timeout => {}
                    }
                    block(&case.body, ends)?;
                }
                default.iter().try_for_each(|default| block(default, ends))?;
            }
            StmtKind::Choose { branches } => {
                branches.iter().try_for_each(|branch| block(branch, ends))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Result<(), Error> {
        self.text.indent();
        block.statements.iter().try_for_each(|statement| self.statement(statement))?;
        self.text.outdent();
        Ok(())
    }

    fn statement(&mut self, statement: &Stmt) -> Result<(), Error> {
        match &statement.kind {
            StmtKind::Put { channel, value } => {
                let (channel, value) = (self.channel(channel)?, self.value(value)?);
                self.text.line(format!("send(&{channel}_sender, {value}, random);"));
            }
            StmtKind::Get { channel, value, ok } => {
                let channel = self.channel(channel)?;
                if ok.is_some() {
                    return Err(beyond("gets that ask for the end here"));
                }
                let received = format!("saw(&mut seen, receive(&{channel}_receiver, random))");
                match value {
                    Some(var) => {
                        let name = self.name(*var);
                        self.text.line(format!("let {name} = {received};"));
                    }
                    None => self.text.line(format!("{received};")),
                }
            }
            StmtKind::Close { channel } => {
                let channel = self.channel(channel)?;
                self.text.line(format!("drop({channel}_sender);"));
            }
            StmtKind::Abandon { channel } => {
                let channel = self.channel(channel)?;
                self.text.line(format!("drop({channel}_receiver);"));
            }
            StmtKind::Select { cases, default } => self.select(cases, default.as_ref())?,
            StmtKind::Choose { branches } => {
                self.text.line(format!("match random.below({}) {{", branches.len()));
                self.text.indent();
                for (number, branch) in branches.iter().enumerate() {
                    let is_last = number + 1 == branches.len();
                    let label = if is_last { "_".to_owned() } else { number.to_string() };
                    self.text.line(format!("{label} => {{"));
                    self.block(branch)?;
                    self.text.line("}");
                }
                self.text.outdent();
                self.text.line("}");
            }
            _ => return Err(beyond("functions, loops and conditions here")),
        }
        Ok(())
    }

    /// One operation that is tried, or given up after a while.
    fn select(&mut self, cases: &[Case], default: Option<&Block>) -> Result<(), Error> {
        let timeout = cases.iter().find(|case| case.op == CaseOp::Timeout);
        let mut operations =
            cases.iter().enumerate().filter(|(_, case)| case.op != CaseOp::Timeout);
        let (Some((number, case)), None) = (operations.next(), operations.next()) else {
            return Err(beyond("a select over several operations here"));
        };
        let (way, word, instead) = match (timeout, default) {
            (Some(timeout), None) => ("or_give_up", "t", &timeout.body),
            (None, Some(default)) => ("at_once", "d", default),
            _ => return Err(beyond("such a select here")),
        };
        match &case.op {
            CaseOp::Put { channel, value } => {
                let (channel, value) = (self.channel(channel)?, self.value(value)?);
                let call = format!("send_{way}(&{channel}_sender, {value}, random)");
                self.text.line(format!("if {call}.is_some() {{"));
                self.text.indent();
                self.text.line(format!("seen.push(\"#{number}\".to_owned());"));
                self.text.outdent();
            }
            CaseOp::Get { channel, value, ok } => {
                if value.is_some() || ok.is_some() {
                    return Err(beyond("a select with variables here"));
                }
                let channel = self.channel(channel)?;
                let call = format!("receive_{way}(&{channel}_receiver, random)");
                self.text.line(format!("if let Some(received) = {call} {{"));
                self.text.indent();
                self.text.line(format!("seen.push(\"#{number}\".to_owned());"));
                self.text.line("saw(&mut seen, received);");
                self.text.outdent();
            }
            CaseOp::Timeout => {}
        }
        self.block(&case.body)?;
        self.text.line("} else {");
        self.text.indent();
        self.text.line(format!("seen.push(\"{word}\".to_owned());"));
        self.text.outdent();
        self.block(instead)?;
        self.text.line("}");
        Ok(())
    }
}

fn main_file(
    program: &Program,
    about: &Standalone<'_>,
    channels: &ChannelCrate,
    round: &str,
) -> String {
    let count = processes(program).map_or(0, |(_, processes)| processes.len());
    let names = (0..count).map(|number| match number {
        0 => "\"main\"".to_owned(),
        number => format!("\"main.{number}\""),
    });
    let names: Vec<String> = names.collect();
    let possible = match about.possible {
        None => "None".to_owned(),
        Some(outcomes) => {
            let lines: Vec<String> =
                outcomes.iter().map(|outcome| format!("    {outcome:?},\n")).collect();
            format!("Some(&[\n{}])", lines.concat())
        }
    };
    let is_task = match about.processes {
        Processes::Threads => "false",
        Processes::Tasks => "true",
        Processes::Mixed => "self.below(2) == 0",
    };
    let title = about.title.replace(['\n', '\r'], " ");
    let template = include_str!("standalone.txt");
    template
        .replace("{title}", &title)
        .replace("{operations}", &channels.operations())
        .replace("{names}", &names.join(", "))
        .replace("{possible}", &possible)
        .replace("{is_task}", is_task)
        .replace("{round}", round.trim_end())
}
