//! Fills the holes of a gadget: a gadget, the variables in scope and random numbers come in,
//! statements go out. Every variable that a statement declares is also used, as Go demands.

use strait_generate::Stream;

use crate::expression::{Variable, expression, literal, pick};
use crate::statement;
use crate::template::Gadget;
use crate::tree::{Arm, Expr, Kind, Node, Piece, Program};

/// A program in the making.
pub struct Draft<'a> {
    /// Random numbers.
    pub stream: &'a mut Stream,
    /// The program so far.
    pub program: &'a mut Program,
    /// The variables that expressions may read and statements may assign.
    pub scope: Vec<Variable>,
    /// How many fresh names were given.
    pub names: &'a mut u32,
    /// How deep statements may still be nested.
    pub depth: u32,
    /// How deep random expressions are.
    pub expressions: u32,
}

impl Draft<'_> {
    /// A name that no other variable has.
    pub fn fresh(&mut self, name: &str) -> String {
        *self.names += 1;
        format!("{name}{}", self.names)
    }

    /// Statements of the gadget; its results come into scope, and its top-level lines into the
    /// program.
    pub fn expand(&mut self, gadget: &Gadget) -> Vec<Node> {
        let mut names = Names::default();
        let mut lines = Lines { lines: &gadget.top, at: 0 };
        let top = self.nodes(&mut lines, &mut names, true);
        self.program.top.extend(top);
        let mut lines = Lines { lines: &gadget.body, at: 0 };
        let body = self.nodes(&mut lines, &mut names, false);
        for (kind, name) in &gadget.results {
            let name = self.name(&mut names, name, false);
            self.scope.push(Variable { name, kind: *kind });
        }
        body
    }

    fn name(&mut self, names: &mut Names, name: &str, top: bool) -> String {
        if let Some((_, known)) = names.known.iter().find(|(one, _)| one == name) {
            return known.clone();
        }
        let mut fresh = self.fresh(name);
        if top {
            fresh.push('§');
        }
        names.known.push((name.into(), fresh.clone()));
        fresh
    }

    /// The statements up to the end, or up to a line that closes a block.
    fn nodes(&mut self, lines: &mut Lines<'_>, names: &mut Names, top: bool) -> Vec<Node> {
        let mut nodes = Vec::new();
        while let Some(line) = lines.peek() {
            if line.starts_with('}') || is_case(line) {
                break;
            }
            lines.at += 1;
            if line == "$body" {
                nodes.extend(statement::statements(self, 2));
            } else if let Some(name) = line.strip_prefix("$pure @") {
                let name = self.name(names, name, false);
                nodes.extend(self.pure(name));
            } else if line.ends_with('{') {
                nodes.push(self.block(line, lines, names, top));
            } else {
                let mut pieces = self.pieces(line, names);
                if !top {
                    pieces.extend(self.uses(line, names));
                }
                nodes.push(Node::Line(pieces));
            }
        }
        nodes
    }

    fn block(&mut self, head: &str, lines: &mut Lines<'_>, names: &mut Names, top: bool) -> Node {
        let head = self.pieces(head, names);
        let mut arms = vec![Arm { head, body: self.nodes(lines, names, top) }];
        while let Some(line) = lines.peek() {
            lines.at += 1;
            let opens = is_case(line) || line.starts_with('}') && line.ends_with('{');
            let pieces = self.pieces(line, names);
            if !opens {
                return Node::Block { arms, end: pieces };
            }
            arms.push(Arm { head: pieces, body: self.nodes(lines, names, top) });
        }
        Node::Block { arms, end: vec![Piece::Text("}".into())] }
    }

    /// Statements that see one variable only.
    fn pure(&mut self, name: String) -> Vec<Node> {
        let variable = Variable { name, kind: Kind::Int };
        let outer = std::mem::replace(&mut self.scope, vec![variable]);
        let nodes = statement::statements(self, 1);
        self.scope = outer;
        nodes
    }

    /// `; _ = x` for every variable that the line declares.
    fn uses(&mut self, line: &str, names: &mut Names) -> Option<Piece> {
        let declared = match line.strip_prefix("var ") {
            Some(rest) => rest.split([' ', '=']).next()?,
            None => line.split_once(" := ")?.0,
        };
        let mut text = String::new();
        for name in declared.split(", ") {
            if name == "_" {
                continue;
            }
            let name = name.strip_prefix('@')?;
            if !name.chars().all(char::is_alphanumeric) {
                return None;
            }
            let name = self.name(names, name, false);
            text.push_str(&format!("; _ = {}{name}", address(line)));
        }
        Some(Piece::Text(text))
    }

    /// A line with its holes filled.
    fn pieces(&mut self, line: &str, names: &mut Names) -> Vec<Piece> {
        let line = self.alternatives(line);
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = line.as_str();
        while let Some(at) = rest.find(['$', '@']) {
            text.push_str(&rest[..at]);
            let (sigil, after) = (&rest[at..=at], &rest[at + 1..]);
            let top = sigil == "@" && after.starts_with('@');
            let after = if top { &after[1..] } else { after };
            let end = after.find(|char: char| !char.is_ascii_alphanumeric());
            let (word, after) = after.split_at(end.unwrap_or(after.len()));
            if sigil == "@" {
                text.push_str(&self.name(names, word, top));
            } else {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Expr(self.hole(word)));
            }
            rest = after;
        }
        text.push_str(rest);
        pieces.push(Piece::Text(text));
        pieces
    }

    /// Takes one alternative of each `«a¦b»`. They are not nested.
    fn alternatives(&mut self, line: &str) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('«') {
            let Some((inside, after)) = after.split_once('»') else { break };
            let choices: Vec<&str> = inside.split('¦').collect();
            out.push_str(before);
            out.push_str(pick(self.stream, &choices));
            rest = after;
        }
        out + rest
    }

    /// What fills the hole of this name.
    fn hole(&mut self, name: &str) -> Expr {
        let sized = |name: &str| {
            let (sign, bits) = name.split_at(1);
            let full = if sign == "i" { format!("int{bits}") } else { format!("uint{bits}") };
            Kind::of_go(&full)
        };
        match name {
            "i" => expression(self.stream, &self.scope, Kind::Int, self.expressions),
            "j" => self.variable_int(),
            "s" => expression(self.stream, &self.scope, Kind::Str, self.expressions),
            "b" => expression(self.stream, &self.scope, Kind::Bool, self.expressions),
            "k" => Expr::leaf(Kind::Int, self.stream.below(4).to_string(), true),
            "n" => Expr::leaf(Kind::Int, self.stream.between(1, 4).to_string(), true),
            "c" => literal(self.stream, Kind::Int),
            "q" => literal(self.stream, Kind::Str),
            "vi" => self.assignable(Kind::Int),
            "vs" => self.assignable(Kind::Str),
            "vb" => self.assignable(Kind::Bool),
            _ => match sized(name) {
                Some(kind) => expression(self.stream, &self.scope, kind, self.expressions + 1),
                None => Expr::leaf(Kind::Int, format!("${name}"), true),
            },
        }
    }

    /// A random int expression that Go does not compute at compile time.
    fn variable_int(&mut self) -> Expr {
        let expr = expression(self.stream, &self.scope, Kind::Int, self.expressions);
        if expr.constant { self.assignable(Kind::Int) } else { expr }
    }

    /// A variable of this type; the blank one where there is none.
    pub fn assignable(&mut self, kind: Kind) -> Expr {
        let variables: Vec<&Variable> = self.scope.iter().filter(|one| one.kind == kind).collect();
        match variables.is_empty() {
            true => Expr::leaf(kind, "_", false),
            false => {
                Expr::leaf(kind, &variables[self.stream.position(variables.len())].name, false)
            }
        }
    }
}

/// Values that hold a lock are used by their address, so that `go vet` sees no copy.
fn address(line: &str) -> &'static str {
    let locks = ["sync.", "atomic."];
    if line.starts_with("var ") && locks.iter().any(|lock| line.contains(lock)) { "&" } else { "" }
}

fn is_case(line: &str) -> bool {
    line.ends_with(':') && (line.starts_with("case ") || line == "default:")
}

/// The fresh names that a gadget's own names stand for.
#[derive(Default)]
struct Names {
    known: Vec<(String, String)>,
}

/// The lines of a gadget that are still to be read.
struct Lines<'a> {
    lines: &'a [String],
    at: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).map(String::as_str)
    }
}
