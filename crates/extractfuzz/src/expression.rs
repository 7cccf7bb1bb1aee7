//! Random expressions over the variables in scope. No expression panics, and none that Go computes
//! at compile time overflows: an operation has at least one operand that is a variable.

use strait_generate::Stream;

use crate::tree::{Expr, Kind, Piece};

/// A variable that expressions may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
}

const INTS: [&str; 14] =
    ["0", "1", "2", "3", "4", "5", "7", "10", "13", "-1", "-2", "-5", "100", "255"];
const STRINGS: [&str; 12] = [
    "\"\"",
    "\"a\"",
    "\"b\"",
    "\"ab\"",
    "\"abc\"",
    "\"é\"",
    "\"aé\"",
    "\"x,y\"",
    "\"Go\"",
    "\" a \"",
    "\"日本\"",
    "\"12\"",
];

/// One of these.
pub fn pick<'a, T: ?Sized>(stream: &mut Stream, items: &[&'a T]) -> &'a T {
    items[stream.position(items.len())]
}

/// A random expression of this type.
pub fn expression(stream: &mut Stream, scope: &[Variable], kind: Kind, depth: u32) -> Expr {
    if depth == 0 || stream.chance(1, 4) {
        return leaf(stream, scope, kind);
    }
    match kind {
        Kind::Int => int(stream, scope, depth - 1),
        Kind::Str => string(stream, scope, depth - 1),
        Kind::Bool => bool(stream, scope, depth - 1),
        Kind::Sized(..) => sized(stream, scope, kind, depth - 1),
    }
}

/// A variable or a literal.
fn leaf(stream: &mut Stream, scope: &[Variable], kind: Kind) -> Expr {
    let variables: Vec<&Variable> = scope.iter().filter(|one| one.kind == kind).collect();
    if !variables.is_empty() && stream.chance(3, 4) {
        return Expr::leaf(kind, &variables[stream.position(variables.len())].name, false);
    }
    literal(stream, kind)
}

/// A literal.
pub fn literal(stream: &mut Stream, kind: Kind) -> Expr {
    let text = match kind {
        Kind::Int => pick(stream, &INTS),
        Kind::Str => pick(stream, &STRINGS),
        Kind::Bool => pick(stream, &["true", "false"]),
        Kind::Sized(_, true) => pick(stream, &["0", "1", "3", "7", "100", "127", "-1", "-128"]),
        Kind::Sized(_, false) => pick(stream, &["0", "1", "3", "7", "100", "128", "200", "255"]),
    };
    Expr::leaf(kind, text, true)
}

/// A leaf that is a variable, or a literal where there is no variable.
fn variable(stream: &mut Stream, scope: &[Variable], kind: Kind) -> Expr {
    let variables: Vec<&Variable> = scope.iter().filter(|one| one.kind == kind).collect();
    match variables.is_empty() {
        true => literal(stream, kind),
        false => Expr::leaf(kind, &variables[stream.position(variables.len())].name, false),
    }
}

/// Two operands of which at least one is no constant, or none.
fn operands(
    stream: &mut Stream,
    scope: &[Variable],
    kind: Kind,
    depth: u32,
) -> Option<(Expr, Expr)> {
    let left = expression(stream, scope, kind, depth);
    let right = expression(stream, scope, kind, depth);
    match left.constant && right.constant {
        false => Some((left, right)),
        true => {
            let left = variable(stream, scope, kind);
            (!left.constant).then_some((left, right))
        }
    }
}

fn int(stream: &mut Stream, scope: &[Variable], depth: u32) -> Expr {
    let kind = Kind::Int;
    match stream.below(10) {
        0..5 => arithmetic(stream, scope, kind, depth),
        5 => Expr::of(kind, "len($)", vec![expression(stream, scope, Kind::Str, depth)]),
        6 => {
            let name = pick(stream, &["min($, $)", "max($, $)"]);
            binary(stream, scope, kind, name, depth)
        }
        7 => {
            let from = Kind::SIZED[stream.position(Kind::SIZED.len())];
            let inner = expression(stream, scope, Kind::Int, depth);
            match inner.constant {
                true => inner,
                false => Expr::of(kind, &format!("int({}($))", from.go()), vec![inner]),
            }
        }
        8 => {
            let template = pick(stream, &["strings.Index($, $)", "strings.Count($, $)"]);
            let (text, part) = (
                expression(stream, scope, Kind::Str, depth),
                expression(stream, scope, Kind::Str, 0),
            );
            Expr { constant: false, ..Expr::of(kind, template, vec![text, part]) }
        }
        _ => leaf(stream, scope, kind),
    }
}

fn sized(stream: &mut Stream, scope: &[Variable], kind: Kind, depth: u32) -> Expr {
    if stream.chance(1, 4) {
        let inner = match stream.flip() {
            true => Kind::Int,
            false => Kind::SIZED[stream.position(Kind::SIZED.len())],
        };
        let inner = expression(stream, scope, inner, depth);
        if !inner.constant {
            return Expr::of(kind, &format!("{}($)", kind.go()), vec![inner]);
        }
    }
    arithmetic(stream, scope, kind, depth)
}

/// An operation on two integers of the same type. A divisor is made odd, a shift is bounded.
fn arithmetic(stream: &mut Stream, scope: &[Variable], kind: Kind, depth: u32) -> Expr {
    let template = match stream.below(12) {
        0..3 => "($ + $)",
        3 | 4 => "($ - $)",
        5 => "($ * $)",
        6 => pick(stream, &["($ / ($ | 1))", "($ % ($ | 1))"]),
        7 => pick(stream, &["($ & $)", "($ | $)", "($ ^ $)", "($ &^ $)"]),
        8 => pick(stream, &["($ << (uint($) % 9))", "($ >> (uint($) % 9))"]),
        9 => return negated(stream, scope, kind, depth),
        _ => "($ + $)",
    };
    // The second operand of these must not be a negative constant.
    let (left, mut right) = match operands(stream, scope, kind, depth) {
        Some(operands) => operands,
        None => return literal(stream, kind),
    };
    if template.contains("uint") || template.contains("| 1") {
        right = variable(stream, scope, kind);
        if right.constant {
            right = Expr::leaf(kind, "3", true);
        }
        if left.constant {
            return right;
        }
    }
    Expr::of(kind, template, vec![left, right])
}

fn negated(stream: &mut Stream, scope: &[Variable], kind: Kind, depth: u32) -> Expr {
    let inner = expression(stream, scope, kind, depth);
    let template = pick(stream, &["(-$)", "(^$)"]);
    match inner.constant {
        true => inner,
        false => Expr::of(kind, template, vec![inner]),
    }
}

fn binary(stream: &mut Stream, scope: &[Variable], kind: Kind, template: &str, depth: u32) -> Expr {
    match operands(stream, scope, kind, depth) {
        Some((left, right)) => Expr::of(kind, template, vec![left, right]),
        None => literal(stream, kind),
    }
}

fn string(stream: &mut Stream, scope: &[Variable], depth: u32) -> Expr {
    let kind = Kind::Str;
    let inner = |stream: &mut Stream| expression(stream, scope, Kind::Str, depth);
    let made = match stream.below(9) {
        0..3 => Expr::of(kind, "($ + $)", vec![inner(stream), inner(stream)]),
        3 => {
            let text = variable(stream, scope, kind);
            let name = text_of(&text);
            match text.constant {
                true => text,
                false => {
                    let template = pick(stream, &["N[:min(len(N), $)]", "N[min(len(N), $):]"]);
                    let bound = Expr::leaf(Kind::Int, pick(stream, &["0", "1", "2"]), true);
                    Expr::of(kind, &template.replace('N', &name), vec![bound])
                }
            }
        }
        4 => Expr::of(kind, "strconv.Itoa($)", vec![expression(stream, scope, Kind::Int, depth)]),
        5 => {
            let template = pick(
                stream,
                &["strings.ToUpper($)", "strings.TrimSpace($)", "strings.Repeat($, 2)"],
            );
            Expr::of(kind, template, vec![inner(stream)])
        }
        6 => Expr::of(kind, "strings.ReplaceAll($, $, $)", {
            vec![inner(stream), leaf(stream, scope, kind), leaf(stream, scope, kind)]
        }),
        7 => Expr::of(kind, "fmt.Sprintf(\"%d-%s\", $, $)", {
            vec![expression(stream, scope, Kind::Int, depth), inner(stream)]
        }),
        _ => leaf(stream, scope, kind),
    };
    let constant = made.constant && !has_call(&made);
    Expr { constant, ..made }
}

/// The text of a leaf.
fn text_of(expr: &Expr) -> String {
    match expr.parts.as_slice() {
        [Piece::Text(text)] => text.clone(),
        _ => String::new(),
    }
}

fn has_call(expr: &Expr) -> bool {
    expr.parts.iter().any(|part| match part {
        Piece::Text(text) => text.contains("str") || text.contains("fmt"),
        Piece::Expr(inner) => has_call(inner),
    })
}

fn bool(stream: &mut Stream, scope: &[Variable], depth: u32) -> Expr {
    let kind = Kind::Bool;
    let of = |stream: &mut Stream, inner: Kind| expression(stream, scope, inner, depth);
    match stream.below(9) {
        0..4 => {
            let operator = pick(stream, &["<", "<=", "==", "!=", ">", ">="]);
            let (left, right) = (of(stream, Kind::Int), of(stream, Kind::Int));
            Expr::of(kind, &format!("($ {operator} $)"), vec![left, right])
        }
        4 | 5 => {
            let operator = pick(stream, &["<", "==", "!=", ">="]);
            let (left, right) = (of(stream, Kind::Str), of(stream, Kind::Str));
            Expr::of(kind, &format!("($ {operator} $)"), vec![left, right])
        }
        6 => {
            let template = pick(stream, &["($ && $)", "($ || $)", "($ == $)"]);
            let (left, right) = (of(stream, kind), of(stream, kind));
            Expr::of(kind, template, vec![left, right])
        }
        7 => Expr::of(kind, "!$", vec![leaf(stream, scope, kind)]),
        _ => {
            let template = pick(
                stream,
                &["strings.Contains($, $)", "strings.HasPrefix($, $)", "strings.EqualFold($, $)"],
            );
            let (left, right) = (of(stream, Kind::Str), leaf(stream, scope, Kind::Str));
            Expr { constant: false, ..Expr::of(kind, template, vec![left, right]) }
        }
    }
}
