#![doc = include_str!("../README.md")]

mod check;
mod checks;
mod components;
mod error;
mod fenced;
mod formula;
mod model;
mod property;
mod tell;
mod verdict;

pub use check::{Verification, check_property, verify};
pub use checks::data::at_the_mercy_of_data;
pub use error::Error;
pub use fenced::{Unfenced, unfenced};
pub use formula::{
    ACTIONS, Formula, FormulaError, Label, Lts, Pattern, Regular, StateFormula, Steps,
    check_formula, holds_on,
};
pub use model::{Budget, Model, Reduction};
pub use property::Property;
pub use verdict::{Culprit, InText, Nowhere, Places, Told, Trace, Verdict};
