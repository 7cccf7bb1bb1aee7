//! Programs as flat instructions: what the tree is compiled to and the machine runs.

use std::sync::OnceLock;

use smol_str::SmolStr;

use crate::language::ast::{Capacity, Expr, LockKind, SyncOp, Type};
use crate::language::index::{FuncId, IndexVec, Pc, VarId};
use crate::language::span::Span;
use crate::machine::flow::{self, Flow};
use crate::machine::guards::{self, Guards};

/// A compiled program.
#[derive(Debug)]
pub struct Code {
    /// All instructions of all functions.
    pub instructions: IndexVec<Pc, Instruction>,
    /// Where each instruction comes from.
    pub origins: IndexVec<Pc, Origin>,
    /// What each function needs to run.
    pub functions: IndexVec<FuncId, FunctionCode>,
    /// The entry.
    pub main: FuncId,
    /// See [`Code::flow`].
    pub(crate) flow: OnceLock<Flow>,
    /// See [`Code::guards`].
    pub(crate) guards: OnceLock<Guards>,
    /// Does the program contain `observe`?
    pub observes: bool,
    /// Does it ask whether two channels are the same?
    pub compares_channels: bool,
    /// Is there anything in it that can panic?
    pub may_panic: bool,
    /// Is there neither a loop nor recursion, so that every execution ends?
    pub always_ends: bool,
}

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The function it belongs to.
    pub function: FuncId,
    /// Its position in the text.
    pub span: Span,
}

/// A function as the machine needs it.
#[derive(Debug)]
pub struct FunctionCode {
    /// Its name.
    pub name: SmolStr,
    /// Its first instruction.
    pub entry: Pc,
    /// The variables that take the arguments.
    pub params: Vec<VarId>,
    /// Does it return nothing but `()`?
    pub returns_unit: bool,
    /// The name of each variable, for people.
    pub names: IndexVec<VarId, SmolStr>,
}

/// One instruction. Those in the second half are *visible*: other processes may notice them, so
/// the machine stops before them and they become actions of the search.
#[derive(Clone, Debug)]
pub enum Instruction {
    /// `x = e`
    Assign(VarId, Expr),
    /// Goes on elsewhere.
    Jump(Pc),
    /// Goes on elsewhere when the condition is false.
    Unless(Expr, Pc),
    /// A new channel.
    NewChannel(VarId, Capacity),
    /// A new lock or wait group.
    NewLock(VarId, LockKind),
    /// A new process that starts there with copies of the variables.
    Spawn(Pc, Option<SmolStr>),
    /// Calls a function.
    Call(FuncId, Vec<Expr>, Option<VarId>),
    /// Ends a function or process.
    Return(Option<Expr>),
    /// Ends everything.
    Panic(SmolStr),
    /// Makes a value part of the outcome.
    Observe(Expr),

    /// Waits for one of the cases.
    Select(Select),
    /// Closes a channel.
    Close(Expr),
    /// Takes the receiving side away.
    Abandon(Expr),
    /// Goes on at any of these places.
    Choose(Vec<Pc>),
    /// An operation on a lock or wait group.
    Sync(SyncOp, Expr),
    /// A writer makes known that it wants an rwmutex.
    Announce(Expr),
    /// Adds to a wait group.
    Add(Expr, Expr),
}

/// A select, or a single put or get.
#[derive(Clone, Debug)]
pub struct Select {
    /// The cases.
    pub cases: Vec<SelectCase>,
    /// Where to go on when nothing is ready.
    pub default: Option<Pc>,
    /// Is this a `put` or `get` statement? Then the choice is no news.
    pub single: bool,
}

/// A case of a select.
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// What it waits for.
    pub op: SelectOp,
    /// Where to go on.
    pub target: Pc,
    /// Where it stands in the text.
    pub span: Span,
}

/// What a case waits for.
#[derive(Clone, Debug)]
pub enum SelectOp {
    /// To send.
    Put(Expr, Expr),
    /// To receive: channel, type of its messages, variables for the message and for ok.
    Get(Expr, Type, Option<VarId>, Option<VarId>),
    /// Nothing.
    Timeout,
}

impl Instruction {
    /// The expressions that it evaluates.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let (own, cases): ([Option<&Expr>; 2], &[SelectCase]) = match self {
            Instruction::Assign(_, value)
            | Instruction::Unless(value, _)
            | Instruction::Return(Some(value))
            | Instruction::Observe(value)
            | Instruction::Close(value)
            | Instruction::Abandon(value)
            | Instruction::Sync(_, value)
            | Instruction::Announce(value) => ([Some(value), None], &[]),
            Instruction::Add(group, amount) => ([Some(group), Some(amount)], &[]),
            Instruction::Select(select) => ([None, None], &select.cases),
            _ => ([None, None], &[]),
        };
        let arguments: &[Expr] = match self {
            Instruction::Call(_, arguments, _) => arguments,
            _ => &[],
        };
        own.into_iter().flatten().chain(arguments).chain(cases.iter().flat_map(|case| {
            match &case.op {
                SelectOp::Put(channel, value) => [Some(channel), Some(value)],
                SelectOp::Get(channel, ..) => [Some(channel), None],
                SelectOp::Timeout => [None, None],
            }
            .into_iter()
            .flatten()
        }))
    }
}

impl Code {
    /// What may happen later, for each instruction. Analysed when it is first asked for: who only
    /// explains observations hardly ever asks.
    pub fn flow(&self) -> &Flow {
        self.flow.get_or_init(|| flow::analyse(self))
    }

    /// What must have happened before an operation, for each instruction; likewise.
    pub fn guards(&self) -> &Guards {
        self.guards.get_or_init(|| guards::analyse(self))
    }

    /// The name of a variable.
    pub fn variable(&self, function: FuncId, var: VarId) -> &str {
        &self.functions[function].names[var]
    }
}
