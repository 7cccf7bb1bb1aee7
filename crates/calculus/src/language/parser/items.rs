//! Functions, `main` and types.

use smol_str::SmolStr;

use super::{Parsed, Parser, Signature, shorten};
use crate::language::ast::{Function, Program, Type};
use crate::language::diagnostic::Diagnostic;
use crate::language::index::{FuncId, IndexVec};
use crate::language::lexer::TokenKind;
use crate::language::scope::Scope;
use crate::language::similar::closest;
use crate::language::span::Span;

impl Parser<'_, '_> {
    /// program = { function | "main" block }
    pub(super) fn program(&mut self) -> Parsed<Program> {
        self.collect_signatures()?;
        let mut functions = IndexVec::new();
        while self.peek().kind != TokenKind::End {
            if self.accept(";") {
                continue;
            }
            functions.push(self.function()?);
        }
        let main =
            self.signatures.iter_enumerated().find(|(_, signature)| signature.name == "main");
        match main {
            Some((main, _)) => Ok(Program { functions, main }),
            None => Err(Diagnostic::new("there is no `main`", self.peek().span)
                .hint("a program starts at `main { … }`")),
        }
    }

    /// Finds the names of all functions first, so that they may call each other in any order.
    fn collect_signatures(&mut self) -> Parsed<()> {
        let mut level = 0usize;
        for (position, token) in self.tokens.iter().enumerate() {
            match token.text {
                "{" if token.kind == TokenKind::Punctuation => level += 1,
                "}" if token.kind == TokenKind::Punctuation => level = level.saturating_sub(1),
                "main" if level == 0 => self.declare("main".into(), token.span)?,
                "fn" if level == 0 => {
                    let name = self.tokens[(position + 1).min(self.tokens.len() - 1)];
                    if name.kind == TokenKind::Word && name.text != "main" {
                        self.declare(name.text.into(), name.span)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn declare(&mut self, name: SmolStr, span: Span) -> Parsed<()> {
        if self.signatures.iter().any(|known| known.name == name) {
            let message = format!("there are two functions called `{}`", shorten(&name));
            let one = "a program has one `main`; move the rest into functions";
            let hint = if name == "main" { one } else { "rename one of them" };
            return Err(Diagnostic::new(message, span).hint(hint));
        }
        self.signatures.push(Signature { name, span });
        Ok(())
    }

    fn function(&mut self) -> Parsed<Function> {
        self.variables = IndexVec::new();
        self.scope = Scope::default();
        self.loops = 0;
        let start = self.peek().span;
        if self.accept("main") {
            let body = self.block(false)?;
            let variables = std::mem::take(&mut self.variables);
            let name = "main".into();
            return Ok(Function {
                name,
                params: vec![],
                result: Type::Unit,
                variables,
                body,
                span: start,
            });
        }
        if !self.accept("fn") {
            let hint = "statements stand inside `main { … }` or `fn name() { … }`";
            return Err(self.unexpected("`fn` or `main`").hint(hint));
        }
        if self.at("main") {
            return Err(self
                .unexpected("the function's name")
                .hint("the entry is written `main { … }`, without `fn`"));
        }
        let (name, name_span) = self.name("the function")?;
        let params = self.params()?;
        let result = if self.accept(":") { self.ty()? } else { Type::Unit };
        let body = self.block(false)?;
        let variables = std::mem::take(&mut self.variables);
        Ok(Function { name, params, result, variables, body, span: start.to(name_span) })
    }

    fn params(&mut self) -> Parsed<Vec<crate::language::index::VarId>> {
        self.expect("(", "after the function's name")?;
        let mut params = Vec::new();
        while !self.at(")") {
            let (name, span) = self.name("a parameter")?;
            self.expect(":", "and the parameter's type")?;
            let ty = self.ty()?;
            params.push(self.fresh(name, Some(ty), span)?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")", "after the parameters")?;
        Ok(params)
    }

    /// The function of a name that is called.
    pub(super) fn called(&self, name: &str, span: Span) -> Parsed<FuncId> {
        let found = self.signatures.iter_enumerated().find(|(_, signature)| signature.name == name);
        if let Some((function, _)) = found {
            return Ok(function);
        }
        let diagnostic = Diagnostic::new(format!("there is no function `{}`", shorten(name)), span);
        let known = self.signatures.iter().map(|signature| signature.name.as_str());
        Err(match closest(name, known) {
            Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
            None => diagnostic.hint(format!("write `fn {}(…) {{ … }}`", shorten(name))),
        })
    }

    /// type = "unit" | "bool" | "int" | "mutex" | "rwmutex" | "waitgroup" | "chan" type
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        const TYPES: [(&str, Type); 6] = [
            ("unit", Type::Unit),
            ("bool", Type::Bool),
            ("int", Type::Int),
            ("mutex", Type::Mutex),
            ("rwmutex", Type::RwMutex),
            ("waitgroup", Type::WaitGroup),
        ];
        if self.accept("chan") {
            return self.nested(|parser| Ok(Type::Chan(Box::new(parser.ty()?))));
        }
        for (word, ty) in TYPES {
            if self.accept(word) {
                return Ok(ty);
            }
        }
        let hint = "types are unit, bool, int, mutex, rwmutex, waitgroup and `chan TYPE`";
        Err(self.unexpected("a type").hint(hint))
    }
}

impl std::fmt::Debug for Signature {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} at {:?}", self.name, self.span)
    }
}
