//! The variables of a clause: how often each occurs, which number it has, and where it is first.

use std::collections::BTreeMap;

use strait_calculus::{Diagnostic, Span};

use crate::ast::{Clause, Expression, ExpressionKind, Named, Otherwise, Premise};
use crate::program::Node;

/// How often each variable occurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    counts: BTreeMap<String, (u32, Named)>,
}

impl Counts {
    /// A variable that occurs once, although its name does not say that this is meant.
    pub(crate) fn single(&self) -> Option<&Named> {
        let once = self
            .counts
            .values()
            .filter(|(count, named)| *count == 1 && !named.name.starts_with('_'));
        once.map(|(_, named)| named).min_by_key(|named| named.span.start)
    }
}

/// Counts the variables of a clause.
pub(crate) fn occurrences(clause: &Clause) -> Counts {
    let mut found = Vec::new();
    variables_of(&clause.head, &mut found);
    for premise in &clause.body {
        variables_of_premise(premise, &mut found);
    }
    let mut counts = Counts::default();
    for named in found.into_iter().filter(|named| named.name != "_") {
        let entry = counts.counts.entry(named.name.clone()).or_insert((0, named));
        entry.0 += 1;
    }
    counts
}

/// All variables of a term, as often as they occur.
pub(crate) fn variables_of(term: &Expression, found: &mut Vec<Named>) {
    match &term.kind {
        ExpressionKind::Variable(name) => {
            found.push(Named { name: name.clone(), span: term.span });
        }
        ExpressionKind::Integer(_) => {}
        ExpressionKind::Compound(_, arguments) => {
            arguments.iter().for_each(|argument| variables_of(argument, found));
        }
    }
}

/// All variables of a premise and of what may take its place.
pub(crate) fn variables_of_premise(premise: &Premise, found: &mut Vec<Named>) {
    match premise {
        Premise::Plain(goal) => variables_of(goal, found),
        Premise::Labelled { goal, otherwise, .. } => {
            variables_of(goal, found);
            match otherwise {
                Otherwise::Negation => {}
                Otherwise::Differs(variable) => found.push(variable.clone()),
                Otherwise::Body(body) => {
                    body.iter().for_each(|premise| variables_of_premise(premise, found));
                }
            }
        }
    }
}

/// A term with one variable under another name.
pub(crate) fn rename(term: &Expression, from: &str, to: &str) -> Expression {
    let kind = match &term.kind {
        ExpressionKind::Variable(name) if name == from => ExpressionKind::Variable(to.to_owned()),
        ExpressionKind::Compound(name, arguments) => ExpressionKind::Compound(
            name.clone(),
            arguments.iter().map(|argument| rename(argument, from, to)).collect(),
        ),
        kind => kind.clone(),
    };
    Expression { kind, span: term.span }
}

/// Which variables have a number and a value by now.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    counts: Counts,
    numbers: BTreeMap<String, u16>,
    known: Vec<String>,
    next: usize,
}

impl Scope {
    pub(crate) fn new(counts: Counts) -> Self {
        Scope { counts, numbers: BTreeMap::new(), known: Vec::new(), next: 0 }
    }

    /// The variable at the next place of the clause.
    pub(crate) fn node(&mut self, name: &str) -> Node {
        let count = self.counts.counts.get(name).map_or(1, |(count, _)| *count);
        if name == "_" || count == 1 {
            return Node::Any;
        }
        let number = self.number(name);
        if self.is_known(name) {
            return Node::Again(number);
        }
        self.known.push(name.to_owned());
        Node::First(number)
    }

    fn number(&mut self, name: &str) -> u16 {
        let next = &mut self.next;
        *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            *next += 1;
            (*next - 1) as u16
        })
    }

    /// Gives a variable its number before it has a value.
    pub(crate) fn reserve(&mut self, name: &str) {
        if name != "_" && self.counts.counts.get(name).is_some_and(|(count, _)| *count > 1) {
            self.number(name);
        }
    }

    /// Does it have a value by now?
    pub(crate) fn is_known(&self, name: &str) -> bool {
        self.known.iter().any(|known| known == name)
    }

    /// Numbers that were given beside this scope hold here too.
    pub(crate) fn agree(&mut self, beside: &Scope) {
        debug_assert!(
            beside.numbers.iter().all(|(name, number)| {
                self.numbers.get(name).is_none_or(|known| known == number)
            })
        );
        self.next = self.next.max(beside.next);
    }

    /// How many numbers were given.
    pub(crate) fn variables(&self, span: Span) -> Result<u16, Diagnostic> {
        u16::try_from(self.next).map_err(|_| {
            Diagnostic::new("this rule has too many variables", span).hint("split it in two")
        })
    }
}
