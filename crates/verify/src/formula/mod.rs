//! Formulas of the modal mu-calculus over the steps of a program, in a syntax close to mCRL2's:
//! `nu X. [true]X && <true>true`, `[true*.close(c)]!<send(c)>true`. Comes in: text. Goes out: a
//! [`Formula`] whose variables are bound and occur positively.

mod evidence;
mod game;
mod label;
mod lexer;
mod names;
mod normal;
mod parser;
mod solve;
mod valuation;
mod vocabulary;

pub use game::Lts;
pub use label::{ACTIONS, Label};
pub use parser::FormulaError;
pub use valuation::{check_formula, holds_on};
pub use vocabulary::{NameProblem, Vocabulary};

/// A formula that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub(crate) root: StateFormula,
}

/// What holds in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFormula {
    /// `true`, `false`
    Constant(bool),
    /// A fixpoint's variable, by its name.
    Variable(String),
    /// `!φ`
    Not(Box<StateFormula>),
    /// `φ && ψ`
    And(Box<StateFormula>, Box<StateFormula>),
    /// `φ || ψ`
    Or(Box<StateFormula>, Box<StateFormula>),
    /// `φ => ψ`
    Implies(Box<StateFormula>, Box<StateFormula>),
    /// `[R]φ`: after every way through `R`.
    Box(Regular, Box<StateFormula>),
    /// `<R>φ`: after some way through `R`.
    Diamond(Regular, Box<StateFormula>),
    /// `mu X. φ`: the smallest, `nu X. φ`: the greatest.
    Fixpoint {
        /// Is it the greatest?
        greatest: bool,
        /// The variable.
        variable: String,
        /// What it stands for.
        body: Box<StateFormula>,
    },
}

/// Sequences of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Regular {
    /// One step.
    Step(Steps),
    /// `R.S`
    Sequence(Box<Regular>, Box<Regular>),
    /// `R + S`
    Either(Box<Regular>, Box<Regular>),
    /// `R*`
    Star(Box<Regular>),
    /// `R+`
    Plus(Box<Regular>),
}

impl Regular {
    /// Any number of times. Repeated repetition is repetition.
    fn star(self) -> Regular {
        match self {
            Regular::Star(_) => self,
            Regular::Plus(inner) => Regular::Star(inner),
            other => Regular::Star(Box::new(other)),
        }
    }

    /// At least once.
    fn plus(self) -> Regular {
        match self {
            Regular::Star(_) | Regular::Plus(_) => self,
            other => Regular::Plus(Box::new(other)),
        }
    }
}

/// A set of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// `true`: every step; `false`: none.
    All(bool),
    /// `send(c)`
    Pattern(Pattern),
    /// `!α`
    Not(Box<Steps>),
    /// `α && β`
    And(Box<Steps>, Box<Steps>),
    /// `α || β`
    Or(Box<Steps>, Box<Steps>),
}

/// Steps of one kind, on some object, by some process, at some place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// One of [`ACTIONS`].
    pub name: String,
    /// Names of objects and processes that take part, in any order.
    pub arguments: Vec<String>,
    /// `@12` or `@main.go:12`: where a process stands that takes part.
    pub place: Option<String>,
}

impl Formula {
    /// Reads a formula. `%` begins a comment.
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        parser::parse(text)
    }

    /// The names of processes and objects that it speaks of, each once.
    pub fn names(&self) -> Vec<&str> {
        names::of(&self.root)
    }

    /// Does it only forbid executions? Then what holds when more can happen holds for less, too.
    pub fn is_universal(&self) -> bool {
        let nodes = normal::normal(self).nodes;
        !nodes.iter().any(|node| matches!(node, normal::Node::Diamond(..)))
    }

    /// Its tree.
    pub fn tree(&self) -> &StateFormula {
        &self.root
    }
}
