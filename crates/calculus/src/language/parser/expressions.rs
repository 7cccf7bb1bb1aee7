//! Expressions, by precedence climbing. An operator must stand on the line where its left operand
//! ends: otherwise the statement has ended.

use super::{Parsed, Parser, shorten};
use crate::language::ast::{BinaryOp, Expr, ExprKind, MAX_DEPTH, UnaryOp};
use crate::language::diagnostic::Diagnostic;
use crate::language::lexer::TokenKind;

/// Operators with how tightly they bind.
pub(crate) const BINARY: [(&str, BinaryOp, u8); 11] = [
    ("||", BinaryOp::Or, 1),
    ("&&", BinaryOp::And, 2),
    ("==", BinaryOp::Equal, 3),
    ("!=", BinaryOp::NotEqual, 3),
    ("<", BinaryOp::Less, 4),
    ("<=", BinaryOp::LessEqual, 4),
    (">", BinaryOp::Greater, 4),
    (">=", BinaryOp::GreaterEqual, 4),
    ("+", BinaryOp::Add, 5),
    ("-", BinaryOp::Subtract, 5),
    ("*", BinaryOp::Multiply, 6),
];

impl Parser<'_, '_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.operators = 0;
        self.binary(1)
    }

    /// Left-associative operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        loop {
            let token = self.peek();
            let operator = BINARY.iter().find(|(text, ..)| *text == token.text);
            let Some((_, op, binding)) = operator.filter(|_| !token.on_new_line) else {
                return Ok(left);
            };
            if *binding < level {
                return Ok(left);
            }
            self.operators += 1;
            if self.operators > MAX_DEPTH {
                let message = format!("an expression with more than {MAX_DEPTH} operators");
                return Err(Diagnostic::new(message, token.span).hint("compute it in steps"));
            }
            self.next();
            let right = self.nested(|parser| parser.binary(binding + 1))?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(*op, Box::new(left), Box::new(right)), span };
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        let op = match self.peek().text {
            "!" => UnaryOp::Not,
            "-" if self.peek_at(1).kind == TokenKind::Integer => {
                self.next();
                let mut number = self.integer(true)?;
                number.span = start.to(number.span);
                return Ok(number);
            }
            "-" => UnaryOp::Negate,
            _ => return self.primary(),
        };
        self.next();
        let operand = self.nested(|parser| parser.unary())?;
        let span = start.to(operand.span);
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        if self.peek().kind == TokenKind::Integer {
            return self.integer(false);
        }
        self.operand_or("a value")
    }

    /// operand = NAME | "nil" | "(" expression ")": what stands after `put`, `get` and the like.
    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        self.operand_or("a channel, lock or wait group")
    }

    fn operand_or(&mut self, wanted: &str) -> Parsed<Expr> {
        let token = self.peek();
        let kind = match token.text {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "nil" => ExprKind::Nil,
            "(" => return self.parenthesised(),
            _ if token.kind == TokenKind::Word => {
                let (name, span) = self.name(wanted)?;
                let kind = ExprKind::Var(self.variable(&name, span)?);
                return Ok(Expr { kind, span });
            }
            _ => return Err(self.unexpected(wanted)),
        };
        self.next();
        Ok(Expr { kind, span: token.span })
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        let start = self.next().span;
        if self.at(")") {
            return Ok(Expr { kind: ExprKind::Unit, span: start.to(self.next().span) });
        }
        let mut inner = self.nested(|parser| parser.binary(1))?;
        inner.span = start.to(self.expect(")", "to close the parenthesis")?);
        Ok(inner)
    }

    fn integer(&mut self, negative: bool) -> Parsed<Expr> {
        let token = self.next();
        let digits: String = token.text.chars().filter(|character| *character != '_').collect();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("`{}` is no number", shorten(token.text));
            return Err(Diagnostic::new(message, token.span).hint("names start with a letter"));
        }
        let signed = if negative { format!("-{digits}") } else { digits };
        match signed.parse::<i64>() {
            Ok(value) => Ok(Expr { kind: ExprKind::Int(value), span: token.span }),
            Err(_) => {
                let message = format!("`{}` does not fit into 64 bits", shorten(&signed));
                let hint = format!("integers go from {} to {}", i64::MIN, i64::MAX);
                Err(Diagnostic::new(message, token.span).hint(hint))
            }
        }
    }
}
