//! The language as a tree: what the parser reads, the generator builds and the printer writes.
//!
//! Names are resolved: a [`VarId`] points into the variables of its function, a [`FuncId`] into the
//! functions of the program. Positions are carried along and never compared.
//! A tree is at most [`MAX_DEPTH`] levels deep, so that passes over it may recurse.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::language::index::{FuncId, IndexVec, VarId};
use crate::language::span::Span;

/// How deep blocks, expressions and types may nest.
pub const MAX_DEPTH: usize = 200;

/// How many messages a bounded channel may hold.
pub const MAX_CAPACITY: u32 = 1_000_000;

/// How many cases a select and branches a choice may have.
pub const MAX_BRANCHES: usize = 10_000;

/// A whole program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Program {
    /// All functions, `main` among them.
    pub functions: IndexVec<FuncId, Function>,
    /// Where execution starts. It has no parameters and returns unit.
    pub main: FuncId,
}

/// A function: parameters by value, one result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Function {
    /// Its name; `main` for the entry.
    pub name: SmolStr,
    /// The variables that receive the arguments.
    pub params: Vec<VarId>,
    /// What it returns.
    pub result: Type,
    /// Every variable of the function, parameters and those of spawned blocks included.
    pub variables: IndexVec<VarId, Variable>,
    /// What it does.
    pub body: Block,
    /// The header's position.
    #[serde(default, skip_serializing_if = "Span::is_none")]
    pub span: Span,
}

/// A variable, visible from its first assignment to the end of the enclosing block.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Variable {
    /// Its name. Two variables of one function may share a name when their blocks do not overlap.
    pub name: SmolStr,
    /// Its type; `None` until the checker has inferred it.
    pub ty: Option<Type>,
    /// Where it is introduced.
    #[serde(default, skip_serializing_if = "Span::is_none")]
    pub span: Span,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    /// One value, `()`.
    Unit,
    /// `true` and `false`.
    Bool,
    /// 64-bit integers that wrap.
    Int,
    /// A channel of messages of one type, or `nil`.
    Chan(Box<Type>),
    /// A mutual exclusion lock.
    Mutex,
    /// A lock with many readers or one writer; a waiting writer keeps new readers out.
    RwMutex,
    /// A counter that can be waited on.
    WaitGroup,
}

/// How many messages a channel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Capacity {
    /// Sender and receiver meet.
    Rendezvous,
    /// So many messages, at least one.
    Bounded(u32),
    /// Any number.
    Unbounded,
}

/// Statements in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Stmt>,
}

impl Block {
    /// A block of these statements.
    pub fn new(statements: Vec<Stmt>) -> Self {
        Block { statements }
    }
}

/// A statement and its position.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Span::is_none")]
    pub span: Span,
}

impl From<StmtKind> for Stmt {
    fn from(kind: StmtKind) -> Self {
        Stmt { kind, span: Span::NONE }
    }
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StmtKind {
    /// `chan c: int[2]`
    NewChannel {
        /// The variable that holds the new channel.
        var: VarId,
        /// The type of its messages.
        element: Type,
        /// How many it holds.
        capacity: Capacity,
    },
    /// `mutex m`, `rwmutex m`, `waitgroup w`
    NewLock {
        /// The variable that holds the new object.
        var: VarId,
        /// Which object.
        kind: LockKind,
    },
    /// `x = e`
    Assign {
        /// The variable that changes.
        var: VarId,
        /// Its new value.
        value: Expr,
    },
    /// `put c e`
    Put {
        /// Where to.
        channel: Expr,
        /// What.
        value: Expr,
    },
    /// `get c`, `x = get c`, `x, ok = get c`
    Get {
        /// Where from.
        channel: Expr,
        /// The variable for the message.
        value: Option<VarId>,
        /// The variable that is false when the channel was closed and empty.
        ok: Option<VarId>,
    },
    /// `close c`
    Close {
        /// The channel.
        channel: Expr,
    },
    /// `abandon c`: the receiving side goes away. From then on every `put`, one that waits
    /// included, is done at once and its message is lost.
    Abandon {
        /// The channel.
        channel: Expr,
    },
    /// `select { … }`
    Select {
        /// The cases in the order they were written.
        cases: Vec<Case>,
        /// What to do when no case is ready at once.
        default: Option<Block>,
    },
    /// `spawn { … }`, `spawn NAME { … }`: a new process with copies of the variables in sight.
    Spawn {
        /// A name for people.
        name: Option<SmolStr>,
        /// What the process does.
        body: Block,
    },
    /// `f(a, b)`, `x = f(a, b)`
    Call {
        /// The function.
        function: FuncId,
        /// Its arguments.
        arguments: Vec<Expr>,
        /// The variable for the result.
        result: Option<VarId>,
    },
    /// `if e { … } else { … }`
    If {
        /// A boolean.
        condition: Expr,
        /// When true.
        then: Block,
        /// When false.
        otherwise: Option<Block>,
    },
    /// `while e { … }`
    While {
        /// A boolean.
        condition: Expr,
        /// What is repeated.
        body: Block,
    },
    /// Leaves the innermost `while`.
    Break,
    /// Goes on with the next round of the innermost `while`.
    Continue,
    /// `choose { … } or { … }`: an internal choice that nothing outside influences.
    Choose {
        /// At least one branch.
        branches: Vec<Block>,
    },
    /// `lock m`, `unlock m`, `rlock m`, `runlock m`, `done w`, `wait w`
    Sync {
        /// The operation.
        op: SyncOp,
        /// The lock or wait group.
        target: Expr,
    },
    /// `add w e`
    Add {
        /// The wait group.
        group: Expr,
        /// How much its counter grows.
        amount: Expr,
    },
    /// `panic "why"`: the whole program ends.
    Panic {
        /// Why.
        message: SmolStr,
    },
    /// `return`, `return e`: ends the function, or the process when in a spawned block.
    Return {
        /// The result.
        value: Option<Expr>,
    },
    /// `observe e`: makes a value part of the outcome.
    Observe {
        /// The value.
        value: Expr,
    },
}

/// The objects besides channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LockKind {
    /// `mutex`
    Mutex,
    /// `rwmutex`
    RwMutex,
    /// `waitgroup`
    WaitGroup,
}

/// Operations on the objects besides channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SyncOp {
    /// Exclusive lock of a mutex or rwmutex.
    Lock,
    /// Its end. Unlocking what is not locked panics.
    Unlock,
    /// Shared lock of an rwmutex.
    RLock,
    /// Its end.
    RUnlock,
    /// Counts a wait group down by one; below zero panics.
    Done,
    /// Waits until a wait group is at zero.
    Wait,
}

/// One case of a select.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Case {
    /// What it waits for.
    pub op: CaseOp,
    /// What follows.
    pub body: Block,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Span::is_none")]
    pub span: Span,
}

/// What a case of a select waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CaseOp {
    /// `put c e { … }`
    Put {
        /// Where to.
        channel: Expr,
        /// What.
        value: Expr,
    },
    /// `get c { … }`, `x = get c { … }`, `x, ok = get c { … }`
    Get {
        /// Where from.
        channel: Expr,
        /// The variable for the message.
        value: Option<VarId>,
        /// The variable that is false when the channel was closed and empty.
        ok: Option<VarId>,
    },
    /// `timeout { … }`: may be taken at any moment, whatever the other cases do.
    Timeout,
}

/// An expression and its position. Expressions neither block nor fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Span::is_none")]
    pub span: Span,
}

impl From<ExprKind> for Expr {
    fn from(kind: ExprKind) -> Self {
        Expr { kind, span: Span::NONE }
    }
}

impl From<VarId> for Expr {
    fn from(var: VarId) -> Self {
        ExprKind::Var(var).into()
    }
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExprKind {
    /// `()`
    Unit,
    /// `true`, `false`
    Bool(bool),
    /// `42`
    Int(i64),
    /// `nil`: the channel on which nothing ever happens.
    Nil,
    /// A variable.
    Var(VarId),
    /// `!e`, `-e`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b` and the like.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Negate,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`, on values of one type
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
}
