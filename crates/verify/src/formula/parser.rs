//! Tokens to a formula. Weakest first: fixpoints (as far to the right as possible), `=>`, `||`,
//! `&&`, then `!` and modalities. Nesting is bounded, so that recursion is.

use strait_calculus::Span;

use super::label::ACTIONS;
use super::lexer::{Token, tokens};
use super::{Formula, Pattern, Regular, StateFormula, Steps};

/// What is wrong with a formula, and where.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{message}")]
pub struct FormulaError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
}

impl FormulaError {
    pub(crate) fn new(message: impl Into<String>, span: Span) -> FormulaError {
        FormulaError { message: message.into(), span }
    }

    /// The error with its line and a caret below it.
    pub fn render(&self, file: &str, text: &str) -> String {
        let (line, column) = self.span.line_column(text);
        let shown = text.lines().nth(line - 1).unwrap_or_default();
        let margin = " ".repeat(line.to_string().len());
        let below = " ".repeat(column - 1);
        let marked = text.get(self.span.start as usize..self.span.end as usize);
        let carets = "^".repeat(marked.map_or(1, |marked| marked.chars().count().max(1)));
        format!(
            "error: {}\n{margin}--> {file}:{line}:{column}\n{margin} |\n{line} | {shown}\n{margin} | {below}{carets}",
            self.message
        )
    }
}

/// How deep formulas may nest.
const DEEPEST: usize = 200;

/// Reads a formula.
pub fn parse(text: &str) -> Result<Formula, FormulaError> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0, scope: Vec::new() };
    let root = parser.formula()?;
    match parser.peek() {
        Token::End => Ok(Formula { root }),
        _ => Err(parser.unexpected("the end of the formula")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    next: usize,
    depth: usize,
    /// The variables in sight, each with whether it was bound under an odd number of negations.
    scope: Vec<String>,
}

type Parsed<T> = Result<T, FormulaError>;

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn span(&self) -> Span {
        self.tokens[self.next].1
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(found) if *found == mark)
    }

    fn accept(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.accept(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> FormulaError {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end".into(),
        };
        FormulaError::new(format!("expected {wanted}, found {found}"), self.span())
    }

    fn word(&mut self, wanted: &str) -> Parsed<String> {
        match self.peek().clone() {
            Token::Word(word) => {
                self.next += 1;
                Ok(word)
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    /// Goes one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("formulas may nest at most {DEEPEST} deep");
            return Err(FormulaError::new(message, self.span()));
        }
        let found = inner(self);
        self.depth -= 1;
        found
    }

    fn formula(&mut self) -> Parsed<StateFormula> {
        self.nested(|parser| {
            let left = parser.disjunction()?;
            if parser.accept("=>") {
                let right = parser.formula()?;
                return Ok(StateFormula::Implies(Box::new(left), Box::new(right)));
            }
            Ok(left)
        })
    }

    fn disjunction(&mut self) -> Parsed<StateFormula> {
        let mut left = self.conjunction()?;
        while self.accept("||") {
            left = StateFormula::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<StateFormula> {
        let mut left = self.prefixed()?;
        while self.accept("&&") {
            left = StateFormula::And(Box::new(left), Box::new(self.prefixed()?));
        }
        Ok(left)
    }

    fn prefixed(&mut self) -> Parsed<StateFormula> {
        self.nested(|parser| {
            if parser.accept("!") {
                return Ok(StateFormula::Not(Box::new(parser.prefixed()?)));
            }
            if parser.accept("[") {
                let regular = parser.regular()?;
                parser.expect("]")?;
                return Ok(StateFormula::Box(regular, Box::new(parser.prefixed()?)));
            }
            if parser.accept("<") {
                let regular = parser.regular()?;
                parser.expect(">")?;
                return Ok(StateFormula::Diamond(regular, Box::new(parser.prefixed()?)));
            }
            if parser.accept("(") {
                let inner = parser.formula()?;
                parser.expect(")")?;
                return Ok(inner);
            }
            parser.atom()
        })
    }

    fn atom(&mut self) -> Parsed<StateFormula> {
        let span = self.span();
        let wanted = "a formula (`true`, `[…]`, `<…>`, `mu`, `nu`, a variable)";
        let word = self.word(wanted)?;
        match word.as_str() {
            "true" => Ok(StateFormula::Constant(true)),
            "false" => Ok(StateFormula::Constant(false)),
            "mu" | "nu" => self.fixpoint(word == "nu"),
            "forall" | "exists" | "val" | "delay" | "yaled" => Err(FormulaError::new(
                format!("`{word}` of mCRL2 is not there: steps carry no data"),
                span,
            )),
            _ if self.scope.contains(&word) => Ok(StateFormula::Variable(word)),
            _ => {
                let message = format!("`{word}` is not bound by `mu {word}.` or `nu {word}.`");
                Err(FormulaError::new(message, span))
            }
        }
    }

    fn fixpoint(&mut self, greatest: bool) -> Parsed<StateFormula> {
        let span = self.span();
        let variable = self.word("a variable")?;
        if matches!(variable.as_str(), "true" | "false" | "mu" | "nu") {
            return Err(FormulaError::new(format!("`{variable}` is no variable"), span));
        }
        self.expect(".")?;
        self.scope.push(variable.clone());
        let body = Box::new(self.formula()?);
        self.scope.pop();
        let mut positive = true;
        occurs_negatively(&body, &variable, true, &mut positive);
        if !positive {
            let message = format!("`{variable}` occurs under an odd number of negations");
            return Err(FormulaError::new(message, span));
        }
        Ok(StateFormula::Fixpoint { greatest, variable, body })
    }

    fn regular(&mut self) -> Parsed<Regular> {
        self.nested(|parser| {
            let mut left = parser.sequence()?;
            while parser.accept("+") {
                left = Regular::Either(Box::new(left), Box::new(parser.sequence()?));
            }
            Ok(left)
        })
    }

    fn sequence(&mut self) -> Parsed<Regular> {
        let mut left = self.repeated()?;
        while self.accept(".") {
            left = Regular::Sequence(Box::new(left), Box::new(self.repeated()?));
        }
        Ok(left)
    }

    fn repeated(&mut self) -> Parsed<Regular> {
        let mut inner = if self.is("(") { self.bracketed()? } else { self.step()? };
        loop {
            if self.accept("*") {
                inner = inner.star();
            } else if self.is("+") && self.ends_operand(self.next + 1) {
                self.next += 1;
                inner = inner.plus();
            } else {
                return Ok(inner);
            }
        }
    }

    /// After a `+`: does no operand follow, so that the `+` means repetition?
    fn ends_operand(&self, position: usize) -> bool {
        match &self.tokens[position].0 {
            Token::Mark(mark) => matches!(*mark, "]" | ">" | ")" | "." | "+" | "*"),
            Token::End => true,
            Token::Word(_) => false,
        }
    }

    /// A bracket holds either steps, with `&&` or `||` to follow, or sequences of them.
    fn bracketed(&mut self) -> Parsed<Regular> {
        let start = self.next;
        if let Ok(steps) = self.steps()
            && !matches!(self.peek(), Token::Mark("+" | "." | "*"))
        {
            return Ok(Regular::Step(steps));
        }
        self.next = start;
        self.expect("(")?;
        let inner = self.regular()?;
        self.expect(")")?;
        Ok(inner)
    }

    fn step(&mut self) -> Parsed<Regular> {
        self.steps().map(Regular::Step)
    }

    fn steps(&mut self) -> Parsed<Steps> {
        self.nested(|parser| {
            let mut left = parser.steps_and()?;
            while parser.accept("||") {
                left = Steps::Or(Box::new(left), Box::new(parser.steps_and()?));
            }
            if parser.accept("=>") {
                let right = parser.steps()?;
                left = Steps::Or(Box::new(Steps::Not(Box::new(left))), Box::new(right));
            }
            Ok(left)
        })
    }

    fn steps_and(&mut self) -> Parsed<Steps> {
        let mut left = self.steps_not()?;
        while self.accept("&&") {
            left = Steps::And(Box::new(left), Box::new(self.steps_not()?));
        }
        Ok(left)
    }

    fn steps_not(&mut self) -> Parsed<Steps> {
        self.nested(|parser| {
            if parser.accept("!") {
                return Ok(Steps::Not(Box::new(parser.steps_not()?)));
            }
            if parser.accept("(") {
                let inner = parser.steps()?;
                parser.expect(")")?;
                return Ok(inner);
            }
            parser.pattern()
        })
    }

    fn pattern(&mut self) -> Parsed<Steps> {
        let span = self.span();
        let name = self.word("an action such as `send(c)` or `true`")?;
        match name.as_str() {
            "true" => return Ok(Steps::All(true)),
            "false" => return Ok(Steps::All(false)),
            _ => {}
        }
        if !ACTIONS.iter().any(|(known, _)| *known == name) {
            let names: Vec<&str> = ACTIONS.iter().map(|(known, _)| *known).collect();
            let message = format!("there is no action `{name}`; there are {}", names.join(", "));
            return Err(FormulaError::new(message, span));
        }
        let mut arguments = Vec::new();
        if self.accept("(") {
            loop {
                arguments.push(self.argument()?);
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        let place = if self.accept("@") { Some(self.place()?) } else { None };
        Ok(Steps::Pattern(Pattern { name, arguments, place }))
    }

    /// The name of an object or process, such as `main.1`, `(*Server).loop#2` or `ctx.Done()`: all that
    /// stands together, up to a comma or the end of the arguments.
    fn argument(&mut self) -> Parsed<String> {
        if !matches!(self.peek(), Token::Word(_)) && !self.is("(") {
            return Err(self.unexpected("the name of an object or process"));
        }
        let start = self.span().start;
        let (mut end, mut open) = (start, 0);
        while self.span().start == end && *self.peek() != Token::End {
            match self.peek() {
                Token::Mark("," | ")" | "]") if open == 0 => break,
                Token::Mark("(" | "[") => open += 1,
                Token::Mark(")" | "]") => open -= 1,
                _ => {}
            }
            end = self.span().end;
            self.next += 1;
        }
        Ok(self.text[start as usize..end as usize].to_owned())
    }

    /// `main.1` is one name.
    fn dotted(&mut self, wanted: &str) -> Parsed<String> {
        let mut name = self.word(wanted)?;
        while self.is(".") || self.is("-") {
            name.push_str(if self.accept(".") { "." } else { "-" });
            self.next += usize::from(name.ends_with('-'));
            name.push_str(&self.word("the rest of the name")?);
        }
        Ok(name)
    }

    /// `12` or `main.go:12`.
    fn place(&mut self) -> Parsed<String> {
        let first = self.dotted("a line, such as `12` or `main.go:12`")?;
        if !self.accept(":") {
            return Ok(first);
        }
        let line = self.word("a line number")?;
        Ok(format!("{first}:{line}"))
    }
}

/// Looks for an occurrence of the variable under an odd number of negations.
fn occurs_negatively(formula: &StateFormula, name: &str, sign: bool, positive: &mut bool) {
    match formula {
        StateFormula::Constant(_) => {}
        StateFormula::Variable(variable) => *positive &= sign || variable != name,
        StateFormula::Not(inner) => occurs_negatively(inner, name, !sign, positive),
        StateFormula::And(left, right) | StateFormula::Or(left, right) => {
            occurs_negatively(left, name, sign, positive);
            occurs_negatively(right, name, sign, positive);
        }
        StateFormula::Implies(left, right) => {
            occurs_negatively(left, name, !sign, positive);
            occurs_negatively(right, name, sign, positive);
        }
        StateFormula::Box(_, inner) | StateFormula::Diamond(_, inner) => {
            occurs_negatively(inner, name, sign, positive);
        }
        StateFormula::Fixpoint { variable, body, .. } if variable != name => {
            occurs_negatively(body, name, sign, positive);
        }
        StateFormula::Fixpoint { .. } => {}
    }
}
