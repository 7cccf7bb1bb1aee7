//! Text to program, by recursive descent. Names are resolved while reading; types are inferred by
//! the checker afterwards. Nesting is bounded by [`MAX_DEPTH`], so no input exhausts the stack.
//! The first mistake ends the reading.

mod expressions;
mod items;
mod statements;

pub(crate) use expressions::BINARY;

use smol_str::SmolStr;

use crate::language::ast::{Function, MAX_DEPTH, Program, Type, Variable};
use crate::language::check::check;
use crate::language::diagnostic::{Diagnostic, Diagnostics};
use crate::language::index::{FuncId, IndexVec, VarId};
use crate::language::lexer::{Token, TokenKind, tokens};
use crate::language::scope::{Scope, Sight};
use crate::language::similar::closest;
use crate::language::span::Span;

/// Words that cannot be names.
pub(crate) const KEYWORDS: [&str; 45] = [
    "fn",
    "main",
    "chan",
    "mutex",
    "rwmutex",
    "waitgroup",
    "put",
    "get",
    "close",
    "abandon",
    "select",
    "default",
    "timeout",
    "spawn",
    "if",
    "else",
    "while",
    "break",
    "continue",
    "choose",
    "or",
    "lock",
    "unlock",
    "rlock",
    "runlock",
    "add",
    "done",
    "wait",
    "panic",
    "return",
    "observe",
    "unit",
    "bool",
    "int",
    "true",
    "false",
    "nil",
    "unbounded",
    "let",
    "for",
    "go",
    "func",
    "loop",
    "match",
    "case",
];

/// Reads and checks a program.
pub fn parse(source: &str) -> Result<Program, Diagnostics> {
    let mut program = parse_unchecked(source)?;
    check(&mut program)?;
    Ok(program)
}

/// Reads a program without checking its types.
pub fn parse_unchecked(source: &str) -> Result<Program, Diagnostic> {
    let tokens = tokens(source)?;
    let mut parser = Parser {
        tokens: &tokens,
        position: 0,
        depth: 0,
        operators: 0,
        loops: 0,
        signatures: IndexVec::new(),
        variables: IndexVec::new(),
        scope: Scope::default(),
    };
    parser.program()
}

/// Reads a program from bytes that may not even be text.
pub fn parse_bytes(bytes: &[u8]) -> Result<Program, Diagnostics> {
    match std::str::from_utf8(bytes) {
        Ok(source) => parse(source),
        Err(error) => {
            let valid = error.valid_up_to();
            let line = bytes[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            let message = format!("byte {valid} (line {line}) is not UTF-8");
            let hint = "save the file as UTF-8 text";
            Err(Diagnostic::new(message, Span::NONE).hint(hint).into())
        }
    }
}

/// What is known of a function before its body is read.
struct Signature {
    name: SmolStr,
    span: Span,
}

struct Parser<'text, 'tokens> {
    tokens: &'tokens [Token<'text>],
    position: usize,
    depth: usize,
    /// How many operators the expression has so far: a chain of them is a deep tree.
    operators: usize,
    /// How many `while` surround this point within the process.
    loops: usize,
    signatures: IndexVec<FuncId, Signature>,
    /// Of the function that is being read.
    variables: IndexVec<VarId, Variable>,
    scope: Scope,
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'text> Parser<'text, '_> {
    fn peek(&self) -> Token<'text> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token<'text> {
        self.tokens[(self.position + ahead).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token<'text> {
        let token = self.peek();
        self.position = (self.position + 1).min(self.tokens.len() - 1);
        token
    }

    fn at(&self, text: &str) -> bool {
        let token = self.peek();
        token.text == text && matches!(token.kind, TokenKind::Word | TokenKind::Punctuation)
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, text: &str, context: &str) -> Parsed<Span> {
        if self.at(text) {
            return Ok(self.next().span);
        }
        Err(self.unexpected(&format!("`{text}` {context}")))
    }

    /// The error that something else was expected here.
    fn unexpected(&self, wanted: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the file ends".to_string(),
            _ => format!("found `{}`", shorten(token.text)),
        };
        Diagnostic::new(format!("expected {wanted}, {found}"), token.span)
    }

    fn name(&mut self, what: &str) -> Parsed<(SmolStr, Span)> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.unexpected(what));
        }
        check_name(token.text, token.span, what)?;
        self.next();
        Ok((token.text.into(), token.span))
    }

    /// Goes one level deeper for the duration of `inner`.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            let hint = "move the inner part into a function";
            return Err(Diagnostic::new(message, self.peek().span).hint(hint));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// The variable of a name that is read.
    fn variable(&self, name: &str, span: Span) -> Parsed<VarId> {
        if let Some(sight) = self.scope.find(name) {
            return Ok(sight.var());
        }
        let diagnostic =
            Diagnostic::new(format!("nothing is called `{}` here", shorten(name)), span);
        Err(match closest(name, self.scope.names()) {
            Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
            None => diagnostic
                .hint("a variable is visible from its first assignment to the end of that block"),
        })
    }

    /// The variable of a name that is assigned: the one in sight or a new one.
    fn assigned(&mut self, name: SmolStr, span: Span) -> Parsed<VarId> {
        match self.scope.find(&name) {
            Some(Sight::Own(var)) => Ok(var),
            Some(Sight::Copied(_)) => {
                let message = format!("`{name}` belongs to the process that spawned this block");
                let hint = "a spawned block has copies; assign to a new name, or send the value over a channel";
                Err(Diagnostic::new(message, span).hint(hint))
            }
            None => Ok(self.introduce(name, None, span)),
        }
    }

    /// A new variable whose name must not be in sight.
    fn fresh(&mut self, name: SmolStr, ty: Option<Type>, span: Span) -> Parsed<VarId> {
        if self.scope.find(&name).is_some() {
            let message = format!("`{name}` is already in sight");
            return Err(Diagnostic::new(message, span).hint("choose another name"));
        }
        Ok(self.introduce(name, ty, span))
    }

    fn introduce(&mut self, name: SmolStr, ty: Option<Type>, span: Span) -> VarId {
        let var = self.variables.push(Variable { name: name.clone(), ty, span });
        self.scope.introduce(name, var);
        var
    }
}

/// Can this word be the name of something?
pub(crate) fn check_name(word: &str, span: Span, what: &str) -> Result<(), Diagnostic> {
    let starts = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if !starts || !word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        let message = format!("`{}` is no name", shorten(word).escape_default());
        let hint = "names are made of letters, digits and `_`";
        return Err(Diagnostic::new(message, span).hint(hint));
    }
    if KEYWORDS.contains(&word) {
        let message = format!("`{word}` is a word of the language");
        return Err(Diagnostic::new(message, span).hint(format!("choose another name for {what}")));
    }
    if word == "_" {
        let message = "`_` is no name: it stands for a value that is not wanted";
        return Err(Diagnostic::new(message, span));
    }
    if word.len() > 200 {
        let message = format!("a name of {} characters", word.len());
        return Err(Diagnostic::new(message, span).hint("names have at most 200"));
    }
    Ok(())
}

/// A token as it appears in a message: never longer than a line.
fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_string();
    }
    let start: String = text.chars().take(37).collect();
    format!("{start}…")
}

impl Program {
    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<(FuncId, &Function)> {
        self.functions.iter_enumerated().find(|(_, function)| function.name == name)
    }
}
