//! What can be written down: the names and depths within which reading a printed program gives the
//! same program again. The checker asks, so that programs which were built keep to it too.
//!
//! Depth is counted as the parser counts it in the printed text: parentheses are a level, the right
//! side of an operator is one, the left side is none.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::language::ast::{Expr, ExprKind, MAX_DEPTH, Program, Type};
use crate::language::diagnostic::Diagnostic;
use crate::language::parser::check_name;
use crate::language::printer::operator;

/// Functions are told apart by their names, which can be written.
pub fn check_function_names(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    let mut known = HashSet::<&str, FxBuildHasher>::default();
    for (function, called) in program.functions.iter_enumerated() {
        if !known.insert(&called.name) {
            let message = format!("there are two functions called `{}`", called.name);
            diagnostics.push(Diagnostic::new(message, called.span).hint("rename one of them"));
        } else if function != program.main {
            diagnostics.extend(check_name(&called.name, called.span, "the function").err());
        }
    }
}

/// How many levels a type has.
pub fn type_levels(ty: &Type) -> usize {
    let (mut levels, mut inner) = (0, ty);
    while let Type::Chan(element) = inner {
        (levels, inner) = (levels + 1, element);
    }
    levels
}

/// Does the expression need at most so many levels, and at most [`MAX_DEPTH`] operators?
pub fn expression_fits(expression: &Expr, room: usize) -> bool {
    fits(expression, Some(room), &mut 0)
}

fn fits(expression: &Expr, room: Option<usize>, operators: &mut usize) -> bool {
    let Some(room) = room else { return false };
    match &expression.kind {
        ExprKind::Unary(_, operand) => {
            let bare =
                matches!(operand.kind, ExprKind::Var(_) | ExprKind::Unary(..) | ExprKind::Bool(_));
            fits(operand, room.checked_sub(if bare { 1 } else { 2 }), operators)
        }
        ExprKind::Binary(op, left, right) => {
            *operators += 1;
            let (_, binding) = operator(*op);
            *operators <= MAX_DEPTH
                && fits(left, room.checked_sub(parentheses(left, binding)), operators)
                && fits(right, room.checked_sub(1 + parentheses(right, binding + 1)), operators)
        }
        _ => true,
    }
}

/// How many parentheses an operand is printed in.
fn parentheses(operand: &Expr, level: u8) -> usize {
    match &operand.kind {
        ExprKind::Binary(op, ..) => usize::from(operator(*op).1 < level),
        _ => 0,
    }
}
