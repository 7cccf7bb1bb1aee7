//! Statements to a [`Program`]: names become numbers, every variable knows where it occurs first, and
//! what cannot be meant is reported with its place.

use std::collections::BTreeMap;

use strait_calculus::{Diagnostic, Diagnostics, Span};

use crate::analyse::analyse;
use crate::ast::{self, Expression, ExpressionKind, Named, Otherwise, Piece, Premise, Statement};
use crate::builtin;
use crate::error::{Error, Source};
use crate::parser::parse;
use crate::program::{
    Action, Clause, ClauseId, Goal, LABEL_WEIGHT, NEVER, Negated, Node, Predicate, PredicateId,
    Program, Rewrite, Template, TemplatePiece,
};
use crate::scope::{Scope, occurrences};
use crate::symbol::{Functor, Functors};
use crate::tree::Pattern;
use crate::unfold::unfold;

/// Compiles rule files into one set of rules.
pub fn compile(sources: &[Source]) -> Result<Program, Error> {
    let mut compiler = Compiler::new();
    let mut files = Vec::new();
    for source in sources {
        let fail = |problems: Diagnostics| Error::rules(source, &problems);
        let statements = parse(&source.text).map_err(fail)?;
        compiler.read(statements.clone()).map_err(fail)?;
        files.push(statements);
    }
    let last = sources.last().cloned().unwrap_or_default();
    for (position, source) in sources.iter().enumerate() {
        let mut problems = compiler.undefined(position as u32);
        problems.extend(compiler.unknown_labels(position as u32));
        if !problems.is_empty() {
            return Err(Error::rules(source, &Diagnostics(problems)));
        }
    }
    let fail = |problem| Error::rules(&last, &Diagnostics(vec![problem]));
    let program = compiler.finish().map_err(fail)?;
    // What the rules say is in order; now for what is searched.
    unfold(&mut files);
    let mut compiler = Compiler { is_checked: true, ..Compiler::new() };
    let unfolded = files.into_iter().try_for_each(|statements| compiler.read(statements));
    match unfolded {
        Ok(()) => compiler.finish().map_err(fail),
        // A rule that becomes too large stays as it is.
        Err(_) => Ok(program),
    }
}

pub(crate) struct Compiler {
    pub(crate) functors: Functors,
    predicates: Vec<Predicate>,
    by_functor: BTreeMap<Functor, PredicateId>,
    clauses: Vec<Clause>,
    labels: Vec<String>,
    templates: Vec<Template>,
    rewrites: Vec<Rewrite>,
    start: Option<PredicateId>,
    about: String,
    open: Vec<Functor>,
    /// Calls, to be checked when everything is read: file, predicate, place.
    calls: Vec<(u32, Functor, Span)>,
    /// Weights of labels, with the file that gives them.
    weights: Vec<(u32, Named, u32)>,
    files: u32,
    auxiliary: u32,
    /// Was everything looked at before? Then variables may occur once that once occurred twice.
    is_checked: bool,
}

type Checked<T> = Result<T, Diagnostic>;

impl Compiler {
    fn new() -> Self {
        Compiler {
            functors: Functors::new(),
            predicates: Vec::new(),
            by_functor: BTreeMap::new(),
            clauses: Vec::new(),
            labels: Vec::new(),
            templates: Vec::new(),
            rewrites: Vec::new(),
            start: None,
            about: String::new(),
            open: Vec::new(),
            calls: Vec::new(),
            weights: Vec::new(),
            files: 0,
            auxiliary: 0,
            is_checked: false,
        }
    }

    fn read(&mut self, statements: Vec<Statement>) -> Result<(), Diagnostics> {
        let mut problems = Vec::new();
        for statement in statements {
            if let Err(problem) = self.statement(statement) {
                problems.push(problem);
            }
        }
        self.files += 1;
        if problems.is_empty() { Ok(()) } else { Err(Diagnostics(problems)) }
    }

    fn statement(&mut self, statement: Statement) -> Checked<()> {
        match statement {
            Statement::About(text) => {
                if self.about.is_empty() {
                    self.about = text;
                }
            }
            // Whoever gathers the files has looked at it.
            Statement::Needs(_) => {}
            Statement::Start { goal, shown } => self.start(goal, shown)?,
            Statement::Sized(names) => {
                for (name, arity, bound) in names {
                    let functor = self.functors.functor(&name.name, arity);
                    let predicate = self.predicate(functor);
                    let predicate = &mut self.predicates[predicate.0 as usize];
                    predicate.is_sized = true;
                    predicate.below = bound.unwrap_or(NEVER);
                    self.calls.push((self.files, functor, name.span));
                }
            }
            Statement::Open(names) => {
                for (name, arity) in names {
                    let functor = self.functors.functor(&name.name, arity);
                    self.predicate(functor);
                    self.open.push(functor);
                }
            }
            Statement::Label { names, weight } => {
                let weights = names.into_iter().map(|name| (self.files, name, weight));
                self.weights.extend(weights);
            }
            Statement::Clause(clause) => {
                self.clause(&clause)?;
            }
            Statement::Syntax { pattern, pieces } => self.syntax(&pattern, pieces)?,
            Statement::Rewrite { name, from, to, guard } => self.rewrite(&name, from, to, guard)?,
        }
        Ok(())
    }

    fn predicate(&mut self, functor: Functor) -> PredicateId {
        if let Some(predicate) = self.by_functor.get(&functor) {
            return *predicate;
        }
        let id = PredicateId(self.predicates.len() as u32);
        self.predicates.push(Predicate {
            functor,
            clauses: Vec::new(),
            is_sized: false,
            below: NEVER,
            reaches: false,
            has_weights: false,
        });
        self.by_functor.insert(functor, id);
        id
    }

    fn start(&mut self, goal: Expression, shown: Expression) -> Checked<()> {
        if self.start.is_some() {
            return Err(Diagnostic::new("there is a `start` already", goal.span)
                .hint("one of the files that are combined says where to start"));
        }
        let span = goal.span;
        let kind = ExpressionKind::Compound("$start".to_owned(), vec![shown]);
        let head = Expression { kind, span };
        let body = vec![Premise::Plain(goal)];
        // A variable of the goal that is not shown is normal here.
        self.start = Some(self.auxiliary_clause(head, body, true)?);
        Ok(())
    }

    fn auxiliary_clause(
        &mut self,
        head: Expression,
        body: Vec<Premise>,
        allow_single: bool,
    ) -> Checked<PredicateId> {
        let clause = ast::Clause { name: None, weight: 1, cost: Some(0), head, body };
        self.compile_clause(&clause, allow_single)
    }

    fn clause(&mut self, clause: &ast::Clause) -> Checked<()> {
        self.compile_clause(clause, self.is_checked).map(|_| ())
    }

    fn compile_clause(&mut self, clause: &ast::Clause, allow_single: bool) -> Checked<PredicateId> {
        let ExpressionKind::Compound(name, arguments) = &clause.head.kind else {
            return Err(Diagnostic::new("a rule's head is name(arguments)", clause.head.span)
                .hint("names begin with a lower-case letter, variables with a capital"));
        };
        if builtin::find(name, arguments.len()).is_some() {
            let message = format!("`{name}/{}` is built in", arguments.len());
            return Err(Diagnostic::new(message, clause.head.span).hint("choose another name"));
        }
        let counts = occurrences(clause);
        if let Some(single) = counts.single().filter(|_| !allow_single) {
            let message = format!("`{}` occurs only once", single.name);
            return Err(Diagnostic::new(message, single.span)
                .hint(format!("write `_{}` if that is meant", single.name)));
        }
        let mut scope = Scope::new(counts);
        let functor = self.functors.functor(name, arguments.len());
        let head: Box<[Node]> =
            arguments.iter().map(|argument| self.node(argument, &mut scope)).collect();
        let keys = head.iter().map(key).collect();
        let body: Vec<Goal> = clause
            .body
            .iter()
            .map(|premise| self.premise(premise, &mut scope))
            .collect::<Checked<_>>()?;
        let predicate = self.predicate(functor);
        let is_plain = clause.weight == 1;
        let id = ClauseId(self.clauses.len() as u32);
        self.clauses.push(Clause {
            name: clause.name.as_ref().map(|name| name.name.as_str().into()),
            weight: clause.weight,
            cost: clause.cost.unwrap_or(u32::MAX),
            is_flat: is_flat(&head),
            head,
            keys,
            body: body.into(),
            variables: scope.variables(clause.head.span)?,
        });
        let entry = &mut self.predicates[predicate.0 as usize];
        entry.clauses.push(id);
        entry.has_weights |= !is_plain;
        Ok(predicate)
    }

    fn premise(&mut self, premise: &Premise, scope: &mut Scope) -> Checked<Goal> {
        match premise {
            Premise::Plain(goal) => {
                let (action, arguments) = self.goal(goal, scope)?;
                Ok(plain(action, arguments))
            }
            Premise::Labelled { label, goal, otherwise } => {
                // Both ways start from what is known here and give the same variables a value, so
                // their numbers are fixed beforehand.
                let mut variables = Vec::new();
                crate::scope::variables_of(goal, &mut variables);
                variables.iter().for_each(|variable| scope.reserve(&variable.name));
                let mut beside = scope.clone();
                let (action, arguments) = self.goal(goal, scope)?;
                let label_name = label.name.clone();
                let (negated, values) = self.otherwise(goal, otherwise, &mut beside)?;
                scope.agree(&beside);
                let label = self.label(label_name);
                let negated = Negated { label, action: negated, arguments: values };
                Ok(Goal { negated: Some(negated), ..plain(action, arguments) })
            }
        }
    }

    fn label(&mut self, name: String) -> u32 {
        let position = self.labels.iter().position(|label| *label == name);
        let position = position.unwrap_or_else(|| {
            self.labels.push(name);
            self.labels.len() - 1
        });
        position as u32
    }

    /// The goal that takes a labelled premise's place: the built-in negation, or a predicate of its
    /// own over the premise's variables.
    fn otherwise(
        &mut self,
        goal: &Expression,
        otherwise: &Otherwise,
        scope: &mut Scope,
    ) -> Checked<(Action, Box<[Node]>)> {
        let body = match otherwise {
            Otherwise::Negation => {
                self.check_call(goal)?;
                let node = self.node(goal, scope);
                return Ok((Action::Builtin(builtin::NEGATE), Box::new([node])));
            }
            Otherwise::Differs(variable) => differs(goal, variable)?,
            Otherwise::Body(body) => body.clone(),
        };
        self.auxiliary += 1;
        let mut shared = Vec::new();
        crate::scope::variables_of(goal, &mut shared);
        for premise in &body {
            crate::scope::variables_of_premise(premise, &mut shared);
        }
        let mut names: Vec<String> = Vec::new();
        let mut in_goal = Vec::new();
        crate::scope::variables_of(goal, &mut in_goal);
        for named in shared {
            let known = in_goal.iter().any(|other| other.name == named.name);
            if named.name != "_"
                && (known || scope.is_known(&named.name))
                && !names.contains(&named.name)
            {
                names.push(named.name);
            }
        }
        let span = goal.span;
        let arguments: Vec<Expression> = names
            .into_iter()
            .map(|name| Expression { kind: ExpressionKind::Variable(name), span })
            .collect();
        let name = format!("$otherwise{}", self.auxiliary);
        let head = Expression { kind: ExpressionKind::Compound(name, arguments.clone()), span };
        let predicate = self.auxiliary_clause(head, body, true)?;
        let nodes = arguments.iter().map(|argument| self.node(argument, scope)).collect();
        Ok((Action::Call(predicate), nodes))
    }

    fn goal(&mut self, goal: &Expression, scope: &mut Scope) -> Checked<(Action, Box<[Node]>)> {
        let ExpressionKind::Compound(name, arguments) = &goal.kind else {
            return Err(Diagnostic::new("this is no goal", goal.span).hint(
                "a goal is name(arguments), or two terms with `=`, `\\=`, `#=` … between them",
            ));
        };
        if let Some((builtin, arguments)) = builtin::arithmetic(name, arguments, goal.span)? {
            let nodes = arguments.iter().map(|argument| self.node(argument, scope)).collect();
            return Ok((Action::Builtin(builtin), nodes));
        }
        self.check_call(goal)?;
        let nodes: Box<[Node]> =
            arguments.iter().map(|argument| self.node(argument, scope)).collect();
        if let Some(builtin) = builtin::find(name, arguments.len()) {
            return Ok((Action::Builtin(builtin), nodes));
        }
        let functor = self.functors.functor(name, arguments.len());
        Ok((Action::Call(self.predicate(functor)), nodes))
    }

    /// Notes what a goal calls, within `\+`, `once` and `delay` too.
    fn check_call(&mut self, goal: &Expression) -> Checked<()> {
        let ExpressionKind::Compound(name, arguments) = &goal.kind else {
            return Err(Diagnostic::new("this is no goal", goal.span)
                .hint("write a goal that is known here: name(arguments)"));
        };
        let inner = match (name.as_str(), arguments.as_slice()) {
            ("\\+" | "once", [inner]) | ("delay", [_, inner]) => Some(inner),
            _ => None,
        };
        if let Some(inner) = inner {
            return self.check_call(inner);
        }
        if builtin::find(name, arguments.len()).is_none() {
            let functor = self.functors.functor(name, arguments.len());
            self.calls.push((self.files, functor, goal.span));
        }
        Ok(())
    }

    pub(crate) fn node(&mut self, term: &Expression, scope: &mut Scope) -> Node {
        match &term.kind {
            ExpressionKind::Variable(name) => scope.node(name),
            ExpressionKind::Integer(value) => Node::Integer(*value),
            ExpressionKind::Compound(name, arguments) => {
                let functor = self.functors.functor(name, arguments.len());
                if arguments.is_empty() {
                    return Node::Constant(functor);
                }
                let nodes = arguments.iter().map(|argument| self.node(argument, scope)).collect();
                Node::Structure(functor, nodes)
            }
        }
    }

    fn syntax(&mut self, pattern: &Expression, pieces: Vec<Piece>) -> Checked<()> {
        let mut names = Vec::new();
        let pattern = Pattern::of(pattern, &mut self.functors, &mut names);
        for piece in &pieces {
            if let Piece::Term(term) = piece {
                self.known_in_pattern(term, &names)?;
            }
        }
        let functors = &mut self.functors;
        let find = |named: &Named| {
            let position = names.iter().position(|name| *name == named.name);
            let message = format!("`{}` is not in the term that is printed", named.name);
            position
                .map(|position| position as u16)
                .ok_or_else(|| Diagnostic::new(message, named.span))
        };
        let pieces = pieces
            .into_iter()
            .map(|piece| {
                Ok(match piece {
                    Piece::Text(text) => TemplatePiece::Text(text),
                    Piece::Variable(named) => TemplatePiece::Variable(find(&named)?),
                    Piece::Joined(named, text) => TemplatePiece::Joined(find(&named)?, text),
                    Piece::Term(term) => {
                        TemplatePiece::Term(Pattern::of(&term, functors, &mut names.clone()))
                    }
                })
            })
            .collect::<Checked<_>>()?;
        self.templates.push(Template { pattern, pieces });
        Ok(())
    }

    fn known_in_pattern(&self, term: &Expression, names: &[String]) -> Checked<()> {
        let mut variables = Vec::new();
        crate::scope::variables_of(term, &mut variables);
        match variables.iter().find(|variable| !names.contains(&variable.name)) {
            None => Ok(()),
            Some(variable) => {
                let message = format!("`{}` is not in the term that is printed", variable.name);
                Err(Diagnostic::new(message, variable.span))
            }
        }
    }

    fn rewrite(
        &mut self,
        name: &Named,
        from: Expression,
        to: Expression,
        guard: Vec<Premise>,
    ) -> Checked<()> {
        let span = name.span;
        let kind = ExpressionKind::Compound(format!("$rewrite_{}", name.name), vec![from, to]);
        let head = Expression { kind, span };
        let predicate = self.auxiliary_clause(head, guard, true)?;
        let clause = self.predicates[predicate.0 as usize].clauses.last().copied();
        let key = clause.map_or(0, |clause| self.clauses[clause.0 as usize].keys[0]);
        self.rewrites.push(Rewrite { name: name.name.clone(), predicate, key });
        Ok(())
    }

    /// Calls of this file to what does not exist.
    fn undefined(&self, file: u32) -> Vec<Diagnostic> {
        let missing = |functor: &Functor| {
            let predicate = self.by_functor.get(functor);
            let defined = predicate
                .is_some_and(|predicate| !self.predicates[predicate.0 as usize].clauses.is_empty());
            !defined && !self.open.contains(functor)
        };
        let calls = self.calls.iter().filter(|(of, functor, _)| *of == file && missing(functor));
        calls
            .map(|(_, functor, span)| {
                let (name, arity) = (self.functors.name(*functor), self.functors.arity(*functor));
                let message = format!("no rule has the head `{name}/{arity}`");
                let other = self.resembling(name, arity);
                let hint = other.unwrap_or_else(|| {
                    format!("add one, or write `open {name}/{arity}.` if another file may")
                });
                Diagnostic::new(message, *span).hint(hint)
            })
            .collect()
    }

    /// Weights that this file gives to labels that no premise has.
    fn unknown_labels(&self, file: u32) -> impl Iterator<Item = Diagnostic> {
        let unknown = self
            .weights
            .iter()
            .filter(move |(of, label, _)| *of == file && !self.labels.contains(&label.name));
        unknown.map(|(_, label, _)| {
            let message = format!("no premise has the label `{}`", label.name);
            Diagnostic::new(message, label.span).hint("write `@name` before a premise")
        })
    }

    fn resembling(&self, name: &str, arity: usize) -> Option<String> {
        let defined = self.predicates.iter().filter(|predicate| !predicate.clauses.is_empty());
        let names: Vec<(&str, usize)> = defined
            .map(|predicate| {
                (self.functors.name(predicate.functor), self.functors.arity(predicate.functor))
            })
            .collect();
        if let Some((_, other)) = names.iter().find(|(found, _)| *found == name) {
            return Some(format!("`{name}` has {other} arguments elsewhere, here {arity}"));
        }
        let close = |found: &str| {
            let same = found.chars().zip(name.chars()).filter(|(one, other)| one == other).count();
            found.len().abs_diff(name.len()) <= 1 && same + 2 >= name.len().max(3)
        };
        let other = names.iter().find(|(found, _)| !found.starts_with('$') && close(found))?;
        Some(format!("did you mean `{}`?", other.0))
    }

    fn finish(mut self) -> Checked<Program> {
        let start = self.start.ok_or_else(|| {
            Diagnostic::new("nothing says where to start", Span::NONE)
                .hint("add `start GOAL shows TERM.`")
        })?;
        let call = ClauseId(self.clauses.len() as u32);
        let goal = plain(Action::Builtin(builtin::CALL), Box::new([Node::Again(0)]));
        self.clauses.push(Clause {
            name: None,
            weight: 1,
            cost: 0,
            head: Box::new([Node::First(0)]),
            keys: Box::new([0]),
            is_flat: true,
            body: Box::new([goal]),
            variables: 1,
        });
        let arities = self.functors.arities();
        let mut by_functor = vec![None; arities.len()];
        for (functor, predicate) in &self.by_functor {
            by_functor[functor.0 as usize] = Some(*predicate);
        }
        let mut templates_by_functor: Vec<Vec<u32>> = vec![Vec::new(); arities.len()];
        for (position, template) in self.templates.iter().enumerate() {
            if let Some(functor) = template.pattern.functor() {
                templates_by_functor[functor.0 as usize].push(position as u32);
            }
        }
        // The most specific form is tried first, whichever file it stands in.
        for positions in &mut templates_by_functor {
            positions.sort_by_key(|position| {
                let pattern = &self.templates[*position as usize].pattern;
                std::cmp::Reverse(pattern.nodes())
            });
        }
        let weights = self.weights;
        let weight_of = |label: &String| {
            let given = weights.iter().rfind(|(_, named, _)| named.name == *label);
            given.map_or(LABEL_WEIGHT, |(_, _, weight)| *weight)
        };
        let mut program = Program {
            functors: self.functors,
            arities,
            predicates: self.predicates,
            by_functor,
            clauses: self.clauses,
            label_weights: self.labels.iter().map(weight_of).collect(),
            labels: self.labels,
            templates: self.templates,
            templates_by_functor,
            rewrites: self.rewrites,
            start,
            call,
            about: self.about,
            plans: Default::default(),
        };
        analyse(&mut program);
        Ok(program)
    }
}

fn plain(action: Action, arguments: Box<[Node]>) -> Goal {
    Goal { action, arguments, negated: None }
}

/// Is a head decided by what stands at the top of its arguments?
fn is_flat(head: &[Node]) -> bool {
    let is_new = |node: &Node| matches!(node, Node::First(_) | Node::Any);
    head.iter().all(|node| match node {
        Node::Structure(_, nodes) => nodes.iter().all(is_new),
        Node::Again(_) => false,
        _ => true,
    })
}

/// A word for what stands at the top of a term; 0 for variables.
pub(crate) fn key(node: &Node) -> u32 {
    match node {
        Node::First(_) | Node::Again(_) | Node::Any => 0,
        Node::Constant(functor) | Node::Structure(functor, _) => functor.0 + 1,
        Node::Integer(value) => *value as u32 | 1 << 31,
    }
}

/// The goal with another variable in the place of one, and the two different.
fn differs(goal: &Expression, variable: &Named) -> Checked<Vec<Premise>> {
    let mut names = Vec::new();
    crate::scope::variables_of(goal, &mut names);
    if !names.iter().any(|named| named.name == variable.name) {
        let message = format!("`{}` does not occur in the premise", variable.name);
        return Err(Diagnostic::new(message, variable.span)
            .hint("`otherwise differs X` says which of the premise's variables is another one"));
    }
    let other = format!("{} other", variable.name);
    let span = goal.span;
    let term = |name: &str| Expression { kind: ExpressionKind::Variable(name.to_owned()), span };
    let kind = ExpressionKind::Compound("\\=".to_owned(), vec![term(&variable.name), term(&other)]);
    let renamed = crate::scope::rename(goal, &variable.name, &other);
    Ok(vec![Premise::Plain(Expression { kind, span }), Premise::Plain(renamed)])
}

/// The files that a rule file says it needs.
pub fn needs(source: &Source) -> Result<Vec<String>, Error> {
    let statements = parse(&source.text).map_err(|problems| Error::rules(source, &problems))?;
    let needed = statements.into_iter().filter_map(|statement| match statement {
        Statement::Needs(names) => Some(names.into_iter().map(|named| named.name)),
        _ => None,
    });
    Ok(needed.flatten().collect())
}
