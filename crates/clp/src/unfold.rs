//! Calls of what has one clause and does nothing but name a term or a built-in goal, replaced by that:
//! `add(X, T, G, New)` with `add(X, T, G, [bind(X, T)|G])` becomes the list wherever `New` stands. The
//! search then has fewer steps, and what is known before it reaches further.
//!
//! Rules come in that were found to be right, and mean the same when they come out.

use std::collections::BTreeMap;

use crate::ast::{Clause, Expression, ExpressionKind, Premise, Statement};
use crate::builtin;
use crate::scope::{variables_of, variables_of_premise};

type Key = (String, usize);

/// Unfolds what can be in all files together.
pub(crate) fn unfold(files: &mut [Vec<Statement>]) {
    let simple = simple(files);
    let mut numbers = 0;
    for statement in files.iter_mut().flatten() {
        if let Statement::Clause(clause) = statement {
            unfold_clause(clause, &simple, &mut numbers);
        }
    }
}

fn key(term: &Expression) -> Option<Key> {
    match &term.kind {
        ExpressionKind::Compound(name, arguments) => Some((name.clone(), arguments.len())),
        _ => None,
    }
}

/// Predicates with one clause whose body is at most one built-in goal.
fn simple(files: &[Vec<Statement>]) -> BTreeMap<Key, Clause> {
    let mut clauses: BTreeMap<Key, Vec<&Clause>> = BTreeMap::new();
    let mut sized = Vec::new();
    for statement in files.iter().flatten() {
        match statement {
            Statement::Clause(clause) => {
                if let Some(key) = key(&clause.head) {
                    clauses.entry(key).or_default().push(clause);
                }
            }
            Statement::Sized(names) => {
                sized.extend(names.iter().map(|(named, arity, _)| (named.name.clone(), *arity)));
            }
            _ => {}
        }
    }
    let is_builtin = |premise: &Premise| match premise {
        Premise::Plain(goal) => {
            key(goal).is_some_and(|(name, arity)| builtin::find(&name, arity).is_some())
        }
        Premise::Labelled { .. } => false,
    };
    let is_simple = |clause: &Clause| {
        clause.name.is_none()
            && clause.cost.unwrap_or(0) == 0
            && clause.body.len() <= 1
            && clause.body.iter().all(is_builtin)
    };
    let only = clauses.into_iter().filter_map(|(key, clauses)| match clauses.as_slice() {
        [clause] if is_simple(clause) && !sized.contains(&key) => Some((key, (*clause).clone())),
        _ => None,
    });
    only.collect()
}

fn unfold_clause(clause: &mut Clause, simple: &BTreeMap<Key, Clause>, numbers: &mut u32) {
    let mut waiting = std::mem::take(&mut clause.body);
    waiting.reverse();
    while let Some(premise) = waiting.pop() {
        let called = match &premise {
            Premise::Plain(goal) => key(goal).and_then(|key| Some((goal, simple.get(&key)?))),
            Premise::Labelled { .. } => None,
        };
        let inlined = called.and_then(|(goal, callee)| {
            *numbers += 1;
            Inlining::new(goal, callee, *numbers).inlined(goal, callee)
        });
        let Some((bindings, body)) = inlined else {
            clause.body.push(premise);
            continue;
        };
        for (name, term) in bindings {
            match place_of(clause, &body, &waiting, &name) {
                Place::Nowhere => {}
                Place::Ahead(place) => put(&mut waiting[place], &name, term),
                Place::Several => clause.body.push(equal(&name, term)),
            }
        }
        clause.body.extend(body);
    }
}

/// Where a variable that becomes a term stands besides.
enum Place {
    Nowhere,
    /// Once, in a plain premise that is still ahead.
    Ahead(usize),
    Several,
}

fn place_of(clause: &Clause, body: &[Premise], waiting: &[Premise], name: &str) -> Place {
    let occurs = |premises: &[Premise]| premises.iter().map(|one| count(one, name)).sum::<usize>();
    let behind = occurs(&clause.body) + occurs(body) + usize::from(has(&clause.head, name));
    let ahead = waiting.iter().position(|premise| count(premise, name) > 0);
    match ahead {
        None if behind == 0 => Place::Nowhere,
        Some(place)
            if behind == 0
                && occurs(waiting) == 1
                && matches!(waiting[place], Premise::Plain(_)) =>
        {
            Place::Ahead(place)
        }
        _ => Place::Several,
    }
}

fn put(premise: &mut Premise, name: &str, term: Expression) {
    if let Premise::Plain(goal) = premise {
        *goal = replaced(goal, &BTreeMap::from([(name.to_owned(), term)]));
    }
}

/// The goal that says what a variable is.
fn equal(name: &str, term: Expression) -> Premise {
    let span = term.span;
    let variable = Expression { kind: ExpressionKind::Variable(name.to_owned()), span };
    let kind = ExpressionKind::Compound("=".to_owned(), vec![variable, term]);
    Premise::Plain(Expression { kind, span })
}

fn count(premise: &Premise, name: &str) -> usize {
    let mut found = Vec::new();
    variables_of_premise(premise, &mut found);
    found.iter().filter(|named| named.name == name).count()
}

/// What the variables of a called clause are.
struct Inlining {
    /// Behind the names of its variables, so that they are nobody else's.
    number: u32,
    formals: BTreeMap<String, Expression>,
    /// Variables of the caller, and the terms of the head that they are.
    bindings: Vec<(String, Expression)>,
    /// How often each variable of the called clause occurs in it.
    counts: BTreeMap<String, usize>,
}

type Inlined = (Vec<(String, Expression)>, Vec<Premise>);

impl Inlining {
    fn new(goal: &Expression, callee: &Clause, number: u32) -> Self {
        let mut found = Vec::new();
        variables_of(&callee.head, &mut found);
        callee.body.iter().for_each(|premise| variables_of_premise(premise, &mut found));
        let mut counts = BTreeMap::new();
        for named in found {
            *counts.entry(named.name).or_insert(0) += 1;
        }
        debug_assert_eq!(key(goal), key(&callee.head));
        Inlining { number, formals: BTreeMap::new(), bindings: Vec::new(), counts }
    }

    /// `None` if the call is better left alone.
    fn inlined(mut self, goal: &Expression, callee: &Clause) -> Option<Inlined> {
        let (ExpressionKind::Compound(_, actuals), ExpressionKind::Compound(_, formals)) =
            (&goal.kind, &callee.head.kind)
        else {
            return None;
        };
        for (formal, actual) in formals.iter().zip(actuals) {
            self.pass(formal, actual).then_some(())?;
        }
        let bindings: Vec<(String, Expression)> = std::mem::take(&mut self.bindings)
            .into_iter()
            .map(|(name, term)| (name, self.own(&term)))
            .collect();
        // A variable that is bound twice, or that the other terms are made of, is a matter of order.
        for (place, (name, _)) in bindings.iter().enumerate() {
            let others = bindings.iter().enumerate().filter(|(other, _)| *other != place);
            let is_bound_again = others.clone().any(|(_, (other, _))| other == name);
            let is_part = bindings.iter().any(|(_, term)| has(term, name));
            if is_bound_again || is_part {
                return None;
            }
        }
        let body = callee.body.iter().filter_map(|premise| match premise {
            Premise::Plain(goal) => Some(Premise::Plain(self.own(goal))),
            Premise::Labelled { .. } => None,
        });
        Some((bindings, body.collect()))
    }

    /// Matches a term of the head with an argument of the call.
    fn pass(&mut self, formal: &Expression, actual: &Expression) -> bool {
        match (&formal.kind, &actual.kind) {
            (ExpressionKind::Variable(name), _) if name == "_" => true,
            (ExpressionKind::Variable(name), kind) => {
                // What is built twice costs more than a call; what is nobody's variable has to become
                // somebody's.
                let often = self.counts.get(name).copied().unwrap_or(0);
                let fits = match kind {
                    ExpressionKind::Variable(actual) => actual != "_" || often == 1,
                    ExpressionKind::Integer(_) => true,
                    ExpressionKind::Compound(_, parts) => parts.is_empty() || often <= 2,
                };
                let is_first = self.formals.insert(name.clone(), actual.clone()).is_none();
                fits && is_first
            }
            (_, ExpressionKind::Variable(name)) => {
                if name != "_" {
                    self.bindings.push((name.clone(), formal.clone()));
                }
                name != "_"
            }
            (ExpressionKind::Integer(one), ExpressionKind::Integer(other)) => one == other,
            (ExpressionKind::Compound(one, formals), ExpressionKind::Compound(other, actuals)) => {
                one == other
                    && formals.len() == actuals.len()
                    && formals.iter().zip(actuals).all(|(formal, actual)| self.pass(formal, actual))
            }
            _ => false,
        }
    }

    /// A term of the called clause in terms of the caller.
    fn own(&self, term: &Expression) -> Expression {
        let kind = match &term.kind {
            ExpressionKind::Variable(name) if name == "_" => term.kind.clone(),
            ExpressionKind::Variable(name) => match self.formals.get(name) {
                Some(actual) => return actual.clone(),
                None => ExpressionKind::Variable(format!("{name} {}", self.number)),
            },
            ExpressionKind::Integer(value) => ExpressionKind::Integer(*value),
            ExpressionKind::Compound(name, arguments) => {
                let arguments = arguments.iter().map(|argument| self.own(argument)).collect();
                ExpressionKind::Compound(name.clone(), arguments)
            }
        };
        Expression { kind, span: term.span }
    }
}

fn has(term: &Expression, name: &str) -> bool {
    let mut found = Vec::new();
    variables_of(term, &mut found);
    found.iter().any(|named| named.name == name)
}

fn replaced(term: &Expression, bound: &BTreeMap<String, Expression>) -> Expression {
    match &term.kind {
        ExpressionKind::Variable(name) => bound.get(name).unwrap_or(term).clone(),
        ExpressionKind::Integer(_) => term.clone(),
        ExpressionKind::Compound(name, arguments) => {
            let arguments = arguments.iter().map(|argument| replaced(argument, bound)).collect();
            Expression { kind: ExpressionKind::Compound(name.clone(), arguments), span: term.span }
        }
    }
}
