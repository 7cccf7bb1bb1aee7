//! Values at run time.

use crate::language::ast::{BinaryOp, Expr, ExprKind, Type, UnaryOp};
use crate::language::index::{Idx, ObjectId};

/// A value that a variable holds or a message carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// `()`; also what a variable holds that is not needed any more.
    #[default]
    Unit,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The channel on which nothing happens.
    Nil,
    /// A channel, lock or wait group.
    Object(ObjectId),
}

impl Value {
    /// The value that a closed channel gives.
    pub fn zero(ty: &Type) -> Value {
        match ty {
            Type::Bool => Value::Bool(false),
            Type::Int => Value::Int(0),
            Type::Chan(_) => Value::Nil,
            Type::Unit | Type::Mutex | Type::RwMutex | Type::WaitGroup => Value::Unit,
        }
    }

    /// The object behind a channel, lock or wait group; none behind `nil`.
    pub fn object(self) -> Option<ObjectId> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Unit => write!(formatter, "()"),
            Value::Bool(value) => write!(formatter, "{value}"),
            Value::Int(value) => write!(formatter, "{value}"),
            Value::Nil => write!(formatter, "nil"),
            Value::Object(_) => write!(formatter, "chan"),
        }
    }
}

/// Evaluates an expression of a checked program.
pub fn evaluate(expression: &Expr, variables: &[Value]) -> Value {
    match &expression.kind {
        ExprKind::Unit => Value::Unit,
        ExprKind::Bool(value) => Value::Bool(*value),
        ExprKind::Int(value) => Value::Int(*value),
        ExprKind::Nil => Value::Nil,
        ExprKind::Var(var) => variables[var.position()],
        ExprKind::Unary(op, operand) => match (op, evaluate(operand, variables)) {
            (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
            (UnaryOp::Negate, Value::Int(value)) => Value::Int(value.wrapping_neg()),
            (_, other) => other,
        },
        ExprKind::Binary(op, left, right) => {
            binary(*op, evaluate(left, variables), evaluate(right, variables))
        }
    }
}

fn binary(op: BinaryOp, left: Value, right: Value) -> Value {
    match (op, left, right) {
        (BinaryOp::Equal, left, right) => Value::Bool(left == right),
        (BinaryOp::NotEqual, left, right) => Value::Bool(left != right),
        (BinaryOp::Or, Value::Bool(left), Value::Bool(right)) => Value::Bool(left || right),
        (BinaryOp::And, Value::Bool(left), Value::Bool(right)) => Value::Bool(left && right),
        (BinaryOp::Less, Value::Int(left), Value::Int(right)) => Value::Bool(left < right),
        (BinaryOp::LessEqual, Value::Int(left), Value::Int(right)) => Value::Bool(left <= right),
        (BinaryOp::Greater, Value::Int(left), Value::Int(right)) => Value::Bool(left > right),
        (BinaryOp::GreaterEqual, Value::Int(left), Value::Int(right)) => Value::Bool(left >= right),
        (BinaryOp::Add, Value::Int(left), Value::Int(right)) => {
            Value::Int(left.wrapping_add(right))
        }
        (BinaryOp::Subtract, Value::Int(left), Value::Int(right)) => {
            Value::Int(left.wrapping_sub(right))
        }
        (BinaryOp::Multiply, Value::Int(left), Value::Int(right)) => {
            Value::Int(left.wrapping_mul(right))
        }
        // A checked program has no other combination.
        (_, left, _) => left,
    }
}
