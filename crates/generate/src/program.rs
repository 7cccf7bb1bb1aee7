//! Program generation (Stiévenart and Madsen, OOPSLA 2020, section 5.2): an effect becomes a program that has this effect.
//!
//! 1. The effect is translated statement by statement. Where several statements have the same
//!    effect one is drawn: the condition of a choice, the order of its branches.
//! 2. Every channel of the effect is declared at the start of `main`, so that all can see it.
//! 3. The result is `main`.
//!
//! Channels are called c1, c2, …; on targets with integers every put sends a number of its own.

use strait_calculus::ast::{
    BinaryOp, Block, Capacity, Case, CaseOp, Expr, ExprKind, Stmt, StmtKind, Type, Variable,
};
use strait_calculus::{ChannelName, Effect, IndexVec, SelectEffect, Span, VarId};

use crate::draft::{Draft, numbered_name};
use crate::rules::Builder;
use crate::statements::{int, new_channel};
use crate::stream::Stream;

/// The program of an effect whose channels are those of the builder.
pub fn from_effect(builder: &mut Builder<'_>, effect: &Effect) -> Draft {
    let channels = builder.channels();
    let integers = builder.capabilities.integers;
    let element = if integers { Type::Int } else { Type::Unit };
    let mut variables = IndexVec::new();
    let mut statements = Vec::with_capacity(channels as usize + 4);
    for number in 1..=channels {
        let var = variables.push(Variable {
            name: numbered_name("c", number),
            ty: Some(Type::Chan(Box::new(element.clone()))),
            span: Span::NONE,
        });
        statements.push(new_channel(var, element.clone(), Capacity::Rendezvous));
    }
    let mut translation = Translation { stream: &mut builder.stream, integers, next_payload: 1 };
    translation.statements(effect, &mut statements);
    let next_payload = translation.next_payload;
    Draft::new(variables, statements, next_payload, integers)
}

struct Translation<'s> {
    stream: &'s mut Stream,
    integers: bool,
    next_payload: i64,
}

impl Translation<'_> {
    fn block(&mut self, effect: &Effect) -> Block {
        let length = if let Effect::Seq(parts) = effect { parts.len() } else { 1 };
        let mut statements = Vec::with_capacity(length);
        self.statements(effect, &mut statements);
        Block::new(statements)
    }

    fn statements(&mut self, effect: &Effect, out: &mut Vec<Stmt>) {
        let kind = match effect {
            Effect::Empty | Effect::Chan(_) => return,
            Effect::Seq(parts) => {
                for part in parts {
                    self.statements(part, out);
                }
                return;
            }
            Effect::Get(channel) => {
                StmtKind::Get { channel: variable(*channel).into(), value: None, ok: None }
            }
            Effect::Put(channel) => {
                StmtKind::Put { channel: variable(*channel).into(), value: self.payload() }
            }
            Effect::Spawn(body) => StmtKind::Spawn { name: None, body: self.block(body) },
            Effect::Choice(branches) => self.choice(branches),
            Effect::Select(cases) => StmtKind::Select {
                cases: cases.iter().map(|case| self.case(case)).collect(),
                default: None,
            },
        };
        out.push(kind.into());
    }

    fn case(&mut self, case: &SelectEffect) -> Case {
        let op = match case {
            SelectEffect::Get(channel, _) => {
                CaseOp::Get { channel: variable(*channel).into(), value: None, ok: None }
            }
            SelectEffect::Put(channel, _) => {
                CaseOp::Put { channel: variable(*channel).into(), value: self.payload() }
            }
        };
        Case { op, body: self.block(case.body()), span: Span::NONE }
    }

    /// A statement of effect φ₁ + φ₂: an `if` whose condition is known, or a `choose`.
    fn choice(&mut self, branches: &[Effect]) -> StmtKind {
        let mut blocks: Vec<Block> = branches.iter().map(|branch| self.block(branch)).collect();
        self.stream.shuffle(&mut blocks);
        let condition = self.stream.below(6);
        if blocks.len() != 2 || condition > 3 {
            return StmtKind::Choose { branches: blocks };
        }
        let otherwise = blocks.pop();
        let then = blocks.pop().unwrap_or_default();
        let condition = match condition {
            0 => ExprKind::Bool(true).into(),
            1 => ExprKind::Bool(false).into(),
            2 => compare_ones(BinaryOp::Equal),
            _ => compare_ones(BinaryOp::NotEqual),
        };
        StmtKind::If { condition, then, otherwise }
    }

    /// What a put sends.
    fn payload(&mut self) -> Expr {
        if !self.integers {
            return ExprKind::Unit.into();
        }
        self.next_payload += 1;
        int(self.next_payload - 1)
    }
}

/// `1 == 1`, `1 != 1`
fn compare_ones(operator: BinaryOp) -> Expr {
    let one = || Box::new(int(1));
    ExprKind::Binary(operator, one(), one()).into()
}

/// The variable that holds a channel: they are declared in the order of their names.
fn variable(channel: ChannelName) -> VarId {
    VarId(channel.0)
}
