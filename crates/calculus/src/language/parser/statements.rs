//! Blocks and statements.

use smol_str::SmolStr;

use super::{Parsed, Parser, shorten};
use crate::language::ast::{
    Block, Capacity, Case, CaseOp, Expr, LockKind, MAX_CAPACITY, Stmt, StmtKind, SyncOp, Type,
};
use crate::language::diagnostic::Diagnostic;
use crate::language::index::VarId;
use crate::language::lexer::TokenKind;
use crate::language::similar::closest;
use crate::language::span::Span;

/// The left side of a get: variable for the message, variable for ok.
type Bindings = (Option<VarId>, Option<VarId>);

/// A name on the left of `=`, `_` included, before it is known what stands on the right.
type Target = Option<(SmolStr, Span)>;

impl Parser<'_, '_> {
    /// block = "{" { statement } "}"
    pub(super) fn block(&mut self, spawned: bool) -> Parsed<Block> {
        self.block_with(spawned, |_| Ok(()))
    }

    /// A block whose scope is first prepared, for example by the variables of a select case.
    fn block_with(
        &mut self,
        spawned: bool,
        prepare: impl FnOnce(&mut Self) -> Parsed<()>,
    ) -> Parsed<Block> {
        self.scope.open(spawned);
        let result = self.nested(|parser| {
            prepare(parser)?;
            parser.braced_statements()
        });
        self.scope.close();
        result
    }

    fn braced_statements(&mut self) -> Parsed<Block> {
        let open = self.expect("{", "to start a block")?;
        let mut statements = Vec::new();
        loop {
            while self.accept(";") {}
            if self.accept("}") {
                return Ok(Block { statements });
            }
            if self.peek().kind == TokenKind::End {
                let message = "this block is never closed";
                return Err(Diagnostic::new(message, open).hint("add the missing `}`"));
            }
            statements.push(self.statement()?);
            let separated = self.at(";") || self.at("}") || self.peek().on_new_line;
            if !separated && self.peek().kind != TokenKind::End {
                return Err(self.unexpected("`;` or a line break after the statement"));
            }
        }
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.peek().span;
        let kind = self.statement_kind()?;
        let end = self.tokens[self.position.saturating_sub(1)].span;
        Ok(Stmt { kind, span: start.to(end) })
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.unexpected("a statement"));
        }
        match token.text {
            "chan" => self.new_channel(),
            "mutex" => self.new_lock(LockKind::Mutex),
            "rwmutex" => self.new_lock(LockKind::RwMutex),
            "waitgroup" => self.new_lock(LockKind::WaitGroup),
            "put" => {
                let (channel, value) = self.put()?;
                Ok(StmtKind::Put { channel, value })
            }
            "get" => {
                let channel = self.get()?;
                Ok(StmtKind::Get { channel, value: None, ok: None })
            }
            "close" => {
                self.next();
                Ok(StmtKind::Close { channel: self.operand()? })
            }
            "abandon" => {
                self.next();
                Ok(StmtKind::Abandon { channel: self.operand()? })
            }
            "select" => self.select(),
            "spawn" => self.spawn(),
            "if" => self.conditional(),
            "while" => self.while_loop(),
            "break" | "continue" => self.jump(),
            "choose" => self.choose(),
            "lock" => self.sync(SyncOp::Lock),
            "unlock" => self.sync(SyncOp::Unlock),
            "rlock" => self.sync(SyncOp::RLock),
            "runlock" => self.sync(SyncOp::RUnlock),
            "done" => self.sync(SyncOp::Done),
            "wait" => self.sync(SyncOp::Wait),
            "add" => {
                self.next();
                Ok(StmtKind::Add { group: self.operand()?, amount: self.expression()? })
            }
            "panic" => self.panic(),
            "return" => self.return_(),
            "observe" => {
                self.next();
                Ok(StmtKind::Observe { value: self.expression()? })
            }
            _ => self.assignment_or_call(),
        }
    }

    fn new_channel(&mut self) -> Parsed<StmtKind> {
        self.next();
        let (name, span) = self.name("the channel")?;
        self.expect(":", "and the type of the channel's messages")?;
        let element = self.ty()?;
        let capacity = self.capacity()?;
        let ty = Type::Chan(Box::new(element.clone()));
        let var = self.fresh(name, Some(ty), span)?;
        Ok(StmtKind::NewChannel { var, element, capacity })
    }

    fn capacity(&mut self) -> Parsed<Capacity> {
        if self.peek().on_new_line || !self.accept("[") {
            return Ok(Capacity::Rendezvous);
        }
        if self.accept("unbounded") {
            self.expect("]", "after the capacity")?;
            return Ok(Capacity::Unbounded);
        }
        let token = self.next();
        if token.kind != TokenKind::Integer {
            let message = format!("`{}` is no capacity", shorten(token.text));
            return Err(Diagnostic::new(message, token.span).hint("write a number or `unbounded`"));
        }
        let digits: String = token.text.chars().filter(|character| *character != '_').collect();
        let capacity = match digits.parse::<u32>() {
            Ok(0) => {
                let message = "a channel without a buffer is written without brackets";
                return Err(Diagnostic::new(message, token.span).hint("remove `[0]`"));
            }
            Ok(capacity) if capacity <= MAX_CAPACITY => capacity,
            _ => {
                let message = format!("capacity {} is too large", shorten(token.text));
                let hint = format!("the largest is {MAX_CAPACITY}; `unbounded` has no limit");
                return Err(Diagnostic::new(message, token.span).hint(hint));
            }
        };
        self.expect("]", "after the capacity")?;
        Ok(Capacity::Bounded(capacity))
    }

    fn new_lock(&mut self, kind: LockKind) -> Parsed<StmtKind> {
        self.next();
        let (name, span) = self.name("it")?;
        let ty = match kind {
            LockKind::Mutex => Type::Mutex,
            LockKind::RwMutex => Type::RwMutex,
            LockKind::WaitGroup => Type::WaitGroup,
        };
        let var = self.fresh(name, Some(ty), span)?;
        Ok(StmtKind::NewLock { var, kind })
    }

    fn put(&mut self) -> Parsed<(Expr, Expr)> {
        self.next();
        let channel = self.operand()?;
        if self.peek().on_new_line || self.at("}") || self.at("{") || self.at(";") {
            return Err(self
                .unexpected("the message after the channel")
                .hint("write `put c ()` for a unit message"));
        }
        Ok((channel, self.expression()?))
    }

    fn get(&mut self) -> Parsed<Expr> {
        self.next();
        self.operand()
    }

    fn sync(&mut self, op: SyncOp) -> Parsed<StmtKind> {
        self.next();
        Ok(StmtKind::Sync { op, target: self.operand()? })
    }

    fn panic(&mut self) -> Parsed<StmtKind> {
        self.next();
        let token = self.next();
        if token.kind != TokenKind::Text {
            return Err(Diagnostic::new("expected a reason in quotes after `panic`", token.span));
        }
        Ok(StmtKind::Panic { message: unescape(token.text, token.span)? })
    }

    fn return_(&mut self) -> Parsed<StmtKind> {
        self.next();
        let ends = self.peek().on_new_line || self.at(";") || self.at("}");
        let value = if ends { None } else { Some(self.expression()?) };
        Ok(StmtKind::Return { value })
    }

    fn jump(&mut self) -> Parsed<StmtKind> {
        let token = self.next();
        if self.loops == 0 {
            let message = format!("`{}` stands outside any `while`", token.text);
            return Err(
                Diagnostic::new(message, token.span).hint("`return` ends a function or process")
            );
        }
        Ok(if token.text == "break" { StmtKind::Break } else { StmtKind::Continue })
    }

    fn spawn(&mut self) -> Parsed<StmtKind> {
        self.next();
        let named = self.peek().kind == TokenKind::Word;
        let outer_loops = std::mem::take(&mut self.loops);
        let kind = if named && self.peek_at(1).text == "(" {
            let start = self.peek().span;
            self.scope.open(true);
            let call = self.nested(|parser| parser.call(None));
            self.scope.close();
            let span = start.to(self.tokens[self.position - 1].span);
            let body = Block { statements: vec![Stmt { kind: call?, span }] };
            StmtKind::Spawn { name: None, body }
        } else {
            let name = if named { Some(self.name("the process")?.0) } else { None };
            StmtKind::Spawn { name, body: self.block(true)? }
        };
        self.loops = outer_loops;
        Ok(kind)
    }

    fn conditional(&mut self) -> Parsed<StmtKind> {
        self.next();
        let condition = self.expression()?;
        let then = self.block(false)?;
        if !self.accept("else") {
            return Ok(StmtKind::If { condition, then, otherwise: None });
        }
        let otherwise = if self.at("if") {
            let statement = self.nested(|parser| {
                parser.scope.open(false);
                let statement = parser.statement();
                parser.scope.close();
                statement
            })?;
            Block { statements: vec![statement] }
        } else {
            self.block(false)?
        };
        Ok(StmtKind::If { condition, then, otherwise: Some(otherwise) })
    }

    fn while_loop(&mut self) -> Parsed<StmtKind> {
        self.next();
        let condition = self.expression()?;
        self.loops += 1;
        let body = self.block(false)?;
        self.loops -= 1;
        Ok(StmtKind::While { condition, body })
    }

    fn choose(&mut self) -> Parsed<StmtKind> {
        self.next();
        let mut branches = vec![self.block(false)?];
        while self.accept("or") {
            branches.push(self.block(false)?);
        }
        Ok(StmtKind::Choose { branches })
    }

    fn select(&mut self) -> Parsed<StmtKind> {
        self.next();
        self.expect("{", "after `select`")?;
        let (mut cases, mut default) = (Vec::new(), None);
        loop {
            while self.accept(";") {}
            if self.accept("}") {
                return Ok(StmtKind::Select { cases, default });
            }
            if self.at("default") {
                let token = self.next();
                if default.is_some() {
                    return Err(Diagnostic::new("a second `default` in one select", token.span));
                }
                default = Some(self.block(false)?);
            } else {
                cases.push(self.case()?);
            }
        }
    }

    /// case = "put" operand expression block | get block | "timeout" block
    fn case(&mut self) -> Parsed<Case> {
        let start = self.peek().span;
        if self.accept("timeout") {
            return Ok(Case { op: CaseOp::Timeout, body: self.block(false)?, span: start });
        }
        if self.at("put") {
            let (channel, value) = self.put()?;
            let op = CaseOp::Put { channel, value };
            return Ok(Case { op, body: self.block(false)?, span: start });
        }
        let targets = self.targets()?;
        if !self.at("get") {
            let hint =
                "a case is `put c x { … }`, `x = get c { … }`, `timeout { … }` or `default { … }`";
            return Err(self.unexpected("a case of the select").hint(hint));
        }
        let channel = self.get()?;
        let mut bindings = (None, None);
        let body = self.block_with(false, |parser| {
            bindings = parser.bind(targets)?;
            Ok(())
        })?;
        let (value, ok) = bindings;
        Ok(Case { op: CaseOp::Get { channel, value, ok }, body, span: start })
    }

    /// The names before `=`, if there are any: `x =`, `x, ok =`, `_, ok =`.
    fn targets(&mut self) -> Parsed<Vec<Target>> {
        if self.peek().kind != TokenKind::Word || !matches!(self.peek_at(1).text, "=" | ",") {
            return Ok(vec![]);
        }
        let mut targets = vec![self.target()?];
        if self.accept(",") {
            targets.push(self.target()?);
        }
        self.expect("=", "after the variable")?;
        Ok(targets)
    }

    fn target(&mut self) -> Parsed<Target> {
        if self.accept("_") {
            return Ok(None);
        }
        self.name("the variable").map(Some)
    }

    fn bind(&mut self, targets: Vec<Target>) -> Parsed<Bindings> {
        let mut vars = [None, None];
        for (slot, target) in vars.iter_mut().zip(targets) {
            if let Some((name, span)) = target {
                *slot = Some(self.assigned(name, span)?);
            }
        }
        let [value, ok] = vars;
        Ok((value, ok))
    }

    fn assignment_or_call(&mut self) -> Parsed<StmtKind> {
        let token = self.peek();
        match self.peek_at(1).text {
            "=" | "," => {}
            "(" => return self.call(None),
            _ => return Err(self.no_statement(token.text, token.span)),
        }
        let targets = self.targets()?;
        if self.at("get") {
            let channel = self.get()?;
            let (value, ok) = self.bind(targets)?;
            return Ok(StmtKind::Get { channel, value, ok });
        }
        if targets.len() == 2 {
            return Err(self.unexpected("`get` after two variables"));
        }
        let target = targets.into_iter().next().flatten();
        if self.peek().kind == TokenKind::Word && self.peek_at(1).text == "(" {
            return self.call(target);
        }
        let value = self.expression()?;
        match target {
            Some((name, span)) => Ok(StmtKind::Assign { var: self.assigned(name, span)?, value }),
            None => Err(Diagnostic::new("this value is computed and thrown away", value.span)
                .hint("name a variable, or remove the statement")),
        }
    }

    fn no_statement(&self, word: &str, span: Span) -> Diagnostic {
        let diagnostic = Diagnostic::new(format!("`{}` starts no statement", shorten(word)), span);
        match (word, closest(word, super::KEYWORDS[..31].iter().copied())) {
            ("let", _) => diagnostic.hint("a variable needs no `let`: write `x = …`"),
            ("for" | "loop", _) => diagnostic.hint("loops are written `while condition { … }`"),
            ("go", _) => diagnostic.hint("processes are started by `spawn { … }`"),
            ("send", _) => diagnostic.hint("messages are sent by `put c x`"),
            ("recv" | "receive", _) => diagnostic.hint("messages are received by `x = get c`"),
            (_, Some(near)) => diagnostic.hint(format!("did you mean `{near}`?")),
            _ => {
                diagnostic.hint("a statement is `x = …`, `put c x`, `x = get c`, a call `f(x)`, …")
            }
        }
    }

    fn call(&mut self, target: Target) -> Parsed<StmtKind> {
        let (name, span) = self.name("the function")?;
        let function = self.called(&name, span)?;
        self.expect("(", "before the arguments")?;
        let mut arguments = Vec::new();
        while !self.at(")") {
            arguments.push(self.expression()?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")", "after the arguments")?;
        let result = match target {
            Some((name, span)) => Some(self.assigned(name, span)?),
            None => None,
        };
        Ok(StmtKind::Call { function, arguments, result })
    }
}

/// The text between the quotes.
fn unescape(quoted: &str, span: Span) -> Parsed<SmolStr> {
    let mut text = String::new();
    let mut characters = quoted[1..quoted.len() - 1].chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some(plain @ ('"' | '\\')) => text.push(plain),
            _ => {
                let message = "an escape that is not known";
                return Err(
                    Diagnostic::new(message, span).hint("known are \\n, \\t, \\\" and \\\\")
                );
            }
        }
    }
    Ok(text.into())
}
