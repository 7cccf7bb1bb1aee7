//! A program as a crate of its own that shows a fault: plain Rust with the API of one channel crate and
//! nothing of Strait. In: a program, the crate, who runs the processes, and which outcomes are possible.
//! Out: `Cargo.toml` and `src/main.rs`.
//!
//! Each end of a channel is a variable of its own, and a process holds the ends that it uses, as Rust
//! programs do. Two kinds of ends differ. One that the program closes or abandons is shared by all processes,
//! so that closing takes effect at once. Those of a channel that stands in a select stay until the round is
//! over, because a select would notice that they have gone.

use std::collections::{BTreeSet, HashSet};

use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, ExprKind, Stmt, StmtKind, Type};
use strait_calculus::{Program, VarId};
use strait_generate::Capabilities;

use super::channel_crate::{ChannelCrate, Lack};
use super::dialect::Dialect;
use super::facts::{Facts, blocks, element_of};
use super::rust::{Ends, RESERVED, Writer, type_text};
use super::scope::Scope;
use super::{Files, Naming, main_first};
use crate::error::{Error, Refusal};

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

/// What messages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// Integers.
    Plain,
    /// Boxes on the heap.
    Boxed,
    /// Values that count how often they are dropped.
    Counted,
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
    /// What messages are.
    pub messages: Messages,
    /// Every possible outcome, in the text form of [`strait_runtimes::Record`]; `None` if they are not known.
    pub possible: Option<&'a [String]>,
    /// Outcomes that are known to be impossible.
    pub impossible: &'a [String],
}

/// Writes the crate.
pub fn standalone(program: &Program, about: &Standalone<'_>) -> Result<Files, Error> {
    let program = &*super::checked(program)?;
    let refuse = |why| Error::NotStandalone { target: about.target.to_owned(), why };
    let channels = ChannelCrate::named(about.target).ok_or_else(|| refuse(Refusal::Crate))?;
    let uses = EndUses::of(program).map_err(refuse)?;
    if let Some(lack) = channels.lack(about.processes, &uses.operations) {
        return Err(refuse(lack.refusal()));
    }
    let facts = Facts::of(program);
    let mut functions = Vec::new();
    for id in main_first(program) {
        let scope = Scope::new(program, &facts, id, RESERVED);
        let mut writer = Writer::new(scope, Naming::Alone, Ends::Separate(&uses));
        writer.function(id)?;
        functions.push(writer.text.finish());
    }
    let main = main_file(about, channels, functions.join("\n").trim_end());
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

/// The capabilities of a target as far as its programs can be written; `None` if the crate is not known.
pub fn writable(
    target: &str,
    processes: Processes,
    capabilities: &Capabilities,
) -> Option<Capabilities> {
    let channels = ChannelCrate::named(target)?;
    let has = |lack: Lack| channels.lack(processes, &HashSet::from([lack])).is_none();
    let mut all = capabilities.clone();
    all.channels_over_channels = false;
    all.recursion = false;
    if !has(Lack::Select) {
        (all.select_gets, all.select_puts) = (false, false);
    }
    if !has(Lack::Trying) {
        (all.default_gets, all.default_puts) = (false, false);
    }
    if !has(Lack::GivingUp) {
        (all.timeout_gets, all.timeout_puts) = (false, false);
    }
    all.buffered &= has(Lack::Bounded);
    all.unbounded &= has(Lack::Unbounded);
    Some(all)
}

/// Which ends of its channels a program uses, and how.
#[derive(Debug, Default)]
pub(super) struct EndUses {
    closed: HashSet<VarId>,
    abandoned: HashSet<VarId>,
    selected: HashSet<VarId>,
    /// What the crate has to offer.
    operations: HashSet<Lack>,
}

/// An end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Sender,
    Receiver,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Sender => "sender",
            Side::Receiver => "receiver",
        }
    }
}

impl EndUses {
    fn of(program: &Program) -> Result<EndUses, Refusal> {
        let is_channel = |ty: &Option<Type>| matches!(ty, Some(Type::Chan(_)));
        for id in program.functions.indices().filter(|id| *id != program.main) {
            if program.functions[id].variables.iter().any(|variable| is_channel(&variable.ty)) {
                return Err(Refusal::ChannelsInFunctions);
            }
        }
        let main = &program.functions[program.main];
        let mut opened = HashSet::new();
        let mut uses = EndUses::default();
        uses.block(&main.body, &mut opened)?;
        let channels = main.variables.iter_enumerated().filter(|(_, known)| is_channel(&known.ty));
        // A channel that no statement opens came out of another variable or out of a message.
        match channels.into_iter().all(|(var, _)| opened.contains(&var)) {
            true => Ok(uses),
            false => Err(Refusal::ChannelsAsValues),
        }
    }

    fn block(&mut self, block: &Block, opened: &mut HashSet<VarId>) -> Result<(), Refusal> {
        block.statements.iter().try_for_each(|statement| self.statement(statement, opened))
    }

    fn statement(&mut self, statement: &Stmt, opened: &mut HashSet<VarId>) -> Result<(), Refusal> {
        match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                if !opened.insert(*var) || matches!(element, Type::Chan(_)) {
                    return Err(Refusal::ChannelsAsValues);
                }
                self.operations.insert(match capacity {
                    Capacity::Unbounded => Lack::Unbounded,
                    Capacity::Rendezvous | Capacity::Bounded(_) => Lack::Bounded,
                });
            }
            StmtKind::Put { value, .. } => not_a_channel(value)?,
            StmtKind::Close { channel } => self.closed.extend(variable(channel)?),
            StmtKind::Abandon { channel } => self.abandoned.extend(variable(channel)?),
            StmtKind::Select { cases, default } => self.select(cases, default.is_some())?,
            StmtKind::NewLock { .. } | StmtKind::Sync { .. } | StmtKind::Add { .. } => {
                return Err(Refusal::Locks);
            }
            _ => {}
        }
        blocks(statement).into_iter().try_for_each(|block| self.block(block, opened))
    }

    fn select(&mut self, cases: &[Case], has_default: bool) -> Result<(), Refusal> {
        let mut count: u32 = 0;
        for case in cases {
            let (CaseOp::Put { channel, .. } | CaseOp::Get { channel, .. }) = &case.op else {
                continue;
            };
            count += 1;
            self.selected.extend(variable(channel)?);
        }
        let has_timeout = cases.iter().any(|case| case.op == CaseOp::Timeout);
        self.operations.insert(match (count, has_default, has_timeout) {
            (0, ..) | (2.., true, _) | (_, true, true) => return Err(Refusal::Select),
            (1, true, false) => Lack::Trying,
            (1, false, true) => Lack::GivingUp,
            // Is written as the operation alone.
            (1, false, false) => return Ok(()),
            (2.., false, _) => Lack::Select,
        });
        Ok(())
    }

    fn is_shared(&self, var: VarId, side: Side) -> bool {
        match side {
            Side::Sender => self.closed.contains(&var),
            Side::Receiver => self.abandoned.contains(&var),
        }
    }
}

/// The variable that names a channel.
fn variable(channel: &Expr) -> Result<Option<VarId>, Refusal> {
    match channel.kind {
        ExprKind::Var(var) => Ok(Some(var)),
        _ => Err(Refusal::Nil),
    }
}

fn not_a_channel(value: &Expr) -> Result<(), Refusal> {
    match value.kind {
        ExprKind::Nil => Err(Refusal::Nil),
        _ => Ok(()),
    }
}

/// The ends that a block uses, those in blocks within it included.
fn used(block: &Block, found: &mut BTreeSet<(VarId, Side)>) {
    let mut note = |channel: &Expr, side: Side| {
        if let ExprKind::Var(var) = channel.kind {
            found.insert((var, side));
        }
    };
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Put { channel, .. } | StmtKind::Close { channel } => {
                note(channel, Side::Sender);
            }
            StmtKind::Get { channel, .. } | StmtKind::Abandon { channel } => {
                note(channel, Side::Receiver);
            }
            StmtKind::Select { cases, .. } => {
                for case in cases {
                    match &case.op {
                        CaseOp::Put { channel, .. } => note(channel, Side::Sender),
                        CaseOp::Get { channel, .. } => note(channel, Side::Receiver),
                        CaseOp::Timeout => {}
                    }
                }
            }
            _ => {}
        }
    }
    for statement in &block.statements {
        blocks(statement).into_iter().for_each(|block| used(block, found));
    }
}

impl Writer<'_> {
    /// The main process: what stands before its first operation is prepared for many rounds at once.
    pub(super) fn separate_main(&mut self, uses: &EndUses, body: &Block) -> Result<(), Error> {
        let is_preparation = |statement: &&Stmt| {
            matches!(statement.kind, StmtKind::NewChannel { .. } | StmtKind::Spawn { .. })
        };
        let prepared = body.statements.iter().take_while(is_preparation).count();
        let (preparation, rest) = body.statements.split_at(prepared);
        self.text.indent();
        preparation.iter().try_for_each(|statement| self.separate(uses, statement))?;
        if !rest.is_empty() {
            self.text.line("p.go_on(move |p| {");
            self.text.indent();
            rest.iter().try_for_each(|statement| self.statement(statement))?;
            self.text.outdent();
            self.text.line("});");
        }
        self.text.outdent();
        Ok(())
    }

    /// A statement about channels, each end a variable of its own.
    pub(super) fn separate(&mut self, uses: &EndUses, statement: &Stmt) -> Result<(), Error> {
        match &statement.kind {
            StmtKind::NewChannel { var, capacity, .. } => self.open_separate(uses, *var, *capacity),
            StmtKind::Put { channel, value } => {
                let (end, value) = (self.end(uses, channel, Side::Sender), self.place(value)?);
                self.text.line(format!("put(p, &{end}, {value});"));
            }
            StmtKind::Get { channel, value, ok } => {
                let (end, ty) = (self.end(uses, channel, Side::Receiver), self.element(channel)?);
                match (value, ok) {
                    (_, Some(ok)) => {
                        self.text.line(format!("let received = get_ok::<{ty}>(p, &{end});"));
                        value.iter().for_each(|var| self.assign(*var, "received.0"));
                        self.assign(*ok, "received.1");
                    }
                    (Some(var), None) => self.assign(*var, &format!("get::<{ty}>(p, &{end})")),
                    (None, None) => self.text.line(format!("get::<{ty}>(p, &{end});")),
                }
            }
            StmtKind::Close { channel } => {
                let name = self.place(channel)?;
                self.text.line("p.line_up();");
                self.text.line(format!("{name}_sender.leave();"));
            }
            StmtKind::Abandon { channel } => {
                let name = self.place(channel)?;
                self.text.line("p.line_up();");
                self.text.line(format!("{name}_receiver.leave();"));
            }
            StmtKind::Select { cases, default } => {
                self.separate_select(uses, cases, default.as_ref())?;
            }
            StmtKind::Spawn { body, .. } => self.spawn_separate(body)?,
            _ => {}
        }
        Ok(())
    }

    fn open_separate(&mut self, uses: &EndUses, var: VarId, capacity: Capacity) {
        let name = self.scope.name(var);
        self.scope.declare(var);
        let open = match capacity {
            Capacity::Rendezvous => "bounded(0)".to_owned(),
            Capacity::Bounded(room) => format!("bounded({room})"),
            Capacity::Unbounded => "unbounded()".to_owned(),
        };
        self.text.line(format!("let ({name}_sender, {name}_receiver) = {open};"));
        for side in
            [Side::Sender, Side::Receiver].into_iter().filter(|side| uses.is_shared(var, *side))
        {
            let side = side.name();
            self.text.line(format!("let {name}_{side} = Shared::new({name}_{side});"));
        }
        if uses.selected.contains(&var) {
            self.text.line(format!("p.keep(({name}_sender.clone(), {name}_receiver.clone()));"));
        }
    }

    /// What stands for an end in an operation.
    fn end(&self, uses: &EndUses, channel: &Expr, side: Side) -> String {
        let ExprKind::Var(var) = channel.kind else { return String::new() };
        let name = format!("{}_{}", self.scope.name(var), side.name());
        if uses.is_shared(var, side) { format!("{name}.end()") } else { name }
    }

    fn element(&self, channel: &Expr) -> Result<String, Error> {
        type_text(element_of(self.scope.function(), channel).unwrap_or(&Type::Unit))
    }

    fn spawn_separate(&mut self, body: &Block) -> Result<(), Error> {
        let mut ends = BTreeSet::new();
        used(body, &mut ends);
        ends.retain(|(var, _)| self.scope.is_declared(*var));
        let loops = std::mem::take(&mut self.loops);
        self.text.line("p.spawn({");
        self.text.indent();
        for (var, side) in ends {
            let name = format!("{}_{}", self.scope.name(var), side.name());
            self.text.line(format!("let {name} = {name}.clone();"));
        }
        self.text.line("move |p| {");
        self.indented(body)?;
        self.text.line("}");
        self.text.outdent();
        self.text.line("});");
        self.loops = loops;
        Ok(())
    }

    fn separate_select(
        &mut self,
        uses: &EndUses,
        cases: &[Case],
        default: Option<&Block>,
    ) -> Result<(), Error> {
        let timeout = cases.iter().find(|case| case.op == CaseOp::Timeout);
        let operations: Vec<(usize, &Case)> =
            cases.iter().enumerate().filter(|(_, case)| case.op != CaseOp::Timeout).collect();
        let otherwise = match (timeout, default) {
            (Some(timeout), _) => Some(("p.timed_out();", &timeout.body)),
            (None, Some(default)) => Some(("p.defaulted();", default)),
            (None, None) => None,
        };
        if let ([(number, case)], Some((note, block))) = (operations.as_slice(), otherwise) {
            let way = if timeout.is_some() { "or_give_up" } else { "at_once" };
            return self.attempt(uses, way, *number, case, note, block);
        }
        self.text.line("let fired = {");
        self.text.indent();
        let mut offers = Vec::new();
        for (number, case) in &operations {
            offers.push(self.offer(uses, *number, case)?);
        }
        self.text.line(format!("let cases = vec![{}];", offers.join(", ")));
        self.text.line(format!("select(p, cases, {})", timeout.is_some()));
        self.text.outdent();
        self.text.line("};");
        self.text.line("match fired {");
        self.text.indent();
        for (position, (number, case)) in operations.iter().enumerate() {
            self.text.line(format!("Some(({position}, received)) => {{"));
            self.text.indent();
            self.carried_out(*number, case)?;
            self.text.outdent();
            self.text.line("}");
        }
        self.text.line("_ => {");
        self.text.indent();
        if let Some((note, block)) = otherwise {
            self.text.line(note);
            self.block(block)?;
        }
        self.text.outdent();
        self.text.line("}");
        self.text.outdent();
        self.text.line("}");
        Ok(())
    }

    /// A case as a value; a shared end is borrowed first.
    fn offer(&mut self, uses: &EndUses, number: usize, case: &Case) -> Result<String, Error> {
        let (channel, side) = match &case.op {
            CaseOp::Put { channel, .. } => (channel, Side::Sender),
            CaseOp::Get { channel, .. } => (channel, Side::Receiver),
            CaseOp::Timeout => return Ok(String::new()),
        };
        let mut end = self.end(uses, channel, side);
        if matches!(channel.kind, ExprKind::Var(var) if uses.is_shared(var, side)) {
            self.text.line(format!("let end{number} = {end};"));
            end = format!("end{number}");
        }
        Ok(match &case.op {
            CaseOp::Put { value, .. } => {
                let value = self.place(value)?;
                format!("Case::Put(&{end}, message(p, {value}.to_word()))")
            }
            _ => format!("Case::Get(&{end})"),
        })
    }

    /// One operation that is tried, or given up after a while.
    fn attempt(
        &mut self,
        uses: &EndUses,
        way: &str,
        number: usize,
        case: &Case,
        note: &str,
        instead: &Block,
    ) -> Result<(), Error> {
        match &case.op {
            CaseOp::Put { channel, value } => {
                let (end, value) = (self.end(uses, channel, Side::Sender), self.place(value)?);
                self.text.line(format!("if put_{way}(p, &{end}, {value}) {{"));
            }
            CaseOp::Get { channel, .. } => {
                let end = self.end(uses, channel, Side::Receiver);
                self.text.line(format!("let received = get_{way}(p, &{end});"));
                self.text.line("if let Some(received) = received {");
            }
            CaseOp::Timeout => {}
        }
        self.text.indent();
        self.carried_out(number, case)?;
        self.text.outdent();
        self.text.line("} else {");
        self.text.indent();
        self.text.line(note);
        self.block(instead)?;
        self.text.outdent();
        self.text.line("}");
        Ok(())
    }

    /// What follows when a case of a select was carried out; `received` is what a get gave.
    fn carried_out(&mut self, number: usize, case: &Case) -> Result<(), Error> {
        let mark = self.scope.enter();
        self.text.line(format!("p.chose({number});"));
        if let CaseOp::Get { channel, value, ok } = &case.op {
            let ty = self.element(channel)?;
            self.text.line(format!("let received = p.received::<{ty}>(received);"));
            value.iter().for_each(|var| self.assign(*var, "received.0"));
            ok.iter().for_each(|var| self.assign(*var, "received.1"));
        }
        self.block(&case.body)?;
        self.scope.leave(mark);
        Ok(())
    }
}

const PLAIN: &str = "\
type Message = i64;

fn message(_: &Process, word: i64) -> Message {
    word
}

fn word(message: Message) -> i64 {
    message
}";

const BOXED: &str = "\
type Message = Box<i64>;

fn message(_: &Process, word: i64) -> Message {
    Box::new(word)
}

fn word(message: Message) -> i64 {
    *message
}";

const COUNTED: &str = "\
/// A message that counts how often it is dropped.
struct Message {
    word: i64,
    balance: Arc<AtomicI64>,
}

impl Drop for Message {
    fn drop(&mut self) {
        self.balance.fetch_sub(1, Ordering::SeqCst);
    }
}

fn message(p: &Process, word: i64) -> Message {
    let balance = Arc::clone(&p.round.balance);
    balance.fetch_add(1, Ordering::SeqCst);
    Message { word, balance }
}

fn word(message: Message) -> i64 {
    message.word
}";

fn main_file(about: &Standalone<'_>, channels: &ChannelCrate, functions: &str) -> String {
    let lines = |outcomes: &[String]| -> String {
        outcomes.iter().map(|outcome| format!("\n    {outcome:?},")).collect()
    };
    let listed = |outcomes: &[String]| match lines(outcomes) {
        lines if lines.is_empty() => lines,
        lines => lines + "\n",
    };
    let is_task = match about.processes {
        Processes::Threads => "false",
        Processes::Tasks => "true",
        Processes::Mixed => "process.below(2) == 0",
    };
    let (message, counted) = match about.messages {
        Messages::Plain => (PLAIN, ""),
        Messages::Boxed => (BOXED, ""),
        Messages::Counted => (COUNTED, "//! - drops a message twice or never,\n"),
    };
    let wrong = match (about.possible, about.impossible) {
        (None, []) => "",
        _ => "//! - ends with an outcome that no schedule of the program gives,\n",
    };
    let symptoms = format!("{wrong}{counted}//! - hangs, panics or crashes.");
    let possible = about
        .possible
        .map_or("None".to_owned(), |outcomes| format!("Some(&[{}])", listed(outcomes)));
    let title = about.title.replace(['\n', '\r'], " ");
    include_str!("standalone.txt")
        .replace("{functions}", functions)
        .replace("{operations}", &channels.operations())
        .replace("{message}", message)
        .replace("{possible}", &possible)
        .replace("{impossible}", &listed(about.impossible))
        .replace("{is_task}", is_task)
        .replace("{symptoms}", &symptoms)
        .replace("{title}", &title)
}
