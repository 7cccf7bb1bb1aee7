//! Verdicts against definitions, labels and each other.

mod definitions;
mod formulas;
mod mutants;
mod random;
mod reductions;
