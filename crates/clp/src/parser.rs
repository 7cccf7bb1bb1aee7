//! Tokens to statements, by recursive descent with bounded depth. The first thing that is wrong in a
//! statement is reported; reading goes on behind the dot that ends it.

use strait_calculus::{Diagnostic, Diagnostics, Span};

use crate::ast::{Clause, Expression, ExpressionKind, Named, Otherwise, Piece, Premise, Statement};
use crate::lexer::{Token, tokens};

/// How deep terms may be nested.
const DEEPEST: usize = 200;
/// After so many errors nobody reads on.
const MOST_ERRORS: usize = 20;

const KEYWORDS: [&str; 9] =
    ["about", "needs", "start", "sized", "open", "label", "rule", "syntax", "rewrite"];

/// Reads a rule file.
pub(crate) fn parse(source: &str) -> Result<Vec<Statement>, Diagnostics> {
    let tokens = tokens(source)?;
    let mut parser = Parser { tokens, position: 0, depth: 0 };
    let (mut statements, mut problems) = (Vec::new(), Vec::new());
    while *parser.peek() != Token::End {
        match parser.statement() {
            Ok(statement) => statements.push(statement),
            Err(problem) => {
                problems.push(problem);
                if problems.len() >= MOST_ERRORS {
                    break;
                }
                parser.skip_statement();
            }
        }
    }
    if problems.is_empty() { Ok(statements) } else { Err(Diagnostics(problems)) }
}

/// Reads one term and nothing else.
pub(crate) fn parse_term(source: &str) -> Result<Expression, Diagnostics> {
    let mut parser = Parser { tokens: tokens(source)?, position: 0, depth: 0 };
    let term = parser.term()?;
    match parser.peek() {
        Token::End => Ok(term),
        other => {
            let message = format!("expected the end of the term, found {}", other.describe());
            Err(Diagnostic::new(message, parser.span()).into())
        }
    }
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    position: usize,
    depth: usize,
}

type Read<T> = Result<T, Diagnostic>;

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.position].0
    }

    fn peek_second(&self) -> &Token {
        &self.tokens[(self.position + 1).min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.position].1
    }

    fn next(&mut self) -> (Token, Span) {
        let token = self.tokens[self.position].clone();
        self.position = (self.position + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, text: &str) -> bool {
        matches!(self.peek(), Token::Punctuation(found) if *found == text)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if found == word)
    }

    fn accept(&mut self, text: &str) -> bool {
        let accepted = self.is(text);
        if accepted {
            self.next();
        }
        accepted
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let accepted = self.is_word(word);
        if accepted {
            self.next();
        }
        accepted
    }

    fn wrong<T>(&self, expected: &str) -> Read<T> {
        let message = format!("expected {expected}, found {}", self.peek().describe());
        Err(Diagnostic::new(message, self.span()))
    }

    fn expect(&mut self, text: &'static str) -> Read<()> {
        if self.accept(text) { Ok(()) } else { self.wrong(&format!("`{text}`")) }
    }

    fn stop(&mut self) -> Read<()> {
        if *self.peek() == Token::Stop {
            self.next();
            return Ok(());
        }
        let wrong: Read<()> = self.wrong("`.` at the end of the statement");
        wrong.map_err(|problem| {
            problem.hint("goals are separated by `,` and a statement ends with `.`")
        })
    }

    fn skip_statement(&mut self) {
        while !matches!(self.peek(), Token::Stop | Token::End) {
            self.next();
        }
        if *self.peek() == Token::Stop {
            self.next();
        }
    }

    fn name(&mut self, what: &str) -> Read<Named> {
        match self.next() {
            (Token::Name(name), span) => Ok(Named { name, span }),
            (other, span) => {
                let message = format!("expected {what}, found {}", other.describe());
                Err(Diagnostic::new(message, span).hint("names begin with a lower-case letter"))
            }
        }
    }

    fn variable(&mut self, what: &str) -> Read<Named> {
        match self.next() {
            (Token::Variable(name), span) => Ok(Named { name, span }),
            (other, span) => {
                let message = format!("expected {what}, found {}", other.describe());
                Err(Diagnostic::new(message, span).hint("variables begin with a capital letter"))
            }
        }
    }

    fn text(&mut self) -> Read<String> {
        match self.next() {
            (Token::Text(text), _) => Ok(text),
            (other, span) => {
                let message = format!("expected a text, found {}", other.describe());
                Err(Diagnostic::new(message, span).hint("texts stand between double quotes"))
            }
        }
    }

    fn number(&mut self, what: &str) -> Read<i32> {
        match self.next() {
            (Token::Integer(value), _) => Ok(value),
            (other, span) => {
                let message = format!("expected {what}, found {}", other.describe());
                Err(Diagnostic::new(message, span))
            }
        }
    }

    fn statement(&mut self) -> Read<Statement> {
        let keyword = match (self.peek(), self.peek_second()) {
            (Token::Name(_), Token::Punctuation("(" | ":-") | Token::Stop) => None,
            (Token::Name(name), _) => KEYWORDS.into_iter().find(|keyword| keyword == name),
            _ => None,
        };
        let statement = match keyword {
            None => Statement::Clause(self.clause(None, 1, None)?),
            Some(keyword) => {
                self.next();
                self.declaration(keyword)?
            }
        };
        self.stop()?;
        Ok(statement)
    }

    fn declaration(&mut self, keyword: &str) -> Read<Statement> {
        match keyword {
            "about" => Ok(Statement::About(self.text()?)),
            "needs" => Ok(Statement::Needs(self.separated(|parser| parser.name("a file's name"))?)),
            "start" => {
                let goal = self.term()?;
                if !self.accept_word("shows") {
                    let wrong: Read<Statement> = self.wrong("`shows`");
                    return wrong.map_err(|problem| {
                        problem.hint(
                            "start GOAL shows TERM. says which part of the goal is the program",
                        )
                    });
                }
                Ok(Statement::Start { goal, shown: self.term()? })
            }
            "sized" => Ok(Statement::Sized(self.separated(Parser::sized)?)),
            "open" => Ok(Statement::Open(self.separated(Parser::indicator)?)),
            "label" => self.label(),
            "rule" => self.rule(),
            "syntax" => self.syntax(),
            _ => self.rewrite(),
        }
    }

    /// `NAME/ARITY` or `NAME/ARITY below SIZE`
    fn sized(&mut self) -> Read<(Named, usize, Option<u32>)> {
        let (name, arity) = self.indicator()?;
        let bound = match self.accept_word("below") {
            true => Some(self.number("a size")?.unsigned_abs()),
            false => None,
        };
        Ok((name, arity, bound))
    }

    /// `NAME/ARITY`
    fn indicator(&mut self) -> Read<(Named, usize)> {
        let name = self.name("a predicate")?;
        self.expect("/")?;
        Ok((name, self.number("its number of arguments")?.unsigned_abs() as usize))
    }

    fn separated<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = vec![read(self)?];
        while self.accept(",") {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// `label NAME, NAME weight W`
    fn label(&mut self) -> Read<Statement> {
        let names = self.separated(|parser| parser.name("a label"))?;
        if !self.accept_word("weight") {
            let wrong: Read<Statement> = self.wrong("`weight`");
            return wrong.map_err(|problem| problem.hint("label NAME, NAME weight 2."));
        }
        Ok(Statement::Label { names, weight: self.number("a weight")?.unsigned_abs() })
    }

    fn rule(&mut self) -> Read<Statement> {
        let name = self.name("the rule's name")?;
        let (mut weight, mut cost) = (1, None);
        loop {
            if self.accept_word("weight") {
                weight = self.number("a weight")?.unsigned_abs();
            } else if self.accept_word("cost") {
                cost = Some(self.number("a cost")?.unsigned_abs());
            } else {
                break;
            }
        }
        if !self.accept(":") {
            let wrong: Read<Statement> = self.wrong("`:` behind the rule's name");
            return wrong.map_err(|problem| {
                problem.hint("rule NAME: HEAD :- BODY. or rule NAME weight 3 cost 2: HEAD :- BODY.")
            });
        }
        Ok(Statement::Clause(self.clause(Some(name), weight, cost)?))
    }

    fn clause(&mut self, name: Option<Named>, weight: u32, cost: Option<u32>) -> Read<Clause> {
        let head = self.term()?;
        let body = if self.accept(":-") { self.body()? } else { Vec::new() };
        Ok(Clause { name, weight, cost, head, body })
    }

    fn body(&mut self) -> Read<Vec<Premise>> {
        self.separated(Parser::premise)
    }

    fn premise(&mut self) -> Read<Premise> {
        if !self.accept("@") {
            return Ok(Premise::Plain(self.goal()?));
        }
        let label = self.name("the premise's label")?;
        let goal = self.goal()?;
        let otherwise = if !self.accept_word("otherwise") {
            Otherwise::Negation
        } else if self.accept_word("differs") {
            Otherwise::Differs(self.variable("the variable that differs")?)
        } else {
            self.expect("(")?;
            let body = self.body()?;
            self.expect(")")?;
            Otherwise::Body(body)
        };
        Ok(Premise::Labelled { label, goal, otherwise })
    }

    /// A goal: a term, or two terms with an operator between them.
    fn goal(&mut self) -> Read<Expression> {
        let start = self.span();
        if self.accept("\\+") {
            let goal = self.deeper(Parser::goal)?;
            let span = start.to(goal.span);
            return Ok(compound("\\+", vec![goal], span));
        }
        let left = self.sum()?;
        if self.accept_word("in") {
            let low = self.sum()?;
            self.expect("..")?;
            let high = self.sum()?;
            let span = start.to(high.span);
            return Ok(compound("in", vec![left, low, high], span));
        }
        let operators = ["=", "\\=", "#=", "#\\=", "#=<", "#<", "#>=", "#>"];
        match operators.into_iter().find(|operator| self.is(operator)) {
            None => Ok(left),
            Some(operator) => {
                self.next();
                let right = self.sum()?;
                let span = start.to(right.span);
                Ok(compound(operator, vec![left, right], span))
            }
        }
    }

    fn sum(&mut self) -> Read<Expression> {
        let mut left = self.term()?;
        while let Some(operator) = ["+", "-"].into_iter().find(|operator| self.is(operator)) {
            self.next();
            let right = self.term()?;
            let span = left.span.to(right.span);
            left = compound(operator, vec![left, right], span);
        }
        Ok(left)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Diagnostic::new("this is nested too deeply", self.span())
                .hint(format!("at most {DEEPEST} levels are read")));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn term(&mut self) -> Read<Expression> {
        let (token, span) = self.next();
        match token {
            Token::Variable(name) => Ok(Expression { kind: ExpressionKind::Variable(name), span }),
            Token::Integer(value) => Ok(Expression { kind: ExpressionKind::Integer(value), span }),
            Token::Punctuation("-") => {
                let value = self.number("a number behind `-`")?;
                Ok(Expression { kind: ExpressionKind::Integer(-value), span })
            }
            Token::Punctuation("[") => self.deeper(|parser| parser.list(span)),
            Token::Name(name) => {
                if !self.is("(") {
                    return Ok(compound(&name, Vec::new(), span));
                }
                self.next();
                let arguments = self.deeper(|parser| parser.separated(Parser::goal))?;
                let end = self.span();
                if !self.accept(")") {
                    let wrong: Read<Expression> = self.wrong("`,` or `)`");
                    return wrong.map_err(|problem| {
                        problem.hint(format!("the arguments of `{name}` begin with `(`"))
                    });
                }
                Ok(compound(&name, arguments, span.to(end)))
            }
            other => {
                let message = format!("expected a term, found {}", other.describe());
                Err(Diagnostic::new(message, span)
                    .hint("a term is a Variable, a number, a name, name(arguments) or [a list]"))
            }
        }
    }

    fn list(&mut self, start: Span) -> Read<Expression> {
        let mut elements = Vec::new();
        let mut tail = compound("[]", Vec::new(), start);
        if !self.is("]") {
            elements = self.separated(Parser::goal)?;
            if self.accept("|") {
                tail = self.goal()?;
            }
        }
        let end = self.span();
        self.expect("]")?;
        let list = elements.into_iter().rev().fold(tail, |rest, element| {
            let span = element.span;
            compound(".", vec![element, rest], span)
        });
        Ok(Expression { span: start.to(end), ..list })
    }

    fn syntax(&mut self) -> Read<Statement> {
        let pattern = self.term()?;
        self.expect("=")?;
        let mut pieces = Vec::new();
        while *self.peek() != Token::Stop {
            match self.peek() {
                Token::Text(_) => pieces.push(Piece::Text(self.text()?)),
                Token::Name(_) => pieces.push(Piece::Term(self.term()?)),
                Token::Variable(_) => {
                    let variable = self.variable("a variable")?;
                    pieces.push(if self.accept("*") {
                        Piece::Joined(variable, self.text()?)
                    } else {
                        Piece::Variable(variable)
                    });
                }
                _ => {
                    let wrong: Read<Statement> = self.wrong("a text, a variable, a term or `.`");
                    return wrong.map_err(|problem| {
                        problem.hint("syntax pair(A, B) = \"(\" A \", \" B \")\". and LIST*\", \" joins a list")
                    });
                }
            }
        }
        Ok(Statement::Syntax { pattern, pieces })
    }

    fn rewrite(&mut self) -> Read<Statement> {
        let name = self.name("the rewrite's name")?;
        self.expect(":")?;
        let from = self.term()?;
        self.expect("=>")?;
        let to = self.term()?;
        let guard = if self.accept_word("when") { self.body()? } else { Vec::new() };
        Ok(Statement::Rewrite { name, from, to, guard })
    }
}

fn compound(name: &str, arguments: Vec<Expression>, span: Span) -> Expression {
    Expression { kind: ExpressionKind::Compound(name.to_owned(), arguments), span }
}
