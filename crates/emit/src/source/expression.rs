//! Expressions. All targets write them nearly alike; what differs is a table.

use strait_calculus::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

use super::scope::Scope;

/// How a language writes expressions.
#[derive(Clone, Copy, Debug)]
pub struct Notation {
    /// `()`
    pub unit: &'static str,
    /// The channel on which nothing happens; `None` where there is none.
    pub nil: Option<&'static str>,
    /// An integer.
    pub integer: fn(i64) -> String,
    /// Addition, subtraction and multiplication that wrap.
    pub arithmetic: Arithmetic,
}

/// How sums that wrap are written.
#[derive(Clone, Copy, Debug)]
pub enum Arithmetic {
    /// By operators.
    Operators([&'static str; 3]),
    /// By methods of the left operand.
    Methods([&'static str; 3]),
}

/// The text of an expression; `None` if it speaks of `nil` where there is no such thing.
pub fn expression(notation: &Notation, scope: &Scope<'_>, source: &Expr) -> Option<String> {
    Some(match &source.kind {
        ExprKind::Unit => notation.unit.to_owned(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(value) => (notation.integer)(*value),
        ExprKind::Nil => notation.nil?.to_owned(),
        ExprKind::Var(var) => scope.name(*var),
        ExprKind::Unary(UnaryOp::Not, operand) => {
            format!("!{}", operand_text(notation, scope, operand)?)
        }
        ExprKind::Unary(UnaryOp::Negate, operand) => {
            let operand = operand_text(notation, scope, operand)?;
            match notation.arithmetic {
                Arithmetic::Operators([_, minus, _]) => {
                    format!("{} {minus} {operand}", (notation.integer)(0))
                }
                Arithmetic::Methods([_, minus, _]) => {
                    format!("{}.{minus}({operand})", (notation.integer)(0))
                }
            }
        }
        ExprKind::Binary(operator, left, right) => {
            let left = operand_text(notation, scope, left)?;
            let right = operand_text(notation, scope, right)?;
            match (sum(*operator), notation.arithmetic) {
                (Some(number), Arithmetic::Methods(methods)) => {
                    format!("{left}.{}({right})", methods[number])
                }
                (Some(number), Arithmetic::Operators(operators)) => {
                    format!("{left} {} {right}", operators[number])
                }
                (None, _) => format!("{left} {} {right}", comparison(*operator)),
            }
        }
    })
}

/// In parentheses unless it stands for itself.
fn operand_text(notation: &Notation, scope: &Scope<'_>, source: &Expr) -> Option<String> {
    let text = expression(notation, scope, source)?;
    let is_simple = match &source.kind {
        ExprKind::Int(value) => *value >= 0,
        ExprKind::Unary(..) | ExprKind::Binary(..) => false,
        _ => true,
    };
    Some(if is_simple { text } else { format!("({text})") })
}

fn sum(operator: BinaryOp) -> Option<usize> {
    match operator {
        BinaryOp::Add => Some(0),
        BinaryOp::Subtract => Some(1),
        BinaryOp::Multiply => Some(2),
        _ => None,
    }
}

fn comparison(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::Or => "||",
        BinaryOp::And => "&&",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply => "",
    }
}
