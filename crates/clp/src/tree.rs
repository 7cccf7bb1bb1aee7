//! Terms that stand alone: what a search gives, what is printed, stored, rewritten and read again.

use std::fmt::Write as _;

use crate::ast::{Expression, ExpressionKind};
use crate::error::Error;
use crate::parser::parse_term;
use crate::program::{Program, TemplatePiece};
use crate::symbol::{Functor, Functors};

/// A term. Equal trees are equal terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tree {
    /// An integer.
    Integer(i32),
    /// A variable that nothing binds: any term may stand there.
    Free(u32),
    /// A functor with its arguments.
    Node(Functor, Vec<Tree>),
}

impl Tree {
    /// How many functors and integers it has.
    pub fn size(&self) -> usize {
        match self {
            Tree::Node(_, arguments) => 1 + arguments.iter().map(Tree::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// The elements, if it is a list.
    pub fn elements(&self) -> Option<Vec<&Tree>> {
        let (mut elements, mut rest) = (Vec::new(), self);
        loop {
            match rest {
                Tree::Node(Functors::NIL, _) => return Some(elements),
                Tree::Node(Functors::CONS, arguments) => {
                    elements.push(&arguments[0]);
                    rest = &arguments[1];
                }
                _ => return None,
            }
        }
    }

    /// The largest integer in it, -1 if there is none.
    pub fn largest_integer(&self) -> i32 {
        match self {
            Tree::Integer(value) => *value,
            Tree::Free(_) => -1,
            Tree::Node(_, arguments) => {
                arguments.iter().map(Tree::largest_integer).max().unwrap_or(-1)
            }
        }
    }

    /// Reads a term as [`Program::term_text`] writes it. Functors that the rules do not know are an
    /// error.
    pub fn parse(program: &Program, text: &str) -> Result<Tree, Error> {
        let problem =
            |problems: strait_calculus::Diagnostics| Error::Term(problems.render("term", text));
        let expression = parse_term(text).map_err(problem)?;
        tree(program, &expression)
    }
}

fn tree(program: &Program, expression: &Expression) -> Result<Tree, Error> {
    match &expression.kind {
        ExpressionKind::Integer(value) => Ok(Tree::Integer(*value)),
        ExpressionKind::Variable(name) => {
            let number = name.trim_start_matches('_').parse();
            number.map(Tree::Free).map_err(|_| {
                Error::Term(format!("`{name}` is a variable; free places are written _0, _1, …"))
            })
        }
        ExpressionKind::Compound(name, arguments) => {
            let functor = program.functors.find(name, arguments.len()).ok_or_else(|| {
                let arity = arguments.len();
                Error::Term(format!("no rule mentions `{name}` with {arity} arguments"))
            })?;
            let arguments = arguments
                .iter()
                .map(|argument| tree(program, argument))
                .collect::<Result<_, _>>()?;
            Ok(Tree::Node(functor, arguments))
        }
    }
}

impl Program {
    /// A term as text in the notation of rule files.
    pub fn term_text(&self, tree: &Tree) -> String {
        let mut text = String::new();
        self.write_term(tree, &mut text);
        text
    }

    fn write_term(&self, tree: &Tree, text: &mut String) {
        match tree {
            Tree::Integer(value) => drop(write!(text, "{value}")),
            Tree::Free(number) => drop(write!(text, "_{number}")),
            Tree::Node(Functors::CONS, arguments) => {
                text.push('[');
                self.write_term(&arguments[0], text);
                let mut rest = &arguments[1];
                while let Tree::Node(Functors::CONS, arguments) = rest {
                    text.push(',');
                    self.write_term(&arguments[0], text);
                    rest = &arguments[1];
                }
                if !matches!(rest, Tree::Node(Functors::NIL, _)) {
                    text.push('|');
                    self.write_term(rest, text);
                }
                text.push(']');
            }
            Tree::Node(functor, arguments) => {
                text.push_str(&quoted(self.functors.name(*functor)));
                let mut before = '(';
                for argument in arguments {
                    text.push(before);
                    self.write_term(argument, text);
                    before = ',';
                }
                if !arguments.is_empty() {
                    text.push(')');
                }
            }
        }
    }

    /// A term as the `syntax` statements of the rules print it; what has none is printed as a term.
    pub fn print(&self, tree: &Tree) -> String {
        let mut text = String::new();
        self.write(tree, &mut text);
        text
    }

    fn write(&self, tree: &Tree, text: &mut String) {
        let Tree::Node(functor, arguments) = tree else {
            return self.write_term(tree, text);
        };
        for template in &self.templates_by_functor[functor.0 as usize] {
            let template = &self.templates[*template as usize];
            let mut bound = vec![None; template.pattern.variables()];
            if template.pattern.matches(tree, &mut bound) {
                for piece in &template.pieces {
                    self.write_piece(piece, &bound, text);
                }
                return;
            }
        }
        if arguments.is_empty() {
            let name = self.functors.name(*functor);
            text.push_str(if name == "[]" { "" } else { name });
            return;
        }
        if let Some(elements) = tree.elements() {
            elements.into_iter().for_each(|element| self.write(element, text));
            return;
        }
        text.push_str(self.functors.name(*functor));
        let mut before = "(";
        for argument in arguments {
            text.push_str(before);
            self.write(argument, text);
            before = ", ";
        }
        text.push(')');
    }

    fn write_piece(&self, piece: &TemplatePiece, bound: &[Option<&Tree>], text: &mut String) {
        let tree = |variable: &u16| bound[usize::from(*variable)];
        match piece {
            TemplatePiece::Text(piece) => text.push_str(piece),
            TemplatePiece::Variable(variable) => {
                if let Some(tree) = tree(variable) {
                    self.write(tree, text);
                }
            }
            TemplatePiece::Term(pattern) => self.write(&pattern.instance(bound), text),
            TemplatePiece::Joined(variable, between) => {
                let elements = tree(variable).and_then(Tree::elements).unwrap_or_default();
                for (position, element) in elements.into_iter().enumerate() {
                    if position > 0 {
                        text.push_str(between);
                    }
                    self.write(element, text);
                }
            }
        }
    }
}

fn quoted(name: &str) -> String {
    let plain = name.starts_with(|char: char| char.is_ascii_lowercase())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    if plain || name == "[]" { name.to_owned() } else { format!("'{name}'") }
}

/// What a tree is compared with.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Variable(u16),
    Integer(i32),
    Node(Functor, Vec<Pattern>),
}

impl Pattern {
    /// A pattern of a rule file; its variables are numbered in `names`.
    pub(crate) fn of(
        term: &Expression,
        functors: &mut Functors,
        names: &mut Vec<String>,
    ) -> Pattern {
        match &term.kind {
            ExpressionKind::Integer(value) => Pattern::Integer(*value),
            ExpressionKind::Variable(name) => {
                let known = names.iter().position(|known| known == name && name != "_");
                let position = known.unwrap_or_else(|| {
                    names.push(name.clone());
                    names.len() - 1
                });
                Pattern::Variable(position as u16)
            }
            ExpressionKind::Compound(name, arguments) => Pattern::Node(
                functors.functor(name, arguments.len()),
                arguments.iter().map(|argument| Pattern::of(argument, functors, names)).collect(),
            ),
        }
    }

    /// The tree with these values for its variables.
    fn instance(&self, bound: &[Option<&Tree>]) -> Tree {
        match self {
            Pattern::Integer(value) => Tree::Integer(*value),
            Pattern::Variable(number) => {
                let tree = bound.get(usize::from(*number)).copied().flatten();
                tree.cloned().unwrap_or(Tree::Free(u32::from(*number)))
            }
            Pattern::Node(functor, patterns) => {
                let arguments = patterns.iter().map(|pattern| pattern.instance(bound)).collect();
                Tree::Node(*functor, arguments)
            }
        }
    }

    pub(crate) fn functor(&self) -> Option<Functor> {
        match self {
            Pattern::Node(functor, _) => Some(*functor),
            _ => None,
        }
    }

    /// How much of a tree it fixes.
    pub(crate) fn nodes(&self) -> usize {
        match self {
            Pattern::Variable(_) => 0,
            Pattern::Integer(_) => 1,
            Pattern::Node(_, arguments) => 1 + arguments.iter().map(Pattern::nodes).sum::<usize>(),
        }
    }

    /// One more than the largest number of a variable.
    pub(crate) fn variables(&self) -> usize {
        match self {
            Pattern::Variable(number) => usize::from(*number) + 1,
            Pattern::Integer(_) => 0,
            Pattern::Node(_, arguments) => {
                arguments.iter().map(Pattern::variables).max().unwrap_or(0)
            }
        }
    }

    pub(crate) fn matches<'t>(&self, tree: &'t Tree, bound: &mut [Option<&'t Tree>]) -> bool {
        match (self, tree) {
            (Pattern::Variable(number), tree) => match bound[usize::from(*number)] {
                Some(known) => known == tree,
                None => {
                    bound[usize::from(*number)] = Some(tree);
                    true
                }
            },
            (Pattern::Integer(one), Tree::Integer(other)) => one == other,
            (Pattern::Node(one, patterns), Tree::Node(other, trees)) => {
                one == other
                    && patterns
                        .iter()
                        .zip(trees)
                        .all(|(pattern, tree)| pattern.matches(tree, bound))
            }
            _ => false,
        }
    }
}
