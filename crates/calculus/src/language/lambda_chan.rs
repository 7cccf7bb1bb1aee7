//! λ_chan, the fragment of Stiévenart and Madsen, OOPSLA 2020: which programs lie in it, their types (Fig. 7) and their
//! effects by the rules of Fig. 9.
//!
//! In comes a program whose names are resolved; out comes its [`Typing`], or every [`Violation`].
//! The fragment has unit, boolean and channel values, rendezvous channels and no way to repeat
//! anything, so that each place that makes a channel makes one, with a static name.
//!
//! Where the language is richer than Fig. 2, this is how it is read:
//! - `x = e`, once for each variable, is `let` (T-LET); statements in a row are T-SEQ;
//! - `choose` is T-IF under a condition that nobody knows; `if` without `else` does ε otherwise;
//! - `!`, `&&`, `||`, `==` and `!=` on booleans and unit, and comparisons of integer literals, are
//!   constants of type bool with effect ε: section 5.2 of the paper writes its conditions so.
//!
//! The element type that a program writes for a channel of channels has no names in it. They are
//! found by unification: all channels sent over one channel must be one and the same.

mod names;

use std::fmt;

use crate::language::ast::{
    BinaryOp, Block, Capacity, Case, CaseOp, Expr, ExprKind, LockKind, Program, Stmt, StmtKind,
    SyncOp, Type, UnaryOp,
};
use crate::language::effect::{ChannelName, Effect, SelectEffect};
use crate::language::index::{Idx, IndexVec, VarId};
use crate::language::span::Span;
use names::{Mismatch, NameVar, Names, Ty};

/// A type of Fig. 7, with the static name of each channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChanType {
    /// unit
    Unit,
    /// bool
    Bool,
    /// channel(t, c)
    Channel(Box<ChanType>, ChannelName),
}

impl fmt::Display for ChanType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChanType::Unit => write!(formatter, "unit"),
            ChanType::Bool => write!(formatter, "bool"),
            ChanType::Channel(element, name) => write!(formatter, "channel({element}, {name})"),
        }
    }
}

/// What the rules of Fig. 9 say of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// The effect of `main`.
    pub effect: Effect,
    /// The type of each variable of `main` that is given a value.
    pub types: IndexVec<VarId, Option<ChanType>>,
    /// The variable of each channel the program makes, by its static name. An effect can also name
    /// channels beyond these: ones that would arrive over a channel on which nothing is ever sent.
    pub channels: IndexVec<ChannelName, VarId>,
}

/// Why a program is not in the fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The part of the program that is outside.
    pub span: Span,
    /// What it is and why that is outside.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.message)
    }
}

/// Decides whether a program lies in λ_chan, and gives its types and its effect if so.
pub fn check(program: &Program) -> Result<Typing, Vec<Violation>> {
    let main = &program.functions[program.main];
    let mut checker = Checker {
        program,
        types: main.variables.iter().map(|_| None).collect(),
        made: Vec::new(),
        names: Names::default(),
        violations: Vec::new(),
    };
    for (id, function) in program.functions.iter_enumerated() {
        if id != program.main {
            checker.violation(
                function.span,
                format!("function `{}`: λ_chan has no functions, only main", function.name),
            );
        }
    }
    let effect = checker.block(&main.body);
    checker.finish(effect)
}

struct Checker<'p> {
    program: &'p Program,
    /// Γ. A variable has one type for its whole life: nothing is assigned twice.
    types: IndexVec<VarId, Option<Ty>>,
    /// The variable of each channel made so far, by name.
    made: Vec<VarId>,
    names: Names,
    violations: Vec<Violation>,
}

impl Checker<'_> {
    fn violation(&mut self, span: Span, message: impl Into<String>) {
        self.violations.push(Violation { span, message: message.into() });
    }

    fn finish(mut self, effect: Effect) -> Result<Typing, Vec<Violation>> {
        if !self.violations.is_empty() {
            return Err(self.violations);
        }
        self.names.settle(self.made.len());
        let effect = self.names.resolve_effect(effect).normal_form();
        let types =
            self.types.iter().map(|ty| ty.as_ref().map(|ty| self.names.resolve(ty))).collect();
        Ok(Typing { effect, types, channels: self.made.into_iter().collect() })
    }

    /// T-SEQ: φ₁; φ₂.
    fn block(&mut self, block: &Block) -> Effect {
        block.statements.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Stmt) -> Effect {
        let span = statement.span;
        match &statement.kind {
            // T-LET: an expression of this language has effect ε, so φ₁; φ₂ is φ₂.
            StmtKind::Assign { var, value } => {
                let ty = self.expression(value);
                self.bind(*var, ty, span);
                Effect::Empty
            }
            // T-IF with effect ε for the condition.
            StmtKind::If { condition, then, otherwise } => {
                self.expect_bool(condition);
                let then = self.block(then);
                let otherwise = otherwise.as_ref().map_or(Effect::Empty, |block| self.block(block));
                Effect::Choice(vec![then, otherwise])
            }
            // T-IF with a condition that nobody knows.
            StmtKind::Choose { branches } => {
                Effect::Choice(branches.iter().map(|branch| self.block(branch)).collect())
            }
            // T-SPAWN
            StmtKind::Spawn { body, .. } => Effect::spawn(self.block(body)),
            // T-CHAN
            StmtKind::NewChannel { var, element, capacity } => {
                self.new_channel(*var, element, *capacity, span)
            }
            // T-GET
            StmtKind::Get { channel, value, ok } => match self.get(channel, *value, *ok, span) {
                Some(name) => Effect::Get(name),
                None => Effect::Empty,
            },
            // T-PUT
            StmtKind::Put { channel, value } => match self.put(channel, value, span) {
                Some(name) => Effect::Put(name),
                None => Effect::Empty,
            },
            // T-SELECT
            StmtKind::Select { cases, default } => self.select(cases, default.as_ref(), span),
            other => {
                self.violation(span, outside(other));
                self.blocks_inside(other);
                Effect::Empty
            }
        }
    }

    /// Reports what is outside within a statement that is itself outside.
    fn blocks_inside(&mut self, statement: &StmtKind) {
        if let StmtKind::While { body, .. } = statement {
            self.block(body);
        }
    }

    /// T-CHAN: `channelᶜ t` has type channel(t, c) and effect CHAN(c).
    fn new_channel(
        &mut self,
        var: VarId,
        element: &Type,
        capacity: Capacity,
        span: Span,
    ) -> Effect {
        if capacity != Capacity::Rendezvous {
            self.violation(
                span,
                format!("`{}` has a buffer: channels of λ_chan are rendezvous", self.name_of(var)),
            );
        }
        let Some(element) = self.element_type(element, span) else {
            return Effect::Empty;
        };
        let name = ChannelName::new(self.made.len());
        self.made.push(var);
        let name_var = self.names.made(name);
        self.bind(var, Some(Ty::Channel(Box::new(element), name_var)), span);
        Effect::Chan(name)
    }

    /// The type that a program writes for the messages of a channel, with unknown names.
    fn element_type(&mut self, element: &Type, span: Span) -> Option<Ty> {
        match element {
            Type::Unit => Some(Ty::Unit),
            Type::Bool => Some(Ty::Bool),
            Type::Chan(inner) => {
                let inner = self.element_type(inner, span)?;
                Some(Ty::Channel(Box::new(inner), self.names.unknown()))
            }
            Type::Int => {
                self.violation(
                    span,
                    "a channel of integers: the values of λ_chan are unit, booleans and channels",
                );
                None
            }
            Type::Mutex | Type::RwMutex | Type::WaitGroup => {
                self.violation(
                    span,
                    "a channel of locks: the values of λ_chan are unit, booleans and channels",
                );
                None
            }
        }
    }

    /// The premise of T-GET and T-SELECT-GET: the channel's name, its message bound.
    fn get(
        &mut self,
        channel: &Expr,
        value: Option<VarId>,
        ok: Option<VarId>,
        span: Span,
    ) -> Option<ChannelName> {
        if ok.is_some() {
            self.violation(
                span,
                "a get that asks whether the channel is closed: λ_chan has no close",
            );
        }
        let found = self.channel(channel);
        if let Some(value) = value {
            let element = found.as_ref().map(|(element, _)| element.clone());
            self.bind(value, element, span);
        }
        found.map(|(_, name)| name.placeholder())
    }

    /// The premise of T-PUT and T-SELECT-PUT: the channel's name, the message of its element type.
    fn put(&mut self, channel: &Expr, value: &Expr, span: Span) -> Option<ChannelName> {
        let found = self.channel(channel);
        let message = self.expression(value);
        let (element, name) = found?;
        if let Some(message) = message {
            self.unify(&element, &message, span);
        }
        Some(name.placeholder())
    }

    /// T-SELECT: φˢʳ₁ ⊕ … ⊕ φˢʳₙ.
    fn select(&mut self, cases: &[Case], default: Option<&Block>, span: Span) -> Effect {
        if let Some(default) = default {
            self.violation(
                span,
                "a select with a default: every case of λ_chan waits for a channel",
            );
            self.block(default);
        }
        if cases.is_empty() {
            self.violation(span, "a select without cases: λ_chan asks for at least one");
        }
        Effect::Select(cases.iter().filter_map(|case| self.case(case)).collect())
    }

    fn case(&mut self, case: &Case) -> Option<SelectEffect> {
        match &case.op {
            // T-SELECT-GET
            CaseOp::Get { channel, value, ok } => {
                let name = self.get(channel, *value, *ok, case.span);
                let body = self.block(&case.body);
                name.map(|name| SelectEffect::Get(name, body))
            }
            // T-SELECT-PUT
            CaseOp::Put { channel, value } => {
                let name = self.put(channel, value, case.span);
                let body = self.block(&case.body);
                name.map(|name| SelectEffect::Put(name, body))
            }
            CaseOp::Timeout => {
                self.violation(case.span, "a timeout: every case of λ_chan waits for a channel");
                self.block(&case.body);
                None
            }
        }
    }

    /// The element type and name of an expression that has to be a channel.
    fn channel(&mut self, channel: &Expr) -> Option<(Ty, NameVar)> {
        match self.expression(channel)? {
            Ty::Channel(element, name) => Some((*element, name)),
            Ty::Unit | Ty::Bool => {
                self.violation(channel.span, "this is not a channel");
                None
            }
        }
    }

    fn expect_bool(&mut self, condition: &Expr) {
        match self.expression(condition) {
            Some(Ty::Bool) | None => {}
            Some(_) => self.violation(condition.span, "a condition has to be a boolean"),
        }
    }

    /// The type of an expression; its effect is always ε. `None` when it has none, which has then
    /// been reported.
    fn expression(&mut self, expression: &Expr) -> Option<Ty> {
        let span = expression.span;
        match &expression.kind {
            // T-VAR
            ExprKind::Var(var) => self.types.get(*var).cloned().flatten().or_else(|| {
                // The reason was reported where the variable should have got its type.
                if self.violations.is_empty() {
                    let name = self.name_of(*var);
                    self.violation(span, format!("`{name}` is used before it has a value"));
                }
                None
            }),
            // T-UNIT
            ExprKind::Unit => Some(Ty::Unit),
            // T-TRUE, T-FALSE
            ExprKind::Bool(_) => Some(Ty::Bool),
            ExprKind::Int(_) => {
                self.violation(
                    span,
                    "an integer: the values of λ_chan are unit, booleans and channels",
                );
                None
            }
            ExprKind::Nil => {
                self.violation(span, "`nil`: every channel of λ_chan is made by the program");
                None
            }
            ExprKind::Unary(UnaryOp::Not, operand) => {
                self.expect_bool(operand);
                Some(Ty::Bool)
            }
            ExprKind::Unary(UnaryOp::Negate, _) => {
                self.violation(span, "arithmetic: λ_chan has no integers");
                None
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, span),
        }
    }

    fn binary(&mut self, operator: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Option<Ty> {
        match operator {
            BinaryOp::Or | BinaryOp::And => {
                self.expect_bool(left);
                self.expect_bool(right);
                Some(Ty::Bool)
            }
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
                if is_int_literal(left) && is_int_literal(right) =>
            {
                Some(Ty::Bool)
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let types = [self.expression(left)?, self.expression(right)?];
                if types.iter().any(|ty| matches!(ty, Ty::Channel(..))) {
                    self.violation(span, "channels are compared: λ_chan can only use them");
                    return None;
                }
                Some(Ty::Bool)
            }
            _ => {
                self.violation(span, "arithmetic: λ_chan has no integers");
                None
            }
        }
    }

    /// T-LET's Γ[x ↦ t].
    fn bind(&mut self, var: VarId, ty: Option<Ty>, span: Span) {
        if self.types.get(var).is_some_and(Option::is_some) {
            let name = self.name_of(var);
            self.violation(
                span,
                format!("`{name}` gets a second value: λ_chan has `let`, not assignment"),
            );
            return;
        }
        if var.position() < self.types.len() {
            self.types[var] = ty;
        }
    }

    fn unify(&mut self, expected: &Ty, found: &Ty, span: Span) {
        match self.names.unify(expected, found) {
            Ok(()) => {}
            Err(Mismatch::Names(one, other)) => {
                let (one, other) = (self.made_name(one), self.made_name(other));
                self.violation(
                    span,
                    format!(
                        "`{other}` is sent where `{one}` is sent as well: the type \
                         channel(t, c) of λ_chan names one channel"
                    ),
                );
            }
            Err(Mismatch::Types) => {
                let (found, expected) = (found.without_names(), expected.without_names());
                self.violation(
                    span,
                    format!("a message of type {found} on a channel of {expected}"),
                );
            }
        }
    }

    fn name_of(&self, var: VarId) -> String {
        let variables = &self.program.functions[self.program.main].variables;
        variables.get(var).map_or_else(|| "?".to_owned(), |variable| variable.name.to_string())
    }

    fn made_name(&self, name: ChannelName) -> String {
        self.name_of(self.made[name.position()])
    }
}

fn is_int_literal(expression: &Expr) -> bool {
    matches!(expression.kind, ExprKind::Int(_))
}

/// Why a statement has no counterpart in Fig. 2.
fn outside(statement: &StmtKind) -> &'static str {
    match statement {
        StmtKind::NewLock { kind: LockKind::WaitGroup, .. }
        | StmtKind::Add { .. }
        | StmtKind::Sync { op: SyncOp::Done | SyncOp::Wait, .. } => {
            "a wait group: processes of λ_chan meet on channels only"
        }
        StmtKind::NewLock { .. } | StmtKind::Sync { .. } => {
            "a lock: processes of λ_chan meet on channels only"
        }
        StmtKind::Close { .. } => "`close`: channels of λ_chan stay open",
        StmtKind::Abandon { .. } => "`abandon`: channels of λ_chan keep both their ends",
        StmtKind::Call { .. } => "a call: λ_chan has no functions",
        StmtKind::While { .. } | StmtKind::Break | StmtKind::Continue => {
            "a loop: λ_chan repeats nothing, so that every channel has a static name"
        }
        StmtKind::Panic { .. } => "`panic`: programs of λ_chan do not fail",
        StmtKind::Return { .. } => "`return`: λ_chan has no functions to return from",
        StmtKind::Observe { .. } => "`observe`: λ_chan only communicates",
        _ => "this statement has no counterpart in λ_chan",
    }
}
