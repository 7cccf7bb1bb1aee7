//! Verdicts against definitions, labels and each other.

mod definitions;
mod mutants;
mod random;
mod reductions;
