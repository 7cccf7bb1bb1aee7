//! The goals that need no rules: which there are, and how arithmetic is written as them.

use strait_calculus::{Diagnostic, Span};

use crate::ast::{Expression, ExpressionKind};
use crate::program::Builtin;

pub(crate) const NEGATE: Builtin = Builtin::Negate;
pub(crate) const CALL: Builtin = Builtin::Call;

/// Names, numbers of arguments and what they are.
const TABLE: [(&str, usize, Builtin); 19] = [
    ("true", 0, Builtin::True),
    ("fail", 0, Builtin::Fail),
    ("call", 1, Builtin::Call),
    ("=", 2, Builtin::Unify),
    ("\\=", 2, Builtin::Differ),
    ("absent", 2, Builtin::Absent),
    ("member", 2, Builtin::Member),
    ("\\+", 1, Builtin::Not),
    ("once", 1, Builtin::Once),
    ("fresh", 1, Builtin::Fresh),
    ("copy", 2, Builtin::Copy),
    ("replace", 4, Builtin::Replace),
    ("substitute", 4, Builtin::Substitute),
    ("delay", 2, Builtin::Delay),
    ("negate", 1, Builtin::Negate),
    ("in", 3, Builtin::Domain),
    ("label", 1, Builtin::Label),
    ("known", 1, Builtin::Known),
    ("intact", 0, Builtin::Intact),
];

/// The built-in goal of this name.
pub(crate) fn find(name: &str, arity: usize) -> Option<Builtin> {
    TABLE.iter().find(|entry| (entry.0, entry.1) == (name, arity)).map(|entry| entry.2)
}

type Lowered = Option<(Builtin, Vec<Expression>)>;

/// `A #= B + C`, `A #< B` and the like as sums and orders of plain terms. `None` if it is no
/// arithmetic.
pub(crate) fn arithmetic(
    name: &str,
    arguments: &[Expression],
    span: Span,
) -> Result<Lowered, Diagnostic> {
    let [left, right] = arguments else { return Ok(None) };
    let pair = |builtin, one: &Expression, other: &Expression| {
        Ok(Some((builtin, vec![one.clone(), other.clone()])))
    };
    match name {
        "#=" => {}
        "#\\=" => return pair(Builtin::Differ, simple(left)?, simple(right)?),
        "#=<" => return pair(Builtin::AtMost, simple(left)?, simple(right)?),
        "#>=" => return pair(Builtin::AtMost, simple(right)?, simple(left)?),
        "#<" => return pair(Builtin::Below, simple(left)?, simple(right)?),
        "#>" => return pair(Builtin::Below, simple(right)?, simple(left)?),
        _ => return Ok(None),
    }
    let (whole, sum) = if operation(left).is_some() { (right, left) } else { (left, right) };
    let whole = simple(whole)?.clone();
    match operation(sum) {
        None => pair(Builtin::Unify, &whole, sum),
        Some((operator, one, other)) => {
            let (one, other) = (simple(one)?.clone(), simple(other)?.clone());
            let terms =
                if operator == "+" { vec![one, other, whole] } else { vec![whole, other, one] };
            Ok(Some((Builtin::Sum, terms)))
        }
    }
    .map_err(|problem: Diagnostic| Diagnostic { span, ..problem })
}

fn operation(term: &Expression) -> Option<(&str, &Expression, &Expression)> {
    match &term.kind {
        ExpressionKind::Compound(name, arguments) if name == "+" || name == "-" => {
            let [one, other] = arguments.as_slice() else { return None };
            Some((name, one, other))
        }
        _ => None,
    }
}

fn simple(term: &Expression) -> Result<&Expression, Diagnostic> {
    match operation(term) {
        None => Ok(term),
        Some(_) => Err(Diagnostic::new("this sum is not understood here", term.span)
            .hint("write `A #= B + C` with plain terms, and a goal for each sum")),
    }
}
