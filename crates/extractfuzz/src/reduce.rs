//! Makes a program small: statements are deleted, blocks opened and expressions simplified as long
//! as Go still gives an answer and the verifier is still wrong in the same way.

use crate::campaign::check_programs;
use crate::error::Error;
use crate::judge::{Category, Judged};
use crate::tools::Tools;
use crate::tree::{Expr, Node, Piece, Program, Schedule};

/// Candidates that are tried at a time.
const BATCH: usize = 60;
/// Rounds, at most.
const ROUNDS: usize = 40;

/// The smallest program that is found.
pub fn reduce(tools: &Tools, judged: Judged) -> Result<Judged, Error> {
    // Without a statement that waits, a result may depend on the schedule where few runs show it.
    let concurrent = judged.program.schedule != Schedule::Sequential;
    let tools = match concurrent && judged.category != Category::WrongProof {
        true => tools.clone().with_race_detector(),
        false => tools.clone(),
    };
    let mut best = judged;
    for _ in 0..ROUNDS {
        match improve(&tools, &best)? {
            Some(better) => best = better,
            None => break,
        }
    }
    let polished = check_programs(&tools, vec![polished(&best.program)])?;
    let polished = polished.into_iter().find(|one| same_disagreement(one, &best));
    Ok(polished.unwrap_or(best))
}

/// The program without the uses `_ = x` of variables that occur in another statement. Whether Go
/// accepts it is for the compiler to say.
fn polished(program: &Program) -> Program {
    let mut words = Vec::new();
    program.body.iter().for_each(|node| collect_words(node, &mut words));
    let observed = program.observed.iter().map(|one| one.name.clone());
    words.extend(observed);
    let mut polished = program.clone();
    polished.body.iter_mut().for_each(|node| drop_uses(node, &words));
    polished
}

/// The beginning of the text that uses a variable.
const USE: &str = "; _ = ";

fn collect_words(node: &Node, words: &mut Vec<String>) {
    fn in_pieces(pieces: &[Piece], words: &mut Vec<String>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) if text.starts_with(USE) => {}
                Piece::Text(text) => {
                    // What stands before `:=` is declared and not used.
                    let used = text.split_once(" := ").map_or(text.as_str(), |(_, after)| after);
                    let used = if text.starts_with("var ") { "" } else { used };
                    let split = used.split(|char: char| !char.is_alphanumeric());
                    words.extend(split.filter(|word| !word.is_empty()).map(str::to_owned));
                }
                Piece::Expr(expr) => in_pieces(&expr.parts, words),
            }
        }
    }
    match node {
        Node::Line(pieces) => in_pieces(pieces, words),
        Node::Block { arms, end } => {
            for arm in arms {
                in_pieces(&arm.head, words);
                arm.body.iter().for_each(|node| collect_words(node, words));
            }
            in_pieces(end, words);
        }
    }
}

fn drop_uses(node: &mut Node, words: &[String]) {
    match node {
        Node::Line(pieces) => pieces.retain(|piece| {
            let Piece::Text(text) = piece else { return true };
            let Some(names) = text.strip_prefix(USE) else { return true };
            let mut names = names.split(USE).map(|name| name.trim_start_matches('&'));
            !names.all(|name| words.iter().any(|word| word == name))
        }),
        Node::Block { arms, .. } => {
            for arm in arms {
                arm.body.iter_mut().for_each(|node| drop_uses(node, words));
            }
        }
    }
}

/// A smaller program with the same disagreement, if one change makes it.
fn improve(tools: &Tools, best: &Judged) -> Result<Option<Judged>, Error> {
    let mut candidates = candidates(&best.program);
    candidates.retain(|candidate| weight(candidate) < weight(&best.program));
    candidates.sort_by_key(weight);
    for batch in candidates.chunks(BATCH) {
        let judged = check_programs(tools, batch.to_vec())?;
        let mut good: Vec<Judged> =
            judged.into_iter().filter(|one| same_disagreement(one, best)).collect();
        if good.is_empty() {
            continue;
        }
        good.sort_by_key(|one| weight(&one.program));
        return Ok(Some(good.swap_remove(0)));
    }
    Ok(None)
}

/// Whether two programs get the same wrong answer to the same question.
fn same_disagreement(one: &Judged, other: &Judged) -> bool {
    let question = |judged: &Judged| judged.wrong_question().map(std::mem::discriminant);
    one.category == other.category && question(one) == question(other)
}

/// The size of a program: statements count more than what is in them.
fn weight(program: &Program) -> usize {
    let nodes = |nodes: &[Node]| nodes.iter().map(node_weight).sum::<usize>();
    nodes(&program.top) + nodes(&program.body) + 5 * program.observed.len()
}

fn node_weight(node: &Node) -> usize {
    match node {
        Node::Line(pieces) => 20 + pieces_weight(pieces),
        Node::Block { arms, end } => {
            let arms = arms.iter().map(|arm| {
                20 + pieces_weight(&arm.head) + arm.body.iter().map(node_weight).sum::<usize>()
            });
            arms.sum::<usize>() + pieces_weight(end)
        }
    }
}

fn pieces_weight(pieces: &[Piece]) -> usize {
    let weights = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.len(),
        Piece::Expr(expr) => pieces_weight(&expr.parts),
    });
    weights.sum()
}

/// Every program that one change makes.
fn candidates(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for body in smaller_nodes(&program.body) {
        found.push(Program { body, ..program.clone() });
    }
    for top in smaller_nodes(&program.top) {
        found.push(Program { top, ..program.clone() });
    }
    for at in 0..program.observed.len() {
        let mut smaller = program.clone();
        smaller.observed.remove(at);
        found.push(smaller);
    }
    found
}

fn smaller_nodes(nodes: &[Node]) -> Vec<Vec<Node>> {
    let mut found = Vec::new();
    // Runs of statements first, so that large parts go at once.
    let mut length = nodes.len();
    while length > 0 {
        for at in (0..nodes.len()).step_by(length.max(1)) {
            let end = (at + length).min(nodes.len());
            found.push([&nodes[..at], &nodes[end..]].concat());
        }
        length /= 2;
    }
    for (at, node) in nodes.iter().enumerate() {
        let replaced = |with: Vec<Node>| [&nodes[..at], &with, &nodes[at + 1..]].concat();
        match node {
            Node::Line(pieces) => {
                let smaller = smaller_pieces(pieces).into_iter();
                found.extend(smaller.map(|pieces| replaced(vec![Node::Line(pieces)])));
            }
            Node::Block { .. } => found.extend(smaller_block(node).into_iter().map(replaced)),
        }
    }
    found
}

/// What a block can become: the statements of an arm, a block without an arm, a block with a
/// smaller arm.
fn smaller_block(node: &Node) -> Vec<Vec<Node>> {
    let Node::Block { arms, end } = node else { return Vec::new() };
    let mut found: Vec<Vec<Node>> = arms.iter().map(|arm| arm.body.clone()).collect();
    for (at, arm) in arms.iter().enumerate() {
        let with = |arm| {
            let mut arms = arms.clone();
            arms[at] = arm;
            vec![Node::Block { arms, end: end.clone() }]
        };
        if at > 0 {
            let mut fewer = arms.clone();
            fewer.remove(at);
            found.push(vec![Node::Block { arms: fewer, end: end.clone() }]);
        }
        for body in smaller_nodes(&arm.body) {
            found.push(with(crate::tree::Arm { body, ..arm.clone() }));
        }
        for head in smaller_pieces(&arm.head) {
            found.push(with(crate::tree::Arm { head, ..arm.clone() }));
        }
    }
    for end in smaller_pieces(end) {
        found.push(vec![Node::Block { arms: arms.clone(), end }]);
    }
    found
}

fn smaller_pieces(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut found = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Expr(expr) = piece else { continue };
        for smaller in smaller_expr(expr) {
            let mut pieces = pieces.to_vec();
            pieces[at] = Piece::Expr(smaller);
            found.push(pieces);
        }
    }
    found
}

/// A literal, an inner expression of the same type, or the same with a smaller inner expression.
fn smaller_expr(expr: &Expr) -> Vec<Expr> {
    let simple = expr.kind.simple().iter().map(|text| Expr::leaf(expr.kind, *text, true));
    let mut found: Vec<Expr> = simple.collect();
    let inner = expr.parts.iter().filter_map(|part| match part {
        Piece::Expr(inner) if inner.kind == expr.kind => Some(inner.clone()),
        _ => None,
    });
    found.extend(inner);
    for parts in smaller_pieces(&expr.parts) {
        found.push(Expr { parts, ..expr.clone() });
    }
    found
}
