#![doc = include_str!("../README.md")]

mod check;
mod checks;
mod components;
mod doing;
mod error;
mod finite_control;
mod formula;
mod model;
mod places;
mod property;
mod tell;
mod verdict;
mod watch;

pub use check::{Verification, check_property, verify};
pub use checks::data::{Dependence, dependence_on_data};
pub use doing::{Doing, SelectCase, StepAction, Wait};
pub use error::Error;
pub use finite_control::{UnboundedCreation, unbounded_creations};
pub use formula::{
    ACTIONS, Formula, FormulaError, Label, Lts, NameProblem, Pattern, Regular, StateFormula, Steps,
    Vocabulary, check_formula, holds_on,
};
pub use model::{Budget, Model, Reduction};
pub use places::{InText, Nowhere, Places};
pub use property::Property;
pub use verdict::{Bound, Culprit, Trace, TraceStep, Unknown, Verdict, Violation, Why};
