//! Verdicts against definitions, labels and each other.

mod definitions;
mod formulas;
#[cfg(feature = "merc")]
mod merc;
mod mutants;
mod properties;
mod random;
mod reductions;
