//! Short names for the statements that rules write.

use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, ExprKind, Stmt, StmtKind, Type};
use strait_calculus::{Span, VarId};

/// `put c e`
pub fn put(channel: VarId, value: Expr) -> Stmt {
    StmtKind::Put { channel: channel.into(), value }.into()
}

/// `get c`
pub fn get(channel: VarId) -> Stmt {
    StmtKind::Get { channel: channel.into(), value: None, ok: None }.into()
}

/// `x = get c`
pub fn get_into(channel: VarId, value: VarId) -> Stmt {
    StmtKind::Get { channel: channel.into(), value: Some(value), ok: None }.into()
}

/// `x, ok = get c`
pub fn get_until_closed(channel: VarId, value: VarId, ok: VarId) -> Stmt {
    StmtKind::Get { channel: channel.into(), value: Some(value), ok: Some(ok) }.into()
}

/// `close c`
pub fn close(channel: VarId) -> Stmt {
    StmtKind::Close { channel: channel.into() }.into()
}

/// `abandon c`
pub fn abandon(channel: VarId) -> Stmt {
    StmtKind::Abandon { channel: channel.into() }.into()
}

/// `spawn { … }`
pub fn spawn(body: Vec<Stmt>) -> Stmt {
    StmtKind::Spawn { name: None, body: Block::new(body) }.into()
}

/// `chan c: t`
pub fn new_channel(var: VarId, element: Type, capacity: Capacity) -> Stmt {
    StmtKind::NewChannel { var, element, capacity }.into()
}

/// `select { … }`
pub fn select(cases: Vec<Case>, default: Option<Block>) -> Stmt {
    StmtKind::Select { cases, default }.into()
}

/// `put c e { }`
pub fn put_case(channel: VarId, value: Expr) -> Case {
    case(CaseOp::Put { channel: channel.into(), value }, Vec::new())
}

/// `get c { }`
pub fn get_case(channel: VarId) -> Case {
    case(CaseOp::Get { channel: channel.into(), value: None, ok: None }, Vec::new())
}

/// `timeout { … }`
pub fn timeout_case(body: Vec<Stmt>) -> Case {
    case(CaseOp::Timeout, body)
}

/// A case and what follows it.
pub fn case(op: CaseOp, body: Vec<Stmt>) -> Case {
    Case { op, body: Block::new(body), span: Span::NONE }
}

/// An integer.
pub fn int(value: i64) -> Expr {
    ExprKind::Int(value).into()
}
