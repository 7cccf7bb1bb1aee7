//! Rules as the engine executes them: clauses with numbered variables, goals that know what they
//! call, and what the analysis found out about sizes.

use std::sync::OnceLock;

use crate::plan::Plans;
use crate::symbol::{Functor, Functors};
use crate::tree::Pattern;

/// A predicate, by its place in [`Program::predicates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PredicateId(pub(crate) u32);

/// A clause, by its place in [`Program::clauses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClauseId(pub(crate) u32);

/// What stands for a size that cannot be reached.
pub(crate) const NEVER: u32 = u32::MAX / 4;

/// The weight of a label without a statement about it; some are worth less and some more.
pub(crate) const LABEL_WEIGHT: u32 = 4;

/// A term of a clause.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A variable where it occurs first, when goals are executed from the left.
    First(u16),
    /// A variable that has a value.
    Again(u16),
    /// A variable that occurs nowhere else.
    Any,
    Constant(Functor),
    Integer(i32),
    Structure(Functor, Box<[Node]>),
}

/// What the engine does itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    True,
    Fail,
    Call,
    Unify,
    Differ,
    Absent,
    Member,
    Not,
    Once,
    Fresh,
    Copy,
    Replace,
    Substitute,
    Delay,
    Negate,
    Domain,
    Sum,
    AtMost,
    Below,
    Label,
    Known,
    Intact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Call(PredicateId),
    Builtin(Builtin),
}

/// What holds instead of a labelled premise.
#[derive(Clone, Debug)]
pub(crate) struct Negated {
    pub(crate) label: u32,
    pub(crate) action: Action,
    pub(crate) arguments: Box<[Node]>,
}

/// A goal of a body.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) action: Action,
    pub(crate) arguments: Box<[Node]>,
    pub(crate) negated: Option<Negated>,
}

#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) name: Option<Box<str>>,
    pub(crate) weight: u32,
    pub(crate) cost: u32,
    pub(crate) head: Box<[Node]>,
    /// For each argument a word that differs from functor to functor; 0 if it is a variable.
    pub(crate) keys: Box<[u32]>,
    /// Does the head say nothing but what stands at the top of its arguments?
    pub(crate) is_flat: bool,
    pub(crate) body: Box<[Goal]>,
    pub(crate) variables: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) functor: Functor,
    pub(crate) clauses: Vec<ClauseId>,
    pub(crate) is_sized: bool,
    /// What one call may add at most to the size, and one less.
    pub(crate) below: u32,
    pub(crate) reaches: bool,
    pub(crate) has_weights: bool,
}

/// A printed form.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) pattern: Pattern,
    pub(crate) pieces: Vec<TemplatePiece>,
}

#[derive(Clone, Debug)]
pub(crate) enum TemplatePiece {
    Text(String),
    Variable(u16),
    Joined(u16, String),
    Term(Pattern),
}

/// A rewrite: a clause whose head has the two sides and whose body is the guard.
#[derive(Clone, Debug)]
pub(crate) struct Rewrite {
    pub(crate) name: String,
    pub(crate) predicate: PredicateId,
    pub(crate) key: u32,
}

/// A set of rules, ready to be searched. It is never changed and can be shared by threads.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) functors: Functors,
    pub(crate) arities: Box<[u32]>,
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) by_functor: Vec<Option<PredicateId>>,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) labels: Vec<String>,
    /// For each label its weight.
    pub(crate) label_weights: Vec<u32>,
    pub(crate) templates: Vec<Template>,
    pub(crate) templates_by_functor: Vec<Vec<u32>>,
    pub(crate) rewrites: Vec<Rewrite>,
    pub(crate) start: PredicateId,
    /// `call(G) :- G`, in whose terms delayed goals run.
    pub(crate) call: ClauseId,
    pub(crate) about: String,
    /// What is known about calls, found out when it is asked for: without violated premises, and
    /// with some.
    pub(crate) plans: [OnceLock<Plans>; 2],
}

impl Program {
    /// What the rule file says about itself.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// All functors.
    pub fn functors(&self) -> &Functors {
        &self.functors
    }

    /// The labels of premises that can be violated.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The same with their weights: how often each should be chosen to be violated.
    pub fn weighted_labels(&self) -> impl Iterator<Item = (&str, u32)> {
        self.labels.iter().map(String::as_str).zip(self.label_weights.iter().copied())
    }

    /// The names of the rewrites.
    pub fn rewrites(&self) -> impl Iterator<Item = &str> {
        self.rewrites.iter().map(|rewrite| rewrite.name.as_str())
    }

    /// The names of the rules, in the order of the files.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().filter_map(|clause| clause.name.as_deref())
    }

    /// What is known about calls, if premises may be violated or not.
    pub(crate) fn plans(&self, violated: bool) -> &Plans {
        self.plans[usize::from(violated)].get_or_init(|| Plans::new(self, violated))
    }

    pub(crate) fn clause(&self, clause: ClauseId) -> &Clause {
        &self.clauses[clause.0 as usize]
    }

    pub(crate) fn predicate(&self, predicate: PredicateId) -> &Predicate {
        &self.predicates[predicate.0 as usize]
    }

    pub(crate) fn predicate_of(&self, functor: Functor) -> Option<PredicateId> {
        self.by_functor.get(functor.0 as usize).copied().flatten()
    }
}
