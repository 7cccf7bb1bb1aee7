#![doc = include_str!("../README.md")]

mod capabilities;
mod draft;
mod error;
mod generator;
mod mutants;
mod program;
mod prover;
mod rule;
mod rules;
mod statements;
mod stats;
mod stream;
mod walk;
mod weights;

pub use capabilities::Capabilities;
pub use error::Error;
pub use generator::{
    Config, DEFAULT_SIZE, GENERATOR_VERSION, Generated, Generator, MAX_SIZE, MIN_SIZE, Proofs,
};
pub use mutants::{Label, Mutant, Mutation, mutant};
pub use prover::{Explorer, Prover};
pub use rule::{Family, Rule, RuleCounts};
pub use stats::{Distribution, Stats, Summary};
pub use stream::{Purpose, Stream};
pub use walk::operations;
pub use weights::{Heuristic, MAX_WEIGHT, Weights};
