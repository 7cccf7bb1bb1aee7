//! A rule file as it was read: terms with their positions, clauses, declarations.

use strait_calculus::Span;

/// A term of a rule file.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind {
    /// A variable; `_` is a new one each time.
    Variable(String),
    Integer(i32),
    /// A functor with its arguments, lists included.
    Compound(String, Vec<Expression>),
}

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// One goal of a body.
#[derive(Clone, Debug)]
pub(crate) enum Premise {
    /// A goal that always has to hold.
    Plain(Expression),
    /// A goal with a label, which almost well-typed terms may violate.
    Labelled { label: Named, goal: Expression, otherwise: Otherwise },
}

/// What holds instead when a labelled premise is violated.
#[derive(Clone, Debug)]
pub(crate) enum Otherwise {
    /// The constructive negation of the goal.
    Negation,
    /// The goal, with something else in the place of this variable.
    Differs(Named),
    /// These goals.
    Body(Vec<Premise>),
}

/// `rule NAME: HEAD :- BODY.`
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) name: Option<Named>,
    pub(crate) weight: u32,
    pub(crate) cost: Option<u32>,
    pub(crate) head: Expression,
    pub(crate) body: Vec<Premise>,
}

/// A piece of a printed form.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    Variable(Named),
    /// The elements of a list with a text between them.
    Joined(Named, String),
    /// Another term, which has its own printed form.
    Term(Expression),
}

/// A statement of a rule file.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    About(String),
    Needs(Vec<Named>),
    Start {
        goal: Expression,
        shown: Expression,
    },
    /// Predicates that add to the size of a term, and what each call may add at most.
    Sized(Vec<(Named, usize, Option<u32>)>),
    /// Predicates that may have no clause: other files add some.
    Open(Vec<(Named, usize)>),
    /// Labels of premises, and how often they are chosen to be violated.
    Label {
        names: Vec<Named>,
        weight: u32,
    },
    Clause(Clause),
    Syntax {
        pattern: Expression,
        pieces: Vec<Piece>,
    },
    Rewrite {
        name: Named,
        from: Expression,
        to: Expression,
        guard: Vec<Premise>,
    },
}
