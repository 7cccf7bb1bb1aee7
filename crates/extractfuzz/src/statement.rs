//! Random statements that change the variables in scope: what fills `$body` and `$pure`.

use crate::expand::Draft;
use crate::expression::{Variable, expression, pick};
use crate::tree::{Arm, Expr, Kind, Node, Piece};

/// A few random statements.
pub fn statements(draft: &mut Draft<'_>, most: u32) -> Vec<Node> {
    let count = draft.stream.between(1, most);
    (0..count).map(|_| statement(draft)).collect()
}

fn statement(draft: &mut Draft<'_>) -> Node {
    if draft.depth == 0 {
        return assignment(draft);
    }
    draft.depth -= 1;
    let node = match draft.stream.below(10) {
        0..5 => assignment(draft),
        5 | 6 => condition(draft),
        7 => counted_loop(draft),
        8 => switch(draft),
        _ => closure(draft),
    };
    draft.depth += 1;
    node
}

fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

fn random(draft: &mut Draft<'_>, kind: Kind) -> Expr {
    expression(draft.stream, &draft.scope, kind, draft.expressions)
}

fn assignment(draft: &mut Draft<'_>) -> Node {
    let kinds = [Kind::Int, Kind::Int, Kind::Str, Kind::Bool];
    let kind = kinds[draft.stream.position(kinds.len())];
    let known = draft.scope.iter().any(|variable| variable.kind == kind);
    let kind = if known { kind } else { Kind::Int };
    let variable = draft.assignable(kind);
    let Some(Piece::Text(name)) = variable.parts.first().cloned() else {
        return Node::Line(Vec::new());
    };
    let mut value = random(draft, kind);
    let operator = match kind {
        Kind::Int => pick(draft.stream, &["=", "+=", "-=", "^=", "="]),
        // A string that is only replaced cannot grow in a loop.
        _ => "=",
    };
    if operator != "=" && value.constant {
        value = Expr::leaf(kind, "1", true);
    }
    let operator = if name == "_" { "=" } else { operator };
    Node::Line(vec![text(format!("{name} {operator} ")), Piece::Expr(value)])
}

fn scoped(draft: &mut Draft<'_>, extra: Option<Variable>) -> Vec<Node> {
    let length = draft.scope.len();
    draft.scope.extend(extra);
    let nodes = statements(draft, 2);
    draft.scope.truncate(length);
    nodes
}

fn condition(draft: &mut Draft<'_>) -> Node {
    let test = random(draft, Kind::Bool);
    let head = vec![text("if "), Piece::Expr(test), text(" {")];
    let mut arms = vec![Arm { head, body: scoped(draft, None) }];
    if draft.stream.flip() {
        arms.push(Arm { head: vec![text("} else {")], body: scoped(draft, None) });
    }
    Node::Block { arms, end: vec![text("}")] }
}

/// A loop over a fresh variable that its body cannot change.
fn counted_loop(draft: &mut Draft<'_>) -> Node {
    let (name, rounds) = (draft.fresh("i"), draft.stream.between(1, 4));
    let head = match draft.stream.flip() {
        true => format!("for {name} := range {rounds} {{"),
        false => format!("for {name} := 0; {name} < {rounds}; {name}++ {{"),
    };
    let mut body = vec![Node::Line(vec![text(format!("_ = {name}"))])];
    if draft.stream.chance(1, 3) {
        let (test, word) = (random(draft, Kind::Bool), pick(draft.stream, &["break", "continue"]));
        let head = vec![text("if "), Piece::Expr(test), text(" {")];
        let arm = Arm { head, body: vec![Node::Line(vec![text(word)])] };
        body.push(Node::Block { arms: vec![arm], end: vec![text("}")] });
    }
    // The counter is read through a copy, since every variable in scope may be assigned.
    let copy = draft.fresh("j");
    body.push(Node::Line(vec![text(format!("{copy} := {name}; _ = {copy}"))]));
    body.extend(scoped(draft, Some(Variable { name: copy, kind: Kind::Int })));
    Node::Block { arms: vec![Arm { head: vec![text(head)], body }], end: vec![text("}")] }
}

fn switch(draft: &mut Draft<'_>) -> Node {
    let subject = random(draft, Kind::Int);
    let head = vec![text("switch "), Piece::Expr(subject), text(" & 3 {")];
    let mut arms = vec![Arm { head, body: Vec::new() }];
    for case in ["case 0:", "case 1, 2:"] {
        let mut body = scoped(draft, None);
        if draft.stream.chance(1, 4) {
            body.push(Node::Line(vec![text("fallthrough")]));
        }
        arms.push(Arm { head: vec![text(case)], body });
    }
    arms.push(Arm { head: vec![text("default:")], body: scoped(draft, None) });
    Node::Block { arms, end: vec![text("}")] }
}

fn closure(draft: &mut Draft<'_>) -> Node {
    let arm = Arm { head: vec![text("func() {")], body: scoped(draft, None) };
    Node::Block { arms: vec![arm], end: vec![text("}()")] }
}
